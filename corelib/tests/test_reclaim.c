/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "swapsim/reclaim.h"

#include "check.h"

static const uint64_t MS = 1000000;
static const uint64_t ALL = UINT64_MAX;

/* 700 pages of memory, a pool of 550, no file: further pages determine who is reclaimed. */
static struct sws_reclaim_config small(enum sws_stall_set rules)
{
	struct sws_reclaim_config config;

	sws_reclaim_config_init(&config);
	config.rules = rules;
	config.costs = (struct sws_reclaim_costs){
		.op_ns = 43000,
		.fault_ns = 1500,
		.map_ns = 1500,
		.copy_ns = 3000,
		.scan_ns = 300,
		.age_ns = 150,
		.remove_ns = 500,
		.submit_ns = 400,
		.redirty_ns = 400,
		.look_ns = 5000,
		.drop_ns = 300,
	};
	config.dma32_pages = 300;
	config.normal_pages = 400;
	config.min_free_pages = 24;
	config.reserve_ratio = 64;
	config.swap_pages = 600;
	config.disk_pages = 5000;
	config.nr_requests = 16;
	config.request_pages = 16;
	config.items = 110;
	config.serve_ns = 100 * MS;
	return config;
}

static struct sws_reclaim *make(const struct sws_reclaim_config *config)
{
	struct sws_reclaim *reclaim = NULL;

	CHECK(sws_reclaim_new(config, &reclaim) == SWS_OK);
	return reclaim;
}

/* Runs to a time or to the end, a few units of work at a time, and verifies after each. */
static bool run(struct sws_reclaim *reclaim, uint64_t until_ns)
{
	const char *reason = NULL;
	bool more = true;

	while (more) {
		CHECK(sws_reclaim_run(reclaim, until_ns, 40, &more) == SWS_OK);
		CHECK(sws_reclaim_verify(reclaim, &reason) == SWS_OK);
	}
	return sws_reclaim_outcome(reclaim) == SWS_RECLAIM_NO_PROBLEM;
}

static void a_pool_that_fits_is_filled_served_and_dropped(void)
{
	struct sws_reclaim_config config = small(SWS_STALL_MMOTM);
	struct sws_reclaim *reclaim = make(&config);
	struct sws_reclaim_round round;
	struct sws_reclaim_counts counts;
	struct sws_reclaim_state state;

	CHECK(run(reclaim, ALL));
	round = sws_reclaim_round_of(reclaim, 0);
	counts = sws_reclaim_counts_of(reclaim);
	state = sws_reclaim_state_of(reclaim);
	/* Each page once, without waiting: 110 sets, then one operation every 43 us. */
	CHECK(round.serve_ns == 110 * 43000 + 550 * 1500);
	CHECK(round.ops == (100 * MS + 42999) / 43000 && counts.ops == round.ops);
	CHECK(round.minor_faults == 550 && round.major_faults == 0);
	CHECK(round.io_ns == 0 && counts.dirtied == 0 && counts.disk_written == 0);
	CHECK(state.free[0] == 300 && state.free[1] == 400 && state.swap_used == 0);
	CHECK(round.end_ns == state.now_ns);
	sws_reclaim_free(reclaim);
}

static void normal_is_used_first_and_dma32_keeps_its_reserve(void)
{
	struct sws_reclaim_config config = small(SWS_STALL_3_9);
	struct sws_reclaim *reclaim = make(&config);
	struct sws_reclaim_state state;

	CHECK(run(reclaim, 2 * MS));
	state = sws_reclaim_state_of(reclaim);
	CHECK(state.active_anon[1] > 100 && state.free[0] == 300);
	CHECK(run(reclaim, 20 * MS));
	state = sws_reclaim_state_of(reclaim);
	/* Normal: min 24 * 400 / 700 = 13, low 16. The other 550 - 384 pages come from DMA32. */
	CHECK(state.free[1] == 16 && state.active_anon[1] == 384);
	CHECK(state.free[0] == 300 - 166 && state.active_anon[0] == 166);
	sws_reclaim_free(reclaim);
}

