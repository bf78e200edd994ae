/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check.h"

#include "rtree/layout.h"

#include <stdlib.h>
#include <string.h>

#define DIRTY     SWS_RTREE_TAG_DIRTY
#define WRITEBACK SWS_RTREE_TAG_WRITEBACK
#define TOWRITE   SWS_RTREE_TAG_TOWRITE

static struct sws_forest *forest_of(uint32_t shift, uint32_t trees, uint64_t sort_threshold,
				    const struct sws_allocator *allocator)
{
	struct sws_forest_config config;
	struct sws_forest *forest = NULL;

	sws_forest_config_init(&config);
	config.shift = shift;
	config.tree_count = trees;
	config.sort_threshold = sort_threshold;
	config.allocator = allocator;
	CHECK(sws_forest_new(&config, &forest) == SWS_OK);
	return forest;
}

static void check_verified(const struct sws_forest *forest)
{
	const char *reason = NULL;

	CHECK(sws_forest_verify(forest, &reason) == SWS_OK);
	CHECK(strcmp(reason, "every invariant holds") == 0);
}

static void bad_configs_are_refused(void)
{
	struct sws_forest_config config;
	struct sws_forest *forest = NULL;

	for (uint32_t shift = 0; shift <= 8; shift++) {
		sws_forest_config_init(&config);
		config.shift = shift;
		CHECK(sws_forest_new(&config, &forest) ==
		      (shift >= 1 && shift <= 6 ? SWS_OK : SWS_ERROR_BAD_CONFIG));
		CHECK(!forest == (shift < 1 || shift > 6));
		sws_forest_free(forest);
	}
	sws_forest_free(NULL);
}

static void heights_are_those_of_the_index_bits(void)
{
	for (uint32_t shift = 1; shift <= 6; shift++) {
		struct sws_forest *forest = forest_of(shift, 1, 0, NULL);

		for (uint32_t bits = 1; bits <= 64; bits++) {
			uint64_t index = UINT64_MAX >> (64 - bits);

			CHECK(sws_rtree_insert(forest, 0, index, 7, NULL) == SWS_OK);
			CHECK(sws_rtree_height(forest, 0) == (bits + shift - 1) / shift);
			CHECK(sws_rtree_node_count(forest, 0) == (bits + shift - 1) / shift);
			check_verified(forest);
			CHECK(sws_rtree_delete(forest, 0, index, NULL) == 7);
			CHECK(sws_rtree_height(forest, 0) == 0);
			CHECK(sws_forest_node_count(forest) == 0);
		}
		sws_forest_free(forest);
	}
}

static void a_tree_can_grow_to_the_largest_index_at_once(void)
{
	for (uint32_t shift = 1; shift <= 6; shift++) {
		struct sws_forest *forest = forest_of(shift, 1, 0, NULL);
		uint32_t height = (64 + shift - 1) / shift;

		/* A leaf at both ends and all levels but the top twice. */
		CHECK(sws_rtree_insert(forest, 0, 1, 7, NULL) == SWS_OK);
		CHECK(sws_rtree_insert(forest, 0, UINT64_MAX, 8, NULL) == SWS_OK);
		CHECK(sws_rtree_node_count(forest, 0) == 2 * height - 1);
		check_verified(forest);
		CHECK(sws_rtree_delete(forest, 0, UINT64_MAX, NULL) == 8);
		CHECK(sws_rtree_node_count(forest, 0) == 1);
		check_verified(forest);
		sws_forest_free(forest);
	}
}

static void a_trunk_takes_the_nodes_of_the_kernel(void)
{
	/* 16384 slots: 256 leaves, 4 nodes, 1, and 1 more above 2^18. */
	static const struct {
		uint64_t first;
		uint32_t height;
		uint64_t nodes;
	} trunks[] = { { 0, 3, 261 }, { 16384, 3, 261 }, { 1 << 18, 4, 262 }, { 1 << 20, 4, 262 } };
	struct sws_forest *forest = forest_of(6, 4, 0, NULL);

	for (uint32_t trunk = 0; trunk < 4; trunk++) {
		for (uint64_t slot = 0; slot < 16384; slot++)
			CHECK(!sws_rtree_insert(forest, trunk, trunks[trunk].first + slot, 1,
						NULL));
		CHECK(sws_rtree_height(forest, trunk) == trunks[trunk].height);
		CHECK(sws_rtree_node_count(forest, trunk) == trunks[trunk].nodes);
	}
	CHECK(forest->node_bytes == 576);
	CHECK(sws_forest_node_count(forest) == 2 * (261 + 262));
	check_verified(forest);
	sws_forest_free(forest);
}

