/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "swapsim/slot_replay.h"

#include "check.h"

#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

enum {
	/* A device of one cluster, which is not on the free list because of the header. */
	SMALL = 40,
	ROWS = 4096,
};

/* Rows in the notation of the tests, and as columns. */
struct trace {
	uint64_t count;
	uint64_t seq[ROWS];
	uint16_t cpu[ROWS];
	int32_t pid[ROWS];
	uint8_t op[ROWS];
	uint32_t n[ROWS];
	uint32_t offset[ROWS];
	uint32_t base[ROWS];
	uint32_t next[ROWS];
	uint32_t lowest[ROWS];
	uint32_t highest[ROWS];
};

static struct trace trace;

static uint64_t add_row(int32_t pid, uint16_t cpu, enum sws_slot_replay_op op)
{
	const uint64_t row = trace.count++;

	CHECK(row < ROWS);
	trace.seq[row] = 10 + 2 * row;
	trace.cpu[row] = cpu;
	trace.pid[row] = pid;
	trace.op[row] = (uint8_t)op;
	trace.n[row] = trace.offset[row] = trace.base[row] = trace.next[row] = 0;
	trace.lowest[row] = trace.highest[row] = 0;
	return row;
}

static void add_call(int32_t pid, uint16_t cpu, uint32_t n, uint32_t base, uint32_t lowest,
		     uint32_t highest)
{
	const uint64_t row = add_row(pid, cpu, SWS_SLOT_REPLAY_CALL);

	trace.n[row] = n;
	trace.base[row] = base;
	trace.lowest[row] = lowest;
	trace.highest[row] = highest;
}

static void add_alloc(int32_t pid, uint16_t cpu, uint32_t offset)
{
	trace.offset[add_row(pid, cpu, SWS_SLOT_REPLAY_ALLOC)] = offset;
}

static void add_done(int32_t pid, uint16_t cpu, uint32_t n, uint32_t next)
{
	const uint64_t row = add_row(pid, cpu, SWS_SLOT_REPLAY_DONE);

	trace.n[row] = n;
	trace.next[row] = next;
}

static void add_free(int32_t pid, uint16_t cpu, uint32_t offset, uint32_t n)
{
	const uint64_t row = add_row(pid, cpu, SWS_SLOT_REPLAY_FREE);

	trace.offset[row] = offset;
	trace.n[row] = n;
}

static void add_reuse(int32_t pid, uint16_t cpu, uint32_t offset, uint32_t freed)
{
	const uint64_t row = add_row(pid, cpu, SWS_SLOT_REPLAY_REUSE);

	trace.offset[row] = offset;
	trace.n[row] = freed;
}

/* Adds a complete call that takes slots first .. last, one after another. */
static void add_run(int32_t pid, uint16_t cpu, uint32_t base, uint32_t lowest, uint32_t first,
		    uint32_t last)
{
	add_call(pid, cpu, last - first + 1, base, lowest, SMALL - 1);
	for (uint32_t offset = first; offset <= last; offset++)
		add_alloc(pid, cpu, offset);
	add_done(pid, cpu, last - first + 1, last + 1);
}

static void clear(void)
{
	trace.count = 0;
}

static struct sws_slot_replay_config config_of(uint32_t slots, uint32_t cpus)
{
	struct sws_slot_replay_config config;

	sws_slot_replay_config_init(&config);
	config.device.slots = slots;
	config.device.trunk_shift = 8;
	config.device.possible_cpus = cpus;
	config.device.online_cpus = cpus;
	config.device.policy = SWS_BASE_PERCPU;
	config.cpus = cpus;
	return config;
}

static struct sws_slot_replay_rows rows_from(uint64_t first)
{
	return (struct sws_slot_replay_rows){
		.seq = trace.seq + first,
		.cpu = trace.cpu + first,
		.pid = trace.pid + first,
		.op = trace.op + first,
		.n = trace.n + first,
		.offset = trace.offset + first,
		.base = trace.base + first,
		.next = trace.next + first,
		.lowest = trace.lowest + first,
		.highest = trace.highest + first,
	};
}

static struct sws_slot_replay_call verdicts[ROWS];