static void a_file_is_written_whole_and_its_pages_go_with_it(void)
{
	const uint32_t files[] = { 60 };
	struct sws_reclaim_config config = small(SWS_STALL_SERIES_8);
	struct sws_reclaim *reclaim = NULL;
	struct sws_reclaim_counts counts;

	config.file_pages = files;
	reclaim = make(&config);
	CHECK(run(reclaim, ALL));
	counts = sws_reclaim_counts_of(reclaim);
	CHECK(counts.dirtied == 60 && counts.disk_written == 60 + counts.swapped_out);
	/* A page takes its copy, and 1/30720 s on the disk; no page is written twice. */
	CHECK(sws_reclaim_round_of(reclaim, 0).io_ns > 60 * (3000 + 32000));
	CHECK(sws_reclaim_state_of(reclaim).free[0] == 300 &&
	      sws_reclaim_state_of(reclaim).free[1] == 400);
	sws_reclaim_free(reclaim);
}

static void a_writer_waits_until_its_time_has_come(void)
{
	const uint32_t files[] = { 60 };
	struct sws_reclaim_config config = small(SWS_STALL_SERIES_8);
	struct sws_reclaim *reclaim = NULL;
	uint64_t began = 0;

	config.file_pages = files;
	config.write_delay_ns = 50 * MS;
	reclaim = make(&config);
	CHECK(run(reclaim, 40 * MS));
	began = sws_reclaim_round_of(reclaim, 0).serve_ns;
	CHECK(began > 0 && sws_reclaim_counts_of(reclaim).dirtied == 0);
	CHECK(run(reclaim, began + 49 * MS));
	CHECK(sws_reclaim_counts_of(reclaim).dirtied == 0);
	CHECK(run(reclaim, began + 51 * MS));
	CHECK(sws_reclaim_counts_of(reclaim).dirtied > 0);
	sws_reclaim_free(reclaim);
}

static void a_pool_above_memory_is_swapped_and_comes_back(void)
{
	struct sws_reclaim_config config = small(SWS_STALL_3_9);
	struct sws_reclaim *reclaim = NULL;
	struct sws_reclaim_counts counts;

	config.items = 160;
	config.serve_ns = 400 * MS;
	reclaim = make(&config);
	CHECK(run(reclaim, ALL));
	counts = sws_reclaim_counts_of(reclaim);
	CHECK(counts.swapped_out > 100 && counts.swapped_in > 100);
	CHECK(counts.major_faults > 0 && counts.major_faults <= counts.swapped_in);
	CHECK(counts.disk_read == counts.swapped_in && counts.disk_written > 100);
	/*
	 * After the client's exit, slots are in use only for pages that are still to be written to
	 * them.
	 */
	CHECK(sws_reclaim_state_of(reclaim).swap_used == counts.swapped_out - counts.disk_written);
	sws_reclaim_free(reclaim);
}

static void a_pool_above_memory_and_swap_is_out_of_memory(void)
{
	struct sws_reclaim_config config = small(SWS_STALL_3_9);

	for (int rules = SWS_STALL_3_9; rules <= SWS_STALL_3_11; rules++) {
		struct sws_reclaim *reclaim = NULL;
		bool more = true;

		config.rules = (enum sws_stall_set)rules;
		config.items = 300;
		config.swap_pages = 100;
		reclaim = make(&config);
		CHECK(!run(reclaim, ALL));
		CHECK(sws_reclaim_outcome(reclaim) == SWS_RECLAIM_OUT_OF_MEMORY);
		CHECK(sws_reclaim_run(reclaim, ALL, 1000, &more) == SWS_OK && !more);
		sws_reclaim_free(reclaim);
	}
}

static void without_swap_nothing_is_swapped(void)
{
	const uint32_t files[] = { 400 };
	struct sws_reclaim_config config = small(SWS_STALL_MMOTM);
	struct sws_reclaim *reclaim = NULL;

	config.swap_pages = 0;
	config.file_pages = files;
	reclaim = make(&config);
	CHECK(run(reclaim, ALL));
	CHECK(sws_reclaim_counts_of(reclaim).swapped_out == 0);
	CHECK(sws_reclaim_round_of(reclaim, 0).io_ns > 0);
	sws_reclaim_free(reclaim);
}

