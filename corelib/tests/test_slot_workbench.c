/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "swapsim/slot_workbench.h"

#include "check.h"

#include <string.h>

static struct sws_workbench_config config_of(uint32_t slots, uint32_t cpus)
{
	struct sws_workbench_config config;

	sws_workbench_config_init(&config);
	config.cache.device.slots = slots;
	config.cache.device.possible_cpus = cpus;
	config.cache.device.online_cpus = cpus;
	config.cache.device.address_spaces = cpus;
	config.cache.device.trunk_shift = 8;
	return config;
}

static struct sws_workbench *make(const struct sws_workbench_config *config)
{
	struct sws_workbench *bench = NULL;

	CHECK(sws_workbench_new(config, &bench) == SWS_OK);
	return bench;
}

static void run(struct sws_workbench *bench)
{
	const char *reason = NULL;
	bool over = false;

	while (!over) {
		CHECK(sws_workbench_run(bench, 1 << 16, &over) == SWS_OK);
		CHECK(sws_workbench_verify(bench, &reason) == SWS_OK);
	}
}

static void fill(struct sws_workbench *bench, uint64_t pages)
{
	CHECK(sws_workbench_fill(bench, pages, false) == SWS_OK);
	run(bench);
}

static void thin(struct sws_workbench *bench, uint64_t pages)
{
	CHECK(sws_workbench_thin(bench, pages) == SWS_OK);
	run(bench);
}

static void churn(struct sws_workbench *bench, uint64_t rounds)
{
	CHECK(sws_workbench_churn(bench, rounds) == SWS_OK);
	run(bench);
}

static struct sws_workbench_measures measures(const struct sws_workbench *bench)
{
	struct sws_workbench_measures out;

	sws_workbench_measures(bench, &out);
	return out;
}

static void a_page_out_takes_its_trunks_lock_twice(void)
{
	const struct sws_workbench_config config = config_of(4096, 2);
	struct sws_workbench *bench = make(&config);
	struct sws_workbench_measures found;

	fill(bench, 10);
	found = measures(bench);
	CHECK(found.pages_out == 10 && found.pages_in == 0 && found.without_slot == 0);
	CHECK(found.locks[SWS_WORKBENCH_ADD].acquisitions == 10);
	CHECK(found.locks[SWS_WORKBENCH_DELETE].acquisitions == 10);
	CHECK(found.locks[SWS_WORKBENCH_FREE].acquisitions == 0);
	CHECK(found.work.gets == 10 && found.work.device.calls == 2);
	sws_workbench_free(bench);
}

static void the_last_slot_is_that_of_the_latest_page(void)
{
	const struct sws_workbench_config config = config_of(4096, 2);
	struct sws_workbench *bench = make(&config);
	const struct sws_slots *device = NULL;

	CHECK(sws_workbench_last_slot(bench, 0) == 0);
	fill(bench, 3);
	device = sws_slot_cache_device(sws_workbench_cache(bench));
	for (int64_t mm = 0; mm < 2; mm++) {
		const uint32_t slot = sws_workbench_last_slot(bench, mm);

		CHECK(slot && sws_slots_usage(device, slot) == 1);
	}
	CHECK(sws_workbench_last_slot(bench, -1) == 0);
	CHECK(sws_workbench_last_slot(bench, -2) == 0 && sws_workbench_last_slot(bench, 2) == 0);
	sws_workbench_free(bench);
}

static void a_slot_back_on_the_device_takes_it_once_in_6_1_alone(void)
{
	static const enum sws_kernel kernels[] = { SWS_KERNEL_5_8, SWS_KERNEL_6_1 };

	for (int k = 0; k < 2; k++) {
		struct sws_workbench_config config = config_of(4096, 2);
		struct sws_workbench *bench = NULL;
		struct sws_workbench_measures found;

		config.cache.device.kernel = kernels[k];
		bench = make(&config);
		fill(bench, 2000);
		thin(bench, 1000);
		found = measures(bench);
		/* The slots that are not counted wait in a return cache. */
		CHECK(found.work.puts == 1000 && found.work.device.freed >= 1000 - 2 * 64);
		CHECK(found.locks[SWS_WORKBENCH_FREE].acquisitions ==
		      (kernels[k] == SWS_KERNEL_6_1 ? found.work.device.freed : 0));
		CHECK(found.locks[SWS_WORKBENCH_DELETE].acquisitions == 2000);
		sws_workbench_free(bench);
	}
}

