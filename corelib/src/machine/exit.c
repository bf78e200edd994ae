/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/exit.c - a task exits: its slots are freed as its page tables are walked, its resident
 * pages 32 at a time. It waits for a page that a reclaimer has isolated.
 *
 *      addresses       S R S L R        S: a slot, R: in memory, L: under reclaim
 *      PUT_SLOT        - R S L R        its slot is freed
 *      FREE_PAGES      - - S L -        one hold of lru_lock for both
 *      PUT_SLOT        - - - L -
 *      NEXT            - - - L -        tests again after each unmap_ns
 *      NEXT            - - - S -        the page was swapped out in the meantime
 *      PUT_SLOT        - - - - -        the task sleeps for ever
 *
 * DRAIN is lru_add_drain: without it the task would wait for pages in this CPU's own pagevec, on no
 * list, which no other CPU would ever add to their list.
 */
#include "machine/pages.h"
#include "machine/swap_cache.h"
#include "machine/tasks.h"

struct exit {
	/* All addresses before this one have been freed. */
	uint32_t pte;
	/* The slot that is being freed. */
	uint32_t slot;
	uint32_t pages[MACHINE_BATCH];
	uint32_t n_pages;
};

enum step { DRAIN, NEXT, PUT_SLOT, FREE_PAGES };

static uint32_t end_of(const struct actor *actor)
{
	return actor->mm_first_pte + actor->mm_ptes;
}

static bool is_to_release(const struct sws_machine *self, uint32_t pte)
{
	const struct page *page = &self->pages[self->pte_values[pte]];

	return self->pte_states[pte] == PTE_RESIDENT && page->list != LIST_NONE && !page->locked;
}

/* Models release_pages: takes the next pages of the task off their lists. */
static int release(struct actor *actor, void *frame, uint64_t *ns)
{
	struct sws_machine *self = actor->machine;
	struct exit *my = frame;

	my->n_pages = 0;
	for (uint32_t pte = my->pte; pte < end_of(actor) && my->n_pages < MACHINE_BATCH; pte++) {
		if (!is_to_release(self, pte))
			continue;
		sws_machine__list_take(self, self->pte_values[pte]);
		self->pte_states[pte] = PTE_NONE;
		my->pages[my->n_pages++] = self->pte_values[pte];
	}
	actor->in_hand += my->n_pages;
	*ns = (my->n_pages + 1) * self->config.costs.lru_page_ns;
	return SWS_OK;
}

static int next(struct actor *actor, struct exit *my)
{
	struct sws_machine *self = actor->machine;

	while (my->pte < end_of(actor) && self->pte_states[my->pte] == PTE_NONE)
		my->pte++;
	if (my->pte == end_of(actor))
		return engine_sleep(&actor->thread, SLEEP_TO_BE_WOKEN);
	if (self->pte_states[my->pte] == PTE_SWAPPED) {
		my->slot = self->pte_values[my->pte];
		self->pte_states[my->pte] = PTE_NONE;
		return sws_machine__swap_free(actor, &my->slot);
	}
	if (is_to_release(self, my->pte)) {
		engine_go(&actor->thread, FREE_PAGES);
		return sws_engine__under(&actor->thread, actor->node->lru_lock,
					 SWS_SITE_LRU_RELEASE, release, my);
	}
	engine_go(&actor->thread, NEXT);
	return engine_work(&actor->thread, self->config.costs.unmap_ns);
}

static int exit_mmap(struct actor *actor, void *frame, uint32_t step)
{
	struct exit *my = frame;

	switch ((enum step)step) {
	case DRAIN:
		return sws_machine__lru_add_drain(actor);
	case NEXT:
		return next(actor, my);
	case PUT_SLOT:
		engine_go(&actor->thread, NEXT);
		return sws_machine__put_slot(actor, my->slot);
	case FREE_PAGES:
		for (uint32_t i = 0; i < my->n_pages; i++)
			sws_machine__free_page(actor->machine, actor, my->pages[i]);
		engine_go(&actor->thread, NEXT);
		return sws_machine__drain_free(actor);
	}
	return SWS_ERROR_BROKEN;
}

int sws_machine__exit(struct actor *actor)
{
	const struct exit frame = { .pte = actor->mm_first_pte };

	return engine_call(&actor->thread, exit_mmap, &frame, sizeof(frame));
}
