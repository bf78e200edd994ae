/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reclaim/stalls.c - the interface to stall.h: provides its inputs and carries out its decisions.
 * The acts are carried out in their order, so a flag that a rule set sets after a throttle is not
 * visible before the throttle ends: series-3 sets WRITEBACK after the throttle, series-4 before it.
 */
#include "reclaim/disk.h"
#include "reclaim/nfs.h"
#include "reclaim/reclaim.h"
#include "reclaim/writeback.h"
#include "reclaim/zones.h"

enum { TICK_US = 1000, HZ = 1000 };

struct sws_stall_context sws_reclaim__context(const struct actor *actor, uint32_t zone)
{
	return (struct sws_stall_context){
		.set = actor->reclaim->config.rules,
		.caller = (uint8_t)(SWS_STALL_IO | SWS_STALL_FS |
				    (actor->scan.kswapd ? SWS_STALL_KSWAPD : 0)),
		.priority = actor->scan.priority,
		.flags = actor->reclaim->zones[zone].flags,
	};
}

uint16_t sws_reclaim__bits_of(const struct sws_reclaim *self, const struct page *page)
{
	const bool file = page_is(page, PAGE_FILE);
	const bool remote = self->config.nfs && page->index < self->first_program;
	const bool congested = remote ? self->server.congested : self->disk.congested;

	return (uint16_t)((file && self->config.nfs ? sws_reclaim__ask_nfs(self, page) : 0) |
			  (file ? SWS_STALL_PAGE_FILE : 0) |
			  (page_is(page, PAGE_DIRTY) ? SWS_STALL_PAGE_DIRTY : 0) |
			  (page_is(page, PAGE_RECLAIM)
				   ? SWS_STALL_PAGE_RECLAIM | SWS_STALL_PAGE_MARKED
				   : 0) |
			  (page_is(page, PAGE_WRITEBACK)
				   ? SWS_STALL_PAGE_WRITEBACK | SWS_STALL_PAGE_UNDER_WRITEBACK
				   : 0) |
			  (file && congested ? SWS_STALL_PAGE_DEVICE_CONGESTED : 0));
}

void sws_reclaim__clear_flags(struct sws_reclaim *self, uint32_t zone, enum sws_stall_clear why)
{
	struct zone *its = &self->zones[zone];

	its->flags = (uint8_t)(its->flags & ~sws_stall_clears(self->config.rules, why));
}

static uint64_t reclaimable(const struct sws_reclaim *self)
{
	uint64_t pages = 0;

	for (uint32_t zone = 0; zone < self->n_zones; zone++)
		pages += sws_reclaim__reclaimable(self, zone);
	return pages;
}

enum step { SLEEP, AWAKE };

struct nap {
	uint64_t since;
	uint64_t slept;
	uint64_t timeout_us;
	uint32_t sleep;
};

static int nap(struct actor *actor, void *frame, uint32_t step)
{
	struct nap *my = frame;
	struct sws_reclaim_counts *counts = &actor->reclaim->counts;

	switch ((enum step)step) {
	case SLEEP:
		my->since = time_now(actor->reclaim);
		counts->sleeps[my->sleep]++;
		return engine_doze(&actor->thread, my->timeout_us * TICK_US, WAIT_CONGESTION);
	case AWAKE:
		my->slept = time_now(actor->reclaim) - my->since;
		counts->slept_ns[my->sleep] += my->slept;
		*(actor->scan.kswapd ? &counts->kswapd_slept_ns : &counts->tasks_slept_ns) +=
			my->slept;
		engine_leave(&actor->thread);
		return SWS_OK;
	}
	return SWS_ERROR_BROKEN;
}

int sws_reclaim__sleep(struct actor *actor, uint32_t zone, enum sws_stall_sleep sleep,
		       uint64_t timeout_us)
{
	const struct sws_reclaim *self = actor->reclaim;
	const struct sws_stall_sleeper sleeper = {
		.kswapd = actor->scan.kswapd,
		.congested_devices = (uint32_t)self->disk.congested + self->server.congested,
		.flags = self->zones[zone].flags,
		.reclaimable = reclaimable(self),
		.write_pending = (uint64_t)sws_reclaim__dirty(self) + sws_reclaim__writeback(self),
		.hz = HZ,
	};
	struct nap frame = { .sleep = sleep };
	enum sws_stall_skip skipped = SWS_STALL_SLEEPS;
	int error = sws_stall_sleep_length(sleep, &sleeper, &frame.timeout_us, &skipped);

	if (error)
		return error;
	if (!frame.timeout_us) {
		actor->reclaim->counts.declined[sleep]++;
		return SWS_OK;
	}
	if (frame.timeout_us > timeout_us)
		frame.timeout_us = timeout_us;
	return engine_call(&actor->thread, nap, &frame, sizeof(frame));
}

struct carry_out {
	uint32_t act;
	uint32_t zone;
	uint32_t place;
};

/* Carries out one act per step, because a throttle is a call. */
static int carry_out(struct actor *actor, void *frame, uint32_t step)
{
	struct carry_out *my = frame;
	struct sws_reclaim *self = actor->reclaim;
	const struct sws_stall_act *act = NULL;
	const uint32_t i = my->act++;

	(void)step;
	engine_go(&actor->thread, 0);
	if (i == SWS_STALL_ACTS_MAX) {
		engine_leave(&actor->thread);
		return SWS_OK;
	}
	if (!(actor->scan.decision.acts & 1u << i))
		return SWS_OK;
	act = &self->rules->acts[my->place][i];
	if (act->does == SWS_STALL_DOES_SLEEP)
		return sws_reclaim__sleep(actor, my->zone, (enum sws_stall_sleep)act->what,
					  UINT32_MAX);
	if (act->does == SWS_STALL_DOES_WAKE)
		return sws_reclaim__ask_flusher(self, sws_reclaim__dirty(self));
	if (act->does == SWS_STALL_DOES_SET)
		self->zones[my->zone].flags |= act->what;
	return SWS_OK;
}

int sws_reclaim__carry_out(struct actor *actor, uint32_t zone, enum sws_stall_place place)
{
	const struct carry_out frame = { .zone = zone, .place = place };

	if (!actor->scan.decision.acts)
		return SWS_OK;
	return engine_call(&actor->thread, carry_out, &frame, sizeof(frame));
}

bool sws_reclaim__decides_by_pass(const struct sws_reclaim *self)
{
	return self->rules->decides == SWS_STALL_AT_PASS;
}

int sws_reclaim__end_pass(struct actor *actor, uint32_t zone)
{
	const struct sws_stall_context context = sws_reclaim__context(actor, zone);
	struct scan *scan = &actor->scan;
	const int error =
		sws_stall_decide(&context, SWS_STALL_AT_PASS, &scan->pass, &scan->decision);

	return error ? error : sws_reclaim__carry_out(actor, zone, SWS_STALL_AT_PASS);
}
