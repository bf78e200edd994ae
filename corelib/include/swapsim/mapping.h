/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mapping.h - the address_spaces of one swap device and of any number of files,
 * and what each step of a page's life does to them under their lock.
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
 *      4.8: one mapping a device            5.8, 6.1: one mapping a trunk
 *
 *      swap cache  [.................]      [....][....][....][....]
 *      tree_lock    1                        1     2     3     4
 *      index        0 ............... n      0 ...  full device offset ... n
 *
 *      files       [....] [.........] [..]  one mapping a file, in each version
 *
 * Which steps take the mapping's lock (tree_lock, or xa_lock from 4.20 on), and
 * how many descents of the tree one hold covers:
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
 *   (*) not for a mapping with the no-writeback-tags flag: the page flag alone
 *       tells. Patch A sets that flag for the swap cache; a file never has it.
 *
 * That a step takes the lock is read from the kernel: it is input. What the
 * tree does under the lock is counted by running it.
 *
 * Kept: the tree with its tags and shadows, the index as the full device
 * offset, who takes which lock, shadows of file pages that reclaim removes.
 * Dropped: reference counts, page locks (removal.h has both), RCU, huge pages,
 * hosts and their inode lists.
 * Swap pages never get the DIRTY tag: swap's set_page_dirty sets the page flag
 * alone, so there is no dirty step for them.
 */
#ifndef SWAPSIM_MAPPING_H
#define SWAPSIM_MAPPING_H

#include "swapsim/core.h"
#include "swapsim/kernels.h"
#include "swapsim/rtree.h"

/* ffi: begin */

/* The largest device, and log2 of its largest trunk: offsets have 32 bits. */
#define SWS_MAPPING_SLOTS_MAX 4294967296
enum {
	SWS_MAPPING_TRUNK_SHIFT_MAX = 32,
};

struct sws_mapping_config {
	/* Whose row of the table, one that sws_mapping_knows; default 4.8. */
	enum sws_kernel kernel;
	/* Does the swap cache keep writeback tags? Default true: patch A off. */
	bool swap_writeback_tags;
	/* Slots of the device, 1 .. SWS_MAPPING_SLOTS_MAX; default 2^32. */
	uint64_t swap_slots;
	/* log2 of a trunk's slots from 5.8 on, 1 .. SWS_MAPPING_TRUNK_SHIFT_MAX; default 14 (64 MB). */
	uint32_t trunk_shift;
	/* log2 of a node's slots, 1 .. SWS_RTREE_SHIFT_MAX; default 6. */
	uint32_t tree_shift;
	/* NULL: libc. */
	const struct sws_allocator *allocator;
};

/* What one step cost; steps add to it, so zero it first. */
struct sws_mapping_work {
	/* Times that the mapping's lock was taken. */
	uint64_t acquisitions;
	/* Tree work under those holds. */
	struct sws_rtree_work tree;
};

struct sws_mappings;

/* Is there a row of the table above for this kernel? */
bool sws_mapping_knows(enum sws_kernel kernel);

/* Writes every default. */
void sws_mapping_config_init(struct sws_mapping_config *config);

/*
 * Makes the swap cache of one device, empty, and no file. The caller frees it.
 * Returns SWS_ERROR_BAD_CONFIG for a field out of its range.
 */
int sws_mappings_new(const struct sws_mapping_config *config, struct sws_mappings **out);

/* Frees all mappings; takes NULL. */
void sws_mappings_free(struct sws_mappings *self);

/*
 * The mapping that holds a device offset in the swap cache: always 0 in 4.8,
 * the trunk from 5.8 on. Returns SWS_ERROR_BAD_ARGUMENT past the device's end.
 */
int sws_mapping_of_swap(const struct sws_mappings *self, uint64_t offset, uint32_t *mapping);

/*
 * The mapping of the file that was added as the nth, from 0.
 * Returns SWS_ERROR_NOT_FOUND if there are not so many.
 */
int sws_mapping_of_file(const struct sws_mappings *self, uint32_t nth, uint32_t *mapping);

/* Adds the mapping of one more file and returns its number. */
int sws_mapping_add_file(struct sws_mappings *self, uint32_t *mapping);

/* How many mappings there are: those of the swap cache, then the files'. */
uint32_t sws_mapping_count(const struct sws_mappings *self);

/* Is a mapping one of the swap cache? */
bool sws_mapping_is_swap(const struct sws_mappings *self, uint32_t mapping);

