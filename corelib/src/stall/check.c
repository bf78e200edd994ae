/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stall/check.c - checks of contexts, counts and pages, in the order in which a caller would need
 * them.
 */
#include "stall/page.h"

enum sws_stall_problem sws_stall__check_caller(uint8_t caller, uint8_t priority, uint8_t flags)
{
	if (priority > SWS_STALL_PRIORITY_MAX)
		return SWS_STALL_BAD_PRIORITY;
	if (flags & ~SWS_STALL_FLAGS)
		return SWS_STALL_UNKNOWN_FLAGS;
	if (caller & ~SWS_STALL_CALLER_BITS)
		return SWS_STALL_UNKNOWN_CALLER;
	if ((caller & SWS_STALL_LEGACY) && !(caller & SWS_STALL_MEMCG))
		return SWS_STALL_LEGACY_WITHOUT_MEMCG;
	return SWS_STALL_NO_PROBLEM;
}

enum sws_stall_problem sws_stall_check(const struct sws_stall_context *context)
{
	if (!sws_stall_rules_of(context->set))
		return SWS_STALL_UNKNOWN_SET;
	return sws_stall__check_caller(context->caller, context->priority, context->flags);
}

enum sws_stall_problem sws_stall__check_page(uint32_t page)
{
	const uint32_t callbacks = SWS_STALL_PAGE_BUFFERS | SWS_STALL_PAGE_NFS;

	if (page & ~(uint32_t)SWS_STALL_PAGE_BITS)
		return SWS_STALL_UNKNOWN_PAGE_BITS;
	return (page & callbacks) == callbacks ? SWS_STALL_TWO_CALLBACKS : SWS_STALL_NO_PROBLEM;
}

/*
 * A page that is tested again after case 3 counts again but was isolated once, so in 6.1 the counts
 * of a cgroup of v1 have no bound.
 */
static bool counts_again(const struct sws_stall_context *context)
{
	return sws_stall_rules_of(context->set)->retries && (context->caller & SWS_STALL_LEGACY);
}

enum sws_stall_problem sws_stall_check_counts(const struct sws_stall_context *context,
					      enum sws_stall_place place,
					      const struct sws_stall_counts *counts)
{
	const struct sws_stall_rules *rules = sws_stall_rules_of(context->set);
	bool clean_pages_count = false;

	if (!rules)
		return SWS_STALL_UNKNOWN_SET;
	clean_pages_count = rules->congested_by & SWS_STALL_BY_DEVICE;
	if (!counts->taken && place == SWS_STALL_AT_LIST)
		return SWS_STALL_EMPTY_LIST;
	if (counts->file_taken > counts->taken)
		return SWS_STALL_FILE_ABOVE_TAKEN;
	if (counts->unqueued_dirty > counts->dirty)
		return SWS_STALL_UNQUEUED_ABOVE_DIRTY;
	if (!clean_pages_count && counts->congested > counts->dirty)
		return SWS_STALL_CONGESTED_ABOVE_DIRTY;
	if (counts_again(context))
		return SWS_STALL_NO_PROBLEM;
	if (counts->dirty > counts->taken)
		return SWS_STALL_DIRTY_ABOVE_TAKEN;
	if (counts->congested > counts->taken)
		return SWS_STALL_CONGESTED_ABOVE_DIRTY;
	if (counts->writeback > counts->taken ||
	    counts->immediate > counts->taken - counts->writeback)
		return SWS_STALL_WRITEBACK_ABOVE_TAKEN;
	return SWS_STALL_NO_PROBLEM;
}
