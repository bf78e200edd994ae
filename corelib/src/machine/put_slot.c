/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/put_slot.c - free_swap_slot: the return cache of a CPU, and its flush.
 *
 *      return cache's lock  [ ............................ ]      the 64 slots of a full
 *      si->lock                [ ...................... ]         cache are flushed under
 *      cluster lock              [ ] [ ] [ ] ...                  one hold of si->lock,
 *      a record's, in 5.8            [ ] [ ] ...                  one after another
 *      xa_lock, in 6.1               [ ] [ ] ...
 *
 * The 65th slot that is put finds the cache full:
 *
 *      returned    # # # # ... #     64      MAKE_ROOM: si->lock once, 64 cluster locks in it,
 *      returned    . . . . ... .      0      in 6.1 64 times xa_lock after them
 *      returned    # . . . ... .      1      KEEP
 *
 * So 64 of 65 puts take only a lock of their own CPU, and one pays for 64: as si->lock is held
 * throughout, a CPU that wants to refill waits for the complete flush.
 */
#include "machine/swap_cache.h"

struct flush {
	/* The slots handed over by the cache, of which `left` are not freed yet. */
	const uint32_t *slots;
	uint32_t left;
	/* The slot whose locks are being taken. */
	uint32_t slot;
};

static int free_one(struct actor *actor, void *subject, uint64_t *ns)
{
	const uint32_t *slot = subject;
	struct device *device = actor->device;

	*ns = sws_machine__next_look_ns(actor, *slot) + actor->machine->config.costs.free_ns;
	return sws_slots_free_entries(device->slots, slot, 1, &device->work);
}

/* Without clusters si->lock, which is held, protects the map. */
static int free_next(struct actor *actor, struct flush *my)
{
	const uint32_t lock = sws_machine__map_lock(actor->machine, actor->device, my->slot);
	uint64_t ns = 0;
	int error = SWS_OK;

	if (lock != actor->device->si_lock)
		return sws_engine__under(&actor->thread, lock, SWS_SITE_CLUSTER_FREE, free_one,
					 &my->slot);
	error = free_one(actor, &my->slot, &ns);
	return error ? error : engine_run(&actor->thread, ns);
}

enum flush_step { TAKE_DEVICE, BEGIN, NEXT, CLEAR_RECORD, FORGET_SHADOW, FREED };

/* Models swapcache_free_entries for the slots of this CPU's return cache. */
static int flush(struct actor *actor, void *frame, uint32_t step)
{
	struct engine_thread *thread = &actor->thread;
	struct sws_machine *self = actor->machine;
	struct device *device = actor->device;
	struct flush *my = frame;

	switch ((enum flush_step)step) {
	case TAKE_DEVICE:
		return engine_lock(thread, device->si_lock, SWS_SITE_DEVICE_FREE);
	/* The slots are valid until the next put, which is KEEP, after all have been freed. */
	case BEGIN:
		sws_machine__begin_looks(device);
		my->left = slots_cpu_cache_hand_over(machine_slots_of(actor), &my->slots);
		return engine_run(thread, self->config.costs.device_ns);
	case NEXT:
		if (!my->left) {
			engine_leave(thread);
			return engine_unlock(thread, device->si_lock);
		}
		my->slot = *my->slots++;
		my->left--;
		return free_next(actor, my);
	case CLEAR_RECORD:
		return sws_machine__record(actor, SWS_SITE_RECORD_FREE);
	case FORGET_SHADOW:
		return sws_machine__tree_shadow(actor, &my->slot);
	case FREED:
		engine_go(thread, NEXT);
		return SWS_OK;
	}
	return SWS_ERROR_BROKEN;
}

static int call_flush(struct actor *actor)
{
	const struct flush frame = { 0 };

	return engine_call(&actor->thread, flush, &frame, sizeof(frame));
}

struct put_slot {
	uint32_t slot;
};

enum step { TAKE_CACHE, MAKE_ROOM, KEEP, GIVE_BACK };

static int put_slot(struct actor *actor, void *frame, uint32_t step)
{
	struct engine_thread *thread = &actor->thread;
	struct sws_machine *self = actor->machine;
	struct slots_cpu_cache *cache = machine_slots_of(actor);
	const uint32_t lock = self->first_return_lock + actor->slot_cpu;
	const struct put_slot *my = frame;

	switch ((enum step)step) {
	case TAKE_CACHE:
		return engine_lock(thread, lock, SWS_SITE_RETURN_CACHE);
	case MAKE_ROOM:
		return slots_cpu_cache_is_full(cache) ? call_flush(actor) : SWS_OK;
	case KEEP:
		slots_cpu_cache_put(cache, my->slot);
		return engine_run(thread, self->config.costs.cache_ns);
	case GIVE_BACK:
		engine_leave(thread);
		return engine_unlock(thread, lock);
	}
	return SWS_ERROR_BROKEN;
}

int sws_machine__put_slot(struct actor *actor, uint32_t slot)
{
	const struct put_slot frame = { .slot = slot };

	if (actor->machine->caches_slots)
		return engine_call(&actor->thread, put_slot, &frame, sizeof(frame));
	if (!actor->machine->rules->cluster_locks)
		return SWS_OK;
	/* Without the cache, a flush has one slot. */
	slots_cpu_cache_put(machine_slots_of(actor), slot);
	return call_flush(actor);
}
