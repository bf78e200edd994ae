/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reclaim/pages.c - the references to a page. An owner that exits while its page is in use leaves
 * an orphan, which has no owner, and a slot only while it is being written there:
 *
 *      isolated            the reclaimer returns it, which frees it
 *      under writeback     it is on no list; the end of the writeback frees it
 *      both                the last of the two frees it
 */
#include "reclaim/pages.h"

#include "reclaim/bits.h"
#include "reclaim/lists.h"

static bool is_busy(const struct page *page)
{
	return page_is(page, PAGE_WRITEBACK | PAGE_READING);
}

static void free_slot(struct sws_reclaim *self, uint32_t slot)
{
	self->swap.owners[slot] = 0;
	self->swap.frames[slot] = 0;
	set_bit(self->swap.free_bits, slot);
	self->swap.used--;
}

void sws_reclaim__leave_swap(struct sws_reclaim *self, uint32_t frame)
{
	struct page *page = &self->pages[frame];

	free_slot(self, page->slot);
	page->slot = 0;
	page_clear(page, PAGE_DIRTY);
}

void sws_reclaim__write_to(struct sws_reclaim *self, uint32_t frame)
{
	struct page *page = &self->pages[frame];

	self->ptes[page->index] |= PTE_WRITABLE;
	if (!page->slot)
		return;
	if (page_is(page, PAGE_WRITEBACK))
		page_set(page, PAGE_DIRTY);
	else
		sws_reclaim__leave_swap(self, frame);
}

void sws_reclaim__map(struct sws_reclaim *self, uint32_t index, uint32_t frame, bool writes)
{
	self->ptes[index] = PTE_PRESENT | PTE_YOUNG | frame;
	self->pages[frame].index = index;
	page_set(&self->pages[frame], PAGE_MAPPED);
	if (writes)
		sws_reclaim__write_to(self, frame);
}

bool sws_reclaim__was_touched(struct sws_reclaim *self, struct page *page)
{
	bool touched = page_is(page, PAGE_TOUCHED | PAGE_PROGRAM);

	page_clear(page, PAGE_TOUCHED);
	if (!page_is(page, PAGE_MAPPED) || page_is(page, PAGE_FILE))
		return touched;
	touched = (self->ptes[page->index] & PTE_YOUNG) != 0;
	self->ptes[page->index] &= ~PTE_YOUNG;
	return touched;
}

void sws_reclaim__unmap(struct sws_reclaim *self, uint32_t frame)
{
	struct page *page = &self->pages[frame];

	if (!page_is(page, PAGE_FILE))
		self->ptes[page->index] = page->slot;
	page_clear(page, PAGE_MAPPED);
}

/* Searches from the slot found last, cyclically; slot 0 is the header of the area. */
static uint32_t find_slot(struct sws_reclaim *self)
{
	struct swap *swap = &self->swap;

	if (!swap->pages || swap->used >= swap->pages - 1)
		return 0;
	swap->cursor = next_bit(swap->free_bits, swap->pages, swap->cursor + 1);
	if (swap->cursor == swap->pages)
		swap->cursor = next_bit(swap->free_bits, swap->pages, 1);
	return swap->cursor;
}

bool sws_reclaim__give_slot(struct sws_reclaim *self, uint32_t frame)
{
	struct page *page = &self->pages[frame];
	const uint32_t slot = find_slot(self);

	if (!slot)
		return false;
	clear_bit(self->swap.free_bits, slot);
	self->swap.owners[slot] = page->index + 1;
	self->swap.frames[slot] = frame + 1;
	self->swap.used++;
	page->slot = slot;
	page_set(page, PAGE_DIRTY);
	return true;
}

bool sws_reclaim__swap_is_full(const struct sws_reclaim *self)
{
	return (uint64_t)self->swap.used * 2 > self->swap.pages;
}

void sws_reclaim__file_add(struct sws_reclaim *self, uint32_t index, uint32_t frame)
{
	struct page *page = &self->pages[frame];
	struct file *file = &self->file;

	page->index = index;
	page_set(page, PAGE_FILE | PAGE_DIRTY | PAGE_REFERENCED);
	file->frames[index] = frame + 1;
	set_bit(file->dirty_bits, index);
	if (!file->dirty++)
		file->dirtied_ns = time_now(self);
	self->zones[zone_of(self, frame)].dirty++;
	self->counts.dirtied++;
}

