/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * des.h - time for a machine of CPUs and spinlocks: a clock of whole nanoseconds,
 * the order of events, and who waits for which lock how long.
 *
 * Models kernel/locking/qspinlock.c in what its users see: waiters are served in
 * the order of their coming, each spins until the lock is handed to it, and the
 * lock's cache line travels from the last holder's CPU to the next one's: once if the
 * lock was free. The first waiter has the line before its eyes, so a lock that is handed
 * over costs three ways: the holder's store takes the line back, the waiter's read fetches
 * it, and the waiter's own store takes it for good. Beside it a test-and-set lock, whose
 * waiters all pull at the line.
 *
 *      CPU 0  ==run==[===hold===]........run.........
 *      CPU 1  ==run====|~~wait~~~|h[===hold===]==run==      h: hand-off
 *      CPU 2  ===run=====|~~~~~~~~wait~~~~~~~~|h[=hold=]
 *
 * Each CPU does one thing at a time, so it has one event at most. The caller leads
 * the CPUs: it takes the next event, does there what its actor does, and says how
 * long that lasts or which lock comes next.
 *
 *      sws_des_next -> cpu, now -> sws_des_run | sws_des_lock | sws_des_unlock, run ...
 *
 *   operation   model time
 *   run         ns of the CPU's own
 *   lock        line travel from the last holder, then hold; if taken: wait, then hand-off
 *   unlock      none; the first waiter gets the lock after the hand-off: the line's way
 *               hand_off_ways times
 *   interrupt   none if the other CPU has interrupts on; else until it has, which it has not
 *               from asking for a lock with interrupts off to giving it back
 *
 * Events at one time come in the order in which they were made. There is no
 * randomness here: whoever wants some, brings a stream.
 *
 * Kept: FIFO order, hand-off by distance, waits by call site, interrupts off as a
 * cost of its own. Dropped: the lock's own atomic instructions beyond the line's
 * travel, what the holder's writes beside the lock lose to the waiter that reads it,
 * memory bandwidth, preemption, frequency.
 */
#ifndef SWAPSIM_DES_H
#define SWAPSIM_DES_H

#include "swapsim/core.h"

/* ffi: begin */

/* How waiters of a lock are served. */
enum sws_lock_kind {
	/* First come, first served: qspinlock. */
	SWS_LOCK_QUEUED = 0,
	/* The nearest waiter wins; the line's way grows with the waiters. */
	SWS_LOCK_TEST_AND_SET = 1,
};

/* CPUs and locks of a machine, and what a cache line's way costs. */
struct sws_des_config {
	/* 1 .. 4096; default 1. */
	uint32_t cpus;
	/* Hardware threads; default 1. */
	uint32_t cpus_per_core;
	/* A multiple of cpus_per_core; default 1. */
	uint32_t cpus_per_socket;
	/* Call sites that waits are told apart by, 1 .. 65536; default 1. */
	uint32_t sites;
	/* A line's way to another thread of the core; default 5. */
	uint64_t travel_same_core_ns;
	/* To another core of the socket; default 30. */
	uint64_t travel_same_socket_ns;
	/* To another socket; default 90. */
	uint64_t travel_other_socket_ns;
	/* More until a lock is had with interrupts off; default 0. */
	uint64_t irq_save_ns;
	/* Of the line of a queued lock that is handed over, 1 .. 8; default 3. */
	uint32_t hand_off_ways;
	/* NULL: libc. */
	const struct sws_allocator *allocator;
};

/* What the acquisitions of one call site cost, all CPUs together. */
struct sws_des_site {
	uint64_t acquisitions;
	/* The lock was held, or on its way to another CPU. */
	uint64_t contended;
	/* The last holder was another CPU. */
	uint64_t moved;
	/* From asking to having, the line's way included. */
	uint64_t wait_ns;
	/* From having to giving back. */
	uint64_t hold_ns;
	/* Of one acquisition. */
	uint64_t longest_wait_ns;
	uint64_t longest_hold_ns;
};

/* Where a CPU's time went; the four add up to the time of its last event, or since which it waits. */
struct sws_des_cpu {
	/* Without a lock. */
	uint64_t run_ns;
	/* With one or more. */
	uint64_t hold_ns;
	/* For one, with or without another held, or for another CPU's interrupts to be on. */
	uint64_t wait_ns;
	/* Between an event and what it did next. */
	uint64_t idle_ns;
};

struct sws_des;

/* Writes every default. */
void sws_des_config_init(struct sws_des_config *config);

