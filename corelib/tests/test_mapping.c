/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "swapsim/mapping.h"

#include "check.h"

enum { FOLIO = 64, SHADOW = 7 };

static struct sws_mappings *make(enum sws_kernel kernel, bool tags, uint64_t slots)
{
	struct sws_mapping_config config;
	struct sws_mappings *mappings = NULL;

	sws_mapping_config_init(&config);
	config.kernel = kernel;
	config.swap_writeback_tags = tags;
	config.swap_slots = slots;
	CHECK(sws_mappings_new(&config, &mappings) == SWS_OK);
	return mappings;
}

static void verify(const struct sws_mappings *mappings)
{
	const char *reason = NULL;

	CHECK(sws_mappings_verify(mappings, &reason) == SWS_OK);
}

/* Passes one page through its life; returns the work of add, start, end, delete. */
static void live(struct sws_mappings *mappings, uint32_t mapping, uint64_t index,
		 struct sws_mapping_work work[4])
{
	for (int step = 0; step < 4; step++)
		work[step] = (struct sws_mapping_work){ 0 };
	CHECK(sws_mapping_add(mappings, mapping, index, FOLIO, &work[0]) == SWS_OK);
	verify(mappings);
	CHECK(sws_mapping_start_writeback(mappings, mapping, index, false, false, &work[1]) ==
	      SWS_OK);
	verify(mappings);
	CHECK(sws_mapping_end_writeback(mappings, mapping, index, &work[2]) == SWS_OK);
	verify(mappings);
	CHECK(sws_mapping_delete(mappings, mapping, index, 0, &work[3]) == SWS_OK);
	verify(mappings);
	CHECK(sws_mapping_lookup(mappings, mapping, index) == 0);
}

static const enum sws_kernel kernels[] = { SWS_KERNEL_4_8, SWS_KERNEL_5_8, SWS_KERNEL_6_1 };

static void a_swap_page_costs_four_acquisitions_with_tags_and_two_without(void)
{
	for (int k = 0; k < 3; k++) {
		const enum sws_kernel kernel = kernels[k];
		const uint64_t start_descents = kernel == SWS_KERNEL_4_8 ? 3 : 1;

		for (int tags = 0; tags <= 1; tags++) {
			struct sws_mappings *mappings = make(kernel, tags, 1 << 20);
			struct sws_mapping_work work[4];
			uint32_t mapping = 0;

			CHECK(sws_mapping_of_swap(mappings, 70000, &mapping) == SWS_OK);
			CHECK(mapping == (kernel == SWS_KERNEL_4_8 ? 0 : 4));
			live(mappings, mapping, 70000, work);
			for (int step = 0; step < 4; step++) {
				const bool writeback = step == 1 || step == 2;

				CHECK(work[step].acquisitions == (!writeback || tags));
			}
			CHECK(work[0].tree.descents == 1 && work[3].tree.descents == 1);
			CHECK(work[1].tree.descents == (tags ? start_descents : 0));
			CHECK(work[2].tree.descents == (unsigned int)tags);
			sws_mappings_free(mappings);
		}
	}
}

static void a_file_keeps_its_tags_whatever_the_swap_cache_does(void)
{
	struct sws_mappings *mappings = make(SWS_KERNEL_4_8, false, 1000);
	struct sws_mapping_work work = { 0 };
	uint32_t file = 0;

	CHECK(sws_mapping_add_file(mappings, &file) == SWS_OK);
	CHECK(sws_mapping_add(mappings, file, 5, FOLIO, &work) == SWS_OK);
	CHECK(sws_mapping_dirty(mappings, file, 5, &work) == SWS_OK);
	CHECK(sws_mapping_tagged(mappings, file, SWS_RTREE_TAG_DIRTY));
	CHECK(sws_mapping_start_writeback(mappings, file, 5, false, false, &work) == SWS_OK);
	CHECK(sws_mapping_tagged(mappings, file, SWS_RTREE_TAG_WRITEBACK));
	CHECK(!sws_mapping_tagged(mappings, file, SWS_RTREE_TAG_DIRTY));
	CHECK(sws_mapping_end_writeback(mappings, file, 5, &work) == SWS_OK);
	CHECK(!sws_mapping_tagged(mappings, file, SWS_RTREE_TAG_WRITEBACK));
	CHECK(sws_mapping_delete(mappings, file, 5, SHADOW, &work) == SWS_OK);
	CHECK(sws_mapping_lookup(mappings, file, 5) == 0);
	CHECK(work.acquisitions == 5);
	verify(mappings);
	sws_mappings_free(mappings);
}