static void a_lone_item_at_0_stands_in_the_root_with_its_tags(void)
{
	struct sws_forest *forest = forest_of(6, 1, 0, NULL);

	CHECK(sws_rtree_insert(forest, 0, 0, 11, NULL) == SWS_OK);
	CHECK(sws_rtree_insert(forest, 0, 0, 12, NULL) == SWS_ERROR_EXISTS);
	CHECK(sws_rtree_tag_set(forest, 0, 0, TOWRITE, NULL) == SWS_OK);
	CHECK(sws_rtree_node_count(forest, 0) == 0);
	CHECK(sws_rtree_tagged(forest, 0, TOWRITE));
	CHECK(!sws_rtree_tagged(forest, 0, DIRTY));
	/*
	 * Three levels at once: the tag is propagated to the new nodes, and remains that of item 0.
	 */
	CHECK(sws_rtree_insert(forest, 0, 5000, 13, NULL) == SWS_OK);
	CHECK(sws_rtree_node_count(forest, 0) == 5);
	CHECK(sws_rtree_tag_get(forest, 0, 0, TOWRITE, NULL));
	CHECK(!sws_rtree_tag_get(forest, 0, 5000, TOWRITE, NULL));
	check_verified(forest);
	/* And back into the root. */
	CHECK(sws_rtree_delete(forest, 0, 5000, NULL) == 13);
	CHECK(sws_rtree_height(forest, 0) == 0);
	CHECK(sws_rtree_lookup(forest, 0, 0, NULL) == 11);
	CHECK(sws_rtree_tag_get(forest, 0, 0, TOWRITE, NULL));
	CHECK(sws_rtree_replace(forest, 0, 0, 14, NULL) == SWS_OK);
	CHECK(sws_rtree_tagged(forest, 0, TOWRITE));
	check_verified(forest);
	CHECK(sws_rtree_delete(forest, 0, 0, NULL) == 14);
	CHECK(!sws_rtree_tagged(forest, 0, TOWRITE));
	CHECK(sws_rtree_delete(forest, 0, 0, NULL) == 0);
	check_verified(forest);
	sws_forest_free(forest);
}

static void calls_refuse_bad_arguments(void)
{
	struct sws_forest *forest = forest_of(6, 2, 0, NULL);
	struct sws_rtree_work work = { 0 };
	uint64_t first = 0;

	CHECK(sws_rtree_insert(forest, 2, 1, 1, &work) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_rtree_insert(forest, 1, 1, 0, &work) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_rtree_insert(forest, 1, 1, 1, NULL) == SWS_OK);
	CHECK(sws_rtree_replace(forest, 1, 1, 0, &work) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_rtree_replace(forest, 2, 1, 1, &work) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_rtree_tag_set(forest, 1, 1, 3, &work) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_rtree_tag_clear(forest, 1, 1, 3, &work) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_rtree_tag_update(forest, 1, 1, 8, 0, &work) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_rtree_tag_update(forest, 1, 1, 3, 2, &work) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_rtree_lookup(forest, 2, 1, &work) == 0);
	CHECK(sws_rtree_delete(forest, 2, 1, &work) == 0);
	CHECK(!sws_rtree_tag_get(forest, 1, 1, 3, &work));
	CHECK(!sws_rtree_tagged(forest, 1, 3));
	CHECK(!sws_rtree_tagged(forest, 2, 0));
	CHECK(sws_rtree_height(forest, 2) == 0 && sws_rtree_node_count(forest, 2) == 0);
	CHECK(sws_rtree_gang_lookup(forest, 2, 0, 9, NULL, NULL) == 0);
	CHECK(sws_rtree_gang_lookup_tag(forest, 1, 0, 9, 3, NULL, NULL) == 0);
	CHECK(sws_rtree_range_tag_if_tagged(forest, 1, &first, 9, 9, 0, 3) == 0);
	CHECK(work.descents == 0);
	/* An expected "not found" is not a bad argument. */
	CHECK(sws_rtree_replace(forest, 1, 2, 1, NULL) == SWS_ERROR_NOT_FOUND);
	CHECK(sws_rtree_tag_set(forest, 1, 2, 1, NULL) == SWS_ERROR_NOT_FOUND);
	CHECK(sws_rtree_tag_clear(forest, 1, 70, 1, NULL) == SWS_ERROR_NOT_FOUND);
	CHECK(sws_rtree_tag_update(forest, 0, 0, 1, 2, NULL) == SWS_ERROR_NOT_FOUND);
	sws_forest_free(forest);
}

