/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine/build.c - creates CPUs, actors, memory, devices and locks from a configuration. */
#include "machine/build.h"

#include "machine/device.h"
#include "machine/tasks.h"

/* Walkers come first, so that the number of a walker is that of its pages. */
static int place_task(struct sws_machine *self, uint32_t task)
{
	struct actor *actor = sws_machine__task(self, task);
	const bool walks = task < self->config.walkers;

	actor->mm = task;
	if (walks) {
		actor->count.kind = SWS_ACTOR_WALKER;
		actor->mm_first_pte = task * self->config.pages;
		actor->mm_ptes = self->config.pages;
		actor->node->n_ptes += self->config.pages;
		return sws_machine__walker(actor);
	}
	actor->count.kind = SWS_ACTOR_WRITER;
	actor->mm_first_pte = self->n_ptes + (task - self->config.walkers) * self->config.accesses;
	actor->mm_ptes = self->config.accesses;
	for (uint32_t n = 0; n < self->config.nodes; n++)
		self->nodes[n].has_writers |= self->config.shares_memory;
	actor->node->has_writers = true;
	return sws_machine__writer(actor);
}

/* Requests are sorted by stream. */
static int place_streams(struct sws_machine *self)
{
	const struct sws_machine_request *requests = self->config.requests;
	const uint32_t n = self->config.n_requests;
	int error = SWS_OK;

	for (uint32_t row = 0, end = 0; row < n && !error; row = end) {
		struct actor *actor = sws_machine__task(self, requests[row].stream);

		while (end < n && requests[end].stream == requests[row].stream)
			end++;
		actor->count.kind = SWS_ACTOR_STREAM;
		actor->mm = requests[row].mm < 0 ? MACHINE_NONE : (uint32_t)requests[row].mm;
		error = sws_machine__stream(actor, row, end);
	}
	return error;
}

static int place_kswapd(struct sws_machine *self, uint32_t n, struct actor *actor)
{
	self->nodes[n].kswapd = actor->thread.cpu;
	actor->count.kind = SWS_ACTOR_KSWAPD;
	(void)engine_sleep(&actor->thread, SLEEP_TO_BE_WOKEN);
	return sws_machine__kswapd(actor);
}

static int place_interrupt(struct sws_machine *self, uint32_t n, struct actor *actor)
{
	self->devices[n].interrupt = actor->thread.cpu;
	actor->count.kind = SWS_ACTOR_INTERRUPT;
	(void)engine_sleep(&actor->thread, SLEEP_TO_BE_WOKEN);
	return sws_machine__interrupt(actor);
}

/* Kernel threads follow the tasks of their node. */
static int place_kernel_threads(struct sws_machine *self, uint32_t n)
{
	const bool has_interrupts = self->config.channels > 0;
	const uint32_t end = (n + 1) * sws_machine__cpus_per_node(&self->config);
	int error = SWS_OK;

	self->nodes[n].kswapd = MACHINE_NONE;
	if (!self->config.memory_max)
		error = place_kswapd(self, n, &self->actors[end - 1 - has_interrupts]);
	if (!error && has_interrupts && n < self->config.devices)
		error = place_interrupt(self, n, &self->actors[end - 1]);
	return error;
}

static void make_cpu(struct sws_machine *self, uint32_t number)
{
	struct actor *actor = &self->actors[number];

	sws_engine__begin(&self->engine, &actor->thread, number, self->config.device.seed);
	actor->machine = self;
	actor->cpu = &self->cpus[number];
	actor->cpu->trunk = MACHINE_NONE;
	actor->mm = MACHINE_NONE;
	actor->count.node = number / sws_machine__cpus_per_node(&self->config);
	actor->node = &self->nodes[actor->count.node];
	actor->device = &self->devices[actor->node->device];
	sws_machine__place(actor);
}

