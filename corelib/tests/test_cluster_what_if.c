/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "swapsim/cluster_what_if.h"

#include "check.h"

enum { SIZE = 16, ROOM = 4096 };

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

static void row(uint32_t task, uint32_t op, uint32_t order, uint32_t slot, uint32_t n)
{
	const uint64_t at = trace.n++;

	CHECK(at < ROOM);
	trace.seq[at] = at;
	trace.cpu[at] = (uint16_t)task;
	trace.pid[at] = (int32_t)task;
	trace.op[at] = (uint8_t)op;
	trace.device[at] = 0;
	trace.order[at] = (uint8_t)order;
	trace.list[at] = 0;
	trace.slot[at] = slot;
	trace.number[at] = n;
}

/* A request of the trace for one run, which it grants at a slot; 0 for a refusal. */
static void request(uint32_t task, uint32_t order, uint32_t slot)
{
	row(task, SWS_CLUSTER_CALL, order, 0, 1);
	if (slot)
		row(task, SWS_CLUSTER_GRANT, 0, slot, UINT32_C(1) << order);
	row(task, SWS_CLUSTER_DONE, 0, 0, slot != 0);
}

static struct sws_cluster_what_if_config config_of(enum sws_cluster_rule_set set,
						   const struct sws_clusters_device *device,
						   bool trace_has_slot_cache)
{
	struct sws_cluster_what_if_config config;

	sws_cluster_what_if_config_init(&config);
	CHECK(sws_cluster_rules_init(set, &config.clusters.rules) == SWS_OK);
	config.clusters.cluster_size = SIZE;
	config.clusters.trunk_shift = 6;
	config.clusters.cpus = 2;
	config.clusters.devices = device;
	config.clusters.n_devices = 1;
	config.trace_has_slot_cache = trace_has_slot_cache;
	return config;
}

static struct sws_cluster_what_if *make(enum sws_cluster_rule_set set, uint32_t slots,
					bool trace_has_slot_cache)
{
	const struct sws_clusters_device device = { .slots = slots };
	const struct sws_cluster_what_if_config config =
		config_of(set, &device, trace_has_slot_cache);
	struct sws_cluster_what_if *self = NULL;

	CHECK(sws_cluster_what_if_new(&config, &self) == SWS_OK);
	return self;
}

static int feed(struct sws_cluster_what_if *self, struct sws_cluster_what_if_sample *samples,
		uint64_t *n_samples)
{
	const struct sws_cluster_replay_rows rows = {
		.seq = trace.seq,
		.cpu = trace.cpu,
		.pid = trace.pid,
		.op = trace.op,
		.device = trace.device,
		.order = trace.order,
		.list = trace.list,
		.slot = trace.slot,
		.n = trace.number,
	};

	return sws_cluster_what_if_feed(self, &rows, trace.n, samples, n_samples);
}

/* Feeds the trace, checks every invariant, and returns the totals. */
static struct sws_cluster_what_if_totals run(struct sws_cluster_what_if *self)
{
	struct sws_cluster_what_if_totals totals;
	const char *reason = NULL;
	uint64_t n_samples = 0;

	CHECK(feed(self, NULL, &n_samples) == SWS_OK);
	CHECK(n_samples == 0);
	CHECK(sws_cluster_what_if_verify(self, &reason) == SWS_OK);
	sws_cluster_what_if_totals(self, &totals);
	CHECK(totals.rows == trace.n);
	return totals;
}

static uint32_t in_use(const struct sws_cluster_what_if *self)
{
	return sws_clusters_in_use(sws_cluster_what_if_clusters(self), 0);
}

static bool used(const struct sws_cluster_what_if *self, uint32_t slot)
{
	const struct sws_clusters_point grant = { .op = SWS_CLUSTER_GRANT, .slot = slot, .n = 1 };

	return !sws_clusters_can_apply(sws_cluster_what_if_clusters(self), &grant);
}

static void a_free_of_the_trace_frees_the_slots_that_took_their_place(void)
{
	struct sws_cluster_what_if *self = make(SWS_CLUSTER_RULES_7_3, 8 * SIZE, false);
	struct sws_cluster_what_if_totals totals;

	trace.n = 0;
	request(0, 2, 64);
	request(0, 0, 80);
	row(0, SWS_CLUSTER_FREE, 0, 65, 2);
	totals = run(self);
	CHECK(totals.granted[2] == 1 && totals.granted_in_trace[2] == 1 && totals.freed == 2);
	CHECK(in_use(self) == 3);
	CHECK(used(self, 16));
	CHECK(!used(self, 17));
	CHECK(!used(self, 18));
	CHECK(used(self, 19));
	CHECK(used(self, 1));
	sws_cluster_what_if_free(self);
}

