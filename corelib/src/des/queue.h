/* SPDX-License-Identifier: GPL-2.0-or-later */
/* des/queue.h - the queue of events: CPUs in the order of their times, the next one last. */
#ifndef SWAPSIM_DES_QUEUE_H
#define SWAPSIM_DES_QUEUE_H

#include "des/layout.h"

#include <string.h>

/* Events that are shifted at once. */
#define BLOCK 32U

/*
 * Shifts blocks of events that are not later than a time, for one more at the end; returns the free
 * place, from which less than a block is left to be shifted.
 */
static inline uint32_t des_shift_blocks(struct sws_des *self, uint32_t end, uint64_t time)
{
	uint32_t *queue = self->queue;
	uint32_t at = end;

	while (at >= BLOCK && self->cpus[queue[at - BLOCK]].until <= time)
		at -= BLOCK;
	memmove(&queue[at + 1], &queue[at], (end - at) * sizeof(*queue));
	return at;
}

/*
 * Creates the event of a CPU at a time. The queue of CPUs, with the times of their events, when CPU
 * 5 gets one at 20:
 *
 *      before      [ 0: 41  3: 35  1: 22  2: 20  4: 12 |   -   ]
 *      shifted     [ 0: 41  3: 35  1: 22    -    2: 20   4: 12 ]     all that are not later
 *      after       [ 0: 41  3: 35  1: 22  5: 20  2: 20   4: 12 ]     CPU 2's was created before
 *
 * It is no heap, because a processor cannot predict the comparisons that repair a heap after each
 * event. Here nothing is shifted when an event is taken, and little when one is created, since most
 * are for the near future: the end of a hold, a hand-over.
 */
static inline void des_push(struct sws_des *self, uint32_t cpu, uint64_t time)
{
	const struct cpu *cpus = self->cpus;
	uint32_t *queue = self->queue;
	uint32_t at = self->n_events++;

	self->cpus[cpu].state = CPU_PENDING;
	self->cpus[cpu].until = time;
	if (at >= BLOCK)
		at = des_shift_blocks(self, at, time);
	for (; at > 0 && cpus[queue[at - 1]].until <= time; at--)
		queue[at] = queue[at - 1];
	queue[at] = cpu;
}

#endif