void sws_reclaim__file_clean(struct sws_reclaim *self, uint32_t frame)
{
	struct page *page = &self->pages[frame];

	page_clear(page, PAGE_DIRTY);
	clear_bit(self->file.dirty_bits, page->index);
	self->file.dirty--;
	self->zones[zone_of(self, frame)].dirty--;
}

void sws_reclaim__start_writeback(struct sws_reclaim *self, uint32_t frame)
{
	struct page *page = &self->pages[frame];

	page_set(page, PAGE_WRITEBACK);
	self->zones[zone_of(self, frame)].writeback++;
	if (page_is(page, PAGE_FILE))
		self->file.writeback++;
}

/* Frees a page without an owner unless a reclaimer has isolated it. */
static void free_if_unused(struct sws_reclaim *self, uint32_t frame)
{
	struct page *page = &self->pages[frame];

	if (page->slot)
		sws_reclaim__leave_swap(self, frame);
	if (page->place == PLACE_DETACHED)
		sws_reclaim__frame_give(self, frame);
}

void sws_reclaim__end_writeback(struct sws_reclaim *self, uint32_t frame)
{
	struct page *page = &self->pages[frame];

	self->zones[zone_of(self, frame)].writeback--;
	if (page_is(page, PAGE_FILE))
		self->file.writeback--;
	if (page_is(page, PAGE_RECLAIM) && !page_is(page, PAGE_DIRTY))
		sws_reclaim__list_rotate(self, frame);
	page_clear(page, PAGE_WRITEBACK | PAGE_RECLAIM);
	if (page_is(page, PAGE_ORPHAN))
		free_if_unused(self, frame);
}

void sws_reclaim__end_reading(struct sws_reclaim *self, uint32_t frame)
{
	struct page *page = &self->pages[frame];

	page_clear(page, PAGE_READING);
	if (page_is(page, PAGE_ORPHAN))
		free_if_unused(self, frame);
}

void sws_reclaim__remove_mapping(struct sws_reclaim *self, uint32_t frame)
{
	struct page *page = &self->pages[frame];

	if (page_is(page, PAGE_FILE))
		self->file.frames[page->index] = 0;
	else
		self->swap.frames[page->slot] = 0;
}

/* Removes the owner; frees its slot unless the slot is being written or read. */
static void remove_owner(struct sws_reclaim *self, uint32_t frame)
{
	struct page *page = &self->pages[frame];
	const bool isolated = page->place == PLACE_ISOLATED;

	page_set(page, PAGE_ORPHAN);
	page_clear(page, PAGE_MAPPED);
	if (page->slot && is_busy(page))
		self->swap.owners[page->slot] = NO_FRAME;
	else if (page->slot)
		sws_reclaim__leave_swap(self, frame);
	if (isolated)
		return;
	sws_reclaim__list_remove(self, frame);
	if (is_busy(page))
		page->place = PLACE_DETACHED;
	else
		sws_reclaim__frame_give(self, frame);
}

void sws_reclaim__drop_entry(struct sws_reclaim *self, uint32_t index)
{
	const uint32_t entry = self->ptes[index];

	self->ptes[index] = 0;
	if (entry & PTE_PRESENT)
		remove_owner(self, entry & PTE_FRAME);
	else if (entry && self->swap.frames[entry])
		remove_owner(self, self->swap.frames[entry] - 1);
	else if (entry)
		free_slot(self, entry);
}

void sws_reclaim__drop_file_page(struct sws_reclaim *self, uint32_t index)
{
	const uint32_t frame = self->file.frames[index];

	self->file.frames[index] = 0;
	if (frame)
		remove_owner(self, frame - 1);
}

void sws_reclaim__return_orphan(struct sws_reclaim *self, uint32_t frame)
{
	if (is_busy(&self->pages[frame]))
		self->pages[frame].place = PLACE_DETACHED;
	else
		sws_reclaim__frame_give(self, frame);
}
