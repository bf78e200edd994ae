/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rtree/in_order.h - processes the rows of a batch in the given order, which is best for rows that
 * are close to each other in the tree, as the slots of a device are. A run of rows in one leaf
 * finds it once and writes its count and tag words once:
 *
 *      tree, index     shift 6
 *        0, 130 ---.
 *        0, 131    |-- leaf 2 of tree 0: one find, three slots, one tag word
 *        0, 140 ---'
 *        0, 640 ------ leaf 10
 *        1, 641 ------ leaf 10 of another tree
 */
#ifndef SWAPSIM_RTREE_IN_ORDER_H
#define SWAPSIM_RTREE_IN_ORDER_H

#include "rtree/row.h"

/* Writes a leaf's tag word, and updates its ancestors if the word has become zero or nonzero. */
SWS_RTREE__STEP void write_tag_word(struct sws_rtree__tree *tree, struct sws_rtree__node *leaf,
				    uint32_t tag, uint64_t word)
{
	uint64_t before = leaf->tags[tag];

	leaf->tags[tag] = word;
	if (!before && word)
		sws_rtree__tag_climb(tree, leaf, tag);
	if (before && !word)
		sws_rtree__untag_climb(tree, leaf, tag, NULL);
}

/*
 * Processes rows begin .. end - 1, all in one leaf. The leaf's count and tag words are held in
 * registers and written once; the updates of its ancestors also follow once.
 *
 * Tagging 130, 131 and 140 at shift 6, in a leaf without the tag: offsets 2, 3 and 12
 *
 *      word      0x0 -> 0x4 -> 0xc -> 0x100c      one store, and one climb
 *
 * A delete settles the leaf after the last row of the run: rows that have an index twice, or an
 * empty one, still need its slots after it has lost its last item.
 */
SWS_RTREE__STEP void run_leaf(struct batch *self, enum operation operation,
			      struct sws_rtree__tree *tree, struct sws_rtree__node *leaf,
			      size_t begin, size_t end)
{
	struct sws_forest *forest = self->forest;
	uint64_t words[SWS_RTREE_TAG_COUNT] = { leaf->tags[0], leaf->tags[1], leaf->tags[2] };
	uint64_t word = words[self->tag];
	uint8_t count = leaf->count;

	for (size_t row = begin; row < end; row++) {
		uint32_t offset = sws_rtree__offset(forest, self->indexes[row], 0);
		uint64_t bit = UINT64_C(1) << offset;
		uint64_t item = leaf->slots[offset];

		switch (operation) {
		case INSERT:
			self->bytes[row] = item ? SWS_ERROR_EXISTS : SWS_OK;
			leaf->slots[offset] = item ? item : self->items[row];
			count = (uint8_t)(count + !item);
			break;
		case LOOKUP:
			self->words[row] = item;
			break;
		case DELETE:
			self->words[row] = item;
			leaf->slots[offset] = 0;
			count = (uint8_t)(count - !!item);
			for (uint32_t tag = 0; tag < SWS_RTREE_TAG_COUNT; tag++)
				words[tag] &= ~bit;
			break;
		case TAG_SET:
			self->bytes[row] = item ? SWS_OK : SWS_ERROR_NOT_FOUND;
			word |= item ? bit : 0;
			break;
		case TAG_CLEAR:
			self->bytes[row] = item ? SWS_OK : SWS_ERROR_NOT_FOUND;
			word &= ~bit;
			break;
		}
	}
	if (operation == INSERT)
		leaf->count = count;
	if (operation == TAG_SET || operation == TAG_CLEAR)
		write_tag_word(tree, leaf, self->tag, word);
	if (operation == DELETE) {
		for (uint32_t tag = 0; tag < SWS_RTREE_TAG_COUNT; tag++)
			write_tag_word(tree, leaf, tag, words[tag]);
		leaf->count = count;
		if (!count || !leaf->parent)
			sws_rtree__settle(forest, tree, leaf, self->indexes[begin], NULL);
	}
}

/*
 * Processes rows in the given order; neighbours in one leaf are processed together.
 *
 * In an insert of 130, 131 and 140 into an empty tree, 130 finds no leaf, is processed alone and
 * creates the leaf; 131 finds it, and 140 is part of the same run.
 */
SWS_RTREE__STEP void run_as_given(struct batch *self, enum operation operation)
{
	struct sws_forest *forest = self->forest;
	size_t end = 0;

	for (size_t row = 0; row < self->count; row = end) {
		uint32_t number = self->trees[row];
		uint64_t index = self->indexes[row];
		struct sws_rtree__tree *tree = &forest->trees[number];
		struct sws_rtree__node *leaf = sws_rtree__find(forest, tree, index, NULL);

		end = row + 1;
		if (leaf) {
			while (end < self->count && self->trees[end] == number &&
			       (self->indexes[end] ^ index) >> forest->shift == 0)
				end++;
			run_leaf(self, operation, tree, leaf, row, end);
		} else {
			uint64_t item = operation == INSERT ? self->items[row] : 0;

			write_result(self, operation, row,
				     apply(self, operation, tree, NULL, index, item));
		}
	}
}

#endif