/* The expected work of a call: descents, nodes, words, allocated, freed. */
#define CHECK_WORK(call, ...)                                                                      \
	do {                                                                                       \
		struct sws_rtree_work expected = { __VA_ARGS__ };                                  \
		memset(&work, 0, sizeof(work));                                                    \
		CHECK(call);                                                                       \
		CHECK(memcmp(&work, &expected, sizeof(work)) == 0);                                \
	} while (0)

static void work_is_counted_as_the_header_says(void)
{
	struct sws_forest *forest = forest_of(6, 1, 0, NULL);
	struct sws_rtree_work work;

	CHECK_WORK(!sws_rtree_insert(forest, 0, 0, 1, &work), 1, 0, 0, 0, 0);
	CHECK_WORK(!sws_rtree_tag_set(forest, 0, 0, DIRTY, &work), 1, 0, 1, 0, 0);
	/* Three new tops that each take one tag over, and two nodes below the last. */
	CHECK_WORK(!sws_rtree_insert(forest, 0, 4096, 2, &work), 1, 5, 3, 5, 0);
	CHECK_WORK(!sws_rtree_insert(forest, 0, 4097, 3, &work), 1, 3, 0, 0, 0);
	CHECK_WORK(sws_rtree_insert(forest, 0, 4097, 3, &work) == SWS_ERROR_EXISTS, 1, 3, 0, 0, 0);
	CHECK_WORK(!sws_rtree_insert(forest, 0, 4096 + 64, 4, &work), 1, 3, 0, 1, 0);
	CHECK_WORK(sws_rtree_lookup(forest, 0, 4096, &work) == 2, 1, 3, 0, 0, 0);
	CHECK_WORK(sws_rtree_lookup(forest, 0, 64, &work) == 0, 1, 2, 0, 0, 0);
	CHECK_WORK(sws_rtree_lookup(forest, 0, 1 << 18, &work) == 0, 1, 0, 0, 0, 0);
	CHECK_WORK(!sws_rtree_replace(forest, 0, 4096, 5, &work), 1, 3, 0, 0, 0);
	/* 4.8 visits every level, set or not. */
	CHECK_WORK(!sws_rtree_tag_set(forest, 0, 4096, WRITEBACK, &work), 1, 3, 4, 0, 0);
	CHECK_WORK(!sws_rtree_tag_set(forest, 0, 4096, WRITEBACK, &work), 1, 3, 4, 0, 0);
	CHECK_WORK(!sws_rtree_tag_set(forest, 0, 4097, WRITEBACK, &work), 1, 3, 4, 0, 0);
	CHECK_WORK(sws_rtree_tag_get(forest, 0, 4096, WRITEBACK, &work), 1, 3, 0, 0, 0);
	CHECK_WORK(!sws_rtree_tag_clear(forest, 0, 4096, DIRTY, &work), 1, 3, 1, 0, 0);
	CHECK_WORK(!sws_rtree_tag_clear(forest, 0, 4096, WRITEBACK, &work), 1, 3, 1, 0, 0);
	CHECK_WORK(!sws_rtree_tag_clear(forest, 0, 4097, WRITEBACK, &work), 1, 3, 4, 0, 0);
	CHECK_WORK(sws_rtree_tag_clear(forest, 0, 5000, DIRTY, &work) < 0, 1, 2, 0, 0, 0);
	/* 6.1: up to the root, or to the first word that had the bit; cleared words as above. */
	CHECK_WORK(!sws_rtree_tag_update(forest, 0, 4096, 1 << WRITEBACK, 5, &work), 1, 3, 6, 0, 0);
	CHECK_WORK(!sws_rtree_tag_update(forest, 0, 4097, 1 << WRITEBACK, 5, &work), 1, 3, 4, 0, 0);
	/* The leaf's words of three tags; WRITEBACK remains for its neighbour. */
	CHECK_WORK(sws_rtree_delete(forest, 0, 4097, &work) == 3, 1, 3, 3, 0, 0);
	/*
	 * The first leaf of the upper half is freed, WRITEBACK is cleared up to the root: 1 + 4 +
	 * 1.
	 */
	CHECK_WORK(sws_rtree_delete(forest, 0, 4096, &work) == 5, 1, 3, 6, 0, 1);
	/* Two nodes freed upward, then three tops removed, of which the walk passed one. */
	CHECK_WORK(sws_rtree_delete(forest, 0, 4096 + 64, &work) == 4, 1, 5, 3, 0, 5);
	CHECK_WORK(sws_rtree_delete(forest, 0, 0, &work) == 1, 1, 0, 3, 0, 0);
	CHECK_WORK(sws_rtree_delete(forest, 0, 0, &work) == 0, 1, 0, 0, 0, 0);
	sws_forest_free(forest);
}

