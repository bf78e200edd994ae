/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots/scan.h - the walks of a call over the map, with the lock and without it.
 */
#ifndef SWAPSIM_SLOTS_SCAN_H
#define SWAPSIM_SLOTS_SCAN_H

#include "slots/parts.h"

#include <string.h>

/* The first free slot in from .. to - 1, or to. */
static inline uint32_t slots_find_free(const uint8_t *map, uint32_t from, uint32_t to)
{
	const uint8_t *found = NULL;

	if (from >= to)
		return to;
	found = memchr(map + from, 0, to - from);
	return found ? (uint32_t)(found - map) : to;
}

/*
 * Takes n from a call's ration; each time that it falls below zero it begins anew
 * at 256. Returns how often it did.
 */
uint64_t sws_slots__spend(struct sws_slots_call *call, uint64_t n);

/*
 * A little further with the lock held, as far as the ration goes: true if a free slot
 * was found, where the call then stands.
 */
bool sws_slots__quick_scan(struct sws_slots *self, struct sws_slots_call *call,
			   struct sws_slots_work *work);

#endif
