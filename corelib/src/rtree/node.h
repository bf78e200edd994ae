/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rtree/node.h - what the sources of rtree.h share: the layout of nodes, trees
 * and the forest, and the steps that single and batch calls have in common.
 */
#ifndef SWAPSIM_RTREE_NODE_H
#define SWAPSIM_RTREE_NODE_H

#include "swapsim/rtree.h"

/* A step of the hot loops: a call would cost as much as the step. */
#define SWS_RTREE__STEP static inline __attribute__((always_inline))

/* 40 bytes, then 2^shift slots; rounded up to cache lines that is 576 bytes at shift 6. */
struct sws_rtree__node {
	uint64_t tags[SWS_RTREE_TAG_COUNT]; /* bit i: an item at or below slot i has the tag */
	struct sws_rtree__node *parent;     /* NULL in a top; in a free node the next free one */
	uint8_t shift; /* index bits that the nodes below take; 0 in a leaf */
	uint8_t offset; /* the slot of the parent that holds this node */
	uint8_t count; /* slots in use */
	uint64_t slots[]; /* items in a leaf, addresses of nodes above */
};

/* No index has this leaf number: a leaf has at least two slots. */
#define SWS_RTREE__NO_LEAF UINT64_MAX

struct sws_rtree__tree {
	struct sws_rtree__node *top; /* NULL at height 0 */
	uint64_t item; /* the lone item at index 0, at height 0 */
	struct sws_rtree__node *leaf; /* the last leaf used, NULL if none */
	uint64_t leaf_number; /* its indexes >> shift, or SWS_RTREE__NO_LEAF */
	uint64_t node_count;
	uint8_t height;
	uint8_t tags; /* bit t: an item of the tree has tag t */
};

struct sws_forest {
	struct sws_rtree__tree *trees;
	uint32_t tree_count;
	uint32_t tree_room;
	uint32_t shift;
	uint32_t mask;
	size_t node_bytes;
	uint64_t node_count;
	struct sws_rtree__node *free_nodes; /* all zero but for their links */
	uint64_t free_count;
	unsigned char *fresh; /* nodes of the last slab that were never used */
	uint64_t fresh_count;
	uint64_t slab_nodes; /* nodes of the next slab */
	uint64_t made_count; /* nodes of all slabs */
	struct sws_rtree__slab *slabs;
	uint64_t sort_threshold;
	const struct sws_allocator *allocator;
};

/* rtree/forest.c: sees to it that the next count nodes can be taken. */
int sws_forest__reserve(struct sws_forest *self, uint64_t count);

/* rtree/forest.c: takes a zeroed node that was reserved. */
struct sws_rtree__node *sws_forest__take(struct sws_forest *self, struct sws_rtree__tree *tree);

/* rtree/forest.c: gives back a node whose slots and tag words are all zero. */
void sws_forest__give(struct sws_forest *self, struct sws_rtree__tree *tree,
		      struct sws_rtree__node *node);

/* rtree.c: an insert that found no leaf: the tree grows, or nodes are missing, or height 0. */
int sws_rtree__insert_off_leaf(struct sws_forest *self, struct sws_rtree__tree *tree,
			       uint64_t index, uint64_t item, struct sws_rtree_work *work);

/* rtree.c: after the item at offset of a leaf left and a tag, a node or the top may follow. */
void sws_rtree__settle(struct sws_forest *self, struct sws_rtree__tree *tree,
		       struct sws_rtree__node *leaf, uint64_t index, struct sws_rtree_work *work);

/* rtree.c: a leaf's first item got the tag: its ancestors and the root get it. */
void sws_rtree__tag_climb(struct sws_rtree__tree *tree, const struct sws_rtree__node *leaf,
			  uint32_t tag);

/* rtree.c: a leaf's last item lost the tag: ancestors left without it lose it, then the root. */
void sws_rtree__untag_climb(struct sws_rtree__tree *tree, const struct sws_rtree__node *leaf,
			    uint32_t tag, struct sws_rtree_work *work);

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