/* All situations of reclaim: a file next to a pool, too much of both, with each rule set. */
static void each_rule_set_keeps_every_invariant(void)
{
	const uint32_t files[] = { 150, 500 };

	for (int rules = SWS_STALL_3_9; rules <= SWS_STALL_3_11; rules++) {
		struct sws_reclaim_config config = small((enum sws_stall_set)rules);
		struct sws_reclaim *reclaim = NULL;

		/* With 120 items series-1 is out of memory: kswapd scans all of it, six times. */
		config.items = 115;
		config.rounds = 2;
		config.file_pages = files;
		config.disk_rate = 5000;
		config.cached_pages = 40;
		config.program_pages = 10;
		config.write_delay_ns = (uint64_t)(rules % 2) * 20 * MS;
		reclaim = make(&config);
		CHECK(run(reclaim, ALL));
		CHECK(sws_reclaim_zone_of(reclaim, 0).scanned_kswapd +
		      sws_reclaim_zone_of(reclaim, 1).scanned_kswapd);
		CHECK(sws_reclaim_counts_of(reclaim).dirtied == 650);
		/* Pages in use stay, however hard reclaim scans. */
		CHECK(sws_reclaim_state_of(reclaim).active_file[0] +
			      sws_reclaim_state_of(reclaim).inactive_file[0] +
			      sws_reclaim_state_of(reclaim).active_file[1] +
			      sws_reclaim_state_of(reclaim).inactive_file[1] >=
		      10);
		CHECK(sws_reclaim_round_of(reclaim, 1).end_ns >
		      sws_reclaim_round_of(reclaim, 0).end_ns);
		sws_reclaim_free(reclaim);
	}
}

/* With delayed allocation a page that reclaim writes is dirtied again at once. */
static void a_page_without_a_block_is_counted_and_not_written(void)
{
	const uint32_t files[] = { 500 };
	uint64_t written[2];

	for (int delays = 0; delays < 2; delays++) {
		struct sws_reclaim_config config = small(SWS_STALL_3_9);
		struct sws_reclaim *reclaim = NULL;
		struct sws_reclaim_counts counts;

		config.items = 125;
		config.file_pages = files;
		config.dirty_percent = 20;
		config.background_percent = 20;
		config.delays_allocation = delays;
		reclaim = make(&config);
		CHECK(run(reclaim, ALL));
		counts = sws_reclaim_counts_of(reclaim);
		CHECK(counts.reclaim_writes_file > 0);
		CHECK(counts.disk_written == 500 + counts.swapped_out);
		written[delays] = counts.writes;
		sws_reclaim_free(reclaim);
	}
	/* Page by page it takes more requests than in runs. */
	CHECK(written[0] != written[1]);
}

/* On a server a page stays in memory until it is committed; no such page is left after the sync. */
static void a_file_on_a_server_is_committed_before_it_is_synced(void)
{
	const uint32_t files[] = { 60 };
	struct sws_reclaim_config config = small(SWS_STALL_SERIES_8);
	struct sws_reclaim *reclaim = NULL;
	struct sws_reclaim_counts counts;

	config.file_pages = files;
	config.nfs = true;
	reclaim = make(&config);
	CHECK(run(reclaim, ALL));
	counts = sws_reclaim_counts_of(reclaim);
	CHECK(counts.commits >= 1 && counts.committed == 60);
	CHECK(counts.disk_written == counts.swapped_out);
	/* The network, then a commit: its latency, and all pages at the server's rate. */
	CHECK(sws_reclaim_round_of(reclaim, 0).io_ns > 60 * (3000 + 33967) + 8 * MS);
	CHECK(sws_reclaim_state_of(reclaim).free[0] == 300 &&
	      sws_reclaim_state_of(reclaim).free[1] == 400);
	sws_reclaim_free(reclaim);
}

