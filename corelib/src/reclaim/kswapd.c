/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vm/kswapd.c - kswapd and balance_pgdat. A pass looks for the highest zone that is short and
 * shrinks all zones up to it; what follows a pass is where the kernels differ:
 *
 *              3.9                                  from mmotm on
 *   a zone     its whole targets                    max(32, high mark) pages, in proportion
 *   priority   one less each pass, down to 0        one less if no zone was scanned for what
 *                                                   was wanted, or nothing reclaimed; 1 at least
 *   ends       all balanced, or 32 pages: then      all balanced, or priority 0 is reached
 *              again from 12, if not balanced
 */
#include "reclaim/disk.h"
#include "reclaim/reclaim.h"
#include "reclaim/zones.h"

static const uint64_t SHORT_SLEEP_NS = 100000000;

enum step { PASS, ZONE, SHRUNK, END };

struct balance {
	/* The highest zone that is short. */
	uint32_t end;
	uint32_t zone;
	/* No zone was scanned for as much as was wanted. */
	bool raise;
};

static bool is_3_9(const struct actor *actor)
{
	return actor->vm->config.rules == SWS_STALL_3_9;
}

static void begin(struct scan *scan)
{
	scan->priority = SWS_STALL_PRIORITY_MAX;
	scan->reclaimed = 0;
}

static bool is_passed_over(const struct actor *actor, uint32_t zone)
{
	return actor->vm->zones[zone].unreclaimable &&
	       actor->scan.priority != SWS_STALL_PRIORITY_MAX;
}

/* Looks from the highest zone down; each one looked at is aged. False: none is short. */
static bool find_end(struct actor *actor, struct balance *my, uint64_t *ns)
{
	struct sws_reclaim *vm = actor->vm;

	for (uint32_t zone = vm->n_zones; zone-- > 0;) {
		if (is_passed_over(actor, zone))
			continue;
		if (sws_reclaim__inactive_is_low(vm, zone, false))
			*ns += sws_reclaim__age(vm, zone, false, VM_CLUSTER);
		if (!sws_reclaim__is_balanced(vm, zone, 0, 0)) {
			my->end = zone;
			return true;
		}
		sws_reclaim__clear_flags(vm, zone, SWS_STALL_CLEAR_BALANCED);
	}
	return false;
}

static int begin_pass(struct actor *actor, struct balance *my)
{
	uint64_t ns = actor->vm->config.costs.look_ns;

	actor->vm->work++;
	if (!is_3_9(actor))
		actor->scan.reclaimed = 0;
	my->zone = 0;
	my->raise = true;
	if (!find_end(actor, my, &ns))
		engine_leave(&actor->thread);
	return engine_run(&actor->thread, ns);
}

/* So that a zone which is balanced already is not shrunk for the sake of a higher one. */
static uint32_t gap_of(const struct zone *zone)
{
	const uint32_t percent = (zone->pages + 99) / 100;

	return zone->low < percent ? zone->low : percent;
}

static int shrink_next(struct actor *actor, struct balance *my)
{
	struct sws_reclaim *vm = actor->vm;
	struct scan *scan = &actor->scan;
	const struct zone *zone = &vm->zones[my->zone];

	if (my->zone > my->end) {
		engine_go(&actor->thread, END);
		return SWS_OK;
	}
	engine_go(&actor->thread, ZONE);
	if (is_passed_over(actor, my->zone)) {
		my->zone++;
		return SWS_OK;
	}
	if (sws_reclaim__is_balanced(vm, my->zone, gap_of(zone), my->end)) {
		my->raise = false;
		if (is_3_9(actor))
			sws_reclaim__clear_flags(vm, my->zone, SWS_STALL_CLEAR_BALANCED);
		my->zone++;
		return SWS_OK;
	}
	scan->scanned = 0;
	scan->wanted = zone->high > VM_CLUSTER ? zone->high : VM_CLUSTER;
	if (is_3_9(actor))
		scan->wanted = UINT64_MAX;
	engine_go(&actor->thread, SHRUNK);
	return sws_reclaim__shrink_zone(actor, my->zone);
}

static void look_after(struct actor *actor, struct balance *my)
{
	struct sws_reclaim *vm = actor->vm;
	const uint32_t zone = my->zone++;

	if (!sws_reclaim__is_reclaimable(vm, zone))
		vm->zones[zone].unreclaimable = true;
	sws_reclaim__clear_flags(vm, zone, SWS_STALL_CLEAR_SHRUNK);
	if (!vm->zones[zone].unreclaimable && sws_reclaim__is_balanced(vm, zone, 0, my->end))
		sws_reclaim__clear_flags(vm, zone, SWS_STALL_CLEAR_BALANCED);
	if (actor->scan.scanned >= actor->scan.wanted)
		my->raise = false;
}

/* Is the work over? If not, at which priority does it go on? */
static bool is_over_3_9(struct actor *actor)
{
	struct scan *scan = &actor->scan;
	const bool balanced = sws_reclaim__all_balanced(actor->vm);

	if (balanced)
		return true;
	if (scan->reclaimed >= VM_CLUSTER || !scan->priority)
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
	return !scan->priority || sws_reclaim__all_balanced(actor->vm);
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
		look_after(actor, my);
		engine_go(&actor->thread, ZONE);
		return SWS_OK;
	case END:
		engine_go(&actor->thread, PASS);
		if (is_3_9(actor) ? is_over_3_9(actor) : is_over_since(actor, my))
			engine_leave(&actor->thread);
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

int sws_reclaim__wake_kswapd(struct sws_reclaim *vm)
{
	for (uint32_t zone = 0; zone < vm->n_zones; zone++)
		if (!sws_reclaim__zone_has(vm, zone, vm->zones[zone].low, 0))
			return sws_reclaim__call(vm, VM_KSWAPD);
	return SWS_OK;
}

/* kswapd_try_to_sleep: first a nap of 100 ms; woken meanwhile, it had better go on. */
enum life { SLEEP, BALANCE, NAP, NAPPED };

struct life_frame {
	uint64_t napped_until;
};

static int live(struct actor *actor, void *frame, uint32_t step)
{
	struct life_frame *my = frame;
	struct sws_reclaim *vm = actor->vm;

	switch ((enum life)step) {
	case SLEEP:
		return engine_sleep(&actor->thread, SLEEP_TO_BE_WOKEN);
	case BALANCE:
		vm->counts.wakeups++;
		return sws_reclaim__balance(actor);
	case NAP:
		my->napped_until = vm_now(vm) + SHORT_SLEEP_NS;
		return engine_doze(&actor->thread, SHORT_SLEEP_NS, SLEEP_TO_BE_WOKEN);
	case NAPPED:
		engine_go(&actor->thread,
			  vm_now(vm) < my->napped_until || !sws_reclaim__all_balanced(vm) ? BALANCE
											  : SLEEP);
		return SWS_OK;
	}
	return SWS_ERROR_BROKEN;
}

int sws_reclaim__kswapd(struct actor *actor)
{
	const struct life_frame frame = { 0 };

	actor->scan.kswapd = true;
	return engine_call(&actor->thread, live, &frame, sizeof(frame));
}