static void a_run_that_the_rules_refuse_comes_slot_by_slot(void)
{
	struct sws_cluster_what_if *self = make(SWS_CLUSTER_RULES_6_11, 2 * SIZE, true);
	struct sws_cluster_what_if_totals totals;

	/* The only free cluster is used; a run of order 2 in it would fit on a nonfull list. */
	trace.n = 0;
	request(0, 3, 16);
	request(1, 2, 24);
	row(1, SWS_CLUSTER_FREE, 0, 24, 4);
	totals = run(self);
	CHECK(totals.requests[2] == 1 && totals.granted[2] == 0 && totals.single_slots == 4);
	CHECK(totals.missing_slots == 0 && in_use(self) == 8);
	sws_cluster_what_if_free(self);
}

static void a_run_that_the_trace_refused_serves_the_next_single_slots(void)
{
	struct sws_cluster_what_if *self = make(SWS_CLUSTER_RULES_7_3, 8 * SIZE, false);
	struct sws_cluster_what_if_totals totals;

	trace.n = 0;
	request(0, 2, 0);
	for (uint32_t i = 0; i < 5; i++)
		request(0, 0, 100 + i);
	totals = run(self);
	CHECK(totals.granted[2] == 1 && totals.granted_in_trace[2] == 0 && totals.surplus == 1);
	CHECK(in_use(self) == 5);
	CHECK(used(self, 19));
	CHECK(used(self, 1));
	sws_cluster_what_if_free(self);
}

static void single_slots_go_through_caches_where_the_rules_have_them(void)
{
	/* Two CPUs need 640 free slots for the caches to start. */
	struct sws_cluster_what_if *self = make(SWS_CLUSTER_RULES_6_12, 64 * SIZE, false);
	struct sws_clusters_work work;

	trace.n = 0;
	for (uint32_t i = 0; i < 10; i++)
		request(0, 0, 100 + i);
	for (uint32_t i = 0; i < 10; i++)
		row(0, SWS_CLUSTER_FREE, 0, 100 + i, 1);
	CHECK(run(self).freed == 10);
	/* One call of 64; the returned slots wait in the other cache. */
	CHECK(in_use(self) == 64);
	sws_clusters_work(sws_cluster_what_if_clusters(self), &work);
	CHECK(work.calls == 1 && work.freed == 0);
	sws_cluster_what_if_free(self);
	/* A trace that has the caches already: each row is a call, and a free. */
	self = make(SWS_CLUSTER_RULES_6_12, 64 * SIZE, true);
	CHECK(run(self).freed == 10 && in_use(self) == 0);
	sws_clusters_work(sws_cluster_what_if_clusters(self), &work);
	CHECK(work.calls == 10 && work.freed == 10 && work.si_lock_free == 1);
	sws_cluster_what_if_free(self);
}

static void a_call_for_many_slots_is_many_calls_without_slot_cache(void)
{
	struct sws_cluster_what_if *self = make(SWS_CLUSTER_RULES_7_3, 8 * SIZE, true);
	struct sws_clusters_work work;

	trace.n = 0;
	row(0, SWS_CLUSTER_CALL, 0, 0, 8);
	for (uint32_t i = 0; i < 6; i++)
		row(0, SWS_CLUSTER_GRANT, 0, 40 + i, 1);
	row(0, SWS_CLUSTER_DONE, 0, 0, 6);
	CHECK(run(self).granted[0] == 1);
	sws_clusters_work(sws_cluster_what_if_clusters(self), &work);
	/* The two that the trace did not obtain are freed again. */
	CHECK(work.calls == 8 && in_use(self) == 6);
	sws_cluster_what_if_free(self);
}

static void a_slot_that_the_rules_do_not_have_is_counted(void)
{
	struct sws_cluster_what_if *self = make(SWS_CLUSTER_RULES_7_3, 2 * SIZE, false);
	struct sws_cluster_what_if_totals totals;

	/* The run that the trace refused to CPU 1 waits there; CPU 0 uses all slots. */
	trace.n = 0;
	request(1, 2, 0);
	for (uint32_t slot = 1; slot < 2 * SIZE; slot++)
		request(0, 0, slot);
	totals = run(self);
	CHECK(totals.surplus == 1 && totals.missing_slots == 4);
	CHECK(in_use(self) == 2 * SIZE - 1);
	sws_cluster_what_if_free(self);
	/* A missing slot is freed like the others. */
	self = make(SWS_CLUSTER_RULES_7_3, 2 * SIZE, false);
	for (uint32_t slot = 1; slot < 2 * SIZE; slot++)
		row(0, SWS_CLUSTER_FREE, 0, slot, 1);
	CHECK(run(self).freed == 2 * SIZE - 1 - 4 && in_use(self) == 4);
	sws_cluster_what_if_free(self);
}

