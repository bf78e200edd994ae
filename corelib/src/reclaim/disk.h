/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reclaim/disk.h - the queue of the disk: submission, waiting, and congestion. */
#ifndef SWAPSIM_RECLAIM_DISK_H
#define SWAPSIM_RECLAIM_DISK_H

#include "reclaim/layout.h"

/* Positions on the disk of a page of the file and of a slot. */
static inline uint64_t place_of_file(uint32_t index)
{
	return index;
}

static inline uint64_t place_of_slot(const struct sws_reclaim *self, uint32_t slot)
{
	return (uint64_t)self->config.disk_pages + slot;
}

/*
 * Submits contiguous pages. *joined is true if they were merged into a queued request; the
 * submitter then does not wait for room.
 */
int sws_reclaim__submit(struct sws_reclaim *self, enum disk_queue queue, uint64_t at,
			uint32_t pages, bool *joined);

/* Returns true if a queue is full, so that the submitter of a write has to wait. */
bool sws_reclaim__is_full(const struct sws_reclaim *self, enum disk_queue queue);

/* Returns true if the disk serves a request, or a queue has one. */
bool sws_reclaim__has_requests(const struct sws_reclaim *self);

/*
 * Counts pages of the file whose write has completed, for the rate from which the writers'
 * throttling follows. Models: bdi_update_write_bandwidth.
 */
void sws_reclaim__measure(struct sws_reclaim *self, uint32_t pages);

/* Wakes all actors that wait for an event. */
int sws_reclaim__wake(struct sws_reclaim *self, enum wait_for what);

/*
 * Wakes an actor that waits for its wake-up; has no effect on an actor that waits for another
 * event.
 */
int sws_reclaim__call(struct sws_reclaim *self, enum actor_kind who);

/* Runs the disk, which serves one request after another. */
int sws_reclaim__disk(struct actor *actor);

#endif
