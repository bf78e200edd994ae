/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/shrink.c - reclaims list_pages (32) of a node: from the lists to the device or back.
 *
 *      active list   | head ......... tail | --32--> shrink_active --.
 *      inactive list | head ......... tail | <-----------------------'
 *                                      `--32--> shrink: each page is
 *           kept        locked, under writeback, without a slot; from 6.1 on referenced
 *                       for the first time: to the head again
 *           activated   referenced: to the active list's head
 *           gone        swapped out: to this CPU's free pages; batched, all at the list's end
 *
 * An example turn on a synchronous device; 32 pages are isolated, two kept, one activated:
 *
 *                        active   inactive   in hand   this CPU's free pages
 *      before            400      96         0         0
 *      BALANCE           368      128        0         0       because 3 * 96 < 400
 *      ISOLATE           368      96         32        0
 *      LOOK .. SETTLE    368      96         3         29      32 times
 *      PUT_BACK          369      98         0         29
 *
 * Batched, all 32 are in hand up to the list's end, and 29 are locked: these leave before DRAIN.
 */
#include "machine/pages.h"
#include "machine/reclaim.h"

/*
 * Isolates up to list_pages from the tail of a list. Isolated pages are on no list, so that another
 * CPU does not find them and need not wait for them:
 *
 *      CPU 0   lru_lock [ takes 0 .. 31 ]   swaps out 0 .. 31 ...   lru_lock [ puts back ]
 *      CPU 1   waits ...................[ takes 32 .. 63 ]   swaps out 32 .. 63 ...
 *
 * Walking the list in place would need lru_lock for as long as the write of a page takes, or a hold
 * before and after each page: 64 holds instead of two.
 */
static uint64_t isolate(struct actor *actor, enum machine_list list)
{
	struct sws_machine *self = actor->machine;
	struct batch *batch = &actor->cpu->taken;

	for (batch->n = 0; batch->n < self->config.list_pages; batch->n++) {
		const uint32_t page = actor->node->lists[list].last;

		if (page == MACHINE_NONE)
			break;
		sws_machine__list_take(self, page);
		batch->pages[batch->n] = page;
	}
	actor->in_hand += batch->n;
	return (batch->n + 1) * self->config.costs.lru_page_ns;
}

/*
 * Puts a batch back to the head of a list. The page that was isolated first is put first: it came
 * from the tail, and remains the nearest one of its batch to the tail.
 *
 *      isolated from the tail   z y x          put   x y z ...
 */
static void put(struct actor *actor, enum machine_list list, const struct batch *batch)
{
	for (uint32_t i = 0; i < batch->n; i++)
		sws_machine__list_add(actor->machine, actor->node, list, batch->pages[i]);
	actor->in_hand -= batch->n;
}

enum active_step { ISOLATE_ACTIVE, LOOK_AT_ALL, DEACTIVATE, LEAVE_ACTIVE };

static int isolate_active(struct actor *actor, void *frame, uint64_t *ns)
{
	(void)frame;
	*ns = isolate(actor, LIST_ACTIVE);
	return SWS_OK;
}

/*
 * Anonymous pages are deactivated whether they were referenced or not: shrink_active_list keeps a
 * referenced page active only if it belongs to an executable file. The test is still needed,
 * because it clears the mark: only pages that are touched on the inactive list are found referenced
 * there.
 */
static int deactivate(struct actor *actor, void *frame, uint64_t *ns)
{
	const struct batch *batch = &actor->cpu->taken;
	struct sws_machine *self = actor->machine;

	(void)frame;
	for (uint32_t i = 0; i < batch->n; i++)
		self->pages[batch->pages[i]].referenced = false;
	put(actor, LIST_INACTIVE, batch);
	*ns = (batch->n + 1) * self->config.costs.lru_page_ns;
	return SWS_OK;
}

/* Models shrink_active_list. */
static int shrink_active(struct actor *actor, void *frame, uint32_t step)
{
	struct engine_thread *thread = &actor->thread;
	const struct sws_machine_costs *costs = &actor->machine->config.costs;

	switch ((enum active_step)step) {
	case ISOLATE_ACTIVE:
		return sws_engine__under(thread, actor->node->lru_lock, SWS_SITE_LRU_ACTIVE,
					 isolate_active, frame);
	case LOOK_AT_ALL:
		return engine_work(thread, actor->cpu->taken.n * costs->reference_ns);
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
	return engine_call(&actor->thread, shrink_active, NULL, 0);
}

struct shrink {
	/* The index of the current page among the isolated ones. */
	uint32_t at;
	/* True if a page was freed or activated, or found referenced. */
	bool progress;
};

enum step { BALANCE, ISOLATE, LOOK, DECIDE, SETTLE, FLUSH, DRAIN, PUT_BACK, LEAVE };

static int isolate_inactive(struct actor *actor, void *frame, uint64_t *ns)
{
	(void)frame;
	*ns = isolate(actor, LIST_INACTIVE);
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

/* Ends the list: removes the pages that were set aside. */
static int end_list(struct actor *actor)
{
	engine_go(&actor->thread, FLUSH);
	return actor->cpu->aside.n ? sws_machine__remove_list(actor) : SWS_OK;
}

/* Tests whether the next page of the list has to be processed. */
static int test_page(struct actor *actor, struct shrink *my)
{
	struct sws_machine *self = actor->machine;
	struct cpu *cpu = actor->cpu;
	struct page *page = NULL;

	if (my->at == cpu->taken.n)
		return end_list(actor);
	page = &self->pages[cpu->taken.pages[my->at]];
	/* Locked: a page that comes in is on its list before it is read (machine/swap_in.c). */
	if (page->locked || page->writeback) {
		add(&cpu->kept, cpu->taken.pages[my->at]);
		return go_on_with_next(actor, my);
	}
	page->locked = true;
	return page->unmapped ? SWS_OK
			      : engine_work(&actor->thread, self->config.costs.reference_ns);
}

/*
 * Models page_check_references, which from 5.9 on treats anonymous pages as others. A page at its
 * tests on the inactive list; t: touched since the test before:
 *
 *      test         1 t              2 t              or 2, not touched
 *      up to 5.8    activated
 *      6.1          kept, kept_once  activated        goes out
 *
 * kept_once survives the active list, as PG_referenced does: a page that comes back from there is
 * activated by the first test that finds it touched, until a test finds it untouched.
 */
static void stay_referenced(struct actor *actor, struct shrink *my, uint32_t index)
{
	struct sws_machine *self = actor->machine;
	struct page *page = &self->pages[index];

	page->referenced = false;
	page->locked = false;
	my->progress = true;
	if (self->rules->keeps_first && !page->kept_once) {
		page->kept_once = true;
		add(&actor->cpu->kept, index);
		return;
	}
	actor->count.activated++;
	add(&actor->cpu->activated, index);
}

static int decide(struct actor *actor, struct shrink *my)
{
	struct sws_machine *self = actor->machine;
	const uint32_t index = actor->cpu->taken.pages[my->at];
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

/* Handles the result of a page: it left, or it stays. */
static int settle(struct actor *actor, struct shrink *my)
{
	struct sws_machine *self = actor->machine;
	const uint32_t index = actor->cpu->taken.pages[my->at];
	struct page *page = &self->pages[index];

	if (actor->thread.result) {
		my->progress = true;
		(void)go_on_with_next(actor, my);
		if (self->config.removal == SWS_REMOVAL_BATCHED)
			return sws_machine__put_aside(actor, index);
		sws_machine__free_page(self, actor, index);
		actor->count.reclaimed++;
		return SWS_OK;
	}
	page->locked = false;
	/*
	 * Without a slot the page stays mapped; with one it was unmapped before its writeback, and
	 * its address is PTE_LEAVING until a later scan.
	 */
	if (!page->unmapped && page->pte != MACHINE_NONE)
		self->pte_states[page->pte] = PTE_RESIDENT;
	add(&actor->cpu->kept, index);
	return go_on_with_next(actor, my);
}

static int put_back(struct actor *actor, void *frame, uint64_t *ns)
{
	struct cpu *cpu = actor->cpu;

	(void)frame;
	*ns = (cpu->kept.n + cpu->activated.n + 1) * actor->machine->config.costs.lru_page_ns;
	put(actor, LIST_INACTIVE, &cpu->kept);
	put(actor, LIST_ACTIVE, &cpu->activated);
	cpu->kept.n = 0;
	cpu->activated.n = 0;
	return SWS_OK;
}

static int shrink(struct actor *actor, void *frame, uint32_t step)
{
	struct engine_thread *thread = &actor->thread;
	struct node *node = actor->node;
	struct shrink *my = frame;

	switch ((enum step)step) {
	case BALANCE:
		return sws_machine__is_balanced(actor->machine, node) ? SWS_OK
								      : call_shrink_active(actor);
	case ISOLATE:
		return sws_engine__under(thread, node->lru_lock, SWS_SITE_LRU_INACTIVE,
					 isolate_inactive, my);
	case LOOK:
		return test_page(actor, my);
	case DECIDE:
		return decide(actor, my);
	case SETTLE:
		return settle(actor, my);
	case FLUSH:
		return sws_machine__flush_tlb(actor);
	case DRAIN:
		return sws_machine__drain_free(actor);
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
