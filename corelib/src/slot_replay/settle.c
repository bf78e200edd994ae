/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slot_replay/settle.c - a hold of si->lock: ours beside theirs, and who is followed.
 */
#include "slot_replay/parts.h"

#include <string.h>

int sws_slot_replay__lead(struct sws_slot_replay *self, struct replay_call *call, uint32_t cpu)
{
	int error = SWS_OK;

	call->ours = call->call;
	sws_slot_replay__begin_trial(self, cpu);
	error = sws_slots_call_locked(self->device, cpu, &call->ours, &self->work);
	if (error)
		return error;
	if (call->ours.state == SWS_CALL_SCAN) {
		self->trial.applied = false;
		for (uint32_t i = 0; i < call->n_rations; i++)
			if (call->ours.scan_base != call->call.scan_base)
				call->rations[i].scan_base = call->ours.scan_base;
		call->call = call->ours;
		sws_slot_replay__open_window(self, call);
	} else {
		self->holder = call;
		self->hold_cpu = cpu;
	}
	return SWS_OK;
}

/* Writes a hold's slots to the log, with lowest and highest as each left them. */
static int log_slots(struct sws_slot_replay *self, const struct replay_call *call)
{
	struct replay_change change = {
		.lowest = self->trial.before.lowest,
		.highest = self->trial.before.highest,
		.credit = sws_slots_credit(self->device),
	};
	int error = SWS_OK;

	for (uint32_t i = 0; !error && i < call->account.n_theirs; i++) {
		change.offset = call->account.theirs[i];
		change.lowest += change.offset == change.lowest;
		change.highest -= change.offset == change.highest;
		if (i + 1 == call->account.n_theirs) {
			change.lowest = sws_slots_lowest(self->device);
			change.highest = sws_slots_highest(self->device);
		}
		error = sws_slot_replay__log(self, &change);
	}
	return error;
}

/* Where ours and theirs are the same, the first of them raced or not. */
static void count_slots(struct replay_call *call, bool raced)
{
	struct sws_slot_replay_call *verdict = &call->account.call;

	for (uint32_t i = 0; i < call->account.n_theirs && i < call->ours.given; i++) {
		if (call->account.theirs[i] != call->ours.slots[i])
			continue;
		if (raced && !i)
			verdict->raced++;
		else
			verdict->exact++;
	}
}

static void keep_ours(struct replay_call *call)
{
	call->account.n_ours = call->ours.given;
	memcpy(call->account.ours, call->ours.slots, sizeof(call->account.ours));
	call->account.next = call->ours.state == SWS_CALL_DONE ? call->ours.base_after : 0;
	call->account.ration = call->call.ration;
}

int sws_slot_replay__force(struct sws_slot_replay *self, struct replay_call *call, uint32_t cpu,
			   uint32_t from)
{
	int error = SWS_OK;

	for (uint32_t i = from; !error && i < call->account.n_theirs; i++) {
		struct replay_change change;

		if (sws_slots_usage(self->device, call->account.theirs[i]))
			return replay_refuse(self, SWS_SLOT_REPLAY_TWICE, call->seqs[i]);
		sws_slots__take(self->device, cpu, call->account.theirs[i]);
		change = sws_slot_replay__now(self, call->account.theirs[i]);
		error = sws_slot_replay__log(self, &change);
	}
	return error;
}

int sws_slot_replay__cut(struct sws_slot_replay *self)
{
	struct replay_call *call = self->holder;
	int error = SWS_OK;

	self->holder = NULL;
	if (!self->trial.applied) {
		sws_slot_replay__begin_trial(self, self->hold_cpu);
		call->ours = replay_with_ration(call, call->rations[0]);
		error = sws_slot_replay__run(self, self->hold_cpu, &call->ours);
	}
	if (error)
		return error;
	keep_ours(call);
	count_slots(call, false);
	sws_slot_replay__undo_trial(self, &call->ours);
	sws_slot_replay__close_window(self, call);
	call->diverged = true;
	replay_blame(call, SWS_SLOT_REPLAY_SLOTS);
	return sws_slot_replay__force(self, call, self->hold_cpu, 0);
}

/* No slot may be handed out twice, whatever ours are. */
static int check_free(struct sws_slot_replay *self, const struct replay_call *call)
{
	const uint32_t *theirs = call->account.theirs;

	for (uint32_t i = 0; i < call->account.n_theirs; i++) {
		bool taken = sws_slots_usage(self->device, theirs[i]);

		for (uint32_t j = 0; j < i; j++)
			taken |= theirs[j] == theirs[i];
		if (taken)
			return replay_refuse(self, SWS_SLOT_REPLAY_TWICE, call->seqs[i]);
	}
	return SWS_OK;
}

static int accept(struct replay_search *search)
{
	struct sws_slot_replay *self = search->replay;
	struct replay_call *call = search->call;

	if (search->fit == FITS_SLOTS)
		replay_blame(call, SWS_SLOT_REPLAY_BASE_AFTER);
	keep_ours(call);
	count_slots(call, search->raced);
	for (uint32_t i = 0; i < call->ours.given; i++)
		sws_slots__hold(self->device, call->ours.slots[i]);
	sws_slot_replay__close_window(self, call);
	self->trial.applied = false;
	return log_slots(self, call);
}

int sws_slot_replay__settle(struct sws_slot_replay *self, struct replay_end end)
{
	struct replay_call *call = self->holder;
	struct replay_search search = { .replay = self, .call = call, .end = end };
	int error = SWS_OK;

	if (self->trial.applied && sws_slot_replay__fit(&search) == FITS_ALL) {
		search.fit = FITS_ALL;
	} else {
		sws_slot_replay__undo_trial(self, &call->ours);
		error = check_free(self, call);
		if (!error)
			error = sws_slot_replay__find_attempt(&search);
	}
	if (error)
		return error;
	if (search.fit == FITS_NOT)
		return sws_slot_replay__cut(self);
	self->holder = NULL;
	return accept(&search);
}
