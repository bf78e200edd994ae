/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clusters/what_if/parts.h - declarations that the sources of cluster_what_if.h share.
 *
 *   what_if.c   rows       serve.c   slots for requests       make.c
 */
#ifndef SWAPSIM_CLUSTERS_WHAT_IF_PARTS_H
#define SWAPSIM_CLUSTERS_WHAT_IF_PARTS_H

#include "clusters/caches.h"
#include "core/index_map.h"
#include "swapsim/cluster_what_if.h"

enum {
	/* Runs of a CPU that the trace refused; a further one is freed. */
	WHAT_IF_SURPLUS = 16,
};

#define WHAT_IF_MISSING UINT32_MAX

/* The request of a task, whose runs wait for the grants of the trace. */
struct request {
	uint32_t cpu;
	/* With own_by_task. */
	uint32_t owner;
	/* 1 + the slot behind the task's last run, over all devices; 0 before the first. */
	uint32_t end;
	uint32_t order;
	/* Runs under the rules, and those that grants of the trace have used. */
	uint32_t n_runs;
	uint32_t used;
	/* Grants of the trace. */
	uint32_t granted;
	bool open;
	struct run runs[SWS_CLUSTERS_BATCH];
};

/* The runs of a CPU that the trace refused. */
struct surplus {
	uint32_t n;
	struct run runs[WHAT_IF_SURPLUS];
};

_Static_assert(sizeof(struct request) <= 800 &&
		       sizeof(struct surplus) + sizeof(struct cpu_cache) <= 1740,
	       "cluster_what_if.h says how much memory tasks and CPUs take");

struct sws_cluster_what_if {
	struct sws_allocator allocator;
	struct sws_clusters *clusters;
	/*
	 * For each slot of the trace: 1 + the slot under the rules, over all devices; 0 for a free
	 * one, WHAT_IF_MISSING for one in use for which the rules had no slot.
	 */
	uint32_t *slots;
	/* For each slot under the rules: 1 + the index of its task in requests; 0 for none. */
	uint32_t *tasks;
	/* The first slot of each device, counted over all devices, and in the trace. */
	uint32_t bases[SWS_CLUSTERS_DEVICES_MAX];
	uint32_t trace_bases[SWS_CLUSTERS_DEVICES_MAX];
	/* Slots of each device in the trace. */
	uint32_t trace_slots[SWS_CLUSTERS_DEVICES_MAX];
	struct request *requests;
	size_t room;
	uint32_t n_requests;
	struct sws_index_map by_pid;
	struct cluster_caches caches;
	/* [CPU] */
	struct surplus *surplus;
	/* The task of the row before, if it was a free. */
	int64_t freeing;
	uint64_t sample_rows;
	/* Slots of all devices of the trace, and of those here. */
	uint64_t n_trace_slots;
	uint64_t n_slots;
	uint64_t seq;
	bool begun;
	struct sws_cluster_what_if_totals totals;
	uint32_t problem;
	uint64_t problem_seq;
};

/* serve.c */
bool sws_cluster_what_if__single(struct sws_cluster_what_if *self, const struct request *request,
				 struct run *run);
void sws_cluster_what_if__request(struct sws_cluster_what_if *self, struct request *request,
				  uint32_t wanted);
void sws_cluster_what_if__keep(struct sws_cluster_what_if *self, uint32_t cpu,
			       const struct run *run);
void sws_cluster_what_if__return(struct sws_cluster_what_if *self, uint32_t cpu,
				 const struct run *run);

#endif
