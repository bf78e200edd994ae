/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/get_slot.c - get_swap_page and, in it, get_swap_pages: a call of the device that runs
 * part by part. A call from 5.7 on that finds two slots in its CPU's cluster, drops si->lock for a
 * scan and finds a third one:
 *
 *      this CPU's mutex  [ ........................................................ ]
 *      swap_avail_lock    [ ]
 *      si->lock               [ locked part: 2 slots  ]           [ locked part: 1 slot ]
 *      cluster lock                   [s] [g] [s] [g]  -- scan --                   [g]
 *
 * The device carries out a locked part at once, when si->lock is acquired. The cluster locks that
 * it took (s: for a search in this CPU's cluster, g: for a slot allocated, c: for a slot found but
 * not allocated) follow one by one while si->lock is held.
 *
 * 64 pages go out on one CPU, the first of them with an empty cache while clusters are free:
 *
 *      4.8     64 holds of si->lock, 64 of swap_avail_lock
 *      5.7     64 holds of the CPU's mutex; inside the first of them the refill:
 *              1 hold of swap_avail_lock, 1 of si->lock, and in that 128 of cluster locks,
 *              64 for searches and 64 for slots allocated
 *
 * Refills of one CPU from an empty device of 65536 slots, with clusters of 256, in 6.1:
 *
 *      refill        1          2          3          4          5
 *      first slot    16384      16448      16512      16576      32768
 *
 * Four refills use up a cluster. The next cluster is 64 MB further, in another trunk, because the
 * initial list of free clusters has such strides (SWAP_CLUSTER_COLS of mm/swapfile.c); its first
 * cluster depends on the device's seed.
 */
#include "machine/swap_cache.h"
#include "machine/tasks.h"

struct get_slots {
	struct sws_slots_call call;
	uint32_t wanted;
	/* Slots of the call whose cluster lock has been taken. */
	uint32_t listed;
	/* Cluster locks still to be taken for searches, and for slots found but not allocated. */
	uint32_t searches;
	uint32_t checks;
	bool si_lock_was_had;
};

static int avail(struct actor *actor, void *subject, uint64_t *ns)
{
	(void)subject;
	*ns = actor->machine->config.costs.avail_ns;
	return SWS_OK;
}

/* Returns the slot whose cluster's lock is next: one allocated, else the one where the scan is. */
static uint32_t next_slot(const struct get_slots *my)
{
	return my->listed < my->call.given ? my->call.slots[my->listed] : my->call.offset;
}

static int cluster_get(struct actor *actor, void *frame, uint64_t *ns)
{
	struct get_slots *my = frame;

	*ns = sws_machine__next_look_ns(actor, next_slot(my)) +
	      actor->machine->config.costs.slot_ns;
	my->listed++;
	return SWS_OK;
}

static int cluster_search(struct actor *actor, void *frame, uint64_t *ns)
{
	struct get_slots *my = frame;

	my->searches--;
	*ns = sws_machine__next_look_ns(actor, next_slot(my));
	return SWS_OK;
}

static int cluster_check(struct actor *actor, void *frame, uint64_t *ns)
{
	struct get_slots *my = frame;

	my->checks--;
	*ns = sws_machine__next_look_ns(actor, next_slot(my));
	return SWS_OK;
}

/*
 * Counts the slots from number first on whose trunk also has the last slot of another CPU. With
 * trunks of 16384 slots, last_in_trunk of trunks 1 and 2, and 16447 as the last slot of CPU 0:
 *
 *      CPU 1, new, gets 16640      1 0 -> 2 0      another CPU's is there: shared
 *      CPU 0 gets 32768            2 0 -> 1 1      no other CPU's: not shared
 *      CPU 0 gets 16641            1 1 -> 2 0      shared
 *
 * A CPU's own mark is removed first, or it would share each trunk with itself.
 */
static void note_trunks(struct actor *actor, const struct sws_slots_call *call, uint32_t first)
{
	const uint32_t shift = actor->machine->config.device.trunk_shift;
	struct device *device = actor->device;
	struct cpu *cpu = actor->cpu;

	for (uint32_t i = first; i < call->given; i++) {
		if (cpu->trunk != MACHINE_NONE)
			device->last_in_trunk[cpu->trunk]--;
		cpu->trunk = call->slots[i] >> shift;
		device->shared_slots += device->last_in_trunk[cpu->trunk] > 0;
		device->last_in_trunk[cpu->trunk]++;
	}
}

/*
 * Reclaims a slot that only the swap cache holds: removes its page from there if that is possible.
 */
struct reclaim_cached {
	struct sws_slots_call *call;
};

enum reclaim_step { TRY, TAKEN_OUT };

