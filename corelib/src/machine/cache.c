/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine/cache.c - a page in the swap cache: the tree's steps and the map's. */
#include "machine/parts.h"

int sws_machine__under_tree(struct sws_machine *self, struct actor *actor, uint32_t slot,
			    enum sws_machine_site site, machine_action *action)
{
	uint32_t mapping = 0;
	const int error = sws_mapping_of_swap(actor->device->mappings, slot, &mapping);

	(void)self;
	return error ? error
		     : sws_machine__under(actor, actor->device->first_tree_lock + mapping, site,
					  action);
}

static uint64_t folio_of(uint32_t page)
{
	return 2 * ((uint64_t)page + 1);
}

static uint64_t tree_ns(const struct sws_machine *self, const struct sws_mapping_work *work)
{
	return self->config.costs.tree_ns + work->tree.descents * self->config.costs.descent_ns;
}

/* Without a page that comes or goes: no counters, no memory cgroup's record. */
static uint64_t tag_ns(const struct sws_machine *self, const struct sws_mapping_work *work)
{
	return self->config.costs.tag_ns + work->tree.descents * self->config.costs.descent_ns;
}

static uint32_t mapping_of(const struct actor *actor, uint32_t slot)
{
	uint32_t mapping = 0;

	/* The slot is one that the device handed out: the call cannot fail. */
	(void)sws_mapping_of_swap(actor->device->mappings, slot, &mapping);
	return mapping;
}

int sws_machine__tree_add(struct sws_machine *self, struct actor *actor, uint64_t *ns)
{
	const uint32_t slot = self->pages[actor->page].slot;
	struct sws_mapping_work work = { 0 };
	const int error = sws_mapping_add(actor->device->mappings, mapping_of(actor, slot), slot,
					  folio_of(actor->page), &work);

	*ns = tree_ns(self, &work);
	return error;
}

int sws_machine__tree_start(struct sws_machine *self, struct actor *actor, uint64_t *ns)
{
	const uint32_t slot = self->pages[actor->page].slot;
	struct sws_mapping_work work = { 0 };
	const int error = sws_mapping_start_writeback(
		actor->device->mappings, mapping_of(actor, slot), slot, false, false, &work);

	*ns = tag_ns(self, &work);
	return error;
}

int sws_machine__tree_end(struct sws_machine *self, struct actor *actor, uint64_t *ns)
{
	const uint32_t slot = self->pages[actor->page].slot;
	struct sws_mapping_work work = { 0 };
	const int error = sws_mapping_end_writeback(actor->device->mappings,
						    mapping_of(actor, slot), slot, &work);

	*ns = tag_ns(self, &work);
	return error;
}

int sws_machine__tree_remove(struct sws_machine *self, struct actor *actor, uint64_t *ns)
{
	const uint32_t slot = self->pages[actor->page].slot;
	struct sws_mapping_work work = { 0 };
	const int error = sws_mapping_delete(actor->device->mappings, mapping_of(actor, slot), slot,
					     folio_of(actor->page) | 1, &work);

	*ns = tree_ns(self, &work);
	return error;
}

int sws_machine__tree_shadow(struct sws_machine *self, struct actor *actor, uint64_t *ns)
{
	const uint32_t slot = actor->returned[actor->flushed];
	struct sws_mapping_work work = { 0 };
	const int error = sws_mapping_clear_shadow(actor->device->mappings, mapping_of(actor, slot),
						   slot, &work);

	*ns = tree_ns(self, &work);
	return error;
}

int sws_machine__count(struct sws_machine *self, struct actor *actor, uint64_t *ns)
{
	(void)actor;
	*ns = self->config.costs.map_ns;
	return SWS_OK;
}

int sws_machine__duplicate(struct sws_machine *self, struct actor *actor, uint64_t *ns)
{
	uint8_t usage = 0;

	*ns = self->config.costs.map_ns;
	return sws_slots_duplicate(actor->device->slots, self->pages[actor->page].slot, &usage,
				   &actor->device->work);
}

