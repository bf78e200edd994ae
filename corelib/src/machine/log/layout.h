/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine_log/layout.h - what the log knows of each CPU between two events. */
#ifndef SWAPSIM_MACHINE_LOG_LAYOUT_H
#define SWAPSIM_MACHINE_LOG_LAYOUT_H

#include "machine/layout.h"
#include "swapsim/machine_log.h"

enum {
	/* Locks that nest in a machine: swap_avail_lock, si->lock, a cluster's, a record's. */
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
	/* Since when. */
	uint64_t from;
	/* For which lock, SWS_LOG_NONE: until an interrupt is taken; and behind whom. */
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
	/* Of all sites, up to now. */
	uint64_t acquisitions;
	/* Where the spans of a call go. */
	struct sws_span *spans;
	uint32_t n_spans;
};

#endif
