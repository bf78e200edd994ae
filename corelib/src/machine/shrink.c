/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/shrink.c - 32 pages of a node: from the lists to the device or back.
 *
 *      active list   | head ......... tail | --32--> shrink_active --.
 *      inactive list | head ......... tail | <-----------------------'
 *                                      `--32--> shrink: each page is
 *           kept        locked, under writeback, without a slot; from 6.1 on referenced
 *                       for the first time: to the head again
 *           activated   referenced: to the active list's head
 *           gone        swapped out: to this CPU's free pages
 */
#include "machine/pages.h"
#include "machine/reclaim.h"

struct batch {
	uint32_t pages[MACHINE_BATCH];
	uint32_t n;
};

/* Takes up to 32 pages from the tail of a list into the actor's hands. */
static uint64_t isolate(struct actor *actor, enum machine_list list, struct batch *batch)
{
	struct sws_machine *self = actor->machine;

	for (batch->n = 0; batch->n < MACHINE_BATCH; batch->n++) {
		const uint32_t page = actor->node->lists[list].last;

		if (page == MACHINE_NONE)
			break;
		sws_machine__list_take(self, page);
		batch->pages[batch->n] = page;
	}
	actor->in_hand += batch->n;
	return (batch->n + 1) * self->config.costs.lru_page_ns;
}

/* Puts a batch back, to the head of a list. */
static void put(struct actor *actor, enum machine_list list, const struct batch *batch)
{
	for (uint32_t i = 0; i < batch->n; i++)
		sws_machine__list_add(actor->machine, actor->node, list, batch->pages[i]);
	actor->in_hand -= batch->n;
}

struct shrink_active {
	struct batch batch;
};

enum active_step { ISOLATE_ACTIVE, LOOK_AT_ALL, DEACTIVATE, LEAVE_ACTIVE };

static int isolate_active(struct actor *actor, void *frame, uint64_t *ns)
{
	struct shrink_active *my = frame;

	*ns = isolate(actor, LIST_ACTIVE, &my->batch);
	return SWS_OK;
}

/* Anonymous pages are deactivated whether they were referenced or not. */
static int deactivate(struct actor *actor, void *frame, uint64_t *ns)
{
	const struct shrink_active *my = frame;
	struct sws_machine *self = actor->machine;

	for (uint32_t i = 0; i < my->batch.n; i++)
		self->pages[my->batch.pages[i]].referenced = false;
	put(actor, LIST_INACTIVE, &my->batch);
	*ns = (my->batch.n + 1) * self->config.costs.lru_page_ns;
	return SWS_OK;
}

/* Models shrink_active_list. */
static int shrink_active(struct actor *actor, void *frame, uint32_t step)
{
	struct engine_thread *thread = &actor->thread;
	const struct sws_machine_costs *costs = &actor->machine->config.costs;
	const struct shrink_active *my = frame;

	switch ((enum active_step)step) {
	case ISOLATE_ACTIVE:
		return sws_engine__under(thread, actor->node->lru_lock, SWS_SITE_LRU_ACTIVE,
					 isolate_active, frame);
	case LOOK_AT_ALL:
		return engine_work(thread, my->batch.n * costs->reference_ns);
	case DEACTIVATE:
		return sws_engine__under(thread, actor->node->lru_lock, SWS_SITE_LRU_ACTIVE,
					 deactivate, frame);
	case LEAVE_ACTIVE:
		engine_leave(thread);
		return SWS_OK;
	}
	return SWS_ERROR_BROKEN;
}

static int call_shrink_active(struct actor *actor)
{
	const struct shrink_active frame = { 0 };

	return engine_call(&actor->thread, shrink_active, &frame, sizeof(frame));
}

struct shrink {
	struct batch batch;
	/* Of the batch, the page that is looked at. */
	uint32_t at;
	struct batch kept;
	struct batch activated;
	/* A page was freed or activated, or found referenced. */
	bool progress;
};

enum step { BALANCE, ISOLATE, LOOK, DECIDE, SETTLE, PUT_BACK, LEAVE };

static int isolate_inactive(struct actor *actor, void *frame, uint64_t *ns)
{
	struct shrink *my = frame;

	*ns = isolate(actor, LIST_INACTIVE, &my->batch);
	return SWS_OK;
}

static void add(struct batch *batch, uint32_t page)
{
	batch->pages[batch->n++] = page;
}

static int go_on_with_next(struct actor *actor, struct shrink *my)
{
	my->at++;
	engine_go(&actor->thread, LOOK);
	return SWS_OK;
}

/* Is anything to be done with the next page of the batch? */
static int look(struct actor *actor, struct shrink *my)
{
	struct sws_machine *self = actor->machine;
	struct page *page = NULL;

	if (my->at == my->batch.n) {
		engine_go(&actor->thread, PUT_BACK);
		return sws_machine__drain_free(actor);
	}
	page = &self->pages[my->batch.pages[my->at]];
	if (page->locked || page->writeback) {
		add(&my->kept, my->batch.pages[my->at]);
		return go_on_with_next(actor, my);
	}
	page->locked = true;
	return page->unmapped ? SWS_OK
			      : engine_work(&actor->thread, self->config.costs.reference_ns);
}

/* Models page_check_references, from 5.9 on for anonymous pages as for others. */
static void stay_referenced(struct actor *actor, struct shrink *my, uint32_t index)
{
	struct sws_machine *self = actor->machine;
	struct page *page = &self->pages[index];

	page->referenced = false;
	page->locked = false;
	my->progress = true;
	if (self->rules->keeps_first && !page->kept_once) {
		page->kept_once = true;
		add(&my->kept, index);
		return;
	}
	actor->count.activated++;
	add(&my->activated, index);
}

static int decide(struct actor *actor, struct shrink *my)
{
	struct sws_machine *self = actor->machine;
	const uint32_t index = my->batch.pages[my->at];
	struct page *page = &self->pages[index];

	if (page->referenced && !page->unmapped) {
		stay_referenced(actor, my, index);
		return go_on_with_next(actor, my);
	}
	page->kept_once = false;
	if (page->pte != MACHINE_NONE)
		self->pte_states[page->pte] = PTE_LEAVING;
	return sws_machine__swap_out(actor, index);
}

/* Did it leave? */
static int settle(struct actor *actor, struct shrink *my)
{
	struct sws_machine *self = actor->machine;
	const uint32_t index = my->batch.pages[my->at];
	struct page *page = &self->pages[index];

	if (actor->thread.result) {
		sws_machine__free_page(self, actor, index);
		actor->count.reclaimed++;
		my->progress = true;
		return go_on_with_next(actor, my);
	}
	page->locked = false;
	/* Without a slot it stays mapped. */
	if (!page->unmapped && page->pte != MACHINE_NONE)
		self->pte_states[page->pte] = PTE_RESIDENT;
	add(&my->kept, index);
	return go_on_with_next(actor, my);
}

static int put_back(struct actor *actor, void *frame, uint64_t *ns)
{
	const struct shrink *my = frame;

	*ns = (my->kept.n + my->activated.n + 1) * actor->machine->config.costs.lru_page_ns;
	put(actor, LIST_INACTIVE, &my->kept);
	put(actor, LIST_ACTIVE, &my->activated);
	return SWS_OK;
}

static bool is_balanced(const struct list *lists)
{
	return (uint64_t)lists[LIST_INACTIVE].count * MACHINE_INACTIVE_RATIO >=
	       lists[LIST_ACTIVE].count;
}

static int shrink(struct actor *actor, void *frame, uint32_t step)
{
	struct engine_thread *thread = &actor->thread;
	struct node *node = actor->node;
	struct shrink *my = frame;

	switch ((enum step)step) {
	case BALANCE:
		return is_balanced(node->lists) ? SWS_OK : call_shrink_active(actor);
	case ISOLATE:
		return sws_engine__under(thread, node->lru_lock, SWS_SITE_LRU_INACTIVE,
					 isolate_inactive, my);
	case LOOK:
		return look(actor, my);
	case DECIDE:
		return decide(actor, my);
	case SETTLE:
		return settle(actor, my);
	case PUT_BACK:
		return sws_engine__under(thread, node->lru_lock, SWS_SITE_LRU_INACTIVE, put_back,
					 my);
	case LEAVE:
		engine_return(thread, my->progress);
		return SWS_OK;
	}
	return SWS_ERROR_BROKEN;
}

int sws_machine__shrink(struct actor *actor)
{
	const struct shrink frame = { 0 };

	return engine_call(&actor->thread, shrink, &frame, sizeof(frame));
}
