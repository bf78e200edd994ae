/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reclaim/lists.c - frames on lists. Pages are added at the head; reclaim isolates from the tail:
 *
 *      head  7 > 3 > 9  tail       next leads to the tail, previous to the head
 *
 * The free frames of a zone are a stack through next: the frame freed last is allocated first.
 * Below them are the frames that were never allocated, in their order; their records are not
 * written yet.
 */
#include "reclaim/lists.h"

static struct list *list_of(struct sws_reclaim *self, uint32_t frame, enum page_place place)
{
	return &self->lrus[zone_of(self, frame)].lists[place];
}

void sws_reclaim__list_add(struct sws_reclaim *self, uint32_t frame, enum page_place place)
{
	struct list *list = list_of(self, frame, place);
	struct page *page = &self->pages[frame];

	page->place = (uint8_t)place;
	page->previous = NO_FRAME;
	page->next = list->head;
	if (list->head != NO_FRAME)
		self->pages[list->head].previous = frame;
	else
		list->tail = frame;
	list->head = frame;
	list->n++;
}

void sws_reclaim__list_remove(struct sws_reclaim *self, uint32_t frame)
{
	struct page *page = &self->pages[frame];
	struct list *list = list_of(self, frame, (enum page_place)page->place);

	if (page->previous != NO_FRAME)
		self->pages[page->previous].next = page->next;
	else
		list->head = page->next;
	if (page->next != NO_FRAME)
		self->pages[page->next].previous = page->previous;
	else
		list->tail = page->previous;
	list->n--;
	page->place = PLACE_ISOLATED;
}

static void add_at_tail(struct sws_reclaim *self, uint32_t frame, enum page_place place)
{
	struct list *list = list_of(self, frame, place);
	struct page *page = &self->pages[frame];

	page->place = (uint8_t)place;
	page->next = NO_FRAME;
	page->previous = list->tail;
	if (list->tail != NO_FRAME)
		self->pages[list->tail].next = frame;
	else
		list->head = frame;
	list->tail = frame;
	list->n++;
}

void sws_reclaim__list_rotate(struct sws_reclaim *self, uint32_t frame)
{
	const enum page_place place = (enum page_place)self->pages[frame].place;

	if (place != LRU_INACTIVE_ANON && place != LRU_INACTIVE_FILE)
		return;
	sws_reclaim__list_remove(self, frame);
	add_at_tail(self, frame, place);
}

uint32_t sws_reclaim__frame_take(struct sws_reclaim *self, uint32_t zone)
{
	struct zone *its = &self->zones[zone];
	const uint32_t frame =
		its->free_head == NO_FRAME ? its->first + its->used++ : its->free_head;

	if (its->free_head != NO_FRAME)
		its->free_head = self->pages[frame].next;
	its->free--;
	self->pages[frame] = (struct page){ .place = PLACE_ISOLATED };
	return frame;
}

void sws_reclaim__frame_give(struct sws_reclaim *self, uint32_t frame)
{
	struct zone *its = &self->zones[zone_of(self, frame)];

	self->pages[frame] = (struct page){ .place = PLACE_FREE, .next = its->free_head };
	its->free_head = frame;
	its->free++;
	its->pages_scanned = 0;
	its->unreclaimable = false;
}
