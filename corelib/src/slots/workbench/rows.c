/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots/workbench/rows.c - distributes the requests of a trace to the tasks.
 *
 *   rows      task 0: out out in(1,0) out   task 1: out in(0,0) in(0,2)
 *   got       | 0  1  2 | 0 |               the slot of each swap-out, in order of tasks
 *
 * in(t, k) swaps in the page of task t's swap-out number k, and waits until got contains its slot.
 */
#include "slots/workbench/parts.h"

/*
 * The value in self->got when the device was full. A page that was swapped in again has 0, not a
 * slot.
 */
static const uint32_t NOTHING = UINT32_MAX;

/*
 * Swaps in the page of a row; *done is false if it is not out yet. The value in got for the
 * swap-out that the row refers to:
 *
 *      ordinal >= n_got     not done yet                      wait, and try in the next round
 *      NOTHING              the device was full               no page to swap in: done
 *      0                    swapped in by an earlier row      the trace is wrong
 *      a slot               out, or still being written       the write ends first, then in
 *
 * In the last case the page may still be under writeback because our rounds are not the trace's
 * time.
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

/* Returns true if the swap-out of each swapped-in page exists. */
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

/*
 * Distributes the rows; n_got temporarily holds the number of pages that each task will swap out.
 */
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