/* Feeds row after row and verifies after each; the verdicts are in order. */
static int feed(struct sws_slot_replay *replay, uint64_t *n_verdicts)
{
	int error = SWS_OK;

	*n_verdicts = 0;
	for (uint64_t row = 0; !error && row < trace.count; row++) {
		const struct sws_slot_replay_rows rows = rows_from(row);
		const char *reason = NULL;
		uint64_t n = 0;

		error = sws_slot_replay_feed(replay, &rows, 1, verdicts + *n_verdicts, &n);
		*n_verdicts += n;
		CHECK(error || sws_slot_replay_verify(replay, &reason) == SWS_OK);
	}
	return error;
}

/* Replays the trace; every row has to be accepted. */
static struct sws_slot_replay *replay_of(const struct sws_slot_replay_config *config,
					 uint64_t *n_verdicts)
{
	struct sws_slot_replay *replay = NULL;

	CHECK(sws_slot_replay_new(config, &replay) == SWS_OK);
	CHECK(feed(replay, n_verdicts) == SWS_OK);
	return replay;
}

/* Returns the verdict on the call that ended last. */
static struct sws_slot_replay_call last_verdict(const struct sws_slot_replay_config *config)
{
	uint64_t n = 0;
	struct sws_slot_replay *replay = replay_of(config, &n);

	CHECK(n > 0);
	sws_slot_replay_free(replay);
	return verdicts[n - 1];
}

static bool judged(struct sws_slot_replay_call call, uint32_t exact, uint32_t raced,
		   enum sws_slot_replay_fault fault)
{
	return call.exact == exact && call.raced == raced && call.fault == (uint32_t)fault;
}

static void a_scan_that_nobody_disturbs_is_exact(void)
{
	const struct sws_slot_replay_config config = config_of(SMALL, 2);
	struct sws_slot_replay_call call;

	clear();
	add_run(7, 0, 10, 1, 11, 13);
	call = last_verdict(&config);
	CHECK(judged(call, 3, 0, SWS_SLOT_REPLAY_MATCHED));
	CHECK(call.seq == 10 && call.pid == 7 && call.cpu == 0 && call.wanted == 3);
	CHECK(call.slots == 3);
}

static void what_others_took_during_the_scan_is_passed_over(void)
{
	const struct sws_slot_replay_config config = config_of(SMALL, 2);

	clear();
	add_call(7, 0, 2, 10, 1, SMALL - 1);
	add_run(8, 1, 10, 1, 11, 13);
	add_alloc(7, 0, 14);
	add_alloc(7, 0, 15);
	add_done(7, 0, 2, 16);
	CHECK(judged(last_verdict(&config), 2, 0, SWS_SLOT_REPLAY_MATCHED));
}

static void a_slot_behind_one_that_was_taken_for_a_while_is_raced(void)
{
	const struct sws_slot_replay_config config = config_of(SMALL, 2);

	clear();
	add_call(7, 0, 2, 10, 1, SMALL - 1);
	add_run(8, 1, 10, 1, 11, 13);
	add_free(8, 1, 11, 2);
	add_alloc(7, 0, 14);
	add_alloc(7, 0, 15);
	add_done(7, 0, 2, 16);
	CHECK(judged(last_verdict(&config), 1, 1, SWS_SLOT_REPLAY_MATCHED));
}

static void a_slot_behind_one_that_was_always_free_is_a_mismatch(void)
{
	const struct sws_slot_replay_config config = config_of(SMALL, 2);
	struct sws_slot_replay_mismatch mismatch;
	struct sws_slot_replay *replay = NULL;
	uint64_t n = 0;

	clear();
	add_call(7, 0, 2, 10, 1, SMALL - 1);
	add_run(8, 1, 20, 1, 21, 23);
	add_alloc(7, 0, 14);
	add_alloc(7, 0, 12);
	add_done(7, 0, 2, 13);
	add_run(7, 0, 13, 1, 15, 16);
	replay = replay_of(&config, &n);
	CHECK(n == 3 && judged(verdicts[0], 3, 0, SWS_SLOT_REPLAY_MATCHED));
	CHECK(judged(verdicts[1], 1, 0, SWS_SLOT_REPLAY_SLOTS));
	/* The replay continued with the trace's slots and base. */
	CHECK(judged(verdicts[2], 2, 0, SWS_SLOT_REPLAY_MATCHED));
	CHECK(sws_slot_replay_first_mismatch(replay, &mismatch));
	CHECK(mismatch.call.seq == 10 && mismatch.base == 10 && mismatch.ration == 256);
	CHECK(mismatch.n_ours == 2 && mismatch.ours[0] == 11 && mismatch.ours[1] == 12);
	CHECK(mismatch.n_theirs == 2 && mismatch.theirs[0] == 14 && mismatch.theirs[1] == 12);
	CHECK(mismatch.next == 13 && mismatch.next_row == 13);
	sws_slot_replay_free(replay);
}

