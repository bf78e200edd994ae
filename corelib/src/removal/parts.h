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
	/*
	 * The pages that are waiting or kept, by a hash of (mapping, index), linked by same_hash: two
	 * records of one page would both be counted as removed.
	 */
	struct sws_removal_page **buckets;
	uint32_t buckets_mask;
	struct sws_removal_counts counts;
	/* For lists in columns: */
	bool brings_pages;
	uint32_t list_pages;
	/* Buffer for one list. */
	struct sws_removal_page *pages;
};

/* Returns true for a page, false for a shadow or an empty entry. */
static inline bool removal_is_folio(uint64_t item)
{
	return item && !(item & 1);
}

static inline struct sws_removal_page **removal_bucket(const struct sws_removal *self,
						       const struct sws_removal_page *page)
{
	const uint64_t mixed =
		(page->index + ((uint64_t)page->mapping << 40)) * UINT64_C(0x9e3779b97f4a7c15);

	return &self->buckets[(uint32_t)(mixed >> 32) & self->buckets_mask];
}

/* Returns the record that is held for a page; NULL for none. */
static inline struct sws_removal_page *removal_held(const struct sws_removal *self,
						    const struct sws_removal_page *page)
{
	struct sws_removal_page *held = *removal_bucket(self, page);

	while (held && (held->index != page->index || held->mapping != page->mapping))
		held = held->same_hash;
	return held;
}

/* Returns the link that leads to a record that is held. */
static inline struct sws_removal_page **removal_link(const struct sws_removal *self,
						     const struct sws_removal_page *page)
{
	struct sws_removal_page **link = removal_bucket(self, page);

	while (*link && *link != page)
		link = &(*link)->same_hash;
	return link;
}

/* removal.c: the two parts of sws_removal_queue, for a page that was checked, and the undoing of the first. */
void sws_removal__hold_page(struct sws_removal *self, struct sws_removal_page *page);
void sws_removal__let_go(struct sws_removal *self, struct sws_removal_page *page);
void sws_removal__push(struct sws_removal *self, struct sws_removal_page *page);

#endif
