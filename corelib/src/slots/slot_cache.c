/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots/slot_cache.c - a device with the caches of its CPUs; each operation runs without
 * interruption.
 */
#include "slots/cpu_cache.h"

struct sws_slot_cache {
	struct sws_allocator allocator;
	struct sws_slot_cache_observer observer;
	struct sws_slots *device;
	struct slots_cpu_cache *cpus;
	/*
	 * One bit for each slot: set while the slot is in a cache. By its map byte it looks like one
	 * that a get has handed out, so a second put would not be noticed.
	 */
	uint64_t *in_cache;
	uint32_t n_words;
	uint32_t online_cpus;
	uint32_t address_spaces;
	bool enabled;
	bool active;
};

void sws_slot_cache_config_init(struct sws_slot_cache_config *config)
{
	*config = (struct sws_slot_cache_config){ .enabled = true };
	sws_slots_config_init(&config->device);
}

int sws_slot_cache_new(const struct sws_slot_cache_config *config, struct sws_slot_cache **out)
{
	struct sws_slot_cache *self = NULL;
	int error = SWS_OK;

	*out = NULL;
	self = sws_create(config->device.allocator, sizeof(*self));
	if (!self)
		return SWS_ERROR_NO_MEMORY;
	self->online_cpus = config->device.online_cpus;
	self->address_spaces = config->device.address_spaces;
	self->enabled = config->enabled;
	self->observer = config->observer;
	error = sws_slots_new(&config->device, &self->device);
	if (error)
		goto out;
	self->cpus = sws_allocate_zeroed(&self->allocator, self->online_cpus, sizeof(*self->cpus));
	self->n_words = config->device.slots / 64 + 1;
	self->in_cache =
		sws_allocate_zeroed(&self->allocator, self->n_words, sizeof(*self->in_cache));
	if (!self->cpus || !self->in_cache) {
		error = SWS_ERROR_NO_MEMORY;
		goto out;
	}
	*out = self;
	self = NULL;
out:
	sws_slot_cache_free(self);
	return error;
}

void sws_slot_cache_free(struct sws_slot_cache *self)
{
	if (!self)
		return;
	sws_slots_free(self->device);
	sws_release(&self->allocator, self->cpus);
	sws_release(&self->allocator, self->in_cache);
	sws_destroy(self);
}

struct sws_slots *sws_slot_cache_device(struct sws_slot_cache *self)
{
	return self->device;
}

static bool is_in_cache(const struct sws_slot_cache *self, uint32_t offset)
{
	return self->in_cache[offset / 64] >> offset % 64 & 1;
}

/* Notes that slots enter a cache, or leave it. */
static void note_moves(struct sws_slot_cache *self, const uint32_t *offsets, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		self->in_cache[offsets[i] / 64] ^= UINT64_C(1) << offsets[i] % 64;
}

/* Frees slots and calls the observer. */
static int give_back(struct sws_slot_cache *self, const uint32_t *offsets, uint32_t n,
		     struct sws_slot_cache_work *work)
{
	int error = sws_slots_free_entries(self->device, offsets, n, &work->device);

	for (uint32_t i = 0; i < n && !error && self->observer.freed; i++)
		self->observer.freed(self->observer.context, offsets[i]);
	return error;
}

static int give_back_returned(struct sws_slot_cache *self, struct slots_cpu_cache *cache,
			      struct sws_slot_cache_work *work)
{
	const uint32_t *slots = NULL;
	const uint32_t n = slots_cpu_cache_hand_over(cache, &slots);

	note_moves(self, slots, n);
	return give_back(self, slots, n, work);
}

static int give_back_ready(struct sws_slot_cache *self, struct slots_cpu_cache *cache,
			   struct sws_slot_cache_work *work)
{
	const uint32_t *slots = NULL;
	const uint32_t n = slots_cpu_cache_drain(cache, &slots);

	note_moves(self, slots, n);
	return give_back(self, slots, n, work);
}

/* Models drain_slots_cache_cpu for each online CPU. */
static int drain(struct sws_slot_cache *self, struct sws_slot_cache_work *work)
{
	int error = SWS_OK;

	for (uint32_t cpu = 0; cpu < self->online_cpus && !error; cpu++) {
		work->cache_mutex++;
		error = give_back_ready(self, &self->cpus[cpu], work);
		if (error)
			break;
		work->return_lock++;
		error = give_back_returned(self, &self->cpus[cpu], work);
	}
	return error;
}

