/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reclaim/lists.h - frames on the lists of their zone, and free frames. */
#ifndef SWAPSIM_RECLAIM_LISTS_H
#define SWAPSIM_RECLAIM_LISTS_H

#include "reclaim/layout.h"

/* Adds a page that is on no list to the head of a list. */
void sws_reclaim__list_add(struct sws_reclaim *self, uint32_t frame, enum page_place place);

/* Removes a page from its list; it is isolated afterwards. */
void sws_reclaim__list_remove(struct sws_reclaim *self, uint32_t frame);

/*
 * rotate_reclaimable_page: moves a page of an inactive list to the tail, where it is scanned next.
 */
void sws_reclaim__list_rotate(struct sws_reclaim *self, uint32_t frame);

static inline uint32_t list_pages_of(const struct sws_reclaim *self, uint32_t zone,
				     enum page_place place)
{
	return self->lrus[zone].lists[place].n;
}

/* Allocates a frame of a zone that has one; it is isolated, without an owner and flags. */
uint32_t sws_reclaim__frame_take(struct sws_reclaim *self, uint32_t zone);

/* Frees an isolated frame that has no owner and is not under writeback. */
void sws_reclaim__frame_give(struct sws_reclaim *self, uint32_t frame);

#endif