/*
 * Puts a page into a mapping. folio is its even, non-zero address; a shadow at
 * the index is replaced. Locks: the mapping's, once. One descent.
 * Returns SWS_ERROR_EXISTS if a page is there.
 */
int sws_mapping_add(struct sws_mappings *self, uint32_t mapping, uint64_t index, uint64_t folio,
		    struct sws_mapping_work *work);

/*
 * A clean file page becomes dirty: sets DIRTY. Locks: the mapping's, once. One
 * descent. Returns SWS_ERROR_NOT_FOUND without a page there, and
 * SWS_ERROR_BAD_ARGUMENT for a mapping of the swap cache.
 */
int sws_mapping_dirty(struct sws_mappings *self, uint32_t mapping, uint64_t index,
		      struct sws_mapping_work *work);

/*
 * Writeback of a page starts: WRITEBACK set, DIRTY cleared unless the page is
 * dirty again, TOWRITE cleared unless keep_write. Locks: the mapping's, once;
 * none when it keeps no writeback tags. Three descents in 4.8 at most, one from
 * 5.8 on. Returns SWS_ERROR_NOT_FOUND without a page there.
 */
int sws_mapping_start_writeback(struct sws_mappings *self, uint32_t mapping, uint64_t index,
				bool page_dirty, bool keep_write, struct sws_mapping_work *work);

/*
 * Writeback of a page ends: WRITEBACK cleared. Locks: as at the start. One
 * descent. Returns SWS_ERROR_NOT_FOUND without a page there.
 */
int sws_mapping_end_writeback(struct sws_mappings *self, uint32_t mapping, uint64_t index,
			      struct sws_mapping_work *work);

/*
 * Compaction puts another folio in a page's place; tags stay. Locks: the
 * mapping's, once. One descent. Returns SWS_ERROR_NOT_FOUND without a page there.
 */
int sws_mapping_move(struct sws_mappings *self, uint32_t mapping, uint64_t index, uint64_t folio,
		     struct sws_mapping_work *work);

/*
 * Takes a page out. From 6.1 on, a non-zero shadow (an odd number) stays in the
 * place of a swap page; earlier, and for a file, the index is empty afterwards.
 * Locks: the mapping's, once. One descent.
 * Returns SWS_ERROR_NOT_FOUND without a page there.
 */
int sws_mapping_delete(struct sws_mappings *self, uint32_t mapping, uint64_t index, uint64_t shadow,
		       struct sws_mapping_work *work);

/*
 * Reclaim removes a page under a hold that the caller counts: one of many under
 * the same hold, perhaps. A swap page goes as with sws_mapping_delete. In a file
 * page's place a non-zero shadow stays, its tags cleared; not so in 4.8 where the
 * page is alone at index 0, for there is no node to count the shadow in.
 * Models: __delete_from_swap_cache, __delete_from_page_cache as __remove_mapping
 * calls them. Locks: none; the caller has the mapping's. One descent.
 * Returns SWS_ERROR_NOT_FOUND without a page there.
 */
int sws_mapping_remove(struct sws_mappings *self, uint32_t mapping, uint64_t index, uint64_t shadow,
		       struct sws_rtree_work *work);

/*
 * A slot of the device is freed. In 6.1: takes the trunk's lock once and empties
 * the index if a shadow is there (a page stays); earlier nothing happens.
 * Returns SWS_ERROR_BAD_ARGUMENT for a mapping of a file.
 */
int sws_mapping_clear_shadow(struct sws_mappings *self, uint32_t mapping, uint64_t index,
			     struct sws_mapping_work *work);

/* What is at an index: 0, a folio (even) or a shadow (odd). */
uint64_t sws_mapping_lookup(const struct sws_mappings *self, uint32_t mapping, uint64_t index);

/* Does any page of a mapping have this tag? Models mapping_tagged. */
bool sws_mapping_tagged(const struct sws_mappings *self, uint32_t mapping, enum sws_rtree_tag tag);

/* Tree nodes of one mapping: 576 bytes each in the kernel. */
uint64_t sws_mapping_nodes(const struct sws_mappings *self, uint32_t mapping);

/* Re-derives every invariant; SWS_ERROR_BROKEN and a reason if one fails. */
int sws_mappings_verify(const struct sws_mappings *self, const char **reason);

/* ffi: end */

#endif