/* A tree and a flat array: window slots at a base, 0 or the end of the indexes. */
#define WINDOW 300

struct shadow {
	uint64_t base;
	uint64_t items[WINDOW];
	uint8_t tags[WINDOW];
};

static void check_like_shadow(struct sws_forest *forest, const struct shadow *shadow, uint32_t slot)
{
	uint64_t index = shadow->base + slot;

	CHECK(sws_rtree_lookup(forest, 0, index, NULL) == shadow->items[slot]);
	for (uint32_t tag = 0; tag < SWS_RTREE_TAG_COUNT; tag++)
		CHECK(sws_rtree_tag_get(forest, 0, index, tag, NULL) ==
		      (shadow->tags[slot] >> tag & 1));
}

/* The items of a range with a tag (or all, for -1), by a loop over the array. */
static size_t shadow_gang(const struct shadow *shadow, uint32_t first, size_t limit, int tag,
			  uint64_t *items, uint64_t *indexes)
{
	size_t given = 0;

	for (uint32_t slot = first; slot < WINDOW && given < limit; slot++) {
		if (!shadow->items[slot] || (tag >= 0 && !(shadow->tags[slot] >> tag & 1)))
			continue;
		items[given] = shadow->items[slot];
		indexes[given++] = shadow->base + slot;
	}
	return given;
}

static void check_gang_like_shadow(struct sws_forest *forest, const struct shadow *shadow,
				   uint32_t first, size_t limit, int tag)
{
	uint64_t items[WINDOW], indexes[WINDOW], other_items[WINDOW], other_indexes[WINDOW];
	size_t expected = shadow_gang(shadow, first, limit, tag, items, indexes);
	uint64_t index = shadow->base + first;
	size_t given = 0;

	if (tag < 0)
		given = sws_rtree_gang_lookup(forest, 0, index, limit, other_items, other_indexes);
	else
		given = sws_rtree_gang_lookup_tag(forest, 0, index, limit, (uint32_t)tag,
						  other_items, other_indexes);
	CHECK(given == expected);
	CHECK(memcmp(items, other_items, given * sizeof(*items)) == 0);
	CHECK(memcmp(indexes, other_indexes, given * sizeof(*indexes)) == 0);
}

static void check_range_like_shadow(struct sws_forest *forest, struct shadow *shadow,
				    uint32_t first, uint32_t last, uint64_t limit, uint32_t if_tag,
				    uint32_t set_tag)
{
	uint64_t next = shadow->base + first;
	uint64_t expected_next = next;
	uint64_t expected = 0;

	if (first <= last && limit) {
		expected_next = shadow->base + last + 1;
		for (uint32_t slot = first; slot <= last && expected < limit; slot++) {
			if (!(shadow->tags[slot] >> if_tag & 1))
				continue;
			shadow->tags[slot] |= (uint8_t)(1u << set_tag);
			if (++expected == limit)
				expected_next = shadow->base + slot + 1;
		}
	}
	CHECK(sws_rtree_range_tag_if_tagged(forest, 0, &next, shadow->base + last, limit, if_tag,
					    set_tag) == expected);
	CHECK(next == expected_next);
}

static void thrash_step(struct sws_forest *forest, struct shadow *shadow,
			struct sws_generator *generator, uint32_t reach)
{
	uint32_t slot = (uint32_t)sws_generator_below(generator, reach);
	uint32_t other = (uint32_t)sws_generator_below(generator, reach);
	uint32_t tag = (uint32_t)sws_generator_below(generator, 3);
	uint64_t limit = sws_generator_below(generator, 9);
	uint64_t item = sws_generator_next(generator) | 1;
	uint64_t index = shadow->base + slot;
	uint64_t *held = &shadow->items[slot];
	int missing = *held ? SWS_OK : SWS_ERROR_NOT_FOUND;

