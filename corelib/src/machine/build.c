/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine/build.c - what a config says, made: CPUs and who has them, memory, devices, locks. */
#include "machine/parts.h"

#include <string.h>

static const struct machine_rules rows[] = {
	{
		SWS_KERNEL_4_8,
		.mapping = SWS_KERNEL_4_8,
		.keeps_tags = true,
		.avail_locks = 2,
		.starts_active = true,
		.pagevec = 14,
	},
	{
		SWS_KERNEL_5_7,
		.mapping = SWS_KERNEL_5_8,
		.avail_locks = 1,
		.cluster_locks = true,
		.slot_cache = true,
		.charge_lock = true,
		.skips_cache = true,
		.starts_active = true,
		.pagevec = MACHINE_PAGEVEC,
	},
	{
		SWS_KERNEL_5_7_SCAN_MORE,
		.mapping = SWS_KERNEL_5_8,
		.avail_locks = 1,
		.cluster_locks = true,
		.slot_cache = true,
		.charge_lock = true,
		.skips_cache = true,
		.starts_active = true,
		.pagevec = MACHINE_PAGEVEC,
	},
	{
		SWS_KERNEL_5_8,
		.mapping = SWS_KERNEL_5_8,
		.avail_locks = 1,
		.cluster_locks = true,
		.slot_cache = true,
		.skips_cache = true,
		.starts_active = true,
		.pagevec = MACHINE_PAGEVEC,
	},
	{
		SWS_KERNEL_6_1,
		.mapping = SWS_KERNEL_6_1,
		.avail_locks = 1,
		.cluster_locks = true,
		.slot_cache = true,
		.skips_cache = true,
		.shadows = true,
		.prepares = true,
		.keeps_first = true,
		.reuses_exclusive = true,
		.looks_at_counts = true,
		.pagevec = MACHINE_PAGEVEC,
	},
};

/* A kernel's row; NULL if there is none. */
static const struct machine_rules *rules_of(enum sws_kernel kernel)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].kernel == kernel)
			return &rows[i];
	return NULL;
}

bool sws_machine_knows(enum sws_kernel kernel)
{
	return rules_of(kernel);
}

enum {
	NODES_MAX = 8,
	TASKS_MAX = 2048,
	CHANNELS_MAX = 1024,
	PAGES_MAX = 1 << 26,
	SLOTS_MAX = 1 << 30,
	TRUNKS_MAX = 1 << 20,
	REQUESTS_MAX = 1 << 21,
	/* What a CPU may keep from the lists: freed pages, those of a batch, those not yet added. */
	KEPT = MACHINE_PCP_HIGH + 2 * MACHINE_BATCH + MACHINE_PAGEVEC,
	SLOTS_KEPT = 2 * SWS_SLOT_CACHE_SIZE + MACHINE_BATCH,
};

static bool costs_fit(const struct sws_machine_costs *costs)
{
	uint64_t each[sizeof(*costs) / sizeof(uint64_t)];

	memcpy(each, costs, sizeof(*costs));
	for (size_t i = 0; i < sizeof(each) / sizeof(*each); i++)
		if (!each[i] || each[i] > INT32_MAX)
			return false;
	return true;
}

static uint32_t tasks_of(const struct sws_machine_config *config)
{
	return config->walkers + config->writers + config->streams;
}

static uint32_t tasks_per_node(const struct sws_machine_config *config)
{
	return (tasks_of(config) + config->nodes - 1) / config->nodes;
}

/* Tasks, a kswapd unless a limit keeps it asleep, and a CPU for an asynchronous device's interrupts. */
static uint32_t cpus_per_node(const struct sws_machine_config *config)
{
	return tasks_per_node(config) + !config->memory_max + (config->channels > 0);
}

static uint32_t min_watermark(uint32_t frames)
{
	return frames / 128 > MACHINE_BATCH ? frames / 128 : MACHINE_BATCH;
}

/* The tasks' memory cgroup reaches its limit before the node its low watermark; pages drop under it alone. */
static bool limit_fits(const struct sws_machine_config *config)
{
	const uint64_t kept = (uint64_t)cpus_per_node(config) * KEPT;

	if (!config->memory_max)
		return !config->drop_percent;
	return config->nodes == 1 && config->drop_percent < 100 && config->memory_max >= kept &&
	       config->memory_max + min_watermark(config->frames) * 3 / 2 + kept <= config->frames;
}

/* Streams have the machine for themselves, and pages that leave at once. */
static bool streams_fit(const struct sws_machine_config *config)
{
	if (!config->streams)
		return !config->n_requests;
	return config->streams <= TASKS_MAX && config->n_requests >= config->streams &&
	       config->n_requests <= REQUESTS_MAX && config->requests && !config->walkers &&
	       !config->writers && !config->channels && config->devices == 1 &&
	       !config->memory_max && !config->accesses;
}

