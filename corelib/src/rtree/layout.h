/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rtree/layout.h - the lowest layer of rtree: the memory layout of nodes, trees and the forest, and
 * the walk down to a leaf.
 *
 *      layout.h                    structs, offset, walk, find
 *                   nodes.c        nodes in use, free and fresh; slabs
 *                   slow.c         changes beyond a leaf: grow, shrink
 *      steps.h                     an operation at its leaf, propagation of a tag
 *      rtree.c                     the public calls; also forest.c and verify.c
 *
 * A tree of height 2 at shift 2, with the indexes 1, 2 and 9 in use, 2 DIRTY:
 *
 *      tree   top, height 2, tags 001 (bit 0: DIRTY)
 *       |
 *      node   shift 2   slots [ * . * . ]   tags[DIRTY] 0001   count 2
 *                        .----'   '----.
 *      node   shift 0   [ . 1 2 . ]   [ . 9 . . ]              counts 2, 1
 *             DIRTY         0100          0000
 *
 * Index 9 is 10 01 in binary: slot 2 of the node of shift 2, then slot 1 of the leaf. A walk to 5,
 * 01 01, ends at the empty slot 1 of the top: one node passed. A walk to 18, 01 00 10, does not
 * start: two levels of two bits hold 0 to 15.
 */
#ifndef SWAPSIM_RTREE_LAYOUT_H
#define SWAPSIM_RTREE_LAYOUT_H

#include "swapsim/rtree.h"

/* A step of the hot loops: a function call would cost as much as the step. */
#define SWS_RTREE__STEP static inline __attribute__((always_inline))

/*
 * A path that few calls take: a function call, so that the other paths keep their registers; in the
 * same source, so that the compiler knows which registers the call preserves.
 */
#define SWS_RTREE__SELDOM static __attribute__((noinline))

/*
 * 40 bytes, then 2^shift slots; rounded up to cache lines these are 576 bytes at shift 6:
 *
 *      0        8        16       24       32  33  34  35    40                       552
 *      | tags 0 | tags 1 | tags 2 | parent | s | o | c | gap | slots[0] .. slots[63] |
 *
 * The words that a step changes, tags and count, share the first cache line with the first three
 * slots.
 */
struct sws_rtree__node {
	/* Bit i is set if an item at or below slot i has the tag. */
	uint64_t tags[SWS_RTREE_TAG_COUNT];
	/* The parent; NULL in a top; in a free node the next free one. */
	struct sws_rtree__node *parent;
	/* Index bits below this node; 0 in a leaf. */
	uint8_t shift;
	/* The slot of the parent that contains this node. */
	uint8_t offset;
	/* Slots in use. */
	uint8_t count;
	/* Items in a leaf, addresses of nodes in other nodes. */
	uint64_t slots[];
};

/* No index has this leaf number, because a leaf has at least two slots. */
#define SWS_RTREE__NO_LEAF UINT64_MAX

struct sws_rtree__tree {
	/* The top node; NULL at height 0. */
	struct sws_rtree__node *top;
	/* At height 0 the single item at index 0, or 0. */
	uint64_t item;
	/* The last leaf used, or NULL: most calls are close to the previous one. */
	struct sws_rtree__node *leaf;
	/* The leaf's indexes >> shift, or SWS_RTREE__NO_LEAF. */
	uint64_t leaf_number;
	uint64_t node_count;
	uint8_t height;
	/* Bit t is set if an item of the tree has tag t. */
	uint8_t tags;
};

struct sws_forest {
	struct sws_rtree__tree *trees;
	uint32_t tree_count;
	uint32_t tree_room;
	/* The slots of each node: 2^shift, mask + 1. */
	uint32_t shift;
	uint32_t mask;
	size_t node_bytes;
	/* Nodes in use in all trees. */
	uint64_t node_count;
	/* Free nodes, which are zero except for their links. */
	struct sws_rtree__node *free_nodes;
	uint64_t free_count;
	/* Nodes of the last slab that were never used, not zeroed yet. */
	unsigned char *fresh;
	uint64_t fresh_count;
	/* The number of nodes of the next slab. */
	uint64_t slab_nodes;
	/* The number of nodes of all slabs. */
	uint64_t made_count;
	struct sws_rtree__slab *slabs;
	const struct sws_allocator *allocator;
};

/* Returns the slot of a node of this shift on the path to the index. */
SWS_RTREE__STEP uint32_t sws_rtree__offset(const struct sws_forest *self, uint64_t index,
					   uint32_t shift)
{
	return (uint32_t)(index >> shift) & self->mask;
}

