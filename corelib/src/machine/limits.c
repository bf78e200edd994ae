/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "machine/build.h"

#include <string.h>

/*
 * A CPU's free pages, those of an isolated batch and the last one freed, and those not yet added to
 * a list: 186 + 2 * 32 + 15 = 265. A list of 512 may add 480 twice: 1225. If a node had fewer
 * frames than its CPUs may hold, all of them could be there, with empty lists, and a task would
 * wait for ever.
 */
_Static_assert(SWS_MACHINE_FRAMES_KEPT == MACHINE_PCP_HIGH + 2 * MACHINE_BATCH + MACHINE_PAGEVEC,
	       "FRAMES_KEPT is what a CPU may keep");
/* Both of its slot caches, and the slots of a batch. */
_Static_assert(SWS_MACHINE_SLOTS_KEPT == 2 * SWS_SLOT_CACHE_SIZE + MACHINE_BATCH,
	       "SLOTS_KEPT is what a CPU may keep");

enum { FRAMES_OF_A_GIGABYTE_SHIFT = 18 };

/* Twice as much, which is drawn, can be added to any time of the clock. */
#define STAY_MAX (UINT64_C(1) << 62)

void sws_machine_config_init(struct sws_machine_config *config)
{
	*config = (struct sws_machine_config){
		.removal = SWS_REMOVAL_PAGE_BY_PAGE,
		.list_pages = MACHINE_BATCH,
		.slot_cache = true,
		.nodes = 1,
		.devices = 1,
		.walkers = 1,
		.frames = 1 << 14,
		.pages = 1 << 14,
		.read_percent = 80,
		.spread_percent = 50,
	};
	sws_slots_config_init(&config->device);
}

uint32_t sws_machine__watermark_min(uint32_t frames)
{
	return frames / 128 > MACHINE_BATCH ? frames / 128 : MACHINE_BATCH;
}

uint32_t sws_machine_watermark_high(uint32_t frames)
{
	return sws_machine__watermark_min(frames) * 3 / 2;
}

/*
 * inactive_ratio: the square root of ten times the gigabytes; 3 for 1 GB, 11 for 14 GB, 1 below 1
 * GB.
 */
uint32_t sws_machine__inactive_ratio(uint32_t frames)
{
	const uint32_t square = 10 * (frames >> FRAMES_OF_A_GIGABYTE_SHIFT);
	uint32_t root = 1;

	while ((root + 1) * (root + 1) <= square)
		root++;
	return root;
}

/*
 * A cost of 0 creates no event (engine_run): a walker whose accesses cost 0 would run for ever
 * within one event. The maximum of a cost keeps sums within 64 bits.
 */
static bool costs_fit(const struct sws_machine_costs *costs)
{
	uint64_t each[sizeof(*costs) / sizeof(uint64_t)];

	memcpy(each, costs, sizeof(*costs));
	for (size_t i = 0; i < sizeof(each) / sizeof(*each); i++)
		if (!each[i] || each[i] > SWS_MACHINE_COST_MAX)
			return false;
	return true;
}

/*
 * The tasks' memory cgroup has to reach its limit before the node reaches its low watermark, and
 * pages can be dropped under a limit only. With four walkers and 16384 frames, the four CPUs may
 * hold 4 * 265 = 1060 frames and the high watermark is 192, so memory_max may be 1060 to 15132.
 * There is no kswapd to be woken.
 */
static bool limit_fits(const struct sws_machine_config *config)
{
	const uint64_t kept =
		(uint64_t)sws_machine__cpus_per_node(config) * sws_machine__frames_kept(config);

	if (!config->memory_max)
		return !config->drop_percent;
	return config->nodes == 1 && config->drop_percent < 100 && config->memory_max >= kept &&
	       kept + config->memory_max + sws_machine_watermark_high(config->frames) <=
		       config->frames;
}

/* Streams exclude other tasks, and their pages leave at once. */
static bool streams_fit(const struct sws_machine_config *config)
{
	if (!config->streams)
		return !config->n_requests;
	return config->streams <= SWS_MACHINE_TASKS_MAX && config->n_requests >= config->streams &&
	       config->n_requests <= SWS_MACHINE_REQUESTS_MAX && config->requests &&
	       !config->walkers && !config->writers && !config->channels && config->devices == 1 &&
	       !config->memory_max && !config->accesses &&
	       config->removal == SWS_REMOVAL_PAGE_BY_PAGE;
}

