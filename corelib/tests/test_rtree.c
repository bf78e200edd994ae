/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check.h"

#include "rtree/layout.h"

#include <string.h>

#define DIRTY     SWS_RTREE_TAG_DIRTY
#define WRITEBACK SWS_RTREE_TAG_WRITEBACK
#define TOWRITE   SWS_RTREE_TAG_TOWRITE

static struct sws_forest *forest_of(uint32_t shift, uint32_t trees)
{
	struct sws_forest_config config;
	struct sws_forest *forest = NULL;

	sws_forest_config_init(&config);
	config.shift = shift;
	config.tree_count = trees;
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
		struct sws_forest *forest = forest_of(shift, 1);

		for (uint32_t bits = 1; bits <= 64; bits++) {
			uint64_t index = UINT64_MAX >> (64 - bits);

			CHECK(sws_rtree_insert(forest, 0, index, 7, NULL) == SWS_OK);
			CHECK(sws_rtree_height(forest, 0) == (bits + shift - 1) / shift);
			CHECK(sws_rtree_node_count(forest, 0) == (bits + shift - 1) / shift);
			check_verified(forest);
			CHECK(sws_rtree_delete(forest, 0, index, NULL) == 7);
			CHECK(sws_rtree_height(forest, 0) == 0);
			CHECK(forest->node_count == 0);
		}
		sws_forest_free(forest);
	}
}

static void a_tree_can_grow_to_the_largest_index_at_once(void)
{
	for (uint32_t shift = 1; shift <= 6; shift++) {
		struct sws_forest *forest = forest_of(shift, 1);
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
	struct sws_forest *forest = forest_of(6, 4);

	for (uint32_t trunk = 0; trunk < 4; trunk++) {
		for (uint64_t slot = 0; slot < 16384; slot++)
			CHECK(!sws_rtree_insert(forest, trunk, trunks[trunk].first + slot, 1,
						NULL));
		CHECK(sws_rtree_height(forest, trunk) == trunks[trunk].height);
		CHECK(sws_rtree_node_count(forest, trunk) == trunks[trunk].nodes);
	}
	CHECK(forest->node_bytes == 576);
	CHECK(forest->node_count == 2 * (261 + 262));
	check_verified(forest);
	sws_forest_free(forest);
}

static void a_lone_item_at_0_stands_in_the_root_with_its_tags(void)
{
	struct sws_forest *forest = forest_of(6, 1);

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
	struct sws_forest *forest = forest_of(6, 2);
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
	CHECK(sws_rtree_next(forest, 2, &first) == 0);
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
	struct sws_forest *forest = forest_of(6, 1);
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

/* The first item at or above a slot, by a loop over the array. */
static void check_next_like_shadow(struct sws_forest *forest, const struct shadow *shadow,
				   uint32_t slot)
{
	uint64_t index = shadow->base + slot;
	uint64_t item = sws_rtree_next(forest, 0, &index);

	while (slot < WINDOW && !shadow->items[slot])
		slot++;
	CHECK(item == (slot < WINDOW ? shadow->items[slot] : 0));
	CHECK(!item || index == shadow->base + slot);
}

static void thrash_step(struct sws_forest *forest, struct shadow *shadow,
			struct sws_generator *generator, uint32_t reach)
{
	uint32_t slot = (uint32_t)sws_generator_below(generator, reach);
	uint32_t other = (uint32_t)sws_generator_below(generator, reach);
	uint32_t tag = (uint32_t)sws_generator_below(generator, 3);
	uint64_t item = sws_generator_next(generator) | 1;
	uint64_t index = shadow->base + slot;
	uint64_t *held = &shadow->items[slot];
	int missing = *held ? SWS_OK : SWS_ERROR_NOT_FOUND;

	switch (sws_generator_below(generator, 8)) {
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
	default:
		check_next_like_shadow(forest, shadow, slot);
	}
	check_like_shadow(forest, shadow, slot);
	check_like_shadow(forest, shadow, other);
}

static void thrash(uint32_t shift, uint64_t base, uint32_t reach, uint64_t seed)
{
	struct sws_forest *forest = forest_of(shift, 1);
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
	CHECK(forest->node_count == 0);
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

static void trees_can_be_added(void)
{
	struct sws_forest *forest = forest_of(6, 0);
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

/* The first call that fails ends the scenario, and has no effect. */
static int calls_scenario(const struct sws_allocator *allocator)
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
		uint64_t nodes = forest->node_count;
		uint32_t height = sws_rtree_height(forest, tree);

		error = sws_rtree_insert(forest, tree, index, index, NULL);
		CHECK(sws_rtree_lookup(forest, tree, index, NULL) == (error ? 0 : index));
		CHECK(!error || forest->node_count == nodes);
		CHECK(!error || sws_rtree_height(forest, tree) == height);
		check_verified(forest);
	}
out:
	sws_forest_free(forest);
	return error;
}

static void a_call_without_memory_changes_nothing(void)
{
	check_each_allocation_failing(calls_scenario);
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
	struct sws_forest *forest = forest_of(2, 2);
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
	RUN(trees_can_be_added);
	RUN(a_call_without_memory_changes_nothing);
	RUN(verify_notices_damage);
	return 0;
}
