/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rtree/steps.h - an operation at its leaf from find, inline.
 *
 * Nearly every call ends here: a slot and a bit change. The first or last bit of a leaf's tag word
 * is propagated upward, the first or last item is handled in slow.c.
 *
 * The tree of height 3 of slow.c, shift 2, items at 0, 6 and 17: one tag's words from the root
 * down, bit 0 on the right, and the number of words that the kernel tests for each call:
 *
 *                           set 6   set 0   clear 0   clear 6
 *      root          -        1       1        1         -
 *      shift 4     0000     0001    0001     0001      0000
 *      shift 2     0000     0010    0011     0010      0000
 *      leaf 0..3   0000     0000    0001     0000      0000
 *      leaf 4..7   0000     0100    0100     0100      0000
 *      words                  4       4        2         4
 *
 * set 0 climbs one node and stops: that word had a bit, so all words above have theirs.
 * radix_tree_tag_set() of 4.8 cannot know that: it comes from the top and sets a bit at each level,
 * so height + 1 words are always counted for it. clear 0 stops where a word retains a bit (index 6
 * has the tag), clear 6 clears every word up to the root.
 */
#ifndef SWAPSIM_RTREE_STEPS_H
#define SWAPSIM_RTREE_STEPS_H

#include "rtree/layout.h"

/* Sets the tag in the ancestors and the root after a leaf's first item got it. */
SWS_RTREE__SELDOM void sws_rtree__tag_climb(struct sws_rtree__tree *tree,
					    const struct sws_rtree__node *leaf, uint32_t tag)
{
	uint32_t offset = leaf->offset;

	for (struct sws_rtree__node *node = leaf->parent; node; node = node->parent) {
		uint64_t word = node->tags[tag];

		node->tags[tag] = word | UINT64_C(1) << offset;
		if (word)
			return;
		offset = node->offset;
	}
	tree->tags |= (uint8_t)(1u << tag);
}

/*
 * Clears the tag in ancestors without another bit, then in the root, after a leaf's last item lost
 * it.
 */
SWS_RTREE__SELDOM void sws_rtree__untag_climb(struct sws_rtree__tree *tree,
					      const struct sws_rtree__node *leaf, uint32_t tag,
					      struct sws_rtree_work *work)
{
	uint32_t offset = leaf->offset;

	for (struct sws_rtree__node *node = leaf->parent; node; node = node->parent) {
		if (work)
			work->tag_words_touched++;
		node->tags[tag] &= ~(UINT64_C(1) << offset);
		if (node->tags[tag])
			return;
		offset = node->offset;
	}
	if (work)
		work->tag_words_touched++;
	tree->tags &= (uint8_t)~(1u << tag);
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
	/* A word with any bit implies that all words above have theirs. */
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
	/*
	 * The kernel's delete tests all three words, set or not; if work is counted, each of them
	 * counts.
	 */
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
	/* Nodes are freed upward from an empty leaf; a top that is a leaf may shrink. */
	if (leaf->count == 0 || !leaf->parent)
		sws_rtree__settle(self, tree, leaf, index, work);
	return item;
}

#endif
