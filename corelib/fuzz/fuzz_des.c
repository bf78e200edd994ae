/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_des.c - any CPUs and locks, and any call for any CPU, whether it fits or not: the clock never
 * goes back, and a call that is refused changes nothing.
 */
#include "input.h"

#include "swapsim/des.h"

enum {
	/* Verification takes time in proportion to the CPUs, so many are verified at the end only. */
	FEW = 64,
	LOCKS = 64,
};

struct bench {
	struct input *input;
	struct sws_des_config config;
	struct sws_des *des;
	uint32_t locks;
	/* The CPU whose event was taken last. */
	uint32_t cpu;
};

static void draw_config(struct bench *self)
{
	struct sws_des_config *config = &self->config;
	struct input *input = self->input;

	sws_des_config_init(config);
	config->cpus = input_or(input, 5);
	config->cpus_per_core = input_or(input, 2);
	config->cpus_per_socket = input_or(input, 4);
	config->sites = input_or(input, 3);
	config->travel_same_core_ns = input_or64(input, 5);
	config->travel_same_socket_ns = input_or64(input, 30);
	config->travel_other_socket_ns = input_or64(input, 90);
	config->irq_save_ns = input_or64(input, 7);
	config->hand_off_ways = input_or(input, 3);
	config->contended_ns = input_or64(input, 20);
}

static void take_next(struct bench *self)
{
	const uint64_t before = sws_des_now(self->des);
	uint64_t time = before;
	const bool some = sws_des_peek(self->des, &time);

	MUST(sws_des_next(self->des, &self->cpu) == some);
	MUST(time >= before && sws_des_now(self->des) == time);
}

/* Lets all CPUs that can request a lock: the hand-over of some locks takes as long as they are many. */
static void crowd(struct bench *self, uint32_t lock, uint32_t site)
{
	for (uint32_t cpu = 0; cpu < self->config.cpus; cpu++)
		(void)sws_des_lock(self->des, cpu, lock, site, cpu & 1);
}

/* Returns the code of a call for any CPU, most often of that of the last event. */
static int call(struct bench *self, uint8_t operation)
{
	struct input *input = self->input;
	const uint32_t cpu = input_or(input, self->cpu);
	const uint32_t lock = input_or(input, self->locks ? input_below(input, self->locks) : 0);
	const uint32_t site = input_or(input, 0);
	uint32_t first = 0;
	int error = SWS_OK;

	switch (operation % 7) {
	case 0:
		return sws_des_run(self->des, cpu, input_or64(input, 100));
	case 1:
		return sws_des_lock(self->des, cpu, lock, site, input_bit(input));
	case 2:
		return sws_des_unlock(self->des, cpu, lock);
	case 3:
		first = input_below(input, self->config.cpus);
		return sws_des_interrupt(self->des, cpu, first,
					 input_or64(input, sws_des_interrupts_on(self->des, first)),
					 site);
	case 4:
		return sws_des_hasten(self->des, cpu);
	case 5:
		crowd(self, lock, site);
		return SWS_OK;
	default:
		if (self->locks >= LOCKS)
			return SWS_OK;
		error = sws_des_add_locks(self->des, (enum sws_lock_kind)input_below(input, 4),
					  input_below(input, LOCKS / 2), &first);
		self->locks = error ? self->locks : first + 1;
		return error;
	}
}

static uint64_t digest(const struct bench *self)
{
	uint64_t sum = sws_des_now(self->des);

	for (uint32_t site = 0; site < 8; site++) {
		const struct sws_des_site costs = sws_des_site_of(self->des, site);

		sum = sum * 31 + costs.acquisitions + costs.wait_ns + costs.hold_ns;
	}
	return sum;
}

static void verify(const struct bench *self)
{
	const char *reason = NULL;

	MUST(sws_des_verify(self->des, &reason) == SWS_OK);
}

static void run(struct bench *self)
{
	while (self->input->left) {
		const uint8_t operation = input_byte(self->input);
		const uint64_t before = digest(self);

		if (operation & 64)
			take_next(self);
		else if (call(self, operation))
			MUST(digest(self) == before);
		if (self->config.cpus <= FEW)
			verify(self);
	}
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
	if (sws_des_new(&bench.config, &bench.des) == SWS_OK)
		run(&bench);
	sws_des_free(bench.des);
	MUST(memory.held == 0);
	return 0;
}
