/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rtree/steps.h"

static struct sws_rtree__tree *tree_of(const struct sws_forest *self, uint32_t tree)
{
	return tree < self->tree_count ? &self->trees[tree] : NULL;
}

int sws_rtree_insert(struct sws_forest *self, uint32_t tree, uint64_t index, uint64_t item,
		     struct sws_rtree_work *work)
{
	struct sws_rtree__tree *target = tree_of(self, tree);

	if (!target || !item)
		return SWS_ERROR_BAD_ARGUMENT;
	return sws_rtree__insert(self, target, sws_rtree__find(self, target, index, work), index,
				 item, work);
}

uint64_t sws_rtree_lookup(struct sws_forest *self, uint32_t tree, uint64_t index,
			  struct sws_rtree_work *work)
{
	struct sws_rtree__tree *target = tree_of(self, tree);

	if (!target)
		return 0;
	return sws_rtree__item(self, target, sws_rtree__find(self, target, index, work), index);
}

int sws_rtree_replace(struct sws_forest *self, uint32_t tree, uint64_t index, uint64_t item,
		      struct sws_rtree_work *work)
{
	struct sws_rtree__tree *target = tree_of(self, tree);
	struct sws_rtree__node *leaf = NULL;

	if (!target || !item)
		return SWS_ERROR_BAD_ARGUMENT;
	leaf = sws_rtree__find(self, target, index, work);
	if (!sws_rtree__item(self, target, leaf, index))
		return SWS_ERROR_NOT_FOUND;
	if (leaf)
		leaf->slots[index & self->mask] = item;
	else
		target->item = item;
	return SWS_OK;
}

uint64_t sws_rtree_delete(struct sws_forest *self, uint32_t tree, uint64_t index,
			  struct sws_rtree_work *work)
{
	struct sws_rtree__tree *target = tree_of(self, tree);

	if (!target)
		return 0;
	return sws_rtree__delete(self, target, sws_rtree__find(self, target, index, work), index,
				 work);
}

int sws_rtree_tag_set(struct sws_forest *self, uint32_t tree, uint64_t index, uint32_t tag,
		      struct sws_rtree_work *work)
{
	struct sws_rtree__tree *target = tree_of(self, tree);
	int error = SWS_OK;

	if (!target || tag >= SWS_RTREE_TAG_COUNT)
		return SWS_ERROR_BAD_ARGUMENT;
	error = sws_rtree__tag_set(self, target, sws_rtree__find(self, target, index, work), index,
				   tag);
	/* The kernel visits all levels; this implementation stops early where a bit was set. */
	if (work && !error)
		work->tag_words_touched += target->height + UINT64_C(1);
	return error;
}

int sws_rtree_tag_clear(struct sws_forest *self, uint32_t tree, uint64_t index, uint32_t tag,
			struct sws_rtree_work *work)
{
	struct sws_rtree__tree *target = tree_of(self, tree);

	if (!target || tag >= SWS_RTREE_TAG_COUNT)
		return SWS_ERROR_BAD_ARGUMENT;
	return sws_rtree__tag_clear(self, target, sws_rtree__find(self, target, index, work), index,
				    tag, work);
}

/*
 * Returns the words that 6.1 tests to set a bit: upward to the first that has it, or the root, as
 * xas_set_mark() does (lib/xarray.c). In the tree of height 3 of steps.h, before any bit is set,
 * these are leaf, shift 2, shift 4, root, 4 words for index 6; then for index 0:
 *
 *      leaf 0..3    no bit yet    1
 *      shift 2      bit 1, not 0  2      the test is for this bit: steps.h may stop here,
 *      shift 4      bit 0         3      the kernel goes one level further
 */
static uint64_t words_to_set(const struct sws_forest *self, const struct sws_rtree__node *leaf,
			     uint64_t index, uint32_t tag)
{
	uint64_t words = 1;

	for (const struct sws_rtree__node *node = leaf; node; node = node->parent, words++) {
		if (node->tags[tag] >> sws_rtree__offset(self, index, node->shift) & 1)
			return words;
	}
	return words;
}

int sws_rtree_tag_update(struct sws_forest *self, uint32_t tree, uint64_t index, uint32_t set_mask,
			 uint32_t clear_mask, struct sws_rtree_work *work)
{
	struct sws_rtree__tree *target = tree_of(self, tree);
	struct sws_rtree__node *leaf = NULL;

	if (!target || set_mask & clear_mask || (set_mask | clear_mask) >> SWS_RTREE_TAG_COUNT)
		return SWS_ERROR_BAD_ARGUMENT;
	leaf = sws_rtree__find(self, target, index, work);
	if (!sws_rtree__item(self, target, leaf, index))
		return SWS_ERROR_NOT_FOUND;
	for (uint32_t tag = 0; tag < SWS_RTREE_TAG_COUNT; tag++) {
		if (set_mask >> tag & 1) {
			if (work)
				work->tag_words_touched += words_to_set(self, leaf, index, tag);
			sws_rtree__tag_set(self, target, leaf, index, tag);
		}
		if (clear_mask >> tag & 1)
			sws_rtree__tag_clear(self, target, leaf, index, tag, work);
	}
	return SWS_OK;
}

bool sws_rtree_tag_get(struct sws_forest *self, uint32_t tree, uint64_t index, uint32_t tag,
		       struct sws_rtree_work *work)
{
	struct sws_rtree__tree *target = tree_of(self, tree);

	if (!target || tag >= SWS_RTREE_TAG_COUNT)
		return false;
	return sws_rtree__tag_get(self, target, sws_rtree__find(self, target, index, work), index,
				  tag);
}

bool sws_rtree_tagged(const struct sws_forest *self, uint32_t tree, uint32_t tag)
{
	const struct sws_rtree__tree *target = tree_of(self, tree);

	return target && tag < SWS_RTREE_TAG_COUNT && (target->tags >> tag & 1);
}

uint32_t sws_rtree_height(const struct sws_forest *self, uint32_t tree)
{
	const struct sws_rtree__tree *target = tree_of(self, tree);

	return target ? target->height : 0;
}

uint64_t sws_rtree_node_count(const struct sws_forest *self, uint32_t tree)
{
	const struct sws_rtree__tree *target = tree_of(self, tree);

	return target ? target->node_count : 0;
}

uint64_t sws_rtree_next(const struct sws_forest *self, uint32_t tree, uint64_t *index)
{
	const struct sws_rtree__tree *target = tree_of(self, tree);
	uint64_t at = *index;

	if (!target || !target->top)
		return target && at == 0 ? target->item : 0;
	while (sws_rtree__holds(self->shift, target->height, at)) {
		const struct sws_rtree__node *node = target->top;
		uint64_t slot = node->slots[sws_rtree__offset(self, at, node->shift)];

		while (slot && node->shift) {
			node = (const struct sws_rtree__node *)(uintptr_t)slot;
			slot = node->slots[sws_rtree__offset(self, at, node->shift)];
		}
		if (slot) {
			*index = at;
			return slot;
		}
		/* The first index after those below the empty slot; 0 after the largest. */
		at = ((at >> node->shift) + 1) << node->shift;
		if (!at)
			break;
	}
	return 0;
}
