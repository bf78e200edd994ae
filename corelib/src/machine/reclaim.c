/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine/reclaim.c - 32 pages of a node: from the lists to the device or back. */
#include "machine/parts.h"

/* Takes up to 32 pages from the tail of a list into the actor's batch. */
static uint64_t isolate(struct sws_machine *self, struct actor *actor, enum machine_list list)
{
	for (actor->n_batch = 0; actor->n_batch < MACHINE_BATCH; actor->n_batch++) {
		const uint32_t page = actor->node->lists[list].last;

		if (page == MACHINE_NONE)
			break;
		sws_machine__list_take(self, page);
		actor->batch[actor->n_batch] = page;
	}
	actor->at = 0;
	return (actor->n_batch + 1) * self->config.costs.lru_page_ns;
}

static int isolate_active(struct sws_machine *self, struct actor *actor, uint64_t *ns)
{
	*ns = isolate(self, actor, LIST_ACTIVE);
	return SWS_OK;
}

/* Anonymous pages are deactivated whether they were referenced or not. */
static int deactivate(struct sws_machine *self, struct actor *actor, uint64_t *ns)
{
	for (uint32_t i = 0; i < actor->n_batch; i++) {
		self->pages[actor->batch[i]].referenced = false;
		sws_machine__list_add(self, actor->node, LIST_INACTIVE, actor->batch[i]);
	}
	*ns = (actor->n_batch + 1) * self->config.costs.lru_page_ns;
	actor->n_batch = 0;
	return SWS_OK;
}

/* Models shrink_active_list. */
static int shrink_active(struct sws_machine *self, struct actor *actor, uint32_t step)
{
	switch (step) {
	case 0:
		return sws_machine__under(actor, actor->node->lru_lock, SWS_SITE_LRU_ACTIVE,
					  isolate_active);
	case 1:
		return machine_work(self, actor, actor->n_batch * self->config.costs.reference_ns);
	default:
		machine_leave(actor);
		return sws_machine__under(actor, actor->node->lru_lock, SWS_SITE_LRU_ACTIVE,
					  deactivate);
	}
}

/* Steps of swap_out that are gone to. */
enum { ADDED = 3, WRITE = 6, WRITTEN = 7, CLEAN = 8 };

static int write_out(struct sws_machine *self, struct actor *actor)
{
	struct device *device = actor->device;
	struct page *page = &self->pages[actor->page];

	if (device->n_requests >= MACHINE_QUEUE && device->n_writes) {
		machine_go(actor, WRITE);
		actor->throttled = true;
		machine_sleep(actor);
		return SWS_OK;
	}
	page->dirty = false;
	actor->count.pages_out++;
	if (device->interrupt == MACHINE_NONE)
		return machine_run(self, actor,
				   sws_machine__transfer(self, &self->nodes[device->node],
							 self->config.costs.copy_ns));
	page->writeback = true;
	machine_leave(actor);
	return sws_machine__submit(self, device, actor->page, MACHINE_NONE);
}

static void leave_memory(struct sws_machine *self, struct actor *actor)
{
	struct page *page = &self->pages[actor->page];

	if (page->pte != MACHINE_NONE) {
		self->pte_states[page->pte] = PTE_SWAPPED;
		self->pte_values[page->pte] = page->slot;
	}
	page->slot = 0;
	actor->gone = true;
	machine_leave(actor);
}

/* Models the part of shrink_page_list that swaps out actor->page; actor->gone says whether it left. */
int sws_machine__swap_out(struct sws_machine *self, struct actor *actor, uint32_t step)
{
	struct page *page = &self->pages[actor->page];
	const uint32_t map_lock = sws_machine__map_lock(self, actor->device, page->slot);

	switch (step) {
	case 0:
		actor->gone = false;
		if (page->unmapped) {
			machine_go(actor, CLEAN);
			return SWS_OK;
		}
		return machine_work(self, actor, self->config.costs.unmap_ns);
	case 1:
		if (page->slot)
			machine_go(actor, ADDED);
		return page->slot ? SWS_OK : machine_call(actor, sws_machine__get_slot);
	case 2:
		if (!actor->slot) {
			machine_leave(actor);
			return SWS_OK;
		}
		page->slot = actor->slot;
		return sws_machine__under_tree(self, actor, page->slot, SWS_SITE_TREE_ADD,
					       sws_machine__tree_add);
	case ADDED:
		return sws_machine__under(actor, map_lock, SWS_SITE_DUPLICATE,
					  sws_machine__duplicate);
	case 4:
		page->unmapped = true;
		if (!page->dirty) {
			machine_go(actor, CLEAN);
			return SWS_OK;
		}
		return sws_machine__under(actor, map_lock, SWS_SITE_COUNT, sws_machine__count);
	case 5:
		if (!self->keeps_tags)
			return SWS_OK;
		return sws_machine__under_tree(self, actor, page->slot, SWS_SITE_TREE_START,
					       sws_machine__tree_start);
	case WRITE:
		return write_out(self, actor);
	case WRITTEN:
		if (!self->keeps_tags)
			return SWS_OK;
		return sws_machine__under_tree(self, actor, page->slot, SWS_SITE_TREE_END,
					       sws_machine__tree_end);
	case CLEAN:
		return sws_machine__under_tree(self, actor, page->slot, SWS_SITE_TREE_REMOVE,
					       sws_machine__tree_remove);
	case 9:
		return sws_machine__under(actor, map_lock, SWS_SITE_PUT, sws_machine__uncache);
	default:
		leave_memory(self, actor);
		return SWS_OK;
	}
}

