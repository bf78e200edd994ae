/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slots/workbench/run.c - the rounds, and the next step of a task. */
#include "slots/workbench/parts.h"

/*
 * Swaps in a random page of the task's address space. All pages have the same probability, so the
 * pages of one cluster return at different times, which breaks up runs as a device ages. Trying
 * random slots until one fits would take long when few pages are out.
 */
static int swap_in_any(struct sws_workbench *self, struct workbench_task *task)
{
	const uint64_t pages = self->pages.counts[task->mm];

	if (!pages)
		return SWS_OK;
	self->effort += UINT64_C(1) << self->pages.block_shift;
	return sws_workbench__swap_in(
		self,
		sws_workbench__pick(&self->pages, (uint32_t)task->mm,
				    sws_generator_below(&task->generator, pages)),
		true);
}

/*
 * Fisher-Yates shuffle, from the end. With a fixed order the first task would win each competition
 * for a trunk in every round.
 */
static void shuffle(struct sws_workbench *self)
{
	for (uint32_t left = self->n_tasks; left > 1; left--) {
		const uint64_t other = sws_generator_below(&self->order_generator, left);
		const uint32_t task = self->order[other];

		self->order[other] = self->order[left - 1];
		self->order[left - 1] = task;
	}
}

/* Returns the online CPU without a task that has `rank` such CPUs before it. */
static uint32_t idle_cpu(const struct sws_workbench *self, uint64_t rank)
{
	uint32_t cpu = 0;

	while (self->tasks_on[cpu] || rank--)
		cpu++;
	return cpu;
}

/*
 * Before each page that it swaps out, a task leaves its CPU with a constant probability, that is at
 * a constant rate. The previous page has been written by then, so no CPU finishes a swap-out that
 * another one began.
 */
static void change_cpu(struct sws_workbench *self, struct workbench_task *task)
{
	uint32_t idle = 0;
	uint32_t cpu = 0;

	if (!self->pages_a_cpu || sws_generator_below(&self->change_generator, self->pages_a_cpu))
		return;
	for (cpu = 0; cpu < self->n_cpus; cpu++)
		idle += !self->tasks_on[cpu];
	if (!idle)
		return;
	cpu = idle_cpu(self, sws_generator_below(&self->change_generator, idle));
	if (!--self->tasks_on[task->cpu])
		sws_workbench__meter_left(&self->meter, task->cpu);
	self->tasks_on[cpu]++;
	task->cpu = cpu;
	self->meter.measures.changes++;
}

static bool is_over(const struct sws_workbench *self)
{
	switch (self->phase) {
	case FILL:
		return self->full || self->pages.out + self->in_flight >= self->goal ||
		       (self->clusters_alone &&
			!sws_slots_free_clusters(sws_slot_cache_device(self->cache)));
	case CHURN:
		return !self->rounds;
	case REPLAY:
		return !self->rows_left;
	default:
		return false;
	}
}

/* Ends the swap-out that is under way, or begins the next step. */
static int step(struct sws_workbench *self)
{
	struct workbench_task *task = &self->tasks[self->order[self->position++]];
	int error = SWS_OK;

	if (self->phase == CHURN && !task->in_flight)
		change_cpu(self, task);
	self->cpu = task->cpu;
	self->effort += WORKBENCH_STEP_EFFORT;
	if (task->in_flight) {
		error = sws_workbench__finish_swap_out(self, task);
		self->advanced = true;
	} else if (self->phase == REPLAY) {
		return sws_workbench__begin_row(self, task);
	} else {
		error = sws_workbench__begin_swap_out(self, task);
	}
	if (self->phase == CHURN && !task->in_flight && !error)
		error = swap_in_any(self, task);
	return error;
}

/*
 * Runs one step of one task; the last step of a round ends it. In a replay, a round without
 * progress means a deadlock: task 0 waits for a page that task 1 swaps out later, and task 1 for
 * one of task 0. Such rows are out of order.
 */
static int step_in_round(struct sws_workbench *self)
{
	int error = SWS_OK;

	if (is_over(self))
		return sws_workbench__end_phase(self);
	if (self->position == self->n_tasks) {
		if (self->phase == REPLAY && !self->advanced)
			return SWS_ERROR_OUT_OF_ORDER;
		self->advanced = false;
		self->position = 0;
		shuffle(self);
	}
	error = step(self);
	if (error || self->position < self->n_tasks)
		return error;
	sws_workbench__meter_round(&self->meter);
	self->rounds -= self->phase == CHURN;
	return SWS_OK;
}

int sws_workbench_run(struct sws_workbench *self, uint64_t effort, bool *over)
{
	const uint64_t limit = self->effort + effort;
	int error = SWS_OK;

	while (self->phase != REST && self->effort < limit && !error) {
		if (self->phase == THIN)
			error = sws_workbench__thin_some(self);
		else if (self->phase == INDEX)
			sws_workbench__index_some(self);
		else
			error = step_in_round(self);
	}
	if (error)
		self->phase = REST;
	*over = self->phase == REST;
	return error;
}