	switch (sws_generator_below(generator, 9)) {
	case 0:
	case 1:
		CHECK(sws_rtree_insert(forest, 0, index, item, NULL) ==
		      (*held ? SWS_ERROR_EXISTS : SWS_OK));
		*held = *held ? *held : item;
		break;
	case 2:
		CHECK(sws_rtree_delete(forest, 0, index, NULL) == *held);
		*held = 0;
		shadow->tags[slot] = 0;
		break;
	case 3:
		CHECK(sws_rtree_tag_set(forest, 0, index, tag, NULL) == missing);
		shadow->tags[slot] |= (uint8_t)(*held ? 1u << tag : 0);
		break;
	case 4:
		CHECK(sws_rtree_tag_clear(forest, 0, index, tag, NULL) == missing);
		shadow->tags[slot] &= (uint8_t)~(1u << tag);
		break;
	case 5:
		CHECK(sws_rtree_tag_update(forest, 0, index, 1u << tag, 7u & ~(1u << tag), NULL) ==
		      missing);
		shadow->tags[slot] = (uint8_t)(*held ? 1u << tag : 0);
		break;
	case 6:
		CHECK(sws_rtree_replace(forest, 0, index, item, NULL) == missing);
		*held = *held ? item : 0;
		break;
	case 7:
		check_gang_like_shadow(forest, shadow, slot, limit, (int)tag - (int)(other & 1));
		break;
	default:
		check_range_like_shadow(forest, shadow, slot, other, limit, tag, (tag + 1) % 3);
	}
	check_like_shadow(forest, shadow, slot);
	check_like_shadow(forest, shadow, other);
}

static void thrash(uint32_t shift, uint64_t base, uint32_t reach, uint64_t seed)
{
	struct sws_forest *forest = forest_of(shift, 1, 0, NULL);
	struct shadow shadow = { .base = base };
	struct sws_generator generator;

	sws_generator_seed(&generator, seed, shift);
	for (int step = 0; step < 2000; step++) {
		thrash_step(forest, &shadow, &generator, reach);
		check_verified(forest);
	}
	for (uint32_t slot = 0; slot < WINDOW; slot++) {
		check_like_shadow(forest, &shadow, slot);
		CHECK(sws_rtree_delete(forest, 0, base + slot, NULL) == shadow.items[slot]);
		check_verified(forest);
	}
	CHECK(sws_forest_node_count(forest) == 0);
	sws_forest_free(forest);
}

static void trees_of_any_fan_out_do_as_a_flat_array(void)
{
	static const uint32_t reaches[] = { 2, 9, 70, WINDOW };

	for (uint32_t shift = 1; shift <= 6; shift++) {
		for (uint64_t reach = 0; reach < 4; reach++) {
			thrash(shift, 0, reaches[reach], reach);
			thrash(shift, UINT64_MAX - WINDOW + 1, reaches[reach], reach);
		}
	}
}

/* The rows of a batch, and the results of single calls on a second forest. */
#define MOST_ROWS 3000

struct rows {
	size_t count;
	uint32_t trees[MOST_ROWS];
	uint64_t indexes[MOST_ROWS];
	uint64_t items[MOST_ROWS];
	uint64_t words[MOST_ROWS];
	int8_t bytes[MOST_ROWS];
};

static void draw_rows(struct rows *rows, struct sws_generator *generator, uint32_t trees,
		      uint64_t reach, bool in_order)
{
	uint64_t place = 0;

	rows->count = (size_t)sws_generator_below(generator, MOST_ROWS);
	for (size_t row = 0; row < rows->count; row++) {
		place = in_order ? place + sws_generator_below(generator, 3)
				 : sws_generator_below(generator, trees * reach);
		rows->trees[row] = (uint32_t)(place / reach % trees);
		rows->indexes[row] = place % reach;
		rows->items[row] = sws_generator_next(generator) | 1;
	}
}

static void check_batch_like_single(struct sws_forest *batch, struct sws_forest *single,
				    struct rows *rows, uint64_t operation, uint32_t tag)
{
	size_t n = rows->count;
	int error = SWS_OK;

	memset(rows->words, 0xee, sizeof(rows->words));
	memset(rows->bytes, 0x77, sizeof(rows->bytes));
	switch (operation) {
	case 0:
		error = sws_forest_insert(batch, n, rows->trees, rows->indexes, rows->items,
					  rows->bytes);
		break;
	case 1:
		error = sws_forest_lookup(batch, n, rows->trees, rows->indexes, rows->words);
		break;
	case 2:
		error = sws_forest_delete(batch, n, rows->trees, rows->indexes, rows->words);
		break;
	case 3:
		error = sws_forest_tag_set(batch, n, rows->trees, rows->indexes, tag, rows->bytes);
		break;
	default:
		error = sws_forest_tag_clear(batch, n, rows->trees, rows->indexes, tag,
					     rows->bytes);
	}
	CHECK(error == SWS_OK);
	for (size_t row = 0; row < n; row++) {
		uint32_t tree = rows->trees[row];
		uint64_t index = rows->indexes[row];

		if (operation == 0)
			CHECK(rows->bytes[row] ==
			      sws_rtree_insert(single, tree, index, rows->items[row], NULL));
		else if (operation == 1)
			CHECK(rows->words[row] == sws_rtree_lookup(single, tree, index, NULL));
		else if (operation == 2)
			CHECK(rows->words[row] == sws_rtree_delete(single, tree, index, NULL));
		else if (operation == 3)
			CHECK(rows->bytes[row] ==
			      sws_rtree_tag_set(single, tree, index, tag, NULL));
		else
			CHECK(rows->bytes[row] ==
			      sws_rtree_tag_clear(single, tree, index, tag, NULL));
	}
	check_verified(batch);
}

