/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vm/writeback.h - dirty pages of the file on their way to the disk, and who is throttled. */
#ifndef SWAPSIM_VM_WRITEBACK_H
#define SWAPSIM_VM_WRITEBACK_H

#include "vm/layout.h"

/* wakeup_flusher_threads: so many pages, whatever is dirty. */
int sws_vm__ask_flusher(struct sws_vm *vm, uint64_t pages);

/* Wakes the flusher if more is dirty than it lets be. */
int sws_vm__wake_flusher(struct sws_vm *vm);

/*
 * Gives the next run of dirty pages to a queue, from where the last one ended: at most one
 * request's. *pages are 0 when none is dirty.
 */
int sws_vm__write_run(struct sws_vm *vm, enum vm_queue queue, uint32_t *pages);

/* How long whoever has dirtied so many pages has to pause, and then again: *again. */
uint64_t sws_vm__pause_ns(const struct sws_vm *vm, uint32_t pages, bool *again);

/* The flusher's whole life. */
int sws_vm__flusher(struct actor *actor);

#endif
