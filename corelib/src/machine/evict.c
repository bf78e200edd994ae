/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/evict.c - a mapped page leaves the swap cache: delete_from_swap_cache, as called by
 * reuse_swap_page, try_to_free_swap and __try_to_reclaim_swap. Page 900 with slot 300, written to
 * in 5.7:
 *
 *      after       page 900                     map byte of 300
 *      (before)    mapped, clean, slot 300      40     swap cache only
 *      COUNT       as before, locked            40
 *      DELETE      removed from its tree        40
 *      UNCACHE     unchanged                    c0     no reference; in 4.8 free at once: 0
 *      PUT         mapped, dirty, no slot       c0     in this CPU's return cache
 *
 * The page is dirty because the copy in its slot is given up: the next time it goes out, it is
 * written. While it is locked, a scan of its list leaves it as it is.
 */
#include "machine/swap_cache.h"

bool sws_machine__may_evict(const struct sws_machine *self, uint32_t index)
{
	const struct page *page = &self->pages[index];

	return page->slot && !page->locked && !page->writeback && !page->unmapped;
}

struct evict {
	struct page *page;
};

enum step { COUNT, DELETE, UNCACHE, PUT };

static int evict(struct actor *actor, void *frame, uint32_t step)
{
	const struct sws_machine *self = actor->machine;
	const struct evict *my = frame;
	struct page *page = my->page;
	uint32_t slot = 0;

	switch ((enum step)step) {
	case COUNT:
		page->locked = true;
		if (!self->rules->looks_at_counts)
			return SWS_OK;
		return sws_machine__count(actor, page->slot, SWS_SITE_COUNT);
	case DELETE:
		return sws_machine__tree_delete(actor, page);
	case UNCACHE:
		return sws_machine__uncache(actor, page);
	case PUT:
		slot = page->slot;
		page->slot = 0;
		page->dirty = true;
		page->locked = false;
		engine_leave(&actor->thread);
		return sws_machine__put_slot(actor, slot);
	}
	return SWS_ERROR_BROKEN;
}

int sws_machine__evict(struct actor *actor, uint32_t page)
{
	const struct evict frame = { .page = &actor->machine->pages[page] };

	return engine_call(&actor->thread, evict, &frame, sizeof(frame));
}
