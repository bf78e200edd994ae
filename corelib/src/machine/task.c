/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine/task.c - what actors do all day: writers, walkers and kswapds. */
#include "machine/parts.h"

/* Did the task make all of its accesses? */
static bool is_done(const struct sws_machine *self, uint64_t accesses)
{
	return self->config.accesses && accesses == self->config.accesses;
}

/* The page just written has an address if the task will give it back. */
static void write_page(struct sws_machine *self, struct actor *actor)
{
	const uint32_t pte = actor->mm_first_pte + (uint32_t)actor->count.touched;

	self->pages[actor->fresh].dirty = true;
	self->pages[actor->fresh].referenced = self->rules->keeps_first;
	if (!self->config.accesses)
		return;
	self->pages[actor->fresh].pte = pte;
	self->pte_states[pte] = PTE_RESIDENT;
	self->pte_values[pte] = actor->fresh;
}

/* A process that writes fresh anonymous pages one after another (usemem). */
int sws_machine__writer(struct sws_machine *self, struct actor *actor, uint32_t step)
{
	const struct sws_machine_costs *costs = &self->config.costs;

	switch (step) {
	case 0:
		if (is_done(self, actor->count.touched)) {
			machine_leave(actor);
			return machine_call(actor, sws_machine__exit);
		}
		return machine_work(self, actor, costs->fault_ns);
	case 1:
		return machine_call(actor, sws_machine__alloc_page);
	case 2:
		write_page(self, actor);
		return machine_run(self, actor,
				   sws_machine__transfer(self, actor->node, costs->touch_ns));
	default:
		actor->count.touched++;
		machine_go(actor, 0);
		return machine_call(actor, sws_machine__lru_add);
	}
}

static int read_in(struct sws_machine *self, struct actor *actor)
{
	struct device *device = actor->device;

	actor->count.pages_in++;
	if (device->interrupt == MACHINE_NONE)
		return machine_run(self, actor,
				   sws_machine__transfer(self, &self->nodes[device->node],
							 self->config.costs.copy_ns));
	machine_sleep(actor);
	return sws_machine__submit(self, device, actor->fresh, actor->cpu);
}

static int charge(struct sws_machine *self, struct actor *actor, uint64_t *ns)
{
	(void)actor;
	*ns = self->config.costs.lru_page_ns;
	return SWS_OK;
}

/* Holds the slot's place in the cache, for a page that goes there or one that skips it (from 6.1.y on). */
static int prepare(struct sws_machine *self, struct actor *actor)
{
	return sws_machine__under(actor, sws_machine__map_lock(self, actor->device, actor->put),
				  SWS_SITE_PREPARE, sws_machine__prepare);
}

static int map_page(struct sws_machine *self, struct actor *actor)
{
	self->pte_states[actor->pte] = PTE_RESIDENT;
	self->pte_values[actor->pte] = actor->fresh;
	self->pages[actor->fresh].pte = actor->pte;
	self->pages[actor->fresh].referenced = self->rules->keeps_first;
	return sws_machine__under(actor, sws_machine__map_lock(self, actor->device, actor->put),
				  SWS_SITE_SWAP_FREE, sws_machine__swap_free);
}

/* The page is mapped and its slot one reference short: does the slot go? */
static int settle_slot(struct sws_machine *self, struct actor *actor)
{
	struct page *page = &self->pages[actor->fresh];

	page->locked = false;
	page->dirty = !page->slot;
	if (page->slot && (actor->write || sws_slots_swap_full(actor->device->slots))) {
		actor->evicted = actor->fresh;
		return machine_call(actor, sws_machine__evict);
	}
	return page->slot ? SWS_OK : machine_call(actor, sws_machine__put_slot);
}

enum { ADDED = 4, READ = 5, CHARGE = 6, MAP = 7, MAPPED = 8, SETTLE = 9 };

/* The page of actor->pte has memory: does it go through the swap cache? */
static int begin_read(struct sws_machine *self, struct actor *actor, bool skips)
{
	struct page *page = &self->pages[actor->fresh];

	actor->put = self->pte_values[actor->pte];
	page->locked = true;
	actor->page = actor->fresh;
	if (skips) {
		machine_go(actor, ADDED);
		return SWS_OK;
	}
	page->slot = actor->put;
	return prepare(self, actor);
}

