/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reclaim/pages.h - the references to a page and their life: pool, file, swap, writeback. */
#ifndef SWAPSIM_RECLAIM_PAGES_H
#define SWAPSIM_RECLAIM_PAGES_H

#include "reclaim/layout.h"

/* Maps a page of the pool; a page that is written to gives up its slot. */
void sws_reclaim__map(struct sws_reclaim *self, uint32_t index, uint32_t frame, bool writes);

/*
 * Handles a write to a page: frees its slot, or dirties the page while its slot is being written.
 */
void sws_reclaim__write_to(struct sws_reclaim *self, uint32_t frame);

/*
 * page_referenced: returns true if the page was touched through a page table since the last test. A
 * page of the writer's file never was, because it is not mapped.
 */
bool sws_reclaim__was_touched(struct sws_reclaim *self, struct page *page);

/* Unmaps a page of a program, or a page with a slot; the client's entry then holds the slot. */
void sws_reclaim__unmap(struct sws_reclaim *self, uint32_t frame);

/* add_to_swap: allocates a slot and dirties the page; returns false if no slot is free. */
bool sws_reclaim__give_slot(struct sws_reclaim *self, uint32_t frame);

/* Returns true if more than half of the swap area is in use. */
bool sws_reclaim__swap_is_full(const struct sws_reclaim *self);

/* Frees the slot of a mapped page in the swap cache. */
void sws_reclaim__leave_swap(struct sws_reclaim *self, uint32_t frame);

/* Adds a dirty page to the file at an index. */
void sws_reclaim__file_add(struct sws_reclaim *self, uint32_t index, uint32_t frame);
void sws_reclaim__file_clean(struct sws_reclaim *self, uint32_t frame);

void sws_reclaim__start_writeback(struct sws_reclaim *self, uint32_t frame);

/*
 * Ends the writeback of a page: a page marked for reclaim goes to the tail of its list, an orphan
 * is freed.
 */
void sws_reclaim__end_writeback(struct sws_reclaim *self, uint32_t frame);
void sws_reclaim__end_reading(struct sws_reclaim *self, uint32_t frame);
/* Clears the dirty state of a page of the file, for its writeback. */

/* __remove_mapping: removes the reference of its owner to an isolated page. */
void sws_reclaim__remove_mapping(struct sws_reclaim *self, uint32_t frame);

/* Ends the read of a page. */
/* Clears an entry of the client's page table at its exit, with its page and its slot. */
void sws_reclaim__drop_entry(struct sws_reclaim *self, uint32_t index);

/* Removes a page of the deleted file. */
void sws_reclaim__drop_file_page(struct sws_reclaim *self, uint32_t index);

/* Returns an orphan that a reclaimer had isolated. */
void sws_reclaim__return_orphan(struct sws_reclaim *self, uint32_t frame);

#endif