static int try_cached(struct actor *actor, struct sws_slots_call *call)
{
	const struct sws_machine *self = actor->machine;
	const struct device *device = actor->device;
	const uint32_t slot = call->offset;
	uint32_t mapping = 0;
	uint64_t folio = 0;
	int error = sws_mapping_of_swap(device->mappings, slot, &mapping);

	if (error)
		return error;
	/*
	 * __try_to_reclaim_swap: an odd value is a shadow, 0 an empty place; the page may be locked
	 * or in use, too.
	 */
	folio = sws_mapping_lookup(device->mappings, mapping, slot);
	if (folio && !(folio & 1) && sws_slots_usage(device->slots, slot) == SWS_SLOT_CACHED &&
	    sws_machine__may_evict(self, (uint32_t)(folio / 2 - 1)))
		return sws_machine__evict(actor, (uint32_t)(folio / 2 - 1));
	engine_leave(&actor->thread);
	error = sws_slots_call_reclaimed(call, false);
	return error ? error : engine_run(&actor->thread, self->config.costs.descent_ns);
}

static int reclaim_cached(struct actor *actor, void *frame, uint32_t step)
{
	const struct reclaim_cached *my = frame;

	switch ((enum reclaim_step)step) {
	case TRY:
		return try_cached(actor, my->call);
	case TAKEN_OUT:
		engine_leave(&actor->thread);
		return sws_slots_call_reclaimed(my->call, true);
	}
	return SWS_ERROR_BROKEN;
}

static int call_reclaim_cached(struct actor *actor, struct sws_slots_call *call)
{
	const struct reclaim_cached frame = { .call = call };

	return engine_call(&actor->thread, reclaim_cached, &frame, sizeof(frame));
}

enum slots_step { AVAIL, BEGIN, NEXT_PART, LOCKED_PART, CLUSTER_LOCKS, GIVE_BACK };

/* Runs one part of the call and returns the work of the device. */
static int run_part(struct actor *actor, struct get_slots *my, struct sws_slots_work *before)
{
	struct sws_slots_work *work = &actor->device->work;
	int error = SWS_OK;

	*before = *work;
	error = sws_slots_call_next(actor->device->slots, actor->slot_cpu, &my->call, work);
	sws_machine__count_looks(actor->machine, before, work);
	return error;
}

/*
 * The device scans at once and the time of the scan follows, without si->lock. The slot found is
 * tested again in the next locked part, because other CPUs run in between:
 *
 *      CPU 0                                CPU 1
 *      SCAN finds 4711, 600 slots on
 *      600 x test_ns pass                   si->lock: takes 4711
 *      si->lock: CHECK, 4711 is in use;
 *      it has no slot yet, so SCAN again,
 *      from 4712
 */
static int scan(struct actor *actor, struct get_slots *my)
{
	const struct sws_slots_work *work = &actor->device->work;
	struct sws_slots_work before;
	const int error = run_part(actor, my, &before);
	const uint64_t tested = work->tested_scan - before.tested_scan;

	return error ? error
		     : engine_run(&actor->thread, tested * actor->machine->config.costs.test_ns);
}

static int next_part(struct actor *actor, struct get_slots *my)
{
	const bool was_had = my->si_lock_was_had;

	if (my->call.state >= SWS_CALL_DONE) {
		slots_cpu_cache_fill(machine_slots_of(actor), &my->call);
		engine_leave(&actor->thread);
		return SWS_OK;
	}
	if (my->call.state == SWS_CALL_RECLAIM) {
		engine_go(&actor->thread, NEXT_PART);
		return call_reclaim_cached(actor, &my->call);
	}
	if (my->call.state == SWS_CALL_SCAN || my->call.state == SWS_CALL_SEARCH) {
		engine_go(&actor->thread, NEXT_PART);
		return scan(actor, my);
	}
	my->si_lock_was_had = true;
	return engine_lock(&actor->thread, actor->device->si_lock,
			   was_had ? SWS_SITE_DEVICE_SCAN : SWS_SITE_DEVICE_GET);
}

/* Charges a locked part, without the cluster locks, which follow one by one. */
static int locked_part(struct actor *actor, struct get_slots *my)
{
	const struct sws_machine_costs *costs = &actor->machine->config.costs;
	const struct sws_slots_work *work = &actor->device->work;
	struct sws_slots_work before;
	const int error = run_part(actor, my, &before);
	const uint32_t given = my->call.given - my->listed;
	const uint64_t tested = work->tested_quick - before.tested_quick + work->tested_cluster -
				before.tested_cluster;
	uint64_t ns = costs->device_ns + tested * costs->test_ns +
		      (work->looked_at - before.looked_at) * costs->base_ns;

	if (error)
		return error;
	note_trunks(actor, &my->call, my->listed);
	sws_machine__begin_looks(actor->device);
	if (actor->device->first_cluster_lock == MACHINE_NONE) {
		for (; my->listed < my->call.given; my->listed++)
			ns += sws_machine__next_look_ns(actor, next_slot(my)) + costs->slot_ns;
	} else {
		/*
		 * A slot that a scan found and another CPU took: 1 lock, 0 searches, 0 slots, 1
		 * check.
		 */
		my->searches = (uint32_t)(work->searches - before.searches);
		my->checks =
			(uint32_t)(work->cluster_lock - before.cluster_lock) - my->searches - given;
	}
	return engine_run(&actor->thread, ns);
}

