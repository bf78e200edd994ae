/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slot_base.h - where the scan for a free swap slot starts: the policies of patch D and of its
 * reviewers, behind one table of functions.
 *
 * Models
 *   mm/swapfile.c  cluster_next, cluster_next_cpu and set_cluster_next (5.8 to 6.11),
 *                  the initial values of swapon, V1 of the patch, and the
 *                  alternatives of its thread.
 *
 * A policy defines who owns the bases, their initial values, and the value that is stored when a
 * call ends (or, up to 5.7, at each slot):
 *
 *   policy               owner     initial value               stored value
 *   shared               device    random; 1 from 5.8 on       next
 *   percpu (V1)          CPU       random                      next
 *   percpu-rerandomise   CPU       random                      next; in another trunk than before:
 *                                                              the start of a random trunk
 *   spread               CPU       even over possible CPUs     next
 *   spread-online        CPU       even over online CPUs       next
 *   avoid                CPU       random, a trunk each        next; in another trunk than before:
 *                                                              the start of a random trunk that
 *                                                              has no base
 *   permm                task's mm random                      next
 *   reader               any       any of these                the result of a user's function
 *
 *   trunk:  0          1          2          3
 *           [....next--->|         |..........|    percpu: continues in trunk 1
 *           [....next--->|         >..........|    percpu-rerandomise: draws one of 0..3
 *
 * next is one past the slot where the scan is. With a base per mm, kernel threads, which have no
 * mm, have a base per CPU; these come before the others.
 *
 * Locks: none of its own. The kernel stores the base under si->lock, so reading other bases there
 * is work under that lock, and is counted.
 *
 * Modelled: the order and alignment of each rule, and the random range. Left out: the kernel's
 * random generator (each owner has its own stream), and V2 of the patch, which aligned up.
 */
#ifndef SWAPSIM_SLOT_BASE_H
#define SWAPSIM_SLOT_BASE_H

#include "swapsim/core.h"

/* ffi: begin */

/* The owners of bases. */
enum sws_base_of {
	/* The device has one base. */
	SWS_BASE_OF_DEVICE = 0,
	/* Each CPU has a base. */
	SWS_BASE_OF_CPU = 1,
	/* Each CPU and each mm has a base. */
	SWS_BASE_OF_MM = 2,
};

/* The initial values of the bases. */
enum sws_base_initial {
	/* Slot 1. */
	SWS_BASE_FIRST = 0,
	/* Uniform in [1, highest]. */
	SWS_BASE_RANDOM = 1,
	/* 1 + owner * (highest / possible CPUs); further owners start again from 1. */
	SWS_BASE_EVEN_POSSIBLE = 2,
	/* 1 + owner * (highest / online CPUs); further owners start again from 1. */
	SWS_BASE_EVEN_ONLINE = 3,
	/* Random, with at most one base per trunk as long as there are enough trunks. */
	SWS_BASE_APART = 4,
	/* The initial value of the shared base: slot 1 from 5.8 on, random before. */
	SWS_BASE_OF_KERNEL = 5,
};

/* The policies; see the table above. */
enum sws_base_policy {
	SWS_BASE_SHARED = 0,
	SWS_BASE_PERCPU = 1,
	SWS_BASE_PERCPU_RERANDOMISE = 2,
	SWS_BASE_SPREAD = 3,
	SWS_BASE_SPREAD_ONLINE = 4,
	SWS_BASE_AVOID = 5,
	SWS_BASE_PERMM = 6,
	/* The configuration contains the user's owner, initial value and function. */
	SWS_BASE_READER = 7,
};

/*
 * A policy. store is called under si->lock and returns the new base. Its arguments: the CPU and the
 * address space of the calling task (-1 for a kernel thread), its current base, the next slot of a
 * linear scan, the lowest and the highest slot that may be free, the slots of a trunk, a random
 * number of 63 bits, and the current bases including its own, read only: those of the online CPUs,
 * or of all CPUs followed by all address spaces. store adds the number of bases that it reads to
 * *looked_at.
 */
struct sws_base_ops {
	/* The owner of the bases. */
	enum sws_base_of base_of;
	/* The initial values. */
	enum sws_base_initial initial;
	int64_t (*store)(int64_t cpu, int64_t mm, int64_t base, int64_t next, int64_t lowest,
			 int64_t highest, int64_t trunk_size, int64_t draw, const int64_t *bases,
			 int64_t n_bases, int64_t *looked_at);
};

/*
 * Returns the name of a built-in policy in configurations and tables, such as "percpu-rerandomise";
 * NULL for other values, including SWS_BASE_READER. The string is constant.
 */
const char *sws_base_policy_name(enum sws_base_policy policy);
/* Returns the name of an owner: "device", "cpu" or "mm"; NULL for other values. */
const char *sws_base_of_name(enum sws_base_of base_of);
/* Returns the name of an initial value; NULL for other values. */
const char *sws_base_initial_name(enum sws_base_initial initial);

/* Returns a built-in policy, a constant; NULL for SWS_BASE_READER and unknown policies. */
const struct sws_base_ops *sws_base_ops_of(enum sws_base_policy policy);

/* ffi: end */

/* The properties of a device that the initial values depend on. */
struct sws_base_device {
	/* The last slot. */
	int64_t highest;
	/* Slots of a trunk. */
	int64_t trunk_size;
	/* Possible CPUs. */
	int64_t possible_cpus;
	/* Online CPUs. */
	int64_t online_cpus;
	/* The initial value of the shared base. */
	int64_t shared_start;
};

/*
 * Writes the initial values of n_bases bases; base i draws from generators[i]. Complexity:
 * O(n_bases); about n_bases squared for SWS_BASE_APART.
 */
void sws_base_start(enum sws_base_initial initial, const struct sws_base_device *device,
		    struct sws_generator *generators, int64_t *bases, int64_t n_bases);

#endif