static void a_scan_that_wraps_counts_its_tests_from_the_lowest_of_its_time(void)
{
	const struct sws_slot_replay_config config = config_of(SMALL, 2);

	clear();
	/* lowest and highest both change while task 7 scans from slot 37 on. */
	add_call(7, 0, 36, 37, 1, SMALL - 1);
	add_call(8, 1, 2, 37, 1, SMALL - 1);
	add_alloc(8, 1, 38);
	add_alloc(8, 1, 39);
	add_done(8, 1, 2, 40);
	add_call(8, 1, 1, 40, 1, 37);
	add_alloc(8, 1, 1);
	add_done(8, 1, 1, 2);
	add_alloc(7, 0, 2);
	for (uint32_t offset = 3; offset <= 37; offset++)
		add_alloc(7, 0, offset);
	add_done(7, 0, 36, 38);
	CHECK(judged(last_verdict(&config), 36, 0, SWS_SLOT_REPLAY_MATCHED));
}

static void rows_inside_a_hold_of_the_lock_are_a_mismatch(void)
{
	const struct sws_slot_replay_config config = config_of(SMALL, 2);
	uint64_t n = 0;

	clear();
	add_call(7, 0, 2, 10, 1, SMALL - 1);
	add_alloc(7, 0, 11);
	add_run(8, 1, 20, 1, 21, 23);
	add_alloc(7, 0, 12);
	add_done(7, 0, 2, 13);
	sws_slot_replay_free(replay_of(&config, &n));
	CHECK(n == 2 && judged(verdicts[0], 3, 0, SWS_SLOT_REPLAY_MATCHED));
	CHECK(verdicts[1].fault == SWS_SLOT_REPLAY_SLOTS);
}

static void a_wrong_base_is_a_fault_of_its_call_alone(void)
{
	const struct sws_slot_replay_config config = config_of(SMALL, 2);
	uint64_t n = 0;

	clear();
	add_run(7, 0, 10, 1, 11, 13);
	/* 14 was stored. */
	add_call(7, 0, 1, 15, 1, SMALL - 1);
	add_alloc(7, 0, 16);
	/* 17 is expected. */
	add_done(7, 0, 1, 18);
	add_run(7, 0, 18, 1, 19, 20);
	/* The lowest is 1. */
	add_run(7, 0, 21, 2, 22, 23);
	sws_slot_replay_free(replay_of(&config, &n));
	CHECK(n == 4);
	CHECK(judged(verdicts[1], 0, 0, SWS_SLOT_REPLAY_BASE_BEFORE));
	CHECK(judged(verdicts[2], 2, 0, SWS_SLOT_REPLAY_MATCHED));
	CHECK(judged(verdicts[3], 2, 0, SWS_SLOT_REPLAY_LIMITS));
	trace.base[5] = 14;
	trace.offset[6] = 15;
	sws_slot_replay_free(replay_of(&config, &n));
	CHECK(judged(verdicts[1], 0, 0, SWS_SLOT_REPLAY_BASE_AFTER));
}

