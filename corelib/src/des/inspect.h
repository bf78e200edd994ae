/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * des/inspect.h - read-only access to CPUs and locks between two events, for an observer. It does
 * not change the state, and the simulation does not depend on it.
 */
#ifndef SWAPSIM_DES_INSPECT_H
#define SWAPSIM_DES_INSPECT_H

#include "swapsim/des.h"

#define DES_NONE UINT32_MAX

struct des_cpu_look {
	/* The time of its event; for a waiting CPU the time since which it waits. */
	uint64_t until;
	/* The site of its last request. */
	uint32_t site;
	/* The number of locks that it holds. */
	uint32_t held;
	bool waits;
};

struct des_lock_look {
	/*
	 * The time at which its holder acquired it; in the future while the line is being
	 * transferred.
	 */
	uint64_t since;
	/* The CPU that holds it; DES_NONE if it is free. */
	uint32_t holder;
	uint32_t site;
};

struct des_cpu_look sws_des__look_at_cpu(const struct sws_des *self, uint32_t cpu);

struct des_lock_look sws_des__look_at_lock(const struct sws_des *self, uint32_t lock);

uint32_t sws_des__count_locks(const struct sws_des *self);

/* Returns the CPU after one in a lock's queue, after DES_NONE the first; DES_NONE at the end. */
uint32_t sws_des__next_waiter(const struct sws_des *self, uint32_t lock, uint32_t after);

/* Returns likewise the CPUs that wait until a CPU has interrupts on. */
uint32_t sws_des__next_caller(const struct sws_des *self, uint32_t cpu, uint32_t after);

/*
 * Returns the lock whose queue ends with a CPU, searched cyclically from one on; DES_NONE if none.
 */
uint32_t sws_des__queue_of(const struct sws_des *self, uint32_t cpu, uint32_t from);

/* Returns the CPU whose last caller a CPU is; DES_NONE if none. */
uint32_t sws_des__called_by(const struct sws_des *self, uint32_t cpu);

/*
 * Returns a lock that a CPU requested at its last site and has from its event on; searched
 * likewise.
 */
uint32_t sws_des__given_to(const struct sws_des *self, uint32_t cpu, uint32_t from);

#endif
