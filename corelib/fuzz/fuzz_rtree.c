/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_rtree.c - arbitrary bytes as calls on a small forest, and on a flat array that does the same
 * in the obvious way: each result is compared, each step verified.
 *
 *      byte 0         fan-out, and whether batches are sorted
 *      then per call  operation, place, argument
 *
 * A place is a tree and one of 64 indexes, eight at each of eight bases between 0 and the largest
 * index: few enough to be used repeatedly, far enough apart for trees of all heights.
 */
#include "input.h"

#include "swapsim/rtree.h"

#include <string.h>

#define TREES  3
#define PLACES 64

struct shadow {
	uint64_t items[PLACES];
	uint8_t tags[PLACES];
};

/* Returns the index of a place, ascending with the place. */
static uint64_t index_of(uint32_t place)
{
	static const uint64_t bases[] = { 0,
					  62,
					  4092,
					  UINT64_C(1) << 18,
					  (UINT64_C(1) << 36) - 4,
					  UINT64_C(1) << 54,
					  UINT64_C(1) << 63,
					  UINT64_MAX - 7 };

	return bases[place / 8] + place % 8;
}

static void compare_scan(struct sws_forest *forest, const struct shadow *shadow, uint32_t tree,
			 uint32_t first, size_t limit, uint32_t tag)
{
	uint64_t items[PLACES], indexes[PLACES];
	size_t count = 0;
	size_t seen = 0;

	if (tag < SWS_RTREE_TAG_COUNT)
		count = sws_rtree_gang_lookup_tag(forest, tree, index_of(first), limit, tag, items,
						  indexes);
	else
		count = sws_rtree_gang_lookup(forest, tree, index_of(first), limit, items, indexes);
	for (uint32_t place = first; place < PLACES && seen < limit; place++) {
		if (!shadow->items[place] ||
		    (tag < SWS_RTREE_TAG_COUNT && !(shadow->tags[place] >> tag & 1)))
			continue;
		MUST(seen < count);
		MUST(items[seen] == shadow->items[place] && indexes[seen] == index_of(place));
		seen++;
	}
	MUST(seen == count);
}

static void compare_range_tag(struct sws_forest *forest, struct shadow *shadow, uint32_t tree,
			      uint32_t first, uint32_t last, uint64_t limit, uint32_t if_tag)
{
	uint32_t set_tag = (if_tag + 1) % SWS_RTREE_TAG_COUNT;
	uint64_t next = index_of(first);
	uint64_t expected = next;
	uint64_t met = 0;

	if (first <= last && limit) {
		expected = index_of(last) + 1;
		for (uint32_t place = first; place <= last && met < limit; place++) {
			if (!(shadow->tags[place] >> if_tag & 1))
				continue;
			shadow->tags[place] |= (uint8_t)(1u << set_tag);
			if (++met == limit)
				expected = index_of(place) + 1;
		}
	}
	MUST(sws_rtree_range_tag_if_tagged(forest, tree, &next, index_of(last), limit, if_tag,
					   set_tag) == met);
	MUST(next == expected);
}

/* Makes one batch call with one to sixteen places, drawn from the input. */
static void compare_batch(struct sws_forest *forest, struct shadow *shadows, struct input *input,
			  uint8_t argument, uint32_t tag)
{
	size_t count = argument % 16 + 1u;
	uint32_t trees[16], places[16];
	uint64_t indexes[16], items[16], words[16];
	int8_t bytes[16];

	for (size_t row = 0; row < count; row++) {
		uint8_t drawn = input_byte(input);

		places[row] = drawn % PLACES;
		trees[row] = drawn / PLACES % TREES;
		indexes[row] = index_of(places[row]);
		items[row] = row + 1;
	}
	if (argument & 16)
		MUST(!sws_forest_insert(forest, count, trees, indexes, items, bytes));
	else if (argument & 32)
		MUST(!sws_forest_delete(forest, count, trees, indexes, words));
	else if (argument & 64)
		MUST(!sws_forest_tag_set(forest, count, trees, indexes, tag, bytes));
	else
		MUST(!sws_forest_tag_clear(forest, count, trees, indexes, tag, bytes));
	for (size_t row = 0; row < count; row++) {
		uint64_t *item = &shadows[trees[row]].items[places[row]];
		uint8_t *tags = &shadows[trees[row]].tags[places[row]];

		if (argument & 16) {
			MUST(bytes[row] == (*item ? SWS_ERROR_EXISTS : SWS_OK));
			*item = *item ? *item : items[row];
		} else if (argument & 32) {
			MUST(words[row] == *item);
			*item = 0;
			*tags = 0;
		} else {
			MUST(bytes[row] == (*item ? SWS_OK : SWS_ERROR_NOT_FOUND));
			if (argument & 64)
				*tags |= (uint8_t)(*item ? 1u << tag : 0);
			else
				*tags &= (uint8_t)~(1u << tag);
		}
	}
}

