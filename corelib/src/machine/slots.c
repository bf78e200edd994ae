/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/slots.c - a slot for a page, and back: get_swap_page, get_swap_pages and
 * free_swap_slot, with the device's calls led part by part.
 */
#include "machine/parts.h"

uint32_t sws_machine__map_lock(const struct sws_machine *self, const struct device *device,
			       uint32_t slot)
{
	if (device->first_cluster_lock == MACHINE_NONE)
		return device->si_lock;
	return device->first_cluster_lock + slot / self->config.device.cluster_size;
}

static int avail(struct sws_machine *self, struct actor *actor, uint64_t *ns)
{
	(void)actor;
	*ns = self->config.costs.avail_ns;
	return SWS_OK;
}

static int cluster_get(struct sws_machine *self, struct actor *actor, uint64_t *ns)
{
	actor->listed++;
	*ns = self->config.costs.map_ns + self->config.costs.slot_ns;
	return SWS_OK;
}

static int cluster_search(struct sws_machine *self, struct actor *actor, uint64_t *ns)
{
	actor->searches--;
	*ns = self->config.costs.map_ns;
	return SWS_OK;
}

static int cluster_check(struct sws_machine *self, struct actor *actor, uint64_t *ns)
{
	actor->checks--;
	*ns = self->config.costs.map_ns;
	return SWS_OK;
}

/* The clusters' locks of a locked part, one by one: each slot's, before it that of the search that found it. */
static int next_cluster_lock(struct sws_machine *self, struct actor *actor)
{
	const uint32_t left = actor->call.given - actor->listed;
	const uint32_t slot = left ? actor->call.slots[actor->listed] : actor->call.offset;
	const bool searches = actor->searches && actor->searches >= left;

	if (!left && !searches && !actor->checks)
		return SWS_OK;
	machine_go(actor, 4);
	return sws_machine__under(actor, sws_machine__map_lock(self, actor->device, slot),
				  searches ? SWS_SITE_CLUSTER_SEARCH : SWS_SITE_CLUSTER_GET,
				  searches ? cluster_search
				  : left   ? cluster_get
					   : cluster_check);
}

static bool is_unlocked(enum sws_call_state state)
{
	return state == SWS_CALL_SCAN || state == SWS_CALL_SEARCH;
}

static uint64_t looks(const struct sws_slots_work *work)
{
	return work->tested_scan + work->tested_quick + work->tested_cluster + work->looked_at;
}

void sws_machine__count_looks(struct sws_machine *self, const struct sws_slots_work *before,
			      const struct sws_slots_work *after)
{
	self->looks += looks(after) - looks(before);
}

static int scan(struct sws_machine *self, struct actor *actor)
{
	struct sws_slots_work *work = &actor->device->work;
	const struct sws_slots_work before = *work;
	const int error = sws_slots_call_unlocked(actor->device->slots, &actor->call, work);

	sws_machine__count_looks(self, &before, work);
	return error ? error
		     : machine_run(self, actor,
				   (work->tested_scan - before.tested_scan) *
					   self->config.costs.test_ns);
}

/* Slots from number first on were handed out: does another CPU's last one lie in the same trunk? */
static void note_trunks(struct sws_machine *self, struct actor *actor, uint32_t first)
{
	struct device *device = actor->device;

	for (uint32_t i = first; i < actor->call.given; i++) {
		if (actor->trunk != MACHINE_NONE)
			device->last_in_trunk[actor->trunk]--;
		actor->trunk = actor->call.slots[i] >> self->config.device.trunk_shift;
		device->shared_slots += device->last_in_trunk[actor->trunk] > 0;
		device->last_in_trunk[actor->trunk]++;
	}
}