/*
 * Takes the next cluster lock: that of each slot, before it that of the search that found it, and
 * at last those of slots not allocated. The counts determine the order: a search is next if at
 * least as many searches as slots are left.
 *
 *      slots left     2 2 1 1      2 1 1        0
 *      searches       2 1 1 0      1 1 0        0
 *      checks         0            0            1
 *      lock           s g s g      g s g        c        the second: one from a scan, one searched
 */
static int next_cluster_lock(struct actor *actor, struct get_slots *my)
{
	const uint32_t left = my->call.given - my->listed;
	const bool searches = my->searches && my->searches >= left;

	if (!left && !searches && !my->checks)
		return SWS_OK;
	engine_go(&actor->thread, CLUSTER_LOCKS);
	return sws_engine__under(
		&actor->thread, sws_machine__map_lock(actor->machine, actor->device, next_slot(my)),
		searches ? SWS_SITE_CLUSTER_SEARCH : SWS_SITE_CLUSTER_GET,
		searches ? cluster_search
		: left   ? cluster_get
			 : cluster_check,
		my);
}

/* Models get_swap_pages: the allocated slots fill this CPU's cache. */
static int get_slots(struct actor *actor, void *frame, uint32_t step)
{
	struct engine_thread *thread = &actor->thread;
	const struct sws_machine *self = actor->machine;
	struct device *device = actor->device;
	struct get_slots *my = frame;
	const int64_t mm = actor->mm == MACHINE_NONE ? -1 : (int64_t)actor->mm;

	switch ((enum slots_step)step) {
	case AVAIL:
		return sws_engine__under(thread, self->avail_lock, SWS_SITE_AVAIL, avail, NULL);
	case BEGIN:
		return sws_slots_call_begin(device->slots, mm, my->wanted, &my->call,
					    &device->work);
	case NEXT_PART:
		return next_part(actor, my);
	case LOCKED_PART:
		return locked_part(actor, my);
	case CLUSTER_LOCKS:
		return next_cluster_lock(actor, my);
	case GIVE_BACK:
		engine_go(thread, NEXT_PART);
		return engine_unlock(thread, device->si_lock);
	}
	return SWS_ERROR_BROKEN;
}

static int call_get_slots(struct actor *actor, uint32_t wanted)
{
	const struct get_slots frame = { .wanted = wanted };

	return engine_call(&actor->thread, get_slots, &frame, sizeof(frame));
}

struct get_slot {
	uint32_t slot;
};

enum step { TAKE_MUTEX, REFILL, TAKE, GIVE_MUTEX_BACK, ASK_DEVICE, ANSWER };

/* Models get_swap_page. */
static int get_slot(struct actor *actor, void *frame, uint32_t step)
{
	struct engine_thread *thread = &actor->thread;
	const struct sws_machine *self = actor->machine;
	struct slots_cpu_cache *cache = machine_slots_of(actor);
	const uint32_t mutex = self->first_mutex + actor->slot_cpu;
	struct get_slot *my = frame;

	switch ((enum step)step) {
	case TAKE_MUTEX:
		if (self->caches_slots)
			return engine_lock(thread, mutex, SWS_SITE_CACHE_MUTEX);
		engine_go(thread, ASK_DEVICE);
		return SWS_OK;
	case REFILL:
		return cache->n_ready ? SWS_OK : call_get_slots(actor, SWS_SLOT_CACHE_SIZE);
	case TAKE:
		my->slot = slots_cpu_cache_take(cache);
		return engine_run(thread, self->config.costs.cache_ns);
	case GIVE_MUTEX_BACK:
		if (my->slot)
			engine_return(thread, my->slot);
		return engine_unlock(thread, mutex);
	case ASK_DEVICE:
		return call_get_slots(actor, 1);
	case ANSWER:
		engine_return(thread, slots_cpu_cache_take(cache));
		return SWS_OK;
	}
	return SWS_ERROR_BROKEN;
}

int sws_machine__get_slot(struct actor *actor)
{
	const struct get_slot frame = { 0 };

	sws_machine__change_cpu(actor);
	return engine_call(&actor->thread, get_slot, &frame, sizeof(frame));
}
