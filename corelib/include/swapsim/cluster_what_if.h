/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cluster_what_if.h - the requests and frees of a trace, under other rules than those of its kernel.
 *
 * The rows are those of cluster_replay.h. Of them only the requests (call), their results (grant)
 * and the frees matter: each request runs to its end under the other rules, which give other slots,
 * and a free of the trace frees the slots that took the place of the trace's:
 *
 *      row                                  other rules
 *      call of order 4                      grant 6144 .. 6159
 *      grant 512 .. 527 in the trace        512 -> 6144, 513 -> 6145, ...
 *      free 514 .. 515                      free 6146 .. 6147
 *
 *   the trace     the rules     then
 *   grants        refuse        a fallback: the slots come one by one, as the kernel splits the
 *                               folio, and their frees follow the trace
 *   refuses       grant         the trace has requests for single slots instead; the next ones of
 *                               this CPU take the slots of the run
 *
 * The devices may have other sizes than those of the trace, so that the same requests meet a fuller
 * device. With own_by_task the caller assigns each task to an owner.
 *
 *      slots in use        a a a . b a b b    of tasks a, b: 5 pairs of neighbours, 3 of two tasks
 *                                             (sws_cluster_what_if_neighbours)
 *
 * A request for many single slots is one request each under rules without slot cache. With slot
 * cache, single requests of a trace without it go through caches of 64 slots and of 64 returns for
 * each CPU, which start and stop at the thresholds of slot_cache.h.
 *
 * Left out: windows, because the trace does not say which slots are cached (a full cluster that is
 * reclaimed only goes to the tail of its list); calls that overlap, so no lock is ever held by
 * another CPU; the time of discards (waiting clusters are discarded before the next request).
 *
 * Locks: those of clusters.h, counted in sws_clusters_work. Memory: that of clusters.h, 4 bytes for
 * each slot of the trace, 4 for each slot of the devices, 800 for each task and 1740 for each CPU,
 * which is 9.05 bytes a slot (limit 30); 1 TB of swap takes 2.4 GB of 8.
 */
#ifndef SWAPSIM_CLUSTER_WHAT_IF_H
#define SWAPSIM_CLUSTER_WHAT_IF_H

#include "swapsim/cluster_replay.h"

/* ffi: begin */

/* The configuration of a replay under other rules. */
struct sws_cluster_what_if_config {
	/* The devices, with the rules to apply. */
	struct sws_clusters_config clusters;
	/*
	 * Slots of each device in the trace; NULL, which is the default, if they are those of the
	 * devices of clusters. Read by sws_cluster_what_if_new only.
	 */
	const uint32_t *trace_slots;
	/* True if single slots of the trace went through slot caches (6.12). */
	bool trace_has_slot_cache;
	/* Rows between two samples; 0 for no samples, which is the default. */
	uint64_t sample_rows;
};

/* What the requests obtained, by order. */
struct sws_cluster_what_if_totals {
	/* Rows. */
	uint64_t rows;
	/* Requests. */
	uint64_t requests[10];
	/* Requests that obtained a run under the rules. */
	uint64_t granted[10];
	/* Requests that obtained a run in the trace. */
	uint64_t granted_in_trace[10];
	/* Runs that the rules granted and the trace did not, whose slots serve later requests. */
	uint64_t surplus;
	/* Slots that were obtained one by one after a refusal. */
	uint64_t single_slots;
	/* Slots of the trace for which the rules had none. */
	uint64_t missing_slots;
	/* Slots freed. */
	uint64_t freed;
	/* Runs that took the place of the trace's, single slots included. */
	uint64_t runs;
	/* Those of them that begin where the task's run before ended. */
	uint64_t runs_in_sequence;
};

/* Slots in use next to each other, in one cluster. */
struct sws_cluster_what_if_neighbours {
	/* Pairs of neighbours that tasks have. */
	uint64_t pairs;
	/* Pairs of two tasks. */
	uint64_t mixed;
};

/* The clusters by list, at a row. */
struct sws_cluster_what_if_sample {
	/* seq of the row. */
	uint64_t seq;
	/* Slots in use, of all devices. */
	uint64_t in_use;
	/* Clusters of all devices on each list. */
	uint32_t clusters[23];
};

/* A replay under other rules; only the functions below read it. */
struct sws_cluster_what_if;

/* Writes every default. Complexity: O(1). */
void sws_cluster_what_if_config_init(struct sws_cluster_what_if_config *config);

/*
 * Creates a replay of empty devices. The caller owns *out and frees it by
 * sws_cluster_what_if_free. Complexity: O(slots). Returns the codes of sws_clusters_new, and
 * SWS_ERROR_BAD_CONFIG for devices with more than 2^32 - 2 slots in all, in the trace or here.
 */
int sws_cluster_what_if_new(const struct sws_cluster_what_if_config *config,
			    struct sws_cluster_what_if **out);

/* Frees the replay and its devices; accepts NULL. */
void sws_cluster_what_if_free(struct sws_cluster_what_if *self);

/*
 * Assigns a task to an owner, with own_by_task; a task without has the owner 0.
 * Complexity: O(1). Returns SWS_OK; SWS_ERROR_BAD_ARGUMENT for an unknown owner; or
 * SWS_ERROR_NO_MEMORY.
 */
int sws_cluster_what_if_assign(struct sws_cluster_what_if *self, int32_t pid, uint32_t owner);

/*
 * Replays count rows and writes a sample after each sample_rows rows to samples, which has room for
 * count / sample_rows + 1; *n_samples is their number. Complexity: O(slots of the row), and O(cluster)
 * for each visit. Returns SWS_OK; SWS_ERROR_BAD_ARGUMENT for a row that cannot be replayed, after
 * which the replay is over and sws_cluster_what_if_problem returns the reason; or
 * SWS_ERROR_NO_MEMORY, likewise.
 */
int sws_cluster_what_if_feed(struct sws_cluster_what_if *self,
			     const struct sws_cluster_replay_rows *rows, uint64_t count,
			     struct sws_cluster_what_if_sample *samples, uint64_t *n_samples);

/* Returns the problem of the trace (enum sws_cluster_replay_problem) and the seq of its row. */
uint32_t sws_cluster_what_if_problem(const struct sws_cluster_what_if *self, uint64_t *seq);

/* Copies the totals. */
void sws_cluster_what_if_totals(const struct sws_cluster_what_if *self,
				struct sws_cluster_what_if_totals *out);

/* Returns the devices of the replay, which it owns. */
const struct sws_clusters *sws_cluster_what_if_clusters(const struct sws_cluster_what_if *self);

/* Counts neighbours of one task and of two. Complexity: O(slots). */
void sws_cluster_what_if_neighbours(const struct sws_cluster_what_if *self,
				    struct sws_cluster_what_if_neighbours *out);

/*
 * Recomputes every invariant. Complexity: O(slots). Returns SWS_OK, or SWS_ERROR_BROKEN and the
 * *reason, a constant string.
 */
int sws_cluster_what_if_verify(const struct sws_cluster_what_if *self, const char **reason);

/* ffi: end */

#endif
