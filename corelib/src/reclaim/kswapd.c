/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reclaim/kswapd.c - kswapd and balance_pgdat. A pass finds the highest zone below its mark and
 * shrinks all zones up to it. The kernels differ in what follows a pass:
 *
 *              3.9                                  from mmotm on
 *   a zone     scans its complete targets           reclaims max(32, high mark), in proportion
 *   priority   falls by one per pass, to 0          falls by one, to 1 at least, if no zone was
 *                                                   scanned for its target or no page was reclaimed
 *   ends       if all zones are balanced, or        if all zones are balanced, or the priority
 *              after 32 pages: then again from      reaches 0
 *              12 if they are not balanced
 *
 * kswapd sleeps if the zones are balanced up to the highest one of its last pass. If DMA32 was that
 * zone, it sleeps however few pages of Normal are free, until a task finds Normal below its low
 * mark. If they are not balanced, which only the later kernels leave so, it begins again at once.
 */
#include "reclaim/disk.h"
#include "reclaim/reclaim.h"
#include "reclaim/zones.h"

static const uint64_t SHORT_SLEEP_NS = 100000000;

enum step { PASS, ZONE, SHRUNK, END };

struct balance {
	/* The highest zone below its mark. */
	uint32_t end;
	/* The zones that the last pass considered, from DMA32 up; 0 if no zone was below its mark. */
	uint32_t considered;
	uint32_t zone;
	/*
	 * True if no zone was scanned for as many pages as its target, so that the priority falls.
	 */
	bool raise;
};

static bool is_3_9(const struct actor *actor)
{
	return actor->reclaim->config.rules == SWS_STALL_3_9;
}

static void begin(struct scan *scan)
{
	scan->priority = SWS_STALL_PRIORITY_MAX;
	scan->reclaimed = 0;
}

static bool is_passed_over(const struct actor *actor, uint32_t zone)
{
	return actor->reclaim->zones[zone].unreclaimable &&
	       actor->scan.priority != SWS_STALL_PRIORITY_MAX;
}

/*
 * Checks the zones from the highest one down and ages the lists of each. Returns false if no zone
 * is below its mark.
 */
static bool find_end(struct actor *actor, struct balance *my, uint64_t *ns)
{
	struct sws_reclaim *self = actor->reclaim;

	for (uint32_t zone = self->n_zones; zone-- > 0;) {
		if (is_passed_over(actor, zone))
			continue;
		if (sws_reclaim__inactive_is_low(self, zone, false))
			*ns += sws_reclaim__age(self, zone, false, SWAP_CLUSTER_MAX);
		if (!sws_reclaim__is_balanced(self, zone, 0, 0)) {
			my->end = zone;
			return true;
		}
		sws_reclaim__clear_flags(self, zone, SWS_STALL_CLEAR_BALANCED);
	}
	return false;
}

static int begin_pass(struct actor *actor, struct balance *my)
{
	uint64_t ns = actor->reclaim->config.costs.look_ns;

	actor->reclaim->work++;
	if (!is_3_9(actor))
		actor->scan.reclaimed = 0;
	my->zone = 0;
	my->raise = true;
	if (find_end(actor, my, &ns))
		my->considered = my->end + 1;
	else
		engine_return(&actor->thread, my->considered);
	return engine_run(&actor->thread, ns);
}

/*
 * Returns the balance gap: a zone above its high mark by this gap is not shrunk for a higher zone.
 */
static uint32_t gap_of(const struct zone *zone)
{
	const uint32_t percent = (zone->pages + 99) / 100;

	return zone->low < percent ? zone->low : percent;
}

static int shrink_next(struct actor *actor, struct balance *my)
{
	struct sws_reclaim *self = actor->reclaim;
	struct scan *scan = &actor->scan;
	const struct zone *zone = &self->zones[my->zone];

	if (my->zone > my->end) {
		engine_go(&actor->thread, END);
		return SWS_OK;
	}
	engine_go(&actor->thread, ZONE);
	if (is_passed_over(actor, my->zone)) {
		my->zone++;
		return SWS_OK;
	}
	if (sws_reclaim__is_balanced(self, my->zone, gap_of(zone), my->end)) {
		my->raise = false;
		if (is_3_9(actor))
			sws_reclaim__clear_flags(self, my->zone, SWS_STALL_CLEAR_BALANCED);
		my->zone++;
		return SWS_OK;
	}
	scan->scanned = 0;
	scan->wanted = zone->high > SWAP_CLUSTER_MAX ? zone->high : SWAP_CLUSTER_MAX;
	if (is_3_9(actor))
		scan->wanted = UINT64_MAX;
	engine_go(&actor->thread, SHRUNK);
	return sws_reclaim__shrink_zone(actor, my->zone);
}

