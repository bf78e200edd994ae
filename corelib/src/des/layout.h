/* SPDX-License-Identifier: GPL-2.0-or-later */
/* des/layout.h - CPUs, locks with their queues, and the heap of events. */
#ifndef SWAPSIM_DES_LAYOUT_H
#define SWAPSIM_DES_LAYOUT_H

#include "swapsim/des.h"

#define NOBODY   UINT32_MAX
#define TIME_MAX (UINT64_C(1) << 62) /* sums of two times stay within 64 bits */

enum cpu_state {
	CPU_IDLE,    /* its event was taken, or none was made yet */
	CPU_PENDING, /* its event is in the heap */
	CPU_WAITING, /* in a lock's queue */
};

struct cpu {
	struct sws_des_cpu account;
	/* What the account covers. */
	uint64_t until;
	enum cpu_state state;
	/* Locks that it has. */
	uint32_t held;
	/* Behind it in a lock's queue, or among those that interrupt one CPU. */
	uint32_t next_waiter;
	/* Locks that it has or waits for with interrupts off, and who waits until there are none. */
	uint32_t irqs_off;
	uint64_t irqs_on_again;
	uint32_t first_caller;
	uint32_t last_caller;
	/* Of the acquisition that it waits for. */
	uint32_t site;
	bool irq_save;
};

/*
 * The queue runs through the CPUs, each of which waits for one lock at most: CPU 0 holds,
 * CPUs 1 and 2 wait.
 *
 *      lock     holder 0   first 1   last 2   waiters 2
 *                             |         |
 *      CPUs        [ 0 ]    [ 1 ] --> [ 2 ] --> nobody
 */
struct lock {
	/* When its holder had it: in the future while the line travels. */
	uint64_t since;
	enum sws_lock_kind kind;
	uint32_t holder;
	uint32_t last_holder;
	uint32_t site;
	/* Its holder has interrupts off for it. */
	bool irq_save;
	uint32_t first_waiter;
	uint32_t last_waiter;
	uint32_t waiters;
};

/* Each CPU has one at most: the heap never grows beyond their number. */
struct event {
	uint64_t time;
	uint64_t sequence;
	uint32_t cpu;
};

struct sws_des {
	struct sws_allocator allocator;
	struct sws_des_config config;
	struct cpu *cpus;
	struct lock *locks;
	struct sws_des_site *sites;
	/* The least first; four children each. */
	struct event *heap;
	uint32_t n_locks;
	uint32_t n_events;
	/* The heap's first was taken and not filled again. */
	bool top_taken;
	uint64_t sequence;
	uint64_t now;
};

static inline bool before(const struct event *a, const struct event *b)
{
	return a->time < b->time || (a->time == b->time && a->sequence < b->sequence);
}

static inline bool des_is_idle(const struct sws_des *self, uint32_t cpu)
{
	return cpu < self->config.cpus && self->cpus[cpu].state == CPU_IDLE;
}

/*
 * A CPU does something again: what it let pass since its last event was idleness. An
 * event's time is in the account from when the event is made, so a CPU that goes on at
 * its event let nothing pass; one that made none, as a sleeper, did.
 */
static inline struct cpu *des_resume(struct sws_des *self, uint32_t number)
{
	struct cpu *cpu = &self->cpus[number];

	cpu->account.idle_ns += self->now - cpu->until;
	cpu->until = self->now;
	return cpu;
}

/* A CPU's event comes at a time. */
void sws_des__push(struct sws_des *self, uint32_t cpu, uint64_t time);

#endif