/* With a slow server and little memory kswapd writes single pages and meets unstable ones. */
static void reclaim_meets_the_pages_of_a_server(void)
{
	const uint32_t files[] = { 500 };

	for (int rules = SWS_STALL_3_9; rules <= SWS_STALL_3_11; rules++) {
		struct sws_reclaim_config config = small((enum sws_stall_set)rules);
		struct sws_reclaim *reclaim = NULL;
		struct sws_reclaim_counts counts;

		config.items = 125;
		config.file_pages = files;
		config.nfs = true;
		config.server_rate = 500;
		config.net_rate = 2000;
		reclaim = make(&config);
		CHECK(run(reclaim, ALL));
		counts = sws_reclaim_counts_of(reclaim);
		/* Each page is committed, or was written as stable by reclaim. */
		CHECK(counts.committed + counts.reclaim_writes_file >= 500);
		CHECK(counts.committed <= 500);
		/* Tasks waited for commits while kswapd reclaimed for others. */
		CHECK(counts.commit_waits > 0 && counts.commit_wait_ns > config.server_seek_ns);
		sws_reclaim_free(reclaim);
	}
}

/* A pool that leaves little, a file, and 60 pages of programs that are touched in 200 ms each. */
static struct sws_reclaim_config with_programs(const uint32_t *files)
{
	struct sws_reclaim_config config = small(SWS_STALL_SERIES_8);

	config.items = 100;
	config.file_pages = files;
	config.working_pages = 60;
	config.working_interval_ns = 200 * MS;
	config.read_around_pages = 8;
	config.serve_ns = 1000 * MS;
	return config;
}

static struct sws_reclaim_counts counts_at_the_end(const struct sws_reclaim_config *config)
{
	struct sws_reclaim *reclaim = make(config);
	struct sws_reclaim_counts counts;

	CHECK(run(reclaim, ALL));
	counts = sws_reclaim_counts_of(reclaim);
	CHECK(sws_reclaim_round_of(reclaim, 0).program_faults == counts.program_faults);
	sws_reclaim_free(reclaim);
	return counts;
}

static void a_page_of_a_program_is_reclaimed_and_read_again(void)
{
	const uint32_t files[] = { 1500 };
	struct sws_reclaim_config config = with_programs(files);
	struct sws_reclaim_counts counts = counts_at_the_end(&config);

	CHECK(counts.program_faults > 1 && counts.program_faults <= counts.major_faults);
	/* A fault reads what is missing of its window of 8 pages. */
	CHECK(counts.program_reads > counts.program_faults);
	CHECK(counts.program_reads <= 8 * counts.program_faults);
	CHECK(counts.disk_read == counts.swapped_in + counts.program_reads);
	/* Each look of reclaim finds them touched: none is reclaimed. */
	config.working_interval_ns = 0;
	counts = counts_at_the_end(&config);
	CHECK(counts.program_faults == 0 && counts.program_reads == 0);
	/* Without a file there is no reclaim. */
	config = with_programs(NULL);
	counts = counts_at_the_end(&config);
	CHECK(counts.program_faults == 0 && counts.major_faults == 0);
}

/* The share of executable pages among those that stay, by how often reclaim reads them again. */
static void an_executable_page_stays_longer(void)
{
	const uint32_t files[] = { 1500 };
	struct sws_reclaim_config config = with_programs(files);
	uint64_t reads[2] = { 0 };

	config.working_interval_ns = 20 * MS;
	for (uint32_t i = 0; i < 2; i++) {
		config.executable_percent = 100 * i;
		reads[i] = counts_at_the_end(&config).program_reads;
	}
	CHECK(reads[1] < reads[0]);
}

/* Both parts, each larger than memory, are read again and again; the first one is resident. */
static void programs_above_memory_thrash(void)
{
	struct sws_reclaim_config config = small(SWS_STALL_3_9);
	struct sws_reclaim *reclaim = NULL;
	struct sws_reclaim_counts counts;

	config.items = 10;
	config.program_pages = 900;
	config.program_interval_ns = 500 * MS;
	config.working_pages = 800;
	config.working_interval_ns = 500 * MS;
	config.serve_ns = 2000 * MS;
	reclaim = make(&config);
	CHECK(sws_reclaim_state_of(reclaim).active_file[1] > 350);
	CHECK(run(reclaim, ALL));
	counts = sws_reclaim_counts_of(reclaim);
	CHECK(counts.program_reads > 1700 - 700 && counts.program_faults > 1700 / 32);
	CHECK(sws_reclaim_round_of(reclaim, 0).reclaimed > 300);
	sws_reclaim_free(reclaim);
}

