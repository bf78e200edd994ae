/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "swapsim/cluster_replay.h"

#include "check.h"

#include <string.h>

enum { SIZE = 16, ROOM = 200000, TASKS = 3 };

/* Rows that a model wrote: what a kernel with its rules would have shown. */
static struct {
	uint64_t n;
	uint64_t seq[ROOM];
	uint16_t cpu[ROOM];
	int32_t pid[ROOM];
	uint8_t op[ROOM];
	uint8_t device[ROOM];
	uint8_t order[ROOM];
	uint8_t list[ROOM];
	uint32_t slot[ROOM];
	uint32_t number[ROOM];
} trace;

static const struct sws_clusters_device devices[] = {
	{ .slots = 20 * SIZE + 3 },
	{ .slots = 7 * SIZE, .file = true },
	{ .slots = 9 * SIZE, .priority = 5, .discard = true },
};

static struct sws_clusters_config config_of(enum sws_cluster_rule_set set)
{
	struct sws_clusters_config config;

	sws_clusters_config_init(&config);
	CHECK(sws_cluster_rules_init(set, &config.rules) == SWS_OK);
	config.cluster_size = SIZE;
	config.trunk_shift = 6;
	config.cpus = TASKS;
	config.devices = devices;
	config.n_devices = 3;
	return config;
}

static void write_row(uint32_t task, const struct sws_clusters_point *point)
{
	const uint64_t at = trace.n++;

	CHECK(at < ROOM);
	trace.seq[at] = at;
	trace.cpu[at] = (uint16_t)task;
	trace.pid[at] = (int32_t)task + 100;
	trace.op[at] = point->op;
	trace.device[at] = point->device;
	trace.order[at] = point->order;
	trace.list[at] = point->op == SWS_CLUSTER_PICK || point->op == SWS_CLUSTER_PICKED ||
					 point->op == SWS_CLUSTER_MOVE
				 ? point->list
				 : 0;
	trace.slot[at] = point->slot;
	trace.number[at] = point->n;
}

static void write_op(uint32_t task, uint32_t op, uint32_t device, uint32_t slot, uint32_t n)
{
	const struct sws_clusters_point point = {
		.op = (uint8_t)op, .device = (uint8_t)device, .slot = slot, .n = n
	};

	write_row(task, &point);
}

/* Frees slots, and writes the rows of the free and of the list move. */
static void free_run(struct sws_clusters *self, uint32_t task, const uint32_t run[3])
{
	uint32_t list = 0;
	struct sws_clusters_point move = { .op = SWS_CLUSTER_MOVE, .device = (uint8_t)run[0] };

	write_op(task, SWS_CLUSTER_FREE, run[0], run[1], run[2]);
	CHECK(sws_clusters_free_begin(self, run[0], run[1], run[2], false, &list) == SWS_OK);
	if (list == SWS_CLUSTER_LIST_NONE)
		return;
	move.list = (uint8_t)list;
	move.slot = run[1] / SIZE * SIZE;
	write_row(task, &move);
	CHECK(sws_clusters_move(self, run[0], run[1], list) == SWS_OK);
}

/* Makes a call and writes its rows; each run granted is added to live. */
static uint32_t call(struct sws_clusters *self, uint32_t task, uint32_t order, uint32_t wanted,
		     uint32_t live[][3], uint32_t n)
{
	const struct sws_clusters_point begin = { .op = SWS_CLUSTER_CALL,
						  .order = (uint8_t)order,
						  .n = wanted };
	struct sws_clusters_call state;

	write_row(task, &begin);
	CHECK(sws_clusters_call_begin(self, task, order, wanted, &state) == SWS_OK);
	for (;;) {
		struct sws_clusters_point point;

		sws_clusters_call_next(self, &state);
		point = state.point;
		if (point.op == SWS_CLUSTER_WINDOW)
			write_op(task, SWS_CLUSTER_TRY, point.device, point.slot, 0);
		else
			write_row(task, &point);
		sws_clusters_call_apply(self, &state, &point);
		if (point.op == SWS_CLUSTER_WINDOW) {
			const uint32_t run[3] = { point.device, point.slot, point.n };

			free_run(self, task, run);
			write_op(task, SWS_CLUSTER_RELOCK, 0, 0, 0);
		}
		if (point.op == SWS_CLUSTER_GRANT) {
			live[n][0] = point.device;
			live[n][1] = point.slot;
			live[n++][2] = point.n;
		}
		if (point.op == SWS_CLUSTER_DONE)
			return n;
	}
}

