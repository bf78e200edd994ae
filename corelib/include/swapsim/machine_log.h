/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine_log.h - records the run of a machine as spans of time: each wait for a lock with the
 * holder, each hold, and each sleep.
 *
 * It models no kernel code. It runs a machine of machine.h as sws_machine_run does, reads its state
 * after each event, and reports the spans that have ended. The machine does not depend on it, so a
 * run with a log is identical to the run without one, and a run without a log has no cost.
 *
 *      CPU 0  ==run==[===hold===]........run.........
 *      CPU 1  ==run====|~~wait~~~~~[===hold===]==run==      behind CPU 0
 *      CPU 2  ......sleep.......|==run==[=hold=]            of another lock
 *
 *   span    from                          until
 *   wait    the lock is requested         it is acquired, with the transfer of its cache line;
 *                                         the length is 0 if it was free and last held here
 *   hold    the lock is acquired          it is released
 *   sleep   the actor has no work, or     it is woken, or the device has finished
 *           waits for a device
 *
 * A span is reported when it ends (a wait when its end is known). So the spans of one CPU come in
 * the order of their ends, and a hold before the waits of others that it ends; spans that are open
 * when the log ends are not reported. The sum of a site's waits is its wait_ns in struct
 * sws_des_site, their number is its acquisitions; the sum of the holds is its hold_ns.
 *
 * Locks: none of its own; it adds no simulated time.
 */
#ifndef SWAPSIM_MACHINE_LOG_H
#define SWAPSIM_MACHINE_LOG_H

#include "swapsim/machine.h"

/* ffi: begin */

/* The classes of locks, by what they protect. */
enum sws_lock_class {
	/* The list of devices. */
	SWS_LOCK_CLASS_SWAP_AVAIL = 0,
	/* A CPU's cache of allocated slots. */
	SWS_LOCK_CLASS_ALLOC = 1,
	/* A CPU's cache of slots that wait to be freed. */
	SWS_LOCK_CLASS_FREE = 2,
	/* A node's lists. */
	SWS_LOCK_CLASS_LRU = 3,
	/* A node's free pages. */
	SWS_LOCK_CLASS_ZONE = 4,
	/* A device's slots. */
	SWS_LOCK_CLASS_SI = 5,
	/* A device's records of memory cgroups. */
	SWS_LOCK_CLASS_RECORD = 6,
	/* A trunk of a device's swap cache. */
	SWS_LOCK_CLASS_TREE = 7,
	/* A cluster of a device's slots. */
	SWS_LOCK_CLASS_CLUSTER = 8,
};

/* The identity of a lock. */
struct sws_lock_identity {
	/* The class. */
	enum sws_lock_class lock_class;
	/* The CPU, node or device. */
	uint32_t owner;
	/* The trunk or cluster of the device, else 0. */
	uint32_t part;
};

/* The kinds of spans; see the table above. */
enum sws_span_kind {
	SWS_SPAN_WAIT = 0,
	SWS_SPAN_HOLD = 1,
	SWS_SPAN_SLEEP = 2,
};

/* The value for no lock, no site and no holder. */
#define SWS_LOG_NONE 4294967295

/* A span of time of one CPU. */
struct sws_span {
	/* The beginning. */
	uint64_t from_ns;
	/* The end. */
	uint64_t until_ns;
	/* enum sws_span_kind */
	uint32_t kind;
	/* The CPU. */
	uint32_t cpu;
	/* The call site of a wait or hold, enum sws_machine_site; else SWS_LOG_NONE. */
	uint32_t site;
	/*
	 * The number of the lock; SWS_LOG_NONE for a sleep, and for a wait until an interrupt is
	 * taken.
	 */
	uint32_t lock;
	/*
	 * For a wait: the CPU that held the lock when it was requested or the log began, or that
	 * has interrupts off; else SWS_LOG_NONE.
	 */
	uint32_t holder;
};

/* A log; only the functions below read it. */
struct sws_machine_log;

/* Returns the name of a class, which is that of the kernel's lock; NULL past the last. */
const char *sws_lock_class_name(uint32_t lock_class);

/*
 * Begins a log of a machine that is filled; the memory comes from the machine's allocator. The
 * caller owns *out, frees it by sws_machine_log_free, and runs the machine by no other function
 * while it logs. Complexity: O(locks). Returns SWS_OK, SWS_ERROR_BAD_ARGUMENT for a machine that is
 * still being filled, or SWS_ERROR_NO_MEMORY.
 */
int sws_machine_log_new(struct sws_machine *machine, struct sws_machine_log **out);

/* Frees a log; accepts NULL. */
void sws_machine_log_free(struct sws_machine_log *self);

/* Returns the maximum number of spans that one event can end, the minimum room of a run. */
uint32_t sws_machine_log_room(const struct sws_machine_log *self);

/*
 * Runs as sws_machine_run does until the clock reaches until_ns, no event is left (then *more is
 * false), max_events have been processed, or there is no more room. Writes the *n spans that have
 * ended. Complexity: O(CPUs) per event, and O(locks) for an event in which a CPU takes another lock
 * at a site than the last time. Returns SWS_OK, SWS_ERROR_BAD_ARGUMENT for less room than
 * sws_machine_log_room, or SWS_ERROR_BROKEN if the log and the machine disagree.
 */
int sws_machine_log_run(struct sws_machine_log *self, uint64_t until_ns, uint64_t max_events,
			struct sws_span *spans, uint32_t room, uint32_t *n, bool *more);

/* Returns the identity of a lock number: SWS_OK, or SWS_ERROR_NOT_FOUND for an unknown one. */
int sws_machine_log_lock(const struct sws_machine_log *self, uint32_t lock,
			 struct sws_lock_identity *identity);

/*
 * Returns the pages with a slot: in the swap cache, or on their way into it or out of it.
 * Complexity: O(pages).
 */
uint32_t sws_machine_log_cached(const struct sws_machine_log *self);

/* ffi: end */

#endif