static void cached_pages_have_their_share_of_normal(void)
{
	for (uint32_t percent = 0; percent <= 100; percent += 50) {
		struct sws_reclaim_config config = small(SWS_STALL_3_9);
		struct sws_reclaim *reclaim = NULL;

		config.cached_pages = 40;
		config.cached_normal_percent = percent;
		reclaim = make(&config);
		CHECK(sws_reclaim_state_of(reclaim).inactive_file[1] == 40 * percent / 100);
		CHECK(sws_reclaim_state_of(reclaim).inactive_file[0] == 40 - 40 * percent / 100);
		sws_reclaim_free(reclaim);
		/* What has no room in DMA32 is in Normal. */
		config.cached_pages = 400;
		reclaim = make(&config);
		CHECK(sws_reclaim_state_of(reclaim).inactive_file[0] +
			      sws_reclaim_state_of(reclaim).inactive_file[1] ==
		      400);
		sws_reclaim_free(reclaim);
	}
}

static void a_write_that_comes_back_dirty_has_its_own_cost(void)
{
	const uint32_t files[] = { 500 };
	struct sws_reclaim_config config = small(SWS_STALL_3_9);

	config.items = 125;
	config.file_pages = files;
	config.background_percent = 20;
	for (int delays = 0; delays < 2; delays++) {
		uint64_t digests[2] = { 0 };

		config.delays_allocation = delays;
		for (uint32_t i = 0; i < 2; i++) {
			struct sws_reclaim *reclaim = NULL;

			config.costs.redirty_ns = i ? 40000 : 400;
			reclaim = make(&config);
			CHECK(run(reclaim, ALL));
			CHECK(sws_reclaim_counts_of(reclaim).reclaim_writes_file > 0);
			digests[i] = sws_reclaim_digest(reclaim);
			sws_reclaim_free(reclaim);
		}
		CHECK((digests[0] == digests[1]) == !delays);
	}
}

/* In two rounds: 0.5 ms between two looks, the file 1 ms after the look that finds enough. */
static void a_writer_waits_for_memory_in_use(void)
{
	const uint32_t files[] = { 60, 60 };
	struct sws_reclaim_config config = small(SWS_STALL_SERIES_8);
	struct sws_reclaim *reclaim = NULL;

	config.file_pages = files;
	config.rounds = 2;
	config.gap_ns = 10 * MS;
	config.start_used_pages = 275;
	config.start_look_ns = MS / 2;
	config.write_delay_ns = MS;
	reclaim = make(&config);
	/* 55 items of 5 pages, 43 us and 5 * 1.5 us each: half of the pool. */
	CHECK(run(reclaim, 10 * MS + 55 * 50500 + MS / 2 + MS));
	CHECK(sws_reclaim_round_of(reclaim, 0).serve_ns == 0);
	CHECK(sws_reclaim_counts_of(reclaim).dirtied > 0);
	CHECK(run(reclaim, ALL));
	for (uint32_t i = 0; i < 2; i++) {
		const struct sws_reclaim_round round = sws_reclaim_round_of(reclaim, i);

		CHECK(round.io_ns > 0);
		CHECK(round.serve_ns - round.begin_ns >= 10 * MS + 110 * 43000 + 550 * 1500);
	}
	CHECK(sws_reclaim_counts_of(reclaim).dirtied == 120);
	sws_reclaim_free(reclaim);
	config.gap_ns = 11 * MS;
	reclaim = make(&config);
	CHECK(run(reclaim, 10 * MS + 55 * 50500 + MS));
	CHECK(sws_reclaim_counts_of(reclaim).dirtied == 0);
	sws_reclaim_free(reclaim);
}

static void a_writer_that_waits_for_too_much_writes_no_file(void)
{
	const uint32_t files[] = { 60, 60 };
	struct sws_reclaim_config config = small(SWS_STALL_SERIES_8);
	struct sws_reclaim *reclaim = NULL;

	config.file_pages = files;
	config.rounds = 2;
	config.start_used_pages = 551;
	reclaim = make(&config);
	CHECK(run(reclaim, ALL));
	CHECK(sws_reclaim_counts_of(reclaim).dirtied == 0);
	for (uint32_t i = 0; i < 2; i++)
		CHECK(sws_reclaim_round_of(reclaim, i).io_ns == 0 &&
		      sws_reclaim_round_of(reclaim, i).end_ns > 0);
	sws_reclaim_free(reclaim);
	/* With 550 it begins once the pool is full, and both files are written. */
	config.start_used_pages = 550;
	config.start_look_ns = 10 * MS;
	reclaim = make(&config);
	CHECK(run(reclaim, ALL));
	CHECK(sws_reclaim_counts_of(reclaim).dirtied == 120);
	sws_reclaim_free(reclaim);
}

