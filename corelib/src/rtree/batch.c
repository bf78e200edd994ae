/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A scattered batch meets a cold cache line at each row: the nodes of a forest
 * of millions of entries do not fit the processor's caches, those of one
 * trunk do. So rows are first dealt into buckets, one per tree, then worked off
 * bucket by bucket, then the results are read back:
 *
 *      trees, indexes (, items)      rows                    rows          results
 *        1, a                        bucket 0: b d             B D             A
 *        0, b             deal       bucket 1: a c    apply    A C    collect  B
 *        1, c             ---->                       ---->           ---->    C
 *        0, d                                                                  D
 *
 * Dealing keeps the order within a bucket, so collecting needs no positions: a
 * second pass over the keys draws each bucket's results in turn. Both passes
 * read and write a few hundred places in order. A large tree's bucket is dealt
 * once more, by regions of its indexes.
 */
#include "rtree/node.h"

#include <string.h>

/* So many buckets that each keeps a cache line at hand while rows are dealt. */
#define MOST_BUCKETS 2048

/* A region of 2^14 indexes is the kernel's trunk: 257 nodes, 148 kB. */
#define REGION_SHIFT 14
#define MOST_REGIONS 1024

/* A tree's rows are dealt by region from sort_threshold times this on. */
#define REGION_ROWS_FACTOR 16

enum operation { INSERT, LOOKUP, DELETE, TAG_SET, TAG_CLEAR, TAG_GET };

struct batch {
	struct sws_forest *forest;
	size_t count;
	const uint32_t *trees;
	const uint64_t *indexes;
	const uint64_t *items;
	uint32_t tag;
	uint64_t *words; /* results of lookup and delete, else NULL */
	int8_t *bytes;  /* results of the others */
	bool out_of_nodes;
};

/* The result of one row; a status is widened to a word. */
SWS_RTREE__STEP uint64_t apply(struct batch *self, enum operation operation,
			       struct sws_rtree__tree *tree, struct sws_rtree__node *leaf,
			       uint64_t index, uint64_t item)
{
	struct sws_forest *forest = self->forest;
	int status = SWS_OK;

	switch (operation) {
	case INSERT:
		if (self->out_of_nodes)
			return (uint64_t)SWS_ERROR_NO_MEMORY;
		status = sws_rtree__insert(forest, tree, leaf, index, item, NULL);
		if (status == SWS_ERROR_NO_MEMORY)
			self->out_of_nodes = true;
		break;
	case LOOKUP:
		return sws_rtree__item(forest, tree, leaf, index);
	case DELETE:
		return sws_rtree__delete(forest, tree, leaf, index, NULL);
	case TAG_SET:
		status = sws_rtree__tag_set(forest, tree, leaf, index, self->tag);
		break;
	case TAG_CLEAR:
		status = sws_rtree__tag_clear(forest, tree, leaf, index, self->tag, NULL);
		break;
	case TAG_GET:
		status = sws_rtree__tag_get(forest, tree, leaf, index, self->tag);
		break;
	}
	return (uint64_t)status;
}

SWS_RTREE__STEP void write_result(struct batch *self, enum operation operation, size_t row,
				  uint64_t result)
{
	if (operation == LOOKUP || operation == DELETE)
		self->words[row] = result;
	else
		self->bytes[row] = (int8_t)result;
}

/* Writes a leaf's tag word; its ancestors follow when the word became or ceased to be zero. */
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
 * Rows begin .. end - 1, all of one leaf. The leaf's count and tag words are kept
 * in registers and written once; what follows from them upward follows once.
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
		case TAG_GET:
			self->bytes[row] = word >> offset & 1;
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

/* Rows in the order given; neighbours in one leaf are taken at once. */
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

/*
 * A dealt row is an index, an item (insert alone) and a tree (of grouped buckets
 * alone); its result takes its place. Results that are bytes are packed from
 * the front: byte n of a block lies in row n or before, which was read already.
 */
SWS_RTREE__STEP void store_result(enum operation operation, uint64_t *rows, size_t place,
				  size_t width, uint64_t result)
{
	if (operation == LOOKUP || operation == DELETE)
		rows[place * width] = result;
	else
		((int8_t *)rows)[place] = (int8_t)result;
}

SWS_RTREE__STEP uint64_t load_result(enum operation operation, const uint64_t *rows, size_t place,
				     size_t width)
{
	if (operation == LOOKUP || operation == DELETE)
		return rows[place * width];
	return (uint64_t)((const int8_t *)rows)[place];
}

/* The rows of one bucket: of one tree, or if that is NULL of the trees that they name. */
SWS_RTREE__STEP void run_rows(struct batch *self, enum operation operation,
			      struct sws_rtree__tree *tree, uint64_t *rows, size_t begin,
			      size_t end, size_t width)
{
	struct sws_forest *forest = self->forest;

	for (size_t place = begin; place < end; place++) {
		const uint64_t *row = rows + place * width;
		struct sws_rtree__tree *target = tree ? tree : &forest->trees[row[width - 1]];
		uint64_t index = row[0];
		uint64_t item = operation == INSERT ? row[1] : 0;
		uint64_t passed = 0;
		struct sws_rtree__node *leaf = sws_rtree__walk(forest, target, index, &passed);

		store_result(operation, rows, place, width,
			     apply(self, operation, target, leaf, index, item));
	}
}

