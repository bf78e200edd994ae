/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vm/pages.h - what points to a page, and what becomes of both: pool, file, swap, writeback. */
#ifndef SWAPSIM_RECLAIM_PAGES_H
#define SWAPSIM_RECLAIM_PAGES_H

#include "reclaim/layout.h"

/* A page of the pool comes into the page table; one that is written to takes leave of its slot. */
void sws_reclaim__map(struct sws_reclaim *vm, uint32_t index, uint32_t frame, bool writes);

/* A page is written to: its slot is given back, or, while it is written there, it is dirty again. */
void sws_reclaim__write_to(struct sws_reclaim *vm, uint32_t frame);

/*
 * page_referenced: was it touched through a page table since the last look? A program's page was,
 * one of the file never: nobody maps it.
 */
bool sws_reclaim__was_touched(struct sws_reclaim *vm, const struct page *page);

/* A page with a slot leaves the page table: the entry names the slot. */
void sws_reclaim__unmap(struct sws_reclaim *vm, uint32_t frame);

/* add_to_swap: an anonymous page gets a slot and is dirty; false if there is none. */
bool sws_reclaim__give_slot(struct sws_reclaim *vm, uint32_t frame);

/* More than half of the swap area is used. */
bool sws_reclaim__swap_is_full(const struct sws_reclaim *vm);

/* A page in the swap cache gives its slot back; it is in the page table. */
void sws_reclaim__leave_swap(struct sws_reclaim *vm, uint32_t frame);

/* The file gets a page at an index, dirty; and loses its dirtiness to whoever writes it. */
void sws_reclaim__file_add(struct sws_reclaim *vm, uint32_t index, uint32_t frame);
void sws_reclaim__file_clean(struct sws_reclaim *vm, uint32_t frame);

void sws_reclaim__start_writeback(struct sws_reclaim *vm, uint32_t frame);

/* A marked page goes to the tail of its list, an orphan is free. */
void sws_reclaim__end_writeback(struct sws_reclaim *vm, uint32_t frame);
void sws_reclaim__end_reading(struct sws_reclaim *vm, uint32_t frame);

/* __remove_mapping: what points to an isolated page forgets it. */
void sws_reclaim__forget(struct sws_reclaim *vm, uint32_t frame);

/* The client exits: an entry of its page table is cleared, with its page and its slot. */
void sws_reclaim__drop_entry(struct sws_reclaim *vm, uint32_t index);

/* The file is deleted. */
void sws_reclaim__drop_file_page(struct sws_reclaim *vm, uint32_t index);

/* A reclaimer lets go of an orphan. */
void sws_reclaim__let_go(struct sws_reclaim *vm, uint32_t frame);

#endif