/* Locks are made for all of them in one call, so they must not be too many. */
static bool devices_fit(const struct sws_machine_config *config)
{
	const struct sws_slots_config *device = &config->device;

	if (config->devices < 1 || config->devices > config->nodes || device->slots < 2 ||
	    device->trunk_shift < 1 || device->trunk_shift > 31)
		return false;
	return (uint64_t)config->devices * device->slots <= SLOTS_MAX &&
	       (uint64_t)config->devices * (((device->slots - 1) >> device->trunk_shift) + 1) <=
		       TRUNKS_MAX;
}

bool sws_machine__config_fits(const struct sws_machine_config *config)
{
	const uint64_t tasks = (uint64_t)config->writers + config->walkers + config->streams;

	return costs_fit(&config->costs) && streams_fit(config) &&
	       sws_machine_knows(config->device.kernel) && !config->device.rotational &&
	       (unsigned int)config->lock_kind <= SWS_LOCK_TEST_AND_SET && config->nodes >= 1 &&
	       config->nodes <= NODES_MAX && devices_fit(config) &&
	       config->channels <= CHANNELS_MAX && tasks >= 1 && tasks <= TASKS_MAX &&
	       !(config->accesses && config->writers && config->channels) && config->pages >= 1 &&
	       config->pages <= PAGES_MAX &&
	       (uint64_t)config->pages * config->walkers +
			       (uint64_t)config->accesses * config->writers <
		       MACHINE_NONE &&
	       (unsigned int)config->swap_writeback_tags <= SWS_TAGS_NOT_KEPT &&
	       config->frames <= PAGES_MAX && config->read_percent <= 100 &&
	       config->spread_percent <= 100 &&
	       config->frames >= 2 * (uint64_t)cpus_per_node(config) * KEPT && limit_fits(config);
}

struct actor *sws_machine__task(struct sws_machine *self, uint32_t task)
{
	const uint32_t node = task % self->config.nodes;

	return &self->actors[node * cpus_per_node(&self->config) + task / self->config.nodes];
}

uint32_t sws_machine__node_of_pte(const struct sws_machine *self, uint32_t pte)
{
	const uint32_t task =
		pte < self->n_ptes
			? pte / self->config.pages
			: self->config.walkers + (pte - self->n_ptes) / self->config.accesses;

	return task % self->config.nodes;
}

static void place_task(struct sws_machine *self, uint32_t task)
{
	const uint32_t n = task % self->config.nodes;
	struct actor *actor = sws_machine__task(self, task);
	/* Walkers first: a walker's number is that of its pages. */
	const bool walks = task < self->config.walkers;

	if (self->config.streams) {
		actor->count.kind = SWS_ACTOR_STREAM;
		actor->stack[0].procedure = sws_machine__stream;
		return;
	}
	actor->count.kind = walks ? SWS_ACTOR_WALKER : SWS_ACTOR_WRITER;
	actor->mm = task;
	actor->mm_first_pte =
		walks ? task * self->config.pages
		      : self->n_ptes + (task - self->config.walkers) * self->config.accesses;
	actor->mm_ptes = walks ? self->config.pages : self->config.accesses;
	actor->stack[0].procedure = walks ? sws_machine__walker : sws_machine__writer;
	self->nodes[n].n_ptes += walks ? self->config.pages : 0;
	self->nodes[n].has_writers |= !walks;
}

static void place_kernel_threads(struct sws_machine *self, uint32_t n)
{
	const uint32_t end = (n + 1) * cpus_per_node(&self->config);
	struct node *node = &self->nodes[n];
	struct actor *kswapd = &self->actors[end - 1 - (self->config.channels > 0)];
	struct actor *interrupt = &self->actors[end - 1];

	node->kswapd = MACHINE_NONE;
	if (!self->config.memory_max) {
		kswapd->count.kind = SWS_ACTOR_KSWAPD;
		kswapd->stack[0].procedure = sws_machine__kswapd;
		kswapd->asleep = true;
		node->kswapd = kswapd->cpu;
	}
	if (!self->config.channels || n >= self->config.devices)
		return;
	interrupt->count.kind = SWS_ACTOR_INTERRUPT;
	interrupt->stack[0].procedure = sws_machine__interrupt;
	interrupt->asleep = true;
	self->devices[n].interrupt = interrupt->cpu;
}

