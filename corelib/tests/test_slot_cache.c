/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "swapsim/slot_cache.h"

#include "check.h"

static struct sws_slot_cache *make(uint32_t slots, uint32_t cpus, bool enabled)
{
	struct sws_slot_cache_config config;
	struct sws_slot_cache *cache = NULL;

	sws_slot_cache_config_init(&config);
	config.device.slots = slots;
	config.device.possible_cpus = cpus;
	config.device.online_cpus = cpus;
	config.enabled = enabled;
	CHECK(sws_slot_cache_new(&config, &cache) == SWS_OK);
	return cache;
}

static void verify(const struct sws_slot_cache *cache)
{
	const char *reason = NULL;

	CHECK(sws_slot_cache_verify(cache, &reason) == SWS_OK);
}

static uint32_t get(struct sws_slot_cache *cache, uint32_t cpu, struct sws_slot_cache_work *work)
{
	struct sws_slots_call call;
	uint32_t offset = 0;

	CHECK(sws_slot_cache_get(cache, cpu, -1, &offset, &call, work) == SWS_OK);
	verify(cache);
	return offset;
}

static void put(struct sws_slot_cache *cache, uint32_t cpu, uint32_t offset,
		struct sws_slot_cache_work *work)
{
	CHECK(sws_slot_cache_put(cache, cpu, offset, work) == SWS_OK);
	verify(cache);
}

static void a_cache_asks_the_device_once_for_64_slots(void)
{
	struct sws_slot_cache *cache = make(4096, 2, true);
	struct sws_slot_cache_work work = { 0 };
	const uint32_t first = get(cache, 0, &work);

	for (uint32_t i = 1; i < 64; i++)
		CHECK(get(cache, 0, &work) == first + i);
	CHECK(work.device.calls == 1 && work.device.si_lock == 1);
	CHECK(work.gets == 64 && work.cache_mutex == 64);
	CHECK(sws_slot_cache_ready(cache, 0) == 0);
	get(cache, 0, &work);
	CHECK(work.device.calls == 2 && sws_slot_cache_ready(cache, 0) == 63);
	sws_slot_cache_free(cache);
}

static void returned_slots_go_home_when_the_65th_comes(void)
{
	struct sws_slot_cache *cache = make(4096, 2, true);
	struct sws_slot_cache_work work = { 0 };
	uint32_t offsets[65];

	for (unsigned int i = 0; i < 65; i++)
		offsets[i] = get(cache, 0, &work);
	for (unsigned int i = 0; i < 64; i++)
		put(cache, 1, offsets[i], &work);
	CHECK(work.device.freed == 0 && sws_slot_cache_returned(cache, 1) == 64);
	put(cache, 1, offsets[64], &work);
	CHECK(work.device.freed == 64 && work.flushes == 1);
	CHECK(sws_slot_cache_returned(cache, 1) == 1);
	CHECK(work.return_lock == 65);
	sws_slot_cache_free(cache);
}

static void a_slot_in_use_cannot_be_put_back(void)
{
	struct sws_slot_cache *cache = make(4096, 2, true);
	struct sws_slot_cache_work work = { 0 };
	const uint32_t offset = get(cache, 0, &work);
	uint8_t usage = 0;

	CHECK(sws_slots_duplicate(sws_slot_cache_device(cache), offset, &usage, &work.device) ==
	      SWS_OK);
	CHECK(sws_slot_cache_put(cache, 0, offset, &work) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_slot_cache_put(cache, 2, offset, &work) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_slot_cache_put(cache, 0, 4095, &work) == SWS_ERROR_BAD_ARGUMENT);
	sws_slot_cache_free(cache);
}

/* A second put would make the flush of 64 slots fail at one that is free already, and lose the rest. */
static void a_slot_in_a_cache_cannot_be_put_again(void)
{
	struct sws_slot_cache *cache = make(4096, 2, true);
	struct sws_slot_cache_work work = { 0 };
	uint32_t offsets[64];

	for (unsigned int i = 0; i < 64; i++)
		offsets[i] = get(cache, 0, &work);
	put(cache, 0, offsets[0], &work);
	CHECK(sws_slot_cache_put(cache, 0, offsets[0], &work) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_slot_cache_put(cache, 1, offsets[0], &work) == SWS_ERROR_BAD_ARGUMENT);
	/* After one of the next 64 was taken, the others are ready. */
	CHECK(sws_slot_cache_put(cache, 0, get(cache, 0, &work) + 1, &work) ==
	      SWS_ERROR_BAD_ARGUMENT);
	for (unsigned int i = 1; i < 64; i++)
		put(cache, 0, offsets[i], &work);
	CHECK(work.puts == 64 && sws_slot_cache_returned(cache, 0) == 64);
	sws_slot_cache_free(cache);
}