static void compare_single(struct sws_forest *forest, struct shadow *shadow, uint32_t tree,
			   uint32_t operation, uint32_t place, uint8_t argument)
{
	uint32_t tag = argument % SWS_RTREE_TAG_COUNT;
	uint64_t index = index_of(place);
	uint64_t *item = &shadow->items[place];
	uint8_t *tags = &shadow->tags[place];
	int missing = *item ? SWS_OK : SWS_ERROR_NOT_FOUND;

	switch (operation) {
	case 0:
		MUST(sws_rtree_insert(forest, tree, index, argument + 1u, NULL) ==
		     (*item ? SWS_ERROR_EXISTS : SWS_OK));
		*item = *item ? *item : argument + 1u;
		break;
	case 1:
		MUST(sws_rtree_delete(forest, tree, index, NULL) == *item);
		*item = 0;
		*tags = 0;
		break;
	case 2:
		MUST(sws_rtree_tag_set(forest, tree, index, tag, NULL) == missing);
		*tags |= (uint8_t)(*item ? 1u << tag : 0);
		break;
	case 3:
		MUST(sws_rtree_tag_clear(forest, tree, index, tag, NULL) == missing);
		*tags &= (uint8_t)~(1u << tag);
		break;
	case 4:
		MUST(sws_rtree_tag_update(forest, tree, index, 1u << tag, 7u ^ (1u << tag), NULL) ==
		     missing);
		*tags = (uint8_t)(*item ? 1u << tag : 0);
		break;
	default:
		MUST(sws_rtree_replace(forest, tree, index, argument + 1u, NULL) == missing);
		*item = *item ? argument + 1u : 0;
	}
}

static void compare_all(struct sws_forest *forest, const struct shadow *shadows)
{
	const char *reason = NULL;

	MUST(sws_forest_verify(forest, &reason) == SWS_OK);
	for (uint32_t tree = 0; tree < TREES; tree++) {
		uint8_t any = 0;

		for (uint32_t place = 0; place < PLACES; place++) {
			uint64_t index = index_of(place);

			MUST(sws_rtree_lookup(forest, tree, index, NULL) ==
			     shadows[tree].items[place]);
			for (uint32_t tag = 0; tag < SWS_RTREE_TAG_COUNT; tag++)
				MUST(sws_rtree_tag_get(forest, tree, index, tag, NULL) ==
				     (shadows[tree].tags[place] >> tag & 1));
			any |= shadows[tree].tags[place];
		}
		for (uint32_t tag = 0; tag < SWS_RTREE_TAG_COUNT; tag++)
			MUST(sws_rtree_tagged(forest, tree, tag) == (any >> tag & 1));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { .bytes = data, .left = size };
	struct shadow shadows[TREES];
	struct sws_forest_config config;
	struct sws_forest *forest = NULL;
	uint8_t head = input_byte(&input);

	memset(shadows, 0, sizeof(shadows));
	sws_forest_config_init(&config);
	config.shift = head % 6 + 1u;
	config.tree_count = TREES;
	config.sort_threshold = head & 128 ? 0 : UINT64_MAX;
	MUST(!sws_forest_new(&config, &forest));
	while (input.left) {
		uint8_t operation = input_byte(&input);
		uint32_t tree = operation / 16 % TREES;
		uint32_t place = input_byte(&input) % PLACES;
		uint8_t argument = input_byte(&input);
		const char *reason = NULL;

		operation %= 16;
		if (operation < 6)
			compare_single(forest, &shadows[tree], tree, operation, place, argument);
		else if (operation < 8)
			compare_batch(forest, shadows, &input, argument, place % 3);
		else if (operation < 10)
			compare_scan(forest, &shadows[tree], tree, place, argument % 20u,
				     argument / 20 % 4);
		else if (operation < 12)
			compare_range_tag(forest, &shadows[tree], tree, place, argument % PLACES,
					  argument / PLACES, argument % 3);
		else if (operation == 12)
			compare_all(forest, shadows);
		MUST(sws_forest_verify(forest, &reason) == SWS_OK);
	}
	compare_all(forest, shadows);
	sws_forest_free(forest);
	return 0;
}