/* The pages that it sets aside for batched removal belong to its device's mappings. */
static int make_aside(struct sws_machine *self, const struct actor *actor)
{
	struct sws_removal_config config;
	struct cpu *cpu = actor->cpu;

	if (self->config.removal == SWS_REMOVAL_PAGE_BY_PAGE)
		return SWS_OK;
	sws_removal_config_init(&config);
	config.mode = self->config.removal;
	config.list_pages = self->config.list_pages;
	config.allocator = &self->allocator;
	cpu->aside.pages = sws_allocate_array(&self->allocator, self->config.list_pages,
					      sizeof(*cpu->aside.pages));
	if (!cpu->aside.pages)
		return SWS_ERROR_NO_MEMORY;
	return sws_removal_new(&config, actor->device->mappings, &cpu->aside.removal);
}

static int place_actors(struct sws_machine *self)
{
	const uint32_t tasks = self->config.walkers + self->config.writers;
	int error = SWS_OK;

	for (uint32_t cpu = 0; cpu < self->n_actors && !error; cpu++) {
		make_cpu(self, cpu);
		error = make_aside(self, &self->actors[cpu]);
	}
	for (uint32_t task = 0; task < tasks && !error; task++)
		error = place_task(self, task);
	if (!error)
		error = place_streams(self);
	for (uint32_t n = 0; n < self->config.nodes && !error; n++)
		error = place_kernel_threads(self, n);
	return error;
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
	error = sws_des_add_locks(self->engine.des, self->config.lock_kind, 1, &node->lru_lock);
	if (!error)
		error = sws_des_add_locks(self->engine.des, self->config.lock_kind, 1,
					  &node->zone_lock);
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

	config.possible_cpus = self->n_slot_cpus;
	config.online_cpus = self->n_slot_cpus;
	config.address_spaces = sws_machine__tasks(&self->config);
	config.seed += n;
	config.allocator = &self->allocator;
	return sws_slots_new(&config, &device->slots);
}

static int add_device_locks(struct sws_machine *self, struct device *device)
{
	const enum sws_lock_kind kind = self->config.lock_kind;
	const uint32_t clusters =
		(self->config.device.slots - 1) / self->config.device.cluster_size + 1;
	int error = sws_des_add_locks(self->engine.des, kind, 1, &device->si_lock);

	if (!error && self->rules->records)
		error = sws_des_add_locks(self->engine.des, kind, 1, &device->record_lock);
	if (!error)
		error = sws_des_add_locks(self->engine.des, kind,
					  sws_mapping_count(device->mappings),
					  &device->first_tree_lock);
	if (!error && self->rules->cluster_locks && !self->config.device.rotational)
		error = sws_des_add_locks(self->engine.des, kind, clusters,
					  &device->first_cluster_lock);
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
	device->line_holds = sws_allocate_zeroed(&self->allocator,
						 self->config.device.slots / MACHINE_MAP_LINE + 1,
						 sizeof(*device->line_holds));
	if (!device->last_in_trunk || !device->line_holds)
		return SWS_ERROR_NO_MEMORY;
	if (!self->config.channels)
		return SWS_OK;
	device->channels = sws_allocate_zeroed(&self->allocator, self->config.channels,
					       sizeof(*device->channels));
	device->requests = sws_allocate_array(&self->allocator, self->n_pages + self->n_actors,
					      sizeof(*device->requests));
	return device->channels && device->requests ? SWS_OK : SWS_ERROR_NO_MEMORY;
}

static int make_engine(struct sws_machine *self)
{
	struct sws_des_config config;
	int error = SWS_OK;

	sws_des_config_init(&config);
	config.cpus = self->n_actors;
	config.cpus_per_socket = sws_machine__cpus_per_node(&self->config);
	config.sites = SWS_SITES;
	config.travel_same_core_ns = self->config.costs.travel_same_socket_ns;
	config.travel_same_socket_ns = self->config.costs.travel_same_socket_ns;
	config.travel_other_socket_ns = self->config.costs.travel_other_socket_ns;
	config.irq_save_ns = self->config.costs.irq_save_ns;
	config.contended_ns = self->config.contended_ns;
	config.allocator = &self->allocator;
	self->engine.sites = sws_machine__sites();
	self->engine.spread_percent = self->config.spread_percent;
	error = sws_des_new(&config, &self->engine.des);
	if (!error)
		error = sws_des_add_locks(self->engine.des, self->config.lock_kind, 1,
					  &self->avail_lock);
	if (!error)
		error = sws_des_add_locks(self->engine.des, self->config.lock_kind,
					  self->n_slot_cpus, &self->first_mutex);
	if (!error)
		error = sws_des_add_locks(self->engine.des, self->config.lock_kind,
					  self->n_slot_cpus, &self->first_return_lock);
	return error;
}

