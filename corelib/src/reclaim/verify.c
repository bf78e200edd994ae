/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vm/verify.c - each invariant of pages, lists, slots and queue, found again from its parts:
 * whoever is pointed to points back, each page is in one place, and each count is the sum of
 * what it counts.
 */
#include "reclaim/layout.h"

/* What walks over lists and requests have met. */
struct seen {
	uint32_t listed;
	uint32_t free;
	uint32_t dirty[VM_ZONES];
	uint32_t writeback[VM_ZONES];
	uint32_t unstable[VM_ZONES];
	uint32_t file_writeback;
	uint32_t isolated;
};

static int broken(const char **reason, const char *sentence)
{
	*reason = sentence;
	return SWS_ERROR_BROKEN;
}

static int verify_list(const struct sws_reclaim *vm, uint32_t zone, uint32_t place,
		       struct seen *seen, const char **reason)
{
	const struct list *list = &vm->lrus[zone].lists[place];
	uint32_t previous = VM_NONE;
	uint32_t n = 0;

	for (uint32_t frame = list->head; frame != VM_NONE; frame = vm->pages[frame].next) {
		const struct page *page = &vm->pages[frame];

		if (page->place != place || vm_zone_of(vm, frame) != zone)
			return broken(reason, "a page is on another list than it says");
		if (page->previous != previous || ++n > list->n)
			return broken(reason, "a list's links do not lead back");
		if (vm_is(page, VM_FILE) != (place >= VM_INACTIVE_FILE))
			return broken(reason, "a page is on the list of the other kind");
		if (vm_is(page, VM_ORPHAN))
			return broken(reason, "an orphan is on a list");
		previous = frame;
	}
	if (previous != list->tail || n != list->n)
		return broken(reason, "a list is not as long as its count");
	seen->listed += n;
	return SWS_OK;
}

static int verify_free(const struct sws_reclaim *vm, uint32_t zone, struct seen *seen,
		       const char **reason)
{
	const struct zone *its = &vm->zones[zone];
	uint32_t n = its->pages - its->used;

	for (uint32_t frame = its->free_head; n < its->free; frame = vm->pages[frame].next, n++)
		if (frame == VM_NONE || vm->pages[frame].place != VM_FREE ||
		    vm_zone_of(vm, frame) != zone)
			return broken(reason,
				      "the free pages of a zone are not as many as it says");
	seen->free += n;
	return SWS_OK;
}

/* What points to a page that has an owner. */
static int verify_owner(const struct sws_reclaim *vm, uint32_t frame, const char **reason)
{
	const struct page *page = &vm->pages[frame];
	const uint32_t entry = vm_is(page, VM_FILE) ? 0 : vm->ptes[page->index];

	if (vm_is(page, VM_FILE))
		return vm->file.frames[page->index] == frame + 1
			       ? SWS_OK
			       : broken(reason, "the file does not know its page");
	if (page->slot && vm->swap.frames[page->slot] != frame + 1)
		return broken(reason, "the swap cache does not know its page");
	if (page->slot && vm->swap.owners[page->slot] != page->index + 1)
		return broken(reason, "a slot is another page's");
	if (vm_is(page, VM_MAPPED))
		return (entry & VM_PTE_PRESENT) && (entry & VM_PTE_FRAME) == frame
			       ? SWS_OK
			       : broken(reason, "the page table does not know its page");
	if (!page->slot || entry != page->slot)
		return broken(reason, "an unmapped page is not where its entry leads");
	return SWS_OK;
}

