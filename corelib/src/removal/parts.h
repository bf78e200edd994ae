/* SPDX-License-Identifier: GPL-2.0-or-later */
/* removal/parts.h - what the sources of removal.h share: its lists, and the steps on them. */
#ifndef SWAPSIM_REMOVAL_PARTS_H
#define SWAPSIM_REMOVAL_PARTS_H

#include "swapsim/removal.h"

/* Pages linked by next. */
struct removal_list {
	struct sws_removal_page *head;
	struct sws_removal_page *tail;
};

/* What differs between the two ways; the same code runs for both. */
struct removal_rules {
	/* The page met last is removed first. */
	bool newest_first;
	/* One hold removes all that wait for its mapping. */
	bool whole_mapping;
	/* PGLAZYFREED is bumped at queueing, whatever becomes of the page. */
	bool counts_queued;
};

/*
 * A page is on one list at a time, all of them linked by the same field, as by page->lru:
 *
 *      waiting --hold--> due_slots, due_files --settle--> freed --take_freed--> its owner
 *         |     `------- a file page without freepage ----^
 *         `----hold----> kept --take_kept--> its owner
 */
struct sws_removal {
	struct sws_allocator allocator;
	/* Borrowed. */
	struct sws_mappings *mappings;
	const struct removal_rules *rules;
	struct removal_list waiting;
	struct removal_list due_slots;
	struct removal_list due_files;
	/* The next to be settled, on either of them. */
	struct sws_removal_page *due;
	struct removal_list freed;
	struct removal_list kept;
	struct sws_removal_counts counts;
	/* For lists that come as columns: */
	bool brings_pages;
	uint32_t list_pages;
	/* Room for one list. */
	struct sws_removal_page *pages;
	/* Hash of (mapping, index): a page's place on the list + 1; 0: a hole. */
	uint32_t *places;
	/* Of as many slots as the list at hand needs. */
	uint32_t places_mask;
};

/* A page, as against a shadow or nothing. */
static inline bool removal_is_folio(uint64_t item)
{
	return item && !(item & 1);
}

/* The slots of the hash for a list: a power of two, at most half full. 3: 8, 32: 64, 512: 1024. */
static inline uint32_t removal_places(uint32_t list_pages)
{
	uint32_t places = 2;

	while (places < 2 * list_pages)
		places *= 2;
	return places;
}

/* removal.c: as sws_removal_queue, for a page that was checked. */
void sws_removal__push(struct sws_removal *self, struct sws_removal_page *page);

#endif
