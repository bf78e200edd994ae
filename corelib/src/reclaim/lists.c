/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vm/lists.c - frames on lists. Head is where pages come, tail is where reclaim takes them:
 *
 *      head  7 > 3 > 9  tail       next leads to the tail, previous to the head
 *
 * Free frames of a zone are a stack through next: the one freed last is given out first. Below
 * it lie those that nobody had yet, in their order, which no record tells of.
 */
#include "reclaim/lists.h"

static struct list *list_of(struct sws_reclaim *vm, uint32_t frame, enum vm_place place)
{
	return &vm->lrus[vm_zone_of(vm, frame)].lists[place];
}

void sws_reclaim__list_add(struct sws_reclaim *vm, uint32_t frame, enum vm_place place)
{
	struct list *list = list_of(vm, frame, place);
	struct page *page = &vm->pages[frame];

	page->place = (uint8_t)place;
	page->previous = VM_NONE;
	page->next = list->head;
	if (list->head != VM_NONE)
		vm->pages[list->head].previous = frame;
	else
		list->tail = frame;
	list->head = frame;
	list->n++;
}

void sws_reclaim__list_remove(struct sws_reclaim *vm, uint32_t frame)
{
	struct page *page = &vm->pages[frame];
	struct list *list = list_of(vm, frame, (enum vm_place)page->place);

	if (page->previous != VM_NONE)
		vm->pages[page->previous].next = page->next;
	else
		list->head = page->next;
	if (page->next != VM_NONE)
		vm->pages[page->next].previous = page->previous;
	else
		list->tail = page->previous;
	list->n--;
	page->place = VM_ISOLATED;
}

static void add_at_tail(struct sws_reclaim *vm, uint32_t frame, enum vm_place place)
{
	struct list *list = list_of(vm, frame, place);
	struct page *page = &vm->pages[frame];

	page->place = (uint8_t)place;
	page->next = VM_NONE;
	page->previous = list->tail;
	if (list->tail != VM_NONE)
		vm->pages[list->tail].next = frame;
	else
		list->head = frame;
	list->tail = frame;
	list->n++;
}

void sws_reclaim__list_rotate(struct sws_reclaim *vm, uint32_t frame)
{
	const enum vm_place place = (enum vm_place)vm->pages[frame].place;

	if (place != VM_INACTIVE_ANON && place != VM_INACTIVE_FILE)
		return;
	sws_reclaim__list_remove(vm, frame);
	add_at_tail(vm, frame, place);
}

uint32_t sws_reclaim__frame_take(struct sws_reclaim *vm, uint32_t zone)
{
	struct zone *its = &vm->zones[zone];
	const uint32_t frame =
		its->free_head == VM_NONE ? its->first + its->used++ : its->free_head;

	if (its->free_head != VM_NONE)
		its->free_head = vm->pages[frame].next;
	its->free--;
	vm->pages[frame] = (struct page){ .place = VM_ISOLATED };
	return frame;
}

void sws_reclaim__frame_give(struct sws_reclaim *vm, uint32_t frame)
{
	struct zone *its = &vm->zones[vm_zone_of(vm, frame)];

	vm->pages[frame] = (struct page){ .place = VM_FREE, .next = its->free_head };
	its->free_head = frame;
	its->free++;
	its->pages_scanned = 0;
	its->unreclaimable = false;
}
