/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reclaim/tasks.h - the two tasks: the client with its pool, and the writer with its file. */
#ifndef SWAPSIM_RECLAIM_TASKS_H
#define SWAPSIM_RECLAIM_TASKS_H

#include "reclaim/layout.h"

/*
 * Runs the client: fills its pool, serves it, waits for the writer, and frees all for the next
 * round.
 */
int sws_reclaim__client(struct actor *actor);

/* Runs the writer: waits for its start in each round, then writes its file. */
int sws_reclaim__writer(struct actor *actor);

/* Handles a touch that missed: brings in the page. */
int sws_reclaim__fault(struct actor *actor, uint32_t index, bool writes);

#endif