/* Lets some tasks call and free; some slots become cached, so that there are windows. */
static void write_trace(enum sws_cluster_rule_set set, uint32_t steps)
{
	const struct sws_clusters_config config = config_of(set);
	static uint32_t live[ROOM][3];
	struct sws_clusters *self = NULL;
	struct sws_generator random;
	uint32_t n = 0;

	trace.n = 0;
	sws_generator_seed(&random, 1, 0);
	CHECK(sws_clusters_new(&config, &self) == SWS_OK);
	for (uint32_t i = 0; i < steps; i++) {
		const uint32_t task = (uint32_t)sws_generator_below(&random, TASKS);
		const uint64_t kind = sws_generator_below(&random, 10);
		uint64_t at = n ? sws_generator_below(&random, n) : 0;

		if (kind < 5 || !n) {
			const uint32_t order = (uint32_t)sws_generator_below(&random, 4);

			n = call(self, task, order, config.rules.credit_first && !order ? 3 : 1,
				 live, n);
		} else if (kind < 9) {
			free_run(self, task, live[at]);
			memcpy(live[at], live[--n], sizeof(live[at]));
		} else if (live[at][2] == 1 && !config.rules.isolates) {
			/* No row: only a try will say that the slot was cached. */
			(void)sws_clusters_set_cached(self, live[at][0], live[at][1], 1, false);
		}
	}
	sws_clusters_free(self);
}

static struct sws_cluster_replay *make(enum sws_cluster_rule_set set)
{
	const struct sws_clusters_config config = config_of(set);
	struct sws_cluster_replay *self = NULL;

	CHECK(sws_cluster_replay_new(&config, &self) == SWS_OK);
	return self;
}

static int feed(struct sws_cluster_replay *self, uint64_t from, uint64_t to)
{
	const struct sws_cluster_replay_rows rows = {
		.seq = trace.seq + from,
		.cpu = trace.cpu + from,
		.pid = trace.pid + from,
		.op = trace.op + from,
		.device = trace.device + from,
		.order = trace.order + from,
		.list = trace.list + from,
		.slot = trace.slot + from,
		.n = trace.number + from,
	};

	return sws_cluster_replay_feed(self, &rows, to - from);
}

static struct sws_cluster_replay_totals totals_of(const struct sws_cluster_replay *self)
{
	struct sws_cluster_replay_totals totals;
	const char *reason = NULL;

	sws_cluster_replay_totals(self, &totals);
	CHECK(sws_clusters_verify(sws_cluster_replay_clusters(self), &reason) == SWS_OK);
	return totals;
}

/* Returns the number of the first row of an op from a row on. */
static uint64_t find(uint64_t from, uint32_t op)
{
	while (trace.op[from] != op)
		CHECK(++from < trace.n);
	return from;
}

static void a_trace_of_the_rules_agrees_in_every_row(void)
{
	for (int set = SWS_CLUSTER_RULES_6_11; set <= SWS_CLUSTER_RULES_7_3; set++) {
		struct sws_cluster_replay_totals totals;
		struct sws_cluster_replay_mismatch mismatch;
		struct sws_cluster_replay *self = make((enum sws_cluster_rule_set)set);

		write_trace((enum sws_cluster_rule_set)set, 4000);
		CHECK(feed(self, 0, trace.n / 3) == SWS_OK);
		CHECK(feed(self, trace.n / 3, trace.n) == SWS_OK);
		CHECK(!sws_cluster_replay_first_mismatch(self, &mismatch));
		totals = totals_of(self);
		CHECK(totals.rows == trace.n && totals.grants > 500 && totals.visits > 500);
		CHECK(totals.grants_equal == totals.grants && totals.calls_equal == totals.calls);
		CHECK(totals.visits_equal == totals.visits && totals.picks_equal == totals.picks);
		CHECK(totals.moves_equal == totals.moves && totals.turns_equal == totals.turns);
		CHECK((totals.moves > 500) == (set == SWS_CLUSTER_RULES_7_3));
		CHECK(sws_cluster_replay_open(self) == 0);
		sws_cluster_replay_free(self);
	}
}

