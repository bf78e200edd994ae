/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_rtree.c - arbitrary bytes as calls on a small forest, and on a flat array that does the same
 * in the obvious way: each result is compared, each step verified.
 *
 *      byte 0         fan-out
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

static void compare_next(const struct sws_forest *forest, const struct shadow *shadow,
			 uint32_t tree, uint32_t place)
{
	uint64_t index = index_of(place);
	uint64_t item = sws_rtree_next(forest, tree, &index);

	while (place < PLACES && !shadow->items[place])
		place++;
	MUST(item == (place < PLACES ? shadow->items[place] : 0));
	MUST(!item || index == index_of(place));
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
		else if (operation < 10)
			compare_next(forest, &shadows[tree], tree, place);
		else if (operation == 12)
			compare_all(forest, shadows);
		MUST(sws_forest_verify(forest, &reason) == SWS_OK);
	}
	compare_all(forest, shadows);
	sws_forest_free(forest);
	return 0;
}
