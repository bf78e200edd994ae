/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * workbench/rows.c - the requests of a trace, dealt out to the tasks.
 *
 *   rows      task 0: out out in(1,0) out   task 1: out in(0,0) in(0,2)
 *   got       | 0  1  2 | 0 |               of each swap-out: its slot, in order of tasks
 *
 * in(t, k) swaps in the page of task t's swap-out number k, and waits until got says
 * where that is.
 */
#include "slots/workbench/parts.h"

/* In self->got: the device was full. A page that is in again has 0 there, which is no slot. */
static const uint32_t NOTHING = UINT32_MAX;

/*
 * The row's page is swapped in; false in *done if it is not out yet. What got may say of the
 * swap-out that it names:
 *
 *      ordinal >= n_got     not done yet                      wait, and try in the next round
 *      NOTHING              the device was full               nothing to swap in: done
 *      0                    swapped in by a row before        the trace is at fault
 *      a slot               out, or still being written       the write ends first, then in
 *
 * The last may find the page in flight because our rounds are not the trace's time.
 */
static int swap_in_of_row(struct sws_workbench *self, uint64_t row, bool *done)
{
	struct workbench_task *owner = &self->tasks[self->rows.owner[row]];
	const uint32_t ordinal = self->rows.ordinal[row];
	uint32_t *got = &self->got[owner->first_slot + ordinal];
	const uint32_t slot = *got;
	int error = SWS_OK;

	*done = ordinal < owner->n_got;
	if (!*done || slot == NOTHING)
		return SWS_OK;
	if (!slot)
		return SWS_ERROR_NOT_FOUND;
	*got = 0;
	if (slot == owner->in_flight)
		error = sws_workbench__finish_swap_out(self, owner);
	return error ? error : sws_workbench__swap_in(self, slot, false);
}

int sws_workbench__begin_row(struct sws_workbench *self, struct workbench_task *task)
{
	bool done = true;
	int error = SWS_OK;

	if (task->row == task->end)
		return SWS_OK;
	if (self->rows.owner[task->row] >= 0) {
		error = swap_in_of_row(self, task->row, &done);
	} else {
		error = sws_workbench__begin_swap_out(self, task);
		self->got[task->first_slot + task->n_got++] =
			task->in_flight ? task->in_flight : NOTHING;
	}
	if (!error && done) {
		task->row++;
		self->rows_left--;
		self->advanced = true;
		if (self->rows_skipped && --self->rows_skipped == 0)
			sws_workbench__meter_begin(&self->meter);
	}
	return error;
}

static bool rows_in_order(const struct sws_workbench *self, const struct sws_workbench_rows *rows)
{
	for (uint32_t i = 0; i < self->n_tasks; i++)
		if (rows->first[i] > rows->first[i + 1])
			return false;
	return true;
}

/* Does each page that comes in go out at some time? */
static bool owners_known(const struct sws_workbench *self, const struct sws_workbench_rows *rows)
{
	for (uint64_t row = rows->first[0]; row < rows->first[self->n_tasks]; row++) {
		const int32_t owner = rows->owner[row];

		if (owner < -1 || owner >= (int64_t)self->n_tasks)
			return false;
		if (owner >= 0 && rows->ordinal[row] >= self->tasks[owner].n_got)
			return false;
	}
	return true;
}

/* Deals the rows out; in n_got, for a moment, how many pages each task will have swapped out. */
static uint64_t deal_rows(struct sws_workbench *self, const struct sws_workbench_rows *rows)
{
	uint64_t slots = 0;

	for (uint32_t i = 0; i < self->n_tasks; i++) {
		struct workbench_task *task = &self->tasks[i];

		task->row = rows->first[i];
		task->end = rows->first[i + 1];
		task->first_slot = slots;
		task->n_got = 0;
		for (uint64_t row = task->row; row < task->end; row++)
			task->n_got += rows->owner[row] == -1;
		slots += task->n_got;
	}
	return slots;
}

int sws_workbench_replay(struct sws_workbench *self, const struct sws_workbench_rows *rows,
			 uint64_t skipped)
{
	uint64_t slots = 0;
	int error = sws_workbench__begin_phase(self, REST);

	if (error)
		return error;
	if (!rows_in_order(self, rows))
		return SWS_ERROR_BAD_ARGUMENT;
	slots = deal_rows(self, rows);
	if (!owners_known(self, rows))
		return SWS_ERROR_BAD_ARGUMENT;
	sws_release(&self->allocator, self->got);
	self->got = sws_allocate_zeroed(&self->allocator, slots, sizeof(*self->got));
	if (!self->got)
		return SWS_ERROR_NO_MEMORY;
	for (uint32_t i = 0; i < self->n_tasks; i++)
		self->tasks[i].n_got = 0;
	self->rows = *rows;
	self->rows_left = rows->first[self->n_tasks] - rows->first[0];
	self->rows_skipped = skipped;
	if (!skipped)
		sws_workbench__meter_begin(&self->meter);
	self->advanced = true;
	self->phase = self->rows_left ? REPLAY : REST;
	return SWS_OK;
}
