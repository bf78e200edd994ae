/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "machine/swap_cache.h"

static int under_tree(struct actor *actor, uint32_t slot, enum sws_machine_site site,
		      engine_action *action, void *subject)
{
	const struct device *device = actor->device;
	uint32_t mapping = 0;
	const int error = sws_mapping_of_swap(device->mappings, slot, &mapping);

	return error ? error
		     : sws_engine__under(&actor->thread, device->first_tree_lock + mapping, site,
					 action, subject);
}

static int under_map(struct actor *actor, uint32_t slot, enum sws_machine_site site,
		     engine_action *action, void *subject)
{
	const uint32_t lock = sws_machine__map_lock(actor->machine, actor->device, slot);

	return sws_engine__under(&actor->thread, lock, site, action, subject);
}

/*
 * A page's place in a tree, as in mapping.h: bit 0 distinguishes a shadow from a folio, and 0 is an
 * empty place. So page 0 is 2, its shadow 3, and page n is folio / 2 - 1.
 */
struct place {
	struct sws_mappings *mappings;
	uint32_t mapping;
	uint32_t slot;
	uint64_t folio;
	uint64_t shadow;
};

static struct place place_of(const struct actor *actor, const struct page *page)
{
	const uint64_t index = (uint64_t)(page - actor->machine->pages);
	struct place place = {
		.mappings = actor->device->mappings,
		.slot = page->slot,
		.folio = 2 * (index + 1),
		.shadow = 2 * (index + 1) | 1,
	};

	/* The device has allocated the slot, so the call cannot fail. */
	(void)sws_mapping_of_swap(place.mappings, place.slot, &place.mapping);
	return place;
}

static uint64_t tree_ns(const struct actor *actor, const struct sws_mapping_work *work)
{
	const struct sws_machine_costs *costs = &actor->machine->config.costs;

	return costs->tree_ns + work->tree.descents * costs->descent_ns;
}

/*
 * Returns the time of a hold that adds or removes no page: no counters, no memory cgroup's record.
 */
static uint64_t tag_ns(const struct actor *actor, const struct sws_mapping_work *work)
{
	const struct sws_machine_costs *costs = &actor->machine->config.costs;

	return costs->tag_ns + work->tree.descents * costs->descent_ns;
}

static int add(struct actor *actor, void *page, uint64_t *ns)
{
	const struct place place = place_of(actor, page);
	struct sws_mapping_work work = { 0 };
	const int error =
		sws_mapping_add(place.mappings, place.mapping, place.slot, place.folio, &work);

	*ns = tree_ns(actor, &work);
	return error;
}

int sws_machine__tree_add(struct actor *actor, struct page *page, enum sws_machine_site site)
{
	return under_tree(actor, page->slot, site, add, page);
}

static int start_writeback(struct actor *actor, void *page, uint64_t *ns)
{
	const struct place place = place_of(actor, page);
	struct sws_mapping_work work = { 0 };
	const int error = sws_mapping_start_writeback(place.mappings, place.mapping, place.slot,
						      false, false, &work);

	*ns = tag_ns(actor, &work);
	return error;
}

int sws_machine__tree_start(struct actor *actor, struct page *page)
{
	if (!actor->machine->keeps_tags)
		return SWS_OK;
	return under_tree(actor, page->slot, SWS_SITE_TREE_START, start_writeback, page);
}

static int end_writeback(struct actor *actor, void *page, uint64_t *ns)
{
	const struct place place = place_of(actor, page);
	struct sws_mapping_work work = { 0 };
	const int error =
		sws_mapping_end_writeback(place.mappings, place.mapping, place.slot, &work);

	*ns = tag_ns(actor, &work);
	return error;
}

int sws_machine__tree_end(struct actor *actor, struct page *page)
{
	if (!actor->machine->keeps_tags)
		return SWS_OK;
	return under_tree(actor, page->slot, SWS_SITE_TREE_END, end_writeback, page);
}

static int take_out(struct actor *actor, const struct place *place, uint64_t shadow, uint64_t *ns)
{
	struct sws_mapping_work work = { 0 };
	const int error =
		sws_mapping_delete(place->mappings, place->mapping, place->slot, shadow, &work);

	*ns = tree_ns(actor, &work);
	return error;
}

static int take_out_reclaimed(struct actor *actor, const struct page *page, uint64_t *ns)
{
	const struct place place = place_of(actor, page);

	return take_out(actor, &place, place.shadow, ns);
}

static int write_record(struct actor *actor, void *subject, uint64_t *ns)
{
	(void)subject;
	*ns = actor->machine->config.costs.record_ns;
	return SWS_OK;
}