static void end_zone(struct actor *actor, struct balance *my)
{
	struct sws_reclaim *self = actor->reclaim;
	const uint32_t zone = my->zone++;

	if (!sws_reclaim__is_reclaimable(self, zone))
		self->zones[zone].unreclaimable = true;
	sws_reclaim__clear_flags(self, zone, SWS_STALL_CLEAR_SHRUNK);
	if (!self->zones[zone].unreclaimable && sws_reclaim__is_balanced(self, zone, 0, my->end))
		sws_reclaim__clear_flags(self, zone, SWS_STALL_CLEAR_BALANCED);
	if (actor->scan.scanned >= actor->scan.wanted)
		my->raise = false;
}

/* Returns true if the work is over; else sets the priority of the next pass. */
static bool is_over_3_9(struct actor *actor)
{
	struct scan *scan = &actor->scan;
	const bool balanced = sws_reclaim__all_balanced(actor->reclaim);

	if (balanced)
		return true;
	if (scan->reclaimed >= SWAP_CLUSTER_MAX || !scan->priority)
		begin(scan);
	else
		scan->priority--;
	return false;
}

static bool is_over_since(struct actor *actor, const struct balance *my)
{
	struct scan *scan = &actor->scan;

	if (my->raise || !scan->reclaimed)
		scan->priority--;
	return !scan->priority || sws_reclaim__all_balanced(actor->reclaim);
}

static int balance(struct actor *actor, void *frame, uint32_t step)
{
	struct balance *my = frame;

	switch ((enum step)step) {
	case PASS:
		return begin_pass(actor, my);
	case ZONE:
		return shrink_next(actor, my);
	case SHRUNK:
		end_zone(actor, my);
		engine_go(&actor->thread, ZONE);
		return SWS_OK;
	case END:
		engine_go(&actor->thread, PASS);
		if (is_3_9(actor) ? is_over_3_9(actor) : is_over_since(actor, my))
			engine_return(&actor->thread, my->considered);
		return SWS_OK;
	}
	return SWS_ERROR_BROKEN;
}

int sws_reclaim__balance(struct actor *actor)
{
	const struct balance frame = { 0 };

	begin(&actor->scan);
	return engine_call(&actor->thread, balance, &frame, sizeof(frame));
}

int sws_reclaim__wake_kswapd(struct sws_reclaim *self)
{
	for (uint32_t zone = 0; zone < self->n_zones; zone++)
		if (!sws_reclaim__zone_has(self, zone, self->zones[zone].low, 0))
			return sws_reclaim__call(self, ACTOR_KSWAPD);
	return SWS_OK;
}

/*
 * kswapd_try_to_sleep: first a nap of 100 ms; a wake-up in it starts the next balancing. Neither the
 * nap nor the sleep begins while a zone of the last pass is not balanced.
 */
enum kswapd_step { SLEEP, BALANCE, NAP, NAPPED };

struct kswapd_frame {
	uint64_t napped_until;
	/* The zones that have to be balanced. */
	uint32_t zones;
};

static int nap(struct actor *actor, struct kswapd_frame *my)
{
	struct sws_reclaim *self = actor->reclaim;

	my->zones = actor->thread.result;
	if (!sws_reclaim__balanced_up_to(self, my->zones)) {
		engine_go(&actor->thread, BALANCE);
		return SWS_OK;
	}
	my->napped_until = time_now(self) + SHORT_SLEEP_NS;
	return engine_doze(&actor->thread, SHORT_SLEEP_NS, WAIT_WAKE_UP);
}

static int run_kswapd(struct actor *actor, void *frame, uint32_t step)
{
	struct kswapd_frame *my = frame;
	struct sws_reclaim *self = actor->reclaim;

	switch ((enum kswapd_step)step) {
	case SLEEP:
		return engine_sleep(&actor->thread, WAIT_WAKE_UP);
	case BALANCE:
		self->counts.wakeups++;
		return sws_reclaim__balance(actor);
	case NAP:
		return nap(actor, my);
	case NAPPED:
		engine_go(&actor->thread,
			  time_now(self) < my->napped_until ||
					  !sws_reclaim__balanced_up_to(self, my->zones)
				  ? BALANCE
				  : SLEEP);
		return SWS_OK;
	}
	return SWS_ERROR_BROKEN;
}

int sws_reclaim__kswapd(struct actor *actor)
{
	const struct kswapd_frame frame = { 0 };

	actor->scan.kswapd = true;
	return engine_call(&actor->thread, run_kswapd, &frame, sizeof(frame));
}