static int verify_page(const struct sws_reclaim *vm, uint32_t frame, struct seen *seen,
		       const char **reason)
{
	const struct page *page = &vm->pages[frame];
	const uint32_t zone = vm_zone_of(vm, frame);

	if (page->place == VM_FREE)
		return page->flags || page->slot
			       ? broken(reason, "a free page has a flag or a slot")
			       : SWS_OK;
	if (page->place == VM_ADRIFT &&
	    (!vm_is(page, VM_ORPHAN) || !vm_is(page, VM_WRITEBACK | VM_READING)))
		return broken(reason, "a page drifts for no reason");
	seen->isolated += page->place == VM_ISOLATED;
	seen->dirty[zone] += vm_is(page, VM_DIRTY) && vm_is(page, VM_FILE);
	seen->writeback[zone] += vm_is(page, VM_WRITEBACK);
	seen->unstable[zone] += vm_is(page, VM_UNSTABLE);
	seen->file_writeback += vm_is(page, VM_WRITEBACK) && vm_is(page, VM_FILE);
	return vm_is(page, VM_ORPHAN) ? SWS_OK : verify_owner(vm, frame, reason);
}

static int verify_counts(const struct sws_reclaim *vm, const struct seen *seen, const char **reason)
{
	uint32_t in_hand = 0;
	uint32_t dirty = 0;
	uint32_t unstable = 0;

	for (uint32_t i = 0; i < vm->n_zones; i++) {
		if (seen->dirty[i] != vm->zones[i].dirty)
			return broken(reason, "a zone has other dirty pages than it counts");
		if (seen->writeback[i] != vm->zones[i].writeback)
			return broken(reason, "a zone has other writeback than it counts");
		if (seen->unstable[i] != vm->zones[i].unstable)
			return broken(reason, "a zone has other unstable pages than it counts");
		dirty += seen->dirty[i];
		unstable += seen->unstable[i];
	}
	if (dirty != vm->file.dirty || seen->file_writeback != vm->file.writeback)
		return broken(reason, "the file has other dirty pages or writeback than it counts");
	if (unstable != vm->file.unstable ||
	    unstable != vm->server.n_unstable + vm->server.n_committing)
		return broken(reason, "the file has other unstable pages than it counts");
	for (uint32_t i = 0; i < VM_ACTORS; i++)
		for (uint32_t page = 0; page < vm->actors[i].scan.n; page++)
			in_hand += page >= vm->actors[i].scan.at ||
				   vm->actors[i].scan.fates[page] != VM_FREE;
	if (in_hand != seen->isolated)
		return broken(reason, "an isolated page is in nobody's hands");
	return SWS_OK;
}

static int verify_slots(const struct sws_reclaim *vm, const char **reason)
{
	uint32_t used = 0;

	for (uint32_t slot = 1; slot < vm->swap.pages; slot++) {
		const uint32_t owner = vm->swap.owners[slot];
		const uint32_t frame = vm->swap.frames[slot];

		used += owner != 0;
		if ((vm->swap.free_bits[slot / 64] >> slot % 64 & 1) == (owner != 0))
			return broken(reason, "a slot is free and owned, or neither");
		if (frame && (!owner || vm->pages[frame - 1].slot != slot))
			return broken(reason, "a slot in the swap cache is nobody's");
		if (owner && owner != VM_NONE && !frame && vm->ptes[owner - 1] != slot)
			return broken(reason, "a slot's owner does not know it");
	}
	return used == vm->swap.used ? SWS_OK : broken(reason, "other slots are used than counted");
}

static int verify_file(const struct sws_reclaim *vm, const char **reason)
{
	for (uint32_t i = 0; i < vm->file.pages; i++) {
		const uint32_t frame = vm->file.frames[i];
		const bool bit = vm->file.dirty_bits[i / 64] >> i % 64 & 1;

		if (frame && vm->pages[frame - 1].index != i)
			return broken(reason, "a page of the file is elsewhere");
		if (bit != (frame && vm_is(&vm->pages[frame - 1], VM_DIRTY)))
			return broken(reason, "the file has another page for dirty");
	}
	return SWS_OK;
}

static int verify_queue(const struct sws_reclaim *vm, const char **reason)
{
	for (uint32_t kind = VM_SYNC_WRITES; kind < VM_QUEUES; kind++) {
		const struct queue *queue = &vm->disk.queues[kind];

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
		for (uint32_t place = 0; place < VM_LISTS && !error; place++)
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
