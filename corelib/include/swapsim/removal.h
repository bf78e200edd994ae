/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * removal.h - reclaim takes the pages of a list out of their mappings: page by
 * page, each under a hold of its own, or all pages of a mapping under one.
 *
 * Models, in mm/vmscan.c of 4.8
 *   page by page   __remove_mapping as shrink_page_list calls it; 6.1's row of
 *                  the tree work is that of shrink_folio_list
 *   batched        patch B (RFC of 9 September 2016, never merged):
 *                  remove_mapping_list and finalise_remove_mapping_list
 *   single         remove_mapping, for callers outside of reclaim
 *
 * shrink_page_list meets A1 B1 A2 C1 A3, where A, B and C are mappings. Page by
 * page that is five holds of one removal. Batched, the pages wait, still locked,
 * at the head of a list, and are removed when the walk over the others is over:
 *
 *      met last                met first
 *        A3   C1   A2   B1   A1       the first names the mapping: lock A
 *        x    .    x    .    x        A3 A2 A1 removed, C1 B1 passed over
 *                                     unlock A; slots of A1 A2 A3 freed
 *             C1        B1            lock C, C1 removed, B1 passed over, unlock C
 *                       B1            lock B, B1 removed, unlock B
 *
 * So a call takes as many holds as there are mappings on its list, and passes
 * over what belongs to later ones while it holds the lock of an earlier one.
 *
 *   part             lock                      work under it
 *   queue            none (the page's own)     -
 *   hold             the mapping's, once       page by page: one removal; batched:
 *                                              all of its mapping, the rest passed over
 *   settle, a slot   none of the mapping's     the cache's reference of the slot is
 *                                              dropped (si->lock in 4.8: slots.h)
 *   settle, a file   none                      the filesystem's freepage
 *   single           the mapping's, once       one removal
 *
 * One removal is one descent of the tree (mapping.h), and fails without touching
 * it if the page has a reference besides the mapping's and reclaim's own, or is
 * dirty. A page that failed is unlocked and given back; one that was removed is
 * unlocked, has no reference left and is free once it is settled.
 *
 * The counter PGLAZYFREED is bumped when a page leaves by MADV_FREE. Batched it
 * is bumped when such a page is queued, so a removal that fails counts as well.
 *
 * Kept: which pages are removed, under which hold and in which order; the order
 * of the lists of freed and of kept pages, each page going to the head; locks
 * and references of pages; slots and freepage after the lock is dropped; the
 * shadows that reclaim leaves, by kernel. Dropped: memory cgroups, huge pages,
 * mappings on their way out or of DAX (they take no shadow), TLB flush and the
 * freeing of pages; that a mapping has one freepage for all its pages.
 */
#ifndef SWAPSIM_REMOVAL_H
#define SWAPSIM_REMOVAL_H

#include "swapsim/core.h"
#include "swapsim/mapping.h"

/* ffi: begin */

/* When pages are removed. */
enum sws_removal_way {
	SWS_REMOVAL_PAGE_BY_PAGE = 0,
	SWS_REMOVAL_BATCHED = 1, /* with patch B */
};

enum {
	SWS_REMOVAL_REFERENCES = 2, /* of a page that can be removed: the mapping's and reclaim's */
	SWS_REMOVAL_LIST_MAX = 65536, /* pages of a list that comes as columns */
};

/* The mapping of a page that has none. */
#define SWS_REMOVAL_NO_MAPPING 0xffffffffu

/* Which list a page is on. */
enum sws_removal_state {
	SWS_REMOVAL_ISOLATED = 0, /* none: it is its owner's */
	SWS_REMOVAL_WAITING = 1, /* queued, locked */
	SWS_REMOVAL_DUE = 2, /* removed; its slot or its freepage is still to come */
	SWS_REMOVAL_FREED = 3,
	SWS_REMOVAL_KEPT = 4,
};

/*
 * A page that reclaim has isolated. The caller's memory: borrowed from queue to
 * take. Two of these for one page are the caller's mistake, which a mechanism
 * that is led in parts cannot see.
 */
struct sws_removal_page {
	/* page->lru: towards the tail of the list that it is on. */
	struct sws_removal_page *next;
	/* In its mapping; of a swap page the slot. */
	uint64_t index;
	/* page_private of a swap page: its slot, until that is freed; 0 for a file page. */
	uint64_t entry;
	/* A number of mapping.h; SWS_REMOVAL_NO_MAPPING once removed. */
	uint32_t mapping;
	uint32_t references;
	bool locked;
	bool dirty;
	/* Does its mapping have the callback? */
	bool freepage;
	/* By MADV_FREE: it leaves without having been written. */
	bool lazyfree;
	/* enum sws_removal_state; ISOLATED when it is queued. */
	uint8_t state;
};

/* Why a page cannot be queued, or a list not be taken. */
enum sws_removal_problem {
	SWS_REMOVAL_NO_PROBLEM = 0,
	SWS_REMOVAL_EMPTY_LIST = 1,
	SWS_REMOVAL_LIST_TOO_LONG = 2,
	SWS_REMOVAL_TWICE = 3, /* the page is on a list already */
	SWS_REMOVAL_NOT_LOCKED = 4,
	SWS_REMOVAL_HAS_NO_MAPPING = 5,
	SWS_REMOVAL_NOT_IN_TREE = 6, /* its mapping has no page at its index */
	SWS_REMOVAL_WRONG_ENTRY = 7, /* not its slot, slot 0, or that of a file page */
};

struct sws_removal_config {
	/* When pages are removed; default batched. */
	enum sws_removal_way way;
	/* For sws_removal_lists, pages of one list at most: 1 .. SWS_REMOVAL_LIST_MAX; default 512. */
	uint32_t list_pages;
	/* For sws_removal_lists: are pages that their tree lacks put there first? default false */
	bool brings_pages;
	/* NULL: libc. */
	const struct sws_allocator *allocator;
};

/* What was done under one hold of one mapping's lock. */
struct sws_removal_hold {
	/* In sws_removal_lists the list's number, else 0. */
	uint64_t list;
	uint32_t mapping;
	uint32_t removed;
	uint32_t failed;
	/* Pages of other mappings that the walk met. */
	uint32_t passed_over;
	struct sws_rtree_work tree;
};

/* What all calls have done. */
struct sws_removal_counts {
	uint64_t holds;
	/* Pages removed from reclaim's lists: nr_reclaimed. */
	uint64_t reclaimed;
	uint64_t failed;
	/* PGLAZYFREED. */
	uint64_t lazyfreed;
	/* References of the swap cache to slots that were dropped. */
	uint64_t slots_freed;
	/* Calls of a filesystem's freepage. */
	uint64_t freepages;
};

struct sws_removal;

/* Writes every default. */
void sws_removal_config_init(struct sws_removal_config *config);

/*
 * Makes the lists of one reclaimer, empty, over mappings that stay the caller's and
 * outlive them. The caller frees it. Returns SWS_ERROR_BAD_CONFIG, SWS_ERROR_NO_MEMORY.
 */
int sws_removal_new(const struct sws_removal_config *config, struct sws_mappings *mappings,
		    struct sws_removal **out);

/* Frees the lists, not the pages on them; takes NULL. */
void sws_removal_free(struct sws_removal *self);

/* What keeps a page from being queued: the first problem that holds, or NO_PROBLEM. */
enum sws_removal_problem sws_removal_check(const struct sws_removal *self,
					   const struct sws_removal_page *page);

/*
 * Puts a page on the list of those that wait. Models: list_add to mapping_pages.
 * Complexity: O(1) beside one look into the tree. Locks: none.
 * Returns SWS_ERROR_BAD_ARGUMENT for a page that sws_removal_check has a problem with.
 */
int sws_removal_queue(struct sws_removal *self, struct sws_removal_page *page);

/* The mapping whose lock the next hold takes; false when no page waits. */
bool sws_removal_next(const struct sws_removal *self, uint32_t *mapping);

/*
 * The part under the lock of that mapping, and what was done there. Pages that
 * failed are kept; of those removed, swap pages and pages with freepage are due.
 * Locks: the mapping's, once. Complexity: O(pages that wait); page by page O(1).
 * Returns SWS_ERROR_BAD_ARGUMENT when no page waits, or one is still due.
 */
int sws_removal_hold(struct sws_removal *self, struct sws_removal_hold *hold);

/* The next page that is due, its entry still there; NULL when none is. Owner: the caller's. */
const struct sws_removal_page *sws_removal_due(const struct sws_removal *self);

/*
 * Frees the slot of the page that is due, or calls freepage: swap pages first, each
 * sort in the order in which the pages were met. Models: finalise_remove_mapping_list.
 * Locks: none of a mapping. Returns SWS_ERROR_BAD_ARGUMENT when no page is due.
 */
int sws_removal_settle(struct sws_removal *self);

/* Takes a page from the head of the freed or of the kept; NULL when there is none. */
struct sws_removal_page *sws_removal_take_freed(struct sws_removal *self);
struct sws_removal_page *sws_removal_take_kept(struct sws_removal *self);

/*
 * Removes one page for a caller who holds a reference of it, and leaves it that one:
 * no list, no shadow, and the page stays locked. The same with patch B and without.
 * Models: remove_mapping. Locks: the mapping's, once.
 * Returns as sws_removal_queue; *removed is false for a page in use or dirty.
 */
int sws_removal_single(struct sws_removal *self, struct sws_removal_page *page, bool *removed,
		       struct sws_removal_hold *hold);

/* What was done since it was made. */
struct sws_removal_counts sws_removal_counts(const struct sws_removal *self);

/* Values of the file column that name no file: the swap cache, where the index is the slot, */
#define SWS_REMOVAL_FILE_SWAP 0xfffffffeu
/* and a page without a mapping. */
#define SWS_REMOVAL_FILE_NONE 0xffffffffu

/* Pages as columns of one length, each list's in the order in which they are met. */
struct sws_removal_rows {
	/* From 0 in the order of the mappings of files, or as above. */
	const uint32_t *file;
	const uint64_t *index;
	const uint32_t *references;
	/* 0 or 1, as those that follow. */
	const uint8_t *locked;
	const uint8_t *dirty;
	const uint8_t *freepage;
	const uint8_t *lazyfree;
};

/* Where results go: a value for each row, and room for as many holds as rows. */
struct sws_removal_results {
	uint8_t *removed;
	/* On its list's freed or kept pages, 0 at the head; NULL: not wanted. */
	uint32_t *place;
	struct sws_removal_hold *holds;
	/* Written: the holds there are. */
	uint64_t n_holds;
	/* Written on an error: the row and the list at fault, and what is wrong. */
	uint64_t row;
	uint64_t list;
	enum sws_removal_problem problem;
};

/*
 * Whole calls, one a list: list i is the rows from the end of list i - 1 to ends[i].
 * All pages of a list are looked at before the first is removed.
 * Returns SWS_ERROR_BAD_ARGUMENT with the problem and its row: lists before it are
 * done, it and those after it are not; SWS_ERROR_NO_MEMORY from bringing pages.
 */
int sws_removal_lists(struct sws_removal *self, const struct sws_removal_rows *rows,
		      uint64_t n_lists, const uint64_t *ends, struct sws_removal_results *results);

/* Re-derives every invariant; SWS_ERROR_BROKEN and a reason if one fails. */
int sws_removal_verify(const struct sws_removal *self, const char **reason);

/* ffi: end */

#endif