static void in_4_8_all_trunks_share_one_lock(void)
{
	struct sws_workbench_config config = config_of(8192, 2);
	struct sws_workbench *bench = NULL;
	struct sws_workbench_measures found;

	config.cache.device.kernel = SWS_KERNEL_4_8;
	config.cache.enabled = false;
	config.cache.device.initial_bases = (const int64_t[]){ 1, 5000 };
	config.cache.device.policy = SWS_BASE_PERCPU;
	bench = make(&config);
	fill(bench, 1000);
	found = measures(bench);
	/* In each round one of the two CPUs comes after the other. */
	CHECK(found.rounds_met == 0 && found.locks[SWS_WORKBENCH_ADD].moved >= found.rounds / 4);
	sws_workbench_free(bench);
}

static void swapped_in_through_the_cache_a_page_takes_two_more(void)
{
	struct sws_workbench_config config = config_of(4096, 2);
	struct sws_workbench *bench = NULL;
	struct sws_workbench_measures found;

	config.asynchronous = true;
	bench = make(&config);
	fill(bench, 3000);
	sws_workbench_begin_measures(bench);
	churn(bench, 200);
	found = measures(bench);
	CHECK(found.pages_out == 200 && found.pages_in == 200);
	CHECK(found.locks[SWS_WORKBENCH_ADD].acquisitions == 400);
	CHECK(found.locks[SWS_WORKBENCH_DELETE].acquisitions == 400);
	sws_workbench_free(bench);
}

static void below_half_full_a_page_keeps_its_slot_and_above_scans_take_it(void)
{
	struct sws_workbench_config config = config_of(1 << 14, 2);
	struct sws_workbench *bench = NULL;
	struct sws_slots *device = NULL;

	config.asynchronous = true;
	bench = make(&config);
	device = sws_slot_cache_device(sws_workbench_cache(bench));
	CHECK(sws_workbench_fill(bench, UINT64_MAX, true) == SWS_OK);
	run(bench);
	thin(bench, 7000);
	churn(bench, 1000);
	CHECK(measures(bench).work.device.reclaims == 0);
	CHECK(sws_slots_in_use(device) >= 8000);
	churn(bench, 40000);
	CHECK(measures(bench).work.device.reclaims > 0);
	CHECK(measures(bench).locks[SWS_WORKBENCH_ADD].acquisitions ==
	      measures(bench).pages_out + measures(bench).pages_in);
	sws_workbench_free(bench);
}

static void a_fill_hands_out_every_slot_but_the_header(void)
{
	for (int policy = SWS_BASE_SHARED; policy <= SWS_BASE_PERMM; policy++) {
		for (int rotational = 0; rotational <= 1; rotational++) {
			struct sws_workbench_config config = config_of(5000, 3);
			struct sws_workbench *bench = NULL;

			config.cache.device.policy = (enum sws_base_policy)policy;
			config.cache.device.rotational = rotational;
			bench = make(&config);
			fill(bench, UINT64_MAX);
			CHECK(measures(bench).pages_out == 4999);
			CHECK(measures(bench).without_slot == 1);
			sws_workbench_free(bench);
		}
	}
}

static void a_fill_of_clusters_stops_with_the_last_free_one(void)
{
	const struct sws_workbench_config config = config_of(1 << 14, 2);
	struct sws_workbench *bench = make(&config);
	struct sws_slots *device = sws_slot_cache_device(sws_workbench_cache(bench));

	CHECK(sws_workbench_fill(bench, UINT64_MAX, true) == SWS_OK);
	run(bench);
	CHECK(sws_slots_free_clusters(device) == 0);
	CHECK(sws_slots_in_use(device) >= (1 << 14) - 2 * 256 - 256);
	CHECK(measures(bench).work.device.tested_scan == 0);
	sws_workbench_free(bench);
}