/* A part under si->lock: what it costs but for the clusters' locks, which come one by one. */
static int locked_part(struct sws_machine *self, struct actor *actor)
{
	const struct sws_machine_costs *costs = &self->config.costs;
	struct sws_slots_work *work = &actor->device->work;
	const struct sws_slots_work before = *work;
	const int error =
		sws_slots_call_locked(actor->device->slots, actor->cpu, &actor->call, work);
	const uint64_t tested = work->tested_quick - before.tested_quick + work->tested_cluster -
				before.tested_cluster;
	uint64_t ns = costs->device_ns + tested * costs->test_ns +
		      (work->looked_at - before.looked_at) * costs->base_ns;

	sws_machine__count_looks(self, &before, work);
	if (error)
		return error;
	note_trunks(self, actor, actor->listed);
	if (actor->device->first_cluster_lock == MACHINE_NONE) {
		ns += (actor->call.given - actor->listed) * (costs->map_ns + costs->slot_ns);
		actor->listed = actor->call.given;
		return machine_run(self, actor, ns);
	}
	actor->searches = (uint32_t)(work->searches - before.searches);
	actor->checks = (uint32_t)(work->cluster_lock - before.cluster_lock) - actor->searches -
			(actor->call.given - actor->listed);
	return machine_run(self, actor, ns);
}

/* A slot that only the swap cache holds: its page is taken out of there, if it is free to be. */
static int reclaim_cached(struct sws_machine *self, struct actor *actor, uint32_t step)
{
	const uint32_t slot = actor->call.offset;
	uint32_t mapping = 0;
	uint64_t folio = 0;
	int error = SWS_OK;

	if (step == 1) {
		machine_leave(actor);
		return sws_slots_call_reclaimed(&actor->call, true);
	}
	error = sws_mapping_of_swap(actor->device->mappings, slot, &mapping);
	if (error)
		return error;
	folio = sws_mapping_lookup(actor->device->mappings, mapping, slot);
	if (folio && !(folio & 1) &&
	    sws_slots_usage(actor->device->slots, slot) == SWS_SLOT_CACHED &&
	    sws_machine__may_evict(self, (uint32_t)(folio / 2 - 1))) {
		actor->evicted = (uint32_t)(folio / 2 - 1);
		return machine_call(actor, sws_machine__evict);
	}
	machine_leave(actor);
	error = sws_slots_call_reclaimed(&actor->call, false);
	return error ? error : machine_run(self, actor, self->config.costs.descent_ns);
}

/* The next part of a call that is under way. */
static int next_part(struct sws_machine *self, struct actor *actor)
{
	enum sws_machine_site site = SWS_SITE_DEVICE_GET;

	if (actor->call.state >= SWS_CALL_DONE) {
		machine_leave(actor);
		return SWS_OK;
	}
	machine_go(actor, 2);
	if (is_unlocked(actor->call.state))
		return scan(self, actor);
	if (actor->call.state == SWS_CALL_RECLAIM)
		return machine_call(actor, reclaim_cached);
	if (actor->si_lock_was_had)
		site = SWS_SITE_DEVICE_SCAN;
	actor->si_lock_was_had = true;
	machine_go(actor, 3);
	return sws_machine__lock(self, actor, actor->device->si_lock, site);
}

/* Models get_swap_pages for actor->wanted slots. */
static int get_swap_pages(struct sws_machine *self, struct actor *actor, uint32_t step)
{
	struct device *device = actor->device;
	const int64_t mm = actor->mm == MACHINE_NONE ? -1 : (int64_t)actor->mm;

	switch (step) {
	case 0:
		if (self->rules->avail_locks > 1)
			machine_go(actor, 6);
		return sws_machine__under(actor, self->avail_lock, SWS_SITE_AVAIL, avail);
	case 1:
		actor->taken = 0;
		actor->listed = 0;
		actor->si_lock_was_had = false;
		return sws_slots_call_begin(device->slots, mm, actor->wanted, &actor->call,
					    &device->work);
	case 2:
		return next_part(self, actor);
	case 3:
		return locked_part(self, actor);
	case 4:
		return next_cluster_lock(self, actor);
	case 5:
		machine_go(actor, 2);
		return machine_unlock(self, actor, device->si_lock);
	default:
		machine_go(actor, 1);
		return sws_machine__under(actor, self->avail_lock, SWS_SITE_AVAIL, avail);
	}
}