static void a_trace_of_other_rules_differs(void)
{
	struct sws_cluster_replay_mismatch mismatch;
	struct sws_cluster_replay_totals totals;
	struct sws_cluster_replay *self = make(SWS_CLUSTER_RULES_6_12_NONFULL_FIRST);

	write_trace(SWS_CLUSTER_RULES_6_12, 4000);
	CHECK(feed(self, 0, trace.n) == SWS_OK);
	totals = totals_of(self);
	CHECK(totals.grants_equal < totals.grants && totals.visits_equal < totals.visits);
	CHECK(sws_cluster_replay_first_mismatch(self, &mismatch));
	CHECK(mismatch.fault == SWS_CLUSTER_REPLAY_OTHER_VISIT);
	CHECK(mismatch.ours.slot != mismatch.theirs.slot);
	CHECK(mismatch.lengths[SWS_CLUSTER_LIST_FREE] &&
	      mismatch.heads[SWS_CLUSTER_LIST_FREE] == mismatch.theirs.slot / SIZE);
	sws_cluster_replay_free(self);
}

/* Changes a field of the first row of an op after row 400; returns the fault. */
static uint32_t fault_after(enum sws_cluster_rule_set set, uint32_t op, uint32_t slot_by,
			    uint32_t list)
{
	struct sws_cluster_replay_mismatch mismatch = { 0 };
	struct sws_cluster_replay *self = make(set);
	uint64_t at = 0;

	write_trace(set, 1000);
	at = find(400, op);
	trace.slot[at] ^= slot_by;
	trace.list[at] = list ? (uint8_t)list : trace.list[at];
	(void)feed(self, 0, trace.n);
	CHECK(sws_cluster_replay_first_mismatch(self, &mismatch));
	CHECK(mismatch.seq == trace.seq[at]);
	sws_cluster_replay_free(self);
	return mismatch.fault;
}

static void each_kind_of_row_is_compared(void)
{
	CHECK(fault_after(SWS_CLUSTER_RULES_6_12, SWS_CLUSTER_VISIT, 16, 0) ==
	      SWS_CLUSTER_REPLAY_OTHER_VISIT);
	CHECK(fault_after(SWS_CLUSTER_RULES_6_12, SWS_CLUSTER_VISITED, 1, 0) ==
	      SWS_CLUSTER_REPLAY_OTHER_NEXT);
	CHECK(fault_after(SWS_CLUSTER_RULES_7_3, SWS_CLUSTER_VISIT, 16, 0) ==
	      SWS_CLUSTER_REPLAY_OTHER_VISIT);
	CHECK(fault_after(SWS_CLUSTER_RULES_7_3, SWS_CLUSTER_MOVE, 0, SWS_CLUSTER_LIST_FULL) ==
	      SWS_CLUSTER_REPLAY_OTHER_MOVE);
	CHECK(fault_after(SWS_CLUSTER_RULES_7_3, SWS_CLUSTER_PICK, 0, SWS_CLUSTER_LIST_FRAG + 7) ==
	      SWS_CLUSTER_REPLAY_OTHER_LIST);
}

static void a_missing_row_is_noticed(void)
{
	static const uint32_t ops[] = { SWS_CLUSTER_VISIT, SWS_CLUSTER_GRANT, SWS_CLUSTER_MOVE,
					SWS_CLUSTER_PICK, SWS_CLUSTER_PICKED };

	for (unsigned int i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		struct sws_cluster_replay_mismatch mismatch;
		struct sws_cluster_replay *self = make(SWS_CLUSTER_RULES_7_3);
		uint64_t at = 0;
		int error = SWS_OK;

		write_trace(SWS_CLUSTER_RULES_7_3, 1000);
		at = find(400, ops[i]);
		error = feed(self, 0, at);
		if (!error)
			error = feed(self, at + 1, trace.n);
		CHECK(error || sws_cluster_replay_first_mismatch(self, &mismatch));
		sws_cluster_replay_free(self);
	}
}

