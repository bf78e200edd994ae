/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cluster_replay.h - replays the events of a real kernel's allocator through clusters.h, and
 * compares each grant, each visit, each list move and each pick of a list with the model's own.
 *
 * A row is an event of a probe; rows are in the order of the locks, because the kernel's probes ran
 * under them and the trace clock is one counter for all CPUs. For a row of a task that has an open
 * call, the model computes the next point of that call from the state of this moment:
 *
 *      row                        model: the call of task 7
 *      task 7  call               sws_clusters_call_begin
 *      task 7  visit 3088         next: VISIT 3088      equal
 *      task 8  free 3090          3090 is free
 *      task 7  grant 3104         next: GRANT 3104      equal
 *      task 7  move to frag4      next: MOVE to frag4   equal
 *
 * What rows can do and the model cannot know is taken from the trace and counted as such:
 *
 *   windows          which cached slot was tried: no range before it may fit
 *   silent windows   the locks were dropped but no slot was tried. The cluster may have changed:
 *                    a grant must be in a free range, and a range before it that fits must have been
 *                    freed during the visit
 *   yields           7.3: a list yielded another cluster than the first one whose lock is free, or
 *                    none; the cluster has to be on that list
 *   swap full        the counter of free slots was near half, within the credit of open calls
 *   ends             a call that ended, or left its own cluster, because of a change that another
 *                    task made between the row before and the test; a visit or a reclaim that was
 *                    over, without a move, before another task changed its cluster
 *   discards         when a discarded cluster comes back to the free list
 *
 * All else is compared. After a mismatch the replay follows the rows of that call until its end, and
 * its grants, visits and moves count as different.
 *
 * Locks: those of clusters.h. Memory: that of clusters.h, 12 bytes for each cluster, and 256 bytes
 * for each of 256 tasks, and for each call that is open beyond them; a task without a call may be
 * forgotten, so the number of tasks of a trace does not matter. Modelled: all of clusters.h. Left out: swapon and swapoff within the rows; all devices are empty at the start.
 */
#ifndef SWAPSIM_CLUSTER_REPLAY_H
#define SWAPSIM_CLUSTER_REPLAY_H

#include "swapsim/clusters.h"

/* ffi: begin */

/* The reason why a row cannot be replayed. */
enum sws_cluster_replay_problem {
	/* No problem. */
	SWS_CLUSTER_REPLAY_NO_PROBLEM = 0,
	/* seq does not increase. */
	SWS_CLUSTER_REPLAY_BAD_ORDER = 1,
	/* The operation is unknown, or one of another kernel. */
	SWS_CLUSTER_REPLAY_BAD_OP = 2,
	/* The CPU is out of its range. */
	SWS_CLUSTER_REPLAY_BAD_CPU = 3,
	/* The device is unknown. */
	SWS_CLUSTER_REPLAY_BAD_DEVICE = 4,
	/* The slot, or the last of n slots, is beyond the device. */
	SWS_CLUSTER_REPLAY_BAD_SLOT = 5,
	/* n is 0, or the slots lie in two clusters. */
	SWS_CLUSTER_REPLAY_BAD_N = 6,
	/* The order is above 9. */
	SWS_CLUSTER_REPLAY_BAD_ORDER_OF_FOLIO = 7,
	/* The list is unknown. */
	SWS_CLUSTER_REPLAY_BAD_LIST = 8,
	/* The task has no open call. */
	SWS_CLUSTER_REPLAY_NO_CALL = 9,
	/* The granted slot is in use. */
	SWS_CLUSTER_REPLAY_TWICE = 10,
	/* The freed slot is not in use. */
	SWS_CLUSTER_REPLAY_NOT_IN_USE = 11,
	/* More runs are granted than the call wants. */
	SWS_CLUSTER_REPLAY_TOO_MANY = 12,
	/* The number of problems. */
	SWS_CLUSTER_REPLAY_PROBLEMS = 13,
};

/* The first difference between a call and the model. */
enum sws_cluster_replay_fault {
	/* No difference. */
	SWS_CLUSTER_REPLAY_MATCHED = 0,
	/* The model does something else next, or nothing. */
	SWS_CLUSTER_REPLAY_OTHER_OP = 1,
	/* Another cluster is visited, or from another slot. */
	SWS_CLUSTER_REPLAY_OTHER_VISIT = 2,
	/* Other slots are granted. */
	SWS_CLUSTER_REPLAY_OTHER_GRANT = 3,
	/* A cluster goes to another list, or does not move. */
	SWS_CLUSTER_REPLAY_OTHER_MOVE = 4,
	/* Another list is asked for a cluster. */
	SWS_CLUSTER_REPLAY_OTHER_LIST = 5,
	/* A list yields a cluster that is not on it. */
	SWS_CLUSTER_REPLAY_OTHER_PICK = 6,
	/* Another device is searched. */
	SWS_CLUSTER_REPLAY_OTHER_TURN = 7,
	/* A slot is tried for reclaim where the model finds a free range, or in another cluster. */
	SWS_CLUSTER_REPLAY_OTHER_TRY = 8,
	/* The call ends with another number of runs. */
	SWS_CLUSTER_REPLAY_OTHER_END = 9,
	/* The visit leaves another next slot. */
	SWS_CLUSTER_REPLAY_OTHER_NEXT = 10,
	/* The number of faults. */
	SWS_CLUSTER_REPLAY_FAULTS = 11,
};