static void check_same_forests(struct sws_forest *one, struct sws_forest *other)
{
	CHECK(sws_forest_node_count(one) == sws_forest_node_count(other));
	for (uint32_t tree = 0; tree < sws_forest_tree_count(one); tree++) {
		uint64_t items[2][64], indexes[2][64], first = 0;
		size_t given = 0;

		CHECK(sws_rtree_height(one, tree) == sws_rtree_height(other, tree));
		CHECK(sws_rtree_node_count(one, tree) == sws_rtree_node_count(other, tree));
		do {
			given = sws_rtree_gang_lookup(one, tree, first, 64, items[0], indexes[0]);
			CHECK(given ==
			      sws_rtree_gang_lookup(other, tree, first, 64, items[1], indexes[1]));
			CHECK(memcmp(items[0], items[1], given * sizeof(uint64_t)) == 0);
			CHECK(memcmp(indexes[0], indexes[1], given * sizeof(uint64_t)) == 0);
			first = given ? indexes[0][given - 1] + 1 : 0;
		} while (given);
		for (uint32_t tag = 0; tag < SWS_RTREE_TAG_COUNT; tag++)
			CHECK(sws_rtree_tagged(one, tree, tag) ==
			      sws_rtree_tagged(other, tree, tag));
	}
}

static void run_batches(uint32_t shift, uint32_t trees, uint64_t reach, uint64_t sort_threshold)
{
	struct sws_forest *batch = forest_of(shift, trees, sort_threshold, NULL);
	struct sws_forest *single = forest_of(shift, trees, 0, NULL);
	struct rows *rows = malloc(sizeof(*rows));
	struct sws_generator generator;

	CHECK(rows);
	sws_generator_seed(&generator, reach, trees);
	for (int step = 0; step < 60; step++) {
		draw_rows(rows, &generator, trees, reach, sws_generator_below(&generator, 2));
		check_batch_like_single(batch, single, rows, sws_generator_below(&generator, 5),
					(uint32_t)sws_generator_below(&generator, 3));
	}
	check_same_forests(batch, single);
	free(rows);
	sws_forest_free(single);
	sws_forest_free(batch);
}

static void batches_do_as_single_calls(void)
{
	/* Never sorted; sorted by tree; and, from 16 rows on, by region of 2^14 indexes. */
	static const uint64_t thresholds[] = { UINT64_MAX, 100, 1 };

	for (int threshold = 0; threshold < 3; threshold++) {
		run_batches(6, 1, 900, thresholds[threshold]);
		run_batches(6, 1, UINT64_C(1) << 18, thresholds[threshold]);
		run_batches(6, 1, UINT64_C(1) << 50, thresholds[threshold]);
		run_batches(6, 7, UINT64_C(1) << 17, thresholds[threshold]);
		run_batches(2, 5, 200, thresholds[threshold]);
		run_batches(1, 300, 2, thresholds[threshold]);
		run_batches(3, 5000, 3, thresholds[threshold]);
	}
}

static void bad_batches_do_nothing(void)
{
	struct sws_forest *forest = forest_of(6, 2, 0, NULL);
	uint32_t trees[] = { 0, 2, 1 };
	uint64_t indexes[] = { 5, 6, 7 };
	uint64_t items[] = { 1, 0, 3 };
	uint64_t words[3];
	int8_t bytes[3];

	CHECK(sws_forest_insert(forest, 3, trees, indexes, indexes, bytes) ==
	      SWS_ERROR_BAD_ARGUMENT);
	trees[1] = 1;
	CHECK(sws_forest_insert(forest, 3, trees, indexes, items, bytes) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_forest_node_count(forest) == 0);
	CHECK(sws_forest_insert(forest, 3, trees, indexes, indexes, bytes) == SWS_OK);
	CHECK(sws_forest_tag_set(forest, 3, trees, indexes, 3, bytes) == SWS_ERROR_BAD_ARGUMENT);
	trees[1] = 2;
	CHECK(sws_forest_delete(forest, 3, trees, indexes, words) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_rtree_lookup(forest, 0, 5, NULL) == 5);
	CHECK(sws_forest_lookup(forest, 0, NULL, NULL, NULL) == SWS_OK);
	sws_forest_free(forest);
}

