/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rtree/steps.h"

/* The tag of a cursor that stops at every item. */
#define ANY_ITEM SWS_RTREE_TAG_COUNT

/* A position in a tree: node and offset, and the index that they make. */
struct cursor {
	const struct sws_forest *forest;
	struct sws_rtree__node *node;
	uint64_t index;
	uint32_t offset;
	/* Stops at items with this tag, or with ANY_ITEM at all items. */
	uint32_t tag;
};

/* Moves the offset to the next slot that leads to a wanted item, or past the node's end. */
static void skip_slots(struct cursor *self)
{
	uint32_t slots = self->forest->mask + 1;
	uint64_t left = 0;

	if (self->tag == ANY_ITEM) {
		while (self->offset < slots && !self->node->slots[self->offset])
			self->offset++;
		return;
	}
	if (self->offset == slots)
		return;
	left = self->node->tags[self->tag] >> self->offset;
	if (!left)
		self->offset = slots;
	else
		self->offset += (uint32_t)__builtin_ctzll(left);
}

/* Sets the index to the first one below the current slot. */
static void write_index(struct cursor *self)
{
	uint32_t span = self->node->shift + self->forest->shift;
	uint64_t above = span < 64 ? self->index >> span << span : 0;

	self->index = above | (uint64_t)self->offset << self->node->shift;
}

/*
 * Moves to the next item from the current slot on, including that one; returns false at the end.
 *
 * From index 1 to the item at 6 in the tree of height 3 of slow.c:
 *
 *      node             offset   index
 *      leaf of 0..3     1 -> 4     1     no item up to the node's end: back to the parent,
 *      shift 2          1          4     after the slot left; slot 1 is in use: down
 *      leaf of 4..7     0 -> 2     6     an item
 *
 * With a tag, the word of the node contains the next slot, and leaves without it are never entered:
 * radix_tree_next_chunk() of 4.8 does the same with RADIX_TREE_ITER_TAGGED.
 */
static bool next_item(struct cursor *self)
{
	for (;;) {
		skip_slots(self);
		if (self->offset > self->forest->mask) {
			if (!self->node->parent)
				return false;
			self->offset = self->node->offset + UINT32_C(1);
			self->node = self->node->parent;
			continue;
		}
		write_index(self);
		if (!self->node->shift)
			return true;
		self->node = sws_rtree__child(self->node, self->offset);
		self->offset = 0;
	}
}

/* Moves to the first item at or above the index; the tree has nodes. */
static bool first_item(struct cursor *self, const struct sws_forest *forest,
		       const struct sws_rtree__tree *tree, uint64_t index, uint32_t tag)
{
	*self = (struct cursor){ .forest = forest, .node = tree->top, .index = index, .tag = tag };
	if (!sws_rtree__holds(forest->shift, tree->height, index))
		return false;
	/* Walks down to the place of the index, and on from there. */
	for (;;) {
		self->offset = sws_rtree__offset(forest, index, self->node->shift);
		if (!self->node->shift || !self->node->slots[self->offset])
			return next_item(self);
		self->node = sws_rtree__child(self->node, self->offset);
	}
}

static size_t gang_lookup(const struct sws_forest *self, uint32_t tree, uint64_t first_index,
			  size_t limit, uint32_t tag, uint64_t *items, uint64_t *indexes)
{
	const struct sws_rtree__tree *target = NULL;
	struct cursor cursor;
	size_t given = 0;

	if (tree >= self->tree_count || limit == 0)
		return 0;
	target = &self->trees[tree];
	if (target->height == 0) {
		if (!target->item || first_index || (tag != ANY_ITEM && !(target->tags >> tag & 1)))
			return 0;
		if (items)
			items[0] = target->item;
		if (indexes)
			indexes[0] = 0;
		return 1;
	}
	for (bool more = first_item(&cursor, self, target, first_index, tag); more && given < limit;
	     more = next_item(&cursor)) {
		if (items)
			items[given] = cursor.node->slots[cursor.offset];
		if (indexes)
			indexes[given] = cursor.index;
		given++;
		cursor.offset++;
	}
	return given;
}

size_t sws_rtree_gang_lookup(struct sws_forest *self, uint32_t tree, uint64_t first_index,
			     size_t limit, uint64_t *items, uint64_t *indexes)
{
	return gang_lookup(self, tree, first_index, limit, ANY_ITEM, items, indexes);
}

size_t sws_rtree_gang_lookup_tag(struct sws_forest *self, uint32_t tree, uint64_t first_index,
				 size_t limit, uint32_t tag, uint64_t *items, uint64_t *indexes)
{
	if (tag >= SWS_RTREE_TAG_COUNT)
		return 0;
	return gang_lookup(self, tree, first_index, limit, tag, items, indexes);
}

/*
 * Continues where the last call stopped, so that the caller can release the lock between two calls,
 * as tag_pages_for_writeback() does (mm/page-writeback.c, 4.8) after each 4096 pages. DIRTY at 0, 6
 * and 17, range 0 .. 100, limit 2:
 *
 *      call 1     2 found   first_index   0 ->   7
 *      call 2     1 found   first_index   7 -> 101     fewer than the limit: all done
 *
 * With last_index 2^64 - 1 first_index ends at 0; the kernel's loop handles that, too.
 */
uint64_t sws_rtree_range_tag_if_tagged(struct sws_forest *self, uint32_t tree,
				       uint64_t *first_index, uint64_t last_index, uint64_t limit,
				       uint32_t if_tag, uint32_t set_tag)
{
	struct sws_rtree__tree *target = NULL;
	struct cursor cursor;
	uint64_t met = 0;

	if (tree >= self->tree_count || if_tag >= SWS_RTREE_TAG_COUNT ||
	    set_tag >= SWS_RTREE_TAG_COUNT || *first_index > last_index || limit == 0)
		return 0;
	target = &self->trees[tree];
	if (target->height == 0) {
		if (*first_index == 0 && target->tags >> if_tag & 1) {
			target->tags |= (uint8_t)(1u << set_tag);
			met = 1;
		}
		*first_index = met == limit ? 1 : last_index + 1;
		return met;
	}
	for (bool more = first_item(&cursor, self, target, *first_index, if_tag);
	     more && cursor.index <= last_index; more = next_item(&cursor)) {
		sws_rtree__tag_set(self, target, cursor.node, cursor.index, set_tag);
		cursor.offset++;
		if (++met == limit) {
			*first_index = cursor.index + 1;
			return met;
		}
	}
	*first_index = last_index + 1;
	return met;
}
