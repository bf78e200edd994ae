/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "swapsim/mapping_replay.h"

#include "check.h"

enum { F = 0x1000, G = 0x2000, FILE_KEY = 77 };

struct row {
	uint8_t op;
	uint64_t folio, index, file, shadow;
};

static struct sws_mapping_replay *make(enum sws_kernel kernel, bool tags)
{
	struct sws_mapping_config config;
	struct sws_mapping_replay *replay = NULL;

	sws_mapping_config_init(&config);
	config.kernel = kernel;
	config.swap_writeback_tags = tags;
	config.swap_slots = 1 << 16;
	CHECK(sws_mapping_replay_new(&config, &replay) == SWS_OK);
	return replay;
}

static int feed(struct sws_mapping_replay *replay, const struct row *row)
{
	const struct sws_mapping_replay_rows rows = {
		.op = &row->op,
		.folio = &row->folio,
		.index = &row->index,
		.file = &row->file,
		.shadow = &row->shadow,
	};
	const char *reason = NULL;
	uint64_t at = 0;
	int error = sws_mapping_replay_feed(replay, &rows, 1, &at);

	CHECK(sws_mapping_replay_verify(replay, &reason) == SWS_OK);
	return error;
}

static void
feed_all(struct sws_mapping_replay *replay, const struct row *rows, size_t count,
	 struct sws_mapping_replay_cell cells[SWS_MAPPING_REPLAY_FLOWS][SWS_MAPPING_REPLAY_SITES])
{
	for (size_t i = 0; i < count; i++)
		CHECK(feed(replay, &rows[i]) == SWS_OK);
	CHECK(sws_mapping_replay_finish(replay, cells[0]) == SWS_OK);
	sws_mapping_replay_free(replay);
}

#define FEED_ALL(replay, rows, cells) feed_all(replay, rows, sizeof(rows) / sizeof(*(rows)), cells)

static void a_written_stay_is_told_from_an_unwritten_one(void)
{
	const struct row rows[] = {
		{ SWS_MAPPING_REPLAY_SWAP_ADD, F, 100, 1, 0 },
		{ SWS_MAPPING_REPLAY_SWAP_ADD, G, 101, 1, 0 },
		{ SWS_MAPPING_REPLAY_START, F, 0, 0, 0 },
		{ SWS_MAPPING_REPLAY_END, F, 0, 0, 0 },
		{ SWS_MAPPING_REPLAY_SWAP_DELETE, F, 100, 1, 2 },
		{ SWS_MAPPING_REPLAY_SWAP_DELETE, G, 101, 1, 2 },
		{ SWS_MAPPING_REPLAY_SLOT_FREE, 0, 100, 1, 0 },
	};
	for (int tags = 0; tags <= 1; tags++) {
		struct sws_mapping_replay_cell cells[SWS_MAPPING_REPLAY_FLOWS]
						    [SWS_MAPPING_REPLAY_SITES];
		uint64_t taken = 0;

		FEED_ALL(make(SWS_KERNEL_4_8, tags), rows, cells);
		for (int site = 0; site < SWS_MAPPING_REPLAY_SITES; site++)
			taken += cells[SWS_MAPPING_REPLAY_WRITTEN][site].work.acquisitions;
		CHECK(taken == (tags ? 4 : 2));
		CHECK(cells[SWS_MAPPING_REPLAY_UNWRITTEN][SWS_MAPPING_REPLAY_SITE_ADD].calls == 1);
		CHECK(cells[SWS_MAPPING_REPLAY_UNWRITTEN][SWS_MAPPING_REPLAY_SITE_DELETE].calls ==
		      1);
		CHECK(cells[SWS_MAPPING_REPLAY_WRITTEN][SWS_MAPPING_REPLAY_SITE_START]
			      .work.tree.descents == (tags ? 3 : 0));
		CHECK(cells[SWS_MAPPING_REPLAY_WRITTEN][SWS_MAPPING_REPLAY_SITE_CLEAR_SHADOW]
			      .calls == 0);
	}
}

static void clearing_the_shadow_is_a_third_acquisition_in_6_1(void)
{
	const struct row rows[] = {
		{ SWS_MAPPING_REPLAY_SWAP_ADD, F, 100, 1, 0 },
		{ SWS_MAPPING_REPLAY_START, F, 0, 0, 0 },
		{ SWS_MAPPING_REPLAY_END, F, 0, 0, 0 },
		{ SWS_MAPPING_REPLAY_SWAP_DELETE, F, 100, 1, 2 },
		{ SWS_MAPPING_REPLAY_SLOT_FREE, 0, 100, 1, 0 },
	};
	struct sws_mapping_replay_cell cells[SWS_MAPPING_REPLAY_FLOWS][SWS_MAPPING_REPLAY_SITES];
	uint64_t taken = 0;

	FEED_ALL(make(SWS_KERNEL_6_1, false), rows, cells);
	for (int site = 0; site < SWS_MAPPING_REPLAY_SITES; site++)
		taken += cells[SWS_MAPPING_REPLAY_WRITTEN][site].work.acquisitions;
	CHECK(taken == 3);
}

