/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rtree/layout.h"

/* The sentence of a failed check; NULL if all checks hold. */
typedef const char *verdict;

/* Checks the node itself, without the nodes below it. */
static verdict verify_slots(const struct sws_forest *self, const struct sws_rtree__node *node)
{
	uint32_t used = 0;

	for (uint32_t offset = 0; offset <= self->mask; offset++) {
		if (node->slots[offset])
			used++;
		/*
		 * At shift 6 a tree of height 11 has a top of shift 60, with 4 bits of the index,
		 * so its slots from 16 on are never used.
		 */
		if (node->shift + self->shift > 64 && offset >> (64 - node->shift) &&
		    node->slots[offset])
			return "a slot beyond the largest index is in use";
		for (uint32_t tag = 0; tag < SWS_RTREE_TAG_COUNT; tag++) {
			if (node->tags[tag] >> offset & 1 && !node->slots[offset])
				return "an empty slot is tagged";
		}
	}
	for (uint32_t tag = 0; tag < SWS_RTREE_TAG_COUNT; tag++) {
		if (self->shift < 6 && node->tags[tag] >> (self->mask + 1))
			return "a tag word has a bit beyond its slots";
	}
	if (used != node->count)
		return "the count of a node is not the number of its slots in use";
	if (!used)
		return "a node is empty";
	return NULL;
}

static verdict verify_below(const struct sws_forest *self, const struct sws_rtree__node *node,
			    uint64_t *nodes)
{
	verdict wrong = verify_slots(self, node);

	++*nodes;
	for (uint32_t offset = 0; !wrong && node->shift && offset <= self->mask; offset++) {
		const struct sws_rtree__node *child = sws_rtree__child(node, offset);

		if (!child)
			continue;
		if (child->parent != node || child->offset != offset)
			return "a node does not refer to its parent's slot";
		if (child->shift + self->shift != node->shift)
			return "a node is at the wrong level";
		for (uint32_t tag = 0; tag < SWS_RTREE_TAG_COUNT; tag++) {
			if ((node->tags[tag] >> offset & 1) != (child->tags[tag] != 0))
				return "a tag bit differs from the tag word below it";
		}
		wrong = verify_below(self, child, nodes);
	}
	return wrong;
}

static verdict verify_last_leaf(const struct sws_forest *self, const struct sws_rtree__tree *tree)
{
	uint64_t passed = 0;

	if (tree->leaf_number == SWS_RTREE__NO_LEAF)
		return tree->leaf ? "a last leaf has no number" : NULL;
	if (sws_rtree__walk(self, tree, tree->leaf_number << self->shift, &passed) != tree->leaf)
		return "the last leaf used is not where its number leads";
	return NULL;
}

static verdict verify_tree(const struct sws_forest *self, const struct sws_rtree__tree *tree)
{
	const struct sws_rtree__node *top = tree->top;
	uint64_t nodes = 0;
	verdict wrong = NULL;

	if (!top != !tree->height)
		return "a tree of height 0 has nodes, or one of another height has none";
	if (!top) {
		if (tree->tags && !tree->item)
			return "an empty tree is tagged";
		return tree->node_count ? "a tree without nodes counts some"
					: verify_last_leaf(self, tree);
	}
	if (tree->item)
		return "a tree with nodes has an item in its root";
	if (top->parent || top->shift != (tree->height - 1) * self->shift)
		return "a top node has a parent or the wrong level";
	if (top->count == 1 && top->slots[0])
		return "a top node has slot 0 alone: the tree should have shrunk";
	for (uint32_t tag = 0; tag < SWS_RTREE_TAG_COUNT; tag++) {
		if ((tree->tags >> tag & 1) != (top->tags[tag] != 0))
			return "a root's tag differs from the tag word of its top";
	}
	wrong = verify_below(self, top, &nodes);
	if (!wrong && nodes != tree->node_count)
		wrong = "a tree's node count is not that of its nodes";
	return wrong ? wrong : verify_last_leaf(self, tree);
}

static verdict verify_free_nodes(const struct sws_forest *self)
{
	uint64_t count = 0;

	for (const struct sws_rtree__node *node = self->free_nodes; node; node = node->parent) {
		uint64_t used = node->count;

		if (++count > self->free_count)
			return "more nodes are free than counted";
		for (uint32_t tag = 0; tag < SWS_RTREE_TAG_COUNT; tag++)
			used |= node->tags[tag];
		for (uint32_t offset = 0; offset <= self->mask; offset++)
			used |= node->slots[offset];
		if (used)
			return "a free node is not zero";
	}
	if (count != self->free_count)
		return "fewer nodes are free than counted";
	if (self->node_count + self->free_count + self->fresh_count != self->made_count)
		return "nodes in use, free and fresh are not all that were made";
	return NULL;
}

int sws_forest_verify(const struct sws_forest *self, const char **reason)
{
	uint64_t nodes = 0;
	verdict wrong = NULL;

	for (uint32_t tree = 0; !wrong && tree < self->tree_count; tree++) {
		wrong = verify_tree(self, &self->trees[tree]);
		nodes += self->trees[tree].node_count;
	}
	if (!wrong && nodes != self->node_count)
		wrong = "the forest's node count is not that of its trees";
	if (!wrong)
		wrong = verify_free_nodes(self);
	*reason = wrong ? wrong : "every invariant holds";
	return wrong ? SWS_ERROR_BROKEN : SWS_OK;
}
