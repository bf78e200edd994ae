/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mapping.h - the address_spaces of one swap device and of any number of files, and the effect on
 * them of each step in a page's life, under their lock.
 *
 * Models
 *   4.8   mm/swap_state.c    __add_to_swap_cache, __delete_from_swap_cache
 *         mm/page-writeback.c __test_set_page_writeback, test_clear_page_writeback
 *         mm/filemap.c       page_cache_tree_insert, page_cache_tree_delete
 *         mm/migrate.c       migrate_page_move_mapping
 *   5.8   the same functions over the XArray, one mapping per 64 MB trunk (4.11 on)
 *   6.1   mm/swap_state.c    add_to_swap_cache, __delete_from_swap_cache,
 *                            clear_shadow_from_swap_cache
 *         mm/page-writeback.c __folio_start_writeback, __folio_end_writeback
 *         mm/migrate.c       folio_migrate_mapping
 *
 *      4.8: one mapping per device          5.8, 6.1: one mapping per trunk
 *
 *      swap cache  [.................]      [....][....][....][....]
 *      tree_lock    1                        1     2     3     4
 *      index        0 ............... n      0 ...  full device offset ... n
 *
 *      files       [....] [.........] [..]  one mapping per file, in each version
 *
 * The steps that take the mapping's lock (tree_lock, or xa_lock from 4.20 on), and the number of
 * tree walks in one critical section:
 *
 *   step           4.8                5.8               6.1
 *   add            lock, 1            lock, 1           lock, 1
 *   dirty (file)   lock, 1            lock, 1           lock, 1
 *   start          lock, 3  (*)       lock, 1  (*)      lock, 1  (*)
 *   end            lock, 1  (*)       lock, 1  (*)      lock, 1  (*)
 *   move           lock, 1            lock, 1           lock, 1
 *   delete         lock, 1            lock, 1           lock, 1: leaves a shadow
 *   clear shadow   -                  -                 lock, 1
 *
 *   (*) not for a mapping with the flag no-writeback-tags, where only the page flag is
 *       used. Patch A sets that flag for the swap cache; files never have it.
 *
 * Which steps take the lock is an input, taken from the kernel source. The work of the tree under
 * the lock is counted by running it.
 *
 * Modelled: the tree with its tags and shadows, the index as the full device offset, the locks of
 * each step, shadows of file pages that reclaim removes. 4.8 still has the whole swap entry as the
 * index (until f6ab1f7f6b2d, 4.9): that is the offset on the first device only. Left out: reference
 * counts, page locks (removal.h has both), RCU, huge pages, hosts and their inode lists. Swap pages
 * never get the tag DIRTY: swap's set_page_dirty only sets the page flag, so there is no dirty step
 * for them.
 */
#ifndef SWAPSIM_MAPPING_H
#define SWAPSIM_MAPPING_H

#include "swapsim/core.h"
#include "swapsim/kernels.h"
#include "swapsim/rtree.h"

/* ffi: begin */

/* Maximum number of slots of the device, whose offsets have 32 bits. */
#define SWS_MAPPING_SLOTS_MAX 4294967296
enum {
	/* Maximum of trunk_shift. */
	SWS_MAPPING_TRUNK_SHIFT_MAX = 32,
};

/* The configuration of the mappings. */
struct sws_mapping_config {
	/* The kernel, one that sws_mapping_knows; default 4.8. */
	enum sws_kernel kernel;
	/* True if the swap cache has writeback tags, false with patch A; default true. */
	bool swap_writeback_tags;
	/* Slots of the device, 1 .. SWS_MAPPING_SLOTS_MAX; default 2^32. */
	uint64_t swap_slots;
	/*
	 * Log2 of a trunk's slots from 5.8 on, 1 .. SWS_MAPPING_TRUNK_SHIFT_MAX; default 14 (64
	 * MB).
	 */
	uint32_t trunk_shift;
	/* Log2 of a node's slots, 1 .. SWS_RTREE_SHIFT_MAX; default 6. */
	uint32_t tree_shift;
	/* The allocator; NULL means that of libc. */
	const struct sws_allocator *allocator;
};

/* Counts of the work done; functions add to them, so the caller zeroes them first. */
struct sws_mapping_work {
	/* Acquisitions of the mapping's lock. */
	uint64_t acquisitions;
	/* The work in the tree under those holds. */
	struct sws_rtree_work tree;
};

/* The mappings; only the functions below read them. */
struct sws_mappings;

/* Returns true if the table above has a column for a kernel. */
bool sws_mapping_knows(enum sws_kernel kernel);

/* Writes every default. Complexity: O(1). */
void sws_mapping_config_init(struct sws_mapping_config *config);

/*
 * Creates the empty swap cache of one device, without files. The caller owns *out and frees it by
 * sws_mappings_free. Complexity: O(trunks). Returns SWS_OK, SWS_ERROR_BAD_CONFIG or
 * SWS_ERROR_NO_MEMORY.
 */
int sws_mappings_new(const struct sws_mapping_config *config, struct sws_mappings **out);

/* Frees all mappings; accepts NULL. */
void sws_mappings_free(struct sws_mappings *self);

/*
 * Writes the mapping of a device offset in the swap cache: always 0 in 4.8, the trunk from 5.8 on.
 * Complexity: O(1). Returns SWS_OK, or SWS_ERROR_BAD_ARGUMENT past the end of the device.
 */
int sws_mapping_of_swap(const struct sws_mappings *self, uint64_t offset, uint32_t *mapping);