static void a_page_dirtied_again_keeps_dirty_and_keep_write_keeps_towrite(void)
{
	struct sws_mappings *mappings = make(SWS_KERNEL_6_1, true, 1000);
	struct sws_mapping_work work = { 0 };
	uint32_t file = 0;

	CHECK(sws_mapping_add_file(mappings, &file) == SWS_OK);
	CHECK(sws_mapping_add(mappings, file, 9, FOLIO, &work) == SWS_OK);
	CHECK(sws_mapping_dirty(mappings, file, 9, &work) == SWS_OK);
	CHECK(sws_mapping_start_writeback(mappings, file, 9, true, true, &work) == SWS_OK);
	CHECK(sws_mapping_tagged(mappings, file, SWS_RTREE_TAG_DIRTY));
	verify(mappings);
	sws_mappings_free(mappings);
}

static void a_shadow_stays_in_6_1_until_its_slot_is_freed(void)
{
	for (int k = 0; k < 3; k++) {
		struct sws_mappings *mappings = make(kernels[k], false, 1000);
		const bool stays = kernels[k] == SWS_KERNEL_6_1;
		struct sws_mapping_work work = { 0 };

		CHECK(sws_mapping_add(mappings, 0, 70, FOLIO, &work) == SWS_OK);
		CHECK(sws_mapping_delete(mappings, 0, 70, SHADOW, &work) == SWS_OK);
		CHECK(sws_mapping_lookup(mappings, 0, 70) == (stays ? SHADOW : 0));
		CHECK(sws_mapping_nodes(mappings, 0) == (stays ? 2u : 0u));
		/* A page replaces a shadow as it fills an empty place. */
		CHECK(sws_mapping_add(mappings, 0, 70, FOLIO, &work) == SWS_OK);
		CHECK(sws_mapping_delete(mappings, 0, 70, SHADOW, &work) == SWS_OK);
		work = (struct sws_mapping_work){ 0 };
		CHECK(sws_mapping_clear_shadow(mappings, 0, 70, &work) == SWS_OK);
		CHECK(work.acquisitions == stays && work.tree.descents == stays);
		CHECK(sws_mapping_lookup(mappings, 0, 70) == 0);
		/* The lock is taken and the tree walked even if no shadow is left. */
		CHECK(sws_mapping_clear_shadow(mappings, 0, 70, &work) == SWS_OK);
		CHECK(work.acquisitions == 2u * stays);
		CHECK(sws_mapping_nodes(mappings, 0) == 0);
		verify(mappings);
		sws_mappings_free(mappings);
	}
}