static void a_run_is_the_same_however_it_is_cut(void)
{
	const uint32_t files[] = { 400 };
	struct sws_reclaim_config config = small(SWS_STALL_SERIES_8);
	uint64_t digests[3] = { 0 };

	config.file_pages = files;
	for (int i = 0; i < 3; i++) {
		struct sws_reclaim *reclaim = make(&config);
		bool more = true;

		for (uint64_t until = 10 * MS; i == 2 && until < 90 * MS; until += 10 * MS)
			for (more = true; more;)
				CHECK(sws_reclaim_run(reclaim, until, 100, &more) == SWS_OK);
		for (more = true; more;)
			CHECK(sws_reclaim_run(reclaim, ALL, i ? 77 : ALL, &more) == SWS_OK);
		digests[i] = sws_reclaim_digest(reclaim) + sws_reclaim_counts_of(reclaim).ops +
			     sws_reclaim_events(reclaim);
		sws_reclaim_free(reclaim);
	}
	CHECK(digests[0] == digests[1] && digests[1] == digests[2]);
}

static void an_event_is_little_work(void)
{
	const uint32_t files[] = { 4000 };
	struct sws_reclaim_config config = small(SWS_STALL_SERIES_8);
	struct sws_reclaim *reclaim = NULL;
	bool more = true;

	config.dma32_pages = config.normal_pages = 3000;
	config.items = 550;
	config.item_pages = 1;
	config.file_pages = files;
	config.nfs = true;
	config.dirty_percent = config.background_percent = 100;
	reclaim = make(&config);
	while (more) {
		CHECK(sws_reclaim_run(reclaim, ALL, 1, &more) == SWS_OK);
		/* The pages of a commit are released in parts. */
		CHECK(sws_reclaim_work(reclaim) <= 1024 + 1);
	}
	CHECK(sws_reclaim_counts_of(reclaim).committed == 4000);
	sws_reclaim_free(reclaim);
}

static void another_seed_draws_other_items(void)
{
	struct sws_reclaim_config config = small(SWS_STALL_3_9);
	uint64_t digests[2];

	for (uint64_t seed = 0; seed < 2; seed++) {
		struct sws_reclaim *reclaim = NULL;

		config.seed = seed;
		config.items = 160;
		reclaim = make(&config);
		CHECK(run(reclaim, 50 * MS));
		digests[seed] = sws_reclaim_digest(reclaim);
		sws_reclaim_free(reclaim);
	}
	CHECK(digests[0] != digests[1]);
}

static void what_is_not_there_is_zero(void)
{
	struct sws_reclaim_config config = small(SWS_STALL_3_9);
	struct sws_reclaim *reclaim = make(&config);

	CHECK(sws_reclaim_zone_of(reclaim, 2).aged == 0);
	CHECK(sws_reclaim_round_of(reclaim, 1).begin_ns == 0 &&
	      sws_reclaim_round_of(reclaim, 99).ops == 0);
	CHECK(sws_reclaim_events(reclaim) == 0);
	sws_reclaim_free(reclaim);
	sws_reclaim_free(NULL);
}

static void each_default_lies_in_its_range(void)
{
	struct sws_reclaim_config config;
	uint32_t ranges = 0;

	sws_reclaim_config_init(&config);
	config.costs = small(SWS_STALL_3_9).costs;
	CHECK(sws_reclaim_check(&config) == SWS_RECLAIM_NO_PROBLEM);
	while (sws_reclaim_range_of(ranges)) {
		CHECK(sws_reclaim_range_of(ranges)->low <= sws_reclaim_range_of(ranges)->high);
		ranges++;
	}
	CHECK(ranges == 39);
	CHECK(!sws_reclaim_range_of(UINT32_MAX));
}

