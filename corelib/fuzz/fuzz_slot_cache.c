/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_slot_cache.c - gets and puts on any CPU, of any slot. The target knows which slots were handed
 * out: none of them is handed out again, and no other one can be put.
 */
#include "input.h"

#include "swapsim/slot_cache.h"

#include <stdlib.h>

enum {
	SLOTS_MAX = 1 << 14,
	/* Verification takes time in proportion to the device. */
	SMALL = 4096,
	/* Maximum number of slots tested per input. */
	EFFORT = 1 << 22,
};

struct bench {
	struct input *input;
	struct sws_slot_cache_config config;
	struct sws_slot_cache *cache;
	struct sws_slot_cache_work work;
	/* For each slot: true from its get to its put, or to the reclaim of its page. */
	bool *given;
	uint32_t last;
};

static void forget(void *context, uint32_t offset)
{
	struct bench *self = context;

	MUST(self->given[offset]);
	self->given[offset] = false;
}

static void draw_config(struct bench *self)
{
	struct sws_slots_config *device = &self->config.device;
	struct input *input = self->input;

	sws_slot_cache_config_init(&self->config);
	self->config.enabled = !input_bit(input);
	self->config.observer.reclaimed = forget;
	self->config.observer.context = self;
	device->kernel = (enum sws_kernel)input_below(input, 6);
	device->slots = input_or(input, 700);
	device->cluster_size = input_bit(input) ? 512 : 256;
	device->trunk_shift = input_or(input, 9);
	device->rotational = input_bit(input);
	device->possible_cpus = input_or(input, 3);
	device->online_cpus = input_or(input, 2);
	device->address_spaces = input_or(input, 3);
	device->policy = (enum sws_base_policy)input_below(input, SWS_BASE_READER + 1);
	device->seed = input_number(input);
}

static void get(struct bench *self, uint32_t cpu)
{
	const int64_t mm = (int64_t)input_below(self->input, 5) - 1;
	struct sws_slots_call call;
	uint32_t offset = 0;

	if (sws_slot_cache_get(self->cache, cpu, mm, &offset, &call, &self->work) || !offset)
		return;
	MUST(offset < self->config.device.slots && !self->given[offset]);
	self->given[offset] = true;
	self->last = offset;
}

static void put(struct bench *self, uint32_t cpu, uint32_t offset)
{
	const struct sws_slots *device = sws_slot_cache_device(self->cache);
	const bool fits = cpu < self->config.device.online_cpus &&
			  offset < self->config.device.slots && self->given[offset] &&
			  sws_slots_usage(device, offset) == (SWS_SLOT_CACHED | SWS_SLOT_IDLE);

	MUST((sws_slot_cache_put(self->cache, cpu, offset, &self->work) == SWS_OK) == fits);
	if (fits)
		self->given[offset] = false;
}

/* A page comes, is mapped, or goes: of slots that were handed out only. */
static void change(struct bench *self, uint32_t offset, uint8_t operation)
{
	struct sws_slots *device = sws_slot_cache_device(self->cache);
	struct sws_slots_work *work = &self->work.device;
	uint8_t usage = 0;

	if (offset >= self->config.device.slots || !self->given[offset])
		return;
	if (operation % 4 == 0)
		(void)sws_slots_duplicate(device, offset, &usage, work);
	else if (operation % 4 == 1)
		(void)sws_slots_drop(device, offset, &usage, work);
	else if (operation % 4 == 2)
		(void)sws_slots_cache(device, offset, &usage, work);
	else
		(void)sws_slots_uncache(device, offset, &usage, work);
}

static void verify(const struct bench *self)
{
	const char *reason = NULL;

	MUST(sws_slot_cache_verify(self->cache, &reason) == SWS_OK);
}

static void run(struct bench *self)
{
	const struct sws_slots_work *work = &self->work.device;

	while (self->input->left && work->tested_scan + work->tested_quick < EFFORT) {
		const uint8_t operation = input_byte(self->input);
		const uint32_t cpu = input_or(self->input, operation & 1);
		const uint32_t offset = input_or(self->input, self->last);

		/* Many at a time, so that the caches are filled, flushed and stopped. */
		for (uint32_t i = 0; operation & 128 && i < 64; i++)
			get(self, cpu);
		if (operation & 64)
			put(self, cpu, offset);
		else if (operation & 32)
			change(self, offset, operation);
		else
			get(self, cpu);
		if (self->config.device.slots <= SMALL)
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
	bench.config.device.allocator = &seam;
	bench.given = calloc(SLOTS_MAX, sizeof(*bench.given));
	MUST(bench.given);
	if (bench.config.device.slots <= SLOTS_MAX &&
	    sws_slot_cache_new(&bench.config, &bench.cache) == SWS_OK)
		run(&bench);
	sws_slot_cache_free(bench.cache);
	free(bench.given);
	MUST(memory.held == 0);
	return 0;
}
