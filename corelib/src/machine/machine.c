/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine.c - the machine's parts put together, and its run. */
#include "machine/parts.h"

#include <string.h>

/* A site's name, and whether its lock is taken with interrupts off. */
static const struct {
	const char *name;
	bool irq;
} sites[SWS_SITES] = {
	[SWS_SITE_AVAIL] = { "swap_avail_lock.get_swap_pages", false },
	[SWS_SITE_CACHE_MUTEX] = { "alloc_lock.get_swap_page", false },
	[SWS_SITE_RETURN_CACHE] = { "free_lock.free_swap_slot", true },
	[SWS_SITE_DEVICE_GET] = { "si_lock.get_swap_pages", false },
	[SWS_SITE_DEVICE_SCAN] = { "si_lock.scan_swap_map_slots", false },
	[SWS_SITE_DEVICE_FREE] = { "si_lock.swapcache_free_entries", false },
	[SWS_SITE_CLUSTER_GET] = { "cluster_lock.scan_swap_map_slots", false },
	[SWS_SITE_CLUSTER_FREE] = { "cluster_lock.swapcache_free_entries", false },
	[SWS_SITE_DUPLICATE] = { "map_lock.swap_duplicate", false },
	[SWS_SITE_COUNT] = { "map_lock.try_to_free_swap", false },
	[SWS_SITE_PUT] = { "map_lock.put_swap_page", false },
	[SWS_SITE_PREPARE] = { "map_lock.swapcache_prepare", false },
	[SWS_SITE_SWAP_FREE] = { "map_lock.swap_free", false },
	[SWS_SITE_TREE_ADD] = { "tree_lock.add_to_swap_cache.shrink_page_list", true },
	[SWS_SITE_TREE_START] = { "tree_lock.test_set_page_writeback", true },
	[SWS_SITE_TREE_END] = { "tree_lock.test_clear_page_writeback", true },
	[SWS_SITE_TREE_REMOVE] = { "tree_lock.__remove_mapping", true },
	[SWS_SITE_TREE_READ] = { "tree_lock.add_to_swap_cache.do_swap_page", true },
	[SWS_SITE_TREE_DELETE] = { "tree_lock.delete_from_swap_cache", true },
	[SWS_SITE_TREE_SHADOW] = { "tree_lock.clear_shadow_from_swap_cache", true },
	[SWS_SITE_LRU_ADD] = { "lru_lock.__pagevec_lru_add", true },
	[SWS_SITE_LRU_CHARGE] = { "lru_lock.mem_cgroup_commit_charge", true },
	[SWS_SITE_LRU_ACTIVE] = { "lru_lock.shrink_active_list", true },
	[SWS_SITE_LRU_INACTIVE] = { "lru_lock.shrink_inactive_list", true },
	[SWS_SITE_LRU_ROTATE] = { "lru_lock.rotate_reclaimable_page", true },
	[SWS_SITE_ZONE_GET] = { "zone_lock.rmqueue_bulk", false },
	[SWS_SITE_ZONE_FREE] = { "zone_lock.free_pcppages_bulk", false },
	[SWS_SITE_CLUSTER_SEARCH] = { "cluster_lock.scan_swap_map_try_ssd_cluster", false },
	[SWS_SITE_CLEAR] = { "map_lock.swapcache_clear", false },
	[SWS_SITE_SWAPCOUNT] = { "map_lock.__swp_swapcount", false },
	[SWS_SITE_LRU_RELEASE] = { "lru_lock.release_pages", true },
};

void sws_machine_config_init(struct sws_machine_config *config)
{
	*config = (struct sws_machine_config){
		.slot_cache = true,
		.nodes = 1,
		.devices = 1,
		.walkers = 1,
		.frames = 1 << 14,
		.pages = 1 << 14,
		.read_percent = 80,
		.spread_percent = 50,
	};
	sws_slots_config_init(&config->device);
}

const char *sws_machine_site_name(uint32_t site)
{
	return site < SWS_SITES ? sites[site].name : "unknown";
}

