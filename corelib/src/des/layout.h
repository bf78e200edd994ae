/* SPDX-License-Identifier: GPL-2.0-or-later */
/* des/layout.h - CPUs, locks with their queues, and the heap of events. */
#ifndef SWAPSIM_DES_LAYOUT_H
#define SWAPSIM_DES_LAYOUT_H

#include "swapsim/des.h"

#define NO_CPU UINT32_MAX
/* Sums of two times stay within 64 bits. */
#define TIME_MAX (UINT64_C(1) << 62)

enum cpu_state {
	/* Its event was taken, or it has not had one yet. */
	CPU_IDLE,
	/* Its event is in the heap. */
	CPU_PENDING,
	/* It is in the queue of a lock. */
	CPU_WAITING,
};

struct cpu {
	struct sws_des_cpu account;
	/* Time up to which its times are counted. */
	uint64_t until;
	enum cpu_state state;
	/* The number of locks that it holds. */
	uint32_t held;
	/* The next CPU in the queue of a lock, or among those that interrupt the same CPU. */
	uint32_t next_waiter;
	/*
	 * The locks that it holds or waits for with interrupts off, the times that their number has
	 * become 0, and the CPUs that wait for that.
	 */
	uint32_t irqs_off;
	uint64_t irqs_on_again;
	uint32_t first_caller;
	uint32_t last_caller;
	/* The numbers of its core and of its socket: divisions would cost as much as an event. */
	uint32_t core;
	uint32_t socket;
	/* The site and kind of the acquisition that it waits for. */
	uint32_t site;
	bool irq_save;
};

/*
 * The queue is linked through the CPUs, each of which waits for at most one lock: CPU 0 holds, CPUs
 * 1 and 2 wait.
 *
 *      lock     holder 0   first 1   last 2   waiters 2
 *                             |         |
 *      CPUs        [ 0 ]    [ 1 ] --> [ 2 ] --> end
 */
struct lock {
	/*
	 * The time at which its holder acquired it; in the future while the line is being
	 * transferred.
	 */
	uint64_t since;
	enum sws_lock_kind kind;
	uint32_t holder;
	uint32_t last_holder;
	uint32_t site;
	/* True if its holder has interrupts off for it. */
	bool irq_save;
	uint32_t first_waiter;
	uint32_t last_waiter;
	uint32_t waiters;
};

#define CPU_BITS 12
#define CPUS_MAX (1U << CPU_BITS)

/*
 * Each CPU has at most one event, so the heap never exceeds their number. The four children of an
 * event are in one or two cache lines.
 */
struct event {
	uint64_t time;
	/* The number of events that were created before it, << CPU_BITS, and its CPU. */
	uint64_t order;
};

struct sws_des {
	struct sws_allocator allocator;
	struct sws_des_config config;
	struct cpu *cpus;
	struct lock *locks;
	struct sws_des_site *sites;
	/* A heap with the earliest event first and four children per node. */
	struct event *heap;
	uint32_t n_locks;
	uint32_t n_events;
	/* True if the first event was taken and its place not filled again. */
	bool top_taken;
	uint64_t sequence;
	uint64_t now;
};

/* Returns the next event of a CPU in the order of creation, which 52 bits number. */
static inline struct event new_event(struct sws_des *self, uint32_t cpu, uint64_t time)
{
	return (struct event){ time, self->sequence++ << CPU_BITS | cpu };
}

static inline uint32_t cpu_of(const struct event *event)
{
	return (uint32_t)(event->order & (CPUS_MAX - 1));
}

static inline bool before(const struct event *a, const struct event *b)
{
	return a->time < b->time || (a->time == b->time && a->order < b->order);
}

static inline bool des_is_idle(const struct sws_des *self, uint32_t cpu)
{
	return cpu < self->config.cpus && self->cpus[cpu].state == CPU_IDLE;
}

/*
 * Resumes a CPU: the time since its last event was idle. The time of an event is counted when the
 * event is created, so a CPU that continues at its event has no idle time; one without an event,
 * such as a sleeper, has.
 */
static inline struct cpu *des_resume(struct sws_des *self, uint32_t number)
{
	struct cpu *cpu = &self->cpus[number];

	cpu->account.idle_ns += self->now - cpu->until;
	cpu->until = self->now;
	return cpu;
}

/* Creates the event of a CPU at a time. */
void sws_des__push(struct sws_des *self, uint32_t cpu, uint64_t time);

#endif
