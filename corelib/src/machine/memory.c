/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine/memory.c - a node's pages: its lists, its free pages, its bandwidth. */
#include "machine/parts.h"

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

uint64_t sws_machine__transfer(struct sws_machine *self, struct node *node, uint64_t cpu_ns)
{
	const uint64_t now = machine_now(self);
	const uint64_t start = node->memory_free_at > now ? node->memory_free_at : now;
	const uint64_t end = start + self->config.costs.transfer_ns;

	node->memory_free_at = end;
	return end - now > cpu_ns ? end - now : cpu_ns;
}

/* Models rmqueue_bulk. */
static int zone_get(struct sws_machine *self, struct actor *actor, uint64_t *ns)
{
	struct node *node = actor->node;
	uint32_t n = 0;

	for (; n < MACHINE_PCP_BATCH && node->n_free; n++)
		actor->pcp[actor->n_pcp++] = node->free_pages[--node->n_free];
	*ns = (n + 1) * self->config.costs.zone_page_ns;
	return SWS_OK;
}

/* Models free_pcppages_bulk: those that are there longest. */
static int zone_free(struct sws_machine *self, struct actor *actor, uint64_t *ns)
{
	struct node *node = actor->node;

	for (uint32_t i = 0; i < MACHINE_PCP_BATCH; i++)
		node->free_pages[node->n_free++] = actor->pcp[i];
	actor->n_pcp -= MACHINE_PCP_BATCH;
	for (uint32_t i = 0; i < actor->n_pcp; i++)
		actor->pcp[i] = actor->pcp[i + MACHINE_PCP_BATCH];
	*ns = (MACHINE_PCP_BATCH + 1) * self->config.costs.zone_page_ns;
	return SWS_OK;
}

int sws_machine__drain_pcp(struct sws_machine *self, struct actor *actor, uint32_t step)
{
	(void)self;
	(void)step;
	if (actor->n_pcp <= MACHINE_PCP_HIGH) {
		machine_leave(actor);
		return SWS_OK;
	}
	machine_go(actor, 0);
	return sws_machine__under(actor, actor->node->zone_lock, SWS_SITE_ZONE_FREE, zone_free);
}

static int wake_kswapd(struct sws_machine *self, const struct node *node)
{
	if (node->kswapd == MACHINE_NONE || node->n_free >= self->watermark_low)
		return SWS_OK;
	return machine_wake(self, &self->actors[node->kswapd]);
}

void sws_machine__forget_page(struct sws_machine *self, uint32_t index)
{
	self->pages[index] = (struct page){
		.previous = MACHINE_NONE,
		.next = MACHINE_NONE,
		.pte = MACHINE_NONE,
		.node = self->pages[index].node,
	};
	self->charged--;
}

/* Is the memory cgroup at its limit? */
static bool is_full(const struct sws_machine *self)
{
	return self->config.memory_max && self->charged >= self->config.memory_max;
}

/* Nothing was reclaimed: a writeback's end may bring a page, else the task gives up. */
static int wait_for_pages(struct sws_machine *self, struct actor *actor)
{
	if (actor->device->n_writes) {
		actor->throttled = true;
		machine_sleep(actor);
		return SWS_OK;
	}
	self->stuck = true;
	actor->gave_up = true;
	machine_sleep(actor);
	return SWS_OK;
}

/* actor->fresh becomes a page of the actor's node. */
int sws_machine__alloc_page(struct sws_machine *self, struct actor *actor, uint32_t step)
{
	struct node *node = actor->node;
	int error = SWS_OK;

	switch (step) {
	case 0:
		if (is_full(self))
			return machine_call(actor, sws_machine__shrink);
		if (actor->n_pcp) {
			actor->fresh = actor->pcp[--actor->n_pcp];
			self->charged++;
			actor->holds_fresh = true;
			self->pages[actor->fresh].used = true;
			machine_leave(actor);
			return SWS_OK;
		}
		if (node->n_free > self->watermark_min) {
			machine_go(actor, 3);
			return sws_machine__under(actor, node->zone_lock, SWS_SITE_ZONE_GET,
						  zone_get);
		}
		error = wake_kswapd(self, node);
		return error ? error : machine_call(actor, sws_machine__shrink);
	case 1:
		machine_go(actor, 0);
		if (actor->progress ||
		    (!is_full(self) && (actor->n_pcp || node->n_free > self->watermark_min)))
			return SWS_OK;
		return wait_for_pages(self, actor);
	default:
		machine_go(actor, 0);
		return wake_kswapd(self, node);
	}
}

/* Models __pagevec_lru_add. */
static int lru_add(struct sws_machine *self, struct actor *actor, uint64_t *ns)
{
	for (uint32_t i = 0; i < actor->n_pagevec; i++)
		sws_machine__list_add(self, actor->node,
				      self->rules->starts_active ? LIST_ACTIVE : LIST_INACTIVE,
				      actor->pagevec[i]);
	*ns = (actor->n_pagevec + 1) * self->config.costs.lru_page_ns;
	actor->n_pagevec = 0;
	return SWS_OK;
}

/* What this CPU gathered goes to its list now. */
int sws_machine__lru_add_drain(struct sws_machine *self, struct actor *actor, uint32_t step)
{
	(void)self;
	(void)step;
	machine_leave(actor);
	return actor->n_pagevec
		       ? sws_machine__under(actor, actor->node->lru_lock, SWS_SITE_LRU_ADD, lru_add)
		       : SWS_OK;
}

/* The page actor->fresh goes to its list, with others of this CPU. */
int sws_machine__lru_add(struct sws_machine *self, struct actor *actor, uint32_t step)
{
	if (step == 0) {
		actor->holds_fresh = false;
		actor->pagevec[actor->n_pagevec++] = actor->fresh;
		if (actor->n_pagevec == self->rules->pagevec)
			return sws_machine__under(actor, actor->node->lru_lock, SWS_SITE_LRU_ADD,
						  lru_add);
	}
	machine_leave(actor);
	return SWS_OK;
}
