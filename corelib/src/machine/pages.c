/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "machine/pages.h"

void sws_machine__list_add(struct sws_machine *self, struct node *node, enum machine_list number,
			   uint32_t index)
{
	struct list *list = &node->lists[number];
	struct page *page = &self->pages[index];

	page->list = (uint8_t)number;
	page->previous = MACHINE_NONE;
	page->next = list->first;
	if (list->first == MACHINE_NONE)
		list->last = index;
	else
		self->pages[list->first].previous = index;
	list->first = index;
	list->count++;
}

void sws_machine__list_add_tail(struct sws_machine *self, struct node *node,
				enum machine_list number, uint32_t index)
{
	struct list *list = &node->lists[number];
	struct page *page = &self->pages[index];

	page->list = (uint8_t)number;
	page->next = MACHINE_NONE;
	page->previous = list->last;
	if (list->last == MACHINE_NONE)
		list->first = index;
	else
		self->pages[list->last].next = index;
	list->last = index;
	list->count++;
}

void sws_machine__list_take(struct sws_machine *self, uint32_t index)
{
	struct page *page = &self->pages[index];
	struct list *list = &self->nodes[page->node].lists[page->list];

	if (page->previous == MACHINE_NONE)
		list->first = page->next;
	else
		self->pages[page->previous].next = page->next;
	if (page->next == MACHINE_NONE)
		list->last = page->previous;
	else
		self->pages[page->next].previous = page->previous;
	page->list = LIST_NONE;
	list->count--;
}

/*
 * Models the bandwidth without a queue: the memory is a server that takes transfer_ns per page, and
 * the only state is the time when it is free. Copies of 571 ns, of which memory is busy for 80, all
 * started at 0 on different CPUs:
 *
 *      copy                1      2      ...  7      8      9
 *      memory is done at   80     160         560    640    720
 *      its CPU is busy     571    571         571    640    720
 *
 * So seven CPUs do not slow each other down, and the eighth is the first to wait for memory.
 */
uint64_t sws_machine__transfer(struct sws_machine *self, struct node *node, uint64_t cpu_ns)
{
	const uint64_t now = machine_now(self);
	const uint64_t start = node->memory_free_at > now ? node->memory_free_at : now;
	const uint64_t end = start + self->config.costs.transfer_ns;

	node->memory_free_at = end;
	return end - now > cpu_ns ? end - now : cpu_ns;
}

void sws_machine__forget_page(struct sws_machine *self, uint32_t index)
{
	self->pages[index] = (struct page){
		.previous = MACHINE_NONE,
		.next = MACHINE_NONE,
		.pte = MACHINE_NONE,
		.owner = MACHINE_NO_CPU,
		.node = self->pages[index].node,
	};
	self->charged--;
}

/*
 * Returns the owner of a page before the first event: its walker, or the next writer of its node in
 * turn. Two walkers and five writers on two nodes:
 *
 *      task       0 1 | 2 3 4 5 6        node 0   tasks 0 2 4 6, writers from the second on
 *                                        node 1   tasks 1 3 5
 */
static struct actor *first_owner(struct sws_machine *self, uint32_t index)
{
	const struct sws_machine_config *config = &self->config;
	const struct page *page = &self->pages[index];
	const uint32_t n = page->node;
	const uint32_t tasks = config->walkers + config->writers;
	const uint32_t before = (config->walkers + config->nodes - 1 - n) / config->nodes;
	const uint32_t all = (tasks + config->nodes - 1 - n) / config->nodes;

	if (page->pte != MACHINE_NONE)
		return sws_machine__task(self, page->pte / config->pages);
	/* If memory is shared, a node may have no writer of its own. */
	if (all == before)
		return sws_machine__task(self, config->walkers + index % config->writers);
	return sws_machine__task(self, n + (before + index % (all - before)) * config->nodes);
}

void sws_machine__put_into_memory(struct sws_machine *self, struct node *node, uint32_t pte,
				  enum machine_list list)
{
	const uint32_t index = node->free_pages[--node->n_free];
	struct page *page = &self->pages[index];

	page->used = true;
	page->dirty = true;
	page->referenced = true;
	page->pte = pte;
	page->owner = (uint16_t)first_owner(self, index)->thread.cpu;
	/*
	 * A writer's pages are written; a walker's as often as its accesses write, spread evenly by
	 * steps of 37.
	 */
	page->written =
		pte == MACHINE_NONE || (uint64_t)index * 37 % 100 >= self->config.read_percent;
	self->charged++;
	if (pte != MACHINE_NONE) {
		self->pte_states[pte] = PTE_RESIDENT;
		self->pte_values[pte] = index;
	}
	sws_machine__list_add(self, node, list, index);
}

/*
 * Models rmqueue_bulk: 31 pages under one hold, so the next 30 pages of this CPU need no lock.
 *
 *      zone, n_free 165           free.pages, n 0
 *      zone, n_free 134           free.pages, n 31      used in LIFO order: the last one's
 *                                                       lines are most likely cached
 * The zone may have fewer pages: the search for a node with pages held no lock (machine/alloc.c).
 */
