/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vm/reclaim.h - the procedures of reclaim; each returns in the thread's result what it says. */
#ifndef SWAPSIM_RECLAIM_RECLAIM_H
#define SWAPSIM_RECLAIM_RECLAIM_H

#include "reclaim/layout.h"

/* A free page, however long it takes: its frame; VM_NONE: out of memory. */
int sws_reclaim__allocate(struct actor *actor, bool dirties);

/* Wakes kswapd if a zone is below its low mark. */
int sws_reclaim__wake_kswapd(struct sws_reclaim *vm);

/* try_to_free_pages: 32 pages at least. The result: is it worth trying again? */
int sws_reclaim__reclaim_directly(struct actor *actor);

/* kswapd's whole life. */
int sws_reclaim__kswapd(struct actor *actor);

/* balance_pgdat: until each zone has its high mark of free pages. */
int sws_reclaim__balance(struct actor *actor);

/* shrink_lruvec of a zone: reclaimed and scanned grow in the actor's scan. */
int sws_reclaim__shrink_zone(struct actor *actor, uint32_t zone);

/* How many pages of each list are to be scanned: get_scan_count. */
void sws_reclaim__set_targets(struct actor *actor, uint32_t zone);

/* Are so few pages inactive that active ones have to go there? */
bool sws_reclaim__inactive_is_low(const struct sws_reclaim *vm, uint32_t zone, bool file);

/* shrink_active_list: looks at pages of the tail, and makes them inactive. Returns the time. */
uint64_t sws_reclaim__age(struct sws_reclaim *vm, uint32_t zone, bool file, uint32_t pages);

/* shrink_inactive_list of up to 32 pages, and what is decided after them. */
int sws_reclaim__shrink_list(struct actor *actor, uint32_t zone, bool file, uint32_t pages);

/* What the rules ask for at a place: flags are set, sleeps slept, in their order. */
int sws_reclaim__obey(struct actor *actor, uint32_t zone, enum sws_stall_place place);

/* Do the rules decide by the sums of a pass over the lists, as 6.1's, not list by list? */
bool sws_reclaim__decides_by_pass(const struct sws_reclaim *vm);

/* The end of a pass: what its sums ask for. */
int sws_reclaim__end_pass(struct actor *actor, uint32_t zone);

/* One sleep of reclaim, by the rules of stall.h. */
int sws_reclaim__sleep(struct actor *actor, uint32_t zone, enum sws_stall_sleep sleep,
		       uint64_t timeout_us);

/* Who reclaims, for stall.h. */
struct sws_stall_context sws_reclaim__context(const struct actor *actor, uint32_t zone);

/* Flags of a zone are cleared, by the rules. */
void sws_reclaim__clear_flags(struct sws_reclaim *vm, uint32_t zone, enum sws_stall_clear why);

#endif