static void a_random_base_lies_within_the_limits_at_the_start_of_a_trunk(void)
{
	static const struct {
		uint32_t next;
		enum sws_slot_replay_fault fault;
	} draws[] = {
		{ 1, SWS_SLOT_REPLAY_MATCHED },      { 256, SWS_SLOT_REPLAY_MATCHED },
		{ 512, SWS_SLOT_REPLAY_MATCHED },    { 258, SWS_SLOT_REPLAY_BASE_AFTER },
		{ 300, SWS_SLOT_REPLAY_BASE_AFTER }, { 600, SWS_SLOT_REPLAY_BASE_AFTER },
		{ 2, SWS_SLOT_REPLAY_BASE_AFTER },   { 257, SWS_SLOT_REPLAY_BASE_AFTER },
	};
	struct sws_slot_replay_config config = config_of(600, 1);

	config.device.policy = SWS_BASE_PERCPU_RERANDOMISE;
	for (size_t i = 0; i < COUNT_OF(draws); i++) {
		clear();
		/* Cluster 1 is free: the slot comes from there, outside of the base's trunk. */
		add_call(7, 0, 1, 10, 1, 599);
		add_alloc(7, 0, 256);
		add_done(7, 0, 1, draws[i].next);
		CHECK(judged(last_verdict(&config), draws[i].fault == SWS_SLOT_REPLAY_MATCHED, 0,
			     draws[i].fault));
	}
}

static void a_base_of_a_cpu_that_no_row_told_is_taken_from_the_first(void)
{
	const struct sws_slot_replay_config config = config_of(SMALL, 2);

	clear();
	/* The call ends on CPU 1, whose base before it is unknown. */
	add_call(7, 0, 1, 10, 1, SMALL - 1);
	add_alloc(7, 1, 11);
	add_done(7, 1, 1, 12);
	add_run(7, 1, 12, 1, 13, 14);
	add_run(7, 0, 10, 1, 12, 12);
	CHECK(judged(last_verdict(&config), 1, 0, SWS_SLOT_REPLAY_MATCHED));
}

/* Takes slots 1 .. last of the small device, by task 7 on CPU 0. */
static void fill_small(uint32_t last)
{
	clear();
	add_call(7, 0, last, 39, 1, SMALL - 1);
	for (uint32_t offset = 1; offset <= last; offset++)
		add_alloc(7, 0, offset);
	add_done(7, 0, last, last + 1);
}

/* Takes all slots except 2 and 5; the next base is 3. */
static void fill_but_5(void)
{
	fill_small(39);
	add_free(7, 0, 5, 1);
	add_free(7, 0, 2, 1);
	add_call(7, 0, 1, 40, 2, 5);
	add_alloc(7, 0, 2);
	add_done(7, 0, 1, 3);
}

static void a_reuse_above_half_full_goes_on_from_its_slot(void)
{
	const struct sws_slot_replay_config config = config_of(SMALL, 1);

	fill_but_5();
	/* 4 was freed, waits in a cache, and is tried again without success; then 5 is free. */
	add_call(7, 0, 1, 3, 3, 5);
	add_reuse(7, 0, 4, 1);
	add_reuse(7, 0, 4, 0);
	add_alloc(7, 0, 5);
	add_done(7, 0, 1, 6);
	CHECK(judged(last_verdict(&config), 1, 0, SWS_SLOT_REPLAY_MATCHED));

	fill_but_5();
	/* 4 was freed at once, and is taken in the same hold. */
	add_call(7, 0, 1, 3, 3, 5);
	add_free(7, 0, 4, 1);
	add_reuse(7, 0, 4, 1);
	add_alloc(7, 0, 4);
	add_done(7, 0, 1, 5);
	CHECK(judged(last_verdict(&config), 1, 0, SWS_SLOT_REPLAY_MATCHED));
}

static void a_reuse_where_no_scan_stops_is_a_fault(void)
{
	const struct sws_slot_replay_config config = config_of(SMALL, 1);
	static const uint32_t offsets[] = { 5, 6, 1 };

	for (size_t i = 0; i < COUNT_OF(offsets); i++) {
		fill_but_5();
		/* 5 is free, 6 is behind it, and 1 was always below the lowest. */
		add_call(7, 0, 1, 3, 3, 5);
		add_reuse(7, 0, offsets[i], 0);
		add_alloc(7, 0, 5);
		add_done(7, 0, 1, 6);
		CHECK(last_verdict(&config).fault == SWS_SLOT_REPLAY_REUSE_FAULT);
	}
}

