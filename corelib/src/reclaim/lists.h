/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vm/lists.h - frames on the lists of their zone, and free frames. */
#ifndef SWAPSIM_RECLAIM_LISTS_H
#define SWAPSIM_RECLAIM_LISTS_H

#include "reclaim/layout.h"

/* Puts a page that is on no list at the head of one, where the youngest are. */
void sws_reclaim__list_add(struct sws_reclaim *vm, uint32_t frame, enum vm_place place);

/* Takes a page off its list; it is isolated then. */
void sws_reclaim__list_remove(struct sws_reclaim *vm, uint32_t frame);

/* rotate_reclaimable_page: a page of an inactive list goes to its tail, to be met next. */
void sws_reclaim__list_rotate(struct sws_reclaim *vm, uint32_t frame);

static inline uint32_t vm_list_pages(const struct sws_reclaim *vm, uint32_t zone,
				     enum vm_place place)
{
	return vm->lrus[zone].lists[place].n;
}

/* A free page of a zone, isolated, without owner and flags. The zone must have one. */
uint32_t sws_reclaim__frame_take(struct sws_reclaim *vm, uint32_t zone);

/* A page that has no owner any more, isolated, and no writeback, is free. */
void sws_reclaim__frame_give(struct sws_reclaim *vm, uint32_t frame);

#endif
