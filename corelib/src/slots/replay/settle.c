/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots/replay/settle.c - compares a hold of si->lock with that of the model, and decides whose
 * slots the device follows.
 *
 * In 6.1 with the base 10, no cluster free, and 14 and 16 free, task 7 wants a slot and scans, so
 * its window is open. The possible alloc rows and their verdicts:
 *
 *      in the window     alloc                                                   verdict
 *      no change         14    the first free slot                               exact
 *      free 12           14    ours is 12; but the scan can have passed 12       raced
 *                              before it was free, and 11 and 13 are in use
 *      free 12           16    14 was always free: no scan passes it             mismatch
 *
 * The second case does not prove that the kernel's scan took this path, only that the model allows
 * it. Therefore it is counted separately, and only for the first slot of a hold: from there on the
 * lock is held, and the remaining slots have to be the same.
 */
#include "slots/replay/parts.h"

#include <string.h>

int sws_slot_replay__begin_part(struct sws_slot_replay *self, struct replay_call *call,
				uint32_t cpu)
{
	int error = SWS_OK;

	call->ours = call->call;
	sws_slot_replay__begin_trial(self, cpu);
	error = sws_slots_call_locked(self->device, cpu, &call->ours, &self->work);
	if (error)
		return error;
	/*
	 * The call drops the lock at once and has taken no slot, so there is nothing to compare.
	 * Its other changes remain (the CPU dropped a cluster, the scan's base is lowest).
	 */
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

/*
 * Appends the slots of a hold to the log, with lowest and highest after each of them. A scan of
 * another call that wrapped during this hold read them in between, and one of these values may be
 * the explanation. If the hold took 5, 6 and 9 with lowest 5:
 *
 *      change      5 taken     6 taken     9 taken
 *      lowest         6           7           7
 *
 * The last entry has the values of the device itself: for a full one these are max and 0, which no
 * single step yields.
 */
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

/*
 * Counts the slots that are the same in the model and in the trace, the first one as raced or
 * exact.
 */
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
		sws_slots__take(self->device, cpu, call->account.theirs[i], self->before);
		change = sws_slot_replay__now(self, call->account.theirs[i]);
		error = sws_slot_replay__log(self, &change);
	}
	return error;
}

/*
 * The result of the model is first stored for the report of the mismatch, and then undone: a slot
 * that the trace did not allocate would otherwise be in use for ever, and later calls would differ
 * because of it. From here on the call takes the trace's slots one by one.
 */
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

/* No slot may be allocated twice, whatever the model's slots are. */
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