static int zone_get(struct actor *actor, void *subject, uint64_t *ns)
{
	struct cpu *cpu = actor->cpu;
	struct node *node = subject;
	uint32_t n = 0;

	for (; n < MACHINE_PCP_BATCH && node->n_free; n++)
		cpu->free.pages[cpu->free.n++] = node->free_pages[--node->n_free];
	*ns = (n + 1) * actor->machine->config.costs.zone_page_ns;
	return SWS_OK;
}

int sws_machine__get_free(struct actor *actor, struct node *node)
{
	return sws_engine__under(&actor->thread, node->zone_lock, SWS_SITE_ZONE_GET, zone_get,
				 node);
}

void sws_machine__free_page(struct sws_machine *self, struct actor *actor, uint32_t page)
{
	sws_machine__forget_page(self, page);
	actor->cpu->free.pages[actor->cpu->free.n++] = page;
	actor->in_hand--;
}

/*
 * Models free_pcppages_bulk: the oldest pages.
 *
 *      free.pages   [ 0 ... 30 | 31 ... 186 | ... ]     more than 186: 31 go to the zone,
 *                     to zone    move up                up to 32 of a batch fit after them
 *
 * A CPU with 186 pages reclaims a list of 32: of 218 pages two holds free 31 each, leaving 187 and
 * 156. If 29 of the list are freed, one hold leaves 184 of 215. A CPU retains most of the pages
 * that it frees, so a task that reclaims for itself finds its next page here, without a lock.
 */
static int zone_free(struct actor *actor, void *subject, uint64_t *ns)
{
	struct cpu *cpu = subject;
	struct node *node = actor->node;

	for (uint32_t i = 0; i < MACHINE_PCP_BATCH; i++)
		node->free_pages[node->n_free++] = cpu->free.pages[i];
	cpu->free.n -= MACHINE_PCP_BATCH;
	memmove(cpu->free.pages, cpu->free.pages + MACHINE_PCP_BATCH,
		cpu->free.n * sizeof(*cpu->free.pages));
	*ns = (MACHINE_PCP_BATCH + 1) * actor->machine->config.costs.zone_page_ns;
	return SWS_OK;
}

enum drain_step { FREE_A_BATCH };

static int drain_free(struct actor *actor, void *frame, uint32_t step)
{
	(void)frame;
	(void)step;
	if (actor->cpu->free.n <= MACHINE_PCP_HIGH) {
		engine_leave(&actor->thread);
		return SWS_OK;
	}
	engine_go(&actor->thread, FREE_A_BATCH);
	return sws_engine__under(&actor->thread, actor->node->zone_lock, SWS_SITE_ZONE_FREE,
				 zone_free, actor->cpu);
}

int sws_machine__drain_free(struct actor *actor)
{
	return engine_call(&actor->thread, drain_free, NULL, 0);
}

/* Returns the node of the pages in a CPU's pagevec, except the page that was added last. */
static struct node *node_of_added(const struct actor *actor)
{
	const struct sws_machine *self = actor->machine;

	return &self->nodes[self->pages[actor->cpu->added.pages[0]].node];
}

/*
 * Models __pagevec_lru_add, which takes the lock of another node when the next page belongs to it.
 * Pages a b c of node 0 and d of node 1, with shared memory:
 *
 *      added          a b c d          d is of another node: drained before 15 are there
 *      under node 0   d                a b c are on node 0's list, d has moved up
 *
 * So all pages of a pagevec belong to one node, except the page that was added last.
 */
static int lru_add(struct actor *actor, void *subject, uint64_t *ns)
{
	struct sws_machine *self = actor->machine;
	struct node *node = subject;
	struct cpu *cpu = actor->cpu;
	uint32_t n = 0;

	for (; n < cpu->added.n && &self->nodes[self->pages[cpu->added.pages[n]].node] == node; n++)
		sws_machine__list_add(self, node,
				      self->pages[cpu->added.pages[n]].active ? LIST_ACTIVE
									      : LIST_INACTIVE,
				      cpu->added.pages[n]);
	*ns = (n + 1) * self->config.costs.lru_page_ns;
	cpu->added.n -= n;
	memmove(cpu->added.pages, cpu->added.pages + n, cpu->added.n * sizeof(*cpu->added.pages));
	return SWS_OK;
}

int sws_machine__lru_add_drain(struct actor *actor)
{
	struct node *node = NULL;

	if (!actor->cpu->added.n)
		return SWS_OK;
	node = node_of_added(actor);
	return sws_engine__under(&actor->thread, node->lru_lock, SWS_SITE_LRU_ADD, lru_add, node);
}

int sws_machine__lru_add(struct actor *actor, uint32_t page)
{
	const struct sws_machine *self = actor->machine;
	struct cpu *cpu = actor->cpu;

	cpu->added.pages[cpu->added.n++] = page;
	actor->in_hand--;
	return cpu->added.n == actor->machine->rules->pagevec ||
			       &self->nodes[self->pages[page].node] != node_of_added(actor)
		       ? sws_machine__lru_add_drain(actor)
		       : SWS_OK;
}