static int allocate_parts(struct sws_machine *self)
{
	const struct sws_allocator *allocator = &self->allocator;
	const uint32_t n_ptes = sws_machine__all_ptes(self);

	self->nodes = sws_allocate_zeroed(allocator, self->config.nodes, sizeof(*self->nodes));
	self->devices =
		sws_allocate_zeroed(allocator, self->config.devices, sizeof(*self->devices));
	self->actors = sws_allocate_zeroed(allocator, self->n_actors, sizeof(*self->actors));
	self->cpus = sws_allocate_zeroed(allocator, self->n_actors, sizeof(*self->cpus));
	self->slot_cpus =
		sws_allocate_zeroed(allocator, self->n_slot_cpus, sizeof(*self->slot_cpus));
	/* These are as large as memory: machine/fill.c initializes them part by part. */
	self->pages = sws_allocate_array(allocator, self->n_pages, sizeof(*self->pages));
	self->pte_values = sws_allocate_array(allocator, n_ptes, sizeof(*self->pte_values));
	self->pte_states = sws_allocate_array(allocator, n_ptes, sizeof(*self->pte_states));
	return self->nodes && self->devices && self->actors && self->cpus && self->slot_cpus &&
			       self->pages && self->pte_values && self->pte_states
		       ? SWS_OK
		       : SWS_ERROR_NO_MEMORY;
}

/*
 * check_cache_active: a device that is filled page by page has its caches on from the start. With
 * four CPUs the caches start above 4 * 320 = 1280 free slots and stop below 4 * 128 = 512, so with
 * 1000 free slots the history decides: after filling at once they are off, after filling page by
 * page on.
 */
static bool caches_slots(const struct sws_machine *self)
{
	const uint64_t most =
		self->config.drop_percent ? SWS_SLOT_CACHE_DEACTIVATE : SWS_SLOT_CACHE_ACTIVATE;
	uint64_t free = 0;

	for (uint32_t n = 0; n < self->config.devices; n++)
		free += self->config.device.slots - 1 - sws_machine__swapped(self, n);
	return self->rules->slot_cache && self->config.slot_cache &&
	       free > most * self->n_slot_cpus;
}

/* Computes the values that follow from the configuration only. */
static void derive(struct sws_machine *self)
{
	self->rules = sws_machine__rules_of(self->config.device.kernel);
	self->keeps_tags = self->config.swap_writeback_tags == SWS_TAGS_AS_RELEASED
				   ? self->rules->keeps_tags
				   : self->config.swap_writeback_tags == SWS_TAGS_KEPT;
	self->n_actors = sws_machine__cpus_per_node(&self->config) * self->config.nodes;
	self->n_slot_cpus = self->n_actors + self->config.spare_cpus * self->config.nodes;
	self->n_pages = self->config.frames * self->config.nodes;
	self->n_ptes = self->config.pages * self->config.walkers;
	self->n_writer_ptes = self->config.accesses * self->config.writers;
	self->watermark_min = sws_machine__watermark_min(self->config.frames);
	self->watermark_low = self->watermark_min * 5 / 4;
	self->watermark_high = sws_machine_watermark_high(self->config.frames);
	self->inactive_ratio = self->config.inactive_ratio
				       ? self->config.inactive_ratio
				       : sws_machine__inactive_ratio(self->config.frames);
}

int sws_machine__assemble(struct sws_machine *self)
{
	int error = SWS_OK;

	derive(self);
	error = allocate_parts(self);
	if (!error)
		error = make_engine(self);
	for (uint32_t n = 0; n < self->config.nodes && !error; n++)
		error = make_node(self, n);
	for (uint32_t n = 0; n < self->config.devices && !error; n++)
		error = make_device(self, n);
	if (!error)
		error = place_actors(self);
	if (error)
		return error;
	if (!sws_machine__has_room(self))
		return SWS_ERROR_BAD_CONFIG;
	self->caches_slots = caches_slots(self);
	sws_machine__begin_fill(self);
	return SWS_OK;
}