/*
 * Models check_cache_active. There are two thresholds, because around a single one the caches would
 * be drained and filled again and again. With 4 CPUs they start above 1280 free slots and stop
 * below 512. The lower threshold is the capacity of the caches, 64 ready and 64 returned slots on
 * each of 4 CPUs: below it more slots could be idle in the caches than are left.
 */
static int switch_caches(struct sws_slot_cache *self, struct sws_slot_cache_work *work)
{
	const uint64_t credit = sws_slots_credit(self->device);

	if (!self->active) {
		self->active = credit > (uint64_t)SWS_SLOT_CACHE_ACTIVATE * self->online_cpus;
		work->switches += self->active;
		return SWS_OK;
	}
	if (credit >= (uint64_t)SWS_SLOT_CACHE_DEACTIVATE * self->online_cpus)
		return SWS_OK;
	self->active = false;
	work->switches++;
	return drain(self, work);
}

/*
 * Models __try_to_reclaim_swap. While the caches are on, the slot goes to the return cache like any
 * other, and is not free when the call tests it again:
 *
 *      CHECK     40       held by the cache only      RECLAIM, its page exists: freed
 *      CHECK     c0       waits in the return cache   RECLAIM, no page: not freed
 *      SCAN               from the slot after it
 *
 * A full return cache first frees its 64 slots, but this slot is the first of the next 64.
 */
static int reclaim(struct sws_slot_cache *self, uint32_t cpu, struct sws_slots_call *call,
		   struct sws_slot_cache_work *work)
{
	const bool page_is_there = sws_slots_usage(self->device, call->offset) == SWS_SLOT_CACHED;
	uint8_t usage = 0;
	int error = SWS_OK;

	if (page_is_there)
		error = sws_slots_uncache(self->device, call->offset, &usage, &work->device);
	if (page_is_there && !error && self->observer.reclaimed)
		self->observer.reclaimed(self->observer.context, call->offset);
	if (page_is_there && !error)
		error = sws_slot_cache_put(self, cpu, call->offset, work);
	return error ? error : sws_slots_call_reclaimed(call, page_is_there);
}

/* Makes one uninterrupted call of the device. */
static int call_device(struct sws_slot_cache *self, uint32_t cpu, int64_t mm, uint32_t wanted,
		       struct sws_slots_call *call, struct sws_slot_cache_work *work)
{
	int error = sws_slots_call_begin(self->device, mm, wanted, call, &work->device);

	while (!error && call->state < SWS_CALL_DONE)
		error = call->state == SWS_CALL_RECLAIM
				? reclaim(self, cpu, call, work)
				: sws_slots_call_next(self->device, cpu, call, &work->device);
	return error;
}

/* Models refill_swap_slots_cache. */
static int refill(struct sws_slot_cache *self, uint32_t cpu, int64_t mm,
		  struct sws_slots_call *call, struct sws_slot_cache_work *work)
{
	const int error = call_device(self, cpu, mm, SWS_SLOT_CACHE_SIZE, call, work);

	if (error)
		return error;
	slots_cpu_cache_fill(&self->cpus[cpu], call);
	note_moves(self, call->slots, call->given);
	return SWS_OK;
}

static int take_ready(struct sws_slot_cache *self, uint32_t cpu, int64_t mm, uint32_t *offset,
		      struct sws_slots_call *call, struct sws_slot_cache_work *work)
{
	struct slots_cpu_cache *cache = &self->cpus[cpu];
	int error = SWS_OK;

	work->cache_mutex++;
	if (!cache->n_ready)
		error = refill(self, cpu, mm, call, work);
	if (error || !cache->n_ready)
		return error;
	*offset = slots_cpu_cache_take(cache);
	note_moves(self, offset, 1);
	return SWS_OK;
}

/*
 * Models get_swap_page (folio_alloc_swap). After a refill without slots, one slot is requested from
 * the device directly. These are two calls: the work contains the tests of both, *call is the
 * second.
 */
int sws_slot_cache_get(struct sws_slot_cache *self, uint32_t cpu, int64_t mm, uint32_t *offset,
		       struct sws_slots_call *call, struct sws_slot_cache_work *work)
{
	int error = SWS_OK;

