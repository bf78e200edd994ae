/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * core/index_map.h - a hash map from a nonzero 64-bit key to a 32-bit index; private to corelib,
 * for mechanisms that look up their objects by address.
 *
 * Open addressing with linear probing, at most half full. A removal shifts the following entries
 * back, so there are no tombstones and a probe ends at the first empty slot.
 */
#ifndef SWAPSIM_INDEX_MAP_H
#define SWAPSIM_INDEX_MAP_H

#include "swapsim/core.h"

struct sws_index_map {
	/* Belongs to the creator of the map. */
	const struct sws_allocator *allocator;
	/* The key of each slot, 0 for an empty slot, and its index at the same position. */
	uint64_t *keys;
	uint32_t *indexes;
	/* The number of slots, a power of two, minus 1. */
	uint64_t mask;
	/* The number of keys. */
	uint64_t count;
};

/*
 * Initializes an empty map. The allocator has to outlive it. Returns SWS_OK or SWS_ERROR_NO_MEMORY.
 */
int sws_index_map__init(struct sws_index_map *self, const struct sws_allocator *allocator);

/* Frees the slots; accepts a zeroed map. */
void sws_index_map__clear(struct sws_index_map *self);

/* Finds a key; returns false if it is missing. */
bool sws_index_map__find(const struct sws_index_map *self, uint64_t key, uint32_t *index);

/* Adds a key that is not in the map. Returns SWS_OK or SWS_ERROR_NO_MEMORY. */
int sws_index_map__put(struct sws_index_map *self, uint64_t key, uint32_t index);

/* Removes a key if it is in the map. */
void sws_index_map__remove(struct sws_index_map *self, uint64_t key);

#endif
