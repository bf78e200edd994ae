/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slots/workbench/phases.c - begin and end of phases, and the phases that walk over the slots. */
#include "slots/workbench/parts.h"

/* Ends all writes under way. */
static int finish_all(struct sws_workbench *self)
{
	int error = SWS_OK;

	for (uint32_t i = 0; i < self->n_tasks && !error; i++)
		error = sws_workbench__finish_swap_out(self, &self->tasks[i]);
	return error;
}

int sws_workbench__end_phase(struct sws_workbench *self)
{
	self->phase = REST;
	return finish_all(self);
}

int sws_workbench__begin_phase(struct sws_workbench *self, enum workbench_phase phase)
{
	const int error = finish_all(self);

	self->phase = error ? REST : phase;
	self->position = self->n_tasks;
	self->full = false;
	return error;
}

int sws_workbench_fill(struct sws_workbench *self, uint64_t pages, bool clusters_alone)
{
	if (!self->owns_pages)
		return SWS_ERROR_BAD_ARGUMENT;
	self->goal = pages;
	self->clusters_alone = clusters_alone && self->has_clusters;
	return sws_workbench__begin_phase(self, FILL);
}

int sws_workbench_thin(struct sws_workbench *self, uint64_t pages)
{
	int error = SWS_ERROR_BAD_ARGUMENT;

	if (!self->owns_pages)
		return error;
	error = sws_workbench__begin_phase(self, THIN);
	self->cursor = 1;
	self->ahead = self->pages.out;
	self->need = self->pages.out > pages ? self->pages.out - pages : 0;
	return error;
}

int sws_workbench_churn(struct sws_workbench *self, uint64_t rounds)
{
	int error = SWS_ERROR_BAD_ARGUMENT;

	if (!self->owns_pages)
		return error;
	self->rounds = rounds;
	self->cursor = 0;
	error = sws_workbench__begin_phase(self, self->pages.indexed ? CHURN : INDEX);
	if (error || self->pages.indexed)
		return error;
	return sws_workbench__begin_index(&self->allocator, &self->pages);
}

/*
 * Selection sampling: each page is taken with the probability need / ahead. One pass ends with
 * exactly the requested number, and every set of that size has the same probability. 3 pages, 2 to
 * be taken:
 *
 *      page          1        2 (1 taken)     2 (1 left)     3
 *      probability  2/3           1/2             2/2        0 or 1: what is still needed
 *
 * Independent draws with 2/3 for each page would take any number of pages.
 */
int sws_workbench__thin_some(struct sws_workbench *self)
{
	int error = SWS_OK;

	for (uint32_t i = 0; i < WORKBENCH_SLOTS_AT_ONCE && self->need && !error;
	     i++, self->cursor++) {
		const uint32_t slot = self->cursor;
		const struct workbench_task *task = NULL;

		if (!sws_workbench__is_out(&self->pages, slot))
			continue;
		if (sws_generator_below(&self->thin_generator, self->ahead--) >= self->need)
			continue;
		self->need--;
		task = &self->tasks[self->first_task[sws_workbench__owner(&self->pages, slot)]];
		self->cpu = task->cpu;
		error = sws_workbench__let_go(self, slot);
		if (!error)
			error = sws_workbench__give_back(self, slot);
	}
	self->effort += WORKBENCH_SLOT_EFFORT * WORKBENCH_SLOTS_AT_ONCE;
	if (!self->need && !error)
		error = sws_workbench__end_phase(self);
	return error;
}

void sws_workbench__index_some(struct sws_workbench *self)
{
	const uint32_t left = self->pages.slots - self->cursor;
	const uint32_t end =
		self->cursor + (left < WORKBENCH_SLOTS_AT_ONCE ? left : WORKBENCH_SLOTS_AT_ONCE);

	sws_workbench__index(&self->pages, self->cursor, end);
	self->cursor = end;
	self->effort += WORKBENCH_SLOT_EFFORT * WORKBENCH_SLOTS_AT_ONCE;
	if (end < self->pages.slots)
		return;
	sws_workbench__end_index(&self->pages);
	self->phase = CHURN;
}
