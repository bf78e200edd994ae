/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rtree/layout.h"

/*
 * The history of a tree of shift 2. The shift is printed before each node, and * is a child:
 *
 *      insert a at 0     insert b at 6                   insert c at 17
 *
 *      root: a                 2 [* * . .]                       4 [* * . .]
 *                            .----' '----.                     .----' '-----------.
 *                      0 [a . . .]  0 [. . b .]           2 [* * . .]        2 [* . . .]
 *                                                       .----' '----.           '---.
 *                                                 0 [a . . .]  0 [. . b .]   0 [. c . .]
 *      height 0                height 2                          height 3
 *
 * 6 is 01 10 in binary, beyond the range of a root or a single leaf, so the tree grows twice: a
 * leaf takes the root's item, a node of shift 2 takes that leaf as its slot 0; then the path to 6
 * is created. 17 is 01 00 01: the tree grows once more.
 *
 * Deletes reverse these steps. Without c, its leaf and the node above are empty and are freed; the
 * top has only slot 0 in use, so it is removed, too, and the height is 2. Without b the same
 * happens twice, and a is in the root again. A root's tags are copied to slot 0 of each new top,
 * and remain those of the root.
 *
 * The costs, as struct sws_rtree_work counts them:
 *
 *                  reserved  made  freed   nodes touched
 *      insert b       4       3      -     3: 0 on the walk, the root had no node
 *      insert c       4       3      -     3: 17 is beyond height 2, the walk passed no node
 *      delete c       -       -      3     3: passed on the walk, including the removed top
 *      delete b       -       -      3     3: two passed, and the leaf of a, removed as a
 *                                          top but not on the path to 6
 *
 * The corresponding kernel functions are radix_tree_extend(), __radix_tree_create(),
 * radix_tree_shrink() and __radix_tree_delete_node() (lib/radix-tree.c, 4.8).
 */

/* Returns the minimum height that can hold the index; not 0, which holds index 0 only. */
static uint32_t height_for(const struct sws_forest *self, uint64_t index)
{
	uint32_t height = 1;

	while (!sws_rtree__holds(self->shift, height, index))
		height++;
	return height;
}

/* Adds a level: slot 0 of the new top takes the tree and the root's tags. */
static void grow(struct sws_forest *self, struct sws_rtree__tree *tree, struct sws_rtree_work *work)
{
	struct sws_rtree__node *top = sws_forest__take(self, tree);

	top->shift = (uint8_t)(tree->height * self->shift);
	top->count = 1;
	if (tree->top) {
		top->slots[0] = (uintptr_t)tree->top;
		tree->top->parent = top;
		tree->top->offset = 0;
	} else {
		top->slots[0] = tree->item;
		tree->item = 0;
	}
	for (uint32_t tag = 0; tag < SWS_RTREE_TAG_COUNT; tag++) {
		top->tags[tag] = tree->tags >> tag & 1;
		if (work)
			work->tag_words_touched += top->tags[tag];
	}
	tree->top = top;
	tree->height++;
}

/* Returns the leaf of an index within the height; creates missing nodes. */
static struct sws_rtree__node *make_path(struct sws_forest *self, struct sws_rtree__tree *tree,
					 uint64_t index)
{
	struct sws_rtree__node *node = tree->top;

	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a height above 0 has a top */
	while (node->shift) {
		uint32_t offset = sws_rtree__offset(self, index, node->shift);
		struct sws_rtree__node *child = sws_rtree__child(node, offset);

		if (!child) {
			child = sws_forest__take(self, tree);
			child->shift = (uint8_t)(node->shift - self->shift);
			child->offset = (uint8_t)offset;
			child->parent = node;
			node->slots[offset] = (uintptr_t)child;
			node->count++;
		}
		node = child;
	}
	return node;
}

int sws_rtree__insert_off_leaf(struct sws_forest *self, struct sws_rtree__tree *tree,
			       uint64_t index, uint64_t item, struct sws_rtree_work *work)
{
	uint32_t height = height_for(self, index);
	uint64_t made = tree->node_count;
	struct sws_rtree__node *leaf = NULL;
	int error = SWS_OK;

	if (tree->height == 0 && index == 0) {
		if (tree->item)
			return SWS_ERROR_EXISTS;
		tree->item = item;
		return SWS_OK;
	}
	if (height < tree->height)
		height = tree->height;
	/*
	 * New tops, then a path from the last of them: an upper bound, so no step fails midway.
	 * Inserting b used one node less: the path to 6 starts in the new top, which is counted
	 * with the tops.
	 */
	error = sws_forest__reserve(self, height - tree->height + (uint64_t)height);
	if (error)
		return error;
	if (!tree->top && !tree->item) {
		tree->top = sws_forest__take(self, tree);
		tree->top->shift = (uint8_t)((height - 1) * self->shift);
		tree->height = (uint8_t)height;
	}
	while (tree->height < height)
		grow(self, tree, work);
	leaf = make_path(self, tree, index);
	leaf->slots[index & self->mask] = item;
	leaf->count++;
	tree->leaf = leaf;
	tree->leaf_number = index >> self->shift;
	made = tree->node_count - made;
	if (work) {
		/*
		 * The walk before has counted the nodes that it passed; the new ones are added
		 * here.
		 */
		work->nodes_touched += made;
		work->nodes_allocated += made;
	}
	return SWS_OK;
}

/*
 * Removes tops that only have slot 0 in use; a leaf's single item at index 0 goes into the root. A
 * single item elsewhere keeps its nodes: with c alone, at 17, slot 1 of the top is in use, and a
 * lower tree cannot hold 17.
 */
static void shrink(struct sws_forest *self, struct sws_rtree__tree *tree, uint64_t index,
		   struct sws_rtree_work *work)
{
	while (tree->top && tree->top->count == 1 && tree->top->slots[0]) {
		struct sws_rtree__node *top = tree->top;

		/* A removed node on the path to the index was counted when it was passed. */
		if (work && !sws_rtree__holds(self->shift, tree->height, index))
			work->nodes_touched++;
		if (top->shift) {
			tree->top = sws_rtree__child(top, 0);
			tree->top->parent = NULL;
		} else {
			tree->top = NULL;
			tree->item = top->slots[0];
		}
		tree->height--;
		top->slots[0] = 0;
		for (uint32_t tag = 0; tag < SWS_RTREE_TAG_COUNT; tag++)
			top->tags[tag] = 0;
		sws_forest__give(self, tree, top);
	}
}

void sws_rtree__settle(struct sws_forest *self, struct sws_rtree__tree *tree,
		       struct sws_rtree__node *leaf, uint64_t index, struct sws_rtree_work *work)
{
	struct sws_rtree__node *node = leaf;
	uint64_t freed = tree->node_count;

	while (node && node->count == 0) {
		struct sws_rtree__node *parent = node->parent;

		if (parent) {
			parent->slots[node->offset] = 0;
			parent->count--;
		} else {
			tree->top = NULL;
			tree->height = 0;
		}
		sws_forest__give(self, tree, node);
		node = parent;
	}
	if (node == tree->top)
		shrink(self, tree, index, work);
	if (work)
		work->nodes_freed += freed - tree->node_count;
}
