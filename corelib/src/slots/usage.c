/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots/usage.c - the events of a slot in use, until it is freed.
 *
 *   a page out and in       call   duplicate   uncache        drop             free
 *   map byte            0    c0       41          1       c0 (no reference)     0
 *
 * 40 is SWS_SLOT_CACHED, 80 is SWS_SLOT_IDLE; a slot with 40 | 80 waits in a slot cache.
 */
#include "slots/clusters.h"

/* Counts the lock that protects one map byte. */
static void count_map_lock(const struct sws_slots *self, struct sws_slots_work *work)
{
	if (self->clusters && self->rules->cluster_locks)
		work->cluster_lock++;
	else
		work->si_lock++;
}

/*
 * Models swap_entry_free and swap_range_free. A cluster is appended to the free list when its last
 * slot is freed, even if a CPU is taking slots from it: it may then be both a CPU's cluster and on
 * the list (slots/call.c, conflicts). The credit is returned here, not when the slot entered a slot
 * cache: slots that wait there are free for no other call.
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
 * Models __swap_entry_free_locked. A slot without references retains SWAP_HAS_CACHE until it is
 * freed. By that byte, a slot that waits in a slot cache looks like one with a page. The bit 80,
 * which the kernel does not have, distinguishes them for the reclaim that would find no page; no
 * scan and no lock depends on it.
 *
 *      a write, then the process exits        c0 -> 41 -> 1 -> c0
 *      it exits while the page is written     c0 -> 41 -> 40 -> c0
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

	/* One more reference must not look like a bad slot. */
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
