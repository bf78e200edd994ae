/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vm/writeback.h - dirty pages of the file on their way to the disk, and who is throttled. */
#ifndef SWAPSIM_RECLAIM_WRITEBACK_H
#define SWAPSIM_RECLAIM_WRITEBACK_H

#include "reclaim/layout.h"

/* wakeup_flusher_threads: so many pages, whatever is dirty. */
int sws_reclaim__ask_flusher(struct sws_reclaim *vm, uint64_t pages);

/* Wakes the flusher if more is dirty than it lets be. */
int sws_reclaim__wake_flusher(struct sws_reclaim *vm);

/*
 * Gives the next run of dirty pages to a queue, from where the last one ended: at most one
 * request's. *pages are 0 when none is dirty.
 */
int sws_reclaim__write_run(struct sws_reclaim *vm, enum vm_queue queue, uint32_t *pages);

/* How long whoever has dirtied so many pages has to pause, and then again: *again. */
uint64_t sws_reclaim__pause_ns(const struct sws_reclaim *vm, uint32_t pages, bool *again);

/* The flusher's whole life. */
int sws_reclaim__flusher(struct actor *actor);

#endif