/* Models do_swap_page on actor->pte. */
int sws_machine__swap_in(struct sws_machine *self, struct actor *actor, uint32_t step)
{
	const bool skips = self->rules->skips_cache && actor->device->interrupt == MACHINE_NONE;

	switch (step) {
	case 0:
		actor->put = self->pte_values[actor->pte];
		if (skips && self->rules->prepares)
			return prepare(self, actor);
		if (skips || !self->rules->looks_at_counts)
			return SWS_OK;
		return sws_machine__under(actor,
					  sws_machine__map_lock(self, actor->device, actor->put),
					  SWS_SITE_SWAPCOUNT, sws_machine__count);
	case 1:
		return machine_call(actor, sws_machine__alloc_page);
	case 2:
		return begin_read(self, actor, skips);
	case 3:
		return sws_machine__under_tree(self, actor, actor->put, SWS_SITE_TREE_READ,
					       sws_machine__tree_add);
	case ADDED:
		return machine_call(actor, sws_machine__lru_add);
	case READ:
		return read_in(self, actor);
	case CHARGE:
		if (!self->rules->charge_lock)
			return SWS_OK;
		return sws_machine__under(actor, actor->node->lru_lock, SWS_SITE_LRU_CHARGE,
					  charge);
	case MAP:
		return map_page(self, actor);
	case MAPPED:
		if (!skips || !self->rules->prepares)
			return SWS_OK;
		return sws_machine__under(actor,
					  sws_machine__map_lock(self, actor->device, actor->put),
					  SWS_SITE_CLEAR, sws_machine__clear);
	case SETTLE:
		return settle_slot(self, actor);
	default:
		machine_leave(actor);
		return SWS_OK;
	}
}

/* An access to a page that is there. True if it has to leave the swap cache for it. */
static bool hit(struct sws_machine *self, struct actor *actor, uint32_t index)
{
	struct page *page = &self->pages[index];

	actor->count.accesses++;
	page->referenced = true;
	actor->evicted = index;
	if (self->rules->reuses_exclusive) {
		page->dirty |= actor->write;
		return false;
	}
	return actor->write && page->slot && sws_machine__may_evict(self, index);
}

enum { FAULT = 1, EVICT = 4 };

/* Draws pages and accesses those that are there, up to one that is not. */
static int look_around(struct sws_machine *self, struct actor *actor)
{
	const uint32_t first = actor->mm_first_pte;
	uint64_t ns = 0;

	machine_go(actor, 0);
	for (unsigned int draws = 0; draws < MACHINE_DRAWS; draws++) {
		if (is_done(self, actor->count.accesses))
			break;
		actor->pte =
			first + (uint32_t)sws_generator_below(&actor->generator, actor->mm_ptes);
		actor->write =
			sws_generator_below(&actor->generator, 100) >= self->config.read_percent;
		ns += self->config.costs.access_ns;
		if (self->pte_states[actor->pte] == PTE_SWAPPED) {
			machine_go(actor, FAULT);
			break;
		}
		if (self->pte_states[actor->pte] == PTE_RESIDENT &&
		    hit(self, actor, self->pte_values[actor->pte])) {
			machine_go(actor, EVICT);
			break;
		}
	}
	return machine_work(self, actor, ns);
}

/* A process that reads and writes its pages at random, one word each (pmbench). */
int sws_machine__walker(struct sws_machine *self, struct actor *actor, uint32_t step)
{
	switch (step) {
	case 0:
		if (!is_done(self, actor->count.accesses))
			return look_around(self, actor);
		machine_sleep(actor);
		return SWS_OK;
	case FAULT:
		return machine_work(self, actor, self->config.costs.fault_ns);
	case 2:
		return machine_call(actor, sws_machine__swap_in);
	case 3:
		actor->count.accesses++;
		machine_go(actor, 0);
		return SWS_OK;
	default:
		machine_go(actor, 0);
		return sws_machine__may_evict(self, actor->evicted) &&
				       self->pages[actor->evicted].pte == actor->pte
			       ? machine_call(actor, sws_machine__evict)
			       : SWS_OK;
	}
}

/* Models kswapd: from the low watermark to the high one. */
int sws_machine__kswapd(struct sws_machine *self, struct actor *actor, uint32_t step)
{
	machine_go(actor, 0);
	if (step == 0) {
		if (actor->node->n_free >= self->watermark_high) {
			machine_sleep(actor);
			return SWS_OK;
		}
		machine_go(actor, 1);
		return machine_call(actor, sws_machine__shrink);
	}
	if (!actor->progress) {
		/* A writeback's end or the next task without a page wakes it. */
		actor->throttled = actor->device->n_writes > 0;
		machine_sleep(actor);
	}
	return SWS_OK;
}
