/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "machine/slots.h"
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
