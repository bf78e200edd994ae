/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rtree/dealt.h"
#include "rtree/in_order.h"

/*
 * The processing of a batch, with a sort_threshold of 4096:
 *
 *      rows     trees   neighbours       processing
 *        1 000      8   far apart        as given: too few rows to be sorted
 *       10 000      8   in one leaf      as given: the order is good as it is
 *       10 000      8   far apart        8 buckets, each in the given order
 *       10 000      1   far apart        as given: sorting by region starts at 16 * 4096 rows
 *      100 000      1   far apart        one bucket, sorted again by region
 *       10 000   5000   far apart        1250 buckets of 4 trees, 4999 >> 2 being 1249
 *
 * Trees are independent, and the rows of a tree for one index retain their order, so all variants
 * give the same results and the same trees. But they run out of memory at different rows, so a
 * failed insert removes all of its rows again.
 */

/*
 * Returns true if most sampled neighbours, evenly spaced over the batch, are in different leaves.
 */
static bool scattered(const struct batch *self)
{
	size_t step = self->count / 256 + 1;
	size_t drawn = 0;
	size_t apart = 0;

	for (size_t row = 1; row < self->count; row += step, drawn++) {
		uint64_t crossed = self->indexes[row] ^ self->indexes[row - 1];

		if (crossed >> self->forest->shift || self->trees[row] != self->trees[row - 1])
			apart++;
	}
	return apart > drawn / 2;
}

SWS_RTREE__STEP void run_operation(struct batch *self, enum operation operation)
{
	const struct sws_forest *forest = self->forest;
	bool grouped = forest->tree_count > MOST_BUCKETS;
	bool worth = self->count >= forest->sort_threshold && self->count > 1 &&
		     (forest->tree_count > 1 ||
		      self->count / REGION_ROWS_FACTOR >= forest->sort_threshold);

	if (!worth || !scattered(self) ||
	    !(grouped ? run_sorted(self, operation, true) : run_sorted(self, operation, false)))
		run_as_given(self, operation);
}

static bool good_trees(const struct batch *self)
{
	uint32_t largest = 0;

	for (size_t row = 0; row < self->count; row++)
		largest = self->trees[row] > largest ? self->trees[row] : largest;
	return self->count == 0 || largest < self->forest->tree_count;
}

/* One function body per operation, so that each hot loop contains its own operation only. */
static int run(struct batch *self, enum operation operation)
{
	if (self->tag >= SWS_RTREE_TAG_COUNT || !good_trees(self))
		return SWS_ERROR_BAD_ARGUMENT;
	switch (operation) {
	case INSERT:
		run_operation(self, INSERT);
		break;
	case LOOKUP:
		run_operation(self, LOOKUP);
		break;
	case DELETE:
		run_operation(self, DELETE);
		break;
	case TAG_SET:
		run_operation(self, TAG_SET);
		break;
	case TAG_CLEAR:
		run_operation(self, TAG_CLEAR);
		break;
	}
	return SWS_OK;
}

/* Removes the rows that a batch inserted before the nodes ran out. */
static void take_back(struct batch *self)
{
	for (size_t row = 0; row < self->count; row++) {
		if (self->bytes[row] == SWS_OK)
			sws_rtree_delete(self->forest, self->trees[row], self->indexes[row], NULL);
		self->bytes[row] = SWS_ERROR_NO_MEMORY;
	}
}

int sws_forest_insert(struct sws_forest *self, size_t count, const uint32_t *trees,
		      const uint64_t *indexes, const uint64_t *items, int8_t *status)
{
	struct batch batch = { .forest = self,
			       .count = count,
			       .trees = trees,
			       .indexes = indexes,
			       .items = items,
			       .bytes = status };
	bool empty_item = false;
	int error = SWS_OK;

	for (size_t row = 0; row < count; row++)
		empty_item |= items[row] == 0;
	if (empty_item)
		return SWS_ERROR_BAD_ARGUMENT;
	error = run(&batch, INSERT);
	if (batch.out_of_nodes) {
		take_back(&batch);
		error = SWS_ERROR_NO_MEMORY;
	}
	return error;
}

int sws_forest_lookup(struct sws_forest *self, size_t count, const uint32_t *trees,
		      const uint64_t *indexes, uint64_t *items)
{
	struct batch batch = {
		.forest = self, .count = count, .trees = trees, .indexes = indexes, .words = items
	};

	return run(&batch, LOOKUP);
}

int sws_forest_delete(struct sws_forest *self, size_t count, const uint32_t *trees,
		      const uint64_t *indexes, uint64_t *items)
{
	struct batch batch = {
		.forest = self, .count = count, .trees = trees, .indexes = indexes, .words = items
	};

	return run(&batch, DELETE);
}

/* The two calls on one tag differ in the operation only. */
static int run_tag(struct sws_forest *self, enum operation operation, size_t count,
		   const uint32_t *trees, const uint64_t *indexes, uint32_t tag, int8_t *results)
{
	struct batch batch = { .forest = self,
			       .count = count,
			       .trees = trees,
			       .indexes = indexes,
			       .tag = tag,
			       .bytes = results };

	return run(&batch, operation);
}

int sws_forest_tag_set(struct sws_forest *self, size_t count, const uint32_t *trees,
		       const uint64_t *indexes, uint32_t tag, int8_t *status)
{
	return run_tag(self, TAG_SET, count, trees, indexes, tag, status);
}

int sws_forest_tag_clear(struct sws_forest *self, size_t count, const uint32_t *trees,
			 const uint64_t *indexes, uint32_t tag, int8_t *status)
{
	return run_tag(self, TAG_CLEAR, count, trees, indexes, tag, status);
}
