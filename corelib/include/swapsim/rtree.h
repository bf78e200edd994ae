/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rtree.h - radix trees with three tags: one tree per mapping, all trees of a
 * run in one forest that shares its nodes.
 *
 * Models lib/radix-tree.c of Linux 4.8: nodes of 2^shift slots, a tag word per
 * tag in each node, growth and shrinking from the top. Two calls are of the
 * XArray of 6.1 instead: sws_rtree_tag_update (several marks in one walk).
 *
 *                root: tags d w -, height 2           d  DIRTY
 *                  |                                  w  WRITEBACK
 *          .-------v--------.                         t  TOWRITE
 *          | 0  1  .. 63    |  shift 6
 *          | d- dw    --    |  bit i of a tag word: an item below slot i has the tag
 *          '-|--|-----------'
 *       .----'  '-----.
 *   .---v------.  .---v------.
 *   | 0 .. 63  |  | 0 .. 63  |  shift 0: items, nonzero 64-bit words
 *   '----------'  '----------'
 *     0 .. 63      64 .. 127
 *
 * Kept: the height is the least that holds the largest index; a lone item at
 * index 0 stands in the root without a node, and its tags are the root's; an
 * insert in a tree of height 0 or less than needed grows it on top, slot 0 of
 * each new top taking the old one and the root's tags; a delete frees empty
 * nodes upward and drops tops that have slot 0 alone. So height, nodes and tag
 * words follow from the items and their tags, however they came about.
 * Dropped: RCU, preloading, gfp bits, multi-order and exceptional entries: an
 * item is any nonzero word and means nothing to the tree.
 *
 * A forest remembers each tree's last leaf, lookups included: one forest, one
 * thread at a time. Memory grows by slabs of nodes, freed nodes are used
 * again, and all goes back when the forest is freed. A node of shift 6 takes
 * 576 bytes, as in the kernel.
 *
 * Locks: none here. The caller holds its mapping's lock, in the kernel
 *      insert, tag_set, tag_clear, tag_update, delete, replace    tree_lock / xa_lock
 *      lookup, tag_get, gang lookups                              none (RCU)
 *      range_tag_if_tagged                                        tree_lock / xa_lock
 * and the work done under one hold is what struct sws_rtree_work counts.
 */
#ifndef SWAPSIM_RTREE_H
#define SWAPSIM_RTREE_H

#include "swapsim/core.h"

/* ffi: begin */

/* The tags of an item, as the page cache has them; a set of them is a mask of 1 << tag. */
enum sws_rtree_tag {
	SWS_RTREE_TAG_DIRTY = 0,
	SWS_RTREE_TAG_WRITEBACK = 1,
	SWS_RTREE_TAG_TOWRITE = 2,
	/* How many there are. */
	SWS_RTREE_TAG_COUNT = 3,
};

enum {
	/* A node's slots are the bits of one word: 2^6. */
	SWS_RTREE_SHIFT_MAX = 6,
};

struct sws_forest_config {
	/* 1 .. SWS_RTREE_SHIFT_MAX: a node has 2^shift slots; default 6. */
	uint32_t shift;
	/* Trees at birth, all empty; default 1, 0 is allowed. */
	uint32_t tree_count;
	/* Scattered batches of fewer rows are not sorted; default 4096. */
	uint64_t sort_threshold;
	/* Not owned, outlives the forest; NULL: libc. */
	const struct sws_allocator *allocator;
};

/*
 * The work of single calls, added to what the struct holds; H is the height.
 *
 *                  descents  nodes_touched    tag_words_touched
 *      lookup             1  nodes passed     0
 *      tag_get            1  nodes passed     0
 *      replace            1  nodes passed     0
 *      insert             1  nodes passed     1 per tag that a new top takes over
 *      tag_set            1  H                H + 1: each node on the way, and the root
 *      tag_clear          1  nodes passed     1 at the leaf; 1 more per step up, the root
 *                                             included, while the word left has no bit
 *      tag_update         1  nodes passed     per tag set: up from the leaf to the first
 *                                             word that had the bit, or the root; per tag
 *                                             cleared: as tag_clear
 *      delete             1  nodes passed     as tag_clear, for each of the three tags
 *
 * nodes_touched counts each node once: those passed on the walk from the top
 * (it ends at an empty slot, or before the first node if the index is beyond
 * the height), and those made or freed aside from the walk when a tree grows
 * or shrinks. tag_words_touched counts words that are tested in order to change
 * them, changed or not: one per node and tag, the root's bit for a tag as one
 * word more. A call that finds no item touches no tag word. An insert that
 * meets an item counts its walk.
 */
