/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots/replay/slot_replay.c - the rows: their allowed order, and the effect of each.
 *
 *   row     while its task has     effect
 *   call    no call                the call holds the lock, or drops it at once
 *   alloc   a call                 its hold continues; after a window it begins
 *   reuse   a call                 its window ends, and another hold begins
 *   done    a call                 its hold is compared, the call ends
 *   fail    a call                 as done
 *   free    -                      n slots are freed
 *
 * A row of another task, or on another CPU, between those of a hold interrupts it: the model would
 * not have dropped the lock there.
 */
#include "slots/replay/parts.h"

/* Compares the call row with the model; from here on the row's base and limits apply. */
static void compare_start(struct sws_slot_replay *self, struct replay_call *call,
			  const struct replay_row *row)
{
	const uint32_t owner = sws_slots_base_owner(self->device, row->cpu, -1);

	if (!self->base_known[owner])
		sws_slots_set_base(self->device, owner, row->base);
	self->base_known[owner] = true;
	call->account.base = (uint32_t)sws_slots_base(self->device, owner);
	call->account.base_row = row->base;
	call->account.lowest = sws_slots_lowest(self->device);
	call->account.lowest_row = row->lowest;
	call->account.highest = sws_slots_highest(self->device);
	call->account.highest_row = row->highest;
	call->account.free_clusters = sws_slots_free_clusters(self->device);
	if (row->base != call->account.base) {
		replay_blame(call, SWS_SLOT_REPLAY_BASE_BEFORE);
		sws_slots_set_base(self->device, owner, row->base);
	}
	if (row->lowest != call->account.lowest || row->highest != call->account.highest) {
		replay_blame(call, SWS_SLOT_REPLAY_LIMITS);
		sws_slots__follow_limits(self->device, row->lowest, row->highest);
	}
}

static int begin(struct sws_slot_replay *self, const struct replay_row *row)
{
	const uint32_t max = self->slots;
	struct replay_change credit_taken;
	struct replay_call *call = NULL;
	int error = SWS_OK;

	if (sws_slot_replay__find_call(self, row->pid))
		return replay_refuse(self, SWS_SLOT_REPLAY_SECOND_CALL, row->seq);
	if (row->base < 1 || row->base > max + 1)
		return replay_refuse(self, SWS_SLOT_REPLAY_BAD_BASE, row->seq);
	if (row->lowest > max || row->highest >= max)
		return replay_refuse(self, SWS_SLOT_REPLAY_BAD_LIMITS, row->seq);
	if (row->n < 1 || row->n > SWS_SLOTS_BATCH || row->n > sws_slots_credit(self->device))
		return replay_refuse(self, SWS_SLOT_REPLAY_BAD_WANTED, row->seq);
	error = sws_slot_replay__open_call(self, row, &call);
	if (error)
		return error;
	compare_start(self, call, row);
	error = sws_slots_call_begin(self->device, -1, row->n, &call->call, &self->work);
	if (error)
		return error;
	credit_taken = sws_slot_replay__now(self, 0);
	error = sws_slot_replay__log(self, &credit_taken);
	return error ? error : sws_slot_replay__begin_part(self, call, row->cpu);
}

static int take_alloc(struct sws_slot_replay *self, struct replay_call *call,
		      const struct replay_row *row)
{
	const uint32_t n = call->account.n_theirs;

	if (row->offset < 1 || row->offset >= self->slots)
		return replay_refuse(self, SWS_SLOT_REPLAY_BAD_OFFSET, row->seq);
	if (n == call->account.call.wanted)
		return replay_refuse(self, SWS_SLOT_REPLAY_TOO_MANY, row->seq);
	call->account.theirs[n] = row->offset;
	call->seqs[n] = row->seq;
	call->account.n_theirs++;
	if (call->diverged)
		return sws_slot_replay__force(self, call, row->cpu, n);
	/* After a window, the first row shows that the lock is held again. */
	if (!self->holder) {
		self->holder = call;
		self->hold_cpu = row->cpu;
	}
	return SWS_OK;
}

static void follow_base(struct sws_slot_replay *self, const struct replay_row *row)
{
	const uint32_t owner = sws_slots_base_owner(self->device, row->cpu, -1);

	sws_slots_set_base(self->device, owner, row->next);
	self->base_known[owner] = true;
}

/*
 * A done or fail row may be the only row of a hold: a call whose scan found no slot has no alloc
 * row. So it sets the holder itself, and compares an empty hold like any other. In a diverged call
 * all slots have been taken by now; only the credit is left, which the call's own end would return.
 */
static int end(struct sws_slot_replay *self, struct replay_call *call, const struct replay_row *row,
	       struct sws_slot_replay_call *judged, uint64_t *n_judged)
{
	const bool done = row->op == SWS_SLOT_REPLAY_DONE;
	int error = SWS_OK;

	if (done && row->n != call->account.n_theirs)
		return replay_refuse(self, SWS_SLOT_REPLAY_BAD_GIVEN, row->seq);
	if (done && (row->next < 1 || row->next > self->slots + 1))
		return replay_refuse(self, SWS_SLOT_REPLAY_BAD_BASE, row->seq);
	if (!call->diverged) {
		self->holder = call;
		self->hold_cpu = row->cpu;
		error = sws_slot_replay__settle(
			self, (struct replay_end){ .done = done, .next = row->next });
	}
	if (error)
		return error;
	if (call->diverged)
		sws_slots__return_credit(self->device,
					 call->account.call.wanted - call->account.n_theirs);
	if (done)
		follow_base(self, row);
	call->account.next_row = row->next;
	sws_slot_replay__close_call(self, call, judged, n_judged);
	return SWS_OK;
}

