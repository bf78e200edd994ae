/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slot_replay/reuse.c - above half full a scan stops at a slot that the cache alone may
 * hold: can it have come to the one that a row names?
 */
#include "slots/replay/parts.h"

#include <string.h>

/*
 * Above half full, when all the credit is counted that the rows may not show? A call's credit is
 * taken before its call row and given back after its last one, so the kernel's counter may be lower
 * than ours by 64 on each CPU.
 *
 * 1024 slots, of which 1023 count, one CPU: full below 512 free (2 * 511 < 1023). Ours may say 575
 * at most: 575 - 64 = 511. At 576 no call can have seen it full.
 */
static bool may_be_full(const struct sws_slot_replay *self, const struct replay_call *call)
{
	const uint64_t credit = sws_slot_replay__least_credit(self, call);
	const uint64_t unseen = (uint64_t)SWS_SLOTS_BATCH * self->cpus;

	return credit < unseen || 2 * (credit - unseen) < self->slots - 1;
}

/* Adds to what a call may have left of its ration. */
static void add_ration(struct replay_call *call, struct replay_ration ration)
{
	for (uint32_t i = 0; i < call->n_rations; i++)
		if (call->rations[i].left == ration.left &&
		    call->rations[i].scanned_many == ration.scanned_many &&
		    call->rations[i].scan_base == ration.scan_base)
			return;
	if (call->n_rations < REPLAY_RATIONS)
		call->rations[call->n_rations++] = ration;
}

/* What a call may have left after a reuse. */
struct outcome {
	struct replay_call *call;
	struct replay_ration had;
};

static int add_outcome(void *context, const struct replay_way *way)
{
	const struct outcome *outcome = context;

	add_ration(outcome->call, sws_slot_replay__spent(outcome->had, way));
	return SWS_OK;
}

/*
 * The slot of a reuse: can the scan have stopped there, and with what left of its ration? A slot
 * that a reuse frees is tried twice: it lies in the return cache, still in use, and the kernel
 * looks at it again before it scans on. That is no test of a scan, and the rations stay.
 *
 * If no ration leads there, those of before are kept: the row is a mismatch, but the call goes on.
 */
static bool can_have_stopped(struct sws_slot_replay *self, struct replay_call *call,
			     uint32_t offset)
{
	struct outcome outcome = { .call = call };
	const struct replay_visitor visitor = { .visit = add_outcome, .context = &outcome };
	struct replay_ration rations[REPLAY_RATIONS];
	struct replay_reach reach;
	const uint32_t n_rations = call->n_rations;

	if (call->again && offset == call->call.offset)
		return true;
	sws_slot_replay__reach(self, call, &reach);
	if (!sws_slot_replay__was_used(self, &reach, offset))
		return false;
	memcpy(rations, call->rations, sizeof(rations));
	call->n_rations = 0;
	for (uint32_t i = 0; i < n_rations; i++) {
		outcome.had = rations[i];
		sws_slot_replay__each_way(self, &reach, rations[i].scan_base, offset, &visitor);
	}
	if (call->n_rations)
		return true;
	memcpy(call->rations, rations, sizeof(rations));
	call->n_rations = n_rations;
	return false;
}

bool sws_slot_replay__explains_reuse(struct sws_slot_replay *self, struct replay_call *call,
				     uint32_t offset)
{
	return can_have_stopped(self, call, offset) && may_be_full(self, call);
}
