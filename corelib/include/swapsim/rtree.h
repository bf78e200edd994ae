/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rtree.h - radix trees with three tags: one tree per mapping, all trees of a run in one forest
 * with shared nodes.
 *
 * Models lib/radix-tree.c of Linux 4.8: nodes of 2^shift slots, a tag word per tag in each node,
 * growth and shrinking at the top. sws_rtree_tag_update models the XArray of 6.1 instead (several
 * marks in one walk).
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
 * Modelled: the height is the minimum that holds the largest index. A single item at index 0 is
 * stored in the root without a node, and its tags are those of the root. An insert beyond the
 * height grows the tree at the top, where slot 0 of each new top takes the old one and the root's
 * tags. A delete frees empty nodes upward and removes tops that only have slot 0. So the height,
 * the nodes and the tag words depend on the items and their tags only, not on their history. Left
 * out: RCU, preloading, gfp bits, multi-order and exceptional entries: an item is any nonzero word
 * without meaning to the tree.
 *
 * A forest caches each tree's last leaf, also in look-ups, so it must be used by one thread at a
 * time. Memory grows by slabs of nodes; freed nodes are reused, and all memory is freed with the
 * forest. A node of shift 6 takes 576 bytes, as in the kernel.
 *
 * Locks: none here. The caller holds its mapping's lock, which in the kernel is
 *      insert, tag_set, tag_clear, tag_update, delete, replace    tree_lock / xa_lock
 *      lookup, tag_get                                            none (RCU)
 * struct sws_rtree_work counts the work done under one hold.
 */
#ifndef SWAPSIM_RTREE_H
#define SWAPSIM_RTREE_H

#include "swapsim/core.h"

/* ffi: begin */

/* The tags of an item, as in the page cache; a set of tags is a mask of 1 << tag. */
enum sws_rtree_tag {
	/* The page is dirty. */
	SWS_RTREE_TAG_DIRTY = 0,
	/* The page is under writeback. */
	SWS_RTREE_TAG_WRITEBACK = 1,
	/* The page is to be written by the current flusher. */
	SWS_RTREE_TAG_TOWRITE = 2,
	/* The number of tags. */
	SWS_RTREE_TAG_COUNT = 3,
};

enum {
	/* Maximum of shift: the slots of a node are the bits of one word. */
	SWS_RTREE_SHIFT_MAX = 6,
};

/* The configuration of a forest. */
struct sws_forest_config {
	/* Log2 of the slots of a node, 1 .. SWS_RTREE_SHIFT_MAX; default 6. */
	uint32_t shift;
	/* Initial number of empty trees, which may be 0; default 1. */
	uint32_t tree_count;
	/*
	 * The allocator, which belongs to the caller and outlives the forest; NULL means that of
	 * libc.
	 */
	const struct sws_allocator *allocator;
};

/*
 * The work of single calls, which add to it; H is the height.
 *
 *                  descents  nodes_touched    tag_words_touched
 *      lookup             1  nodes passed     0
 *      tag_get            1  nodes passed     0
 *      replace            1  nodes passed     0
 *      insert             1  nodes passed     1 per tag that a new top takes over
 *      tag_set            1  H                H + 1: each node on the path, and the root
 *      tag_clear          1  nodes passed     1 at the leaf; 1 more per step up, the root
 *                                             included, while the word left has no bit
 *      tag_update         1  nodes passed     per tag set: up from the leaf to the first
 *                                             word that had the bit, or the root; per tag
 *                                             cleared: as tag_clear
 *      delete             1  nodes passed     as tag_clear, for each of the three tags
 *
 * nodes_touched counts each node once: those passed on the walk from the top (it ends at an empty
 * slot, or before the first node if the index is beyond the height), and those that are allocated
 * or freed outside of the walk when a tree grows or shrinks. tag_words_touched counts the words
 * that are tested in order to change them, changed or not: one per node and tag, and the root's bit
 * of a tag as one more word. A call that finds no item touches no tag word. An insert at an index
 * with an item counts its walk.
 */
struct sws_rtree_work {
	/* Walks from the top. */
	uint64_t descents;
	/* Nodes passed, allocated or freed. */
	uint64_t nodes_touched;
	/* Tag words tested or changed. */
	uint64_t tag_words_touched;
	/* Nodes allocated. */
	uint64_t nodes_allocated;
	/* Nodes freed. */
	uint64_t nodes_freed;
};

/* A forest; only the functions below read it. */
struct sws_forest;

/* Writes every default. Complexity: O(1). */
void sws_forest_config_init(struct sws_forest_config *config);

/*
 * Creates a forest of config->tree_count empty trees, numbered from 0. The caller owns *out and
 * frees it by sws_forest_free. Complexity: O(trees). Returns SWS_OK, SWS_ERROR_BAD_CONFIG or
 * SWS_ERROR_NO_MEMORY; on an error *out is NULL.
 */
