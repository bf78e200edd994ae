/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reclaim/verify.c - recomputes each invariant of pages, lists, slots and queues from its parts:
 * references match in both directions, each page is in one place, and each count is the sum of its
 * parts.
 */
#include "reclaim/layout.h"

/* Totals of the walks over lists and requests. */
struct seen {
	uint32_t listed;
	uint32_t free;
	uint32_t dirty[NR_ZONES];
	uint32_t writeback[NR_ZONES];
	uint32_t unstable[NR_ZONES];
	uint32_t file_writeback;
	uint32_t isolated;
};

static int broken(const char **reason, const char *sentence)
{
	*reason = sentence;
	return SWS_ERROR_BROKEN;
}

static int verify_list(const struct sws_reclaim *self, uint32_t zone, uint32_t place,
		       struct seen *seen, const char **reason)
{
	const struct list *list = &self->lrus[zone].lists[place];
	uint32_t previous = NO_FRAME;
	uint32_t n = 0;

	for (uint32_t frame = list->head; frame != NO_FRAME; frame = self->pages[frame].next) {
		const struct page *page = &self->pages[frame];

		if (page->place != place || zone_of(self, frame) != zone)
			return broken(reason, "a page is not on the list that it names");
		if (page->previous != previous || ++n > list->n)
			return broken(reason,
				      "the links of a list do not match in both directions");
		if (page_is(page, PAGE_FILE) != (place >= LRU_INACTIVE_FILE))
			return broken(reason, "a page is on the list of the other type");
		if (page_is(page, PAGE_ORPHAN))
			return broken(reason, "an orphan is on a list");
		previous = frame;
	}
	if (previous != list->tail || n != list->n)
		return broken(reason, "the count of a list is not its length");
	seen->listed += n;
	return SWS_OK;
}

static int verify_free(const struct sws_reclaim *self, uint32_t zone, struct seen *seen,
		       const char **reason)
{
	const struct zone *its = &self->zones[zone];
	uint32_t n = its->pages - its->used;

	for (uint32_t frame = its->free_head; n < its->free; frame = self->pages[frame].next, n++)
		if (frame == NO_FRAME || self->pages[frame].place != PLACE_FREE ||
		    zone_of(self, frame) != zone)
			return broken(reason,
				      "the count of free pages of a zone is not their number");
	seen->free += n;
	return SWS_OK;
}

/* Checks the reference of the owner to a page. */
static int verify_owner(const struct sws_reclaim *self, uint32_t frame, const char **reason)
{
	const struct page *page = &self->pages[frame];
	const uint32_t entry = page_is(page, PAGE_FILE) ? 0 : self->ptes[page->index];

	if (page_is(page, PAGE_FILE))
		return self->file.frames[page->index] == frame + 1
			       ? SWS_OK
			       : broken(reason, "the file does not refer to its page");
	if (page->slot && self->swap.frames[page->slot] != frame + 1)
		return broken(reason, "the swap cache does not refer to its page");
	if (page->slot && self->swap.owners[page->slot] != page->index + 1)
		return broken(reason, "a slot belongs to another page");
	if (page_is(page, PAGE_MAPPED))
		return (entry & PTE_PRESENT) && (entry & PTE_FRAME) == frame
			       ? SWS_OK
			       : broken(reason, "the page table does not refer to its page");
	if (!page->slot || entry != page->slot)
		return broken(reason, "an unmapped page is not in the slot of its entry");
	return SWS_OK;
}

static int verify_page(const struct sws_reclaim *self, uint32_t frame, struct seen *seen,
		       const char **reason)
{
	const struct page *page = &self->pages[frame];
	const uint32_t zone = zone_of(self, frame);

	if (page->place == PLACE_FREE)
		return page->flags || page->slot
			       ? broken(reason, "a free page has a flag or a slot")
			       : SWS_OK;
	if (page->place == PLACE_DETACHED &&
	    (!page_is(page, PAGE_ORPHAN) || !page_is(page, PAGE_WRITEBACK | PAGE_READING)))
		return broken(reason, "a detached page is not an orphan under writeback");
	if (page_is(page, PAGE_TOUCHED) && !page_is(page, PAGE_MAPPED))
		return broken(reason, "a page of a program was touched and is not mapped");
	seen->isolated += page->place == PLACE_ISOLATED;
	seen->dirty[zone] += page_is(page, PAGE_DIRTY) && page_is(page, PAGE_FILE);
	seen->writeback[zone] += page_is(page, PAGE_WRITEBACK);
	seen->unstable[zone] += page_is(page, PAGE_UNSTABLE);
	seen->file_writeback += page_is(page, PAGE_WRITEBACK) && page_is(page, PAGE_FILE);
	return page_is(page, PAGE_ORPHAN) ? SWS_OK : verify_owner(self, frame, reason);
}