/*
 * Makes a machine at time 0 without locks, all CPUs idle. The caller frees it.
 * Returns SWS_ERROR_BAD_CONFIG for a field out of its range.
 */
int sws_des_new(const struct sws_des_config *config, struct sws_des **out);

/* Frees a machine; takes NULL. */
void sws_des_free(struct sws_des *self);

/* Adds locks of one kind; the first one's number goes to *first, the others follow. */
int sws_des_add_locks(struct sws_des *self, enum sws_lock_kind kind, uint32_t n, uint32_t *first);

/* Nanoseconds since the start: the time of the last event taken. */
uint64_t sws_des_now(const struct sws_des *self);

/*
 * Takes the next event, of all the earliest, and of those at one time the one that was
 * made first: at sws_des_now, this CPU has run its time or got its lock. False if no
 * CPU has one. Complexity: O(log cpus).
 */
bool sws_des_next(struct sws_des *self, uint32_t *cpu);

/*
 * An idle CPU runs for ns; then its event comes. Time with a lock held counts as
 * hold. Returns SWS_ERROR_BAD_ARGUMENT for a CPU that has an event or waits.
 */
int sws_des_run(struct sws_des *self, uint32_t cpu, uint64_t ns);

/*
 * A CPU that runs without a lock is done now: what was left of its time it does not run.
 * So a sleep that may be cut short is a run. Complexity: O(cpus). Returns
 * SWS_ERROR_BAD_ARGUMENT for a CPU without an event, and for one that holds a lock.
 */
int sws_des_hasten(struct sws_des *self, uint32_t cpu);

/*
 * When the next event comes: whoever makes no event before then is met by nobody. False
 * if no CPU has one. Complexity: O(1).
 */
bool sws_des_peek(const struct sws_des *self, uint64_t *time);

/*
 * An idle CPU asks for a lock; its event comes when it has it. Locks nest.
 * Returns SWS_ERROR_BAD_ARGUMENT for a CPU that has an event or waits, a lock that
 * it holds, an unknown lock or site.
 */
int sws_des_lock(struct sws_des *self, uint32_t cpu, uint32_t lock, uint32_t site, bool irq_save);

/*
 * An idle CPU gives a lock back; the first waiter gets it. It takes no time.
 * Returns SWS_ERROR_BAD_ARGUMENT for a lock that it does not hold.
 */
int sws_des_unlock(struct sws_des *self, uint32_t cpu, uint32_t lock);

/* How often a CPU had its interrupts off and has had them on again, so far; 0 for an unknown one. */
uint64_t sws_des_interrupts_on(const struct sws_des *self, uint32_t cpu);

/*
 * An idle CPU that has interrupted another goes on when that one has taken the interrupt; its
 * event comes then: at once if the other has interrupts on, or has had them on since the interrupt
 * was sent, when sws_des_interrupts_on was so much. What it waits counts at a site as an
 * acquisition's wait does. Returns SWS_ERROR_BAD_ARGUMENT for a CPU that has an event or waits, for
 * itself as the other, for one that has interrupts off itself, an unknown CPU or site.
 */
int sws_des_interrupt(struct sws_des *self, uint32_t cpu, uint32_t other, uint64_t sent,
		      uint32_t site);

/* What one call site cost so far; zeros for an unknown one. */
struct sws_des_site sws_des_site_of(const struct sws_des *self, uint32_t site);

/* Where a CPU's time went so far; zeros for an unknown one. */
struct sws_des_cpu sws_des_cpu_of(const struct sws_des *self, uint32_t cpu);

/* Re-derives every invariant; SWS_ERROR_BROKEN and a reason if one fails. */
int sws_des_verify(const struct sws_des *self, const char **reason);

/* A closed loop: CPUs that think, take a lock, hold it, give it back, and think again. */
struct sws_closed_loop_config {
	struct sws_des_config des;
	enum sws_lock_kind lock_kind;
	/* CPU i takes lock i % locks; 1 .. cpus. */
	uint32_t locks;
	/* Mean; uniform in 0 .. 2 * think_ns, up to 2^31 - 1. */
	uint64_t think_ns;
	/* Up to 2^32 - 1. */
	uint64_t hold_ns;
	uint64_t seed;
};

/*
 * Runs a closed loop from time 0 until a number of acquisitions was had: *site is
 * what they cost, *now when the last one was had. Complexity: O(acquisitions *
 * log cpus). Returns as the calls of des.h do.
 */
int sws_closed_loop(const struct sws_closed_loop_config *config, uint64_t acquisitions,
		    struct sws_des_site *site, uint64_t *now);

/* ffi: end */

#endif
