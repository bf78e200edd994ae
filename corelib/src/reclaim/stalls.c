/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vm/stalls.c - the world's side of stall.h: who asks, and what its answers do. The acts of a
 * program are done in their order, so a flag that a rule set sets behind a sleep is seen by
 * nobody before the sleep is over: series-3 sets WRITEBACK late, series-4 at once.
 */
#include "reclaim/disk.h"
#include "reclaim/reclaim.h"
#include "reclaim/writeback.h"
#include "reclaim/zones.h"

enum { TICK_US = 1000 };

struct sws_stall_context sws_reclaim__context(const struct actor *actor, uint32_t zone)
{
	return (struct sws_stall_context){
		.set = actor->vm->config.rules,
		.caller = (uint8_t)(SWS_STALL_IO | SWS_STALL_FS |
				    (actor->scan.kswapd ? SWS_STALL_KSWAPD : 0)),
		.priority = actor->scan.priority,
		.flags = actor->vm->zones[zone].flags,
	};
}

void sws_reclaim__clear_flags(struct sws_reclaim *vm, uint32_t zone, enum sws_stall_clear why)
{
	struct zone *its = &vm->zones[zone];

	its->flags = (uint8_t)(its->flags & ~sws_stall_clears(vm->config.rules, why));
}

static uint64_t reclaimable(const struct sws_reclaim *vm)
{
	uint64_t pages = 0;

	for (uint32_t zone = 0; zone < vm->n_zones; zone++)
		pages += sws_reclaim__reclaimable(vm, zone);
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
	struct sws_reclaim_counts *counts = &actor->vm->counts;

	switch ((enum step)step) {
	case SLEEP:
		my->since = vm_now(actor->vm);
		counts->sleeps[my->sleep]++;
		return engine_doze(&actor->thread, my->timeout_us * TICK_US, SLEEP_CONGESTION);
	case AWAKE:
		my->slept = vm_now(actor->vm) - my->since;
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
	const struct sws_reclaim *vm = actor->vm;
	const struct sws_stall_sleeper sleeper = {
		.kswapd = actor->scan.kswapd,
		.congested_devices = (uint32_t)vm->disk.congested + vm->server.congested,
		.flags = vm->zones[zone].flags,
		.reclaimable = reclaimable(vm),
		.write_pending = (uint64_t)sws_reclaim__dirty(vm) + sws_reclaim__writeback(vm),
		.hz = vm->config.hz,
	};
	struct nap frame = { .sleep = sleep };
	enum sws_stall_declined declined = SWS_STALL_SLEEPS;
	int error = sws_stall_sleep_length(sleep, &sleeper, &frame.timeout_us, &declined);

	if (error)
		return error;
	if (!frame.timeout_us) {
		actor->vm->counts.declined[sleep]++;
		return SWS_OK;
	}
	if (frame.timeout_us > timeout_us)
		frame.timeout_us = timeout_us;
	return engine_call(&actor->thread, nap, &frame, sizeof(frame));
}

struct obey {
	uint32_t act;
	uint32_t zone;
	uint32_t place;
};

/* One act a step, for a sleep is a call. */
static int obey(struct actor *actor, void *frame, uint32_t step)
{
	struct obey *my = frame;
	struct sws_reclaim *vm = actor->vm;
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
	act = &vm->rules->acts[my->place][i];
	if (act->does == SWS_STALL_DOES_SLEEP)
		return sws_reclaim__sleep(actor, my->zone, (enum sws_stall_sleep)act->what,
					  UINT32_MAX);
	if (act->does == SWS_STALL_DOES_WAKE)
		return sws_reclaim__ask_flusher(vm, sws_reclaim__dirty(vm));
	if (act->does == SWS_STALL_DOES_SET)
		vm->zones[my->zone].flags |= act->what;
	return SWS_OK;
}

int sws_reclaim__obey(struct actor *actor, uint32_t zone, enum sws_stall_place place)
{
	const struct obey frame = { .zone = zone, .place = place };

	if (!actor->scan.decision.acts)
		return SWS_OK;
	return engine_call(&actor->thread, obey, &frame, sizeof(frame));
}

bool sws_reclaim__decides_by_pass(const struct sws_reclaim *vm)
{
	return vm->rules->decides == SWS_STALL_AT_PASS;
}

int sws_reclaim__end_pass(struct actor *actor, uint32_t zone)
{
	const struct sws_stall_context context = sws_reclaim__context(actor, zone);
	struct scan *scan = &actor->scan;
	const int error =
		sws_stall_decide(&context, SWS_STALL_AT_PASS, &scan->pass, &scan->decision);

	return error ? error : sws_reclaim__obey(actor, zone, SWS_STALL_AT_PASS);
}
