/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/swap_out.c - a page goes out. With an asynchronous device it comes here up to twice:
 * first it is given to the device and stays, under writeback; after that it is clean and unmapped,
 * and leaves.
 *
 *      first      UNMAP GET_SLOT ADD DUPLICATE FLUSH COUNT START_WRITEBACK WRITE
 *      then       REMOVE
 *      synchronous device: all steps at once, END_WRITEBACK after WRITE
 *      a clean page that still has its slot: UNMAP DUPLICATE REMOVE
 *
 * Batched, REMOVE leaves the page where it is, for the removal of its list.
 *
 * Page 900 of address 17, which gets slot 300 of an asynchronous device:
 *
 *      after              address 17      page 900                       map byte of 300
 *      (mapped)           resident, 900   dirty                          -
 *      DECIDE of shrink   leaving, 900    dirty, locked                  -
 *      GET_SLOT           leaving, 900    dirty, locked                  c0   not in the cache
 *      ADD                leaving, 900    dirty, locked, slot 300        c0   in the tree
 *      DUPLICATE          leaving, 900    unchanged                      41   cache, address
 *      COUNT              leaving, 900    unchanged, unmapped            41
 *      WRITE              leaving, 900    locked, slot, unmapped, writeback   41
 *      SETTLE of shrink   leaving, 900    slot, unmapped, writeback      41   kept
 *      (interrupt)        leaving, 900    slot, unmapped                 41   rotated
 *      the next scan:
 *      REMOVE             swapped, 300    -: it is free                  01   address
 *
 * Map bytes are hexadecimal, as in slots/usage.c.
 */
#include "machine/device.h"
#include "machine/pages.h"
#include "machine/reclaim.h"
#include "machine/swap_cache.h"

struct swap_out {
	uint32_t page;
};

enum step {
	UNMAP,
	GET_SLOT,
	ADD,
	DUPLICATE,
	FLUSH,
	COUNT,
	START_WRITEBACK,
	WRITE,
	END_WRITEBACK,
	REMOVE,
};

static int go(struct actor *actor, enum step step)
{
	engine_go(&actor->thread, step);
	return SWS_OK;
}

/* Ends the procedure; the page stays in memory. */
static int stay(struct actor *actor)
{
	engine_return(&actor->thread, 0);
	return SWS_OK;
}

static int write_out(struct actor *actor, uint32_t index)
{
	struct sws_machine *self = actor->machine;
	struct device *device = actor->device;
	struct page *page = &self->pages[index];

	/*
	 * All waiting actors are woken at once, and the first may fill the queue, so this one tests
	 * again.
	 */
	if (sws_machine__is_congested(device)) {
		engine_go(&actor->thread, WRITE);
		return engine_sleep(&actor->thread, SLEEP_FOR_WRITEBACK);
	}
	/* clear_page_dirty_for_io: before the data is read, so that no later write is lost. */
	page->dirty = false;
	actor->count.pages_out++;
	if (self->life == SWS_LIFE_FILL)
		self->life = SWS_LIFE_SWAP;
	if (device->interrupt == MACHINE_NONE)
		return engine_run(&actor->thread,
				  sws_machine__transfer(self, &self->nodes[device->node],
							self->config.costs.copy_ns));
	page->writeback = true;
	engine_return(&actor->thread, 0);
	return sws_machine__submit(self, device, index, MACHINE_NONE);
}

static int swap_out(struct actor *actor, void *frame, uint32_t step)
{
	struct engine_thread *thread = &actor->thread;
	struct sws_machine *self = actor->machine;
	const struct swap_out *my = frame;
	const uint32_t index = my->page;
	struct page *page = &self->pages[index];

	switch ((enum step)step) {
	case UNMAP:
		if (page->unmapped)
			return go(actor, REMOVE);
		return engine_work(thread, self->config.costs.unmap_ns);
	/*
	 * A page that came in through the swap cache may still have its slot and, if clean, its
	 * data.
	 */
	case GET_SLOT:
		if (page->slot)
			return go(actor, DUPLICATE);
		return sws_machine__get_slot(actor);
	case ADD:
		if (!thread->result)
			return stay(actor);
		page->slot = thread->result;
		return sws_machine__tree_add(actor, page, SWS_SITE_TREE_ADD);
	case DUPLICATE:
		return sws_machine__duplicate(actor, page);
	case FLUSH:
		sws_machine__unmap(actor, page);
		return page->written ? sws_machine__flush_tlb(actor) : SWS_OK;
	case COUNT:
		page->unmapped = true;
		if (!page->dirty)
			return go(actor, REMOVE);
		return sws_machine__count(actor, page->slot, SWS_SITE_COUNT);
	case START_WRITEBACK:
		return sws_machine__tree_start(actor, page);
	case WRITE:
		return write_out(actor, index);
	case END_WRITEBACK:
		return sws_machine__tree_end(actor, page);
	case REMOVE:
		if (self->config.removal == SWS_REMOVAL_BATCHED) {
			engine_return(thread, page->slot);
			return SWS_OK;
		}
		engine_leave(thread);
		return sws_machine__remove(actor, index);
	}
	return SWS_ERROR_BROKEN;
}

int sws_machine__swap_out(struct actor *actor, uint32_t page)
{
	const struct swap_out frame = { .page = page };

	return engine_call(&actor->thread, swap_out, &frame, sizeof(frame));
}
