/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reclaim/report.c - the results so far and the current state of memory. */
#include "reclaim/reclaim.h"

#include "reclaim/lists.h"

void sws_reclaim__count_round(const struct sws_reclaim *self, struct sws_reclaim_round *round)
{
	const struct sws_reclaim_counts *counts = &self->counts;
	uint64_t scanned = 0;
	uint64_t reclaimed = 0;

	for (uint32_t i = 0; i < self->n_zones; i++) {
		const struct sws_reclaim_zone *count = &self->zones[i].count;

		scanned += count->scanned_kswapd + count->scanned_direct;
		reclaimed += count->reclaimed_kswapd + count->reclaimed_direct;
	}
	round->scanned = scanned - round->scanned;
	round->reclaimed = reclaimed - round->reclaimed;
	round->program_faults = counts->program_faults - round->program_faults;
	round->ops = counts->ops - round->ops;
	round->swapped_in = counts->swapped_in - round->swapped_in;
	round->swapped_out = counts->swapped_out - round->swapped_out;
	round->minor_faults = counts->minor_faults - round->minor_faults;
	round->major_faults = counts->major_faults - round->major_faults;
}

enum sws_reclaim_problem sws_reclaim_outcome(const struct sws_reclaim *self)
{
	return self->out_of_memory ? SWS_RECLAIM_OUT_OF_MEMORY : SWS_RECLAIM_NO_PROBLEM;
}

bool sws_reclaim_is_over(const struct sws_reclaim *self)
{
	return self->over || self->out_of_memory;
}

uint64_t sws_reclaim_events(const struct sws_reclaim *self)
{
	return self->events;
}

uint64_t sws_reclaim_work(const struct sws_reclaim *self)
{
	return self->work;
}

struct sws_reclaim_counts sws_reclaim_counts_of(const struct sws_reclaim *self)
{
	return self->counts;
}

struct sws_reclaim_zone sws_reclaim_zone_of(const struct sws_reclaim *self, uint32_t zone)
{
	return zone < self->n_zones ? self->zones[zone].count : (struct sws_reclaim_zone){ 0 };
}

/* The counts of the current round hold their values at its beginning until it ends. */
struct sws_reclaim_round sws_reclaim_round_of(const struct sws_reclaim *self, uint32_t round)
{
	struct sws_reclaim_round found = { 0 };

	if (round > self->round || round >= self->config.rounds)
		return found;
	found = self->rounds[round];
	if (round == self->round)
		sws_reclaim__count_round(self, &found);
	return found;
}

struct sws_reclaim_state sws_reclaim_state_of(const struct sws_reclaim *self)
{
	const struct engine_thread *kswapd = &self->actors[ACTOR_KSWAPD].thread;
	struct sws_reclaim_state state = {
		.now_ns = time_now(self),
		.swap_used = self->swap.used,
		.queued_reads = self->disk.queues[QUEUE_READS].n,
		.queued_writes =
			self->disk.queues[QUEUE_SYNC_WRITES].n + self->disk.queues[QUEUE_WRITES].n,
		.congested = self->disk.congested,
		.queued_calls = self->server.net.n + self->server.disk.n,
		.kswapd_runs = !kswapd->asleep || kswapd->sleeps_for != WAIT_WAKE_UP,
		.kswapd_priority = self->actors[ACTOR_KSWAPD].scan.priority,
	};

	for (uint32_t i = 0; i < self->n_zones; i++) {
		state.free[i] = self->zones[i].free;
		state.inactive_anon[i] = list_pages_of(self, i, LRU_INACTIVE_ANON);
		state.active_anon[i] = list_pages_of(self, i, LRU_ACTIVE_ANON);
		state.inactive_file[i] = list_pages_of(self, i, LRU_INACTIVE_FILE);
		state.active_file[i] = list_pages_of(self, i, LRU_ACTIVE_FILE);
		state.dirty[i] = self->zones[i].dirty;
		state.writeback[i] = self->zones[i].writeback;
		state.unstable[i] = self->zones[i].unstable;
		state.flags[i] = self->zones[i].flags;
	}
	return state;
}

/* FNV-1a over words. */
static uint64_t mix(uint64_t digest, uint64_t word)
{
	return (digest ^ word) * UINT64_C(0x100000001b3);
}

static uint64_t mix_page(uint64_t digest, const struct page *page)
{
	if (page->place == PLACE_FREE)
		return digest;
	return mix(digest, (uint64_t)page->slot << 16 | page->flags);
}

uint64_t sws_reclaim_digest(const struct sws_reclaim *self)
{
	uint64_t digest = mix(UINT64_C(0xcbf29ce484222325), time_now(self));

	for (uint32_t zone = 0; zone < self->n_zones; zone++)
		for (uint32_t place = 0; place < NR_LRU_LISTS; place++) {
			uint32_t frame = self->lrus[zone].lists[place].tail;

			digest = mix(digest, zone * NR_LRU_LISTS + place);
			for (; frame != NO_FRAME; frame = self->pages[frame].previous)
				digest = mix(digest,
					     (uint64_t)frame << 32 | self->pages[frame].index);
		}
	for (uint32_t zone = 0; zone < self->n_zones; zone++)
		for (uint32_t i = 0; i < self->zones[zone].used; i++)
			digest = mix_page(digest, &self->pages[self->zones[zone].first + i]);
	for (uint32_t i = 0; i < self->n_ptes; i++)
		digest = mix(digest, self->ptes[i]);
	for (uint32_t kind = QUEUE_SYNC_WRITES; kind < NR_QUEUES; kind++)
		for (uint32_t i = 0; i < self->disk.queues[kind].n; i++) {
			const struct request *request = &self->disk.queues[kind].requests[i];

			digest = mix(digest, request->at << 16 | request->pages);
		}
	digest = mix(digest, (uint64_t)self->server.net.n << 32 | self->server.disk.n);
	return mix(digest, (uint64_t)self->server.n_unstable << 32 | self->server.n_committing);
}
