/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/kswapd.c - a node's reclaim beside its tasks: balance_pgdat and kswapd_try_to_sleep of
 * mm/vmscan.c. Frames 16384, so low is 160 and high 192; kswapd's CPU keeps 170 free pages:
 *
 *      a task's refill    n_free 134                   below low: wakes kswapd
 *      LOOK               134 < 192: 32 pages          kept 202, one hold of zone->lock: 171
 *      RECLAIMED, LOOK    n_free 165 < 192: 32 pages   kept 203, one hold of zone->lock: 172
 *      RECLAIMED, LOOK    n_free 196: sleeps
 *
 * What it reclaims first fills the free pages of its own CPU, where nobody else is: a kswapd
 * that never ran raises n_free by nothing up to its 187th page.
 *
 * On an asynchronous device a list of 32 dirty pages frees none. They are under writeback, so
 * there is no progress and it sleeps, until the interrupt has rotated some of them to the tail
 * and wakes it: its next list begins with those, which are clean and leave at once.
 *
 * No wake is lost between the look and the sleep. The kernel needs prepare_to_wait for that;
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
		/* Nothing goes on: a writeback's end wakes it, or the next task without a page. */
		return engine_sleep(thread, actor->device->n_writes ? SLEEP_FOR_WRITEBACK
								    : SLEEP_TO_BE_WOKEN);
	}
	return SWS_ERROR_BROKEN;
}

int sws_machine__kswapd(struct actor *actor)
{
	return engine_call(&actor->thread, kswapd, NULL, 0);
}
