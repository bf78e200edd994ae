/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/tasks.h - what actors do all day. Each of these but swap_in and exit is the
 * lowest procedure of an actor's stack and never returns.
 */
#ifndef SWAPSIM_MACHINE_TASKS_H
#define SWAPSIM_MACHINE_TASKS_H

#include "machine/layout.h"

/* A process that writes fresh anonymous pages one after another (usemem). */
int sws_machine__writer(struct actor *actor);

/* A process that reads and writes its pages at random, one word each (pmbench). */
int sws_machine__walker(struct actor *actor);

/* Models a task under direct reclaim and in do_swap_page, led by what a trace says it did: the requests first .. end - 1. */
int sws_machine__stream(struct actor *actor, uint32_t first, uint32_t end);

/* Models kswapd: from the low watermark to the high one. */
int sws_machine__kswapd(struct actor *actor);

/*
 * Models do_swap_page on an address whose page is on a device; write: the page is
 * written to. The result is the page.
 */
int sws_machine__swap_in(struct actor *actor, uint32_t pte, bool write);

/* Models exit_mmap: unmap_vmas, free_swap_and_cache, release_pages. The actor does nothing more. */
int sws_machine__exit(struct actor *actor);

#endif
