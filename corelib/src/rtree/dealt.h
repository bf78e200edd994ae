/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rtree/dealt.h - distributes the rows of a batch by tree and by region of the index.
 *
 * In a scattered batch each row misses the cache: the nodes of a forest with millions of entries do
 * not fit into the processor's caches, those of one trunk do. So rows are first distributed to
 * buckets, one per tree, then processed bucket by bucket, and then the results are read back:
 *
 *      trees, indexes (, items)      rows                    rows          results
 *        1, a                        bucket 0: b d             B D             A
 *        0, b             deal       bucket 1: a c    apply    A C    collect  B
 *        1, c             ---->                       ---->           ---->    C
 *        0, d                                                                  D
 *
 * The order within a bucket is retained, so collecting needs no positions: a second pass over the
 * keys takes each bucket's results in turn. Both passes read and write a few hundred places in
 * order. The bucket of a large tree is distributed again, by regions of its indexes.
 */
#ifndef SWAPSIM_RTREE_DEALT_H
#define SWAPSIM_RTREE_DEALT_H

#include "rtree/row.h"

#include <string.h>

/* Maximum number of buckets such that each has a cache line while rows are distributed. */
#define MOST_BUCKETS 2048

/* A region of 2^14 indexes is the kernel's trunk: 257 nodes, 148 kB. */
#define REGION_SHIFT 14
#define MOST_REGIONS 1024

/* The rows of one tree are distributed by region from this multiple of sort_threshold on. */
#define REGION_ROWS_FACTOR 16

/*
 * A distributed row is an index, an item (insert only) and a tree (grouped buckets only); its
 * result replaces it. Results that are bytes are packed from the front: byte n of a block is in row
 * n or before, which has already been read.
 *
 *      an insert, 16 bytes per row   [ index 0, item 0 | index 1, item 1 | index 2, ..
 *      rows 0 and 1 done             [ s s ...  item 0 | index 1, item 1 | index 2, ..
 *
 * So collecting reads at most an eighth of the distributed bytes.
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

/*
 * Processes the rows of one bucket: those of a tree, or if that is NULL of the trees in the rows.
 */
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

/*
 * One array has all state of the distribution. Trees 1 0 1 1 in the batch:
 *
 *      counted      1 3
 *      begun        0 1      the beginning of each bucket
 *      dealt        1 4      incremented for each row: the end of each bucket
 *      rewound      0 1      shifted by one, the ends are beginnings again
 *      collected    1 4      the same steps as before, so the same places
 */

/* Turns the number of rows of each bucket into its beginning. */
static inline void begin_buckets(size_t *places, size_t count)
{
	size_t begin = 0;

	for (size_t bucket = 0; bucket < count; bucket++) {
		size_t rows = places[bucket];

		places[bucket] = begin;
		begin += rows;
	}
}

/* Turns the end of each bucket, which is the beginning of the next one, into its beginning. */
static inline void rewind_buckets(size_t *places, size_t count)
{
	memmove(places + 1, places, (count - 1) * sizeof(*places));
	places[0] = 0;
}

/*
 * Distributes the rows of one tree by region; returns false, with no effect, if that is of no use
 * or without memory.
 *
 *      indexes     5  70000  16  20000      lowest 5, so 69995 >> 14 = 4: five regions
 *      regions     0    4     0    1
 *      dealt       5  16  20000  70000      not sorted: two passes without comparisons
 *
 * Up to a span of 2^24 indexes a region is a trunk; above that, regions grow with the span.
 */
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

/*
 * Distributes the rows by tree, or by groups of trees; returns false without memory.
 *
 *      a row           one tree per bucket   groups, 5000 trees by four
 *      insert          index item            index item tree
 *      others          index                 index tree
 *
 * The row of tree 4003 goes to bucket 4003 >> 2 = 1000, together with those of trees 4000 to 4002,
 * so there the row itself has to contain its tree.
 */
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

#endif
