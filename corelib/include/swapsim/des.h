/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * des.h - time for a machine of CPUs and spinlocks: a clock in integer nanoseconds, the order of
 * events, and the waits for locks.
 *
 * Models the behaviour of kernel/locking/qspinlock.c as its users see it: waiters are served in the
 * order of their arrival, each spins until the lock is handed over to it, and the lock's cache line
 * is transferred from the last holder's CPU to the next one's, once if the lock was free. The first
 * waiter spins on the line, so a hand-over costs three transfers: the holder's store takes the line
 * back, the waiter's read fetches it, and the waiter's own store takes it exclusively. The
 * alternatives are locks whose waiters all spin on one line, so that a hand-over takes longer
 * with each of them: a ticket lock, which is as fair, and a test-and-set lock.
 *
 *      CPU 0  ==run==[===hold===]........run.........
 *      CPU 1  ==run====|~~wait~~~|h[===hold===]==run==      h: hand-over
 *      CPU 2  ===run=====|~~~~~~~~wait~~~~~~~~|h[=hold=]
 *
 * Each CPU does one thing at a time, so it has at most one event. The caller controls the CPUs: it
 * takes the next event, carries out the actor's action, and says how long that takes or which lock
 * is requested next.
 *
 *      sws_des_next -> cpu, now -> sws_des_run | sws_des_lock | sws_des_unlock, run ...
 *
 *   operation   simulated time
 *   run         ns of the CPU itself; the first run of a contended hold takes contended_ns more
 *   lock        transfer from the last holder, then hold; if taken: wait, then hand-over
 *   unlock      none; the first waiter gets the lock after the hand-over, which is
 *               hand_off_ways transfers of the line
 *   interrupt   none if the other CPU has interrupts on; else until it has, which is not the
 *               case from the request of a lock with interrupts off to its release
 *
 * The clock ends at 2^50 ns, 13 days, so that no time and no sum over CPUs wraps: at a later time,
 * each of these returns SWS_ERROR_BAD_ARGUMENT.
 *
 * Events at the same time are processed in the order of their creation. There is no randomness
 * here; a caller that needs some has its own stream.
 *
 * Modelled: FIFO order, hand-over by distance, waits by call site, disabled interrupts as a
 * separate cost; by contended_ns, the slowdown of the holder's writes by a waiter that reads the
 * line. Left out: the lock's own atomic instructions except the transfer of the line, memory
 * bandwidth, preemption, frequency.
 */
#ifndef SWAPSIM_DES_H
#define SWAPSIM_DES_H

#include "swapsim/core.h"

/* ffi: begin */

/* The order in which waiters of a lock are served. */
enum sws_lock_kind {
	/* In order of arrival: qspinlock. */
	SWS_LOCK_QUEUED = 0,
	/* The nearest waiter wins; the transfer time grows with the number of waiters. */
	SWS_LOCK_TEST_AND_SET = 1,
	/*
	 * In order of arrival, but all waiters read one line: the holder's store, then half of the
	 * waiters' reads, rounded up, before the next holder's. Boyd-Wickizer et al. 2012.
	 */
	SWS_LOCK_TICKET = 2,
};

/* The configuration: CPUs, call sites, and the transfer times of a cache line. */
struct sws_des_config {
	/* CPUs, 1 .. 4096; default 1. */
	uint32_t cpus;
	/* Hardware threads of a core; default 1. */
	uint32_t cpus_per_core;
	/* CPUs of a socket, a multiple of cpus_per_core; default 1. */
	uint32_t cpus_per_socket;
	/* Call sites by which waits are counted, 1 .. 65536; default 1. */
	uint32_t sites;
	/* Transfer of a line to another thread of the core, below 2^38, as all times here; default 5. */
	uint64_t travel_same_core_ns;
	/* Transfer of a line to another core of the socket; default 30. */
	uint64_t travel_same_socket_ns;
	/* Transfer of a line to another socket; default 90. */
	uint64_t travel_other_socket_ns;
	/* Additional time to acquire a lock with interrupts off; default 0. */
	uint64_t irq_save_ns;
	/* Transfers of the line when a queued lock is handed over, 1 .. 8; default 3. */
	uint32_t hand_off_ways;
	/*
	 * What the first run of a hold takes longer if another CPU waits for the lock when the hold
	 * begins: it reads the line that the holder writes; below 2^38, default 0.
	 */
	uint64_t contended_ns;
	/* The allocator; NULL means that of libc. */
	const struct sws_allocator *allocator;
};

/* The costs of the acquisitions at one call site, summed over all CPUs. */
struct sws_des_site {
	/* Acquisitions. */
	uint64_t acquisitions;
	/* Acquisitions of a lock that was held or in transfer to another CPU. */
	uint64_t contended;
	/* Acquisitions of a lock whose last holder was another CPU. */
	uint64_t moved;
	/* Time from request to acquisition, including the transfer of the line. */
	uint64_t wait_ns;
	/* Time from acquisition to release. */
	uint64_t hold_ns;
	/* The longest wait of one acquisition. */
	uint64_t longest_wait_ns;
	/* The longest hold of one acquisition. */
	uint64_t longest_hold_ns;
};

/* The time of a CPU; the four add up to the time of its last event, or of the start of its wait. */
struct sws_des_cpu {
	/* Running without a lock. */
	uint64_t run_ns;
	/* Running with at least one lock. */
	uint64_t hold_ns;
	/*
	 * Waiting for a lock, whether or not it holds another, or for another CPU's interrupts to
	 * be on.
	 */
	uint64_t wait_ns;
	/* Idle between an event and its next action. */
	uint64_t idle_ns;
};