static void each_bad_config_is_refused_by_name(void)
{
	const uint32_t too_long[] = { 5001 };
	const struct sws_reclaim_config good = small(SWS_STALL_3_9);
	struct sws_reclaim *reclaim = NULL;
	struct sws_reclaim_config bad = good;

#define REFUSED(field, value, problem)                                                             \
	do {                                                                                       \
		bad = good;                                                                        \
		bad.field = value;                                                                 \
		CHECK(sws_reclaim_check(&bad) == (problem));                                       \
		CHECK(sws_reclaim_new(&bad, &reclaim) == SWS_ERROR_BAD_CONFIG && !reclaim);        \
	} while (0)

	CHECK(sws_reclaim_check(&good) == SWS_RECLAIM_NO_PROBLEM);
	bad = good;
	bad.rules = SWS_STALL_6_1;
	bad.normal_pages = 0;
	CHECK(sws_reclaim_check(&bad) == SWS_RECLAIM_NO_PROBLEM);
	REFUSED(rules, SWS_STALL_6_1, SWS_RECLAIM_UNKNOWN_RULES);
	REFUSED(rules, (enum sws_stall_set)77, SWS_RECLAIM_UNKNOWN_RULES);
	REFUSED(dma32_pages, 0, SWS_RECLAIM_NO_MEMORY);
	REFUSED(normal_pages, SWS_RECLAIM_PAGES_MAX + 1, SWS_RECLAIM_NO_MEMORY);
	REFUSED(reserve_ratio, 0, SWS_RECLAIM_NO_MEMORY);
	REFUSED(min_free_pages, 700, SWS_RECLAIM_WATERMARKS_ABOVE_MEMORY);
	REFUSED(reserve_ratio, 1, SWS_RECLAIM_WATERMARKS_ABOVE_MEMORY);
	REFUSED(costs.scan_ns, 0, SWS_RECLAIM_BAD_COST);
	REFUSED(costs.drop_ns, UINT64_C(1) << 40, SWS_RECLAIM_BAD_COST);
	REFUSED(swappiness, 101, SWS_RECLAIM_BAD_SHARE);
	REFUSED(background_percent, 21, SWS_RECLAIM_BAD_SHARE);
	REFUSED(disk_rate, 0, SWS_RECLAIM_BAD_DISK);
	REFUSED(disk_pages, 0, SWS_RECLAIM_BAD_DISK);
	REFUSED(nr_requests, 0, SWS_RECLAIM_BAD_DISK);
	REFUSED(request_pages, 0, SWS_RECLAIM_BAD_DISK);
	REFUSED(server_rate, 0, SWS_RECLAIM_BAD_SERVER);
	REFUSED(write_pages, 0, SWS_RECLAIM_BAD_SERVER);
	REFUSED(swap_pages, SWS_RECLAIM_SPAN_MAX + 1, SWS_RECLAIM_BAD_SWAP);
	REFUSED(readahead_shift, 6, SWS_RECLAIM_BAD_SWAP);
	REFUSED(items, 0, SWS_RECLAIM_BAD_POOL);
	REFUSED(item_pages, 65, SWS_RECLAIM_BAD_POOL);
	REFUSED(rounds, 0, SWS_RECLAIM_BAD_ROUNDS);
	REFUSED(rounds, SWS_RECLAIM_ROUNDS_MAX + 1, SWS_RECLAIM_BAD_ROUNDS);
	REFUSED(serve_ns, 0, SWS_RECLAIM_BAD_ROUNDS);
	REFUSED(file_pages, too_long, SWS_RECLAIM_FILE_ABOVE_DISK);
	REFUSED(working_pages, 5001, SWS_RECLAIM_PROGRAMS_ABOVE_DISK);
	REFUSED(program_pages, SWS_RECLAIM_KEPT_MAX + 1, SWS_RECLAIM_NO_MEMORY);
	REFUSED(working_pages, SWS_RECLAIM_KEPT_MAX + 1, SWS_RECLAIM_NO_MEMORY);
	REFUSED(program_interval_ns, UINT64_MAX, SWS_RECLAIM_BAD_TIME);
	REFUSED(working_interval_ns, UINT64_MAX, SWS_RECLAIM_BAD_TIME);
	REFUSED(executable_percent, 101, SWS_RECLAIM_BAD_SHARE);
	REFUSED(cached_normal_percent, 101, SWS_RECLAIM_BAD_SHARE);
	REFUSED(read_around_pages, 0, SWS_RECLAIM_BAD_DISK);
	REFUSED(read_around_pages, SWS_RECLAIM_READ_AROUND_MAX + 1, SWS_RECLAIM_BAD_DISK);
	REFUSED(gap_ns, UINT64_MAX, SWS_RECLAIM_BAD_TIME);
	REFUSED(start_used_pages, 701, SWS_RECLAIM_BAD_START);
	REFUSED(start_look_ns, 0, SWS_RECLAIM_BAD_TIME);
	REFUSED(costs.redirty_ns, 0, SWS_RECLAIM_BAD_COST);
	REFUSED(cached_pages, SWS_RECLAIM_KEPT_MAX + 1, SWS_RECLAIM_NO_MEMORY);
	REFUSED(seek_near_ns, 20 * MS, SWS_RECLAIM_BAD_TIME);
	REFUSED(write_delay_ns, UINT64_MAX, SWS_RECLAIM_BAD_TIME);
	REFUSED(item_pages, UINT32_MAX, SWS_RECLAIM_BAD_POOL);
	REFUSED(items, SWS_RECLAIM_SPAN_MAX, SWS_RECLAIM_BAD_POOL);
	REFUSED(disk_rate, UINT64_MAX, SWS_RECLAIM_BAD_DISK);
#undef REFUSED
}

