/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/kswapd.c - the background reclaim of a node: balance_pgdat and kswapd_try_to_sleep of
 * mm/vmscan.c. With 16384 frames low is 160 and high 192; kswapd's CPU holds 170 free pages:
 *
 *      a task's refill    n_free 134                   below low: wakes kswapd
 *      LOOK               134 < 192: 32 pages          holds 202, one hold of zone->lock: 171
 *      RECLAIMED, LOOK    n_free 165 < 192: 32 pages   holds 203, one hold of zone->lock: 172
 *      RECLAIMED, LOOK    n_free 196: sleeps
 *
 * Reclaimed pages first fill the free pages of its own CPU, which no other actor uses: a kswapd
 * that has never run does not raise n_free before its 187th page.
 *
 * On an asynchronous device a list of 32 dirty pages frees none. They are under writeback, so there
 * is no progress and kswapd sleeps until the interrupt has rotated some of them to the tail and
 * wakes it: its next list starts with those, which are clean and leave at once.
 *
 * No wake-up is lost between the test and the sleep. The kernel needs prepare_to_wait for that;
 * here no time passes within a step.
 */
#include "machine/reclaim.h"
#include "machine/tasks.h"

enum step { LOOK, RECLAIMED };

static int kswapd(struct actor *actor, void *frame, uint32_t step)
{
	struct engine_thread *thread = &actor->thread;

	(void)frame;
	switch ((enum step)step) {
	case LOOK:
		if (actor->node->n_free < actor->machine->watermark_high)
			return sws_machine__shrink(actor);
		engine_go(thread, LOOK);
		return engine_sleep(thread, SLEEP_TO_BE_WOKEN);
	case RECLAIMED:
		engine_go(thread, LOOK);
		if (thread->result)
			return SWS_OK;
		/*
		 * No progress is possible: the end of a writeback wakes it, or the next task
		 * without a page.
		 */
		return engine_sleep(thread, actor->device->n_writes ? SLEEP_FOR_WRITEBACK
								    : SLEEP_TO_BE_WOKEN);
	}
	return SWS_ERROR_BROKEN;
}

int sws_machine__kswapd(struct actor *actor)
{
	return engine_call(&actor->thread, kswapd, NULL, 0);
}
