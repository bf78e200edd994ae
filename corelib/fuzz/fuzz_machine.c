/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_machine.c - a machine with any configuration and any costs, run for a while with two
 * different splits into calls, which must give the same result.
 */
#include "input.h"

#include "swapsim/machine.h"

#include <string.h>

enum { REQUESTS = 32, EVENTS = 3000 };

static void draw_costs(struct sws_machine_costs *costs, struct input *input)
{
	uint64_t *const each = (uint64_t *)costs;

	for (size_t i = 0; i < sizeof(*costs) / sizeof(*each); i++)
		each[i] = input_or64(input, 10 * (i + 1));
}

static void draw_config(struct sws_machine_config *config, struct input *input)
{
	sws_machine_config_init(config);
	draw_costs(&config->costs, input);
	config->device.kernel = (enum sws_kernel)input_below(input, 6);
	config->device.slots = input_or(input, 1 << 13);
	config->device.cluster_size = input_or(input, 256);
	config->device.trunk_shift = input_or(input, 10);
	config->device.rotational = input_bit(input);
	config->device.policy = (enum sws_base_policy)input_below(input, SWS_BASE_READER + 2);
	config->device.seed = input_number(input);
	config->swap_writeback_tags = (enum sws_machine_tags)input_below(input, 4);
	config->removal = (enum sws_removal_mode)input_below(input, 3);
	config->list_pages = input_or(input, SWS_MACHINE_LIST_PAGES);
	config->slot_cache = input_bit(input);
	config->lock_kind = (enum sws_lock_kind)input_below(input, 4);
	config->nodes = input_or(input, 1);
	config->devices = input_or(input, 1);
	config->channels = input_or(input, input_below(input, 3));
	config->writers = input_or(input, input_below(input, 3));
	config->walkers = input_or(input, input_below(input, 3));
	config->streams = input_or(input, 0);
	config->frames = input_or(input, 4096);
	config->pages = input_or(input, 2500);
	config->shares_memory = input_bit(input);
	config->memory_max = input_or(input, 0);
	config->accesses = input_or(input, 0);
	config->drop_percent = input_or(input, 0);
	config->read_percent = input_or(input, 80);
	config->spread_percent = input_or(input, 50);
	config->fragmented = input_bit(input);
}

static void draw_requests(struct sws_machine_config *config, struct sws_machine_request *requests,
			  struct input *input)
{
	for (uint32_t row = 0; row < REQUESTS; row++)
		requests[row] = (struct sws_machine_request){
			.stream = input_or(input, row * config->streams / REQUESTS),
			.mm = (int32_t)(input_or(input, 0) - 1),
			.page = input_or(input, row / 2),
			.put = input_bit(input) ^ (row & 1),
		};
	config->requests = requests;
	config->n_requests = input_or(input, REQUESTS) % (REQUESTS + 1);
}

/* Runs so many events, a few at a time, and returns their number. */
static uint64_t run(struct sws_machine *machine, uint64_t at_a_time)
{
	const char *reason = NULL;
	uint64_t events = 0;
	bool more = true;

	while (more && events < EVENTS) {
		const uint64_t before = events;
		const uint64_t most = EVENTS - events < at_a_time ? EVENTS - events : at_a_time;

		const int error = sws_machine_run(machine, UINT64_MAX, most, &more, &events);

		MUST(!error || error == SWS_ERROR_NO_MEMORY);
		if (error)
			return 0;
		MUST(events <= EVENTS && (events > before || !more));
	}
	MUST(sws_machine_verify(machine, &reason) == SWS_OK);
	return events;
}

static void must_be_alike(const struct sws_machine *one, const struct sws_machine *other)
{
	MUST(sws_machine_now(one) == sws_machine_now(other));
	for (uint32_t cpu = 0; cpu < sws_machine_cpus(one); cpu++) {
		const struct sws_machine_cpu a = sws_machine_cpu_of(one, cpu);
		const struct sws_machine_cpu b = sws_machine_cpu_of(other, cpu);

		MUST(a.pages_out == b.pages_out && a.pages_in == b.pages_in);
		MUST(a.accesses == b.accesses && a.reclaimed == b.reclaimed);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { .bytes = data, .left = size };
	struct scarce memory = scarce_memory(&input);
	struct sws_allocator seam = scarce_seam(&memory);
	struct sws_machine_request requests[REQUESTS];
	struct sws_machine_config config;
	struct sws_machine *machine = NULL;
	struct sws_machine *twin = NULL;

	draw_config(&config, &input);
	config.allocator = &seam;
	if (config.streams)
		draw_requests(&config, requests, &input);
	if (sws_machine_new(&config, &machine) == SWS_OK &&
	    sws_machine_new(&config, &twin) == SWS_OK) {
		const uint64_t ran = run(machine, EVENTS);
		const uint64_t ran_twin = run(twin, input_below(&input, EVENTS) + 1);

		/* 0: without memory the machine stops where it is. */
		if (ran && ran_twin)
			must_be_alike(machine, twin);
	}
	sws_machine_free(twin);
	sws_machine_free(machine);
	MUST(memory.held == 0);
	return 0;
}