/* A page is then in any node, and its slot on the only device. */
static bool sharing_fits(const struct sws_machine_config *config)
{
	return !config->shares_memory ||
	       (config->devices == 1 && !config->memory_max && !config->streams &&
		!(config->writers && config->accesses));
}

static bool lists_fit(const struct sws_machine_config *config)
{
	return (unsigned int)config->removal <= SWS_REMOVAL_BATCHED && config->list_pages >= 1 &&
	       config->list_pages <= SWS_MACHINE_LIST_MAX;
}

/* The locks of all devices are created in one call, so their number is limited. */
static bool devices_fit(const struct sws_machine_config *config)
{
	const struct sws_slots_config *device = &config->device;

	if (config->devices < 1 || config->devices > config->nodes || device->slots < 2 ||
	    device->trunk_shift < 1 || device->trunk_shift > 31)
		return false;
	return (uint64_t)config->devices * device->slots <= SWS_MACHINE_SLOTS_MAX &&
	       (uint64_t)config->devices * (((device->slots - 1) >> device->trunk_shift) + 1) <=
		       SWS_MACHINE_TRUNKS_MAX;
}

static bool tasks_fit(const struct sws_machine_config *config)
{
	const uint64_t tasks = (uint64_t)config->writers + config->walkers + config->streams;

	return tasks >= 1 && tasks <= SWS_MACHINE_TASKS_MAX && config->pages >= 1 &&
	       config->pages <= SWS_MACHINE_PAGES_MAX &&
	       (uint64_t)config->pages * config->walkers +
			       (uint64_t)config->accesses * config->writers <
		       MACHINE_NONE &&
	       !(config->accesses && config->writers && config->channels);
}

bool sws_machine__config_fits(const struct sws_machine_config *config)
{
	return costs_fit(&config->costs) && streams_fit(config) &&
	       sws_machine_knows(config->device.kernel) && lists_fit(config) &&
	       sharing_fits(config) && (unsigned int)config->lock_kind <= SWS_LOCK_TICKET &&
	       config->contended_ns <= SWS_MACHINE_COST_MAX && config->nodes >= 1 &&
	       config->nodes <= SWS_MACHINE_NODES_MAX && devices_fit(config) &&
	       config->channels <= SWS_MACHINE_CHANNELS_MAX && tasks_fit(config) &&
	       (unsigned int)config->swap_writeback_tags <= SWS_TAGS_NOT_KEPT &&
	       config->frames <= SWS_MACHINE_PAGES_MAX && config->read_percent <= 100 &&
	       config->spread_percent <= 100 && config->stay_ns <= STAY_MAX &&
	       config->spare_cpus <= SWS_MACHINE_TASKS_MAX &&
	       config->frames >= 2 * (uint64_t)sws_machine__cpus_per_node(config) *
					 sws_machine__frames_kept(config) &&
	       limit_fits(config);
}

/* Returns true if memory holds the pages that come back to streams, without reclaim. */
static bool memory_has_room(const struct sws_machine *self)
{
	const uint64_t kept = (uint64_t)sws_machine__frames_kept(&self->config) *
				      sws_machine__cpus_per_node(&self->config) +
			      self->watermark_high;
	uint64_t pages[SWS_MACHINE_NODES_MAX] = { 0 };

	sws_machine__stream_pages(&self->config, pages);
	for (uint32_t n = 0; n < self->config.nodes; n++)
		if (pages[n] + kept > self->config.frames)
			return false;
	return true;
}

bool sws_machine__has_room(const struct sws_machine *self)
{
	const uint32_t interrupts = self->config.channels ? self->config.nodes : 0;
	const uint64_t kept =
		(uint64_t)sws_machine__slots_kept(&self->config) * (self->n_slot_cpus - interrupts);

	for (uint32_t n = 0; n < self->config.devices; n++)
		if (sws_machine__swapped(self, n) + kept >= self->config.device.slots)
			return false;
	return memory_has_room(self);
}