static void a_stay_still_open_at_the_end_is_booked(void)
{
	const struct row rows[] = {
		{ SWS_MAPPING_REPLAY_SWAP_ADD, F, 100, 1, 0 },
		{ SWS_MAPPING_REPLAY_SWAP_ADD, G, 101, 1, 0 },
		{ SWS_MAPPING_REPLAY_START, G, 101, 1, 0 },
	};
	struct sws_mapping_replay_cell cells[SWS_MAPPING_REPLAY_FLOWS][SWS_MAPPING_REPLAY_SITES];

	FEED_ALL(make(SWS_KERNEL_4_8, true), rows, cells);
	CHECK(cells[SWS_MAPPING_REPLAY_UNWRITTEN][SWS_MAPPING_REPLAY_SITE_ADD].calls == 1);
	CHECK(cells[SWS_MAPPING_REPLAY_WRITTEN][SWS_MAPPING_REPLAY_SITE_ADD].calls == 1);
}

static void a_page_from_before_the_trace_is_taken_up_unbooked(void)
{
	const struct row rows[] = {
		{ SWS_MAPPING_REPLAY_START, F, 300, 1, 0 },
		{ SWS_MAPPING_REPLAY_START, G, 5, FILE_KEY, 0 },
		{ SWS_MAPPING_REPLAY_END, 0x3000, 0, 0, 0 },
	};
	struct sws_mapping_replay_cell cells[SWS_MAPPING_REPLAY_FLOWS][SWS_MAPPING_REPLAY_SITES];

	FEED_ALL(make(SWS_KERNEL_4_8, true), rows, cells);
	CHECK(cells[SWS_MAPPING_REPLAY_WRITTEN][SWS_MAPPING_REPLAY_SITE_ADD].calls == 0);
	CHECK(cells[SWS_MAPPING_REPLAY_WRITTEN][SWS_MAPPING_REPLAY_SITE_START].work.acquisitions ==
	      1);
	CHECK(cells[SWS_MAPPING_REPLAY_FILE][SWS_MAPPING_REPLAY_SITE_START].work.tree.descents ==
	      3);
	CHECK(cells[SWS_MAPPING_REPLAY_FILE][SWS_MAPPING_REPLAY_SITE_END].unresolved == 1);
	CHECK(cells[SWS_MAPPING_REPLAY_FILE][SWS_MAPPING_REPLAY_SITE_END].work.acquisitions == 1);
	CHECK(cells[SWS_MAPPING_REPLAY_FILE][SWS_MAPPING_REPLAY_SITE_END].work.tree.descents == 0);
}

static void a_file_page_lives_beside_swap_pages(void)
{
	const struct row rows[] = {
		{ SWS_MAPPING_REPLAY_FILE_ADD, F, 7, FILE_KEY, 0 },
		{ SWS_MAPPING_REPLAY_FILE_DIRTY, 0, 7, FILE_KEY, 0 },
		/* A probe identifies the file by its address, and the page's index agrees. */
		{ SWS_MAPPING_REPLAY_START, F, 7, 0xffff888000000000, 0 },
		{ SWS_MAPPING_REPLAY_END, F, 7, 0xffff888000000000, 0 },
		{ SWS_MAPPING_REPLAY_FILE_DELETE, F, 7, FILE_KEY, 0 },
		{ SWS_MAPPING_REPLAY_SWAP_ADD, F, 9, 1, 0 },
	};
	struct sws_mapping_replay_cell cells[SWS_MAPPING_REPLAY_FLOWS][SWS_MAPPING_REPLAY_SITES];

	FEED_ALL(make(SWS_KERNEL_4_8, false), rows, cells);
	for (int site = SWS_MAPPING_REPLAY_SITE_ADD; site <= SWS_MAPPING_REPLAY_SITE_DELETE; site++)
		CHECK(cells[SWS_MAPPING_REPLAY_FILE][site].work.acquisitions ==
		      (site != SWS_MAPPING_REPLAY_SITE_MOVE));
	CHECK(cells[SWS_MAPPING_REPLAY_UNWRITTEN][SWS_MAPPING_REPLAY_SITE_ADD].calls == 1);
}

static void contradictions_are_counted_and_the_newer_row_believed(void)
{
	const struct row rows[] = {
		{ SWS_MAPPING_REPLAY_SWAP_ADD, F, 100, 1, 0 },
		{ SWS_MAPPING_REPLAY_SWAP_ADD, G, 100, 1, 0 }, /* another folio in the slot */
		{ SWS_MAPPING_REPLAY_SWAP_ADD, G, 102, 1, 0 }, /* the same folio elsewhere */
		{ SWS_MAPPING_REPLAY_SWAP_DELETE, G, 103, 1, 0 },
	};
	struct sws_mapping_replay_cell cells[SWS_MAPPING_REPLAY_FLOWS][SWS_MAPPING_REPLAY_SITES];

	FEED_ALL(make(SWS_KERNEL_4_8, true), rows, cells);
	CHECK(cells[SWS_MAPPING_REPLAY_WRITTEN][SWS_MAPPING_REPLAY_SITE_ADD].contradicted == 2);
	CHECK(cells[SWS_MAPPING_REPLAY_WRITTEN][SWS_MAPPING_REPLAY_SITE_DELETE].contradicted == 1);
	CHECK(cells[SWS_MAPPING_REPLAY_UNWRITTEN][SWS_MAPPING_REPLAY_SITE_ADD].calls == 3);
}

