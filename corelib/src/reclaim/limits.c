/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reclaim/limits.c - the defaults and the checks of a configuration. */
#include "reclaim/reclaim.h"

#include <stddef.h>
#include <string.h>

#define SECOND_NS         UINT64_C(1000000000)
#define LONGEST_NS        (1000000 * SECOND_NS)
#define REQUEST_PAGES_MAX 65536

/* The range of a field, its place in the configuration, and the problem of a value outside. */
struct field_range {
	struct sws_reclaim_range range;
	size_t offset;
	size_t size;
	enum sws_reclaim_problem problem;
};

#define RANGE(field, low, high, problem)                                                           \
	{ { #field, (low), (high) },                                                               \
	  offsetof(struct sws_reclaim_config, field),                                              \
	  sizeof(((struct sws_reclaim_config *)NULL)->field),                                      \
	  (problem) }

static const struct field_range RANGES[] = {
	RANGE(dma32_pages, 1, SWS_RECLAIM_PAGES_MAX, SWS_RECLAIM_NO_MEMORY),
	RANGE(normal_pages, 0, SWS_RECLAIM_PAGES_MAX, SWS_RECLAIM_NO_MEMORY),
	RANGE(program_pages, 0, SWS_RECLAIM_KEPT_MAX, SWS_RECLAIM_NO_MEMORY),
	RANGE(program_interval_ns, 0, LONGEST_NS, SWS_RECLAIM_BAD_TIME),
	RANGE(working_pages, 0, SWS_RECLAIM_KEPT_MAX, SWS_RECLAIM_NO_MEMORY),
	RANGE(working_interval_ns, 0, LONGEST_NS, SWS_RECLAIM_BAD_TIME),
	RANGE(executable_percent, 0, 100, SWS_RECLAIM_BAD_SHARE),
	RANGE(read_around_pages, 1, SWS_RECLAIM_READ_AROUND_MAX, SWS_RECLAIM_BAD_DISK),
	RANGE(cached_pages, 0, SWS_RECLAIM_KEPT_MAX, SWS_RECLAIM_NO_MEMORY),
	RANGE(cached_normal_percent, 0, 100, SWS_RECLAIM_BAD_SHARE),
	RANGE(min_free_pages, 0, SWS_RECLAIM_SPAN_MAX, SWS_RECLAIM_WATERMARKS_ABOVE_MEMORY),
	RANGE(reserve_ratio, 1, UINT64_C(1) << 31, SWS_RECLAIM_NO_MEMORY),
	RANGE(swappiness, 0, 100, SWS_RECLAIM_BAD_SHARE),
	RANGE(swap_pages, 0, SWS_RECLAIM_SPAN_MAX, SWS_RECLAIM_BAD_SWAP),
	RANGE(readahead_shift, 0, 5, SWS_RECLAIM_BAD_SWAP),
	RANGE(dirty_percent, 1, 100, SWS_RECLAIM_BAD_SHARE),
	RANGE(background_percent, 1, 100, SWS_RECLAIM_BAD_SHARE),
	RANGE(flush_interval_ns, 1, LONGEST_NS, SWS_RECLAIM_BAD_TIME),
	RANGE(flush_age_ns, 1, LONGEST_NS, SWS_RECLAIM_BAD_TIME),
	RANGE(disk_pages, 1, SWS_RECLAIM_SPAN_MAX, SWS_RECLAIM_BAD_DISK),
	RANGE(disk_rate, 1, SECOND_NS, SWS_RECLAIM_BAD_DISK),
	RANGE(seek_near_ns, 0, SECOND_NS, SWS_RECLAIM_BAD_TIME),
	RANGE(seek_far_ns, 0, SECOND_NS, SWS_RECLAIM_BAD_TIME),
	RANGE(nr_requests, 1, SWS_RECLAIM_REQUESTS_MAX, SWS_RECLAIM_BAD_DISK),
	RANGE(request_pages, 1, REQUEST_PAGES_MAX, SWS_RECLAIM_BAD_DISK),
	RANGE(net_rate, 1, SECOND_NS, SWS_RECLAIM_BAD_SERVER),
	RANGE(server_rate, 1, SECOND_NS, SWS_RECLAIM_BAD_SERVER),
	RANGE(server_seek_ns, 1, SECOND_NS, SWS_RECLAIM_BAD_SERVER),
	RANGE(write_pages, 1, REQUEST_PAGES_MAX, SWS_RECLAIM_BAD_SERVER),
	RANGE(items, 1, SWS_RECLAIM_SPAN_MAX, SWS_RECLAIM_BAD_POOL),
	RANGE(item_pages, 1, 64, SWS_RECLAIM_BAD_POOL),
	RANGE(set_percent, 0, 100, SWS_RECLAIM_BAD_SHARE),
	RANGE(gap_ns, 0, LONGEST_NS, SWS_RECLAIM_BAD_TIME),
	RANGE(start_used_pages, 0, SWS_RECLAIM_SPAN_MAX, SWS_RECLAIM_BAD_START),
	RANGE(start_look_ns, 1, LONGEST_NS, SWS_RECLAIM_BAD_TIME),
	RANGE(write_delay_ns, 0, LONGEST_NS, SWS_RECLAIM_BAD_TIME),
	RANGE(serve_ns, 1, LONGEST_NS, SWS_RECLAIM_BAD_ROUNDS),
	RANGE(rounds, 1, SWS_RECLAIM_ROUNDS_MAX, SWS_RECLAIM_BAD_ROUNDS),
	RANGE(seed, 0, UINT64_MAX, SWS_RECLAIM_NO_PROBLEM),
};

const struct sws_reclaim_range *sws_reclaim_range_of(uint32_t number)
{
	return number < sizeof(RANGES) / sizeof(*RANGES) ? &RANGES[number].range : NULL;
}

void sws_reclaim_config_init(struct sws_reclaim_config *config)
{
	*config = (struct sws_reclaim_config){
		.rules = SWS_STALL_3_9,
		.dma32_pages = 786432,
		.normal_pages = 1048576,
		.working_interval_ns = 80 * SECOND_NS,
		.executable_percent = 100,
		.read_around_pages = 32,
		.cached_normal_percent = 100,
		.min_free_pages = 16896,
		.reserve_ratio = 256,
		.swappiness = 60,
		.swap_pages = 2097152,
		.readahead_shift = 3,
		.dirty_percent = 20,
		.background_percent = 10,
		.flush_interval_ns = 5 * SECOND_NS,
		.flush_age_ns = 30 * SECOND_NS,
		.disk_pages = 16777216,
		.disk_rate = 30720,
		.seek_near_ns = 4000000,
		.seek_far_ns = 16000000,
		.nr_requests = 128,
		.request_pages = 128,
		.delays_allocation = true,
		.net_rate = 29440,
		.server_rate = 15360,
		.server_seek_ns = 8000000,
		.write_pages = 256,
		.items = 298844,
		.item_pages = 5,
		.set_percent = 33,
		.start_look_ns = 2 * SECOND_NS,
		.serve_ns = 200 * SECOND_NS,
		.rounds = 1,
	};
}

bool sws_reclaim_knows(enum sws_stall_set rules)
{
	return (unsigned int)rules < SWS_STALL_6_1;
}

uint32_t sws_reclaim__largest_file(const struct sws_reclaim_config *config)
{
	uint32_t largest = 0;

	for (uint32_t i = 0; config->file_pages && i < config->rounds; i++)
		if (config->file_pages[i] > largest)
			largest = config->file_pages[i];
	return largest;
}

/* 16 times the square root of memory in KB: 86 MB for 7 GB; at most 256 MB. */
uint32_t sws_reclaim__nfs_congestion(const struct sws_reclaim_config *config)
{
	const uint64_t pages = (uint64_t)config->dma32_pages + config->normal_pages;
	uint32_t root = 0;

	while (root < 4096 && (root + UINT64_C(1)) * (root + UINT64_C(1)) <= pages)
		root++;
	return root * 16;
}

/* Returns the value of a field of 4 or 8 bytes. */
static uint64_t value_of(const struct sws_reclaim_config *config, const struct field_range *field)
{
	const char *place = (const char *)config + field->offset;
	uint64_t wide = 0;
	uint32_t narrow = 0;

	if (field->size == sizeof(wide)) {
		memcpy(&wide, place, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, place, sizeof(narrow));
	return narrow;
}

/* Returns the problem of the first field that is out of its range, or NO_PROBLEM. */
static enum sws_reclaim_problem check_ranges(const struct sws_reclaim_config *config)
{
	for (size_t i = 0; i < sizeof(RANGES) / sizeof(*RANGES); i++) {
		const uint64_t value = value_of(config, &RANGES[i]);

		if (value < RANGES[i].range.low || value > RANGES[i].range.high)
			return RANGES[i].problem;
	}
	return SWS_RECLAIM_NO_PROBLEM;
}

static bool costs_fit(const struct sws_reclaim_costs *costs)
{
	uint64_t each[sizeof(*costs) / sizeof(uint64_t)];

	memcpy(each, costs, sizeof(*costs));
	for (size_t i = 0; i < sizeof(each) / sizeof(*each); i++)
		if (!each[i] || each[i] > SWS_RECLAIM_COST_MAX)
			return false;
	return true;
}

/* Returns true if the high marks and the reserve of DMA32 leave half of each zone. */
static bool watermarks_fit(const struct sws_reclaim_config *config)
{
	const uint32_t kept = config->normal_pages / config->reserve_ratio;

	return config->min_free_pages <= (config->dma32_pages + config->normal_pages) / 4 &&
	       kept <= config->dma32_pages / 4;
}

/* Returns true if the largest file and the pages of programs fit on the disk's part for files. */
static bool disk_fits(const struct sws_reclaim_config *config)
{
	return (uint64_t)sws_reclaim__largest_file(config) + config->program_pages +
		       config->working_pages <=
	       config->disk_pages;
}

enum sws_reclaim_problem sws_reclaim_check(const struct sws_reclaim_config *config)
{
	const enum sws_reclaim_problem problem = check_ranges(config);

	if (!sws_reclaim_knows(config->rules) &&
	    (config->rules != SWS_STALL_6_1 || config->normal_pages))
		return SWS_RECLAIM_UNKNOWN_RULES;
	if (problem)
		return problem;
	if (config->dma32_pages + config->normal_pages < SWS_RECLAIM_PAGES_MIN)
		return SWS_RECLAIM_NO_MEMORY;
	if (!watermarks_fit(config))
		return SWS_RECLAIM_WATERMARKS_ABOVE_MEMORY;
	if (!costs_fit(&config->costs))
		return SWS_RECLAIM_BAD_COST;
	if (config->background_percent > config->dirty_percent)
		return SWS_RECLAIM_BAD_SHARE;
	if ((uint64_t)config->items * config->item_pages > SWS_RECLAIM_SPAN_MAX)
		return SWS_RECLAIM_BAD_POOL;
	if (sws_reclaim__largest_file(config) > config->disk_pages)
		return SWS_RECLAIM_FILE_ABOVE_DISK;
	if (!disk_fits(config))
		return SWS_RECLAIM_PROGRAMS_ABOVE_DISK;
	if (config->start_used_pages > config->dma32_pages + config->normal_pages)
		return SWS_RECLAIM_BAD_START;
	return config->seek_near_ns <= config->seek_far_ns ? SWS_RECLAIM_NO_PROBLEM
							   : SWS_RECLAIM_BAD_TIME;
}