static void reclaim_leaves_a_shadow_of_a_file_page_but_in_4_8_none_in_the_root(void)
{
	for (int k = 0; k < 3; k++) {
		struct sws_mappings *mappings = make(kernels[k], true, 1000);
		struct sws_mapping_work made = { 0 };
		struct sws_rtree_work work = { 0 };
		uint32_t file = 0;

		CHECK(sws_mapping_add_file(mappings, &file) == SWS_OK);
		CHECK(!sws_mapping_is_swap(mappings, file) && sws_mapping_is_swap(mappings, 0));
		CHECK(sws_mapping_add(mappings, file, 0, FOLIO, &made) == SWS_OK);
		CHECK(sws_mapping_remove(mappings, file, 0, SHADOW, &work) == SWS_OK);
		CHECK(sws_mapping_lookup(mappings, file, 0) ==
		      (kernels[k] == SWS_KERNEL_4_8 ? 0 : SHADOW));
		verify(mappings);
		CHECK(sws_mapping_add(mappings, file, 70, FOLIO, &made) == SWS_OK);
		CHECK(sws_mapping_dirty(mappings, file, 70, &made) == SWS_OK);
		work = (struct sws_rtree_work){ 0 };
		CHECK(sws_mapping_remove(mappings, file, 70, SHADOW, &work) == SWS_OK);
		CHECK(work.descents == 1 && work.nodes_touched == 2 && work.nodes_freed == 0);
		/* DIRTY at the leaf, above it and in the root; two other tags at the leaf only. */
		CHECK(work.tag_words_touched == 3 + 1 + 1);
		CHECK(sws_mapping_lookup(mappings, file, 70) == SHADOW);
		CHECK(!sws_mapping_tagged(mappings, file, SWS_RTREE_TAG_DIRTY));
		verify(mappings);
		CHECK(sws_mapping_remove(mappings, file, 70, SHADOW, &work) == SWS_ERROR_NOT_FOUND);
		CHECK(sws_mapping_add(mappings, file, 70, FOLIO, &made) == SWS_OK);
		CHECK(sws_mapping_remove(mappings, file, 70, 0, &work) == SWS_OK);
		CHECK(sws_mapping_lookup(mappings, file, 70) == 0);
		verify(mappings);
		sws_mappings_free(mappings);
	}
}

static void a_full_trunk_has_its_full_offsets_as_indexes(void)
{
	const uint64_t first = UINT64_C(1) << 18;
	struct sws_mappings *mappings = make(SWS_KERNEL_5_8, false, 2 * first);
	struct sws_mapping_work work = { 0 };
	uint32_t trunk = 0;

	CHECK(sws_mapping_of_swap(mappings, first, &trunk) == SWS_OK);
	CHECK(trunk == 16);
	for (uint64_t offset = first; offset < first + (1 << 14); offset++)
		CHECK(sws_mapping_add(mappings, trunk, offset, 2 * offset, &work) == SWS_OK);
	/* 256 leaves, 4 above them, and one path of single children to the top. */
	CHECK(sws_mapping_nodes(mappings, trunk) == 256 + 4 + 1 + 1);
	verify(mappings);
	sws_mappings_free(mappings);
}

static void a_move_keeps_the_tags_and_changes_the_folio(void)
{
	struct sws_mappings *mappings = make(SWS_KERNEL_4_8, true, 1000);
	struct sws_mapping_work work = { 0 };

	CHECK(sws_mapping_move(mappings, 0, 70, 2 * FOLIO, &work) == SWS_ERROR_NOT_FOUND);
	CHECK(sws_mapping_add(mappings, 0, 70, FOLIO, &work) == SWS_OK);
	CHECK(sws_mapping_start_writeback(mappings, 0, 70, false, false, &work) == SWS_OK);
	work = (struct sws_mapping_work){ 0 };
	CHECK(sws_mapping_move(mappings, 0, 70, 2 * FOLIO, &work) == SWS_OK);
	CHECK(work.acquisitions == 1 && work.tree.descents == 1);
	CHECK(sws_mapping_lookup(mappings, 0, 70) == 2 * FOLIO);
	CHECK(sws_mapping_tagged(mappings, 0, SWS_RTREE_TAG_WRITEBACK));
	CHECK(sws_mapping_move(mappings, 0, 70, SHADOW, &work) == SWS_ERROR_BAD_ARGUMENT);
	verify(mappings);
	sws_mappings_free(mappings);
}

