/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * des/look.h - CPUs and locks as an observer finds them between two events. Whoever looks changes
 * nothing, and what runs does not know of it.
 */
#ifndef SWAPSIM_DES_LOOK_H
#define SWAPSIM_DES_LOOK_H

#include "swapsim/des.h"

#define DES_NONE UINT32_MAX

struct des_cpu_look {
	/* When its event comes; of one that waits, since when. */
	uint64_t until;
	/* Of what it asked for last. */
	uint32_t site;
	/* Locks that it has. */
	uint32_t held;
	bool waits;
};

struct des_lock_look {
	/* When its holder had it: in the future while the line travels. */
	uint64_t since;
	/* DES_NONE: nobody. */
	uint32_t holder;
	uint32_t site;
};

struct des_cpu_look sws_des__look_at_cpu(const struct sws_des *self, uint32_t cpu);

struct des_lock_look sws_des__look_at_lock(const struct sws_des *self, uint32_t lock);

uint32_t sws_des__count_locks(const struct sws_des *self);

/* Behind one in a lock's queue, behind DES_NONE the first; DES_NONE: nobody. */
uint32_t sws_des__next_waiter(const struct sws_des *self, uint32_t lock, uint32_t after);

/* Likewise of those that wait until a CPU has interrupts on. */
uint32_t sws_des__next_caller(const struct sws_des *self, uint32_t cpu, uint32_t after);

/* The lock in whose queue a CPU is the last one, looked for from one on and round; DES_NONE: none. */
uint32_t sws_des__queue_of(const struct sws_des *self, uint32_t cpu, uint32_t from);

/* The CPU that one waits for as the last of its callers; DES_NONE: none. */
uint32_t sws_des__called_by(const struct sws_des *self, uint32_t cpu);

/* A lock that a CPU asked for at its last site and has from its event on, likewise looked for. */
uint32_t sws_des__given_to(const struct sws_des *self, uint32_t cpu, uint32_t from);

#endif