static void compaction_gives_a_page_another_folio(void)
{
	const struct row rows[] = {
		{ SWS_MAPPING_REPLAY_SWAP_ADD, F, 100, 1, 0 },
		{ SWS_MAPPING_REPLAY_MOVE, G, F, 0, 0 },
		{ SWS_MAPPING_REPLAY_START, G, 100, 1, 0 },
		{ SWS_MAPPING_REPLAY_SWAP_ADD, F, 101, 1, 0 },
		{ SWS_MAPPING_REPLAY_SWAP_DELETE, G, 100, 1, 0 },
		{ SWS_MAPPING_REPLAY_MOVE, 0x3000, 0x4000, 0, 0 },
	};
	struct sws_mapping_replay_cell cells[SWS_MAPPING_REPLAY_FLOWS][SWS_MAPPING_REPLAY_SITES];

	FEED_ALL(make(SWS_KERNEL_4_8, true), rows, cells);
	CHECK(cells[SWS_MAPPING_REPLAY_UNWRITTEN][SWS_MAPPING_REPLAY_SITE_MOVE]
		      .work.tree.descents == 1);
	CHECK(cells[SWS_MAPPING_REPLAY_WRITTEN][SWS_MAPPING_REPLAY_SITE_DELETE].calls == 1);
	CHECK(cells[SWS_MAPPING_REPLAY_FILE][SWS_MAPPING_REPLAY_SITE_MOVE].unresolved == 1);
	for (int site = 0; site < SWS_MAPPING_REPLAY_SITES; site++)
		CHECK(cells[SWS_MAPPING_REPLAY_WRITTEN][site].contradicted == 0);
}

static void rows_that_mean_nothing_are_refused(void)
{
	const struct row bad[] = {
		{ SWS_MAPPING_REPLAY_SWAP_ADD, F, 1 << 16, 1, 0 },
		{ SWS_MAPPING_REPLAY_SWAP_ADD, 0, 1, 1, 0 },
		{ SWS_MAPPING_REPLAY_SWAP_ADD, F + 1, 1, 1, 0 },
		{ SWS_MAPPING_REPLAY_SLOT_FREE, 0, 1 << 16, 1, 0 },
		{ SWS_MAPPING_REPLAY_FILE_ADD, F, 1, 0, 0 },
		{ SWS_MAPPING_REPLAY_FILE_DIRTY, 0, 1, 1, 0 },
		{ SWS_MAPPING_REPLAY_SWAP_DELETE, F, 1, 1, 4 },
		{ SWS_MAPPING_REPLAY_MOVE, F, F, 0, 0 },
	};
	const struct row unknown = { 9, F, 1, 1, 0 };
	struct sws_mapping_replay *replay = make(SWS_KERNEL_6_1, true);

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK(feed(replay, &bad[i]) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(feed(replay, &unknown) == SWS_ERROR_UNKNOWN_OP);
	sws_mapping_replay_free(replay);
	sws_mapping_replay_free(NULL);
}

static int random_rows(const struct sws_allocator *allocator)
{
	struct sws_mapping_config config;
	struct sws_mapping_replay *replay = NULL;
	struct sws_generator generator;
	int error = SWS_OK;

	sws_mapping_config_init(&config);
	config.swap_slots = 4096;
	config.tree_shift = 2;
	config.allocator = allocator;
	sws_generator_seed(&generator, 1, 0);
	error = sws_mapping_replay_new(&config, &replay);
	for (int i = 0; !error && i < 400; i++) {
		const struct row row = {
			.op = (uint8_t)sws_generator_below(&generator, 9),
			.folio = 64 + 64 * sws_generator_below(&generator, 60),
			.index = sws_generator_below(&generator, 4096),
			.file = 2 + sws_generator_below(&generator, 30),
			.shadow = SWS_MAPPING_REPLAY_SHADOW_UNTOLD,
		};
		error = feed(replay, &row);
	}
	sws_mapping_replay_free(replay);
	return error;
}

static void running_out_of_memory_leaks_and_breaks_nothing(void)
{
	check_each_allocation_failing(random_rows);
}

int main(void)
{
	RUN(a_written_stay_is_told_from_an_unwritten_one);
	RUN(clearing_the_shadow_is_a_third_acquisition_in_6_1);
	RUN(a_stay_still_open_at_the_end_is_booked);
	RUN(a_page_from_before_the_trace_is_taken_up_unbooked);
	RUN(a_file_page_lives_beside_swap_pages);
	RUN(contradictions_are_counted_and_the_newer_row_believed);
	RUN(compaction_gives_a_page_another_folio);
	RUN(rows_that_mean_nothing_are_refused);
	RUN(running_out_of_memory_leaks_and_breaks_nothing);
	return 0;
}
