/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_slots.c - any device, and calls on it that a few tasks run part by part, with frees and
 * changes of use in between, and with a policy that returns invalid values.
 */
#include "input.h"

#include "swapsim/slots.h"

enum {
	TASKS = 4,
	/*
	 * Verification takes time in proportion to the device, so a large one is verified at the
	 * end only.
	 */
	SMALL = 4096,
	/*
	 * Maximum number of slots tested per input: a full device may need as many for each slot.
	 */
	EFFORT = 1 << 22,
};

struct bench {
	struct input *input;
	struct sws_slots_config config;
	struct sws_slots *device;
	struct sws_slots_call calls[TASKS];
	bool open[TASKS];
	struct sws_slots_work work;
};

/* A user's policy may return a value that is not a slot. */
static int64_t answer_nonsense(int64_t cpu, int64_t mm, int64_t base, int64_t next, int64_t lowest,
			       int64_t highest, int64_t trunk_size, int64_t draw,
			       const int64_t *bases, int64_t n_bases, int64_t *looked_at)
{
	const int64_t answers[] = { next,      base, lowest,   highest,        INT64_MIN,
				    INT64_MAX, 0,    cpu - mm, trunk_size + 1, highest + 2 };

	(*looked_at)++;
	return answers[(uint64_t)(draw ^ bases[n_bases - 1]) % 10];
}

static void draw_config(struct bench *self)
{
	struct sws_slots_config *config = &self->config;
	struct input *input = self->input;

	sws_slots_config_init(config);
	config->kernel = (enum sws_kernel)input_below(input, 6);
	config->slots = input_or(input, 700);
	config->cluster_size = input_or(input, input_bit(input) ? 512 : 256);
	config->trunk_shift = input_or(input, 9);
	config->rotational = input_bit(input);
	config->possible_cpus = input_or(input, 3);
	config->online_cpus = input_or(input, 2);
	config->address_spaces = input_or(input, 3);
	config->policy = (enum sws_base_policy)input_below(input, SWS_BASE_READER + 2);
	config->reader = (struct sws_base_ops){
		.base_of = (enum sws_base_of)input_below(input, 4),
		.initial = (enum sws_base_initial)input_below(input, 7),
		.store = input_or(input, 1) ? answer_nonsense : NULL,
	};
	config->seed = input_number(input);
}

static bool is_cached(struct bench *self, uint32_t offset)
{
	return sws_slots_usage(self->device, offset) & SWS_SLOT_CACHED;
}

/* Runs one part of a task's call, or begins its next call. */
static void lead(struct bench *self, uint32_t task)
{
	struct sws_slots_call *call = &self->calls[task];
	const uint32_t cpu = task % self->config.online_cpus;

	if (!self->open[task]) {
		const int64_t mm = (int64_t)input_below(self->input, 5) - 1;

		self->open[task] = !sws_slots_call_begin(self->device, mm, input_or(self->input, 8),
							 call, &self->work);
	} else if (call->state == SWS_CALL_RECLAIM) {
		bool freed = input_bit(self->input) && is_cached(self, call->offset);

		freed = freed &&
			!sws_slots_free_entries(self->device, &call->offset, 1, &self->work);
		MUST(!sws_slots_call_reclaimed(call, freed));
	} else {
		MUST(!sws_slots_call_next(self->device, cpu, call, &self->work));
	}
	self->open[task] = self->open[task] && call->state < SWS_CALL_DONE;
}

static void change(struct bench *self, uint8_t operation)
{
	struct sws_slots *device = self->device;
	const uint32_t offset = input_bit(self->input)
					? input_number32(self->input)
					: input_below(self->input, self->config.slots);
	uint8_t usage = 0;

	switch (operation % 6) {
	case 0:
		(void)sws_slots_duplicate(device, offset, &usage, &self->work);
		break;
	case 1:
		(void)sws_slots_drop(device, offset, &usage, &self->work);
		break;
	case 2:
		(void)sws_slots_cache(device, offset, &usage, &self->work);
		break;
	case 3:
		(void)sws_slots_uncache(device, offset, &usage, &self->work);
		break;
	case 4:
		(void)sws_slots_free_entries(device, &offset, 1, &self->work);
		break;
	default:
		(void)sws_slots_set_base(device, input_below(self->input, 9), offset);
	}
}

static void verify(const struct bench *self)
{
	const char *reason = NULL;

	MUST(sws_slots_verify(self->device, &reason) == SWS_OK);
}

static void run(struct bench *self)
{
	while (self->input->left && self->work.tested_scan + self->work.tested_quick < EFFORT) {
		const uint8_t operation = input_byte(self->input);

		if (operation & 64)
			change(self, operation);
		else
			lead(self, operation % TASKS);
		if (self->config.slots <= SMALL)
			verify(self);
	}
	verify(self);
	MUST(self->work.given >= self->work.freed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { .bytes = data, .left = size };
	struct scarce memory = scarce_memory(&input);
	struct sws_allocator seam = scarce_seam(&memory);
	struct bench bench = { .input = &input };

	draw_config(&bench);
	bench.config.allocator = &seam;
	if (sws_slots_new(&bench.config, &bench.device) == SWS_OK)
		run(&bench);
	sws_slots_free(bench.device);
	MUST(memory.held == 0);
	return 0;
}
