/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clusters/state.h - a call as a state machine: call.c runs from state to state until a point is
 * known, apply.c carries the point out and sets the next state.
 *
 *      OWN_FIRST -> TURN -> FILL -> SEARCH -> OWN -> STEP -> ... -> SEARCHED -> FILL -> DONE
 *          |                           |               |
 *          '-------- a visit <---------'-- FROM_LIST <-'--> FULL, DISCARD
 *                       |
 *          SCAN -> (AFTER_WINDOW) -> LEAVE -> back to where the visit began
 */
#ifndef SWAPSIM_CLUSTERS_STATE_H
#define SWAPSIM_CLUSTERS_STATE_H

#include "clusters/parts.h"

/* Where a call continues. */
enum state {
	/* Only with turns_each_call false: the CPU's own cluster, of whatever device. */
	OWN_FIRST,
	/* The first device of turn[], or the one that followed the last. */
	FIRST_TURN,
	TURN,
	/* The next run in this device. */
	FILL,
	SEARCH,
	OWN,
	/* The steps of a search, in the order of enum step. */
	STEP,
	/* The head of a list. */
	FROM_LIST,
	PICKED,
	/* A list yielded a cluster, which is visited next. */
	PICKED_VISIT,
	SCAN,
	AFTER_WINDOW,
	/* The visit is over: the cluster's new list, and the end of the hold. */
	LEAVE,
	LEFT,
	/* Reclaim of full clusters. */
	FULL,
	FULL_PICK,
	FULL_PICKED,
	FULL_MOVE,
	FULL_DONE,
	/* Clusters that wait for their discard. */
	DISCARD,
	DISCARDED,
	SEARCHED,
	/* Every device was tried. */
	TURNS_OVER,
	DISCARD_ANY,
	DONE,
	OVER,
};

/* The steps of a search; a step that the rules do not have is skipped. */
enum step {
	FREE_FIRST,
	FULL_EARLY,
	NONFULL,
	FREE_LATE,
	FULL_LATE,
	FRAG,
	DISCARDS,
	STEAL,
	/* Two steps for each order from 1 on: frag, then nonfull. */
	STEPS = STEAL + 2 * (SWS_CLUSTERS_ORDERS - 1),
};

/* A list from which any number of clusters is visited. */
#define ANY_NUMBER UINT8_MAX

/* Continues a call in a state. */
static inline void go(struct sws_clusters_call *call, enum state state)
{
	call->state = (uint8_t)state;
}

/* Sets what a call does next. */
static inline void set_point(struct sws_clusters_call *call, uint32_t op, uint32_t slot, uint32_t n)
{
	call->point = (struct sws_clusters_point){ .op = (uint8_t)op,
						   .device = call->device,
						   .order = call->order,
						   .list = call->list,
						   .slot = slot,
						   .n = n };
}

/* discards.c */
void sws_clusters__next_discard(const struct sws_clusters *self, struct sws_clusters_call *call);
void sws_clusters__discard_any(const struct sws_clusters *self, struct sws_clusters_call *call);

/* call.c: ends the hold of a visit. */
void sws_clusters__leave(struct sws_clusters *self, struct sws_clusters_call *call);

/* apply.c: the next full cluster of a reclaim; the locks that a call holds. */
void sws_clusters__rotate_full(struct sws_clusters *self, struct sws_clusters_call *call);
void sws_clusters__release(struct sws_clusters *self, struct sws_clusters_call *call);

#endif