static bool is_broken(const struct sws_slot_cache *cache)
{
	const char *reason = NULL;

	return sws_slot_cache_verify(cache, &reason) == SWS_ERROR_BROKEN && reason;
}

/* A caller can reach a slot of a cache through the device; that does not go unnoticed. */
static void a_slot_that_leaves_a_cache_by_the_device_is_found(void)
{
	struct sws_slot_cache *cache = make(4096, 1, true);
	struct sws_slots *device = sws_slot_cache_device(cache);
	struct sws_slot_cache_work work = { 0 };
	const uint32_t ready = get(cache, 0, &work) + 1;
	uint8_t usage = 0;

	CHECK(sws_slots_duplicate(device, ready, &usage, &work.device) == SWS_OK);
	CHECK(is_broken(cache));
	CHECK(sws_slots_drop(device, ready, &usage, &work.device) == SWS_OK);
	CHECK(sws_slots_uncache(device, ready, &usage, &work.device) == SWS_OK);
	verify(cache);
	CHECK(sws_slots_free_entries(device, &ready, 1, &work.device) == SWS_OK);
	CHECK(is_broken(cache));
	sws_slot_cache_free(cache);
}

static void caches_stop_and_empty_themselves_when_few_slots_are_free(void)
{
	struct sws_slot_cache *cache = make(1000, 2, true);
	struct sws_slot_cache_work work = { 0 };

	/* 999 free slots are more than 2 * 320; below 2 * 128 the caches stop. */
	for (unsigned int i = 0; i < 999; i++)
		CHECK(get(cache, i % 2, &work) != 0);
	CHECK(work.switches == 2);
	CHECK(sws_slot_cache_ready(cache, 0) == 0 && sws_slot_cache_ready(cache, 1) == 0);
	CHECK(sws_slots_in_use(sws_slot_cache_device(cache)) == 999);
	CHECK(get(cache, 0, &work) == 0);
	sws_slot_cache_free(cache);
}

static void a_small_device_never_starts_them(void)
{
	struct sws_slot_cache *cache = make(600, 2, true);
	struct sws_slot_cache_work work = { 0 };
	const uint32_t offset = get(cache, 0, &work);

	CHECK(work.switches == 0 && work.cache_mutex == 0 && work.device.given == 1);
	put(cache, 0, offset, &work);
	CHECK(work.return_lock == 0 && work.device.freed == 1);
	sws_slot_cache_free(cache);
}

static void without_caches_each_slot_is_a_call(void)
{
	struct sws_slot_cache *cache = make(4096, 1, false);
	struct sws_slot_cache_work work = { 0 };

	for (unsigned int i = 0; i < 10; i++)
		get(cache, 0, &work);
	CHECK(work.device.calls == 10 && work.cache_mutex == 0);
	sws_slot_cache_free(cache);
}

static int make_one(const struct sws_allocator *allocator)
{
	struct sws_slot_cache_config config;
	struct sws_slot_cache *cache = NULL;
	int error = SWS_OK;

	sws_slot_cache_config_init(&config);
	config.device.slots = 1000;
	config.device.allocator = allocator;
	error = sws_slot_cache_new(&config, &cache);
	CHECK(!error == !!cache);
	sws_slot_cache_free(cache);
	return error;
}

static void a_failing_allocation_leaves_nothing_behind(void)
{
	check_each_allocation_failing(make_one);
}

int main(void)
{
	RUN(a_cache_asks_the_device_once_for_64_slots);
	RUN(returned_slots_go_home_when_the_65th_comes);
	RUN(a_slot_in_use_cannot_be_put_back);
	RUN(a_slot_in_a_cache_cannot_be_put_again);
	RUN(a_slot_that_leaves_a_cache_by_the_device_is_found);
	RUN(caches_stop_and_empty_themselves_when_few_slots_are_free);
	RUN(a_small_device_never_starts_them);
	RUN(without_caches_each_slot_is_a_call);
	RUN(a_failing_allocation_leaves_nothing_behind);
	return 0;
}
