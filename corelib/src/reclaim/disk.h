/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vm/disk.h - the queue of the disk: what comes in, who waits for it, and its congestion. */
#ifndef SWAPSIM_RECLAIM_DISK_H
#define SWAPSIM_RECLAIM_DISK_H

#include "reclaim/layout.h"

/* Where a page of the file, and where a slot lies. */
static inline uint64_t vm_place_of_file(uint32_t index)
{
	return index;
}

static inline uint64_t vm_place_of_slot(const struct sws_reclaim *vm, uint32_t slot)
{
	return (uint64_t)vm->config.disk_pages + slot;
}

/*
 * Gives pages that lie one behind the other to the queue, where they may join a request: then
 * nobody has to wait for room.
 */
int sws_reclaim__submit(struct sws_reclaim *vm, enum vm_queue queue, uint64_t at, uint32_t pages,
			bool *joined);

/* Is a queue full, so that whoever wrote has to wait? */
bool sws_reclaim__is_full(const struct sws_reclaim *vm, enum vm_queue queue);

/* All that sleep for this go on. */
int sws_reclaim__wake(struct sws_reclaim *vm, enum vm_sleep what);

/* An actor that sleeps until it is called goes on; one that waits for something else does not. */
int sws_reclaim__call(struct sws_reclaim *vm, enum vm_actor who);

/* The disk: serves requests, one after the other. */
int sws_reclaim__disk(struct actor *actor);

#endif
