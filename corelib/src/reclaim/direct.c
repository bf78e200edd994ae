/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reclaim/direct.c - a task that finds no free page: __alloc_pages_slowpath and try_to_free_pages.
 *
 *      low marks missed -> wake kswapd -> min marks -> reclaim 32 pages -> min marks -> ...
 *
 * A round shrinks both zones at one priority. Rounds end when 32 pages are reclaimed, or at
 * priority 0. Another attempt follows if a page was reclaimed or if kswapd has not given up all
 * zones; otherwise the kernel would kill a task, and the simulation ends. A zone that was scanned
 * six times over without a freed page counts as given up, even if kswapd sleeps and has not marked
 * it: the kernel may then try for ever, a simulation must end.
 */
#include "reclaim/disk.h"
#include "reclaim/reclaim.h"
#include "reclaim/writeback.h"
#include "reclaim/zones.h"

/* MAX_RECLAIM_RETRIES of 4.7. */
enum { FRUITLESS_MAX = 16 };

enum reclaim_step { ROUND, ZONE, ROUND_OVER, NAP_OVER };

struct reclaim {
	/* Pages scanned in all rounds. */
	uint64_t scanned;
	/* Zones of this round that are still to be shrunk, from Normal down. */
	uint32_t zones;
};

static int next_zone(struct actor *actor, struct reclaim *my)
{
	const struct sws_reclaim *self = actor->reclaim;

	if (!my->zones)
		return SWS_OK;
	engine_go(&actor->thread, ZONE);
	my->zones--;
	if (self->zones[my->zones].unreclaimable && actor->scan.priority != SWS_STALL_PRIORITY_MAX)
		return SWS_OK;
	return sws_reclaim__shrink_zone(actor, my->zones);
}

static bool all_unreclaimable(const struct sws_reclaim *self)
{
	for (uint32_t i = 0; i < self->n_zones; i++)
		if (!self->zones[i].unreclaimable && sws_reclaim__is_reclaimable(self, i))
			return false;
	return true;
}

/*
 * Ends a round that did not reclaim enough: wakes the flusher, and throttles if the rules say so.
 */
static int end_round(struct actor *actor, struct reclaim *my)
{
	struct scan *scan = &actor->scan;
	struct sws_reclaim *self = actor->reclaim;
	const uint32_t preferred = self->n_zones - 1;
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
	if (!sws_reclaim__decides_by_pass(self) && my->scanned > scan->wanted + scan->wanted / 2)
		error = sws_reclaim__ask_flusher(self, my->scanned);
	if (!error)
		error = sws_stall_decide_round(&context, &round, &scan->decision);
	return error ? error : sws_reclaim__carry_out(actor, preferred, SWS_STALL_AT_ROUND);
}

static int reclaim(struct actor *actor, void *frame, uint32_t step)
{
	struct reclaim *my = frame;
	struct scan *scan = &actor->scan;

	switch ((enum reclaim_step)step) {
	case ROUND:
		my->zones = actor->reclaim->n_zones;
		scan->scanned = 0;
		return engine_run(&actor->thread, actor->reclaim->config.costs.look_ns);
	case ZONE:
		return next_zone(actor, my);
	case ROUND_OVER:
		return end_round(actor, my);
	case NAP_OVER:
		if (!scan->priority) {
			engine_return(&actor->thread,
				      scan->reclaimed || !all_unreclaimable(actor->reclaim));
			return SWS_OK;
		}
		scan->priority--;
		engine_go(&actor->thread, ROUND);
		return SWS_OK;
	}
	return SWS_ERROR_BROKEN;
}

/* try_to_free_pages: at least 32 pages. The result is true if another attempt may succeed. */
static int reclaim_directly(struct actor *actor)
{
	const struct reclaim frame = { 0 };

	actor->scan.priority = SWS_STALL_PRIORITY_MAX;
	actor->scan.wanted = SWAP_CLUSTER_MAX;
	actor->scan.reclaimed = 0;
	actor->reclaim->counts.direct_reclaims++;
	return engine_call(&actor->thread, reclaim, &frame, sizeof(frame));
}

/* Returns true if kswapd sleeps, or goes on without a result. */
static bool kswapd_is_idle(const struct sws_reclaim *self)
{
	const struct actor *kswapd = &self->actors[ACTOR_KSWAPD];
	const struct engine_thread *thread = &kswapd->thread;

	return (thread->asleep && !thread->dozes && thread->sleeps_for == WAIT_WAKE_UP) ||
	       !kswapd->scan.reclaimed;
}

/*
 * Returns true if no page can become free without this task: kswapd has no result, the disk has no
 * request, and no page is dirty or under writeback. The kernels of 2013 may try for ever in this
 * state, for example with swappiness 0, all file pages in use, and DMA32 above its marks only by its
 * reserve.
 */
static bool waits_for_nothing(const struct sws_reclaim *self)
{
	return !sws_reclaim__dirty(self) && !sws_reclaim__writeback(self) && kswapd_is_idle(self) &&
	       !sws_reclaim__has_requests(self);
}

enum allocate_step { ATTEMPT, RECLAIMED };

struct allocation {
	/* Consecutive attempts without a reclaimed page while waits_for_nothing is true. */
	uint32_t fruitless;
};

static int allocate(struct actor *actor, void *frame, uint32_t step)
{
	struct allocation *my = frame;
	struct sws_reclaim *self = actor->reclaim;
	const uint32_t found = sws_reclaim__take_low(self);
	bool worth_it = true;

	if (step == RECLAIMED) {
		my->fruitless =
			actor->scan.reclaimed || !waits_for_nothing(self) ? 0 : my->fruitless + 1;
		worth_it = actor->thread.result && my->fruitless < FRUITLESS_MAX;
	}
	if (found != NO_FRAME || !worth_it) {
		self->out_of_memory = found == NO_FRAME;
		engine_return(&actor->thread, found);
		return SWS_OK;
	}
	switch ((enum allocate_step)step) {
	case ATTEMPT:
		return reclaim_directly(actor);
	case RECLAIMED:
		engine_go(&actor->thread, ATTEMPT);
		if (sws_reclaim__decides_by_pass(self))
			return SWS_OK;
		return sws_reclaim__sleep(actor, self->n_zones - 1,
					  SWS_STALL_SLEEP_WAIT_IFF_CONGESTED, 20000);
	}
	return SWS_ERROR_BROKEN;
}

int sws_reclaim__allocate(struct actor *actor, bool dirties)
{
	const uint32_t found = sws_reclaim__take_fast(actor->reclaim, dirties);
	const struct allocation frame = { 0 };
	int error = SWS_OK;

	actor->thread.result = found;
	if (found != NO_FRAME)
		return SWS_OK;
	error = sws_reclaim__wake_kswapd(actor->reclaim);
	return error ? error : engine_call(&actor->thread, allocate, &frame, sizeof(frame));
}