/* A clock with its CPUs and locks; only the functions below read it. */
struct sws_des;

/* Writes every default. Complexity: O(1). */
void sws_des_config_init(struct sws_des_config *config);

/*
 * Creates a machine at time 0 without locks and with idle CPUs. The caller owns *out and frees it
 * by sws_des_free. Complexity: O(CPUs + sites). Returns SWS_OK, SWS_ERROR_BAD_CONFIG or
 * SWS_ERROR_NO_MEMORY.
 */
int sws_des_new(const struct sws_des_config *config, struct sws_des **out);

/* Frees a machine; accepts NULL. */
void sws_des_free(struct sws_des *self);

/*
 * Adds n locks of one kind with consecutive numbers; *first is the first number. Complexity:
 * amortised O(n). Returns SWS_OK, SWS_ERROR_BAD_ARGUMENT or SWS_ERROR_NO_MEMORY.
 */
int sws_des_add_locks(struct sws_des *self, enum sws_lock_kind kind, uint32_t n, uint32_t *first);

/* Returns the time of the last event, in ns since the start. */
uint64_t sws_des_now(const struct sws_des *self);

/*
 * Takes the earliest event; of several at the same time the one that was created first. At
 * sws_des_now this CPU has run its time or acquired its lock. Returns false if no CPU has an event.
 * Complexity: O(1).
 */
bool sws_des_next(struct sws_des *self, uint32_t *cpu);

/*
 * Lets an idle CPU run for ns, after which it has an event. Time with a lock counts as hold.
 * Complexity: O(events before the new one). Returns SWS_OK, or SWS_ERROR_BAD_ARGUMENT for a CPU
 * that has an event or waits, and for more than 2^50 ns.
 */
int sws_des_run(struct sws_des *self, uint32_t cpu, uint64_t ns);

/*
 * Ends the run of a CPU without a lock now; the rest of its time does not count. A sleep that may
 * be cut short is such a run. Complexity: O(cpus). Returns SWS_OK, or SWS_ERROR_BAD_ARGUMENT for a
 * CPU without an event, and for one that holds a lock.
 */
int sws_des_hasten(struct sws_des *self, uint32_t cpu);

/*
 * Writes the time of the next event; a caller that creates no event before then is not interrupted
 * by one. Returns false if no CPU has an event. Complexity: O(1).
 */
bool sws_des_peek(const struct sws_des *self, uint64_t *time);

/*
 * Lets an idle CPU request a lock; it has an event when it has acquired the lock. Locks nest.
 * Complexity: as sws_des_run. Returns SWS_OK, or SWS_ERROR_BAD_ARGUMENT for a CPU that has an event
 * or waits, a lock that it holds, or an unknown lock or site.
 */
int sws_des_lock(struct sws_des *self, uint32_t cpu, uint32_t lock, uint32_t site, bool irq_save);

/*
 * Lets an idle CPU release a lock, which takes no time; the first waiter gets it. Complexity: as
 * sws_des_run, for a test-and-set lock also O(waiters). Returns SWS_OK, or SWS_ERROR_BAD_ARGUMENT
 * for a lock that the CPU does not hold.
 */
int sws_des_unlock(struct sws_des *self, uint32_t cpu, uint32_t lock);

/* Returns how many times a CPU has turned its interrupts on again so far; 0 for an unknown CPU. */
uint64_t sws_des_interrupts_on(const struct sws_des *self, uint32_t cpu);

/*
 * Lets an idle CPU wait for the interrupt that it has sent to another one; it has an event when the
 * other has taken the interrupt: at once if the other has interrupts on, or has turned them on
 * since the interrupt was sent, when sws_des_interrupts_on was `sent`. The wait counts at a site as
 * that of an acquisition. Complexity: as sws_des_run. Returns SWS_OK, or SWS_ERROR_BAD_ARGUMENT for a
 * CPU that has an event, waits, or has interrupts off, for itself as the other, or for an unknown
 * CPU or site.
 */
int sws_des_interrupt(struct sws_des *self, uint32_t cpu, uint32_t other, uint64_t sent,
		      uint32_t site);

/* Returns the costs of one call site so far; zeros for an unknown site. */
struct sws_des_site sws_des_site_of(const struct sws_des *self, uint32_t site);

/* Returns the times of a CPU so far; zeros for an unknown CPU. */
struct sws_des_cpu sws_des_cpu_of(const struct sws_des *self, uint32_t cpu);

/*
 * Recomputes every invariant. Complexity: O(CPUs + locks). Returns SWS_OK, or SWS_ERROR_BROKEN and
 * the *reason, a constant string.
 */
int sws_des_verify(const struct sws_des *self, const char **reason);

/* A closed loop: CPUs that think, acquire a lock, hold it, release it, and think again. */
struct sws_closed_loop_config {
	/* The CPUs and transfer times. */
	struct sws_des_config des;
	/* The kind of the locks. */
	enum sws_lock_kind lock_kind;
	/* Number of locks, 1 .. cpus; CPU i takes lock i % locks. */
	uint32_t locks;
	/* Mean think time, uniform in 0 .. 2 * think_ns; up to 2^31 - 1. */
	uint64_t think_ns;
	/* Hold time, up to 2^32 - 1. */
	uint64_t hold_ns;
	/* Seed of the think times. */
	uint64_t seed;
};

/*
 * Runs a closed loop from time 0 until a number of acquisitions. *site has their costs, *now is the
 * time of the last one. Complexity: O(acquisitions * cpus). Returns the codes of the calls
 * above.
 */
int sws_closed_loop(const struct sws_closed_loop_config *config, uint64_t acquisitions,
		    struct sws_des_site *site, uint64_t *now);

/* ffi: end */

#endif