static void the_devices_may_be_smaller_than_those_of_the_trace(void)
{
	const struct sws_clusters_device device = { .slots = 2 * SIZE };
	const uint32_t trace_slots = 100 * SIZE;
	struct sws_cluster_what_if_config config = config_of(SWS_CLUSTER_RULES_7_3, &device, false);
	struct sws_cluster_what_if *self = NULL;
	struct sws_cluster_what_if_totals totals;

	config.trace_slots = &trace_slots;
	CHECK(sws_cluster_what_if_new(&config, &self) == SWS_OK);
	trace.n = 0;
	request(0, 4, 80 * SIZE);
	request(0, 4, 90 * SIZE);
	row(0, SWS_CLUSTER_FREE, 0, 80 * SIZE, SIZE);
	totals = run(self);
	CHECK(totals.granted[4] == 1 && totals.single_slots == SIZE - 1);
	CHECK(totals.missing_slots == 1 && totals.freed == SIZE && in_use(self) == SIZE - 1);
	sws_cluster_what_if_free(self);
}

static void neighbours_and_sequences_are_those_of_the_tasks(void)
{
	struct sws_cluster_what_if *self = make(SWS_CLUSTER_RULES_7_3, 8 * SIZE, false);
	struct sws_cluster_what_if_neighbours neighbours;
	struct sws_cluster_what_if_totals totals;

	/* One CPU, so that the tasks 0 and 5 share a cluster: 0 0 5 0. */
	trace.n = 0;
	request(0, 0, 50);
	request(0, 0, 60);
	request(0, 0, 70);
	for (uint32_t at = 6; at < 9; at++)
		trace.pid[at] = 5;
	request(0, 0, 80);
	totals = run(self);
	CHECK(totals.runs == 4 && totals.runs_in_sequence == 1);
	sws_cluster_what_if_neighbours(self, &neighbours);
	CHECK(neighbours.pairs == 3 && neighbours.mixed == 2);
	sws_cluster_what_if_free(self);
}

static void tasks_of_an_owner_share_a_cluster(void)
{
	const struct sws_clusters_device device = { .slots = 8 * SIZE };
	struct sws_cluster_what_if_config config = config_of(SWS_CLUSTER_RULES_7_3, &device, false);
	struct sws_cluster_what_if *self = NULL;

	config.clusters.rules.own_by_task = true;
	config.clusters.owners = 2;
	CHECK(sws_cluster_what_if_new(&config, &self) == SWS_OK);
	CHECK(sws_cluster_what_if_assign(self, 0, 1) == SWS_OK);
	CHECK(sws_cluster_what_if_assign(self, 1, 1) == SWS_OK);
	CHECK(sws_cluster_what_if_assign(self, 1, 2) == SWS_ERROR_BAD_ARGUMENT);
	trace.n = 0;
	request(0, 2, 64);
	request(1, 2, 96);
	CHECK(run(self).runs == 2);
	CHECK(used(self, SIZE + 4));
	sws_cluster_what_if_free(self);
}

static void samples_count_clusters_by_list(void)
{
	const struct sws_clusters_device device = { .slots = 8 * SIZE };
	struct sws_cluster_what_if_config config = config_of(SWS_CLUSTER_RULES_7_3, &device, false);
	struct sws_cluster_what_if *self = NULL;
	struct sws_cluster_what_if_sample samples[3];
	uint64_t n_samples = 0;

	config.sample_rows = 3;
	trace.n = 0;
	request(0, 2, 64);
	request(0, 4, 16);
	CHECK(sws_cluster_what_if_new(&config, &self) == SWS_OK);
	CHECK(feed(self, samples, &n_samples) == SWS_OK);
	CHECK(n_samples == 2 && samples[0].seq == 2 && samples[1].seq == 5);
	CHECK(samples[0].clusters[SWS_CLUSTER_LIST_FREE] == 6 && samples[0].in_use == 4);
	CHECK(samples[0].clusters[SWS_CLUSTER_LIST_FRAG + 2] == 1);
	CHECK(samples[1].clusters[SWS_CLUSTER_LIST_FULL] == 1 && samples[1].in_use == 20);
	sws_cluster_what_if_free(self);
}

