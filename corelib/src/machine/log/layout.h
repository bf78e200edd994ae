/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine/log/layout.h - the state of each CPU that the log holds between two events. */
#ifndef SWAPSIM_MACHINE_LOG_LAYOUT_H
#define SWAPSIM_MACHINE_LOG_LAYOUT_H

#include "machine/layout.h"
#include "swapsim/machine_log.h"

enum {
	/*
	 * Maximum nesting of locks in a machine: swap_avail_lock, si->lock, a cluster's, a
	 * record's.
	 */
	LOG_MOST_HELD = 8,
};

struct log_held {
	uint64_t since;
	uint32_t lock;
	uint32_t site;
};

struct log_cpu {
	struct log_held held[LOG_MOST_HELD];
	uint32_t n_held;
	bool waits;
	bool sleeps;
	/* The start of the wait. */
	uint64_t from;
	/* The lock, SWS_LOG_NONE for a wait until an interrupt is taken; and its holder. */
	uint32_t lock;
	uint32_t holder;
	/* The lock that it took last at each site. */
	uint32_t last[SWS_SITES];
};

struct sws_machine_log {
	struct sws_allocator allocator;
	struct sws_machine *machine;
	struct log_cpu *cpus;
	uint32_t n_waiting;
	/* The acquisitions of all sites so far. */
	uint64_t acquisitions;
	/* The caller's buffer of spans. */
	struct sws_span *spans;
	uint32_t n_spans;
};

#endif
