/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vm/pages.c - what points to a page. An owner that goes while the page is in use leaves an
 * orphan, which has no owner, and a slot only while it is written there:
 *
 *      isolated            the reclaimer gives it back, which frees it
 *      under writeback     it drifts on no list; the end of writeback frees it
 *      both                whoever lets go last
 */
#include "reclaim/pages.h"

#include "reclaim/bits.h"
#include "reclaim/lists.h"

static bool is_busy(const struct page *page)
{
	return vm_is(page, VM_WRITEBACK | VM_READING);
}

static void free_slot(struct sws_reclaim *vm, uint32_t slot)
{
	vm->swap.owners[slot] = 0;
	vm->swap.frames[slot] = 0;
	vm_set_bit(vm->swap.free_bits, slot);
	vm->swap.used--;
}

void sws_reclaim__leave_swap(struct sws_reclaim *vm, uint32_t frame)
{
	struct page *page = &vm->pages[frame];

	free_slot(vm, page->slot);
	page->slot = 0;
	vm_clear(page, VM_DIRTY);
}

void sws_reclaim__write_to(struct sws_reclaim *vm, uint32_t frame)
{
	struct page *page = &vm->pages[frame];

	vm->ptes[page->index] |= VM_PTE_WRITABLE;
	if (!page->slot)
		return;
	if (vm_is(page, VM_WRITEBACK))
		vm_set(page, VM_DIRTY);
	else
		sws_reclaim__leave_swap(vm, frame);
}

void sws_reclaim__map(struct sws_reclaim *vm, uint32_t index, uint32_t frame, bool writes)
{
	vm->ptes[index] = VM_PTE_PRESENT | VM_PTE_YOUNG | frame;
	vm->pages[frame].index = index;
	vm_set(&vm->pages[frame], VM_MAPPED);
	if (writes)
		sws_reclaim__write_to(vm, frame);
}

bool sws_reclaim__was_touched(struct sws_reclaim *vm, const struct page *page)
{
	uint32_t *entry = vm_is(page, VM_MAPPED) ? &vm->ptes[page->index] : NULL;

	if (!entry || !(*entry & VM_PTE_YOUNG))
		return vm_is(page, VM_PROGRAM);
	*entry &= ~VM_PTE_YOUNG;
	return true;
}

void sws_reclaim__unmap(struct sws_reclaim *vm, uint32_t frame)
{
	struct page *page = &vm->pages[frame];

	vm->ptes[page->index] = page->slot;
	vm_clear(page, VM_MAPPED);
}

/* From where the last one was found, around; slot 0 is the area's header. */
static uint32_t find_slot(struct sws_reclaim *vm)
{
	struct swap *swap = &vm->swap;

	if (!swap->pages || swap->used >= swap->pages - 1)
		return 0;
	swap->cursor = vm_next_bit(swap->free_bits, swap->pages, swap->cursor + 1);
	if (swap->cursor == swap->pages)
		swap->cursor = vm_next_bit(swap->free_bits, swap->pages, 1);
	return swap->cursor;
}

bool sws_reclaim__give_slot(struct sws_reclaim *vm, uint32_t frame)
{
	struct page *page = &vm->pages[frame];
	const uint32_t slot = find_slot(vm);

	if (!slot)
		return false;
	vm_clear_bit(vm->swap.free_bits, slot);
	vm->swap.owners[slot] = page->index + 1;
	vm->swap.frames[slot] = frame + 1;
	vm->swap.used++;
	page->slot = slot;
	vm_set(page, VM_DIRTY);
	return true;
}

bool sws_reclaim__swap_is_full(const struct sws_reclaim *vm)
{
	return (uint64_t)vm->swap.used * 2 > vm->swap.pages;
}

void sws_reclaim__file_add(struct sws_reclaim *vm, uint32_t index, uint32_t frame)
{
	struct page *page = &vm->pages[frame];
	struct file *file = &vm->file;

	page->index = index;
	vm_set(page, VM_FILE | VM_DIRTY | VM_REFERENCED);
	file->frames[index] = frame + 1;
	vm_set_bit(file->dirty_bits, index);
	if (!file->dirty++)
		file->dirtied_ns = vm_now(vm);
	vm->zones[vm_zone_of(vm, frame)].dirty++;
	vm->counts.dirtied++;
}