static void thinning_leaves_exactly_so_many_all_over_the_device(void)
{
	const struct sws_workbench_config config = config_of(1 << 14, 4);
	struct sws_workbench *bench = make(&config);
	struct sws_slots *device = sws_slot_cache_device(sws_workbench_cache(bench));

	fill(bench, UINT64_MAX);
	thin(bench, 8000);
	CHECK(measures(bench).work.puts == (1 << 14) - 1 - 8000);
	for (uint32_t quarter = 0; quarter < 4; quarter++) {
		uint32_t out = 0;

		for (uint32_t i = 0; i < 4096; i++)
			out += sws_slots_usage(device, quarter * 4096 + i) == 1;
		/* 2000 expected, deviation 28 */
		CHECK(out > 1850 && out < 2150);
	}
	thin(bench, 9000);
	CHECK(measures(bench).work.puts == (1 << 14) - 1 - 8000);
	sws_workbench_free(bench);
}

static void churn_keeps_the_use_constant(void)
{
	for (uint32_t spaces = 1; spaces <= 20; spaces += 19) {
		struct sws_workbench_config config = config_of(1 << 14, 20);
		struct sws_workbench *bench = NULL;

		config.cache.device.address_spaces = spaces;
		bench = make(&config);
		fill(bench, 12000);
		thin(bench, 10000);
		sws_workbench_begin_measures(bench);
		churn(bench, 400);
		CHECK(measures(bench).rounds == 400 && measures(bench).pages_out == 20 * 200);
		CHECK(measures(bench).pages_in == 20 * 200);
		sws_workbench_free(bench);
	}
}

static void two_cpus_in_a_device_of_one_trunk_always_meet(void)
{
	struct sws_workbench_config config = config_of(4096, 2);
	struct sws_workbench *bench = NULL;
	struct sws_workbench_measures found;

	config.cache.device.trunk_shift = 12;
	bench = make(&config);
	fill(bench, 2000);
	sws_workbench_begin_measures(bench);
	churn(bench, 300);
	found = measures(bench);
	CHECK(found.rounds_met == 300 && found.pair_rounds == 300 && found.meetings == 1);
	sws_workbench_free(bench);
}

/* Returns how many of eight CPUs allocated slots, with tasks on two of them at first. */
static int cpus_used(uint64_t pages_a_cpu, struct sws_workbench_measures *found)
{
	struct sws_workbench_config config = config_of(1 << 14, 8);
	struct sws_workbench *bench = NULL;
	uint64_t tested[8], pages[8];
	int used = 0;

	config.n_tasks = 2;
	config.pages_a_cpu = pages_a_cpu;
	config.cache.device.address_spaces = 2;
	bench = make(&config);
	CHECK(sws_workbench_fill(bench, UINT64_MAX, true) == SWS_OK);
	run(bench);
	thin(bench, 8000);
	sws_workbench_begin_measures(bench);
	churn(bench, 8000);
	*found = measures(bench);
	sws_workbench_cpus(bench, tested, pages);
	for (int cpu = 0; cpu < 8; cpu++)
		used += pages[cpu] > 0;
	sws_workbench_free(bench);
	return used;
}

static void a_task_that_changes_cpu_works_on_each(void)
{
	struct sws_workbench_measures found;

	CHECK(cpus_used(0, &found) == 2 && found.changes == 0);
	CHECK(cpus_used(20, &found) == 8);
	/* Of 8000 pages every 20th: 400 expected, deviation 20. */
	CHECK(found.changes > 300 && found.changes < 500);
	CHECK(found.pages_out == 8000 && found.pages_in == 8000);
	CHECK(found.pages_met > 0 && found.pages_met < found.pages_out);
}