int sws_forest_new(const struct sws_forest_config *config, struct sws_forest **out);

/* Frees a forest and all its nodes; accepts NULL. Items are words of the caller, not pointers. */
void sws_forest_free(struct sws_forest *self);

/*
 * Adds an empty tree; *tree is its number, the previous number of trees. Complexity: amortised
 * O(1). Returns SWS_OK or SWS_ERROR_NO_MEMORY.
 */
int sws_forest_add_tree(struct sws_forest *self, uint32_t *tree);

/* Returns the number of trees. */
uint32_t sws_forest_tree_count(const struct sws_forest *self);

/*
 * Recomputes every invariant of every tree: parents, counts, tag words, minimum heights, node
 * counts. Complexity: O(nodes). Returns SWS_OK, or SWS_ERROR_BROKEN and the *reason, a constant
 * string.
 */
int sws_forest_verify(const struct sws_forest *self, const char **reason);

/*
 * Single calls on one tree of the forest. For an unknown tree number, functions that return an
 * error return SWS_ERROR_BAD_ARGUMENT; the others treat it as an empty tree. work may be NULL.
 * Complexity: O(height), and O(1) near the last index used.
 */

/*
 * Inserts a nonzero item at an empty index. Models: radix_tree_insert. Returns SWS_OK;
 * SWS_ERROR_EXISTS; SWS_ERROR_NO_MEMORY, with the tree unchanged; SWS_ERROR_BAD_ARGUMENT for the
 * item 0.
 */
int sws_rtree_insert(struct sws_forest *self, uint32_t tree, uint64_t index, uint64_t item,
		     struct sws_rtree_work *work);

/* Returns the item at an index, or 0. Models: radix_tree_lookup. */
uint64_t sws_rtree_lookup(struct sws_forest *self, uint32_t tree, uint64_t index,
			  struct sws_rtree_work *work);

/*
 * Replaces an item by another nonzero item; tags, counts and nodes are unchanged. Models:
 * radix_tree_replace_slot. Returns SWS_OK; SWS_ERROR_NOT_FOUND; SWS_ERROR_BAD_ARGUMENT for the item
 * 0.
 */
int sws_rtree_replace(struct sws_forest *self, uint32_t tree, uint64_t index, uint64_t item,
		      struct sws_rtree_work *work);

/*
 * Removes an item and its tags, frees empty nodes and shrinks the tree. Models: radix_tree_delete.
 * Returns the removed item, or 0.
 */
uint64_t sws_rtree_delete(struct sws_forest *self, uint32_t tree, uint64_t index,
			  struct sws_rtree_work *work);

/*
 * Sets a tag of an item, in each node from the top to the leaf and in the root. Models:
 * radix_tree_tag_set. Returns SWS_OK, whether or not it was set before; SWS_ERROR_NOT_FOUND;
 * SWS_ERROR_BAD_ARGUMENT for an unknown tag.
 */
int sws_rtree_tag_set(struct sws_forest *self, uint32_t tree, uint64_t index, uint32_t tag,
		      struct sws_rtree_work *work);

/*
 * Clears a tag of an item, and of each node above it without another item that has the tag. Models:
 * radix_tree_tag_clear. Returns the codes of sws_rtree_tag_set.
 */
int sws_rtree_tag_clear(struct sws_forest *self, uint32_t tree, uint64_t index, uint32_t tag,
			struct sws_rtree_work *work);

/*
 * Sets the tags of one mask, then clears those of another, in one walk. Models: 6.1's start of
 * writeback, xas_load, xas_set_mark, xas_clear_mark. Returns the codes of sws_rtree_tag_set;
 * SWS_ERROR_BAD_ARGUMENT also for masks that overlap.
 */
int sws_rtree_tag_update(struct sws_forest *self, uint32_t tree, uint64_t index, uint32_t set_mask,
			 uint32_t clear_mask, struct sws_rtree_work *work);

/* Returns true if the index has an item with the tag. Models: radix_tree_tag_get. */
bool sws_rtree_tag_get(struct sws_forest *self, uint32_t tree, uint64_t index, uint32_t tag,
		       struct sws_rtree_work *work);

/* Returns true if any item of the tree has the tag: the root's bit. Models: radix_tree_tagged. */
bool sws_rtree_tagged(const struct sws_forest *self, uint32_t tree, uint32_t tag);

/* Returns the levels of nodes: 0 for an empty tree and for a single item at index 0. */
uint32_t sws_rtree_height(const struct sws_forest *self, uint32_t tree);

/* Returns the number of nodes of one tree. */
uint64_t sws_rtree_node_count(const struct sws_forest *self, uint32_t tree);

/*
 * Returns the first item at or above *index and writes its index, or 0, with *index unchanged.
 * Complexity: O(empty slots between them * height).
 */
uint64_t sws_rtree_next(const struct sws_forest *self, uint32_t tree, uint64_t *index);

/* ffi: end */

#endif
