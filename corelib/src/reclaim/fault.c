/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reclaim/fault.c - a touch that missed: do_anonymous_page, do_swap_page, do_wp_page.
 *
 *      never touched      allocates a new page on the active list
 *      mapped, a write    frees its slot
 *      in the swap cache  maps the page as it is, after its read has ended
 *      swapped out        reads the page, and those of its cluster that are swapped out (slots
 *                         8 to 15 for slot 11); the others stay in the swap cache, inactive
 */
#include "reclaim/disk.h"
#include "reclaim/lists.h"
#include "reclaim/pages.h"
#include "reclaim/reclaim.h"
#include "reclaim/zones.h"

enum step { LOOK, FRESH, READ };

struct fault {
	uint32_t index;
	bool writes;
	/* True if the page was read from swap, so that the fault has been counted. */
	bool major;
};

static int finish(struct actor *actor, const struct fault *my)
{
	struct sws_reclaim *self = actor->reclaim;

	self->counts.minor_faults += !my->major;
	engine_leave(&actor->thread);
	return engine_run(&actor->thread, self->config.costs.map_ns);
}

/* Maps a page of the swap cache, or waits while it is being read. */
static int map_cached(struct actor *actor, const struct fault *my, uint32_t slot)
{
	struct sws_reclaim *self = actor->reclaim;
	const uint32_t frame = self->swap.frames[slot] - 1;

	if (page_is(&self->pages[frame], PAGE_READING)) {
		engine_go(&actor->thread, LOOK);
		return engine_sleep(&actor->thread, WAIT_READ);
	}
	sws_reclaim__map(self, my->index, frame, my->writes);
	if (self->pages[frame].slot && !page_is(&self->pages[frame], PAGE_WRITEBACK) &&
	    sws_reclaim__swap_is_full(self))
		sws_reclaim__leave_swap(self, frame);
	return finish(actor, my);
}

static int find_page(struct actor *actor, const struct fault *my)
{
	struct sws_reclaim *self = actor->reclaim;
	const uint32_t entry = self->ptes[my->index];

	if (entry & PTE_PRESENT) {
		sws_reclaim__write_to(self, entry & PTE_FRAME);
		return finish(actor, my);
	}
	if (entry && self->swap.frames[entry])
		return map_cached(actor, my, entry);
	if (entry)
		engine_go(&actor->thread, READ);
	return sws_reclaim__allocate(actor, false);
}

static int map_fresh(struct actor *actor, const struct fault *my)
{
	struct sws_reclaim *self = actor->reclaim;
	const uint32_t frame = actor->thread.result;

	if (frame == NO_FRAME)
		return engine_sleep(&actor->thread, WAIT_WAKE_UP);
	sws_reclaim__map(self, my->index, frame, true);
	sws_reclaim__list_add(self, frame, LRU_ACTIVE_ANON);
	self->counts.minor_faults++;
	engine_leave(&actor->thread);
	return engine_run(&actor->thread, self->config.costs.fault_ns);
}

/* Puts a page into the swap cache for a slot and marks it as being read. */
static void begin_reading(struct sws_reclaim *self, uint32_t slot, uint32_t frame)
{
	struct page *page = &self->pages[frame];

	page->index = self->swap.owners[slot] - 1;
	page->slot = slot;
	page_set(page, PAGE_READING);
	self->swap.frames[slot] = frame + 1;
	sws_reclaim__list_add(self, frame, LRU_INACTIVE_ANON);
	self->counts.swapped_in++;
	self->work++;
}

/* Returns true if a slot holds a page that is not in memory. */
static bool is_out(const struct swap *swap, uint32_t slot)
{
	return slot && slot < swap->pages && swap->owners[slot] && swap->owners[slot] != NO_FRAME &&
	       !swap->frames[slot];
}

/* swapin_readahead: adjacent slots of one cluster are one request. */
static int read_cluster(struct actor *actor, uint32_t slot, uint32_t frame)
{
	struct sws_reclaim *self = actor->reclaim;
	const uint32_t mask = (1u << self->config.readahead_shift) - 1;
	uint32_t run = 0;
	bool joined = false;
	int error = SWS_OK;

	for (uint32_t at = slot & ~mask; !error && at <= (slot | mask); at++) {
		uint32_t found = NO_FRAME;

		if (at == slot)
			found = frame;
		else if (is_out(&self->swap, at))
			found = sws_reclaim__take_low(self);
		if (found != NO_FRAME) {
			begin_reading(self, at, found);
			run++;
		}
		if (run && (found == NO_FRAME || at == (slot | mask))) {
			const uint32_t end = found == NO_FRAME ? at : at + 1;

			error = sws_reclaim__submit(self, QUEUE_READS,
						    place_of_slot(self, end - run), run, &joined);
			run = 0;
		}
	}
	return error;
}

static int read_page(struct actor *actor, struct fault *my)
{
	struct sws_reclaim *self = actor->reclaim;
	const uint32_t frame = actor->thread.result;
	int error = SWS_OK;

	if (frame == NO_FRAME)
		return engine_sleep(&actor->thread, WAIT_WAKE_UP);
	my->major = true;
	self->counts.major_faults++;
	error = read_cluster(actor, self->ptes[my->index], frame);
	engine_go(&actor->thread, LOOK);
	return error ? error : engine_run(&actor->thread, self->config.costs.map_ns);
}

static int fault(struct actor *actor, void *frame, uint32_t step)
{
	struct fault *my = frame;

	switch ((enum step)step) {
	case LOOK:
		return find_page(actor, my);
	case FRESH:
		return map_fresh(actor, my);
	case READ:
		return read_page(actor, my);
	}
	return SWS_ERROR_BROKEN;
}

int sws_reclaim__fault(struct actor *actor, uint32_t index, bool writes)
{
	const struct fault frame = { .index = index, .writes = writes };

	return engine_call(&actor->thread, fault, &frame, sizeof(frame));
}
