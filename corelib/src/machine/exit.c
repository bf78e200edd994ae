/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/exit.c - a task exits: its slots go as its page tables are walked, its
 * pages of memory 32 at a time. A page that a reclaim has in hand is waited for.
 */
#include "machine/parts.h"

static bool is_to_release(const struct sws_machine *self, uint32_t pte)
{
	const struct page *page = &self->pages[self->pte_values[pte]];

	return self->pte_states[pte] == PTE_RESIDENT && page->list != LIST_NONE && !page->locked;
}

/* Models release_pages: the next pages of the task, off their lists. */
static int release(struct sws_machine *self, struct actor *actor, uint64_t *ns)
{
	const uint32_t end = actor->mm_first_pte + actor->mm_ptes;

	actor->at = 0;
	actor->n_batch = 0;
	for (uint32_t pte = actor->pte; pte < end && actor->n_batch < MACHINE_BATCH; pte++) {
		if (!is_to_release(self, pte))
			continue;
		sws_machine__list_take(self, self->pte_values[pte]);
		self->pte_states[pte] = PTE_NONE;
		actor->batch[actor->n_batch++] = self->pte_values[pte];
	}
	*ns = (actor->n_batch + 1) * self->config.costs.lru_page_ns;
	return SWS_OK;
}

static void free_batch(struct sws_machine *self, struct actor *actor)
{
	for (uint32_t i = 0; i < actor->n_batch; i++) {
		sws_machine__forget_page(self, actor->batch[i]);
		actor->pcp[actor->n_pcp++] = actor->batch[i];
	}
	actor->n_batch = 0;
}

enum { NEXT = 1, FREE_SLOT = 2, FREE_PAGES = 3 };

static int next_page(struct sws_machine *self, struct actor *actor)
{
	const uint32_t end = actor->mm_first_pte + actor->mm_ptes;

	while (actor->pte < end && self->pte_states[actor->pte] == PTE_NONE)
		actor->pte++;
	if (actor->pte == end) {
		machine_sleep(actor);
		return SWS_OK;
	}
	if (self->pte_states[actor->pte] == PTE_SWAPPED) {
		actor->put = self->pte_values[actor->pte];
		self->pte_states[actor->pte] = PTE_NONE;
		return sws_machine__under(actor,
					  sws_machine__map_lock(self, actor->device, actor->put),
					  SWS_SITE_SWAP_FREE, sws_machine__swap_free);
	}
	if (is_to_release(self, actor->pte)) {
		machine_go(actor, FREE_PAGES);
		return sws_machine__under(actor, actor->node->lru_lock, SWS_SITE_LRU_RELEASE,
					  release);
	}
	machine_go(actor, NEXT);
	return machine_work(self, actor, self->config.costs.unmap_ns);
}

/* Models exit_mmap: unmap_vmas, free_swap_and_cache, release_pages. */
int sws_machine__exit(struct sws_machine *self, struct actor *actor, uint32_t step)
{
	switch (step) {
	case 0:
		actor->pte = actor->mm_first_pte;
		return machine_call(actor, sws_machine__lru_add_drain);
	case NEXT:
		return next_page(self, actor);
	case FREE_SLOT:
		machine_go(actor, NEXT);
		return machine_call(actor, sws_machine__put_slot);
	default:
		free_batch(self, actor);
		machine_go(actor, NEXT);
		return machine_call(actor, sws_machine__drain_pcp);
	}
}