/*
 * Writes the mapping of the nth file, from 0, in the order of their addition. Complexity: O(1).
 * Returns SWS_OK, or SWS_ERROR_NOT_FOUND if there are fewer files.
 */
int sws_mapping_of_file(const struct sws_mappings *self, uint32_t nth, uint32_t *mapping);

/*
 * Adds the mapping of another file and writes its number. Complexity: amortised O(1). Returns
 * SWS_OK or SWS_ERROR_NO_MEMORY.
 */
int sws_mapping_add_file(struct sws_mappings *self, uint32_t *mapping);

/* Returns the number of mappings: those of the swap cache, then those of files. */
uint32_t sws_mapping_count(const struct sws_mappings *self);

/* Returns true if a mapping belongs to the swap cache. */
bool sws_mapping_is_swap(const struct sws_mappings *self, uint32_t mapping);

/*
 * Adds a page to a mapping. folio is its even, nonzero address; a shadow at the index is replaced.
 * Locks: the mapping's, once. Complexity: one tree walk, as for the functions below. Returns
 * SWS_OK, SWS_ERROR_EXISTS if the index has a page, SWS_ERROR_BAD_ARGUMENT or SWS_ERROR_NO_MEMORY.
 */
int sws_mapping_add(struct sws_mappings *self, uint32_t mapping, uint64_t index, uint64_t folio,
		    struct sws_mapping_work *work);

/*
 * Dirties a clean file page: sets DIRTY. Locks: the mapping's, once. Returns SWS_OK,
 * SWS_ERROR_NOT_FOUND without a page there, or SWS_ERROR_BAD_ARGUMENT for the swap cache.
 */
int sws_mapping_dirty(struct sws_mappings *self, uint32_t mapping, uint64_t index,
		      struct sws_mapping_work *work);

/*
 * Starts the writeback of a page: sets WRITEBACK, clears DIRTY unless the page is dirty again, and
 * clears TOWRITE unless keep_write. Locks: the mapping's, once; none if it has no writeback tags.
 * Complexity: at most three tree walks in 4.8, one from 5.8 on. Returns SWS_OK, or
 * SWS_ERROR_NOT_FOUND without a page there.
 */
int sws_mapping_start_writeback(struct sws_mappings *self, uint32_t mapping, uint64_t index,
				bool page_dirty, bool keep_write, struct sws_mapping_work *work);

/*
 * Ends the writeback of a page: clears WRITEBACK. Locks: as at the start. Returns SWS_OK, or
 * SWS_ERROR_NOT_FOUND without a page there.
 */
int sws_mapping_end_writeback(struct sws_mappings *self, uint32_t mapping, uint64_t index,
			      struct sws_mapping_work *work);

/*
 * Replaces a page by another folio, as compaction does; the tags are retained. Locks: the
 * mapping's, once. Returns SWS_OK, or SWS_ERROR_NOT_FOUND without a page there.
 */
int sws_mapping_move(struct sws_mappings *self, uint32_t mapping, uint64_t index, uint64_t folio,
		     struct sws_mapping_work *work);

/*
 * Removes a page. From 6.1 on, a nonzero shadow (an odd number) replaces a swap page; in earlier
 * kernels, and for a file, the index is empty afterwards. Locks: the mapping's, once. Returns
 * SWS_OK, or SWS_ERROR_NOT_FOUND without a page there.
 */
int sws_mapping_delete(struct sws_mappings *self, uint32_t mapping, uint64_t index, uint64_t shadow,
		       struct sws_mapping_work *work);

/*
 * Removes a page for reclaim, under a hold that the caller counts and that may cover many removals.
 * A swap page is removed as by sws_mapping_delete. A nonzero shadow replaces a file page, with its
 * tags cleared; but not in 4.8 if the page is alone at index 0, as there is no node to count the
 * shadow. Models: __delete_from_swap_cache and __delete_from_page_cache as called by
 * __remove_mapping. Locks: none; the caller holds the mapping's. Returns SWS_OK, or
 * SWS_ERROR_NOT_FOUND without a page there.
 */
int sws_mapping_remove(struct sws_mappings *self, uint32_t mapping, uint64_t index, uint64_t shadow,
		       struct sws_rtree_work *work);

/*
 * Handles the freeing of a slot of the device. In 6.1 it takes the trunk's lock once and empties
 * the index if it has a shadow (a page stays); earlier kernels do nothing here. Returns SWS_OK, or
 * SWS_ERROR_BAD_ARGUMENT for the mapping of a file.
 */
int sws_mapping_clear_shadow(struct sws_mappings *self, uint32_t mapping, uint64_t index,
			     struct sws_mapping_work *work);

/* Returns the entry at an index: 0, a folio (even) or a shadow (odd). */
uint64_t sws_mapping_lookup(const struct sws_mappings *self, uint32_t mapping, uint64_t index);

/* Returns true if any page of a mapping has this tag. Models: mapping_tagged. Complexity: O(1). */
bool sws_mapping_tagged(const struct sws_mappings *self, uint32_t mapping, enum sws_rtree_tag tag);

/* Returns the number of tree nodes of a mapping, of 576 bytes each in the kernel. */
uint64_t sws_mapping_nodes(const struct sws_mappings *self, uint32_t mapping);

/*
 * Recomputes every invariant; each slot is in the mapping that covers it. Complexity: O(nodes). Returns SWS_OK, or SWS_ERROR_BROKEN and the
 * *reason, a constant string.
 */
int sws_mappings_verify(const struct sws_mappings *self, const char **reason);

/* ffi: end */

#endif