	*offset = 0;
	*call = (struct sws_slots_call){ .state = SWS_CALL_START };
	if (cpu >= self->online_cpus || mm < -1 || mm >= (int64_t)self->address_spaces)
		return SWS_ERROR_BAD_ARGUMENT;
	work->gets++;
	if (self->enabled)
		error = switch_caches(self, work);
	if (!error && self->active)
		error = take_ready(self, cpu, mm, offset, call, work);
	if (error || *offset)
		return error;
	error = call_device(self, cpu, mm, 1, call, work);
	if (!error && call->given)
		*offset = call->slots[0];
	return error;
}

int sws_slot_cache_put(struct sws_slot_cache *self, uint32_t cpu, uint32_t offset,
		       struct sws_slot_cache_work *work)
{
	struct slots_cpu_cache *cache = NULL;
	int error = SWS_OK;

	if (cpu >= self->online_cpus ||
	    sws_slots_usage(self->device, offset) != (SWS_SLOT_CACHED | SWS_SLOT_IDLE) ||
	    is_in_cache(self, offset))
		return SWS_ERROR_BAD_ARGUMENT;
	cache = &self->cpus[cpu];
	work->puts++;
	if (!self->active)
		return give_back(self, &offset, 1, work);
	work->return_lock++;
	if (slots_cpu_cache_is_full(cache)) {
		error = give_back_returned(self, cache, work);
		work->flushes++;
	}
	if (error)
		return error;
	slots_cpu_cache_put(cache, offset);
	note_moves(self, &offset, 1);
	return SWS_OK;
}

uint32_t sws_slot_cache_ready(const struct sws_slot_cache *self, uint32_t cpu)
{
	return cpu < self->online_cpus ? self->cpus[cpu].n_ready : 0;
}

uint32_t sws_slot_cache_returned(const struct sws_slot_cache *self, uint32_t cpu)
{
	return cpu < self->online_cpus ? self->cpus[cpu].n_returned : 0;
}

static int broken(const char **reason, const char *sentence)
{
	*reason = sentence;
	return SWS_ERROR_BROKEN;
}

/* Slots of a cache: in use by no task, and noted as in a cache. */
static int verify_slots(const struct sws_slot_cache *self, const uint32_t *offsets, uint32_t n,
			const char **reason)
{
	for (uint32_t i = 0; i < n; i++) {
		if (sws_slots_usage(self->device, offsets[i]) != (SWS_SLOT_CACHED | SWS_SLOT_IDLE))
			return broken(reason, "a slot in a cache is not marked as waiting");
		if (!is_in_cache(self, offsets[i]))
			return broken(reason, "a slot is in two caches, or twice in one");
	}
	return SWS_OK;
}

/*
 * Each slot in a cache has its bit. As there are no more bits than such slots, none is there twice.
 */
static int verify_caches(const struct sws_slot_cache *self, const char **reason)
{
	uint64_t waiting = 0;
	uint64_t noted = 0;
	int error = SWS_OK;

	for (uint32_t cpu = 0; cpu < self->online_cpus && !error; cpu++) {
		const struct slots_cpu_cache *cache = &self->cpus[cpu];

		if (cache->next + cache->n_ready > SWS_SLOT_CACHE_SIZE ||
		    cache->n_returned > SWS_SLOT_CACHE_SIZE)
			return broken(reason, "a cache has more slots than it has room for");
		waiting += (uint64_t)cache->n_ready + cache->n_returned;
		error = verify_slots(self, cache->ready + cache->next, cache->n_ready, reason);
		if (!error)
			error = verify_slots(self, cache->returned, cache->n_returned, reason);
	}
	if (error)
		return error;
	if (waiting && !self->active)
		return broken(reason, "a cache that was stopped has slots");
	for (uint32_t word = 0; word < self->n_words; word++)
		for (uint64_t bits = self->in_cache[word]; bits; bits &= bits - 1)
			noted++;
	return noted == waiting
		       ? SWS_OK
		       : broken(reason, "the slots noted as in a cache are not those in it");
}

int sws_slot_cache_verify(const struct sws_slot_cache *self, const char **reason)
{
	const int error = verify_caches(self, reason);

	return error ? error : sws_slots_verify(self->device, reason);
}