struct sws_rtree_work {
	uint64_t descents;
	uint64_t nodes_touched;
	uint64_t tag_words_touched;
	uint64_t nodes_allocated;
	uint64_t nodes_freed;
};

struct sws_forest;

/* Writes every default into a config. */
void sws_forest_config_init(struct sws_forest_config *config);

/*
 * Makes a forest of config->tree_count empty trees, numbered from 0.
 * Returns: SWS_OK, and *out is the caller's to free; SWS_ERROR_BAD_CONFIG;
 * SWS_ERROR_NO_MEMORY. On an error *out is NULL.
 */
int sws_forest_new(const struct sws_forest_config *config, struct sws_forest **out);

/* Frees a forest and all its nodes; takes NULL. Items are the caller's words, not pointers. */
void sws_forest_free(struct sws_forest *self);

/*
 * Adds an empty tree; *tree becomes its number, the count of trees before.
 * Complexity: O(1) amortised. Returns: SWS_OK, SWS_ERROR_NO_MEMORY.
 */
int sws_forest_add_tree(struct sws_forest *self, uint32_t *tree);

/* The number of trees. */
uint32_t sws_forest_tree_count(const struct sws_forest *self);

/* The nodes in use in all trees. */
uint64_t sws_forest_node_count(const struct sws_forest *self);

/*
 * Re-derives every invariant of every tree: parents, counts, tag words, least
 * heights, node counts. Complexity: O(nodes). Returns: SWS_OK, or
 * SWS_ERROR_BROKEN and *reason is a sentence of static storage.
 */
int sws_forest_verify(const struct sws_forest *self, const char **reason);

/*
 * Single calls, on one tree of the forest. A tree number that the forest does
 * not have is SWS_ERROR_BAD_ARGUMENT where an error is returned, else reads as
 * an empty tree. work may be NULL. Complexity: O(height), O(1) next to the
 * last index used.
 */

/*
 * Puts a nonzero item at an empty index.
 * Models: radix_tree_insert. Returns: SWS_OK; SWS_ERROR_EXISTS; SWS_ERROR_NO_MEMORY, the
 * tree unchanged; SWS_ERROR_BAD_ARGUMENT for the item 0.
 */
int sws_rtree_insert(struct sws_forest *self, uint32_t tree, uint64_t index, uint64_t item,
		     struct sws_rtree_work *work);

/* Returns: the item at an index, or 0. Models: radix_tree_lookup. */
uint64_t sws_rtree_lookup(struct sws_forest *self, uint32_t tree, uint64_t index,
			  struct sws_rtree_work *work);

/*
 * Puts another nonzero item where one is; tags, counts and nodes stay.
 * Models: radix_tree_replace_slot. Returns: SWS_OK; SWS_ERROR_NOT_FOUND;
 * SWS_ERROR_BAD_ARGUMENT for the item 0.
 */
int sws_rtree_replace(struct sws_forest *self, uint32_t tree, uint64_t index, uint64_t item,
		      struct sws_rtree_work *work);

/*
 * Takes an item and its tags out, frees the nodes left empty, shrinks the tree.
 * Models: radix_tree_delete. Returns: the item that was there, or 0.
 */
uint64_t sws_rtree_delete(struct sws_forest *self, uint32_t tree, uint64_t index,
			  struct sws_rtree_work *work);

/*
 * Sets a tag of an item, in each node from the top to the leaf and in the root.
 * Models: radix_tree_tag_set. Returns: SWS_OK, set already or not;
 * SWS_ERROR_NOT_FOUND; SWS_ERROR_BAD_ARGUMENT for a tag beyond the enum.
 */
int sws_rtree_tag_set(struct sws_forest *self, uint32_t tree, uint64_t index, uint32_t tag,
		      struct sws_rtree_work *work);

/*
 * Clears a tag of an item, and upward where no item below has it any more.
 * Models: radix_tree_tag_clear. Returns: as sws_rtree_tag_set.
 */
int sws_rtree_tag_clear(struct sws_forest *self, uint32_t tree, uint64_t index, uint32_t tag,
			struct sws_rtree_work *work);

/*
 * Sets the tags of one mask, then clears those of another, in one walk.
 * Models: 6.1's start of writeback, xas_load, xas_set_mark, xas_clear_mark.
 * Returns: as sws_rtree_tag_set; SWS_ERROR_BAD_ARGUMENT also for masks that overlap.
 */
int sws_rtree_tag_update(struct sws_forest *self, uint32_t tree, uint64_t index, uint32_t set_mask,
			 uint32_t clear_mask, struct sws_rtree_work *work);

