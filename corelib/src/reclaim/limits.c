/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reclaim/limits.c - the defaults and the checks of a configuration. */
#include "reclaim/limits.h"

#include <string.h>

enum { LONGEST_S = 1000000, ITEM_PAGES_MAX = 64, READAHEAD_MAX = 5, REQUEST_PAGES_MAX = 65536 };
static const uint64_t SECOND_NS = 1000000000;

void sws_reclaim_config_init(struct sws_reclaim_config *config)
{
	*config = (struct sws_reclaim_config){
		.rules = SWS_STALL_3_9,
		.dma32_pages = 786432,
		.normal_pages = 1048576,
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
		.sync_turn_ns = 100000000,
		.async_turn_ns = 40000000,
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
		.serve_ns = 200 * SECOND_NS,
		.rounds = 1,
		.hz = 1000,
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

static bool server_fits(const struct sws_reclaim_config *config)
{
	return config->net_rate && config->net_rate <= SECOND_NS && config->server_rate &&
	       config->server_rate <= SECOND_NS && config->server_seek_ns &&
	       config->server_seek_ns <= SECOND_NS && config->write_pages &&
	       config->write_pages <= REQUEST_PAGES_MAX;
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

static bool memory_fits(const struct sws_reclaim_config *config)
{
	return config->dma32_pages && config->dma32_pages <= SWS_RECLAIM_PAGES_MAX &&
	       config->normal_pages <= SWS_RECLAIM_PAGES_MAX && config->reserve_ratio &&
	       config->cached_pages <= SWS_RECLAIM_KEPT_MAX &&
	       config->program_pages <= SWS_RECLAIM_KEPT_MAX &&
	       config->dma32_pages + config->normal_pages >= SWS_RECLAIM_PAGES_MIN;
}

/* Returns true if the high marks and the reserve of DMA32 leave half of each zone. */
static bool watermarks_fit(const struct sws_reclaim_config *config)
{
	const uint32_t kept = config->normal_pages / config->reserve_ratio;

	return config->min_free_pages <= (config->dma32_pages + config->normal_pages) / 4 &&
	       kept <= config->dma32_pages / 4;
}

static bool shares_fit(const struct sws_reclaim_config *config)
{
	return config->swappiness <= 100 && config->set_percent <= 100 &&
	       config->background_percent >= 1 && config->dirty_percent <= 100 &&
	       config->background_percent <= config->dirty_percent;
}

static bool disk_fits(const struct sws_reclaim_config *config)
{
	return config->disk_rate && config->disk_rate <= SECOND_NS && config->disk_pages &&
	       config->disk_pages <= SWS_RECLAIM_SPAN_MAX && config->nr_requests &&
	       config->nr_requests <= SWS_RECLAIM_REQUESTS_MAX && config->request_pages &&
	       config->request_pages <= REQUEST_PAGES_MAX;
}

static bool pool_fits(const struct sws_reclaim_config *config)
{
	return config->items && config->item_pages && config->item_pages <= ITEM_PAGES_MAX &&
	       (uint64_t)config->items * config->item_pages <= SWS_RECLAIM_SPAN_MAX;
}

static bool is_time(uint64_t ns)
{
	return ns && ns <= LONGEST_S * SECOND_NS;
}

static bool times_fit(const struct sws_reclaim_config *config)
{
	return is_time(config->flush_interval_ns) && is_time(config->flush_age_ns) &&
	       config->hz >= SWS_STALL_HZ_MIN && config->seek_near_ns <= config->seek_far_ns &&
	       config->seek_far_ns <= SECOND_NS && is_time(config->sync_turn_ns) &&
	       is_time(config->async_turn_ns) && config->write_delay_ns <= LONGEST_S * SECOND_NS;
}

enum sws_reclaim_problem sws_reclaim_check(const struct sws_reclaim_config *config)
{
	if (!sws_reclaim_knows(config->rules) &&
	    (config->rules != SWS_STALL_6_1 || config->normal_pages))
		return SWS_RECLAIM_UNKNOWN_RULES;
	if (!memory_fits(config))
		return SWS_RECLAIM_NO_MEMORY;
	if (!watermarks_fit(config))
		return SWS_RECLAIM_WATERMARKS_ABOVE_MEMORY;
	if (!costs_fit(&config->costs))
		return SWS_RECLAIM_BAD_COST;
	if (!shares_fit(config))
		return SWS_RECLAIM_BAD_SHARE;
	if (!disk_fits(config))
		return SWS_RECLAIM_BAD_DISK;
	if (!server_fits(config))
		return SWS_RECLAIM_BAD_SERVER;
	if (config->swap_pages > SWS_RECLAIM_SPAN_MAX || config->readahead_shift > READAHEAD_MAX)
		return SWS_RECLAIM_BAD_SWAP;
	if (!pool_fits(config))
		return SWS_RECLAIM_BAD_POOL;
	if (!config->rounds || config->rounds > SWS_RECLAIM_ROUNDS_MAX ||
	    !is_time(config->serve_ns))
		return SWS_RECLAIM_BAD_ROUNDS;
	if (sws_reclaim__largest_file(config) > config->disk_pages)
		return SWS_RECLAIM_FILE_ABOVE_DISK;
	return times_fit(config) ? SWS_RECLAIM_NO_PROBLEM : SWS_RECLAIM_BAD_TIME;
}
