/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots/scan.h - the walks of a call over the map, with the lock and without it.
 */
#ifndef SWAPSIM_SLOTS_SCAN_H
#define SWAPSIM_SLOTS_SCAN_H

#include "slots/parts.h"

#include <string.h>

/* Returns the first free slot in from .. to - 1, or to. */
static inline uint32_t slots_find_free(const uint8_t *map, uint32_t from, uint32_t to)
{
	const uint8_t *found = NULL;

	if (from >= to)
		return to;
	found = memchr(map + from, 0, to - from);
	return found ? (uint32_t)(found - map) : to;
}

/*
 * Takes n from the ration of a call, which is set to 256 again each time that it becomes negative.
 * Returns the number of these events.
 */
uint64_t sws_slots__spend(struct sws_slots_call *call, uint64_t n);

/*
 * Scans on with the lock held as far as the ration allows. Returns true if a free slot was found,
 * which leaves the call at that slot.
 */
bool sws_slots__quick_scan(struct sws_slots *self, struct sws_slots_call *call,
			   struct sws_slots_work *work);

#endif