static void a_row_out_of_range_ends_the_replay(void)
{
	static const struct {
		enum sws_cluster_replay_problem problem;
		struct sws_clusters_point point;
		uint64_t seq;
		uint16_t cpu;
	} rows[] = {
		{ SWS_CLUSTER_REPLAY_BAD_ORDER, { .op = SWS_CLUSTER_CALL, .n = 1 }, 0, 0 },
		{ SWS_CLUSTER_REPLAY_BAD_OP, { .op = SWS_CLUSTER_OPS }, 9, 0 },
		{ SWS_CLUSTER_REPLAY_BAD_OP, { .op = SWS_CLUSTER_MOVE }, 9, 0 },
		{ SWS_CLUSTER_REPLAY_BAD_CPU, { .op = SWS_CLUSTER_CALL, .n = 1 }, 9, TASKS },
		{ SWS_CLUSTER_REPLAY_BAD_DEVICE, { .op = SWS_CLUSTER_FREE, .device = 3 }, 9, 0 },
		{ SWS_CLUSTER_REPLAY_BAD_SLOT,
		  { .op = SWS_CLUSTER_FREE, .slot = 20 * SIZE + 3, .n = 1 },
		  9,
		  0 },
		{ SWS_CLUSTER_REPLAY_BAD_SLOT,
		  { .op = SWS_CLUSTER_FREE, .slot = 20 * SIZE + 2, .n = 2 },
		  9,
		  0 },
		{ SWS_CLUSTER_REPLAY_BAD_N, { .op = SWS_CLUSTER_FREE, .slot = 16 }, 9, 0 },
		{ SWS_CLUSTER_REPLAY_BAD_N, { .op = SWS_CLUSTER_FREE, .slot = 31, .n = 2 }, 9, 0 },
		{ SWS_CLUSTER_REPLAY_BAD_N, { .op = SWS_CLUSTER_CALL }, 9, 0 },
		{ SWS_CLUSTER_REPLAY_BAD_ORDER_OF_FOLIO,
		  { .op = SWS_CLUSTER_CALL, .order = 10, .n = 1 },
		  9,
		  0 },
		{ SWS_CLUSTER_REPLAY_BAD_LIST,
		  { .op = SWS_CLUSTER_CALL, .list = SWS_CLUSTER_LISTS, .n = 1 },
		  9,
		  0 },
		{ SWS_CLUSTER_REPLAY_NO_CALL, { .op = SWS_CLUSTER_VISIT }, 9, 0 },
		{ SWS_CLUSTER_REPLAY_NO_CALL, { .op = SWS_CLUSTER_DISCARDED }, 9, 0 },
		{ SWS_CLUSTER_REPLAY_NOT_IN_USE,
		  { .op = SWS_CLUSTER_FREE, .slot = 16, .n = 1 },
		  9,
		  0 },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sws_cluster_replay *self = make(SWS_CLUSTER_RULES_6_12);
		uint64_t seq = 0;

		trace.n = 0;
		write_op(0, SWS_CLUSTER_TRY, 0, 1, 0);
		write_row(0, &rows[i].point);
		trace.seq[1] = rows[i].seq;
		trace.cpu[1] = rows[i].cpu;
		trace.list[1] = rows[i].point.list;
		CHECK(feed(self, 0, 2) == SWS_ERROR_BAD_ARGUMENT);
		CHECK(sws_cluster_replay_problem(self, &seq) == rows[i].problem);
		CHECK(seq == rows[i].seq);
		CHECK(feed(self, 0, 1) == SWS_ERROR_BAD_ARGUMENT);
		sws_cluster_replay_free(self);
	}
}

static void a_slot_is_granted_once_and_not_more_often_than_wanted(void)
{
	struct sws_cluster_replay *self = make(SWS_CLUSTER_RULES_6_12);
	uint64_t seq = 0;
	uint64_t at = 0;

	write_trace(SWS_CLUSTER_RULES_6_12, 200);
	at = find(0, SWS_CLUSTER_GRANT);
	trace.slot[find(at + 1, SWS_CLUSTER_GRANT)] = trace.slot[at];
	trace.device[find(at + 1, SWS_CLUSTER_GRANT)] = trace.device[at];
	CHECK(feed(self, 0, trace.n) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_cluster_replay_problem(self, &seq) == SWS_CLUSTER_REPLAY_TWICE);
	sws_cluster_replay_free(self);
	self = make(SWS_CLUSTER_RULES_6_12);
	write_trace(SWS_CLUSTER_RULES_6_12, 200);
	trace.number[find(0, SWS_CLUSTER_CALL)] = 1;
	trace.number[find(0, SWS_CLUSTER_DONE)] = 1;
	if (feed(self, 0, trace.n) == SWS_ERROR_BAD_ARGUMENT)
		CHECK(sws_cluster_replay_problem(self, &seq) == SWS_CLUSTER_REPLAY_TOO_MANY);
	sws_cluster_replay_free(self);
}