static void a_reuse_below_half_full_is_a_fault(void)
{
	/* 254 slots: a call takes credit for one, and 64 may be held that no row shows. */
	static const struct {
		uint32_t taken;
		enum sws_slot_replay_fault fault;
	} cases[] = {
		{ 61, SWS_SLOT_REPLAY_REUSE_FAULT },
		{ 62, SWS_SLOT_REPLAY_REUSE_FAULT },
		{ 63, SWS_SLOT_REPLAY_MATCHED },
		{ 64, SWS_SLOT_REPLAY_MATCHED },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct sws_slot_replay_config config = config_of(255, 2);
		const uint32_t free_slot = cases[i].taken + 1;

		config.cpus = 1;
		fill_small(cases[i].taken);
		trace.highest[0] = 254;
		trace.base[0] = 254;
		add_call(8, 1, 1, 3, free_slot, 254);
		add_reuse(8, 1, 6, 0);
		add_alloc(8, 1, free_slot);
		add_done(8, 1, 1, free_slot + 1);
		CHECK(judged(last_verdict(&config), 1, 0, cases[i].fault));
	}
}

static void a_call_that_finds_nothing_fails(void)
{
	const struct sws_slot_replay_config config = config_of(SMALL, 1);

	/* The base itself is never tested. */
	fill_small(39);
	add_free(7, 0, 5, 1);
	add_call(7, 0, 1, 40, 5, 5);
	add_alloc(7, 0, 5);
	add_done(7, 0, 1, 6);
	add_free(7, 0, 6, 1);
	add_call(7, 0, 1, 6, 6, 6);
	add_row(7, 0, SWS_SLOT_REPLAY_FAIL);
	CHECK(judged(last_verdict(&config), 0, 0, SWS_SLOT_REPLAY_MATCHED));
	trace.offset[trace.count - 3] = 8;
	trace.lowest[trace.count - 2] = trace.highest[trace.count - 2] = 8;
	CHECK(judged(last_verdict(&config), 0, 0, SWS_SLOT_REPLAY_SLOTS));
}

static void calls_still_open_are_not_judged(void)
{
	const struct sws_slot_replay_config config = config_of(SMALL, 2);
	struct sws_slot_replay *replay = NULL;
	uint64_t n = 0;

	clear();
	add_call(7, 0, 2, 10, 1, SMALL - 1);
	add_call(8, 1, 2, 10, 1, SMALL - 1);
	add_alloc(8, 1, 11);
	replay = replay_of(&config, &n);
	CHECK(n == 0 && sws_slot_replay_open(replay) == 2);
	CHECK(!sws_slot_replay_first_mismatch(replay, &(struct sws_slot_replay_mismatch){ 0 }));
	sws_slot_replay_free(replay);
}

/* Checks that the last row cannot be replayed, and that this does not change. */
static void check_refused(enum sws_slot_replay_problem problem)
{
	const struct sws_slot_replay_config config = config_of(SMALL, 2);
	const struct sws_slot_replay_rows rows = rows_from(0);
	struct sws_slot_replay *replay = NULL;
	uint64_t seq = 0;
	uint64_t n = 0;

	CHECK(sws_slot_replay_new(&config, &replay) == SWS_OK);
	CHECK(feed(replay, &n) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_slot_replay_problem(replay, &seq) == (uint32_t)problem);
	CHECK(seq == trace.seq[trace.count - 1]);
	CHECK(sws_slot_replay_feed(replay, &rows, 1, verdicts, &n) == SWS_ERROR_BAD_ARGUMENT);
	sws_slot_replay_free(replay);
}