static int verify_counts(const struct sws_reclaim *self, const struct seen *seen,
			 const char **reason)
{
	uint32_t in_hand = 0;
	uint32_t dirty = 0;
	uint32_t unstable = 0;

	for (uint32_t i = 0; i < self->n_zones; i++) {
		if (seen->dirty[i] != self->zones[i].dirty)
			return broken(reason,
				      "the count of dirty pages of a zone is not their number");
		if (seen->writeback[i] != self->zones[i].writeback)
			return broken(
				reason,
				"the count of pages under writeback of a zone is not their number");
		if (seen->unstable[i] != self->zones[i].unstable)
			return broken(reason,
				      "the count of unstable pages of a zone is not their number");
		dirty += seen->dirty[i];
		unstable += seen->unstable[i];
	}
	if (dirty != self->file.dirty || seen->file_writeback != self->file.writeback)
		return broken(reason, "the counts of dirty pages and writeback of the file are not "
				      "their numbers");
	if (unstable != self->file.unstable ||
	    unstable != self->server.n_unstable + self->server.n_committing)
		return broken(reason,
			      "the count of unstable pages of the file is not their number");
	for (uint32_t i = 0; i < NR_ACTORS; i++)
		for (uint32_t page = 0; page < self->actors[i].scan.n; page++)
			in_hand += page >= self->actors[i].scan.at ||
				   self->actors[i].scan.outcomes[page] != PLACE_FREE;
	if (in_hand != seen->isolated)
		return broken(reason, "an isolated page is on the list of no reclaimer");
	return SWS_OK;
}

static int verify_slots(const struct sws_reclaim *self, const char **reason)
{
	uint32_t used = 0;

	for (uint32_t slot = 1; slot < self->swap.pages; slot++) {
		const uint32_t owner = self->swap.owners[slot];
		const uint32_t frame = self->swap.frames[slot];

		used += owner != 0;
		if ((self->swap.free_bits[slot / 64] >> slot % 64 & 1) == (owner != 0))
			return broken(reason, "a slot is both free and owned, or neither");
		if (frame && (!owner || self->pages[frame - 1].slot != slot))
			return broken(reason, "a slot in the swap cache has no owner");
		if (owner && owner != NO_FRAME && !frame && self->ptes[owner - 1] != slot)
			return broken(reason, "the owner of a slot does not refer to it");
	}
	return used == self->swap.used
		       ? SWS_OK
		       : broken(reason, "the count of used slots is not their number");
}

static int verify_file(const struct sws_reclaim *self, const char **reason)
{
	for (uint32_t i = 0; i < self->file.pages; i++) {
		const uint32_t frame = self->file.frames[i];
		const bool bit = self->file.dirty_bits[i / 64] >> i % 64 & 1;

		if (frame && self->pages[frame - 1].index != i)
			return broken(reason, "a page of the file has another index");
		if (bit != (frame && page_is(&self->pages[frame - 1], PAGE_DIRTY)))
			return broken(reason, "a dirty bit of the file does not match its page");
	}
	return SWS_OK;
}

static int verify_queue(const struct sws_reclaim *self, const char **reason)
{
	for (uint32_t kind = QUEUE_SYNC_WRITES; kind < NR_QUEUES; kind++) {
		const struct queue *queue = &self->disk.queues[kind];

		for (uint32_t i = 1; i < queue->n; i++)
			if (queue->requests[i - 1].at > queue->requests[i].at)
				return broken(reason, "writes are out of order");
	}
	return SWS_OK;
}

int sws_reclaim_verify(const struct sws_reclaim *self, const char **reason)
{
	struct seen seen = { 0 };
	int error = sws_des_verify(self->engine.des, reason);

	for (uint32_t zone = 0; zone < self->n_zones && !error; zone++) {
		for (uint32_t place = 0; place < NR_LRU_LISTS && !error; place++)
			error = verify_list(self, zone, place, &seen, reason);
		if (!error)
			error = verify_free(self, zone, &seen, reason);
	}
	for (uint32_t zone = 0; zone < self->n_zones && !error; zone++)
		for (uint32_t i = 0; i < self->zones[zone].used && !error; i++)
			error = verify_page(self, self->zones[zone].first + i, &seen, reason);
	if (!error)
		error = verify_counts(self, &seen, reason);
	if (!error)
		error = verify_slots(self, reason);
	if (!error)
		error = verify_file(self, reason);
	return error ? error : verify_queue(self, reason);
}
