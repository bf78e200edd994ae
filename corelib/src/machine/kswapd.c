/* SPDX-License-Identifier: GPL-2.0-or-later */
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