static void what_does_not_fit_is_refused(void)
{
	struct sws_mapping_config config;
	struct sws_mappings *mappings = make(SWS_KERNEL_6_1, true, 40000);
	struct sws_mapping_work work = { 0 };
	uint32_t mapping = 0;

	CHECK(sws_mapping_of_swap(mappings, 39999, &mapping) == SWS_OK && mapping == 2);
	CHECK(sws_mapping_of_swap(mappings, 40000, &mapping) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_mapping_count(mappings) == 3);
	CHECK(sws_mapping_add(mappings, 0, 16384, FOLIO, &work) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_mapping_add(mappings, 3, 1, FOLIO, &work) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_mapping_add(mappings, 0, 1, SHADOW, &work) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_mapping_add(mappings, 0, 1, 0, &work) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_mapping_dirty(mappings, 0, 1, &work) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_mapping_start_writeback(mappings, 0, 1, false, false, &work) ==
	      SWS_ERROR_NOT_FOUND);
	CHECK(sws_mapping_end_writeback(mappings, 0, 1, &work) == SWS_ERROR_NOT_FOUND);
	CHECK(sws_mapping_delete(mappings, 0, 1, 0, &work) == SWS_ERROR_NOT_FOUND);
	CHECK(sws_mapping_delete(mappings, 0, 1, FOLIO, &work) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(work.acquisitions == 0);
	CHECK(sws_mapping_add(mappings, 0, 1, FOLIO, &work) == SWS_OK);
	CHECK(sws_mapping_add(mappings, 0, 1, FOLIO, &work) == SWS_ERROR_EXISTS);
	sws_mappings_free(mappings);

	sws_mapping_config_init(&config);
	config.swap_slots = 0;
	CHECK(sws_mappings_new(&config, &mappings) == SWS_ERROR_BAD_CONFIG && !mappings);
	sws_mapping_config_init(&config);
	config.tree_shift = 7;
	CHECK(sws_mappings_new(&config, &mappings) == SWS_ERROR_BAD_CONFIG && !mappings);
	sws_mapping_config_init(&config);
	config.kernel = SWS_KERNEL_5_7;
	CHECK(sws_mappings_new(&config, &mappings) == SWS_ERROR_BAD_CONFIG && !mappings);
	sws_mappings_free(NULL);
}

static int fill_and_empty(const struct sws_allocator *allocator)
{
	struct sws_mapping_config config;
	struct sws_mappings *mappings = NULL;
	struct sws_mapping_work work = { 0 };
	uint32_t file = 0;
	int error = SWS_OK;

	sws_mapping_config_init(&config);
	config.swap_slots = 1 << 16;
	config.allocator = allocator;
	error = sws_mappings_new(&config, &mappings);
	if (error)
		goto out;
	error = sws_mapping_add_file(mappings, &file);
	for (uint64_t index = 0; !error && index < 1 << 16; index += 61) {
		error = sws_mapping_add(mappings, 0, index, FOLIO, &work);
		if (!error)
			error = sws_mapping_add(mappings, file, 977 * index, FOLIO, &work);
		verify(mappings);
	}
out:
	sws_mappings_free(mappings);
	return error;
}

static void running_out_of_memory_leaks_and_breaks_nothing(void)
{
	check_each_allocation_failing(fill_and_empty);
}

int main(void)
{
	RUN(a_swap_page_costs_four_acquisitions_with_tags_and_two_without);
	RUN(a_file_keeps_its_tags_whatever_the_swap_cache_does);
	RUN(a_page_dirtied_again_keeps_dirty_and_keep_write_keeps_towrite);
	RUN(a_shadow_stays_in_6_1_until_its_slot_is_freed);
	RUN(reclaim_leaves_a_shadow_of_a_file_page_but_in_4_8_none_in_the_root);
	RUN(a_full_trunk_has_its_full_offsets_as_indexes);
	RUN(a_move_keeps_the_tags_and_changes_the_folio);
	RUN(what_does_not_fit_is_refused);
	RUN(running_out_of_memory_leaks_and_breaks_nothing);
	return 0;
}