/* Feeds calls of new tasks, each of which ends at once; returns the allocations so far. */
static uint64_t feed_new_tasks(struct sws_cluster_replay *self,
			       const struct failing_allocator *memory, uint32_t first, uint32_t n)
{
	const uint64_t from = trace.n;

	for (uint32_t task = first; task < first + n; task++) {
		write_op(task, SWS_CLUSTER_CALL, 0, 0, 1);
		write_op(task, SWS_CLUSTER_DONE, 0, 0, 0);
		trace.cpu[trace.n - 2] = trace.cpu[trace.n - 1] = 0;
	}
	CHECK(feed(self, from, trace.n) == SWS_OK);
	return memory->requests;
}

/*
 * A row must not cost more in a trace of more tasks. Those that ended take no memory, so no walk
 * over tasks can meet them; one whose call is open stays, however many come after it.
 */
static void tasks_without_a_call_are_forgotten(void)
{
	struct failing_allocator memory = { 0 };
	const struct sws_allocator seam = failing_allocator_seam(&memory);
	struct sws_clusters_config config = config_of(SWS_CLUSTER_RULES_7_3);
	struct sws_cluster_replay *self = NULL;
	uint64_t requests = 0;

	config.allocator = &seam;
	CHECK(sws_cluster_replay_new(&config, &self) == SWS_OK);
	trace.n = 0;
	write_op(0, SWS_CLUSTER_CALL, 0, 0, 1);
	CHECK(feed(self, 0, 1) == SWS_OK);
	requests = feed_new_tasks(self, &memory, 1, 1000);
	CHECK(feed_new_tasks(self, &memory, 1001, 20000) == requests);
	CHECK(sws_cluster_replay_open(self) == 1);
	write_op(0, SWS_CLUSTER_DONE, 0, 0, 0);
	CHECK(feed(self, trace.n - 1, trace.n) == SWS_OK);
	CHECK(sws_cluster_replay_open(self) == 0 && totals_of(self).calls == 21001);
	sws_cluster_replay_free(self);
}

static void names_and_texts_are_total(void)
{
	for (uint32_t i = 0; i < SWS_CLUSTER_REPLAY_FAULTS; i++)
		CHECK(sws_cluster_replay_fault_name(i));
	for (uint32_t i = 0; i < SWS_CLUSTER_REPLAY_PROBLEMS; i++)
		CHECK(sws_cluster_replay_problem_text(i));
	CHECK(!sws_cluster_replay_fault_name(SWS_CLUSTER_REPLAY_FAULTS));
	CHECK(!sws_cluster_replay_problem_text(SWS_CLUSTER_REPLAY_PROBLEMS));
}

static int with_little_memory(const struct sws_allocator *allocator)
{
	struct sws_clusters_config config = config_of(SWS_CLUSTER_RULES_7_3);
	/* A caller may have had another one here. */
	struct sws_cluster_replay *self = (struct sws_cluster_replay *)(void *)&config;
	int error = SWS_OK;

	config.allocator = allocator;
	error = sws_cluster_replay_new(&config, &self);
	CHECK(!error == !!self);
	if (!error)
		error = feed(self, 0, trace.n);
	sws_cluster_replay_free(self);
	return error;
}

static void each_failed_allocation_is_reported(void)
{
	write_trace(SWS_CLUSTER_RULES_7_3, 50);
	check_each_allocation_failing(with_little_memory);
}

int main(void)
{
	RUN(a_trace_of_the_rules_agrees_in_every_row);
	RUN(a_trace_of_other_rules_differs);
	RUN(each_kind_of_row_is_compared);
	RUN(a_missing_row_is_noticed);
	RUN(a_row_out_of_range_ends_the_replay);
	RUN(a_slot_is_granted_once_and_not_more_often_than_wanted);
	RUN(tasks_without_a_call_are_forgotten);
	RUN(names_and_texts_are_total);
	RUN(each_failed_allocation_is_reported);
	return 0;
}
