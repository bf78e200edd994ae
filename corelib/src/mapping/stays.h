/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mapping/stays.h - the folios of a trace that are in a mapping, with their history.
 *
 *      folio --> map --> entry 2       entries [ stay | over | stay | over | over ]
 *                                                       |                ^      ^
 *                                        first free ----'----- next -----'------'
 *
 * A stay lasts from the folio's add (or its first row in the trace) to its delete. Its entry is
 * reused, so memory follows the number of pages that are present at once, not the number of rows. A
 * pointer to a stay is valid until the next open.
 */
#ifndef SWAPSIM_MAPPING_STAYS_H
#define SWAPSIM_MAPPING_STAYS_H

#include "swapsim/mapping.h"

#include "core/index_map.h"

struct sws_stay {
	/* The folio; 0 if the stay is over and its entry is free. */
	uint64_t folio;
	uint64_t index;
	uint32_t mapping;
	/* While over: the next free entry. */
	uint32_t next_free;
	/* The work of the add, until it is counted. */
	struct sws_mapping_work add;
	bool add_unbooked;
	/* True if the page is in the swap cache. */
	bool swap;
	/* True if the stay had a writeback. */
	bool written;
};

struct sws_stays {
	/* Belongs to the creator of the table. */
	const struct sws_allocator *allocator;
	/* Maps a folio to the entry of its stay. */
	struct sws_index_map folios;
	struct sws_stay *rooms;
	size_t room_count;
	uint32_t first_free;
};

/*
 * Initializes an empty table. The allocator has to outlive it. Returns SWS_OK or
 * SWS_ERROR_NO_MEMORY.
 */
int sws_stays__init(struct sws_stays *self, const struct sws_allocator *allocator);

/* Frees all stays; accepts a zeroed table. */
void sws_stays__clear(struct sws_stays *self);

/* Returns the stay of a folio, or NULL. */
struct sws_stay *sws_stays__find(const struct sws_stays *self, uint64_t folio);

/* Opens a stay for a folio without one. Returns SWS_OK or SWS_ERROR_NO_MEMORY. */
int sws_stays__open(struct sws_stays *self, uint64_t folio, uint32_t mapping, uint64_t index,
		    struct sws_stay **out);

/* Gives a stay to another folio without one. Returns SWS_OK or SWS_ERROR_NO_MEMORY. */
int sws_stays__rename(struct sws_stays *self, struct sws_stay *stay, uint64_t folio);

/* Ends a stay. */
void sws_stays__close(struct sws_stays *self, struct sws_stay *stay);

#endif