static void a_task_without_a_cpu_to_go_to_stays(void)
{
	struct sws_workbench_config config = config_of(1 << 14, 4);
	struct sws_workbench *bench = NULL;

	config.pages_a_cpu = 1;
	bench = make(&config);
	fill(bench, 12000);
	thin(bench, 10000);
	churn(bench, 400);
	CHECK(measures(bench).changes == 0);
	sws_workbench_free(bench);
}

static void a_lone_task_meets_no_cpu_that_it_left(void)
{
	struct sws_workbench_config config = config_of(4096, 3);
	struct sws_workbench *bench = NULL;

	config.cache.device.trunk_shift = 12;
	config.n_tasks = 1;
	config.pages_a_cpu = 10;
	config.cache.device.address_spaces = 1;
	bench = make(&config);
	fill(bench, 2000);
	churn(bench, 600);
	CHECK(measures(bench).changes > 0 && measures(bench).pages_met == 0);
	CHECK(measures(bench).pair_rounds == 0);
	sws_workbench_free(bench);
}

static void a_disk_is_written_in_order_without_a_seek(void)
{
	struct sws_workbench_config config = config_of(1 << 14, 1);
	struct sws_workbench *bench = NULL;
	struct sws_workbench_measures found;

	config.cache.device.rotational = true;
	config.span_window = 100;
	bench = make(&config);
	fill(bench, 1000);
	found = measures(bench);
	CHECK(found.seeks == 0 && found.runs == 1 && found.spans == 10 && found.span_slots == 1000);
	sws_workbench_free(bench);
}

static void each_cpus_share_adds_up(void)
{
	const struct sws_workbench_config config = config_of(1 << 13, 3);
	struct sws_workbench *bench = make(&config);
	const struct sws_slots_work *work = NULL;
	struct sws_workbench_measures found;
	uint64_t tested[3], pages[3];

	fill(bench, UINT64_MAX);
	thin(bench, 5000);
	sws_workbench_begin_measures(bench);
	churn(bench, 1000);
	found = measures(bench);
	work = &found.work.device;
	sws_workbench_cpus(bench, tested, pages);
	CHECK(pages[0] + pages[1] + pages[2] == found.pages_out);
	CHECK(tested[0] + tested[1] + tested[2] ==
	      work->tested_scan + work->tested_quick + work->tested_cluster);
	CHECK(found.on_trails <= work->tested_scan + work->tested_quick);
	CHECK(found.tested_again <= found.on_trails);
	sws_workbench_free(bench);
}

static struct sws_workbench_measures measured(uint64_t seed, uint64_t effort)
{
	struct sws_workbench_config config = config_of(1 << 13, 5);
	struct sws_workbench *bench = NULL;
	struct sws_workbench_measures found;

	config.cache.device.seed = seed;
	bench = make(&config);
	fill(bench, UINT64_MAX);
	thin(bench, 5000);
	CHECK(sws_workbench_churn(bench, 500) == SWS_OK);
	for (bool over = false; !over;)
		CHECK(sws_workbench_run(bench, effort, &over) == SWS_OK);
	found = measures(bench);
	sws_workbench_free(bench);
	return found;
}

static void a_run_depends_on_its_seed_alone(void)
{
	const struct sws_workbench_measures whole = measured(7, UINT64_MAX / 2);
	const struct sws_workbench_measures pieces = measured(7, 1);
	const struct sws_workbench_measures other = measured(8, UINT64_MAX / 2);

	CHECK(!memcmp(&whole, &pieces, sizeof(whole)));
	CHECK(memcmp(&whole, &other, sizeof(whole)));
}

/* Two tasks and their rows: {owner, ordinal}, owner -1 for a swap-out. */
static int replay_after(struct sws_workbench *bench, const int32_t rows[][2],
			uint64_t first_of_task_1, uint64_t n_rows, uint64_t skipped)
{
	const uint64_t first[] = { 0, first_of_task_1, n_rows };
	int32_t owner[8] = { 0 };
	uint32_t ordinal[8] = { 0 };
	const struct sws_workbench_rows columns = { first, owner, ordinal };
	const char *reason = NULL;
	bool over = false;
	int error = SWS_OK;

	for (uint64_t i = 0; i < n_rows; i++) {
		owner[i] = rows[i][0];
		ordinal[i] = (uint32_t)rows[i][1];
	}
	error = sws_workbench_replay(bench, &columns, skipped);
	while (!error && !over) {
		error = sws_workbench_run(bench, 1, &over);
		CHECK(sws_workbench_verify(bench, &reason) == SWS_OK);
	}
	return error;
}

