/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mapping/stays.h - which folios of a trace are in which mapping, and since when.
 *
 *      folio --> map --> room 2        rooms   [ stay | over | stay | over | over ]
 *                                                       |                ^      ^
 *                                        first free ----'----- next -----'------'
 *
 * A stay lasts from the folio's add (or from when the trace first told of it) to
 * its delete. Its room is used again, so memory follows the pages that are in at
 * once, not the rows. A stay's address holds until the next open.
 */
#ifndef SWAPSIM_MAPPING_STAYS_H
#define SWAPSIM_MAPPING_STAYS_H

#include "swapsim/mapping.h"

#include "core/index_map.h"

struct sws_stay {
	/* 0: this stay is over and its room is free. */
	uint64_t folio;
	uint64_t index;
	uint32_t mapping;
	/* While over: the next free room. */
	uint32_t next_free;
	/* The add's share of work, until it is booked. */
	struct sws_mapping_work add;
	bool add_unbooked;
	/* In the swap cache. */
	bool swap;
	/* It has seen a writeback. */
	bool written;
};

struct sws_stays {
	/* Borrowed. */
	const struct sws_allocator *allocator;
	/* A folio to the room of its stay. */
	struct sws_index_map folios;
	struct sws_stay *rooms;
	size_t room_count;
	uint32_t first_free;
};

/* Makes an empty table. The allocator must outlive it. SWS_ERROR_NO_MEMORY or SWS_OK. */
int sws_stays__init(struct sws_stays *self, const struct sws_allocator *allocator);

/* Frees all stays; takes a zeroed table. */
void sws_stays__clear(struct sws_stays *self);

/* The stay of a folio, or NULL. */
struct sws_stay *sws_stays__find(const struct sws_stays *self, uint64_t folio);

/* Opens a stay for a folio that has none. SWS_ERROR_NO_MEMORY or SWS_OK. */
int sws_stays__open(struct sws_stays *self, uint64_t folio, uint32_t mapping, uint64_t index,
		    struct sws_stay **out);

/* Gives a stay to another folio, which has none. SWS_ERROR_NO_MEMORY or SWS_OK. */
int sws_stays__rename(struct sws_stays *self, struct sws_stay *stay, uint64_t folio);

/* Ends a stay. */
void sws_stays__close(struct sws_stays *self, struct sws_stay *stay);

#endif