/* A page that stays: to the head of a list, in the hold that puts the batch back. */
static void keep(struct actor *actor)
{
	actor->kept[actor->n_kept++] = actor->page;
}

void sws_machine__free_page(struct sws_machine *self, struct actor *actor)
{
	sws_machine__forget_page(self, actor->page);
	actor->pcp[actor->n_pcp++] = actor->page;
	actor->count.reclaimed++;
	actor->progress = true;
}

/* What becomes of the next page of the batch. */
static int look_at(struct sws_machine *self, struct actor *actor)
{
	struct page *page = NULL;

	actor->page = actor->batch[actor->at];
	page = &self->pages[actor->page];
	if (page->locked || page->writeback) {
		keep(actor);
		actor->at++;
		machine_go(actor, 2);
		return SWS_OK;
	}
	page->locked = true;
	return page->unmapped ? SWS_OK : machine_work(self, actor, self->config.costs.reference_ns);
}

/* Models page_check_references, from 5.9 on for anonymous pages as for others. */
static void stay_referenced(struct sws_machine *self, struct actor *actor)
{
	struct page *page = &self->pages[actor->page];

	page->referenced = false;
	page->locked = false;
	actor->progress = true;
	if (self->rules->keeps_first && !page->kept_once) {
		page->kept_once = true;
		keep(actor);
		return;
	}
	actor->count.activated++;
	actor->activated[actor->n_activated++] = actor->page;
}

static int decide(struct sws_machine *self, struct actor *actor)
{
	struct page *page = &self->pages[actor->page];

	if (page->referenced && !page->unmapped) {
		stay_referenced(self, actor);
		actor->at++;
		machine_go(actor, 2);
		return SWS_OK;
	}
	page->kept_once = false;
	if (page->pte != MACHINE_NONE)
		self->pte_states[page->pte] = PTE_LEAVING;
	return machine_call(actor, sws_machine__swap_out);
}

static void settle(struct sws_machine *self, struct actor *actor)
{
	struct page *page = &self->pages[actor->page];

	actor->at++;
	machine_go(actor, 2);
	if (actor->gone) {
		sws_machine__free_page(self, actor);
		return;
	}
	page->locked = false;
	/* Without a slot it stays mapped. */
	if (!page->unmapped && page->pte != MACHINE_NONE)
		self->pte_states[page->pte] = PTE_RESIDENT;
	keep(actor);
}

static int isolate_inactive(struct sws_machine *self, struct actor *actor, uint64_t *ns)
{
	*ns = isolate(self, actor, LIST_INACTIVE);
	return SWS_OK;
}

static int put_back(struct sws_machine *self, struct actor *actor, uint64_t *ns)
{
	*ns = (actor->n_kept + actor->n_activated + 1) * self->config.costs.lru_page_ns;
	for (uint32_t i = 0; i < actor->n_kept; i++)
		sws_machine__list_add(self, actor->node, LIST_INACTIVE, actor->kept[i]);
	for (uint32_t i = 0; i < actor->n_activated; i++)
		sws_machine__list_add(self, actor->node, LIST_ACTIVE, actor->activated[i]);
	actor->n_kept = 0;
	actor->n_activated = 0;
	actor->n_batch = 0;
	actor->at = 0;
	return SWS_OK;
}

/* Models one turn of shrink_lruvec; actor->progress says whether a page was freed or activated. */
int sws_machine__shrink(struct sws_machine *self, struct actor *actor, uint32_t step)
{
	const struct list *lists = actor->node->lists;

	switch (step) {
	case 0:
		actor->progress = false;
		if ((uint64_t)lists[LIST_INACTIVE].count * MACHINE_INACTIVE_RATIO >=
		    lists[LIST_ACTIVE].count)
			return SWS_OK;
		return machine_call(actor, shrink_active);
	case 1:
		return sws_machine__under(actor, actor->node->lru_lock, SWS_SITE_LRU_INACTIVE,
					  isolate_inactive);
	case 2:
		if (actor->at < actor->n_batch)
			return look_at(self, actor);
		machine_go(actor, 5);
		return machine_call(actor, sws_machine__drain_pcp);
	case 3:
		return decide(self, actor);
	case 4:
		settle(self, actor);
		return SWS_OK;
	default:
		machine_leave(actor);
		return sws_machine__under(actor, actor->node->lru_lock, SWS_SITE_LRU_INACTIVE,
					  put_back);
	}
}