static void rows_that_mean_nothing_are_refused(void)
{
	clear();
	add_alloc(7, 0, 11);
	check_refused(SWS_SLOT_REPLAY_BAD_START);
	clear();
	add_call(7, 0, 1, 10, 2, SMALL - 1);
	check_refused(SWS_SLOT_REPLAY_BAD_START);
	for (int i = 0; i < 14; i++) {
		static const enum sws_slot_replay_problem problems[] = {
			SWS_SLOT_REPLAY_BAD_ORDER,  SWS_SLOT_REPLAY_BAD_OP,
			SWS_SLOT_REPLAY_BAD_CPU,    SWS_SLOT_REPLAY_BAD_OFFSET,
			SWS_SLOT_REPLAY_BAD_BASE,   SWS_SLOT_REPLAY_BAD_LIMITS,
			SWS_SLOT_REPLAY_BAD_WANTED, SWS_SLOT_REPLAY_BAD_WANTED,
			SWS_SLOT_REPLAY_BAD_FREED,  SWS_SLOT_REPLAY_BAD_REUSED,
			SWS_SLOT_REPLAY_BAD_GIVEN,  SWS_SLOT_REPLAY_SECOND_CALL,
			SWS_SLOT_REPLAY_NO_CALL,    SWS_SLOT_REPLAY_NOT_IN_USE,
		};
		uint64_t row = 0;

		clear();
		add_run(7, 0, 10, 1, 11, 13);
		row = trace.count;
		add_call(8, 1, 2, 10, 1, SMALL - 1);
		switch (problems[i]) {
		case SWS_SLOT_REPLAY_BAD_ORDER:
			trace.seq[row] = trace.seq[row - 1];
			break;
		case SWS_SLOT_REPLAY_BAD_OP:
			trace.op[row] = 6;
			break;
		case SWS_SLOT_REPLAY_BAD_CPU:
			trace.cpu[row] = 2;
			break;
		case SWS_SLOT_REPLAY_BAD_OFFSET:
			add_alloc(8, 1, SMALL);
			break;
		case SWS_SLOT_REPLAY_BAD_BASE:
			trace.base[row] = SMALL + 2;
			break;
		case SWS_SLOT_REPLAY_BAD_LIMITS:
			trace.highest[row] = SMALL;
			break;
		case SWS_SLOT_REPLAY_BAD_WANTED:
			trace.n[row] = i % 2 ? 65 : 0;
			break;
		case SWS_SLOT_REPLAY_BAD_FREED:
			add_free(8, 1, 11, 0);
			break;
		case SWS_SLOT_REPLAY_BAD_REUSED:
			add_reuse(8, 1, 11, 2);
			break;
		case SWS_SLOT_REPLAY_BAD_GIVEN:
			add_done(8, 1, 1, 11);
			break;
		case SWS_SLOT_REPLAY_SECOND_CALL:
			trace.pid[row] = 8;
			add_call(8, 0, 1, 10, 1, SMALL - 1);
			break;
		case SWS_SLOT_REPLAY_NO_CALL:
			add_done(9, 1, 0, 11);
			break;
		default:
			add_free(8, 1, 13, 2);
			break;
		}
		check_refused(problems[i]);
	}
	clear();
	add_run(7, 0, 10, 1, 11, 13);
	add_alloc(7, 0, 14);
	check_refused(SWS_SLOT_REPLAY_NO_CALL);
	clear();
	add_call(7, 0, 1, 10, 1, SMALL - 1);
	add_alloc(7, 0, 11);
	add_alloc(7, 0, 12);
	check_refused(SWS_SLOT_REPLAY_TOO_MANY);
}

static void a_slot_handed_out_twice_is_named_by_its_row(void)
{
	const struct sws_slot_replay_config config = config_of(SMALL, 2);
	struct sws_slot_replay *replay = NULL;
	uint64_t seq = 0;
	uint64_t n = 0;

	clear();
	add_run(7, 0, 10, 1, 11, 13);
	add_call(8, 1, 3, 10, 1, SMALL - 1);
	add_alloc(8, 1, 14);
	add_alloc(8, 1, 12);
	add_alloc(8, 1, 16);
	add_done(8, 1, 3, 17);
	CHECK(sws_slot_replay_new(&config, &replay) == SWS_OK);
	CHECK(feed(replay, &n) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_slot_replay_problem(replay, &seq) == SWS_SLOT_REPLAY_TWICE);
	CHECK(seq == trace.seq[7]);
	sws_slot_replay_free(replay);
}

static void devices_that_no_row_tells_are_refused(void)
{
	struct sws_slot_replay *replay = NULL;

	for (int i = 0; i < 6; i++) {
		struct sws_slot_replay_config config = config_of(SMALL, 2);

		if (i == 0)
			config.device.kernel = SWS_KERNEL_5_7;
		if (i == 1)
			config.device.policy = SWS_BASE_PERMM;
		if (i == 2)
			config.device.rotational = true;
		if (i == 3)
			config.cpus = 3;
		if (i == 4)
			config.cpus = 0;
		if (i == 5)
			config.device.slots = 1;
		CHECK(sws_slot_replay_new(&config, &replay) == SWS_ERROR_BAD_CONFIG);
		CHECK(!replay);
	}
	sws_slot_replay_free(NULL);
}

