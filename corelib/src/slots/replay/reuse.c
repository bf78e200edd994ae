/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots/replay/reuse.c - above half full a scan stops at a slot that only the cache may hold: tests
 * whether it can have come to the slot of a row.
 */
#include "slots/replay/parts.h"

#include <string.h>

/*
 * Returns true if the kernel can have seen the device more than half full, given the credit that
 * the rows may not show. A call takes its credit before its call row and returns it after its last
 * row, so the kernel's counter may be lower than ours by 64 for each CPU.
 *
 * With 1024 slots, of which 1023 count, and one CPU, the device counts as full below 512 free slots
 * (2 * 511 < 1023). Our number may then be at most 575, as 575 - 64 = 511. At 576 no call can have
 * seen it full.
 */
static bool may_be_full(const struct sws_slot_replay *self, const struct replay_call *call)
{
	const uint64_t credit = sws_slot_replay__least_credit(self, call);
	const uint64_t unseen = (uint64_t)SWS_SLOTS_BATCH * self->cpus;

	return credit < unseen || 2 * (credit - unseen) < self->slots - 1;
}

/* Adds a possible rest of the ration of a call. */
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

/* The possible rests of a call's ration after a reuse. */
struct outcome {
	struct replay_call *call;
	struct replay_ration had;
};

static int add_outcome(void *context, const struct replay_path *path)
{
	const struct outcome *outcome = context;

	add_ration(outcome->call, sws_slot_replay__spent(outcome->had, path));
	return SWS_OK;
}

/*
 * Tests whether the scan can have stopped at the slot of a reuse, and with which rest of its
 * ration. A slot that a reuse frees is tried twice: it is in the return cache, still in use, and
 * the kernel tests it again before it scans on. That is not a test of a scan, so the rations do not
 * change.
 *
 * If no ration leads there, the previous rations remain: the row is a mismatch, but the call goes
 * on.
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
		sws_slot_replay__each_path(self, &reach, rations[i].scan_base, offset, &visitor);
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
