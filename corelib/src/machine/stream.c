/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/stream.c - the requests of one task of a trace, as fast as possible.
 *
 *      get   BEGIN FIND_PAGE SEND_OUT LEFT DONE     FIND_PAGE again after a new batch
 *      put   BEGIN SWAP_IN ARRIVED DONE             asleep in BEGIN until its page is out
 *
 * Two streams with one page, where the second comes too early:
 *
 *      stream 0                            page 7        stream 1
 *                                          absent        put 7: not out, so it registers as
 *                                          awaited       waiting, and sleeps in BEGIN
 *      get 7: FIND_PAGE, SEND_OUT
 *      LEFT: the page has slot 300         swapped, 300  woken, BEGIN again: a fault
 *                                          resident      SWAP_IN of slot 300
 *                                          absent        ARRIVED: from now on it is any page
 *                                                        of its node
 */
#include "machine/pages.h"
#include "machine/reclaim.h"
#include "machine/tasks.h"

struct stream {
	/* Its requests: the first one, the next one, and one past the last. */
	uint32_t first;
	uint32_t row;
	uint32_t end;
	/* The address of the current request. */
	uint32_t pte;
	/* The page that goes out, and whether it is a new one. */
	uint32_t page;
	bool is_fresh;
	/* Pages that came back and are the next to go out. */
	uint32_t batch[MACHINE_BATCH];
	uint32_t at;
	uint32_t n_batch;
};

enum step { BEGIN, FIND_PAGE, SEND_OUT, LEFT, SWAP_IN, ARRIVED, DONE };

static int end_stream(struct actor *actor, const struct stream *my)
{
	struct sws_machine *self = actor->machine;

	if (my->end - my->first > self->longest_ended)
		self->longest_ended = my->end - my->first;
	return engine_sleep(&actor->thread, SLEEP_TO_BE_WOKEN);
}

/* Begins the next request with a fault, unless its page is not out yet. */
static int begin(struct actor *actor, struct stream *my)
{
	struct sws_machine *self = actor->machine;
	const struct sws_machine_request *request = &self->config.requests[my->row];

	engine_go(&actor->thread, BEGIN);
	if (my->row == my->end)
		return end_stream(actor, my);
	my->pte = self->n_ptes + request->page;
	if (request->put && self->pte_states[my->pte] != PTE_SWAPPED) {
		self->pte_states[my->pte] = PTE_AWAITED;
		self->pte_values[my->pte] = actor->thread.cpu;
		return engine_sleep(&actor->thread, SLEEP_TO_BE_WOKEN);
	}
	engine_go(&actor->thread, request->put ? SWAP_IN : FIND_PAGE);
	return engine_work(&actor->thread, self->config.costs.fault_ns);
}

/*
 * Returns true if the tail has a page that may go out. A page there that is still coming in is
 * locked; then no other page is older. No scan moves pages to the other list.
 */
static bool has_old_page(const struct actor *actor)
{
	const struct sws_machine *self = actor->machine;
	const struct list *list = &actor->node->lists[LIST_INACTIVE];

	return list->count && !self->pages[list->last].locked;
}

/* Models isolate_lru_pages: isolates the oldest pages that came back. */
static int isolate(struct actor *actor, void *frame, uint64_t *ns)
{
	struct sws_machine *self = actor->machine;
	const struct list *list = &actor->node->lists[LIST_INACTIVE];
	struct stream *my = frame;

	my->at = 0;
	my->n_batch = 0;
	while (my->n_batch < MACHINE_BATCH && has_old_page(actor)) {
		my->batch[my->n_batch++] = list->last;
		sws_machine__list_take(self, list->last);
	}
	actor->in_hand += my->n_batch;
	*ns = (my->n_batch + 1) * self->config.costs.lru_page_ns;
	return SWS_OK;
}

/* Chooses the page that goes out: one of the batch, of a new batch, or a new page. */
static int find_page(struct actor *actor, struct stream *my)
{
	my->is_fresh = my->at == my->n_batch && !has_old_page(actor);
	if (my->is_fresh)
		return sws_machine__alloc_page(actor);
	if (my->at < my->n_batch)
		return SWS_OK;
	/* Others may have emptied the list before the lock is acquired. */
	engine_go(&actor->thread, FIND_PAGE);
	return sws_engine__under(&actor->thread, actor->node->lru_lock, SWS_SITE_LRU_INACTIVE,
				 isolate, my);
}

/* Removes the address of a page that came in, which from now on is any page of its node. */
static void forget_address(struct sws_machine *self, struct page *page)
{
	self->pte_states[page->pte] = PTE_ABSENT;
	page->pte = MACHINE_NONE;
	page->owner = MACHINE_NO_CPU;
}

static int send_out(struct actor *actor, struct stream *my)
{
	struct sws_machine *self = actor->machine;
	struct page *page = NULL;

	my->page = my->is_fresh ? actor->thread.result : my->batch[my->at];
	page = &self->pages[my->page];
	page->dirty = true;
	page->locked = true;
	/* The stream to which it came back has only to free its slot. */
	if (page->pte != MACHINE_NONE)
		forget_address(self, page);
	return sws_machine__swap_out(actor, my->page);
}

/* Wakes the stream that waits for a page, which is out now. */
static int wake_waiter(struct sws_machine *self, uint32_t pte, uint32_t slot)
{
	const bool is_awaited = self->pte_states[pte] == PTE_AWAITED;
	const uint32_t waiter = self->pte_values[pte];

	self->pte_states[pte] = PTE_SWAPPED;
	self->pte_values[pte] = slot;
	return is_awaited ? engine_wake(&self->actors[waiter].thread) : SWS_OK;
}

static int left(struct actor *actor, struct stream *my)
{
	struct sws_machine *self = actor->machine;
	const uint32_t slot = actor->thread.result;
	int error = SWS_OK;

	if (!slot) {
		self->stuck = true;
		engine_go(&actor->thread, LEFT);
		return engine_sleep(&actor->thread, SLEEP_TO_BE_WOKEN);
	}
	if (!my->is_fresh)
		my->at++;
	sws_machine__free_page(self, actor, my->page);
	actor->count.reclaimed++;
	engine_go(&actor->thread, DONE);
	error = wake_waiter(self, my->pte, slot);
	return error ? error : sws_machine__drain_free(actor);
}

static int arrived(struct actor *actor, const struct stream *my)
{
	struct sws_machine *self = actor->machine;
	struct page *page = &self->pages[actor->thread.result];

	if (page->pte == my->pte)
		forget_address(self, page);
	return SWS_OK;
}

static int stream(struct actor *actor, void *frame, uint32_t step)
{
	struct stream *my = frame;

	switch ((enum step)step) {
	case BEGIN:
		return begin(actor, my);
	case FIND_PAGE:
		return find_page(actor, my);
	case SEND_OUT:
		return send_out(actor, my);
	case LEFT:
		return left(actor, my);
	case SWAP_IN:
		/* A page that is only read would retain its slot in the swap cache of 4.8. */
		return sws_machine__swap_in(actor, my->pte, true);
	case ARRIVED:
		return arrived(actor, my);
	case DONE:
		actor->machine->requests_done++;
		my->row++;
		engine_go(&actor->thread, BEGIN);
		return SWS_OK;
	}
	return SWS_ERROR_BROKEN;
}

int sws_machine__stream(struct actor *actor, uint32_t first, uint32_t end)
{
	const struct stream frame = { .first = first, .row = first, .end = end };

	return engine_call(&actor->thread, stream, &frame, sizeof(frame));
}