int sws_machine__lock(struct sws_machine *self, struct actor *actor, uint32_t lock,
		      enum sws_machine_site site)
{
	actor->waits = true;
	return sws_des_lock(self->des, actor->cpu, lock, site, sites[site].irq);
}

/* A section: lock, action, hold, unlock. */
static int locked(struct sws_machine *self, struct actor *actor, uint32_t step)
{
	struct activation *section = &actor->stack[actor->depth - 1];
	uint64_t ns = 0;
	int error = SWS_OK;

	switch (step) {
	case 0:
		return sws_machine__lock(self, actor, section->lock, section->site);
	case 1:
		error = section->action(self, actor, &ns);
		return error ? error : machine_run(self, actor, ns);
	default:
		machine_leave(actor);
		return machine_unlock(self, actor, section->lock);
	}
}

int sws_machine__under(struct actor *actor, uint32_t lock, enum sws_machine_site site,
		       machine_action *action)
{
	const int error = machine_call(actor, locked);
	struct activation *section = &actor->stack[actor->depth - 1];

	if (error)
		return error;
	section->lock = lock;
	section->site = site;
	section->action = action;
	return SWS_OK;
}

int sws_machine_new(const struct sws_machine_config *config, struct sws_machine **out)
{
	const struct sws_allocator *allocator =
		config->allocator ? config->allocator : &sws_libc_allocator;
	struct sws_machine *self = NULL;
	const char *reason = NULL;
	uint32_t row = 0;
	int error = SWS_OK;

	*out = NULL;
	if (!sws_machine__config_fits(config))
		return SWS_ERROR_BAD_CONFIG;
	error = sws_machine_check_requests(config, &row, &reason);
	if (error)
		return error;
	self = sws_allocate_zeroed(allocator, 1, sizeof(*self));
	if (!self)
		return SWS_ERROR_NO_MEMORY;
	self->allocator = *allocator;
	self->config = *config;
	error = sws_machine__assemble(self);
	if (error)
		goto out;
	*out = self;
	self = NULL;
out:
	sws_machine_free(self);
	return error;
}

void sws_machine_free(struct sws_machine *self)
{
	struct sws_allocator allocator;

	if (!self)
		return;
	allocator = self->allocator;
	for (uint32_t n = 0; n < self->config.devices && self->devices; n++) {
		sws_slots_free(self->devices[n].slots);
		sws_mappings_free(self->devices[n].mappings);
		sws_release(&allocator, self->devices[n].last_in_trunk);
		sws_release(&allocator, self->devices[n].channels);
		sws_release(&allocator, self->devices[n].requests);
	}
	for (uint32_t n = 0; n < self->config.nodes && self->nodes; n++)
		sws_release(&allocator, self->nodes[n].free_pages);
	sws_des_free(self->des);
	sws_release(&allocator, self->nodes);
	sws_release(&allocator, self->devices);
	sws_release(&allocator, self->actors);
	sws_release(&allocator, self->pages);
	sws_release(&allocator, self->pte_values);
	sws_release(&allocator, self->pte_states);
	sws_release(&allocator, self);
}

/* The actor goes on until it made an event or sleeps. */
static int resume(struct sws_machine *self, struct actor *actor)
{
	int error = SWS_OK;

	actor->waits = false;
	while (!error && !actor->waits) {
		struct activation *top = &actor->stack[actor->depth - 1];

		error = top->procedure(self, actor, top->step++);
	}
	return error;
}

/* A call comes back after so many, though it may take more events: scans and policies look far. */
enum { LOOKS_OF_A_CALL = 1 << 22 };

/* When a run is over. */
struct goal {
	uint64_t until_ns;
	uint64_t requests;
	uint32_t longest;
};

static bool is_reached(const struct sws_machine *self, const struct goal *goal)
{
	return sws_des_now(self->des) >= goal->until_ns || self->requests_done >= goal->requests ||
	       self->longest_ended >= goal->longest;
}