/* Returns: whether an item stands at the index and has the tag. Models: radix_tree_tag_get. */
bool sws_rtree_tag_get(struct sws_forest *self, uint32_t tree, uint64_t index, uint32_t tag,
		       struct sws_rtree_work *work);

/* Returns: whether any item of the tree has the tag: the root's bit. Models: radix_tree_tagged. */
bool sws_rtree_tagged(const struct sws_forest *self, uint32_t tree, uint32_t tag);

/* Returns: levels of nodes: 0 for an empty tree and for a lone item at index 0. */
uint32_t sws_rtree_height(const struct sws_forest *self, uint32_t tree);

/* Returns: the nodes of one tree. */
uint64_t sws_rtree_node_count(const struct sws_forest *self, uint32_t tree);

/*
 * Scans by index: nobody in a trace's replay needs them. They are the kernel's way
 * to the pages of a file that are to be written, for a model of its flushers:
 * range_tag_if_tagged turns DIRTY into TOWRITE, gang_lookup_tag then finds them.
 */

/*
 * The items at first_index and above, in order of index, at most limit of them;
 * items and indexes are the caller's arrays of limit words, either may be NULL.
 * Models: radix_tree_gang_lookup. Complexity: O(items given * height).
 * Returns: how many were given.
 */
size_t sws_rtree_gang_lookup(struct sws_forest *self, uint32_t tree, uint64_t first_index,
			     size_t limit, uint64_t *items, uint64_t *indexes);

/* As sws_rtree_gang_lookup, items with the tag alone. Models: radix_tree_gang_lookup_tag. */
size_t sws_rtree_gang_lookup_tag(struct sws_forest *self, uint32_t tree, uint64_t first_index,
				 size_t limit, uint32_t tag, uint64_t *items, uint64_t *indexes);

/*
 * Gives set_tag to the items of *first_index .. last_index that have if_tag,
 * at most limit of them. *first_index becomes the index after the last item
 * tagged if the limit was met, else last_index + 1 (0 after the largest).
 * Models: radix_tree_range_tag_if_tagged: from each leaf upward as far as the
 * tag is not set yet. Returns: how many items were met that have if_tag.
 */
uint64_t sws_rtree_range_tag_if_tagged(struct sws_forest *self, uint32_t tree,
				       uint64_t *first_index, uint64_t last_index, uint64_t limit,
				       uint32_t if_tag, uint32_t set_tag);

/*
 * Batch calls: row i is (trees[i], indexes[i]). Results are those of the
 * single calls made row by row in the order given; the library is free to take
 * the rows in another order, and sorts scattered batches by tree and by region
 * of the index, so that neighbours share their nodes in the processor's cache.
 *
 * Complexity: O(count) plus a walk per row that leaves the last row's leaf.
 * Memory: a sorted batch borrows 8 bytes a row (insert 16; 8 more beyond 2048
 * trees), twice that for a region of one large tree, and gives them back; when
 * there is none, rows are taken as given. Arrays must not overlap.
 *
 * Returns: SWS_OK when all rows were tried, whatever their results;
 * SWS_ERROR_BAD_ARGUMENT if a tree number or the tag or (insert) an item is
 * bad, with nothing done; insert alone SWS_ERROR_NO_MEMORY when nodes run out:
 * rows put in so far are taken out again, so items and tags are as before.
 */

/* Inserts; status[i] is SWS_OK or SWS_ERROR_EXISTS. */
int sws_forest_insert(struct sws_forest *self, size_t count, const uint32_t *trees,
		      const uint64_t *indexes, const uint64_t *items, int8_t *status);

/* Looks up; items[i] is the item or 0. */
int sws_forest_lookup(struct sws_forest *self, size_t count, const uint32_t *trees,
		      const uint64_t *indexes, uint64_t *items);

/* Deletes; items[i] is the item that was there or 0. */
int sws_forest_delete(struct sws_forest *self, size_t count, const uint32_t *trees,
		      const uint64_t *indexes, uint64_t *items);

/* Sets one tag; status[i] is SWS_OK or SWS_ERROR_NOT_FOUND. */
int sws_forest_tag_set(struct sws_forest *self, size_t count, const uint32_t *trees,
		       const uint64_t *indexes, uint32_t tag, int8_t *status);

/* Clears one tag; status[i] is SWS_OK or SWS_ERROR_NOT_FOUND. */
int sws_forest_tag_clear(struct sws_forest *self, size_t count, const uint32_t *trees,
			 const uint64_t *indexes, uint32_t tag, int8_t *status);

/* ffi: end */

#endif