static int replay(struct sws_workbench *bench, const int32_t rows[][2], uint64_t first_of_task_1,
		  uint64_t n_rows)
{
	return replay_after(bench, rows, first_of_task_1, n_rows, 0);
}

static void a_row_waits_for_the_page_of_another_task(void)
{
	const int32_t rows[][2] = { { -1, 0 }, { -1, 0 }, { -1, 0 }, { 0, 2 }, { 0, 0 }, { 0, 1 } };
	const struct sws_workbench_config config = config_of(4096, 2);
	struct sws_workbench *bench = make(&config);

	CHECK(replay(bench, rows, 3, 6) == SWS_OK);
	CHECK(measures(bench).pages_out == 3 && measures(bench).pages_in == 3);
	/* Five steps pass before the third page's slot is known. */
	CHECK(measures(bench).rounds >= 7);
	sws_workbench_free(bench);
}

static void skipped_rows_are_not_counted(void)
{
	const int32_t rows[][2] = { { -1, 0 }, { -1, 0 }, { 0, 0 }, { -1, 0 } };
	const struct sws_workbench_config config = config_of(4096, 2);
	struct sws_workbench *bench = make(&config);

	CHECK(replay_after(bench, rows, 4, 4, 3) == SWS_OK);
	CHECK(measures(bench).pages_out == 1 && measures(bench).pages_in == 0);
	CHECK(measures(bench).work.gets == 1);
	sws_workbench_free(bench);
}