static void place_actors(struct sws_machine *self)
{
	for (uint32_t cpu = 0; cpu < self->n_actors; cpu++) {
		struct actor *actor = &self->actors[cpu];

		actor->cpu = cpu;
		actor->mm = MACHINE_NONE;
		actor->trunk = MACHINE_NONE;
		actor->depth = 1;
		actor->count.node = cpu / cpus_per_node(&self->config);
		actor->node = &self->nodes[actor->count.node];
		actor->device = &self->devices[actor->node->device];
		sws_generator_seed(&actor->generator, self->config.device.seed, cpu);
	}
	for (uint32_t task = 0; task < tasks_of(&self->config); task++)
		place_task(self, task);
	sws_machine__deal_requests(self);
	for (uint32_t n = 0; n < self->config.nodes; n++)
		place_kernel_threads(self, n);
}

static int make_node(struct sws_machine *self, uint32_t n)
{
	struct node *node = &self->nodes[n];
	int error = SWS_OK;

	node->device = n % self->config.devices;
	for (int list = 0; list < 3; list++)
		node->lists[list] = (struct list){ MACHINE_NONE, MACHINE_NONE, 0 };
	node->free_pages = sws_allocate_array(&self->allocator, self->config.frames,
					      sizeof(*node->free_pages));
	if (!node->free_pages)
		return SWS_ERROR_NO_MEMORY;
	error = sws_des_add_locks(self->des, self->config.lock_kind, 1, &node->lru_lock);
	if (!error)
		error = sws_des_add_locks(self->des, self->config.lock_kind, 1, &node->zone_lock);
	return error;
}

static int make_mappings(struct sws_machine *self, struct device *device)
{
	struct sws_mapping_config config;

	sws_mapping_config_init(&config);
	config.kernel = self->rules->mapping;
	config.swap_writeback_tags = self->keeps_tags;
	config.swap_slots = self->config.device.slots;
	config.trunk_shift = self->config.device.trunk_shift;
	config.allocator = &self->allocator;
	return sws_mappings_new(&config, &device->mappings);
}

static int make_slots(struct sws_machine *self, struct device *device, uint32_t n)
{
	struct sws_slots_config config = self->config.device;

	config.possible_cpus = self->n_actors;
	config.online_cpus = self->n_actors;
	config.address_spaces = tasks_of(&self->config);
	config.seed += n;
	config.allocator = &self->allocator;
	return sws_slots_new(&config, &device->slots);
}

static int add_device_locks(struct sws_machine *self, struct device *device)
{
	const enum sws_lock_kind kind = self->config.lock_kind;
	const uint32_t clusters =
		(self->config.device.slots - 1) / self->config.device.cluster_size + 1;
	int error = sws_des_add_locks(self->des, kind, 1, &device->si_lock);

	if (!error)
		error = sws_des_add_locks(self->des, kind, sws_mapping_count(device->mappings),
					  &device->first_tree_lock);
	if (!error && self->rules->cluster_locks)
		error = sws_des_add_locks(self->des, kind, clusters, &device->first_cluster_lock);
	return error;
}

static int make_device(struct sws_machine *self, uint32_t n)
{
	struct device *device = &self->devices[n];
	int error = SWS_OK;

	device->node = n;
	device->interrupt = MACHINE_NONE;
	device->first_cluster_lock = MACHINE_NONE;
	error = make_slots(self, device, n);
	if (!error)
		error = make_mappings(self, device);
	if (!error)
		error = add_device_locks(self, device);
	if (error)
		return error;
	device->last_in_trunk = sws_allocate_zeroed(
		&self->allocator,
		((self->config.device.slots - 1) >> self->config.device.trunk_shift) + 1,
		sizeof(*device->last_in_trunk));
	if (!device->last_in_trunk)
		return SWS_ERROR_NO_MEMORY;
	if (!self->config.channels)
		return SWS_OK;
	device->channels = sws_allocate_zeroed(&self->allocator, self->config.channels,
					       sizeof(*device->channels));
	device->requests = sws_allocate_array(&self->allocator, self->n_pages + self->n_actors,
					      sizeof(*device->requests));
	return device->channels && device->requests ? SWS_OK : SWS_ERROR_NO_MEMORY;
}

static int make_des(struct sws_machine *self)
{
	struct sws_des_config config;
	int error = SWS_OK;

	sws_des_config_init(&config);
	config.cpus = self->n_actors;
	config.cpus_per_socket = cpus_per_node(&self->config);
	config.sites = SWS_SITES;
	config.travel_same_core_ns = self->config.costs.travel_same_socket_ns;
	config.travel_same_socket_ns = self->config.costs.travel_same_socket_ns;
	config.travel_other_socket_ns = self->config.costs.travel_other_socket_ns;
	config.irq_save_ns = self->config.costs.irq_save_ns;
	config.allocator = &self->allocator;
	error = sws_des_new(&config, &self->des);
	if (!error)
		error = sws_des_add_locks(self->des, self->config.lock_kind, 1, &self->avail_lock);
	if (!error)
		error = sws_des_add_locks(self->des, self->config.lock_kind, self->n_actors,
					  &self->first_mutex);
	if (!error)
		error = sws_des_add_locks(self->des, self->config.lock_kind, self->n_actors,
					  &self->first_return_lock);
	return error;
}

