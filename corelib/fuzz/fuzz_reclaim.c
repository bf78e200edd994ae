/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_reclaim.c - a reclaim simulation with any configuration and any costs: it is rejected with a
 * problem, or it runs for a while with two different splits into calls, which must give the same
 * result; no event takes long.
 */
#include "input.h"

#include "swapsim/reclaim.h"

enum { STEPS = 300, STEP_WORK = 50, FILES = 2 };

static void draw_costs(struct sws_reclaim_costs *costs, struct input *input)
{
	uint64_t *const each = (uint64_t *)costs;

	for (size_t i = 0; i < sizeof(*costs) / sizeof(*each); i++)
		each[i] = input_or64(input, 500 * (i + 1));
}

static void draw_memory(struct sws_reclaim_config *config, struct input *input)
{
	config->rules = (enum sws_stall_set)input_below(input, SWS_STALL_6_1 + 2);
	config->dma32_pages = input_or(input, 300);
	config->normal_pages = input_or(input, 400);
	config->program_pages = input_or(input, 0);
	config->program_interval_ns = input_or64(input, 0);
	config->working_pages = input_or(input, 100);
	config->working_interval_ns = input_or64(input, 20000000);
	config->executable_percent = input_or(input, 100);
	config->read_around_pages = input_or(input, 32);
	config->cached_pages = input_or(input, 0);
	config->cached_normal_percent = input_or(input, 100);
	config->min_free_pages = input_or(input, 24);
	config->reserve_ratio = input_or(input, 64);
	config->swappiness = input_or(input, 60);
	config->swap_pages = input_or(input, 600);
	config->readahead_shift = input_or(input, 3);
	config->dirty_percent = input_or(input, 20);
	config->background_percent = input_or(input, 10);
	config->flush_interval_ns = input_or64(input, 10000000);
	config->flush_age_ns = input_or64(input, 100000000);
}

static void draw_devices(struct sws_reclaim_config *config, struct input *input)
{
	config->disk_pages = input_or(input, 5000);
	config->disk_rate = input_or64(input, 5000);
	config->seek_near_ns = input_or64(input, 500000);
	config->seek_far_ns = input_or64(input, 4000000);
	config->nr_requests = input_or(input, 16);
	config->request_pages = input_or(input, 16);
	config->delays_allocation = input_bit(input);
	config->nfs = input_bit(input);
	config->net_rate = input_or64(input, 5000);
	config->server_rate = input_or64(input, 2000);
	config->server_seek_ns = input_or64(input, 1000000);
	config->write_pages = input_or(input, 16);
}

static void draw_tasks(struct sws_reclaim_config *config, struct input *input, uint32_t *files)
{
	config->items = input_or(input, 110);
	config->item_pages = input_or(input, 5);
	config->set_percent = input_or(input, 33);
	config->gap_ns = input_or64(input, 0);
	config->start_used_pages = input_or(input, 0);
	config->start_look_ns = input_or64(input, 1000000);
	config->write_delay_ns = input_or64(input, 0);
	config->serve_ns = input_or64(input, 50000000);
	config->rounds = input_or(input, FILES) % (FILES + 1);
	config->seed = input_number(input);
	config->file_pages = files;
	for (uint32_t i = 0; i < FILES; i++)
		files[i] = input_or(input, 150 + 250 * i);
}

static uint64_t event_work_max(const struct sws_reclaim_config *config)
{
	const uint64_t turns = ((uint64_t)config->dma32_pages + config->normal_pages) / 8;

	return turns > SWS_RECLAIM_EVENT_WORK_MAX ? turns : SWS_RECLAIM_EVENT_WORK_MAX;
}

/* Runs one simulation for a while, and the other one to the same time. */
static void run_both(const struct sws_reclaim_config *config, struct sws_reclaim *one,
		     struct sws_reclaim *other)
{
	const char *reason = NULL;
	bool more = true;

	for (uint32_t step = 0; step < STEPS && more; step++) {
		MUST(sws_reclaim_run(one, UINT64_MAX, STEP_WORK, &more) == SWS_OK);
		MUST(sws_reclaim_work(one) < STEP_WORK + event_work_max(config));
		if (config->dma32_pages + config->normal_pages < 1 << 12)
			MUST(sws_reclaim_verify(one, &reason) == SWS_OK);
	}
	more = true;
	while (more && sws_reclaim_events(other) < sws_reclaim_events(one))
		MUST(sws_reclaim_run(other, UINT64_MAX, 1, &more) == SWS_OK);
	MUST(sws_reclaim_events(other) == sws_reclaim_events(one));
	MUST(sws_reclaim_digest(other) == sws_reclaim_digest(one));
	MUST(sws_reclaim_verify(other, &reason) == SWS_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { .bytes = data, .left = size };
	struct scarce memory = scarce_memory(&input);
	struct sws_allocator seam = scarce_seam(&memory);
	struct sws_reclaim_config config;
	struct sws_reclaim *one = NULL;
	struct sws_reclaim *other = NULL;
	uint32_t files[FILES];
	int error = SWS_OK;

	sws_reclaim_config_init(&config);
	draw_costs(&config.costs, &input);
	draw_memory(&config, &input);
	draw_devices(&config, &input);
	draw_tasks(&config, &input, files);
	config.allocator = &seam;
	error = sws_reclaim_new(&config, &one);
	MUST((error == SWS_ERROR_BAD_CONFIG) ==
	     (sws_reclaim_check(&config) != SWS_RECLAIM_NO_PROBLEM));
	if (!error && sws_reclaim_new(&config, &other) == SWS_OK)
		run_both(&config, one, other);
	sws_reclaim_free(other);
	sws_reclaim_free(one);
	MUST(memory.held == 0);
	return 0;
}