static void trees_can_be_added(void)
{
	struct sws_forest *forest = forest_of(6, 0, 0, NULL);
	uint32_t tree = 99;

	for (uint32_t number = 0; number < 100; number++) {
		CHECK(sws_forest_add_tree(forest, &tree) == SWS_OK);
		CHECK(tree == number);
		CHECK(sws_rtree_insert(forest, tree, number, 1 + number, NULL) == SWS_OK);
	}
	CHECK(sws_forest_tree_count(forest) == 100);
	for (uint32_t number = 0; number < 100; number++)
		CHECK(sws_rtree_lookup(forest, number, number, NULL) == 1 + number);
	check_verified(forest);
	sws_forest_free(forest);
}

/* Single calls: the first one that fails ends the scenario, and has no effect. */
static int single_calls_scenario(const struct sws_allocator *allocator)
{
	struct sws_forest_config config;
	struct sws_forest *forest = NULL;
	uint32_t tree = 0;
	int error = SWS_OK;

	sws_forest_config_init(&config);
	config.shift = 1;
	config.allocator = allocator;
	error = sws_forest_new(&config, &forest);
	CHECK(!forest == !!error);
	if (error)
		goto out;
	error = sws_forest_add_tree(forest, &tree);
	CHECK(sws_forest_tree_count(forest) == (error ? 1u : 2u));
	for (uint64_t step = 0; !error && step < 64; step++) {
		uint64_t index = UINT64_C(1) << step;
		uint64_t nodes = sws_forest_node_count(forest);
		uint32_t height = sws_rtree_height(forest, tree);

		error = sws_rtree_insert(forest, tree, index, index, NULL);
		CHECK(sws_rtree_lookup(forest, tree, index, NULL) == (error ? 0 : index));
		CHECK(!error || sws_forest_node_count(forest) == nodes);
		CHECK(!error || sws_rtree_height(forest, tree) == height);
		check_verified(forest);
	}
out:
	sws_forest_free(forest);
	return error;
}

static void a_single_call_without_memory_changes_nothing(void)
{
	check_each_allocation_failing(single_calls_scenario);
}

/*
 * A batch without memory for sorting continues unsorted; without nodes it is undone. Each
 * allocation of an insert into a forest with items fails in turn.
 */
static void a_batch_insert_without_nodes_is_undone(void)
{
	struct rows *rows = malloc(sizeof(*rows));
	struct sws_generator generator;
	int undone = 0;
	int unsorted = 0;
	bool failed = true;

	CHECK(rows);
	for (uint64_t fail_at = 1; failed; fail_at++) {
		struct failing_allocator failing = { 0 };
		struct sws_allocator seam = failing_allocator_seam(&failing);
		struct sws_forest *forest = forest_of(3, 3, 1, &seam);
		struct sws_forest *before = forest_of(3, 3, 1, NULL);
		int error = SWS_OK;

		sws_generator_seed(&generator, 5, 5);
		for (uint32_t index = 0; index < 50; index++) {
			CHECK(!sws_rtree_insert(forest, index % 3, index, index + 1, NULL));
			CHECK(!sws_rtree_insert(before, index % 3, index, index + 1, NULL));
			CHECK(!sws_rtree_tag_set(forest, index % 3, index, index % 3, NULL));
			CHECK(!sws_rtree_tag_set(before, index % 3, index, index % 3, NULL));
		}
		do {
			draw_rows(rows, &generator, 3, 1 << 18, false);
		} while (rows->count < MOST_ROWS / 2);
		failing.fail_at = failing.requests + fail_at;
		error = sws_forest_insert(forest, rows->count, rows->trees, rows->indexes,
					  rows->items, rows->bytes);
		failed = failing.failed != 0;
		CHECK(error == SWS_OK || (failed && error == SWS_ERROR_NO_MEMORY));
		undone += error != SWS_OK;
		unsorted += failed && !error;
		for (size_t row = 0; error && row < rows->count; row++)
			CHECK(rows->bytes[row] == SWS_ERROR_NO_MEMORY);
		for (size_t row = 0; !error && row < rows->count; row++)
			CHECK(rows->bytes[row] == sws_rtree_insert(before, rows->trees[row],
								   rows->indexes[row],
								   rows->items[row], NULL));
		check_verified(forest);
		check_same_forests(forest, before);
		sws_forest_free(before);
		sws_forest_free(forest);
		CHECK(failing.held == 0);
	}
	CHECK(undone > 3);
	CHECK(unsorted > 3);
	free(rows);
}

