/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_clusters.c - any devices and any row of switches, and calls on them that a few tasks run
 * point by point, with frees, discards and cached slots in between where the locks allow them.
 */
#include "input.h"

#include "swapsim/clusters.h"

enum {
	TASKS = 3,
	DEVICES = 3,
	/* Verification takes time in proportion to the slots, so large devices are left out. */
	SLOTS = 600,
	/* Maximum number of points: a call without a free slot may visit every cluster. */
	EFFORT = 1 << 14,
};

struct bench {
	struct input *input;
	struct sws_clusters_config config;
	struct sws_clusters_device devices[DEVICES];
	struct sws_clusters *clusters;
	struct sws_clusters_call calls[TASKS];
	bool open[TASKS];
	uint32_t effort;
};

static void draw_rules(struct input *input, struct sws_cluster_rules *rules)
{
	bool *const switches[] = {
		&rules->columns,         &rules->large_from_free_only,
		&rules->nonfull_first,   &rules->frag_all,
		&rules->isolates,        &rules->trylock,
		&rules->shared_next,     &rules->full_before_frag,
		&rules->turns_each_call, &rules->checks_own,
		&rules->credit_first,    &rules->ends_at_device,
		&rules->global_next,     &rules->discards_in_device,
		&rules->slot_cache,
	};

	if (sws_cluster_rules_init((enum sws_cluster_rule_set)input_below(input, 5), rules))
		for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); i++)
			*switches[i] = input_bit(input);
}

static void draw_config(struct bench *self)
{
	struct sws_clusters_config *config = &self->config;
	struct input *input = self->input;

	sws_clusters_config_init(config);
	draw_rules(input, &config->rules);
	config->cluster_size = input_or(input, UINT32_C(4) << input_below(input, 4));
	config->trunk_shift = input_or(input, 6);
	config->cpus = input_or(input, 2);
	config->n_devices = 1 + input_below(input, DEVICES);
	config->devices = self->devices;
	for (uint32_t i = 0; i < config->n_devices; i++)
		self->devices[i] = (struct sws_clusters_device){
			.slots = input_below(input, SLOTS),
			.priority = (int32_t)input_below(input, 3),
			.file = input_bit(input),
			.rotational = input_bit(input) && input_bit(input),
			.discard = input_bit(input),
		};
}

static void verify(const struct bench *self)
{
	const char *reason = NULL;

	MUST(sws_clusters_verify(self->clusters, &reason) == SWS_OK);
}

/* Returns whether another task holds the cluster of a slot. */
static bool is_held(const struct bench *self, uint32_t device, uint32_t slot)
{
	for (uint32_t i = 0; i < TASKS; i++) {
		const struct sws_clusters_call *call = &self->calls[i];

		if (self->open[i] && call->visiting != UINT32_MAX && call->device == device &&
		    call->start / self->config.cluster_size == slot / self->config.cluster_size)
			return true;
	}
	return false;
}

/* Takes the next point of a task's call, or begins its next call. */
static void lead(struct bench *self, uint32_t task)
{
	struct sws_clusters_call *call = &self->calls[task];
	struct sws_clusters_point point;

	if (!self->open[task]) {
		self->open[task] = !sws_clusters_call_begin(
			self->clusters, input_below(self->input, 3), input_below(self->input, 11),
			input_or(self->input, 1), call);
		return;
	}
	sws_clusters_call_next(self->clusters, call);
	point = call->point;
	/* The own cluster of a CPU may be locked: then the task waits. */
	if (point.op == SWS_CLUSTER_VISIT && call->picked == UINT32_MAX &&
	    is_held(self, point.device, point.slot)) {
		sws_clusters_call_abandon(self->clusters, call);
		self->open[task] = false;
		return;
	}
	if (point.op == SWS_CLUSTER_GRANT)
		MUST(sws_clusters_can_apply(self->clusters, &point));
	sws_clusters_call_apply(self->clusters, call, &point);
	self->open[task] = point.op != SWS_CLUSTER_DONE;
	self->effort++;
}

static void change(struct bench *self, uint8_t operation)
{
	const uint32_t device = input_below(self->input, DEVICES + 1);
	const uint32_t slot = input_below(self->input, SLOTS);
	const uint32_t n = input_or(self->input, 1);

	if (is_held(self, device, slot))
		return;
	switch (operation % 4) {
	case 0:
		(void)sws_clusters_set_cached(self->clusters, device, slot, n,
					      input_bit(self->input));
		break;
	case 1:
		(void)sws_clusters_discard(self->clusters, device);
		break;
	default:
		(void)sws_clusters_free_slots(self->clusters, device, slot, n);
	}
}

/* With si->lock held for a whole call, no other task runs within it. */
static bool is_atomic(const struct bench *self)
{
	return !self->config.rules.isolates;
}

static void run(struct bench *self)
{
	while (self->input->left && self->effort < EFFORT) {
		const uint8_t operation = input_byte(self->input);

		if (operation & 64)
			change(self, operation);
		else
			lead(self, operation % TASKS);
		while (is_atomic(self) && self->open[operation % TASKS] && self->effort < EFFORT)
			lead(self, operation % TASKS);
		verify(self);
	}
	for (uint32_t i = 0; i < TASKS; i++)
		if (self->open[i])
			sws_clusters_call_abandon(self->clusters, &self->calls[i]);
	verify(self);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { .bytes = data, .left = size };
	struct scarce memory = scarce_memory(&input);
	struct sws_allocator seam = scarce_seam(&memory);
	struct bench bench = { .input = &input };

	draw_config(&bench);
	bench.config.allocator = &seam;
	if (sws_clusters_new(&bench.config, &bench.clusters) == SWS_OK)
		run(&bench);
	sws_clusters_free(bench.clusters);
	MUST(memory.held == 0);
	return 0;
}
