/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine/stream.c - a stream: the requests of one task of a trace, as fast as it can. */
#include "machine/parts.h"

/* The next request begins with a fault, unless its page is not out yet. */
enum { NEXT = 0, PAGE = 1, OUT = 2, LEFT = 3, IN = 4, ARRIVED = 5, DONE = 6 };

static int begin_request(struct sws_machine *self, struct actor *actor)
{
	const struct sws_machine_request *request = &self->config.requests[actor->row];

	machine_go(actor, NEXT);
	if (actor->row == actor->end) {
		if (actor->end - actor->first > self->longest_ended)
			self->longest_ended = actor->end - actor->first;
		machine_sleep(actor);
		return SWS_OK;
	}
	actor->pte = self->n_ptes + request->page;
	if (request->put && self->pte_states[actor->pte] != PTE_SWAPPED) {
		self->pte_states[actor->pte] = PTE_AWAITED;
		self->pte_values[actor->pte] = actor->cpu;
		machine_sleep(actor);
		return SWS_OK;
	}
	machine_go(actor, request->put ? IN : PAGE);
	return machine_work(self, actor, self->config.costs.fault_ns);
}

/* New pages are on one list only, for no scan ever moves them to the other one. */
static enum machine_list list_of(const struct sws_machine *self)
{
	return self->rules->starts_active ? LIST_ACTIVE : LIST_INACTIVE;
}

/* A page at the tail that still comes in is locked; then no other is older. */
static bool has_old_page(const struct sws_machine *self, const struct node *node)
{
	const struct list *list = &node->lists[list_of(self)];

	return list->count && !self->pages[list->last].locked;
}

/* Models isolate_lru_pages: the oldest of those that came back. */
static int isolate(struct sws_machine *self, struct actor *actor, uint64_t *ns)
{
	actor->at = 0;
	actor->n_batch = 0;
	while (actor->n_batch < MACHINE_BATCH && has_old_page(self, actor->node)) {
		const uint32_t page = actor->node->lists[list_of(self)].last;

		sws_machine__list_take(self, page);
		actor->batch[actor->n_batch++] = page;
	}
	*ns = (actor->n_batch + 1) * self->config.costs.lru_page_ns;
	return SWS_OK;
}

/* Which page goes out: one of a batch, of a new batch, or a fresh one. */
static int find_page(struct sws_machine *self, struct actor *actor)
{
	if (actor->at < actor->n_batch)
		return SWS_OK;
	if (!has_old_page(self, actor->node))
		return machine_call(actor, sws_machine__alloc_page);
	/* Others may have emptied the list before the lock is had. */
	machine_go(actor, PAGE);
	return sws_machine__under(actor, actor->node->lru_lock, SWS_SITE_LRU_INACTIVE, isolate);
}

/* What came in is some page of its node from now on. */
static void forget_address(struct sws_machine *self, struct page *page)
{
	self->pte_states[page->pte] = PTE_ABSENT;
	page->pte = MACHINE_NONE;
}

static int send_out(struct sws_machine *self, struct actor *actor)
{
	struct page *page = NULL;

	actor->page = actor->holds_fresh ? actor->fresh : actor->batch[actor->at];
	page = &self->pages[actor->page];
	page->dirty = true;
	page->locked = true;
	/* The stream that it came back to has only to give the slot away. */
	if (page->pte != MACHINE_NONE)
		forget_address(self, page);
	return machine_call(actor, sws_machine__swap_out);
}

/* The page is out: who waits for it goes on. */
static int tell(struct sws_machine *self, struct actor *actor)
{
	const bool is_awaited = self->pte_states[actor->pte] == PTE_AWAITED;
	const uint32_t waiter = self->pte_values[actor->pte];

	self->pte_states[actor->pte] = PTE_SWAPPED;
	self->pte_values[actor->pte] = actor->slot;
	return is_awaited ? machine_wake(self, &self->actors[waiter]) : SWS_OK;
}

static int leave(struct sws_machine *self, struct actor *actor)
{
	int error = SWS_OK;

	if (!actor->gone) {
		self->stuck = true;
		actor->gave_up = true;
		machine_go(actor, LEFT);
		machine_sleep(actor);
		return SWS_OK;
	}
	if (!actor->holds_fresh)
		actor->at++;
	actor->holds_fresh = false;
	sws_machine__free_page(self, actor);
	error = tell(self, actor);
	machine_go(actor, DONE);
	return error ? error : machine_call(actor, sws_machine__drain_pcp);
}

/* Models a task under direct reclaim and in do_swap_page, led by what a trace says it did. */
int sws_machine__stream(struct sws_machine *self, struct actor *actor, uint32_t step)
{
	switch (step) {
	case NEXT:
		return begin_request(self, actor);
	case PAGE:
		return find_page(self, actor);
	case OUT:
		return send_out(self, actor);
	case LEFT:
		return leave(self, actor);
	case IN:
		/* A page that is only read would keep its slot in the swap cache of 4.8. */
		actor->write = true;
		return machine_call(actor, sws_machine__swap_in);
	case ARRIVED:
		if (self->pages[actor->fresh].pte == actor->pte)
			forget_address(self, &self->pages[actor->fresh]);
		return SWS_OK;
	default:
		self->requests_done++;
		actor->row++;
		machine_go(actor, NEXT);
		return SWS_OK;
	}
}

void sws_machine__deal_requests(struct sws_machine *self)
{
	for (uint32_t row = 0; row < self->config.n_requests; row++) {
		const struct sws_machine_request *request = &self->config.requests[row];
		struct actor *actor = sws_machine__task(self, request->stream);

		if (!actor->end)
			actor->first = actor->row = row;
		actor->end = row + 1;
		actor->mm = request->mm < 0 ? MACHINE_NONE : (uint32_t)request->mm;
	}
}

uint64_t sws_machine__stream_pages(const struct sws_machine *self, uint32_t node)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < self->n_actors; i++) {
		const struct actor *actor = &self->actors[i];
		uint64_t pages = 0;
		uint64_t most = 0;

		if (actor->count.node != node)
			continue;
		for (uint32_t row = actor->row; row < actor->end; row++) {
			if (self->config.requests[row].put)
				pages++;
			else if (pages)
				pages--;
			most = pages > most ? pages : most;
		}
		sum += most;
	}
	return sum;
}
