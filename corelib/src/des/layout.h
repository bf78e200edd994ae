/* SPDX-License-Identifier: GPL-2.0-or-later */
/* des/layout.h - CPUs, locks with their queues, and the queue of events. */
#ifndef SWAPSIM_DES_LAYOUT_H
#define SWAPSIM_DES_LAYOUT_H

#include "swapsim/des.h"

#define NO_CPU UINT32_MAX
/*
 * The clock does not go on from a later time than this one, and no step is longer, but for the
 * transfers of a hand-over, which are as long together. So no event is later than three times it,
 * and the times of all 4096 CPUs add up to less than 2^64.
 */
#define TIME_MAX (UINT64_C(1) << 50)

enum cpu_state {
	/* Its event was taken, or it has not had one yet. */
	CPU_IDLE,
	/* Its event is in the queue. */
	CPU_PENDING,
	/* It is in the queue of a lock. */
	CPU_WAITING,
};

struct cpu {
	struct sws_des_cpu account;
	/* Time up to which its times are counted: that of its event, if it has one. */
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
	/* True from an acquisition with others waiting to the first run after it. */
	bool crowded;
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

#define CPUS_MAX 4096U

struct sws_des {
	struct sws_allocator allocator;
	struct sws_des_config config;
	struct cpu *cpus;
	struct lock *locks;
	struct sws_des_site *sites;
	/* The CPUs that have an event, the next one last; of equal times the oldest is last. */
	uint32_t *queue;
	uint32_t n_locks;
	uint32_t n_events;
	uint64_t now;
	/* Transfer times of a line by the number of borders that it crosses: of a core, a socket. */
	uint64_t travel_ns[3];
};

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

#endif