/* A row frees a range, as swap_range_free does; in the log each slot is a change of its own. */
static int free_slots(struct sws_slot_replay *self, const struct replay_row *row)
{
	const uint32_t max = self->slots;
	int error = SWS_OK;

	if (!row->n)
		return replay_refuse(self, SWS_SLOT_REPLAY_BAD_FREED, row->seq);
	if (row->offset < 1 || row->offset >= max || row->n > max - row->offset)
		return replay_refuse(self, SWS_SLOT_REPLAY_BAD_OFFSET, row->seq);
	for (uint32_t i = 0; !error && i < row->n; i++) {
		const uint32_t offset = row->offset + i;
		struct replay_change change;

		if (sws_slots__give_back(self->device, offset, self->before, &self->work) != SWS_OK)
			return replay_refuse(self, SWS_SLOT_REPLAY_NOT_IN_USE, row->seq);
		change = sws_slot_replay__now(self, offset);
		error = sws_slot_replay__log(self, &change);
	}
	return error;
}

static int reuse(struct sws_slot_replay *self, struct replay_call *call,
		 const struct replay_row *row)
{
	int error = SWS_OK;

	if (row->offset < 1 || row->offset >= self->slots)
		return replay_refuse(self, SWS_SLOT_REPLAY_BAD_OFFSET, row->seq);
	if (row->n > 1)
		return replay_refuse(self, SWS_SLOT_REPLAY_BAD_REUSED, row->seq);
	if (call->diverged)
		return SWS_OK;
	if (!sws_slot_replay__explains_reuse(self, call, row->offset)) {
		if (!call->account.call.fault)
			call->account.reuse = row->offset;
		replay_blame(call, SWS_SLOT_REPLAY_REUSE_FAULT);
	}
	sws_slot_replay__close_window(self, call);
	call->call.offset = row->offset;
	call->call.ration = call->rations[0].left;
	call->call.scanned_many = call->rations[0].scanned_many;
	call->call.scan_base = call->rations[0].scan_base;
	call->call.state = SWS_CALL_RECLAIM;
	error = sws_slots_call_reclaimed(&call->call, row->n == 1);
	if (!error)
		error = sws_slot_replay__begin_part(self, call, row->cpu);
	/*
	 * Freed from the swap cache, but still in use: it waits to be freed, and may be tried once
	 * more.
	 */
	call->again = row->n == 1 && call->window;
	return error;
}

/* Returns true if a row continues the hold that is under way. */
static bool goes_on(const struct sws_slot_replay *self, const struct replay_row *row)
{
	return row->pid == self->holder->pid && row->cpu == self->hold_cpu &&
	       (row->op == SWS_SLOT_REPLAY_ALLOC || row->op == SWS_SLOT_REPLAY_DONE ||
		row->op == SWS_SLOT_REPLAY_FAIL);
}

static int check_row(struct sws_slot_replay *self, const struct replay_row *row)
{
	const uint32_t max = self->slots;

	if (self->started && row->seq <= self->last_seq)
		return replay_refuse(self, SWS_SLOT_REPLAY_BAD_ORDER, row->seq);
	if (row->op > SWS_SLOT_REPLAY_REUSE)
		return replay_refuse(self, SWS_SLOT_REPLAY_BAD_OP, row->seq);
	if (row->cpu >= self->possible_cpus)
		return replay_refuse(self, SWS_SLOT_REPLAY_BAD_CPU, row->seq);
	if (!self->started &&
	    (row->op != SWS_SLOT_REPLAY_CALL || row->lowest != 1 || row->highest != max - 1))
		return replay_refuse(self, SWS_SLOT_REPLAY_BAD_START, row->seq);
	self->started = true;
	self->last_seq = row->seq;
	return SWS_OK;
}

static int feed_row(struct sws_slot_replay *self, const struct replay_row *row,
		    struct sws_slot_replay_call *judged, uint64_t *n_judged)
{
	struct replay_call *call = NULL;
	int error = check_row(self, row);

	if (!error && self->holder && !goes_on(self, row))
		error = sws_slot_replay__cut(self);
	if (error)
		return error;
	if (row->op == SWS_SLOT_REPLAY_CALL)
		return begin(self, row);
	if (row->op == SWS_SLOT_REPLAY_FREE)
		return free_slots(self, row);
	call = sws_slot_replay__find_call(self, row->pid);
	if (!call)
		return replay_refuse(self, SWS_SLOT_REPLAY_NO_CALL, row->seq);
	if (row->op == SWS_SLOT_REPLAY_ALLOC)
		return take_alloc(self, call, row);
	if (row->op == SWS_SLOT_REPLAY_REUSE)
		return reuse(self, call, row);
	return end(self, call, row, judged, n_judged);
}

int sws_slot_replay_feed(struct sws_slot_replay *self, const struct sws_slot_replay_rows *rows,
			 uint64_t count, struct sws_slot_replay_call *judged, uint64_t *n_judged)
{
	int error = self->error;

	*n_judged = 0;
	for (uint64_t i = 0; !error && i < count; i++) {
		const struct replay_row row = {
			.seq = rows->seq[i],
			.cpu = rows->cpu[i],
			.pid = rows->pid[i],
			.op = rows->op[i],
			.n = rows->n[i],
			.offset = rows->offset[i],
			.base = rows->base[i],
			.next = rows->next[i],
			.lowest = rows->lowest[i],
			.highest = rows->highest[i],
		};

		error = feed_row(self, &row, judged, n_judged);
	}
	self->error = error;
	return error;
}
