/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reclaim/reclaim.h - the procedures of reclaim; each leaves its result in thread.result. */
#ifndef SWAPSIM_RECLAIM_RECLAIM_H
#define SWAPSIM_RECLAIM_RECLAIM_H

#include "reclaim/layout.h"

/*
 * Allocates a page, with reclaim if needed. The result is its frame; NO_FRAME if memory is
 * exhausted.
 */
int sws_reclaim__allocate(struct actor *actor, bool dirties);

/* Wakes kswapd if a zone is below its low mark. */
int sws_reclaim__wake_kswapd(struct sws_reclaim *self);

/* Runs kswapd. */
int sws_reclaim__kswapd(struct actor *actor);

/*
 * balance_pgdat: reclaims until each zone has its high mark of free pages. The result is the number
 * of zones, from DMA32 up, that the last pass with work considered.
 */
int sws_reclaim__balance(struct actor *actor);

/* shrink_lruvec of a zone: adds to reclaimed and scanned of the actor's scan. */
int sws_reclaim__shrink_zone(struct actor *actor, uint32_t zone);

/* shrink_active_list: deactivates pages from the tail and returns the time of that work. */
uint64_t sws_reclaim__age(struct sws_reclaim *self, uint32_t zone, bool file, uint32_t pages);

/* shrink_inactive_list of up to 32 pages, with the decisions at its end. */
int sws_reclaim__shrink_list(struct actor *actor, uint32_t zone, bool file, uint32_t pages);

/* Carries out the acts of the rules at a place in their order: flags are set, throttles taken. */
int sws_reclaim__carry_out(struct actor *actor, uint32_t zone, enum sws_stall_place place);

/* Returns true if the rules decide by the sums of a pass over the lists, as in 6.1. */
bool sws_reclaim__decides_by_pass(const struct sws_reclaim *self);

/* Ends a pass and carries out the decisions of its sums. */
int sws_reclaim__end_pass(struct actor *actor, uint32_t zone);

/* Throttles reclaim once, by the rules of stall.h. */
int sws_reclaim__sleep(struct actor *actor, uint32_t zone, enum sws_stall_sleep sleep,
		       uint64_t timeout_us);

/* Returns the context of the reclaiming actor for stall.h. */
struct sws_stall_context sws_reclaim__context(const struct actor *actor, uint32_t zone);

/* Returns the bits of enum sws_stall_page of a page, as reclaim meets it. */
uint16_t sws_reclaim__bits_of(const struct sws_reclaim *self, const struct page *page);

/* Clears flags of a zone by the rules. */
void sws_reclaim__clear_flags(struct sws_reclaim *self, uint32_t zone, enum sws_stall_clear why);

/* programs.c: the pages of programs and libraries, which their tasks touch by a clock. */

/* Fills memory with the pages of both parts; returns false if they have no room. */
bool sws_reclaim__fill_programs(struct sws_reclaim *self);

/* Runs one part of the programs, by the kind of its actor. */
int sws_reclaim__programs(struct actor *actor);

/* client.c, writer.c: the client with its pool, and the writer with its file. */

/*
 * Runs the client: fills its pool, serves it, waits for the writer, and frees all for the next
 * round.
 */
int sws_reclaim__client(struct actor *actor);

/* Runs the writer: waits for its start in each round, then writes its file. */
int sws_reclaim__writer(struct actor *actor);

/* Handles a touch that missed: brings in the page. */
int sws_reclaim__fault(struct actor *actor, uint32_t index, bool writes);

/*
 * At the beginning of a round stores the counts; at its end stores their increase. Each call
 * computes the counts minus the stored values, so one function does both.
 */
void sws_reclaim__count_round(const struct sws_reclaim *self, struct sws_reclaim_round *round);

/* Returns the pages of the largest file of all rounds. */
uint32_t sws_reclaim__largest_file(const struct sws_reclaim_config *config);

/* nfs_congestion_kb in pages: with more pages under writeback the server is congested. */
uint32_t sws_reclaim__nfs_congestion(const struct sws_reclaim_config *config);

#endif
