/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * core/index_map.h - a hash map from a non-zero 64-bit key to a 32-bit index; private
 * to corelib, for mechanisms that meet their objects by address.
 *
 * Open addressing with linear probing, at most half full; a removal shifts its
 * followers back, so there are no tombstones and a probe ends at the first hole.
 */
#ifndef SWAPSIM_INDEX_MAP_H
#define SWAPSIM_INDEX_MAP_H

#include "swapsim/core.h"

struct sws_index_map {
	/* Borrowed. */
	const struct sws_allocator *allocator;
	/* A key a slot, 0 for a hole; its index stands at the same slot. */
	uint64_t *keys;
	uint32_t *indexes;
	/* Slots - 1; their number is a power of two. */
	uint64_t mask;
	/* Keys in the map. */
	uint64_t count;
};

/* Makes an empty map. The allocator must outlive it. Returns SWS_ERROR_NO_MEMORY or SWS_OK. */
int sws_index_map__init(struct sws_index_map *self, const struct sws_allocator *allocator);

/* Frees the slots; takes a zeroed map. */
void sws_index_map__clear(struct sws_index_map *self);

/* Finds a key; false where it is not. */
bool sws_index_map__find(const struct sws_index_map *self, uint64_t key, uint32_t *index);

/* Puts a key that is not there yet. Returns SWS_ERROR_NO_MEMORY or SWS_OK. */
int sws_index_map__put(struct sws_index_map *self, uint64_t key, uint32_t index);

/* Takes a key out, if it is there. */
void sws_index_map__remove(struct sws_index_map *self, uint64_t key);

#endif