static void rows_that_cannot_be_are_refused(void)
{
	const int32_t wait[][2] = { { 1, 0 }, { -1, 0 }, { 0, 0 }, { -1, 0 } };
	const int32_t twice[][2] = { { -1, 0 }, { 0, 0 }, { 0, 0 } };
	const int32_t never[][2] = { { -1, 0 }, { 0, 1 } };
	const int32_t unknown[][2] = { { -1, 0 }, { 2, 0 } };
	const struct sws_workbench_config config = config_of(4096, 2);
	struct sws_workbench *bench = make(&config);

	CHECK(replay(bench, wait, 2, 4) == SWS_ERROR_OUT_OF_ORDER);
	CHECK(replay(bench, twice, 3, 3) == SWS_ERROR_NOT_FOUND);
	CHECK(replay(bench, never, 1, 2) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(replay(bench, unknown, 1, 2) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(replay(bench, never, 3, 2) == SWS_ERROR_BAD_ARGUMENT);
	sws_workbench_free(bench);
}

static void a_full_device_leaves_rows_without_a_slot(void)
{
	const int32_t rows[][2] = { { -1, 0 }, { -1, 0 }, { 0, 1 }, { 0, 0 }, { -1, 0 } };
	struct sws_workbench_config config = config_of(2, 2);
	struct sws_workbench *bench = NULL;

	/* An SSD's scan never tests its base, here the only slot. */
	config.cache.device.rotational = true;
	bench = make(&config);
	CHECK(replay(bench, rows, 5, 5) == SWS_OK);
	CHECK(measures(bench).pages_out == 2 && measures(bench).without_slot == 1);
	CHECK(measures(bench).pages_in == 1);
	sws_workbench_free(bench);
}

static void kernel_threads_own_no_pages(void)
{
	const struct sws_workbench_task tasks[] = { { 0, 0 }, { 1, -1 } };
	struct sws_workbench_config config = config_of(4096, 2);
	struct sws_workbench *bench = NULL;

	config.tasks = tasks;
	config.n_tasks = 2;
	bench = make(&config);
	CHECK(sws_workbench_fill(bench, 5, false) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_workbench_thin(bench, 5) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_workbench_churn(bench, 5) == SWS_ERROR_BAD_ARGUMENT);
	sws_workbench_free(bench);
}

static void refuse(const struct sws_workbench_config *config)
{
	struct sws_workbench *bench = NULL;

	CHECK(sws_workbench_new(config, &bench) == SWS_ERROR_BAD_CONFIG);
	CHECK(!bench);
}

static void a_config_out_of_range_is_refused(void)
{
	const struct sws_workbench_task tasks[] = { { 2, 0 }, { 0, 2 }, { 0, -2 } };
	struct sws_workbench_config config = config_of(4096, 2);

	config.n_tasks = 1;
	for (int i = 0; i < 3; i++) {
		config.tasks = &tasks[i];
		refuse(&config);
	}
	config = config_of(4096, 2);
	config.overlap_calls = 0;
	refuse(&config);
	config.overlap_calls = SWS_WORKBENCH_CALLS_MAX + 1;
	refuse(&config);
	config = config_of(4096, 2);
	config.span_window = 0;
	refuse(&config);
	config = config_of(1, 2);
	refuse(&config);
	sws_workbench_free(NULL);
}

static int all_phases(const struct sws_allocator *allocator)
{
	const uint64_t first[] = { 0, 2, 4 };
	const int32_t owner[] = { -1, 0, -1, 1 };
	const uint32_t ordinal[] = { 0, 0, 0, 0 };
	const struct sws_workbench_rows rows = { first, owner, ordinal };
	struct sws_workbench_config config = config_of(2048, 2);
	struct sws_workbench *bench = NULL;
	bool over = false;
	int error = SWS_OK;

	config.cache.device.allocator = allocator;
	error = sws_workbench_new(&config, &bench);
	if (!error)
		error = sws_workbench_fill(bench, 1500, false);
	if (!error)
		error = sws_workbench_run(bench, UINT64_MAX / 2, &over);
	if (!error)
		error = sws_workbench_churn(bench, 20);
	if (!error)
		error = sws_workbench_run(bench, UINT64_MAX / 2, &over);
	if (!error)
		error = sws_workbench_replay(bench, &rows, 0);
	if (!error)
		error = sws_workbench_run(bench, UINT64_MAX / 2, &over);
	sws_workbench_free(bench);
	return error;
}

static void running_out_of_memory_leaks_and_breaks_nothing(void)
{
	check_each_allocation_failing(all_phases);
}

int main(void)
{
	RUN(a_page_out_takes_its_trunks_lock_twice);
	RUN(the_last_slot_is_that_of_the_latest_page);
	RUN(a_slot_back_on_the_device_takes_it_once_in_6_1_alone);
	RUN(in_4_8_all_trunks_share_one_lock);
	RUN(swapped_in_through_the_cache_a_page_takes_two_more);
	RUN(below_half_full_a_page_keeps_its_slot_and_above_scans_take_it);
	RUN(a_fill_hands_out_every_slot_but_the_header);
	RUN(a_fill_of_clusters_stops_with_the_last_free_one);
	RUN(thinning_leaves_exactly_so_many_all_over_the_device);
	RUN(churn_keeps_the_use_constant);
	RUN(two_cpus_in_a_device_of_one_trunk_always_meet);
	RUN(a_task_that_changes_cpu_works_on_each);
	RUN(a_task_without_a_cpu_to_go_to_stays);
	RUN(a_lone_task_meets_no_cpu_that_it_left);
	RUN(a_disk_is_written_in_order_without_a_seek);
	RUN(each_cpus_share_adds_up);
	RUN(a_run_depends_on_its_seed_alone);
	RUN(a_row_waits_for_the_page_of_another_task);
	RUN(skipped_rows_are_not_counted);
	RUN(rows_that_cannot_be_are_refused);
	RUN(a_full_device_leaves_rows_without_a_slot);
	RUN(kernel_threads_own_no_pages);
	RUN(a_config_out_of_range_is_refused);
	RUN(running_out_of_memory_leaks_and_breaks_nothing);
	return 0;
}
