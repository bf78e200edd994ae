/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine/remove.c - __remove_mapping: a clean page that nobody maps leaves the swap cache, and memory. */
#include "machine/reclaim.h"
#include "machine/swap_cache.h"

struct remove {
	struct page *page;
};

enum step { REMOVE, PUT, LEAVE };

/* Whose page it was finds the slot in its place. */
static int leave_memory(struct actor *actor, struct page *page)
{
	struct sws_machine *self = actor->machine;
	const uint32_t slot = page->slot;

	if (page->pte != MACHINE_NONE) {
		self->pte_states[page->pte] = PTE_SWAPPED;
		self->pte_values[page->pte] = slot;
	}
	page->slot = 0;
	engine_return(&actor->thread, slot);
	return SWS_OK;
}

static int remove_mapping(struct actor *actor, void *frame, uint32_t step)
{
	const struct remove *my = frame;

	switch ((enum step)step) {
	case REMOVE:
		return sws_machine__tree_remove(actor, my->page);
	case PUT:
		return sws_machine__uncache(actor, my->page);
	case LEAVE:
		return leave_memory(actor, my->page);
	}
	return SWS_ERROR_BROKEN;
}

int sws_machine__remove(struct actor *actor, uint32_t page)
{
	const struct remove frame = { .page = &actor->machine->pages[page] };

	return engine_call(&actor->thread, remove_mapping, &frame, sizeof(frame));
}