int sws_machine__prepare(struct sws_machine *self, struct actor *actor, uint64_t *ns)
{
	uint8_t usage = 0;

	*ns = self->config.costs.map_ns;
	return sws_slots_cache(actor->device->slots, actor->put, &usage, &actor->device->work);
}

/* A slot that nothing holds any more is freed in the same hold in 4.8, later through the caches. */
static int settle(struct sws_machine *self, struct actor *actor, uint32_t slot, uint8_t usage,
		  uint64_t *ns)
{
	*ns = self->config.costs.map_ns;
	if (usage != (SWS_SLOT_CACHED | SWS_SLOT_IDLE) || self->rules->cluster_locks)
		return SWS_OK;
	*ns += self->config.costs.free_ns;
	return sws_slots_free_entries(actor->device->slots, &slot, 1, &actor->device->work);
}

int sws_machine__uncache(struct sws_machine *self, struct actor *actor, uint64_t *ns)
{
	const uint32_t slot = self->pages[actor->page].slot;
	uint8_t usage = 0;
	const int error =
		sws_slots_uncache(actor->device->slots, slot, &usage, &actor->device->work);

	return error ? error : settle(self, actor, slot, usage, ns);
}

int sws_machine__swap_free(struct sws_machine *self, struct actor *actor, uint64_t *ns)
{
	uint8_t usage = 0;
	const int error =
		sws_slots_drop(actor->device->slots, actor->put, &usage, &actor->device->work);

	return error ? error : settle(self, actor, actor->put, usage, ns);
}

int sws_machine__clear(struct sws_machine *self, struct actor *actor, uint64_t *ns)
{
	uint8_t usage = 0;

	*ns = self->config.costs.map_ns;
	return sws_slots_uncache(actor->device->slots, actor->put, &usage, &actor->device->work);
}

bool sws_machine__may_evict(const struct sws_machine *self, uint32_t index)
{
	const struct page *page = &self->pages[index];

	return page->slot && !page->locked && !page->writeback && !page->unmapped;
}

static int tree_delete(struct sws_machine *self, struct actor *actor, uint64_t *ns)
{
	const uint32_t slot = self->pages[actor->evicted].slot;
	struct sws_mapping_work work = { 0 };
	const int error = sws_mapping_delete(actor->device->mappings, mapping_of(actor, slot), slot,
					     0, &work);

	*ns = tree_ns(self, &work);
	return error;
}

static int uncache_evicted(struct sws_machine *self, struct actor *actor, uint64_t *ns)
{
	struct page *page = &self->pages[actor->evicted];
	uint8_t usage = 0;
	const int error =
		sws_slots_uncache(actor->device->slots, page->slot, &usage, &actor->device->work);

	actor->put = page->slot;
	page->slot = 0;
	page->dirty = true;
	return error ? error : settle(self, actor, actor->put, usage, ns);
}

/* Models delete_from_swap_cache. */
int sws_machine__evict(struct sws_machine *self, struct actor *actor, uint32_t step)
{
	struct page *page = &self->pages[actor->evicted];

	switch (step) {
	case 0:
		page->locked = true;
		if (!self->rules->looks_at_counts)
			return SWS_OK;
		return sws_machine__under(actor,
					  sws_machine__map_lock(self, actor->device, page->slot),
					  SWS_SITE_COUNT, sws_machine__count);
	case 1:
		return sws_machine__under_tree(self, actor, page->slot, SWS_SITE_TREE_DELETE,
					       tree_delete);
	case 2:
		return sws_machine__under(actor,
					  sws_machine__map_lock(self, actor->device, page->slot),
					  SWS_SITE_PUT, uncache_evicted);
	case 3:
		page->locked = false;
		machine_leave(actor);
		return machine_call(actor, sws_machine__put_slot);
	}
	return SWS_ERROR_BROKEN;
}