static void a_row_that_cannot_be_replayed_is_refused(void)
{
	static const struct {
		enum sws_cluster_replay_problem problem;
		uint32_t task, op, order, slot, n;
	} rows[] = {
		{ SWS_CLUSTER_REPLAY_BAD_OP, 0, SWS_CLUSTER_OPS, 0, 0, 0 },
		{ SWS_CLUSTER_REPLAY_BAD_CPU, 2, SWS_CLUSTER_CALL, 0, 0, 1 },
		{ SWS_CLUSTER_REPLAY_BAD_ORDER_OF_FOLIO, 0, SWS_CLUSTER_CALL, 10, 0, 1 },
		{ SWS_CLUSTER_REPLAY_BAD_N, 0, SWS_CLUSTER_CALL, 0, 0, 0 },
		{ SWS_CLUSTER_REPLAY_BAD_N, 0, SWS_CLUSTER_FREE, 0, 5, 0 },
		{ SWS_CLUSTER_REPLAY_BAD_SLOT, 0, SWS_CLUSTER_FREE, 0, 120, 16 },
		{ SWS_CLUSTER_REPLAY_NO_CALL, 0, SWS_CLUSTER_GRANT, 0, 5, 1 },
		{ SWS_CLUSTER_REPLAY_TWICE, 1, SWS_CLUSTER_GRANT, 0, 50, 1 },
		{ SWS_CLUSTER_REPLAY_BAD_N, 1, SWS_CLUSTER_GRANT, 0, 60, 2 },
		{ SWS_CLUSTER_REPLAY_NOT_IN_USE, 1, SWS_CLUSTER_FREE, 0, 50, 2 },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sws_cluster_what_if *self = make(SWS_CLUSTER_RULES_7_3, 8 * SIZE, false);
		uint64_t n_samples = 0;
		uint64_t seq = 0;

		trace.n = 0;
		request(0, 0, 50);
		row(1, SWS_CLUSTER_CALL, 0, 0, 1);
		row(rows[i].task, rows[i].op, rows[i].order, rows[i].slot, rows[i].n);
		CHECK(feed(self, NULL, &n_samples) == SWS_ERROR_BAD_ARGUMENT);
		CHECK(sws_cluster_what_if_problem(self, &seq) == rows[i].problem && seq == 4);
		CHECK(feed(self, NULL, &n_samples) == SWS_ERROR_BAD_ARGUMENT);
		sws_cluster_what_if_free(self);
	}
}

static int with_little_memory(const struct sws_allocator *allocator)
{
	const struct sws_clusters_device device = { .slots = 8 * SIZE };
	struct sws_cluster_what_if_config config = config_of(SWS_CLUSTER_RULES_7_3, &device, false);
	/* A caller may have had another one here. */
	struct sws_cluster_what_if *self = (struct sws_cluster_what_if *)(void *)&config;
	uint64_t n_samples = 0;
	int error = SWS_OK;

	config.clusters.allocator = allocator;
	error = sws_cluster_what_if_new(&config, &self);
	CHECK(!error == !!self);
	if (!error)
		error = feed(self, NULL, &n_samples);
	sws_cluster_what_if_free(self);
	return error;
}

static void each_failed_allocation_is_reported(void)
{
	trace.n = 0;
	request(0, 0, 50);
	request(1, 2, 64);
	check_each_allocation_failing(with_little_memory);
}

int main(void)
{
	RUN(a_free_of_the_trace_frees_the_slots_that_took_their_place);
	RUN(a_run_that_the_rules_refuse_comes_slot_by_slot);
	RUN(a_run_that_the_trace_refused_serves_the_next_single_slots);
	RUN(single_slots_go_through_caches_where_the_rules_have_them);
	RUN(a_call_for_many_slots_is_many_calls_without_slot_cache);
	RUN(a_slot_that_the_rules_do_not_have_is_counted);
	RUN(the_devices_may_be_smaller_than_those_of_the_trace);
	RUN(neighbours_and_sequences_are_those_of_the_tasks);
	RUN(tasks_of_an_owner_share_a_cluster);
	RUN(samples_count_clusters_by_list);
	RUN(a_row_that_cannot_be_replayed_is_refused);
	RUN(each_failed_allocation_is_reported);
	return 0;
}