static void take_slot(struct actor *actor)
{
	actor->slot = actor->taken < actor->call.given ? actor->call.slots[actor->taken++] : 0;
}

/* Models get_swap_page: actor->slot becomes a slot, 0 if there is none. */
int sws_machine__get_slot(struct sws_machine *self, struct actor *actor, uint32_t step)
{
	const uint32_t mutex = self->first_mutex + actor->cpu;

	switch (step) {
	case 0:
		if (!self->caches_slots) {
			machine_go(actor, 4);
			return SWS_OK;
		}
		return sws_machine__lock(self, actor, mutex, SWS_SITE_CACHE_MUTEX);
	case 1:
		actor->wanted = SWS_SLOT_CACHE_SIZE;
		return actor->taken < actor->call.given ? SWS_OK
							: machine_call(actor, get_swap_pages);
	case 2:
		take_slot(actor);
		return machine_run(self, actor, self->config.costs.cache_ns);
	case 3:
		if (actor->slot)
			machine_leave(actor);
		return machine_unlock(self, actor, mutex);
	case 4:
		actor->wanted = 1;
		return machine_call(actor, get_swap_pages);
	default:
		take_slot(actor);
		machine_leave(actor);
		return SWS_OK;
	}
}

static int free_one(struct sws_machine *self, struct actor *actor, uint64_t *ns)
{
	*ns = self->config.costs.map_ns + self->config.costs.free_ns;
	return sws_slots_free_entries(actor->device->slots, &actor->returned[actor->flushed], 1,
				      &actor->device->work);
}

/* Models swapcache_free_entries on what this CPU's return cache holds. */
static int free_entries(struct sws_machine *self, struct actor *actor, uint32_t step)
{
	struct device *device = actor->device;
	const uint32_t slot = actor->returned[actor->flushed % SWS_SLOT_CACHE_SIZE];

	switch (step) {
	case 0:
		return sws_machine__lock(self, actor, device->si_lock, SWS_SITE_DEVICE_FREE);
	case 1:
		actor->flushed = 0;
		return machine_run(self, actor, self->config.costs.device_ns);
	case 2:
		if (actor->flushed == actor->n_returned) {
			actor->flushed = 0;
			actor->n_returned = 0;
			machine_leave(actor);
			return machine_unlock(self, actor, device->si_lock);
		}
		return sws_machine__under(actor, sws_machine__map_lock(self, device, slot),
					  SWS_SITE_CLUSTER_FREE, free_one);
	case 3:
		if (!self->rules->shadows)
			return SWS_OK;
		return sws_machine__under_tree(self, actor, slot, SWS_SITE_TREE_SHADOW,
					       sws_machine__tree_shadow);
	default:
		actor->flushed++;
		machine_go(actor, 2);
		return SWS_OK;
	}
}

/* Models free_swap_slot on actor->put. In 4.8 the slot went with its last reference. */
int sws_machine__put_slot(struct sws_machine *self, struct actor *actor, uint32_t step)
{
	const uint32_t lock = self->first_return_lock + actor->cpu;

	switch (step) {
	case 0:
		if (self->caches_slots)
			return sws_machine__lock(self, actor, lock, SWS_SITE_RETURN_CACHE);
		machine_leave(actor);
		if (!self->rules->cluster_locks)
			return SWS_OK;
		actor->returned[actor->n_returned++] = actor->put;
		return machine_call(actor, free_entries);
	case 1:
		return actor->n_returned == SWS_SLOT_CACHE_SIZE ? machine_call(actor, free_entries)
								: SWS_OK;
	case 2:
		actor->returned[actor->n_returned++] = actor->put;
		return machine_run(self, actor, self->config.costs.cache_ns);
	default:
		machine_leave(actor);
		return machine_unlock(self, actor, lock);
	}
}
