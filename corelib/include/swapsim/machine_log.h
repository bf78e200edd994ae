/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine_log.h - a machine's run as spans of time: who waits for which lock and for whom,
 * who holds it, and who sleeps.
 *
 * Models nothing: it leads a machine of machine.h as sws_machine_run does, looks at it after each
 * event, and tells what has ended. The machine knows nothing of it, so that a run with a log
 * is the run without one, and costs nothing where nobody logs.
 *
 *      CPU 0  ==run==[===hold===]........run.........
 *      CPU 1  ==run====|~~wait~~~~~[===hold===]==run==      behind CPU 0
 *      CPU 2  ......sleep.......|==run==[=hold=]            of another lock
 *
 *   span    from                          until
 *   wait    a lock is asked for           it is had, the line's way included; of no length
 *                                         where it was free and this CPU's last
 *   hold    it is had                     it is given back
 *   sleep   nothing is left to do, or a   woken, or what it waited for came
 *           device is waited for
 *
 * A span is told when it ends (a wait when its end is known), so those of one CPU come in the
 * order of their ends, a hold before the waits of others that it has ended, and what is open
 * when the log ends is not told. The waits of a site add up to its wait_ns in struct sws_des_site,
 * their number to its acquisitions; the holds to its hold_ns.
 *
 * Locks: none of its own; it counts nothing that takes time.
 */
#ifndef SWAPSIM_MACHINE_LOG_H
#define SWAPSIM_MACHINE_LOG_H

#include "swapsim/machine.h"

/* ffi: begin */

/* What a lock guards. */
enum sws_lock_class {
	SWS_LOCK_CLASS_SWAP_AVAIL = 0, /* the list of devices */
	SWS_LOCK_CLASS_ALLOC = 1, /* a CPU's cache of slots to be handed out */
	SWS_LOCK_CLASS_FREE = 2, /* a CPU's cache of slots that came back */
	SWS_LOCK_CLASS_LRU = 3, /* a node's lists */
	SWS_LOCK_CLASS_ZONE = 4, /* a node's free pages */
	SWS_LOCK_CLASS_SI = 5, /* a device's slots */
	SWS_LOCK_CLASS_RECORD = 6, /* a device's records of memory cgroups */
	SWS_LOCK_CLASS_TREE = 7, /* a trunk of a device's swap cache */
	SWS_LOCK_CLASS_CLUSTER = 8, /* a cluster of a device's slots */
};

/* Which lock: the owner is a CPU, node or device; the part a trunk or cluster of it, else 0. */
struct sws_lock_identity {
	enum sws_lock_class lock_class;
	uint32_t owner;
	uint32_t part;
};

enum sws_span_kind {
	SWS_SPAN_WAIT = 0,
	SWS_SPAN_HOLD = 1,
	SWS_SPAN_SLEEP = 2,
};

/* No lock, or nobody. */
#define SWS_LOG_NONE 4294967295

struct sws_span {
	uint64_t from_ns;
	uint64_t until_ns;
	/* enum sws_span_kind. */
	uint32_t kind;
	uint32_t cpu;
	/* Of a wait or hold: enum sws_machine_site; else SWS_LOG_NONE. */
	uint32_t site;
	/* Its number; SWS_LOG_NONE for a sleep, and for a wait until an interrupt is taken. */
	uint32_t lock;
	/*
	 * Of a wait: who had the lock when it was asked for or the log began, or has interrupts
	 * off; else SWS_LOG_NONE.
	 */
	uint32_t holder;
};

struct sws_machine_log;

/* A class's name, that of the kernel's lock. NULL past the last. */
const char *sws_lock_class_name(uint32_t lock_class);

/*
 * Begins a log of a machine that is filled and runs; memory comes from the machine's allocator. The
 * caller frees it, and leads the machine by nothing else while it logs. Complexity: O(locks).
 * Returns SWS_ERROR_BAD_ARGUMENT for a machine that is still being filled, SWS_ERROR_NO_MEMORY.
 */
int sws_machine_log_new(struct sws_machine *machine, struct sws_machine_log **out);

/* Frees a log; takes NULL. */
void sws_machine_log_free(struct sws_machine_log *self);

/* Spans that one event may end: what sws_machine_log_run needs room for. */
uint32_t sws_machine_log_room(const struct sws_machine_log *self);

/*
 * Goes on as sws_machine_run does, until the clock has reached until_ns or nothing is left to
 * do (*more false then), at most max_events further, and until there is no more room. Writes
 * the spans that ended, *n of them. Complexity: of an event O(CPUs), and O(locks) where a
 * CPU takes another lock at a site than the last time. Returns SWS_ERROR_BAD_ARGUMENT for less
 * room than sws_machine_log_room, SWS_ERROR_BROKEN if the log has lost track.
 */
int sws_machine_log_run(struct sws_machine_log *self, uint64_t until_ns, uint64_t max_events,
			struct sws_span *spans, uint32_t room, uint32_t *n, bool *more);

/* Which lock has a number. Returns SWS_ERROR_NOT_FOUND for an unknown one. */
int sws_machine_log_lock(const struct sws_machine_log *self, uint32_t lock,
			 struct sws_lock_identity *identity);

/* Pages with a slot: in the swap cache, or on their way into it or out of it. Complexity: O(pages). */
uint32_t sws_machine_log_cached(const struct sws_machine_log *self);

/* ffi: end */

#endif