static int make_and_run_on(const struct sws_allocator *allocator, bool nfs)
{
	const uint32_t files[] = { 60 };
	struct sws_reclaim_config config = small(SWS_STALL_3_9);
	struct sws_reclaim *reclaim = NULL;
	bool more = true;
	int error = SWS_OK;

	config.file_pages = files;
	config.allocator = allocator;
	config.nfs = nfs;
	config.working_pages = 40;
	error = sws_reclaim_new(&config, &reclaim);
	while (!error && more)
		error = sws_reclaim_run(reclaim, ALL, 100000, &more);
	sws_reclaim_free(reclaim);
	return error;
}

static int make_and_run(const struct sws_allocator *allocator)
{
	return make_and_run_on(allocator, false);
}

static int make_and_run_on_a_server(const struct sws_allocator *allocator)
{
	return make_and_run_on(allocator, true);
}

static void a_failing_allocation_leaves_nothing_behind(void)
{
	check_each_allocation_failing(make_and_run);
	check_each_allocation_failing(make_and_run_on_a_server);
}

int main(void)
{
	RUN(a_pool_that_fits_is_filled_served_and_dropped);
	RUN(normal_is_used_first_and_dma32_keeps_its_reserve);
	RUN(a_file_is_written_whole_and_its_pages_go_with_it);
	RUN(a_writer_waits_until_its_time_has_come);
	RUN(a_pool_above_memory_is_swapped_and_comes_back);
	RUN(a_pool_above_memory_and_swap_is_out_of_memory);
	RUN(without_swap_nothing_is_swapped);
	RUN(each_rule_set_keeps_every_invariant);
	RUN(a_page_without_a_block_is_counted_and_not_written);
	RUN(a_file_on_a_server_is_committed_before_it_is_synced);
	RUN(reclaim_meets_the_pages_of_a_server);
	RUN(a_page_of_a_program_is_reclaimed_and_read_again);
	RUN(an_executable_page_stays_longer);
	RUN(programs_above_memory_thrash);
	RUN(cached_pages_have_their_share_of_normal);
	RUN(a_write_that_comes_back_dirty_has_its_own_cost);
	RUN(a_writer_waits_for_memory_in_use);
	RUN(a_writer_that_waits_for_too_much_writes_no_file);
	RUN(a_run_is_the_same_however_it_is_cut);
	RUN(an_event_is_little_work);
	RUN(another_seed_draws_other_items);
	RUN(what_is_not_there_is_zero);
	RUN(each_default_lies_in_its_range);
	RUN(each_bad_config_is_refused_by_name);
	RUN(a_failing_allocation_leaves_nothing_behind);
	return 0;
}