/* The state of a writer of arbitrary, but possible rows. */
struct writer {
	struct sws_generator *generator;
	uint32_t slots;
	bool used[1024];
	bool open[4];
	uint32_t wanted[4];
	uint32_t given[4];
};

static uint32_t draw(struct writer *writer, uint32_t bound)
{
	return (uint32_t)sws_generator_below(writer->generator, bound);
}

static void write_call(struct writer *writer, uint32_t task, uint16_t cpu)
{
	writer->wanted[task] = 1 + draw(writer, 8);
	writer->given[task] = 0;
	writer->open[task] = true;
	add_call((int32_t)task, cpu, writer->wanted[task], 1 + draw(writer, writer->slots + 1),
		 1 + draw(writer, 3), writer->slots - 1 - draw(writer, 3));
	if (trace.count == 1) {
		trace.lowest[0] = 1;
		trace.highest[0] = writer->slots - 1;
	}
}

/* Slots are allocated and freed once; which ones, and with which base, is random. */
static void write_row(struct writer *writer)
{
	const uint32_t task = draw(writer, 4);
	const uint16_t cpu = (uint16_t)draw(writer, 2);
	const uint32_t offset = 1 + draw(writer, writer->slots - 1);

	if (!writer->open[task] && (trace.count == 0 || draw(writer, 2))) {
		write_call(writer, task, cpu);
	} else if (writer->used[offset] && draw(writer, 2)) {
		writer->used[offset] = false;
		add_free((int32_t)task, cpu, offset, 1);
	} else if (writer->open[task] && draw(writer, 5) == 0) {
		add_reuse((int32_t)task, cpu, offset, draw(writer, 2));
	} else if (writer->open[task] && !writer->used[offset] &&
		   writer->given[task] < writer->wanted[task] && draw(writer, 4)) {
		writer->used[offset] = true;
		writer->given[task]++;
		add_alloc((int32_t)task, cpu, offset);
	} else if (writer->open[task]) {
		writer->open[task] = false;
		if (writer->given[task])
			add_done((int32_t)task, cpu, writer->given[task],
				 1 + draw(writer, writer->slots + 1));
		else
			add_row((int32_t)task, cpu, SWS_SLOT_REPLAY_FAIL);
	}
}

static void write_rows(struct sws_generator *generator, uint32_t slots, uint64_t count)
{
	struct writer writer = { .generator = generator, .slots = slots };

	clear();
	while (trace.count < count)
		write_row(&writer);
}

static void arbitrary_rows_break_nothing(void)
{
	static const uint32_t sizes[] = { 2, 3, 17, 257, 600, 1024 };
	struct sws_generator generator;

	sws_generator_seed(&generator, 1, 0);
	for (int run = 0; run < 600; run++) {
		struct sws_slot_replay_config config = config_of(sizes[run % 6], 2);
		struct sws_slot_replay *replay = NULL;
		uint64_t n = 0;
		int error = SWS_OK;

		config.device.kernel = run % 2 ? SWS_KERNEL_6_1 : SWS_KERNEL_5_8;
		config.device.policy = (enum sws_base_policy)(run % 3);
		write_rows(&generator, sizes[run % 6], 400);
		/* Some of the rows are modified. */
		for (int i = run % 7; i > 3; i--) {
			const uint64_t row = sws_generator_below(&generator, trace.count);
			const uint32_t value = (uint32_t)sws_generator_next(&generator);

			trace.op[row] = (uint8_t)(value % 7);
			trace.offset[row] = value >> (value % 32);
			trace.n[row] = value % 70;
		}
		CHECK(sws_slot_replay_new(&config, &replay) == SWS_OK);
		error = feed(replay, &n);
		CHECK(error == SWS_OK || error == SWS_ERROR_BAD_ARGUMENT);
		/* Rows that are only unlikely are all accepted. */
		CHECK(error == SWS_OK || run % 7 > 3 || sizes[run % 6] < 64);
		sws_slot_replay_free(replay);
	}
}

/* Takes one slot, at any position, in a call that the model makes differently. */
static void take_and_give(uint32_t slots, uint32_t taken, uint32_t given)
{
	add_call(7, 0, 1, 10, 1, slots - 1);
	add_alloc(7, 0, taken);
	add_done(7, 0, 1, taken);
	if (given)
		add_free(7, 0, given, 1);
}

