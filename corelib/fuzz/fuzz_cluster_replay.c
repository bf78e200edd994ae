/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_cluster_replay.c - rows that a kernel with some rules would write, some of them altered, fed
 * to the replay that compares them and to the one under other rules. Unaltered rows must all match.
 */
#include "input.h"

#include "swapsim/cluster_replay.h"
#include "swapsim/cluster_what_if.h"

enum { TASKS = 3, ROWS = 1500, SLOTS = 200, SIZE = 16, RUNS = 400 };

struct trace {
	uint32_t n;
	uint64_t seq[ROWS + 1];
	uint16_t cpu[ROWS + 1];
	int32_t pid[ROWS + 1];
	uint8_t op[ROWS + 1];
	uint8_t device[ROWS + 1];
	uint8_t order[ROWS + 1];
	uint8_t list[ROWS + 1];
	uint32_t slot[ROWS + 1];
	uint32_t number[ROWS + 1];
};

struct bench {
	struct input *input;
	struct sws_clusters_config config;
	struct sws_clusters_device devices[2];
	struct sws_clusters *kernel;
	struct trace trace;
	uint32_t n_runs;
	struct sws_clusters_point runs[RUNS];
	bool altered;
};

static void write_row(struct trace *self, uint32_t task, const struct sws_clusters_point *point)
{
	const uint32_t at = self->n;
	const bool listed = point->op == SWS_CLUSTER_PICK || point->op == SWS_CLUSTER_PICKED ||
			    point->op == SWS_CLUSTER_MOVE;

	self->seq[at] = at;
	self->cpu[at] = (uint16_t)task;
	self->pid[at] = (int32_t)task;
	self->op[at] = point->op;
	self->device[at] = point->device;
	self->order[at] = point->order;
	self->list[at] = listed ? point->list : 0;
	self->slot[at] = point->slot;
	self->number[at] = point->n;
	/* Rows after the last are overwritten: a recording that ends early. */
	self->n += at < ROWS;
}

static void draw_config(struct bench *self)
{
	sws_clusters_config_init(&self->config);
	(void)sws_cluster_rules_init((enum sws_cluster_rule_set)input_below(self->input, 4),
				     &self->config.rules);
	self->config.cluster_size = SIZE;
	self->config.trunk_shift = 6;
	self->config.cpus = TASKS;
	self->config.devices = self->devices;
	self->config.n_devices = 1 + input_below(self->input, 2);
	for (uint32_t i = 0; i < 2; i++)
		self->devices[i] = (struct sws_clusters_device){
			.slots = 2 + input_below(self->input, SLOTS),
			.priority = (int32_t)input_below(self->input, 2),
			.file = input_bit(self->input) && input_bit(self->input),
			.discard = input_bit(self->input),
		};
}

/* Makes a call; its points are the rows. */
static void call(struct bench *self, uint32_t task)
{
	struct sws_clusters_point point = { .op = SWS_CLUSTER_CALL,
					    .order = (uint8_t)input_below(self->input, 5),
					    .n = 1 };
	struct sws_clusters_call state;

	write_row(&self->trace, task, &point);
	MUST(!sws_clusters_call_begin(self->kernel, task, point.order, 1, &state));
	while (point.op != SWS_CLUSTER_DONE) {
		sws_clusters_call_next(self->kernel, &state);
		point = state.point;
		write_row(&self->trace, task, &point);
		sws_clusters_call_apply(self->kernel, &state, &point);
		if (point.op == SWS_CLUSTER_GRANT && self->n_runs < RUNS)
			self->runs[self->n_runs++] = point;
	}
}

static void free_run(struct bench *self, uint32_t task)
{
	struct sws_clusters_point *run = &self->runs[input_below(self->input, self->n_runs)];
	struct sws_clusters_point row = {
		.op = SWS_CLUSTER_FREE, .device = run->device, .slot = run->slot, .n = run->n
	};
	uint32_t list = 0;

	write_row(&self->trace, task, &row);
	MUST(!sws_clusters_free_begin(self->kernel, row.device, row.slot, row.n, false, &list));
	*run = self->runs[--self->n_runs];
	if (list == SWS_CLUSTER_LIST_NONE)
		return;
	row.op = SWS_CLUSTER_MOVE;
	row.list = (uint8_t)list;
	row.slot -= row.slot % SIZE;
	row.n = 0;
	write_row(&self->trace, task, &row);
	MUST(!sws_clusters_move(self->kernel, row.device, row.slot, list));
}

