/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rtree/layout.h - the bottom of rtree: nodes, trees and the forest as they lie
 * in memory, and the walk down to a leaf.
 *
 *      layout.h                    structs, offset, walk, find
 *      nodes.h      nodes.c        nodes in use, free, fresh; slabs
 *      slow.h       slow.c         what goes beyond a leaf: grow, shrink
 *      steps.h                     one row at its leaf, a tag upward; the slow way where it must
 *      rtree.c  scan.c  batch.c    the public calls; forest.c and verify.c beside them
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
 * Index 9 is 10 01 in bits: slot 2 of the node of shift 2, then slot 1 of the leaf.
 * A walk to 5, 01 01, ends at the empty slot 1 of the top: one node passed. A walk to
 * 18, 01 00 10, does not begin: two levels of two bits hold 0 to 15.
 */
#ifndef SWAPSIM_RTREE_LAYOUT_H
#define SWAPSIM_RTREE_LAYOUT_H

#include "swapsim/rtree.h"

/* A step of the hot loops: a call would cost as much as the step. */
#define SWS_RTREE__STEP static inline __attribute__((always_inline))

/*
 * A way that few rows take: a call, so that the others keep their registers; in the same
 * source, so that the compiler sees which ones the call spares.
 */
#define SWS_RTREE__SELDOM static __attribute__((noinline, unused))

/*
 * 40 bytes, then 2^shift slots; rounded up to cache lines that is 576 bytes at shift 6:
 *
 *      0        8        16       24       32  33  34  35    40                       552
 *      | tags 0 | tags 1 | tags 2 | parent | s | o | c | gap | slots[0] .. slots[63] |
 *
 * The words that a step changes, tags and count, share the first cache line with the
 * first three slots.
 */
struct sws_rtree__node {
	/* Bit i: an item at or below slot i has the tag. */
	uint64_t tags[SWS_RTREE_TAG_COUNT];
	/* NULL in a top; in a free node the next free one. */
	struct sws_rtree__node *parent;
	/* Index bits that the nodes below take; 0 in a leaf. */
	uint8_t shift;
	/* The slot of the parent that holds this node. */
	uint8_t offset;
	/* Slots in use. */
	uint8_t count;
	/* Items in a leaf, addresses of nodes above. */
	uint64_t slots[];
};

/* No index has this leaf number: a leaf has at least two slots. */
#define SWS_RTREE__NO_LEAF UINT64_MAX

struct sws_rtree__tree {
	/* NULL at height 0. */
	struct sws_rtree__node *top;
	/* At height 0 the lone item at index 0, or 0. */
	uint64_t item;
	/* The last leaf used, NULL if none: most rows lie beside the row before. */
	struct sws_rtree__node *leaf;
	/* The leaf's indexes >> shift, or SWS_RTREE__NO_LEAF. */
	uint64_t leaf_number;
	uint64_t node_count;
	uint8_t height;
	/* Bit t: an item of the tree has tag t. */
	uint8_t tags;
};

struct sws_forest {
	struct sws_rtree__tree *trees;
	uint32_t tree_count;
	uint32_t tree_room;
	/* Of each node: its slots are 2^shift, mask + 1. */
	uint32_t shift;
	uint32_t mask;
	size_t node_bytes;
	/* Nodes in use in all trees. */
	uint64_t node_count;
	/* All zero but for their links. */
	struct sws_rtree__node *free_nodes;
	uint64_t free_count;
	/* Nodes of the last slab that were never used, not zeroed yet. */
	unsigned char *fresh;
	uint64_t fresh_count;
	/* Nodes of the next slab. */
	uint64_t slab_nodes;
	/* Nodes of all slabs. */
	uint64_t made_count;
	struct sws_rtree__slab *slabs;
	uint64_t sort_threshold;
	const struct sws_allocator *allocator;
};

/* The slot of a node of this shift on the way to the index. */
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

/* Whether a tree of this height has a place for the index. */
SWS_RTREE__STEP bool sws_rtree__holds(uint32_t shift, uint32_t height, uint64_t index)
{
	uint32_t bits = shift * height;

	return bits >= 64 || index >> bits == 0;
}

/* The leaf that holds the index, NULL if there is none; *passed counts the nodes on the way. */
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
 * As walk, through the last leaf used; counts one descent whichever way it went.
 *
 * The kernel keeps no last leaf: it walks each time, and height nodes are what it passes.
 * A leaf's number counts from index 0, not from the top, so it stays true while the tree
 * grows above the leaf, or shrinks: only giving back the leaf itself ends it.
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

/* The item at the index, given the leaf that find gave. */
SWS_RTREE__STEP uint64_t sws_rtree__item(const struct sws_forest *self,
					 const struct sws_rtree__tree *tree,
					 const struct sws_rtree__node *leaf, uint64_t index)
{
	if (leaf)
		return leaf->slots[index & self->mask];
	return tree->height == 0 && index == 0 ? tree->item : 0;
}

#endif
