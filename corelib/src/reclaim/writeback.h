/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reclaim/writeback.h - writeback of the file's dirty pages, and the throttling of the writer. */
#ifndef SWAPSIM_RECLAIM_WRITEBACK_H
#define SWAPSIM_RECLAIM_WRITEBACK_H

#include "reclaim/layout.h"

/* wakeup_flusher_threads: requests the write of so many pages, whatever their number or age. */
int sws_reclaim__ask_flusher(struct sws_reclaim *self, uint64_t pages);

/* Wakes the flusher if more pages are dirty than its limit. */
int sws_reclaim__wake_flusher(struct sws_reclaim *self);

/*
 * Submits the next run of dirty pages to a queue, from where the last run ended, up to the size of
 * one request. *pages is 0 if no page is left.
 */
int sws_reclaim__write_run(struct sws_reclaim *self, enum disk_queue queue, uint32_t *pages);

/*
 * Returns the pause of a task that has dirtied so many pages; *again is true if the task has to ask
 * again after it.
 */
uint64_t sws_reclaim__pause_ns(const struct sws_reclaim *self, uint32_t pages, bool *again);

/* Runs the flusher. */
int sws_reclaim__flusher(struct actor *actor);

#endif