uint32_t sws_machine__all_ptes(const struct sws_machine *self)
{
	return self->n_ptes + self->n_writer_ptes + self->config.n_requests;
}

static int allocate_parts(struct sws_machine *self)
{
	const struct sws_allocator *allocator = &self->allocator;
	const uint32_t n_ptes = sws_machine__all_ptes(self);

	self->nodes = sws_allocate_zeroed(allocator, self->config.nodes, sizeof(*self->nodes));
	self->devices =
		sws_allocate_zeroed(allocator, self->config.devices, sizeof(*self->devices));
	self->actors = sws_allocate_zeroed(allocator, self->n_actors, sizeof(*self->actors));
	/* As large as memory: machine/fill.c writes them, a part at a time. */
	self->pages = sws_allocate_array(allocator, self->n_pages, sizeof(*self->pages));
	self->pte_values = sws_allocate_array(allocator, n_ptes, sizeof(*self->pte_values));
	self->pte_states = sws_allocate_array(allocator, n_ptes, sizeof(*self->pte_states));
	return self->nodes && self->devices && self->actors && self->pages && self->pte_values &&
			       self->pte_states
		       ? SWS_OK
		       : SWS_ERROR_NO_MEMORY;
}

/* Does memory hold what comes back to streams, with no need to reclaim? */
static bool has_memory(const struct sws_machine *self)
{
	const uint64_t kept = (uint64_t)KEPT * cpus_per_node(&self->config) + self->watermark_high;

	for (uint32_t n = 0; n < self->config.nodes; n++)
		if (sws_machine__stream_pages(self, n) + kept > self->config.frames)
			return false;
	return true;
}

/* Does the device have room for what memory does not hold, and for what CPUs keep? */
static int check_room(struct sws_machine *self)
{
	const uint32_t interrupts = self->config.channels ? self->config.nodes : 0;
	const uint64_t kept = (uint64_t)SLOTS_KEPT * (self->n_actors - interrupts);
	uint64_t free = 0;

	if (!has_memory(self))
		return SWS_ERROR_BAD_CONFIG;
	for (uint32_t n = 0; n < self->config.devices; n++) {
		const uint64_t needed = sws_machine__swapped(self, n) + kept;

		if (needed >= self->config.device.slots)
			return SWS_ERROR_BAD_CONFIG;
		free += self->config.device.slots - 1 - sws_machine__swapped(self, n);
	}
	/* check_cache_active: a device that was filled page by page had its caches on from the start. */
	self->caches_slots =
		self->rules->slot_cache && self->config.slot_cache &&
		free > (uint64_t)(self->config.drop_percent ? SWS_SLOT_CACHE_DEACTIVATE
							    : SWS_SLOT_CACHE_ACTIVATE) *
				self->n_actors;
	return SWS_OK;
}

static void begin_fill(struct sws_machine *self)
{
	sws_generator_seed(&self->fill_generator, self->config.device.seed, UINT64_MAX);
	for (uint32_t n = 0; n < self->config.nodes; n++) {
		struct node *node = &self->nodes[n];
		const uint32_t room = self->config.memory_max
					      ? self->config.memory_max
					      : self->config.frames - self->watermark_high;

		node->fill_left = node->n_ptes;
		node->fill_keep = node->n_ptes < room ? node->n_ptes : room;
	}
}

/* What follows from the config alone. */
static void derive(struct sws_machine *self)
{
	self->rules = rules_of(self->config.device.kernel);
	self->keeps_tags = self->config.swap_writeback_tags == SWS_TAGS_AS_RELEASED
				   ? self->rules->keeps_tags
				   : self->config.swap_writeback_tags == SWS_TAGS_KEPT;
	self->n_actors = cpus_per_node(&self->config) * self->config.nodes;
	self->n_pages = self->config.frames * self->config.nodes;
	self->n_ptes = self->config.pages * self->config.walkers;
	self->n_writer_ptes = self->config.accesses * self->config.writers;
	self->watermark_min = min_watermark(self->config.frames);
	self->watermark_low = self->watermark_min * 5 / 4;
	self->watermark_high = self->watermark_min * 3 / 2;
}

int sws_machine__assemble(struct sws_machine *self)
{
	int error = SWS_OK;

	derive(self);
	error = allocate_parts(self);
	if (!error)
		error = make_des(self);
	for (uint32_t n = 0; n < self->config.nodes && !error; n++)
		error = make_node(self, n);
	for (uint32_t n = 0; n < self->config.devices && !error; n++)
		error = make_device(self, n);
	if (error)
		return error;
	place_actors(self);
	begin_fill(self);
	return check_room(self);
}
