/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stall/sums.c - the rule sets of stall_sums.h, and their decisions. */
#include "swapsim/stall_sums.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
	const char *name;
	/* Decides for all of memory, too. */
	bool root;
	/* Decides after each list. */
	bool each_list;
} sets[] = {
	[SWS_SUMS_7_3_GENERATIONS] = { .name = "7.3-generations" },
	[SWS_SUMS_7_3_LISTS] = { .name = "7.3-lists", .root = true },
	[SWS_SUMS_EACH_LIST] = { .name = "each-list", .root = true, .each_list = true },
};

static bool known(enum sws_sums_set set)
{
	return (unsigned int)set < COUNT(sets);
}

const char *sws_sums_set_name(enum sws_sums_set set)
{
	return known(set) ? sets[set].name : NULL;
}

static uint8_t congested_by(uint8_t caller)
{
	const bool sane_memcg = (caller & SWS_STALL_MEMCG) && !(caller & SWS_STALL_LEGACY);

	return (uint8_t)((sane_memcg ? SWS_SUMS_CGROUP_CONGESTED : 0) |
			 (caller & SWS_STALL_KSWAPD ? SWS_SUMS_NODE_CONGESTED : 0));
}

/* Models: shrink_node. Sets flags and requests throttles by sums. */
static void decide(enum sws_sums_set set, uint8_t caller, uint8_t flags,
		   const struct sws_stall_counts *sums, struct sws_sums_decision *decision)
{
	const uint8_t congestion = SWS_SUMS_CGROUP_CONGESTED | SWS_SUMS_NODE_CONGESTED;
	const bool kswapd = caller & SWS_STALL_KSWAPD;

	if (!(caller & SWS_STALL_MEMCG) && !sets[set].root)
		return;
	decision->decides = 1;
	if (kswapd && sums->writeback && sums->writeback == sums->taken)
		decision->set |= SWS_SUMS_WRITEBACK;
	if (kswapd && sums->immediate)
		decision->sleeps |= 1U << SWS_STALL_SLEEP_WRITEBACK;
	if (sums->dirty && sums->dirty == sums->congested)
		decision->set |= congested_by(caller);
	if (!(caller & (SWS_STALL_KSWAPD | SWS_STALL_HIBERNATION | SWS_STALL_LOCAL_THROTTLE)) &&
	    ((flags | decision->set) & congestion))
		decision->sleeps |= 1U << SWS_STALL_SLEEP_CONGESTED;
}

/* Models: handle_reclaim_writeback. */
static void after_list(enum sws_sums_set set, uint8_t caller, uint8_t flags,
		       const struct sws_stall_counts *counts, struct sws_sums_decision *decision)
{
	decision->wakes = counts->unqueued_dirty == counts->taken;
	if (decision->wakes && (caller & SWS_STALL_LEGACY))
		decision->sleeps |= 1U << SWS_STALL_SLEEP_WRITEBACK;
	if (sets[set].each_list)
		decide(set, caller, flags, counts, decision);
}

/* A cgroup of v1 waits for a page, and counts it again. */
static bool fit(uint8_t caller, const struct sws_stall_counts *counts)
{
	return (caller & SWS_STALL_LEGACY) ||
	       (counts->dirty <= counts->taken && counts->writeback <= counts->taken &&
		counts->immediate <= counts->taken - counts->writeback);
}

static bool possible(uint8_t caller, uint8_t flags, const struct sws_stall_counts *counts)
{
	return !(caller & ~SWS_STALL_CALLER_BITS) && !(flags & ~SWS_SUMS_FLAGS) &&
	       counts->unqueued_dirty <= counts->dirty && counts->congested <= counts->dirty &&
	       fit(caller, counts);
}

int sws_sums_decide(enum sws_sums_set set, enum sws_stall_place place, uint64_t n,
		    const struct sws_stall_summed *rows, struct sws_sums_decision *decisions,
		    uint64_t *row)
{
	*row = 0;
	if (!known(set) || (place != SWS_STALL_AT_LIST && place != SWS_STALL_AT_PASS))
		return SWS_ERROR_BAD_ARGUMENT;
	for (; *row < n; ++*row) {
		const struct sws_stall_counts *counts = &rows->counts[*row];
		const uint8_t caller = rows->caller[*row];
		const uint8_t flags = rows->flags[*row];

		if (!possible(caller, flags, counts))
			return SWS_ERROR_BAD_ARGUMENT;
		decisions[*row] = (struct sws_sums_decision){ 0 };
		if (place == SWS_STALL_AT_LIST)
			after_list(set, caller, flags, counts, &decisions[*row]);
		else if (!sets[set].each_list)
			decide(set, caller, flags, counts, &decisions[*row]);
	}
	return SWS_OK;
}