SWS_RTREE__STEP struct sws_rtree__node *sws_rtree__child(const struct sws_rtree__node *node,
							 uint64_t offset)
{
	return (struct sws_rtree__node *)(uintptr_t)node->slots[offset];
}

/* Returns true if a tree of this height can hold the index. */
SWS_RTREE__STEP bool sws_rtree__holds(uint32_t shift, uint32_t height, uint64_t index)
{
	uint32_t bits = shift * height;

	return bits >= 64 || index >> bits == 0;
}

/* Returns the leaf of the index, NULL if there is none; *passed counts the nodes on the path. */
SWS_RTREE__STEP struct sws_rtree__node *sws_rtree__walk(const struct sws_forest *self,
							const struct sws_rtree__tree *tree,
							uint64_t index, uint64_t *passed)
{
	struct sws_rtree__node *node = tree->top;
	uint32_t level = tree->height * self->shift;

	*passed = 0;
	if (!node || !sws_rtree__holds(self->shift, tree->height, index))
		return NULL;
	for (*passed = 1, level -= self->shift; level; ++*passed, level -= self->shift) {
		node = sws_rtree__child(node, sws_rtree__offset(self, index, level));
		if (!node)
			return NULL;
	}
	return node;
}

/*
 * As walk, but first tries the last leaf used; counts one descent in both cases.
 *
 * The kernel has no cache of the last leaf: it walks each time, and passes `height` nodes. A leaf's
 * number counts from index 0, not from the top, so it stays valid while the tree grows above the
 * leaf or shrinks; only freeing the leaf itself invalidates it.
 */
SWS_RTREE__STEP struct sws_rtree__node *sws_rtree__find(const struct sws_forest *self,
							struct sws_rtree__tree *tree,
							uint64_t index, struct sws_rtree_work *work)
{
	uint64_t number = index >> self->shift;
	uint64_t passed = tree->height;
	struct sws_rtree__node *leaf = tree->leaf;

	if (tree->leaf_number != number) {
		leaf = sws_rtree__walk(self, tree, index, &passed);
		if (leaf) {
			tree->leaf = leaf;
			tree->leaf_number = number;
		}
	}
	if (work) {
		work->descents++;
		work->nodes_touched += passed;
	}
	return leaf;
}

/* Returns the item at the index, given its leaf from find. */
SWS_RTREE__STEP uint64_t sws_rtree__item(const struct sws_forest *self,
					 const struct sws_rtree__tree *tree,
					 const struct sws_rtree__node *leaf, uint64_t index)
{
	if (leaf)
		return leaf->slots[index & self->mask];
	return tree->height == 0 && index == 0 ? tree->item : 0;
}

/* slow.c: the effects of a row beyond its leaf; they are rare, so these are function calls. */

/* Inserts an item without a leaf: the tree grows, nodes are missing, or its height is 0. */
int sws_rtree__insert_off_leaf(struct sws_forest *self, struct sws_rtree__tree *tree,
			       uint64_t index, uint64_t item, struct sws_rtree_work *work);

/* Settles a leaf that has lost an item: frees empty nodes, then shrinks the tree from its top. */
void sws_rtree__settle(struct sws_forest *self, struct sws_rtree__tree *tree,
		       struct sws_rtree__node *leaf, uint64_t index, struct sws_rtree_work *work);

/*
 * nodes.c: allocation and freeing of nodes.
 *
 *      slab  [ head | used | used | used | fresh fresh fresh fresh ]
 *                      |      ^
 *                 give v      | take
 *                   free nodes, all zero, linked by parent
 *
 * An operation first reserves the maximum number of nodes that it may need, which is the only place
 * where memory can run out; then it takes them, and cannot fail midway.
 */

/* Sets the size of a node and of the first slab from the forest's shift. */
void sws_forest__init_nodes(struct sws_forest *self);

/* Frees all slabs. */
void sws_forest__free_nodes(struct sws_forest *self);

/* Ensures that the next count nodes can be taken. Returns SWS_OK or SWS_ERROR_NO_MEMORY. */
int sws_forest__reserve(struct sws_forest *self, uint64_t count);

/* Takes a zeroed node that was reserved. */
struct sws_rtree__node *sws_forest__take(struct sws_forest *self, struct sws_rtree__tree *tree);

/* Frees a node whose slots and tag words are all zero. */
void sws_forest__give(struct sws_forest *self, struct sws_rtree__tree *tree,
		      struct sws_rtree__node *node);

#endif