static void clusters_come_out_of_the_middle_of_the_list_and_go_to_its_tail(void)
{
	enum { SLOTS = 16 * 256 };
	struct sws_slot_replay_config config = config_of(SLOTS, 1);
	struct sws_generator generator;
	uint64_t n = 0;
	uint32_t in_use = 0;

	sws_generator_seed(&generator, 3, 0);
	clear();
	for (int i = 0; i < 500; i++) {
		/*
		 * At most one slot in use, in any cluster: in each turn one cluster leaves the
		 * list.
		 */
		const uint32_t taken = 256 + (uint32_t)sws_generator_below(&generator, SLOTS - 256);

		if (taken / 256 == in_use / 256)
			continue;
		take_and_give(SLOTS, taken, in_use);
		in_use = taken;
	}
	sws_slot_replay_free(replay_of(&config, &n));
	CHECK(n > 400);
}

static int replay_arbitrary_rows(const struct sws_allocator *allocator)
{
	struct sws_slot_replay_config config = config_of(600, 2);
	const struct sws_slot_replay_rows rows = rows_from(0);
	struct sws_slot_replay *replay = NULL;
	uint64_t n = 0;
	int error = SWS_OK;

	config.device.allocator = allocator;
	error = sws_slot_replay_new(&config, &replay);
	if (!error)
		error = sws_slot_replay_feed(replay, &rows, trace.count, verdicts, &n);
	sws_slot_replay_free(replay);
	return error;
}

static void running_out_of_memory_leaks_and_breaks_nothing(void)
{
	struct sws_generator generator;

	sws_generator_seed(&generator, 2, 0);
	write_rows(&generator, 600, ROWS - 1);
	/* A call that never ends keeps a window open, so the log grows. */
	check_each_allocation_failing(replay_arbitrary_rows);
}

static void each_op_fault_and_problem_has_words_and_no_other_has(void)
{
	for (int op = 0; op < 100; op++)
		CHECK(!sws_slot_replay_op_name((enum sws_slot_replay_op)op) ==
		      (op > SWS_SLOT_REPLAY_REUSE));
	for (int fault = 0; fault < 100; fault++)
		CHECK(!sws_slot_replay_fault_name((enum sws_slot_replay_fault)fault) ==
		      (fault > SWS_SLOT_REPLAY_BASE_AFTER));
	for (int problem = 0; problem < 100; problem++)
		CHECK(!sws_slot_replay_problem_text((enum sws_slot_replay_problem)problem) ==
		      (problem > SWS_SLOT_REPLAY_NOT_IN_USE));
}

int main(void)
{
	RUN(a_scan_that_nobody_disturbs_is_exact);
	RUN(what_others_took_during_the_scan_is_passed_over);
	RUN(a_slot_behind_one_that_was_taken_for_a_while_is_raced);
	RUN(a_slot_behind_one_that_was_always_free_is_a_mismatch);
	RUN(a_scan_that_wraps_counts_its_tests_from_the_lowest_of_its_time);
	RUN(rows_inside_a_hold_of_the_lock_are_a_mismatch);
	RUN(a_wrong_base_is_a_fault_of_its_call_alone);
	RUN(a_random_base_lies_within_the_limits_at_the_start_of_a_trunk);
	RUN(a_base_of_a_cpu_that_no_row_told_is_taken_from_the_first);
	RUN(a_reuse_above_half_full_goes_on_from_its_slot);
	RUN(a_reuse_where_no_scan_stops_is_a_fault);
	RUN(a_reuse_below_half_full_is_a_fault);
	RUN(a_call_that_finds_nothing_fails);
	RUN(calls_still_open_are_not_judged);
	RUN(rows_that_mean_nothing_are_refused);
	RUN(a_slot_handed_out_twice_is_named_by_its_row);
	RUN(devices_that_no_row_tells_are_refused);
	RUN(arbitrary_rows_break_nothing);
	RUN(clusters_come_out_of_the_middle_of_the_list_and_go_to_its_tail);
	RUN(running_out_of_memory_leaks_and_breaks_nothing);
	RUN(each_op_fault_and_problem_has_words_and_no_other_has);
	return 0;
}
