/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots/usage.c - what happens to a slot in use, up to its way back to the map.
 *
 *   a page out and in       call   duplicate   uncache        drop             free
 *   map byte            0    c0       41          1       c0 (nothing left)     0
 *
 * 40 is SWS_SLOT_CACHED, 80 SWS_SLOT_IDLE: 40 | 80 is a slot that waits in a slot cache.
 */
#include "slots/clusters.h"

/* Counts the lock that guards one map byte. */
static void count_map_lock(const struct sws_slots *self, struct sws_slots_work *work)
{
	if (self->clusters && self->rules->cluster_locks)
		work->cluster_lock++;
	else
		work->si_lock++;
}

/*
 * Models swap_entry_free and swap_range_free. The cluster goes to the list when its last slot is
 * freed, whoever is taking slots from it: a CPU may have it as its own and the list may have it too
 * (slots/call.c, conflicts). The credit comes back here, not when the slot went to a slot cache:
 * slots that wait there are free to nobody.
 */
static void free_one(struct sws_slots *self, uint32_t offset)
{
	self->map[offset] = 0;
	if (self->clusters) {
		const uint32_t index = offset / self->cluster_size;

		if (--self->clusters[index].count == 0)
			sws_slots__append_free_cluster(self, index);
	}
	if (offset < self->lowest)
		self->lowest = offset;
	if (offset > self->highest)
		self->highest = offset;
	self->credit++;
	self->in_use--;
}

int sws_slots_free_entries(struct sws_slots *self, const uint32_t *offsets, uint32_t n,
			   struct sws_slots_work *work)
{
	work->si_lock += n > 0;
	for (uint32_t i = 0; i < n; i++) {
		const uint8_t usage = sws_slots_usage(self, offsets[i]);

		if (usage == SWS_SLOT_BAD)
			return SWS_ERROR_BAD_ARGUMENT;
		if (!usage)
			return SWS_ERROR_NOT_FOUND;
		if (self->clusters && self->rules->cluster_locks)
			work->cluster_lock++;
		free_one(self, offsets[i]);
		work->freed++;
	}
	return SWS_OK;
}

/*
 * Models __swap_entry_free_locked. A slot that nothing holds any more keeps the cache's name until
 * it is freed: the kernel writes SWAP_HAS_CACHE there, and by that byte a slot that waits in a slot
 * cache looks like one with a page. Our 80 tells them apart, for the reclaim that would find no
 * page there; no scan and no lock depends on it.
 *
 *      a write, then the process is gone      c0 -> 41 -> 1 -> c0
 *      ... gone while it is written           c0 -> 41 -> 40 -> c0
 */
static uint8_t settle(struct sws_slots *self, uint32_t offset, uint8_t usage)
{
	self->map[offset] = usage ? usage : SWS_SLOT_CACHED | SWS_SLOT_IDLE;
	return self->map[offset];
}

static bool is_idle(uint8_t usage)
{
	return usage & SWS_SLOT_IDLE;
}

int sws_slots_duplicate(struct sws_slots *self, uint32_t offset, uint8_t *usage,
			struct sws_slots_work *work)
{
	const uint8_t before = sws_slots_usage(self, offset);

	/* One more reference must not read as a bad slot. */
	if (!before || (before & SWS_SLOT_COUNT) >= SWS_SLOT_BAD - 1)
		return SWS_ERROR_BAD_ARGUMENT;
	count_map_lock(self, work);
	*usage = settle(self, offset, (uint8_t)((before & ~SWS_SLOT_IDLE) + 1));
	return SWS_OK;
}

int sws_slots_drop(struct sws_slots *self, uint32_t offset, uint8_t *usage,
		   struct sws_slots_work *work)
{
	const uint8_t before = sws_slots_usage(self, offset);

	if (before == SWS_SLOT_BAD || !(before & SWS_SLOT_COUNT))
		return SWS_ERROR_BAD_ARGUMENT;
	count_map_lock(self, work);
	*usage = settle(self, offset, (uint8_t)(before - 1));
	return SWS_OK;
}

int sws_slots_cache(struct sws_slots *self, uint32_t offset, uint8_t *usage,
		    struct sws_slots_work *work)
{
	const uint8_t before = sws_slots_usage(self, offset);

	if (before == SWS_SLOT_BAD || !before || before & SWS_SLOT_CACHED)
		return SWS_ERROR_BAD_ARGUMENT;
	count_map_lock(self, work);
	*usage = settle(self, offset, (uint8_t)(before | SWS_SLOT_CACHED));
	return SWS_OK;
}

int sws_slots_uncache(struct sws_slots *self, uint32_t offset, uint8_t *usage,
		      struct sws_slots_work *work)
{
	const uint8_t before = sws_slots_usage(self, offset);

	if (is_idle(before) || !(before & SWS_SLOT_CACHED))
		return SWS_ERROR_BAD_ARGUMENT;
	count_map_lock(self, work);
	*usage = settle(self, offset, (uint8_t)(before & ~SWS_SLOT_CACHED));
	return SWS_OK;
}
