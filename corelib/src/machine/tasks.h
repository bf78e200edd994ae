/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/tasks.h - the procedures of actors. Each of these except swap_in and exit is the lowest
 * one of an actor's stack and never returns.
 */
#ifndef SWAPSIM_MACHINE_TASKS_H
#define SWAPSIM_MACHINE_TASKS_H

#include "machine/layout.h"

/* A process that writes new anonymous pages one after another (usemem). */
int sws_machine__writer(struct actor *actor);

/* A process that reads and writes its pages at random, one word each (pmbench). */
int sws_machine__walker(struct actor *actor);

/*
 * Models a task in direct reclaim and in do_swap_page that follows a trace: the requests first ..
 * end - 1.
 */
int sws_machine__stream(struct actor *actor, uint32_t first, uint32_t end);

/* Models kswapd, from the low watermark to the high one. */
int sws_machine__kswapd(struct actor *actor);

/*
 * Models do_swap_page at an address whose page is on a device; write is true if the access writes.
 * The result is the page.
 */
int sws_machine__swap_in(struct actor *actor, uint32_t pte, bool write);

/* Models exit_mmap: unmap_vmas, free_swap_and_cache, release_pages. The actor does not continue. */
int sws_machine__exit(struct actor *actor);

/* place.c: the slot CPU of an actor, as the devices see it. */

/* Places an actor on its own CPU, when the machine is built. */
void sws_machine__place(struct actor *actor);

/* Moves an actor that requests a slot to another CPU if it has been on this one for long enough. */
void sws_machine__change_cpu(struct actor *actor);

#endif
