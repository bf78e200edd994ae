/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * removal.h - reclaim removes the pages of a list from their mappings: page by page, each under a
 * hold of its own, or all pages of a mapping under one hold.
 *
 * Models, in mm/vmscan.c of 4.8
 *   page by page   __remove_mapping as shrink_page_list calls it; 6.1's row of
 *                  the tree work is that of shrink_folio_list
 *   batched        patch B (RFC of 9 September 2016, never merged):
 *                  remove_mapping_list and finalise_remove_mapping_list
 *
 * shrink_page_list processes A1 B1 A2 C1 A3, where A, B and C are mappings. Page by page that is
 * five holds with one removal each. Batched, the pages wait, still locked, at the head of a list,
 * and are removed after the other pages have been processed:
 *
 *      queued last             queued first
 *        A3   C1   A2   B1   A1       the first determines the mapping: lock A
 *        x    .    x    .    x        A3 A2 A1 removed, C1 B1 passed over
 *                                     unlock A; slots of A1 A2 A3 freed
 *             C1        B1            lock C, C1 removed, B1 passed over, unlock C
 *                       B1            lock B, B1 removed, unlock B
 *
 * So a call takes as many holds as there are mappings on its list, and walks past the pages of
 * later mappings while it holds the lock of an earlier one.
 *
 *   part             lock                      work under it
 *   queue            none (the page's own)     -
 *   hold             the mapping's, once       page by page: one removal; batched:
 *                                              all of its mapping, the rest passed over
 *   settle, a slot   no mapping's              drops the swap cache's reference of the slot
 *                                              (si->lock in 4.8: slots.h)
 *   settle, a file   none                      the filesystem's freepage
 *
 * A removal is one tree walk (mapping.h). It fails without changing the tree if the page
 * is dirty or has references other than the mapping's and reclaim's. A page that failed is unlocked
 * and returned as kept; a removed page is unlocked, has no reference left, and is free after it is
 * settled.
 *
 * The counter PGLAZYFREED is incremented when a page leaves by MADV_FREE. Batched it is incremented
 * when such a page is queued, so a removal that fails counts as well.
 *
 * Modelled: which pages are removed, under which hold and in which order; the order of the lists of
 * freed and of kept pages, each page being added at the head; locks and references of pages; slots
 * and freepage after the lock is dropped; the shadows that reclaim leaves, by kernel. Left out:
 * memory cgroups, huge pages, mappings that are being deleted or belong to DAX (they have no
 * shadows), the TLB flush and the freeing of pages; that all pages of a mapping have the same
 * freepage.
 */
#ifndef SWAPSIM_REMOVAL_H
#define SWAPSIM_REMOVAL_H

#include "swapsim/core.h"
#include "swapsim/mapping.h"

/* ffi: begin */

/* When pages are removed. */
enum sws_removal_mode {
	/* Each page under its own hold. */
	SWS_REMOVAL_PAGE_BY_PAGE = 0,
	/* All pages of a mapping under one hold: patch B. */
	SWS_REMOVAL_BATCHED = 1,
};

enum {
	/* References of a page that can be removed: the mapping's and reclaim's. */
	SWS_REMOVAL_REFERENCES = 2,
	/* Maximum number of pages of a list in columns. */
	SWS_REMOVAL_LIST_MAX = 65536,
};

/* The mapping of a page without a mapping. */
#define SWS_REMOVAL_NO_MAPPING 0xffffffffu

/* The list of a page. */
enum sws_removal_state {
	/* On no list: the page belongs to its owner. */
	SWS_REMOVAL_ISOLATED = 0,
	/* Queued and locked. */
	SWS_REMOVAL_WAITING = 1,
	/* Removed; its slot or its freepage is not settled yet. */
	SWS_REMOVAL_DUE = 2,
	/* Removed and settled. */
	SWS_REMOVAL_FREED = 3,
	/* The removal failed. */
	SWS_REMOVAL_KEPT = 4,
};

/*
 * A page that reclaim has isolated. The memory belongs to the caller and is lent from queue to
 * take.
 */
struct sws_removal_page {
	/* page->lru: the next page towards the tail of its list. */
	struct sws_removal_page *next;
	/* The next page that is found by the same hash; meaningless while the page is isolated. */
	struct sws_removal_page *same_hash;
	/* The index in its mapping; for a swap page the slot. */
	uint64_t index;
	/* page_private of a swap page: its slot, until it is freed; 0 for a file page. */
	uint64_t entry;
	/* The number of the mapping in mapping.h; SWS_REMOVAL_NO_MAPPING after the removal. */
	uint32_t mapping;
	/* The reference count. */
	uint32_t references;
	/* True if the page is locked. */
	bool locked;
	/* True if the page is dirty. */
	bool dirty;
	/* True if its mapping has the callback freepage. */
	bool freepage;
	/* True for a page of MADV_FREE, which leaves without being written. */
	bool lazyfree;
	/* enum sws_removal_state; ISOLATED when it is queued. */
	uint8_t state;
};

/* The reason for which a page cannot be queued, or a list cannot be processed. */
enum sws_removal_problem {
	/* No problem. */
	SWS_REMOVAL_NO_PROBLEM = 0,
	/* The list has no pages. */
	SWS_REMOVAL_EMPTY_LIST = 1,
	/* The list has more than list_pages pages. */
	SWS_REMOVAL_LIST_TOO_LONG = 2,
	/* The page is already on a list, by this record or by another one. */
	SWS_REMOVAL_TWICE = 3,
	/* The page is not locked. */
	SWS_REMOVAL_NOT_LOCKED = 4,
	/* The page has no mapping. */
	SWS_REMOVAL_HAS_NO_MAPPING = 5,
	/* The mapping has no page at the index. */
	SWS_REMOVAL_NOT_IN_TREE = 6,
	/* The entry is not its slot, is slot 0, or belongs to a file page. */
	SWS_REMOVAL_WRONG_ENTRY = 7,
	/* Pages that were queued one by one are still on a list. */
	SWS_REMOVAL_NOT_EMPTY = 8,
};

/* The configuration of a reclaimer. */
struct sws_removal_config {
	/* When pages are removed; default batched. */
	enum sws_removal_mode mode;
	/*
	 * The number of pages of a list, 1 .. SWS_REMOVAL_LIST_MAX; default 512. For
	 * sws_removal_lists the maximum; else more may be queued, which takes longer.
	 */
	uint32_t list_pages;
	/*
	 * For sws_removal_lists: true if missing pages are first added to their tree; default
	 * false.
	 */
	bool brings_pages;
	/* The allocator; NULL means that of libc. */
	const struct sws_allocator *allocator;
};

/* The work under one hold of a mapping's lock. */
struct sws_removal_hold {
	/* In sws_removal_lists the number of the list, else 0. */
	uint64_t list;
	/* The mapping. */
	uint32_t mapping;
	/* Pages removed. */
	uint32_t removed;
	/* Pages whose removal failed. */
	uint32_t failed;
	/* Pages of other mappings that the walk passed. */
	uint32_t passed_over;
	/* The work in the tree. */
	struct sws_rtree_work tree;
};

/* The counts of all calls. */
struct sws_removal_counts {
	/* Holds of mappings' locks. */
	uint64_t holds;
	/* Pages removed from reclaim's lists: nr_reclaimed. */
	uint64_t reclaimed;
	/* Removals that failed. */
	uint64_t failed;
	/* The counter PGLAZYFREED. */
	uint64_t lazyfreed;
	/* References of the swap cache to slots that were dropped. */
	uint64_t slots_freed;
	/* Calls of a filesystem's freepage. */
	uint64_t freepages;
};

/* The lists of one reclaimer; only the functions below read them. */
struct sws_removal;

/* Writes every default. Complexity: O(1). */
void sws_removal_config_init(struct sws_removal_config *config);

/*
 * Creates the empty lists of one reclaimer over mappings, which belong to the caller and have to
 * outlive them. The caller owns *out and frees it by sws_removal_free. Complexity: O(list_pages).
 * Returns SWS_OK, SWS_ERROR_BAD_CONFIG or SWS_ERROR_NO_MEMORY.
 */
int sws_removal_new(const struct sws_removal_config *config, struct sws_mappings *mappings,
		    struct sws_removal **out);

/* Frees the lists, but not the pages on them; accepts NULL. */
void sws_removal_free(struct sws_removal *self);

/* Returns the first problem that prevents a page from being queued, or NO_PROBLEM. */
enum sws_removal_problem sws_removal_check(const struct sws_removal *self,
					   const struct sws_removal_page *page);

/*
 * Queues a page. Models: list_add to mapping_pages. Complexity: O(1) and one look-up in the tree.
 * Locks: none. Returns SWS_OK, or SWS_ERROR_BAD_ARGUMENT if sws_removal_check reports a problem.
 */
int sws_removal_queue(struct sws_removal *self, struct sws_removal_page *page);

/* Writes the mapping whose lock the next hold takes; returns false if no page is queued. */
bool sws_removal_next(const struct sws_removal *self, uint32_t *mapping);

/*
 * Runs the part under the lock of that mapping and writes its work. Pages that failed are kept;
 * removed swap pages, and removed pages with freepage, become due. Locks: the mapping's, once.
 * Complexity: O(queued pages); page by page O(1). Returns SWS_OK, or SWS_ERROR_BAD_ARGUMENT if no
 * page is queued, or a page is still due.
 */
int sws_removal_hold(struct sws_removal *self, struct sws_removal_hold *hold);

/*
 * Returns the next page that is due, which still has its entry; NULL if there is none. The caller
 * owns it.
 */
const struct sws_removal_page *sws_removal_due(const struct sws_removal *self);

/*
 * Settles the next page that is due: frees its slot, or calls freepage. Swap pages come first, each
 * group in the order in which the pages were queued. Models: finalise_remove_mapping_list.
 * Complexity: O(1). Locks: no mapping's. Returns SWS_OK, or SWS_ERROR_BAD_ARGUMENT if no page is
 * due.
 */
int sws_removal_settle(struct sws_removal *self);

/* Takes a page from the head of the freed pages; returns NULL if there is none. */
struct sws_removal_page *sws_removal_take_freed(struct sws_removal *self);
/* Takes a page from the head of the kept pages; returns NULL if there is none. */
struct sws_removal_page *sws_removal_take_kept(struct sws_removal *self);

/* Returns the counts since the creation. */
struct sws_removal_counts sws_removal_counts(const struct sws_removal *self);

/* The value of the file column for the swap cache, where the index is the slot. */
#define SWS_REMOVAL_FILE_SWAP 0xfffffffeu
/* The value of the file column for a page without a mapping. */
#define SWS_REMOVAL_FILE_NONE 0xffffffffu

/* Pages as columns of one length; the pages of a list are in the order in which they are queued. */
struct sws_removal_rows {
	/*
	 * The number of the file in the order of its mapping, from 0, or one of the values above.
	 */
	const uint32_t *file;
	/* The index in the mapping. */
	const uint64_t *index;
	/* The reference count. */
	const uint32_t *references;
	/* 1 if the page is locked, else 0. */
	const uint8_t *locked;
	/* 1 if the page is dirty, else 0. */
	const uint8_t *dirty;
	/* 1 if its mapping has freepage, else 0. */
	const uint8_t *freepage;
	/* 1 for a page of MADV_FREE, else 0. */
	const uint8_t *lazyfree;
};

/*
 * The memory for results, which belongs to the caller: a value for each row, and as many holds as
 * rows.
 */
struct sws_removal_results {
	/* 1 if the page was removed, else 0. */
	uint8_t *removed;
	/*
	 * The position among the freed or kept pages of its list, 0 at the head; NULL if not
	 * needed.
	 */
	uint32_t *place;
	/* The holds. */
	struct sws_removal_hold *holds;
	/* Written: the number of holds. */
	uint64_t n_holds;
	/* Written on an error: the row at fault. */
	uint64_t row;
	/* Written on an error: the list at fault. */
	uint64_t list;
	/* Written on an error: the problem. */
	enum sws_removal_problem problem;
};

/*
 * Processes complete lists: list i consists of the rows from the end of list i - 1 to ends[i]. All
 * pages of a list are checked before the first is removed. No page may be on a list of this
 * reclaimer. Complexity: O(rows) and the walks of the holds. Returns SWS_OK; SWS_ERROR_BAD_ARGUMENT
 * with the problem and its row, where the lists before it are done, and that list and later ones are
 * not; or SWS_ERROR_NO_MEMORY from adding
 * missing pages.
 */
int sws_removal_lists(struct sws_removal *self, const struct sws_removal_rows *rows,
		      uint64_t n_lists, const uint64_t *ends, struct sws_removal_results *results);

/*
 * Recomputes every invariant; each page of a mapping is there once. Complexity: O(pages). Returns SWS_OK, or SWS_ERROR_BROKEN and the
 * *reason, a constant string.
 */
int sws_removal_verify(const struct sws_removal *self, const char **reason);

/* ffi: end */

#endif