/* As walk, through the last leaf used; counts one descent whichever way it went. */
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

SWS_RTREE__STEP int sws_rtree__insert(struct sws_forest *self, struct sws_rtree__tree *tree,
				      struct sws_rtree__node *leaf, uint64_t index, uint64_t item,
				      struct sws_rtree_work *work)
{
	uint64_t *slot = NULL;

	if (!leaf)
		return sws_rtree__insert_off_leaf(self, tree, index, item, work);
	slot = &leaf->slots[index & self->mask];
	if (*slot)
		return SWS_ERROR_EXISTS;
	*slot = item;
	leaf->count++;
	return SWS_OK;
}

SWS_RTREE__STEP int sws_rtree__tag_set(const struct sws_forest *self, struct sws_rtree__tree *tree,
				       struct sws_rtree__node *leaf, uint64_t index, uint32_t tag)
{
	uint64_t word = 0;

	if (!sws_rtree__item(self, tree, leaf, index))
		return SWS_ERROR_NOT_FOUND;
	if (!leaf) {
		tree->tags |= (uint8_t)(1u << tag);
		return SWS_OK;
	}
	/* A word with any bit means that all above it have theirs. */
	word = leaf->tags[tag];
	leaf->tags[tag] = word | UINT64_C(1) << (index & self->mask);
	if (!word)
		sws_rtree__tag_climb(tree, leaf, tag);
	return SWS_OK;
}

SWS_RTREE__STEP int sws_rtree__tag_clear(const struct sws_forest *self,
					 struct sws_rtree__tree *tree, struct sws_rtree__node *leaf,
					 uint64_t index, uint32_t tag, struct sws_rtree_work *work)
{
	uint64_t bit = UINT64_C(1) << (index & self->mask);

	if (!sws_rtree__item(self, tree, leaf, index))
		return SWS_ERROR_NOT_FOUND;
	if (work)
		work->tag_words_touched++;
	if (!leaf) {
		tree->tags &= (uint8_t)~(1u << tag);
		return SWS_OK;
	}
	if (!(leaf->tags[tag] & bit))
		return SWS_OK;
	leaf->tags[tag] &= ~bit;
	if (!leaf->tags[tag])
		sws_rtree__untag_climb(tree, leaf, tag, work);
	return SWS_OK;
}

SWS_RTREE__STEP bool sws_rtree__tag_get(const struct sws_forest *self,
					const struct sws_rtree__tree *tree,
					const struct sws_rtree__node *leaf, uint64_t index,
					uint32_t tag)
{
	if (leaf)
		return leaf->tags[tag] >> (index & self->mask) & 1;
	return sws_rtree__item(self, tree, leaf, index) && (tree->tags >> tag & 1);
}

SWS_RTREE__STEP uint64_t sws_rtree__delete(struct sws_forest *self, struct sws_rtree__tree *tree,
					   struct sws_rtree__node *leaf, uint64_t index,
					   struct sws_rtree_work *work)
{
	uint64_t item = sws_rtree__item(self, tree, leaf, index);
	uint64_t bit = UINT64_C(1) << (index & self->mask);

	if (!item)
		return 0;
	for (uint32_t tag = 0; tag < SWS_RTREE_TAG_COUNT; tag++) {
		if (work || !leaf || leaf->tags[tag] & bit)
			sws_rtree__tag_clear(self, tree, leaf, index, tag, work);
	}
	if (!leaf) {
		tree->item = 0;
		return item;
	}
	leaf->slots[index & self->mask] = 0;
	leaf->count--;
	/* Freeing goes upward from an empty leaf; a top that is a leaf may shrink. */
	if (leaf->count == 0 || !leaf->parent)
		sws_rtree__settle(self, tree, leaf, index, work);
	return item;
}

#endif