int sws_machine__record(struct actor *actor, enum sws_machine_site site)
{
	if (!actor->machine->rules->records)
		return SWS_OK;
	return sws_engine__under(&actor->thread, actor->device->record_lock, site, write_record,
				 NULL);
}

/*
 * At least one page is removed, so the subtraction does not wrap: pages that were set aside are
 * locked, clean and unmapped, and no other actor can reach them. 29 pages of one mapping take
 * tree_ns, 28 times tree_next_ns and their descents, as one hold; page by page they are 29 holds of
 * tree_ns.
 */
static int take_out_all(struct actor *actor, uint32_t *removed, uint64_t *ns)
{
	const struct sws_machine_costs *costs = &actor->machine->config.costs;
	struct sws_removal_hold hold = { 0 };
	const int error = sws_removal_hold(actor->cpu->aside.removal, &hold);

	*removed = (uint32_t)hold.removed;
	*ns = costs->tree_ns + (hold.removed - 1) * costs->tree_next_ns +
	      hold.tree.descents * costs->descent_ns;
	return error;
}

struct removal {
	uint32_t lock;
	/* The page; NULL for all pages of the mapping that were set aside. */
	const struct page *page;
	/* Pages that were removed and not yet recorded. */
	uint32_t left;
};

enum removal_step { TAKE, TAKE_OUT, RECORD };

/* Holds a mapping's lock, and in it the records' lock once for each page that it removes. */
static int removal(struct actor *actor, void *frame, uint32_t step)
{
	struct engine_thread *thread = &actor->thread;
	struct removal *my = frame;
	uint64_t ns = 0;
	int error = SWS_OK;

	switch ((enum removal_step)step) {
	case TAKE:
		return engine_lock(thread, my->lock, SWS_SITE_TREE_REMOVE);
	case TAKE_OUT:
		my->left = 1;
		error = my->page ? take_out_reclaimed(actor, my->page, &ns)
				 : take_out_all(actor, &my->left, &ns);
		return error ? error : engine_run(thread, ns);
	case RECORD:
		if (my->left) {
			my->left--;
			engine_go(thread, RECORD);
			return sws_machine__record(actor, SWS_SITE_RECORD_OUT);
		}
		engine_leave(thread);
		return engine_unlock(thread, my->lock);
	}
	return SWS_ERROR_BROKEN;
}

static int call_removal(struct actor *actor, uint32_t mapping, const struct page *page)
{
	const struct removal frame = {
		.lock = actor->device->first_tree_lock + mapping,
		.page = page,
	};

	return engine_call(&actor->thread, removal, &frame, sizeof(frame));
}

int sws_machine__tree_remove(struct actor *actor, const struct page *page)
{
	return call_removal(actor, place_of(actor, page).mapping, page);
}

int sws_machine__tree_remove_all(struct actor *actor, uint32_t mapping)
{
	return call_removal(actor, mapping, NULL);
}

static int take_out_kept(struct actor *actor, void *page, uint64_t *ns)
{
	const struct place place = place_of(actor, page);

	return take_out(actor, &place, 0, ns);
}

int sws_machine__tree_delete(struct actor *actor, struct page *page)
{
	return under_tree(actor, page->slot, SWS_SITE_TREE_DELETE, take_out_kept, page);
}

static int clear_shadow(struct actor *actor, void *subject, uint64_t *ns)
{
	const uint32_t *slot = subject;
	struct sws_mappings *mappings = actor->device->mappings;
	struct sws_mapping_work work = { 0 };
	uint32_t mapping = 0;
	int error = sws_mapping_of_swap(mappings, *slot, &mapping);

	if (!error)
		error = sws_mapping_clear_shadow(mappings, mapping, *slot, &work);
	*ns = tree_ns(actor, &work);
	return error;
}

int sws_machine__tree_shadow(struct actor *actor, uint32_t *slot)
{
	if (!actor->machine->rules->shadows)
		return SWS_OK;
	return under_tree(actor, *slot, SWS_SITE_TREE_SHADOW, clear_shadow, slot);
}

void sws_machine__begin_looks(struct device *device)
{
	device->hold++;
}

/*
 * Returns whether this hold of si->lock has used the map's cache line, and marks the line:
 *
 *      slot       300   301   364   302        300 by another CPU        303
 *      dear       yes   -     yes   -          (in no such hold)         yes
 *
 * Slots 256 .. 319 and 320 .. 383 have one line each.
 */
static bool used_line(struct device *device, uint32_t slot)
{
	uint32_t *hold = &device->line_holds[slot / MACHINE_MAP_LINE];
	const bool used = *hold == device->hold;

	*hold = device->hold;
	return used;
}