static int run(struct sws_machine *self, const struct goal *goal, uint64_t max_events, bool *more,
	       uint64_t *events)
{
	const uint64_t looks = self->looks + LOOKS_OF_A_CALL;
	uint32_t cpu = 0;
	int error = SWS_OK;

	*more = true;
	for (; max_events && self->looks < looks && !error; max_events--, ++*events) {
		if (self->phase != PHASE_RUN) {
			error = sws_machine__fill(self);
			continue;
		}
		if (is_reached(self, goal) || !sws_des_next(self->des, &cpu)) {
			*more = false;
			return SWS_OK;
		}
		self->events++;
		error = resume(self, &self->actors[cpu]);
	}
	return error;
}

int sws_machine_run(struct sws_machine *self, uint64_t until_ns, uint64_t max_events, bool *more,
		    uint64_t *events)
{
	const struct goal goal = { until_ns, UINT64_MAX, UINT32_MAX };

	return run(self, &goal, max_events, more, events);
}

int sws_machine_run_streams(struct sws_machine *self, uint64_t requests, uint32_t longest,
			    uint64_t max_events, bool *more, uint64_t *events)
{
	const struct goal goal = { UINT64_MAX, requests, longest };

	return run(self, &goal, max_events, more, events);
}

uint64_t sws_machine_requests_done(const struct sws_machine *self)
{
	return self->requests_done;
}

uint32_t sws_machine_longest_ended(const struct sws_machine *self)
{
	return self->longest_ended;
}

uint64_t sws_machine_now(const struct sws_machine *self)
{
	return sws_des_now(self->des);
}

uint64_t sws_machine_events(const struct sws_machine *self)
{
	return self->events;
}

bool sws_machine_stuck(const struct sws_machine *self)
{
	return self->stuck;
}

uint32_t sws_machine_cpus(const struct sws_machine *self)
{
	return self->n_actors;
}

struct sws_machine_cpu sws_machine_cpu_of(const struct sws_machine *self, uint32_t cpu)
{
	struct sws_machine_cpu count = { 0 };

	if (cpu >= self->n_actors)
		return count;
	count = self->actors[cpu].count;
	count.time = sws_des_cpu_of(self->des, cpu);
	count.time.run_ns -= self->actors[cpu].slept_ns;
	count.time.idle_ns += self->actors[cpu].slept_ns;
	return count;
}

struct sws_des_site sws_machine_site_of(const struct sws_machine *self, uint32_t site)
{
	return sws_des_site_of(self->des, site);
}

static void add_work(struct sws_slots_work *sum, const struct sws_slots_work *work)
{
	uint64_t each[sizeof(*work) / sizeof(uint64_t)];
	uint64_t sums[sizeof(*work) / sizeof(uint64_t)];

	memcpy(each, work, sizeof(each));
	memcpy(sums, sum, sizeof(sums));
	for (size_t i = 0; i < sizeof(each) / sizeof(*each); i++)
		sums[i] += each[i];
	memcpy(sum, sums, sizeof(sums));
}

struct sws_slots_work sws_machine_slots_work(const struct sws_machine *self)
{
	struct sws_slots_work sum = { 0 };

	for (uint32_t n = 0; n < self->config.devices; n++)
		add_work(&sum, &self->devices[n].work);
	return sum;
}

uint64_t sws_machine_shared_slots(const struct sws_machine *self)
{
	uint64_t sum = 0;

	for (uint32_t n = 0; n < self->config.devices; n++)
		sum += self->devices[n].shared_slots;
	return sum;
}

uint32_t sws_machine_slots_in_use(const struct sws_machine *self, uint32_t device)
{
	return device < self->config.devices ? sws_slots_in_use(self->devices[device].slots) : 0;
}

uint32_t sws_machine_free_clusters(const struct sws_machine *self, uint32_t device)
{
	return device < self->config.devices ? sws_slots_free_clusters(self->devices[device].slots)
					     : 0;
}
