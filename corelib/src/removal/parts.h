/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * removal/parts.h - declarations that the sources of removal.h share: the lists and steps on them.
 */
#ifndef SWAPSIM_REMOVAL_PARTS_H
#define SWAPSIM_REMOVAL_PARTS_H

#include "swapsim/removal.h"

/* Pages linked by next. */
struct removal_list {
	struct sws_removal_page *head;
	struct sws_removal_page *tail;
};

/* The differences between the two modes, which share their code. */
struct removal_rules {
	/* True if the page queued last is removed first. */
	bool newest_first;
	/* True if one hold removes all queued pages of its mapping. */
	bool whole_mapping;
	/* True if PGLAZYFREED is incremented at queueing, whatever the result for the page is. */
	bool counts_queued;
};

/*
 * A page is on one list at a time; all lists use the same link, as page->lru:
 *
 *      waiting --hold--> due_slots, due_files --settle--> freed --take_freed--> its owner
 *         |     `------- a file page without freepage ----^
 *         `----hold----> kept --take_kept--> its owner
 */
struct sws_removal {
	struct sws_allocator allocator;
	/* Belongs to the caller. */
	struct sws_mappings *mappings;
	const struct removal_rules *rules;
	struct removal_list waiting;
	struct removal_list due_slots;
	struct removal_list due_files;
	/* The next page to be settled, on either list. */
	struct sws_removal_page *due;
	struct removal_list freed;
	struct removal_list kept;
	struct sws_removal_counts counts;
	/* For lists in columns: */
	bool brings_pages;
	uint32_t list_pages;
	/* Buffer for one list. */
	struct sws_removal_page *pages;
	/* Hash of (mapping, index): a page's place on the list + 1; 0 for an empty slot. */
	uint32_t *places;
	/* The slots that the current list uses, minus 1. */
	uint32_t places_mask;
};

/* Returns true for a page, false for a shadow or an empty entry. */
static inline bool removal_is_folio(uint64_t item)
{
	return item && !(item & 1);
}

/*
 * Returns the slots of the hash for a list: a power of two, at most half full. 3: 8, 32: 64, 512:
 * 1024.
 */
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