void sws_reclaim__file_clean(struct sws_reclaim *vm, uint32_t frame)
{
	struct page *page = &vm->pages[frame];

	vm_clear(page, VM_DIRTY);
	vm_clear_bit(vm->file.dirty_bits, page->index);
	vm->file.dirty--;
	vm->zones[vm_zone_of(vm, frame)].dirty--;
}

void sws_reclaim__start_writeback(struct sws_reclaim *vm, uint32_t frame)
{
	struct page *page = &vm->pages[frame];

	vm_set(page, VM_WRITEBACK);
	vm->zones[vm_zone_of(vm, frame)].writeback++;
	if (vm_is(page, VM_FILE))
		vm->file.writeback++;
}

/* Its last user but perhaps a reclaimer is gone. */
static void come_ashore(struct sws_reclaim *vm, uint32_t frame)
{
	struct page *page = &vm->pages[frame];

	if (page->slot)
		sws_reclaim__leave_swap(vm, frame);
	if (page->place == VM_ADRIFT)
		sws_reclaim__frame_give(vm, frame);
}

void sws_reclaim__end_writeback(struct sws_reclaim *vm, uint32_t frame)
{
	struct page *page = &vm->pages[frame];

	vm->zones[vm_zone_of(vm, frame)].writeback--;
	if (vm_is(page, VM_FILE))
		vm->file.writeback--;
	if (vm_is(page, VM_RECLAIM) && !vm_is(page, VM_DIRTY))
		sws_reclaim__list_rotate(vm, frame);
	vm_clear(page, VM_WRITEBACK | VM_RECLAIM);
	if (vm_is(page, VM_ORPHAN))
		come_ashore(vm, frame);
}

void sws_reclaim__end_reading(struct sws_reclaim *vm, uint32_t frame)
{
	struct page *page = &vm->pages[frame];

	vm_clear(page, VM_READING);
	if (vm_is(page, VM_ORPHAN))
		come_ashore(vm, frame);
}

void sws_reclaim__forget(struct sws_reclaim *vm, uint32_t frame)
{
	struct page *page = &vm->pages[frame];

	if (vm_is(page, VM_FILE))
		vm->file.frames[page->index] = 0;
	else
		vm->swap.frames[page->slot] = 0;
}

/* The owner is gone; its slot goes with it unless it is being written or read. */
static void abandon(struct sws_reclaim *vm, uint32_t frame)
{
	struct page *page = &vm->pages[frame];
	const bool isolated = page->place == VM_ISOLATED;

	vm_set(page, VM_ORPHAN);
	vm_clear(page, VM_MAPPED);
	if (page->slot && is_busy(page))
		vm->swap.owners[page->slot] = VM_NONE;
	else if (page->slot)
		sws_reclaim__leave_swap(vm, frame);
	if (isolated)
		return;
	sws_reclaim__list_remove(vm, frame);
	if (is_busy(page))
		page->place = VM_ADRIFT;
	else
		sws_reclaim__frame_give(vm, frame);
}

void sws_reclaim__drop_entry(struct sws_reclaim *vm, uint32_t index)
{
	const uint32_t entry = vm->ptes[index];

	vm->ptes[index] = 0;
	if (entry & VM_PTE_PRESENT)
		abandon(vm, entry & VM_PTE_FRAME);
	else if (entry && vm->swap.frames[entry])
		abandon(vm, vm->swap.frames[entry] - 1);
	else if (entry)
		free_slot(vm, entry);
}

void sws_reclaim__drop_file_page(struct sws_reclaim *vm, uint32_t index)
{
	const uint32_t frame = vm->file.frames[index];

	vm->file.frames[index] = 0;
	if (frame)
		abandon(vm, frame - 1);
}

void sws_reclaim__let_go(struct sws_reclaim *vm, uint32_t frame)
{
	if (is_busy(&vm->pages[frame]))
		vm->pages[frame].place = VM_ADRIFT;
	else
		sws_reclaim__frame_give(vm, frame);
}
