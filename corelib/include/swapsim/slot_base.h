/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slot_base.h - where the scan for a free swap slot begins: the policies of
 * patch D and of its reviewers, behind one table of functions.
 *
 * Models
 *   mm/swapfile.c  cluster_next, cluster_next_cpu and set_cluster_next (5.8 to 6.11),
 *                  the initial values of swapon, V1 of the patch, and the
 *                  alternatives of its thread.
 *
 * A policy says three things: whose the bases are, what they are at first, and
 * what is stored when a call ends (or, up to 5.7, at each slot):
 *
 *   policy               whose     at first                    stored
 *   shared               device    random; 1 from 5.8 on       next
 *   percpu (V1)          CPU       random                      next
 *   percpu-rerandomise   CPU       random                      next; in another trunk than before:
 *                                                              the start of a random one
 *   spread               CPU       even over possible CPUs     next
 *   spread-online        CPU       even over online CPUs       next
 *   avoid                CPU       random, a trunk each        next; in another trunk than before: the
 *                                                              start of a random one without a base
 *   permm                task's mm random                      next
 *   reader               any       any of these                what a function of the reader's says
 *
 *   trunk:  0          1          2          3
 *           [....next--->|         |..........|    percpu: walks on into 1
 *           [....next--->|         >..........|    percpu-rerandomise: draws one of 0..3
 *
 * next is one past the slot where the scan stands. A base per mm has in front of
 * it one a CPU, for kernel threads, which have no mm.
 *
 * Locks: none of its own. The kernel stores the base under si->lock, so the bases
 * that a policy looks at there are work under that lock, and are counted.
 *
 * Kept: the order and alignment of each rule, and the random range. Dropped: the
 * kernel's generator (each owner has a stream of ours), the V2 that aligned up.
 */
#ifndef SWAPSIM_SLOT_BASE_H
#define SWAPSIM_SLOT_BASE_H

#include "swapsim/core.h"

/* ffi: begin */

/* Whose a base is. */
enum sws_base_of {
	SWS_BASE_OF_DEVICE = 0,
	SWS_BASE_OF_CPU = 1,
	SWS_BASE_OF_MM = 2,
};

/* What the bases are before the first call. */
enum sws_base_initial {
	/* Slot 1. */
	SWS_BASE_FIRST = 0,
	/* Uniform in [1, highest]. */
	SWS_BASE_RANDOM = 1,
	/* 1 + owner * (highest / possible CPUs), beyond them again from 1. */
	SWS_BASE_EVEN_POSSIBLE = 2,
	/* The same over the online CPUs. */
	SWS_BASE_EVEN_ONLINE = 3,
	/* Random, no two in one trunk while there are enough. */
	SWS_BASE_APART = 4,
	/* The shared base: slot 1 from 5.8 on, random before. */
	SWS_BASE_OF_KERNEL = 5,
};

enum sws_base_policy {
	SWS_BASE_SHARED = 0,
	SWS_BASE_PERCPU = 1,
	SWS_BASE_PERCPU_RERANDOMISE = 2,
	SWS_BASE_SPREAD = 3,
	SWS_BASE_SPREAD_ONLINE = 4,
	SWS_BASE_AVOID = 5,
	SWS_BASE_PERMM = 6,
	/* The config brings its own base_of, initial and store. */
	SWS_BASE_READER = 7,
};

/*
 * One policy. store is asked under si->lock with: the CPU and the address space
 * of the calling task (-1 for a kernel thread), its base until now, the next slot
 * of a linear run, lowest and highest slot that may be free, the slots of a trunk,
 * a random number of 63 bits, and the present bases, its own included, to read:
 * those of the online CPUs, or of all CPUs and then all address spaces. It adds to
 * looked_at the bases that it looked at.
 */
struct sws_base_ops {
	enum sws_base_of base_of;
	enum sws_base_initial initial;
	int64_t (*store)(int64_t cpu, int64_t mm, int64_t base, int64_t next, int64_t lowest,
			 int64_t highest, int64_t trunk_size, int64_t draw, const int64_t *bases,
			 int64_t n_bases, int64_t *looked_at);
};

/*
 * Names, as configs and tables have them: of a built-in policy ("percpu-rerandomise"), of
 * whose its bases are ("device", "cpu", "mm"), and of what they are at first. NULL for
 * what is none of the enum, SWS_BASE_READER included. Borrowed, constant.
 */
const char *sws_base_policy_name(enum sws_base_policy policy);
const char *sws_base_of_name(enum sws_base_of base_of);
const char *sws_base_initial_name(enum sws_base_initial initial);

/* The rules of a built-in policy; NULL for SWS_BASE_READER and unknown ones. Borrowed, constant. */
const struct sws_base_ops *sws_base_ops_of(enum sws_base_policy policy);

/* ffi: end */

/* How a device looks to the first values of its bases. */
struct sws_base_device {
	/* The last slot. */
	int64_t highest;
	/* Slots. */
	int64_t trunk_size;
	int64_t possible_cpus;
	int64_t online_cpus;
	/* What swapon puts into the shared base. */
	int64_t shared_start;
};

/*
 * Writes the first values of n_bases bases; base i draws from generators[i].
 * Complexity: O(n_bases); for SWS_BASE_APART about its square.
 */
void sws_base_start(enum sws_base_initial initial, const struct sws_base_device *device,
		    struct sws_generator *generators, int64_t *bases, int64_t n_bases);

#endif