#define CHECK_BROKEN(damage, repair)                                                               \
	do {                                                                                       \
		damage;                                                                            \
		CHECK(sws_forest_verify(forest, &reason) == SWS_ERROR_BROKEN);                     \
		CHECK(strcmp(reason, "every invariant holds") != 0);                               \
		repair;                                                                            \
		check_verified(forest);                                                            \
	} while (0)

static void verify_notices_damage(void)
{
	struct sws_forest *forest = forest_of(2, 2, 0, NULL);
	const char *reason = NULL;
	struct sws_rtree__tree *tree = NULL;
	struct sws_rtree__node *top = NULL;
	struct sws_rtree__node *leaf = NULL;

	for (uint64_t index = 0; index < 64; index += 3)
		CHECK(sws_rtree_insert(forest, 0, index, 1, NULL) == SWS_OK);
	CHECK(sws_rtree_tag_set(forest, 0, 33, DIRTY, NULL) == SWS_OK);
	CHECK(sws_rtree_insert(forest, 0, 1000, 1, NULL) == SWS_OK);
	CHECK(sws_rtree_delete(forest, 0, 1000, NULL) == 1);
	CHECK(sws_rtree_lookup(forest, 0, 33, NULL) == 1);
	tree = &forest->trees[0];
	top = tree->top;
	leaf = tree->leaf;
	check_verified(forest);
	CHECK_BROKEN(leaf->count++, leaf->count--);
	CHECK_BROKEN(leaf->offset ^= 1, leaf->offset ^= 1);
	CHECK_BROKEN(leaf->tags[DIRTY] = 0, leaf->tags[DIRTY] = 1 << 1);
	CHECK_BROKEN(leaf->tags[WRITEBACK] = 1 << 1, leaf->tags[WRITEBACK] = 0);
	CHECK_BROKEN(leaf->tags[DIRTY] |= 1 << 2, leaf->tags[DIRTY] = 1 << 1);
	CHECK_BROKEN(leaf->tags[DIRTY] |= 1 << 4, leaf->tags[DIRTY] = 1 << 1);
	CHECK_BROKEN(leaf->shift++, leaf->shift--);
	CHECK_BROKEN(top->tags[TOWRITE] = 1, top->tags[TOWRITE] = 0);
	CHECK_BROKEN(top->parent = leaf, top->parent = NULL);
	CHECK_BROKEN(tree->tags = 0, tree->tags = 1 << DIRTY);
	CHECK_BROKEN(tree->height++, tree->height--);
	CHECK_BROKEN(tree->item = 1, tree->item = 0);
	CHECK_BROKEN(tree->node_count++, tree->node_count--);
	CHECK_BROKEN(tree->leaf_number ^= 1, tree->leaf_number ^= 1);
	CHECK_BROKEN(forest->trees[1].tags = 1, forest->trees[1].tags = 0);
	CHECK_BROKEN(forest->trees[1].height = 1, forest->trees[1].height = 0);
	CHECK_BROKEN(forest->trees[1].node_count = 1, forest->trees[1].node_count = 0);
	CHECK_BROKEN(forest->node_count++, forest->node_count--);
	CHECK_BROKEN(forest->free_count++, forest->free_count--);
	CHECK_BROKEN(forest->free_count--, forest->free_count++);
	CHECK_BROKEN(forest->fresh_count++, forest->fresh_count--);
	CHECK_BROKEN(forest->free_nodes->slots[3] = 1, forest->free_nodes->slots[3] = 0);
	sws_forest_free(forest);
}

int main(void)
{
	RUN(bad_configs_are_refused);
	RUN(heights_are_those_of_the_index_bits);
	RUN(a_tree_can_grow_to_the_largest_index_at_once);
	RUN(a_trunk_takes_the_nodes_of_the_kernel);
	RUN(a_lone_item_at_0_stands_in_the_root_with_its_tags);
	RUN(calls_refuse_bad_arguments);
	RUN(work_is_counted_as_the_header_says);
	RUN(trees_of_any_fan_out_do_as_a_flat_array);
	RUN(batches_do_as_single_calls);
	RUN(bad_batches_do_nothing);
	RUN(trees_can_be_added);
	RUN(a_single_call_without_memory_changes_nothing);
	RUN(a_batch_insert_without_nodes_is_undone);
	RUN(verify_notices_damage);
	return 0;
}
