/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vm/tasks.h - the two tasks: whose memory it is, and whose file. */
#ifndef SWAPSIM_VM_TASKS_H
#define SWAPSIM_VM_TASKS_H

#include "vm/layout.h"

/* The client fills its pool, serves it, waits for the writer, and makes place for the next round. */
int sws_vm__client(struct actor *actor);

/* The writer waits for a round's serving to begin, then writes its file. */
int sws_vm__writer(struct actor *actor);

/* A touch that missed: the page is brought in. */
int sws_vm__fault(struct actor *actor, uint32_t index, bool writes);

#endif