uint64_t sws_machine__next_look_ns(struct actor *actor, uint32_t slot)
{
	const struct sws_machine_costs *costs = &actor->machine->config.costs;

	if (used_line(actor->device, slot) && costs->map_next_ns < costs->map_ns)
		return costs->map_next_ns;
	return costs->map_ns;
}

/* Returns the time of a section that looks at one slot only, whose line leaves the other CPU. */
static uint64_t look_ns(struct actor *actor, uint32_t slot)
{
	actor->device->line_holds[slot / MACHINE_MAP_LINE] = 0;
	return actor->machine->config.costs.map_ns;
}

static int duplicate(struct actor *actor, void *subject, uint64_t *ns)
{
	const struct page *page = subject;
	struct device *device = actor->device;
	uint8_t usage = 0;

	*ns = look_ns(actor, page->slot);
	return sws_slots_duplicate(device->slots, page->slot, &usage, &device->work);
}

int sws_machine__duplicate(struct actor *actor, struct page *page)
{
	return under_map(actor, page->slot, SWS_SITE_DUPLICATE, duplicate, page);
}

/* The subject is the slot itself, because the count may be read of a slot that no page has. */
static int count(struct actor *actor, void *subject, uint64_t *ns)
{
	*ns = look_ns(actor, (uint32_t)(uintptr_t)subject);
	return SWS_OK;
}

int sws_machine__count(struct actor *actor, uint32_t slot, enum sws_machine_site site)
{
	return under_map(actor, slot, site, count, (void *)(uintptr_t)slot);
}

/*
 * Returns the time of a hold that drops a reference of a slot. If the slot has no reference left,
 * 4.8 frees it here; later kernels leave that to the caller (sws_machine__put_slot).
 *
 *      4.8    si->lock [ 41 -> 01 ]        si->lock [ 01 -> c0 -> 0 ]
 *      5.7    cluster  [ 41 -> 01 ]        cluster  [ 01 -> c0 ]   ...   flush [ c0 -> 0 ]
 *
 * In 4.8 the value c0 exists within one hold only.
 */
static int settle(struct actor *actor, uint32_t slot, uint8_t usage, uint64_t *ns)
{
	const struct sws_machine *self = actor->machine;
	struct device *device = actor->device;

	if (usage != (SWS_SLOT_CACHED | SWS_SLOT_IDLE) || self->rules->cluster_locks) {
		*ns = look_ns(actor, slot);
		return SWS_OK;
	}
	*ns = look_ns(actor, slot) + self->config.costs.free_ns;
	return sws_slots_free_entries(device->slots, &slot, 1, &device->work);
}

static int uncache(struct actor *actor, void *subject, uint64_t *ns)
{
	const struct page *page = subject;
	struct device *device = actor->device;
	uint8_t usage = 0;
	const int error = sws_slots_uncache(device->slots, page->slot, &usage, &device->work);

	return error ? error : settle(actor, page->slot, usage, ns);
}

int sws_machine__uncache(struct actor *actor, struct page *page)
{
	return under_map(actor, page->slot, SWS_SITE_PUT, uncache, page);
}

static int prepare(struct actor *actor, void *subject, uint64_t *ns)
{
	const uint32_t *slot = subject;
	struct device *device = actor->device;
	uint8_t usage = 0;

	*ns = look_ns(actor, *slot);
	return sws_slots_cache(device->slots, *slot, &usage, &device->work);
}

int sws_machine__prepare(struct actor *actor, uint32_t *slot)
{
	return under_map(actor, *slot, SWS_SITE_PREPARE, prepare, slot);
}

static int clear(struct actor *actor, void *subject, uint64_t *ns)
{
	const uint32_t *slot = subject;
	struct device *device = actor->device;
	uint8_t usage = 0;

	*ns = look_ns(actor, *slot);
	return sws_slots_uncache(device->slots, *slot, &usage, &device->work);
}

int sws_machine__clear(struct actor *actor, uint32_t *slot)
{
	return under_map(actor, *slot, SWS_SITE_CLEAR, clear, slot);
}

static int swap_free(struct actor *actor, void *subject, uint64_t *ns)
{
	const uint32_t *slot = subject;
	struct device *device = actor->device;
	uint8_t usage = 0;
	const int error = sws_slots_drop(device->slots, *slot, &usage, &device->work);

	return error ? error : settle(actor, *slot, usage, ns);
}

int sws_machine__swap_free(struct actor *actor, uint32_t *slot)
{
	return under_map(actor, *slot, SWS_SITE_SWAP_FREE, swap_free, slot);
}
