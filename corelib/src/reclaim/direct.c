/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vm/direct.c - a task that finds no page: __alloc_pages_slowpath and try_to_free_pages.
 *
 *      low marks missed -> wake kswapd -> min marks -> reclaim 32 pages -> min marks -> ...
 *
 * A round shrinks both zones at one priority. Rounds end with 32 pages reclaimed, or at
 * priority 0. It is worth another attempt as long as a page was reclaimed, or kswapd has not
 * given all zones up; else the task would be killed, and the world ends. A zone that was scanned
 * six times over for nothing counts as given up, though kswapd may sleep and not have said so:
 * the kernel may go on for ever there, a world may not.
 */
#include "reclaim/reclaim.h"
#include "reclaim/writeback.h"
#include "reclaim/zones.h"

/* MAX_RECLAIM_RETRIES of 4.7. */
enum { FRUITLESS_MAX = 16 };

enum reclaim_step { ROUND, ZONE, ROUND_OVER, NAP_OVER };

struct reclaim {
	/* Of all rounds. */
	uint64_t scanned;
	/* Zones of this round still to come: from Normal down. */
	uint32_t zones;
};

static int next_zone(struct actor *actor, struct reclaim *my)
{
	const struct sws_reclaim *vm = actor->vm;

	if (!my->zones)
		return SWS_OK;
	engine_go(&actor->thread, ZONE);
	my->zones--;
	if (vm->zones[my->zones].unreclaimable && actor->scan.priority != SWS_STALL_PRIORITY_MAX)
		return SWS_OK;
	return sws_reclaim__shrink_zone(actor, my->zones);
}

static bool all_unreclaimable(const struct sws_reclaim *vm)
{
	for (uint32_t i = 0; i < vm->n_zones; i++)
		if (!vm->zones[i].unreclaimable && sws_reclaim__is_reclaimable(vm, i))
			return false;
	return true;
}

/* A round has not brought enough: the flusher is asked, and the rules may want a nap. */
static int end_round(struct actor *actor, struct reclaim *my)
{
	struct scan *scan = &actor->scan;
	struct sws_reclaim *vm = actor->vm;
	const uint32_t preferred = vm->n_zones - 1;
	const struct sws_stall_context context = sws_reclaim__context(actor, preferred);
	const struct sws_stall_round round = {
		.scanned = scan->scanned,
		.reclaimed = scan->reclaimed,
		.wanted = scan->wanted,
	};
	int error = SWS_OK;

	my->scanned += scan->scanned;
	if (scan->reclaimed >= scan->wanted) {
		engine_return(&actor->thread, true);
		return SWS_OK;
	}
	if (!sws_reclaim__decides_by_pass(vm) && my->scanned > scan->wanted + scan->wanted / 2)
		error = sws_reclaim__ask_flusher(vm, my->scanned);
	if (!error)
		error = sws_stall_decide_round(&context, &round, &scan->decision);
	return error ? error : sws_reclaim__obey(actor, preferred, SWS_STALL_AT_ROUND);
}

static int reclaim(struct actor *actor, void *frame, uint32_t step)
{
	struct reclaim *my = frame;
	struct scan *scan = &actor->scan;

	switch ((enum reclaim_step)step) {
	case ROUND:
		my->zones = actor->vm->n_zones;
		scan->scanned = 0;
		return engine_run(&actor->thread, actor->vm->config.costs.look_ns);
	case ZONE:
		return next_zone(actor, my);
	case ROUND_OVER:
		return end_round(actor, my);
	case NAP_OVER:
		if (!scan->priority) {
			engine_return(&actor->thread,
				      scan->reclaimed || !all_unreclaimable(actor->vm));
			return SWS_OK;
		}
		scan->priority--;
		engine_go(&actor->thread, ROUND);
		return SWS_OK;
	}
	return SWS_ERROR_BROKEN;
}

int sws_reclaim__reclaim_directly(struct actor *actor)
{
	const struct reclaim frame = { 0 };

	actor->scan.priority = SWS_STALL_PRIORITY_MAX;
	actor->scan.wanted = VM_CLUSTER;
	actor->scan.reclaimed = 0;
	actor->vm->counts.direct_reclaims++;
	return engine_call(&actor->thread, reclaim, &frame, sizeof(frame));
}

/*
 * Will a page come by itself? Not with kswapd asleep and nothing dirty or under writeback. The
 * kernels of 2013 may try for ever then: swappiness 0, all file pages in use, and DMA32 above
 * its marks by its reserve alone.
 */
static bool waits_for_nothing(const struct sws_reclaim *vm)
{
	const struct engine_thread *kswapd = &vm->actors[VM_KSWAPD].thread;

	return !sws_reclaim__dirty(vm) && !sws_reclaim__writeback(vm) && kswapd->asleep &&
	       !kswapd->dozes && kswapd->sleeps_for == SLEEP_TO_BE_WOKEN;
}

enum allocate_step { ATTEMPT, RECLAIMED };

struct allocation {
	/* Attempts in a row that brought nothing, where nothing comes by itself. */
	uint32_t fruitless;
};

static int allocate(struct actor *actor, void *frame, uint32_t step)
{
	struct allocation *my = frame;
	struct sws_reclaim *vm = actor->vm;
	const uint32_t found = sws_reclaim__take_low(vm);
	bool worth_it = true;

	if (step == RECLAIMED) {
		my->fruitless =
			actor->scan.reclaimed || !waits_for_nothing(vm) ? 0 : my->fruitless + 1;
		worth_it = actor->thread.result && my->fruitless < FRUITLESS_MAX;
	}
	if (found != VM_NONE || !worth_it) {
		vm->out_of_memory = found == VM_NONE;
		engine_return(&actor->thread, found);
		return SWS_OK;
	}
	switch ((enum allocate_step)step) {
	case ATTEMPT:
		return sws_reclaim__reclaim_directly(actor);
	case RECLAIMED:
		engine_go(&actor->thread, ATTEMPT);
		if (sws_reclaim__decides_by_pass(vm))
			return SWS_OK;
		return sws_reclaim__sleep(actor, vm->n_zones - 1,
					  SWS_STALL_SLEEP_WAIT_IFF_CONGESTED, 20000);
	}
	return SWS_ERROR_BROKEN;
}

int sws_reclaim__allocate(struct actor *actor, bool dirties)
{
	const uint32_t found = sws_reclaim__take_fast(actor->vm, dirties);
	const struct allocation frame = { 0 };
	int error = SWS_OK;

	actor->thread.result = found;
	if (found != VM_NONE)
		return SWS_OK;
	error = sws_reclaim__wake_kswapd(actor->vm);
	return error ? error : engine_call(&actor->thread, allocate, &frame, sizeof(frame));
}