/* A chunk of rows as columns of one length, in trace order. */
struct sws_cluster_replay_rows {
	/* The sequence number of the row, which increases. */
	const uint64_t *seq;
	/* The CPU, 0 .. cpus - 1. */
	const uint16_t *cpu;
	/* The task. */
	const int32_t *pid;
	/* enum sws_cluster_op */
	const uint8_t *op;
	/* The device. */
	const uint8_t *device;
	/* The order. */
	const uint8_t *order;
	/* enum sws_cluster_list, the order added. */
	const uint8_t *list;
	/* A slot, or the first slot of a cluster. */
	const uint32_t *slot;
	/* The number; its meaning depends on op. */
	const uint32_t *n;
};

/* What has been compared, and what was taken from the trace. */
struct sws_cluster_replay_totals {
	/* Rows. */
	uint64_t rows;
	/* Calls that ended. */
	uint64_t calls;
	/* Calls without a difference. */
	uint64_t calls_equal;
	/* Grants. */
	uint64_t grants;
	/* Grants of the model's slots. */
	uint64_t grants_equal;
	/* Slots granted. */
	uint64_t slots;
	/* Visits. */
	uint64_t visits;
	/* Visits of the model's cluster, from the model's slot on. */
	uint64_t visits_equal;
	/* List moves that rows contain (7.3). */
	uint64_t moves;
	/* List moves of the model's cluster to the model's list. */
	uint64_t moves_equal;
	/* Clusters that lists yielded (7.3), and full clusters taken for reclaim (6.12). */
	uint64_t picks;
	/* Those that the model's list yields. */
	uint64_t picks_equal;
	/* Devices taken in turn, if rows contain them. */
	uint64_t turns;
	/* Those that are the model's. */
	uint64_t turns_equal;
	/* Rows that free slots. */
	uint64_t frees;
	/* Taken from the trace: windows. */
	uint64_t taken_windows;
	/* Taken from the trace: windows in which no slot was tried. */
	uint64_t taken_silent;
	/* Taken from the trace: clusters that a list yielded, or that it did not. */
	uint64_t taken_yields;
	/* Taken from the trace: whether swap was full. */
	uint64_t taken_full;
	/* Taken from the trace: ends of calls, visits and reclaims, and own clusters that were left. */
	uint64_t taken_ends;
	/* Taken from the trace: returns of discarded clusters. */
	uint64_t taken_discards;
	/* Taken from the trace: devices in turn. */
	uint64_t taken_turns;
};

/* The first difference, and the state of the model at its row. */
struct sws_cluster_replay_mismatch {
	/* seq of the row. */
	uint64_t seq;
	/* seq of the call row. */
	uint64_t call_seq;
	/* The task. */
	int32_t pid;
	/* The CPU of the call. */
	uint32_t cpu;
	/* enum sws_cluster_replay_fault */
	uint32_t fault;
	/* What the model does next; op SWS_CLUSTER_OPS for nothing. */
	struct sws_clusters_point ours;
	/* What the row says. */
	struct sws_clusters_point theirs;
	/* The device of the row. */
	uint32_t device;
	/* The cluster of the row's slot. */
	uint32_t cluster;
	/* Slots of that cluster that are in use. */
	uint32_t count;
	/* The order of that cluster. */
	uint32_t order;
	/* The list of that cluster. */
	uint32_t list;
	/* The slot where this CPU goes on, for the order of the call. */
	uint32_t next;
	/* The first cluster of each list of the device; UINT32_MAX for an empty list. */
	uint32_t heads[23];
	/* The number of clusters of each list. */
	uint32_t lengths[23];
};

/* A replay; only the functions below read it. */
struct sws_cluster_replay;

/* Returns the name of a fault in tables; NULL for an unknown one. All names are constants. */
const char *sws_cluster_replay_fault_name(uint32_t fault);
/* Returns the problem of a row as the end of a sentence; NULL for an unknown problem. */
const char *sws_cluster_replay_problem_text(uint32_t problem);

/*
 * Creates a replay of empty devices. The caller owns *out and frees it by sws_cluster_replay_free.
 * Complexity: O(slots). Returns the codes of sws_clusters_new.
 */
int sws_cluster_replay_new(const struct sws_clusters_config *config,
			   struct sws_cluster_replay **out);

/* Frees the replay and its devices; accepts NULL. */
void sws_cluster_replay_free(struct sws_cluster_replay *self);

/*
 * Replays count rows. Complexity: O(1) per row, O(cluster) for each visit, and O(open calls in the
 * cluster of the row). Returns SWS_OK;
 * SWS_ERROR_BAD_ARGUMENT for a row that cannot be replayed, after which the replay is over and
 * sws_cluster_replay_problem returns the reason; or SWS_ERROR_NO_MEMORY, likewise.
 */
int sws_cluster_replay_feed(struct sws_cluster_replay *self,
			    const struct sws_cluster_replay_rows *rows, uint64_t count);

/* Copies the totals. */
void sws_cluster_replay_totals(const struct sws_cluster_replay *self,
			       struct sws_cluster_replay_totals *out);

/* Returns the problem of the trace (enum sws_cluster_replay_problem) and the seq of its row. */
uint32_t sws_cluster_replay_problem(const struct sws_cluster_replay *self, uint64_t *seq);

/* Copies the first difference; returns false if there was none. */
bool sws_cluster_replay_first_mismatch(const struct sws_cluster_replay *self,
				       struct sws_cluster_replay_mismatch *out);

/* Returns the devices of the replay, which it owns. */
const struct sws_clusters *sws_cluster_replay_clusters(const struct sws_cluster_replay *self);

/* Returns the number of open calls. */
uint64_t sws_cluster_replay_open(const struct sws_cluster_replay *self);

/* ffi: end */

#endif