static void write_trace(struct bench *self)
{
	while (self->input->left && self->trace.n < ROWS) {
		const uint8_t operation = input_byte(self->input);

		if (operation >= 250)
			return;
		if (operation & 1 || !self->n_runs)
			call(self, operation % TASKS);
		else
			free_run(self, operation % TASKS);
	}
}

/* Alters some rows, to anything. */
static void alter(struct bench *self)
{
	struct trace *trace = &self->trace;

	while (self->input->left && trace->n) {
		const uint32_t at = input_below(self->input, trace->n);

		self->altered = true;
		trace->op[at] = (uint8_t)input_or(self->input, trace->op[at]);
		trace->slot[at] = input_or(self->input, trace->slot[at]);
		trace->number[at] = input_or(self->input, trace->number[at]);
		trace->list[at] = (uint8_t)input_or(self->input, trace->list[at]);
		trace->pid[at] = (int32_t)input_or(self->input, (uint32_t)trace->pid[at]);
		trace->order[at] = (uint8_t)input_or(self->input, trace->order[at]);
		trace->device[at] = (uint8_t)input_or(self->input, trace->device[at]);
	}
}

static struct sws_cluster_replay_rows rows_of(const struct trace *trace)
{
	return (struct sws_cluster_replay_rows){
		.seq = trace->seq,
		.cpu = trace->cpu,
		.pid = trace->pid,
		.op = trace->op,
		.device = trace->device,
		.order = trace->order,
		.list = trace->list,
		.slot = trace->slot,
		.n = trace->number,
	};
}

static void replay(struct bench *self)
{
	const struct sws_cluster_replay_rows rows = rows_of(&self->trace);
	struct sws_cluster_replay_mismatch mismatch;
	struct sws_cluster_replay_totals totals;
	struct sws_cluster_replay *replay = NULL;
	const char *reason = NULL;
	int error = sws_cluster_replay_new(&self->config, &replay);

	if (!error)
		error = sws_cluster_replay_feed(replay, &rows, self->trace.n);
	if (!error && !self->altered) {
		sws_cluster_replay_totals(replay, &totals);
		MUST(!sws_cluster_replay_first_mismatch(replay, &mismatch));
		MUST(totals.grants_equal == totals.grants && totals.moves_equal == totals.moves);
		MUST(!sws_clusters_verify(sws_cluster_replay_clusters(replay), &reason));
	}
	MUST(error != SWS_ERROR_BAD_ARGUMENT || self->altered);
	sws_cluster_replay_free(replay);
}

static void replay_under_other_rules(struct bench *self)
{
	const struct sws_cluster_replay_rows rows = rows_of(&self->trace);
	struct sws_cluster_what_if_config config = { .clusters = self->config };
	static struct sws_cluster_what_if_sample samples[ROWS / 7 + 1];
	struct sws_cluster_what_if *what_if = NULL;
	const char *reason = NULL;
	uint64_t n_samples = 0;
	int error = SWS_OK;

	(void)sws_cluster_rules_init((enum sws_cluster_rule_set)(self->trace.n % 4),
				     &config.clusters.rules);
	config.trace_has_slot_cache = self->trace.n & 4;
	config.sample_rows = 7;
	error = sws_cluster_what_if_new(&config, &what_if);
	if (!error)
		error = sws_cluster_what_if_feed(what_if, &rows, self->trace.n, samples,
						 &n_samples);
	MUST(n_samples <= self->trace.n / 7);
	if (!error)
		MUST(!sws_cluster_what_if_verify(what_if, &reason));
	MUST(error != SWS_ERROR_BAD_ARGUMENT || self->altered);
	sws_cluster_what_if_free(what_if);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct bench bench;
	struct input input = { .bytes = data, .left = size };
	struct scarce memory = scarce_memory(&input);
	struct sws_allocator seam = scarce_seam(&memory);

	bench = (struct bench){ .input = &input };
	draw_config(&bench);
	if (sws_clusters_new(&bench.config, &bench.kernel) == SWS_OK)
		write_trace(&bench);
	sws_clusters_free(bench.kernel);
	alter(&bench);
	bench.config.allocator = &seam;
	replay(&bench);
	replay_under_other_rules(&bench);
	MUST(memory.held == 0);
	return 0;
}
