/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clusters/replay/parts.h - declarations that the sources of cluster_replay.h share.
 *
 *   replay.c    rows: their allowed values, and those of no call
 *   window.c    the rows of windows and of reclaim
 *   expect.c    a row, compared with the next point of its call
 *   taken.c     what a row may explain                     make.c   tasks, totals
 *   places.c    open calls by cluster and by device    places.h
 */
#ifndef SWAPSIM_CLUSTERS_REPLAY_PARTS_H
#define SWAPSIM_CLUSTERS_REPLAY_PARTS_H

#include "clusters/state.h"
#include "core/index_map.h"
#include "swapsim/cluster_replay.h"

enum {
	/* Ranges that other tasks freed in a visited cluster; more explain every grant. */
	REPLAY_FREED = 8,
	/* Tasks that are remembered without a call; beyond them a new task takes the place of one. */
	REPLAY_IDLE = 256,
	/* Tasks of which one without a call is searched. */
	REPLAY_PROBES = 8,
};

/* One row; point has its op, device, slot, n, order and list. */
struct replay_row {
	uint64_t seq;
	uint32_t cpu;
	int32_t pid;
	struct sws_clusters_point point;
};

/*
 * Where an open call is found by rows of other tasks: in the cluster that it visits, in the full
 * cluster that it reclaims, and in the device whose full clusters it reclaims as a worker.
 */
enum place_kind { VISITS, RECLAIMS, WORKS, PLACE_KINDS };

/*
 * A call in the list of its place. All numbers are 1 more than those of the cluster or device and
 * of the neighbours in tasks[], and 0 for none.
 */
struct place {
	uint32_t at;
	uint32_t prev;
	uint32_t next;
};

/* A task with its call. */
struct task {
	struct sws_clusters_call call;
	struct place places[PLACE_KINDS];
	uint64_t call_seq;
	/* Numbers of rows: of the call, and of its last row. */
	uint32_t began;
	uint32_t last;
	int32_t pid;
	bool open;
	/* The call differed: its rows are followed. */
	bool lost;
	bool faulty;
	/* The visit that runs is one that the model would not make: its grant differs, too. */
	bool misled;
	/* call.point is already computed. */
	bool computed;
	/* The call is in a window of which the model knows. */
	bool in_window;
	/* The cluster of the visit may have changed in a window without a try. */
	bool disturbed;
	/* When another task changed the cluster, the visit or the reclaim may have been over: no move. */
	bool over;
	/* The last point was a turn. */
	bool turned;
	/* The last point was a turn, and this row has another CPU. */
	bool moved;
	/* A full cluster's first try was compared. */
	bool tried_full;
	/* A free of this task moves a cluster next. */
	bool pending;
	struct sws_clusters_point move;
	/* The range of the window. */
	uint32_t from;
	uint32_t to;
	/* What other tasks freed in the visited cluster; from freed[opened] on in the open window. */
	uint32_t n_freed;
	uint32_t opened;
	uint32_t freed[REPLAY_FREED][2];
};

_Static_assert(sizeof(struct task) <= 256, "cluster_replay.h says how much memory a task takes");

struct sws_cluster_replay {
	struct sws_allocator allocator;
	struct sws_clusters *clusters;
	struct task *tasks;
	size_t room;
	uint32_t n_tasks;
	/* The task that was tested last for whether it can be forgotten. */
	uint32_t hand;
	struct sws_index_map by_pid;
	uint32_t n_open;
	/* The slots that open calls want, granted ones included. */
	int64_t wanted;
	/* The first call of each place: [kind][cluster or device], 1 + its number in tasks[]. */
	uint32_t *heads;
	/* The number of the row, modulo 2^32. */
	uint32_t row;
	uint64_t seq;
	bool begun;
	/* The last row of each device that changed something. */
	uint32_t changed[SWS_CLUSTERS_DEVICES_MAX];
	/* The task of the row before, if it was a free. */
	int64_t freeing;
	/*
	 * The device whose last slot the last row of a task granted, or whose first it freed: the
	 * kernel takes it off the list of devices, or puts it back, after that row.
	 */
	uint32_t n_late;
	struct {
		int32_t pid;
		bool late;
	} listing[SWS_CLUSTERS_DEVICES_MAX];
	struct sws_cluster_replay_totals totals;
	bool has_mismatch;
	struct sws_cluster_replay_mismatch mismatch;
	uint32_t problem;
	uint64_t problem_seq;
};

/* make.c */
int sws_cluster_replay__task(struct sws_cluster_replay *self, int32_t pid, struct task **out);
void sws_cluster_replay__blame(struct sws_cluster_replay *self, struct task *task,
			       const struct replay_row *row, enum sws_cluster_replay_fault fault);
void sws_cluster_replay__close(struct sws_cluster_replay *self, struct task *task);

/* Refuses the trace because of a row. */
static inline int replay_refuse(struct sws_cluster_replay *self,
				enum sws_cluster_replay_problem problem, uint64_t seq)
{
	self->problem = problem;
	self->problem_seq = seq;
	return SWS_ERROR_BAD_ARGUMENT;
}

/* places.c */
void sws_cluster_replay__move(struct sws_cluster_replay *self, struct task *task,
			      enum place_kind kind, uint32_t at);

/* Returns the first or the next call of a list of a place; NULL at its end. */
static inline struct task *replay_at(const struct sws_cluster_replay *self, uint32_t number)
{
	return number ? &self->tasks[number - 1] : NULL;
}

static inline struct task *replay_first(const struct sws_cluster_replay *self, enum place_kind kind,
					uint32_t index)
{
	return replay_at(self, self->heads[(size_t)kind * self->clusters->n_clusters + index]);
}

/* Returns the slots that a call wants, granted ones included. */
static inline int64_t replay_wanted(const struct task *task)
{
	return (int64_t)task->call.wanted << task->call.order;
}

/* taken.c */
void sws_cluster_replay__hint(struct sws_cluster_replay *self, const struct task *task, bool full);
bool sws_cluster_replay__explains_grant(const struct sws_cluster_replay *self,
					const struct task *task,
					const struct sws_clusters_point *theirs);
bool sws_cluster_replay__explains_none(const struct sws_cluster_replay *self,
				       const struct task *task);
bool sws_cluster_replay__explains_turn(const struct sws_cluster_replay *self,
				       const struct sws_clusters_point *ours,
				       const struct sws_clusters_point *theirs);
void sws_cluster_replay__disturb(struct sws_cluster_replay *self, const struct replay_row *row);

/* expect.c */
int sws_cluster_replay__expect(struct sws_cluster_replay *self, struct task *task,
			       const struct replay_row *row);
void sws_cluster_replay__apply(struct sws_cluster_replay *self, struct task *task,
			       const struct sws_clusters_point *point);

/* window.c */
void sws_cluster_replay__window(struct sws_cluster_replay *self, struct task *task);
void sws_cluster_replay__try(struct sws_cluster_replay *self, struct task *task,
			     const struct replay_row *row);
void sws_cluster_replay__relock(struct sws_cluster_replay *self, struct task *task);

#endif
