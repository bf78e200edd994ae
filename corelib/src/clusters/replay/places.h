/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clusters/replay/places.h - the test, for each row, whether a call has moved to other lists of places.c. */
#ifndef SWAPSIM_CLUSTERS_REPLAY_PLACES_H
#define SWAPSIM_CLUSTERS_REPLAY_PLACES_H

#include "clusters/replay/parts.h"

static inline void replay_move(struct sws_cluster_replay *self, struct task *task,
			       enum place_kind kind, uint32_t at)
{
	if (task->places[kind].at != at)
		sws_cluster_replay__move(self, task, kind, at);
}

/* Lists a task where its call is now, which most rows do not change; called after each row. */
static inline void replay_place(struct sws_cluster_replay *self, struct task *task)
{
	const struct sws_clusters_call *call = &task->call;
	const bool works = task->open && call->worker && call->left;

	/* CLUSTERS_NONE + 1 is 0. */
	replay_move(self, task, VISITS, task->open ? call->visiting + 1 : 0);
	replay_move(self, task, RECLAIMS, task->open ? call->full + 1 : 0);
	replay_move(self, task, WORKS, works ? call->device + UINT32_C(1) : 0);
}

#endif