/* Turns the rows of each bucket into the place where the bucket begins. */
static void begin_buckets(size_t *places, size_t count)
{
	size_t begin = 0;

	for (size_t bucket = 0; bucket < count; bucket++) {
		size_t rows = places[bucket];

		places[bucket] = begin;
		begin += rows;
	}
}

/* Dealing moved each place to its bucket's end, where the next begins: move them back. */
static void rewind_buckets(size_t *places, size_t count)
{
	memmove(places + 1, places, (count - 1) * sizeof(*places));
	places[0] = 0;
}

/* Deals one tree's rows by region; false, nothing done, if it is of no use or without memory. */
SWS_RTREE__STEP bool run_regions(struct batch *self, enum operation operation,
				 struct sws_rtree__tree *tree, uint64_t *rows, size_t begin,
				 size_t end, size_t width)
{
	const struct sws_allocator *allocator = self->forest->allocator;
	uint64_t lowest = UINT64_MAX;
	uint64_t highest = 0;
	uint32_t shift = REGION_SHIFT;
	size_t regions = 0;
	size_t first = 0;
	size_t *places = NULL;
	uint64_t *dealt = NULL;

	for (size_t row = begin; row < end; row++) {
		uint64_t index = rows[row * width];

		lowest = index < lowest ? index : lowest;
		highest = index > highest ? index : highest;
	}
	while ((highest - lowest) >> shift >= MOST_REGIONS)
		shift++;
	regions = (size_t)((highest - lowest) >> shift) + 1;
	if (regions == 1)
		return false;
	places = sws_allocate_zeroed(allocator, regions, sizeof(*places));
	dealt = sws_allocate(allocator, (end - begin) * width * sizeof(*rows));
	if (!places || !dealt)
		goto out;
	for (size_t row = begin; row < end; row++)
		places[(rows[row * width] - lowest) >> shift]++;
	begin_buckets(places, regions);
	for (size_t row = begin; row < end; row++) {
		size_t place = places[(rows[row * width] - lowest) >> shift]++;

		memcpy(dealt + place * width, rows + row * width, width * sizeof(*rows));
	}
	for (size_t region = 0; region < regions; region++) {
		run_rows(self, operation, tree, dealt, first, places[region], width);
		first = places[region];
	}
	rewind_buckets(places, regions);
	for (size_t row = begin; row < end; row++) {
		size_t place = places[(rows[row * width] - lowest) >> shift]++;

		store_result(operation, rows, row, width,
			     load_result(operation, dealt, place, width));
	}
out:
	sws_release(allocator, dealt);
	sws_release(allocator, places);
	return places && dealt;
}

/* Deals the rows by tree, or by groups of trees; false if there is no memory. */
SWS_RTREE__STEP bool run_sorted(struct batch *self, enum operation operation, bool grouped)
{
	struct sws_forest *forest = self->forest;
	size_t width = 1u + (operation == INSERT) + grouped;
	uint32_t shift = 0;
	size_t buckets = 0;
	size_t begin = 0;
	size_t *places = NULL;
	uint64_t *rows = NULL;

	while (grouped && (forest->tree_count - 1) >> shift >= MOST_BUCKETS)
		shift++;
	buckets = ((forest->tree_count - 1) >> shift) + UINT64_C(1);
	places = sws_allocate_zeroed(forest->allocator, buckets, sizeof(*places));
	if (self->count <= SIZE_MAX / (3 * sizeof(*rows)))
		rows = sws_allocate(forest->allocator, self->count * width * sizeof(*rows));
	if (!places || !rows)
		goto out;
	for (size_t row = 0; row < self->count; row++)
		places[self->trees[row] >> shift]++;
	begin_buckets(places, buckets);
	for (size_t row = 0; row < self->count; row++) {
		size_t place = places[self->trees[row] >> shift]++ * width;

		rows[place] = self->indexes[row];
		if (operation == INSERT)
			rows[place + 1] = self->items[row];
		if (grouped)
			rows[place + width - 1] = self->trees[row];
	}
	for (size_t bucket = 0; bucket < buckets; bucket++) {
		struct sws_rtree__tree *tree = grouped ? NULL : &forest->trees[bucket];
		size_t end = places[bucket];

		if (grouped || (end - begin) / REGION_ROWS_FACTOR < forest->sort_threshold ||
		    begin == end || !run_regions(self, operation, tree, rows, begin, end, width))
			run_rows(self, operation, tree, rows, begin, end, width);
		begin = end;
	}
	rewind_buckets(places, buckets);
	for (size_t row = 0; row < self->count; row++) {
		size_t place = places[self->trees[row] >> shift]++;

		write_result(self, operation, row, load_result(operation, rows, place, width));
	}
out:
	sws_release(forest->allocator, rows);
	sws_release(forest->allocator, places);
	return places && rows;
}

/* Whether most of some neighbours, drawn evenly over the batch, lie in different leaves. */
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

/* One body per operation, so that each hot loop holds its own operation alone. */
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
	case TAG_GET:
		run_operation(self, TAG_GET);
		break;
	}
	return SWS_OK;
}

/* Takes out again what a batch put in before the nodes ran out. */
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

/* The three calls on one tag differ in the operation alone. */
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

int sws_forest_tag_get(struct sws_forest *self, size_t count, const uint32_t *trees,
		       const uint64_t *indexes, uint32_t tag, int8_t *values)
{
	return run_tag(self, TAG_GET, count, trees, indexes, tag, values);
}
