/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vm/tasks.h - the two tasks: whose memory it is, and whose file. */
#ifndef SWAPSIM_RECLAIM_TASKS_H
#define SWAPSIM_RECLAIM_TASKS_H

#include "reclaim/layout.h"

/* The client fills its pool, serves it, waits for the writer, and makes place for the next round. */
int sws_reclaim__client(struct actor *actor);

/* The writer waits for a round's serving to begin, then writes its file. */
int sws_reclaim__writer(struct actor *actor);

/* A touch that missed: the page is brought in. */
int sws_reclaim__fault(struct actor *actor, uint32_t index, bool writes);

#endif
