/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/remove.c - removes clean unmapped pages from the swap cache and memory: page by page,
 * __remove_mapping, or batched for a list, remove_mapping_list.
 *
 *      page by page   REMOVE PUT LEAVE
 *      batched        put_aside ... put_aside, and at the list's end for each mapping
 *                     NEXT_MAPPING PUT_NEXT SETTLE PUT_NEXT SETTLE ...; then FREE
 *
 * Two CPUs with one mapping, over time; a, b, c and x, y, z are the pages of their lists:
 *
 *      page by page   CPU 0   out a  [a]  out b  [b]  out c  [c]
 *                     CPU 1   out x     [x]  out y  [y]  out z  [z]
 *      batched        CPU 0   out a, out b, out c  [a b c]
 *                     CPU 1   out x, out y, out z  ........[x y z]
 *
 * "out" stands for unmapping, slot and copy, [] for a hold of the tree's lock. Batched there is one
 * hold per list instead of one per page, as long as all of them together: another CPU waits for the
 * complete list.
 */
#include "machine/pages.h"
#include "machine/reclaim.h"
#include "machine/swap_cache.h"

struct remove {
	struct page *page;
};

enum step { REMOVE, PUT, LEAVE };

/* Removes the page from memory; its owner's address gets the slot instead. */
static uint32_t leave_memory(struct sws_machine *self, struct page *page)
{
	const uint32_t slot = page->slot;

	if (page->pte != MACHINE_NONE) {
		self->pte_states[page->pte] = PTE_SWAPPED;
		self->pte_values[page->pte] = slot;
	}
	page->slot = 0;
	return slot;
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
		engine_return(&actor->thread, leave_memory(actor->machine, my->page));
		return SWS_OK;
	}
	return SWS_ERROR_BROKEN;
}

int sws_machine__remove(struct actor *actor, uint32_t page)
{
	const struct remove frame = { .page = &actor->machine->pages[page] };

	return engine_call(&actor->thread, remove_mapping, &frame, sizeof(frame));
}

int sws_machine__put_aside(struct actor *actor, uint32_t index)
{
	const struct page *page = &actor->machine->pages[index];
	struct cpu *cpu = actor->cpu;
	struct aside_page *aside = &cpu->aside.pages[cpu->aside.n++];

	*aside = (struct aside_page){
		.removal = { .index = page->slot,
			     .entry = page->slot,
			     .references = SWS_REMOVAL_REFERENCES,
			     .locked = page->locked,
			     .dirty = page->dirty },
		.index = index,
	};
	/* The device has allocated the slot, so the call cannot fail. */
	(void)sws_mapping_of_swap(actor->device->mappings, page->slot, &aside->removal.mapping);
	return sws_removal_queue(cpu->aside.removal, &aside->removal);
}

/*
 * Returns the first page that is due, which still has its slot; NULL if no page of this mapping is
 * left. The mechanism returns the first member of an aside_page, so the pointer can be converted.
 */
static struct page *due_page(const struct actor *actor)
{
	const struct aside_page *due = (const void *)sws_removal_due(actor->cpu->aside.removal);

	return due ? &actor->machine->pages[due->index] : NULL;
}

/*
 * Models free_hot_cold_page_list after all removals; each page was clean and unmapped, so none
 * failed.
 */
static void free_pages(struct actor *actor)
{
	struct cpu *cpu = actor->cpu;
	const struct aside_page *freed = NULL;

	while ((freed = (const void *)sws_removal_take_freed(cpu->aside.removal))) {
		sws_machine__free_page(actor->machine, actor, freed->index);
		actor->count.reclaimed++;
	}
	cpu->aside.n = 0;
}

enum list_step { NEXT_MAPPING, PUT_NEXT, SETTLE };

/* Models remove_mapping_list and finalise_remove_mapping_list. */
static int remove_list(struct actor *actor, void *frame, uint32_t step)
{
	struct sws_removal *removal = actor->cpu->aside.removal;
	struct page *page = NULL;
	uint32_t mapping = 0;

	(void)frame;
	switch ((enum list_step)step) {
	case NEXT_MAPPING:
		if (sws_removal_next(removal, &mapping))
			return sws_machine__tree_remove_all(actor, mapping);
		free_pages(actor);
		engine_leave(&actor->thread);
		return SWS_OK;
	case PUT_NEXT:
		page = due_page(actor);
		if (page)
			return sws_machine__uncache(actor, page);
		engine_go(&actor->thread, NEXT_MAPPING);
		return SWS_OK;
	case SETTLE:
		(void)leave_memory(actor->machine, due_page(actor));
		engine_go(&actor->thread, PUT_NEXT);
		return sws_removal_settle(removal);
	}
	return SWS_ERROR_BROKEN;
}

int sws_machine__remove_list(struct actor *actor)
{
	return engine_call(&actor->thread, remove_list, NULL, 0);
}
