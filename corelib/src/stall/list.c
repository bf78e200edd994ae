/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stall/list.c - processes a list page by page. In the example kswapd tests three pages by the
 * rules of series-1; the zone has WRITEBACK set, all pages belong to a file and have the reclaim
 * flag:
 *
 *      call                        state       flags  W  D
 *      begin                       PAGE        W      0  0
 *      meet(under writeback)       ASLEEP      W      0  0     case 1
 *      slept                       PAGE        -      0  0     kept; the flag is cleared, so
 *      meet(under writeback)       PAGE        -      1  0     the next page is case 2
 *      meet(dirty)                 GOES_ON     -      1  0
 *      dirty                       PAGE        -      1  1     no TAIL_DIRTY: not written, kept
 *      end                         ENDED
 *
 * With the rules of mmotm the first page would go on after its sleep even if it is not written yet.
 */
#include "stall/page.h"

static struct stall_masks masks_of(const struct sws_stall_list *list)
{
	return stall_masks_of(sws_stall_rules_of(list->context.set), list->context.caller,
			      list->context.priority);
}

/*
 * Returns whether a list is in a state. The caller owns the list, so its context, which is an index
 * and a shift, is not trusted.
 */
static bool is_in(const struct sws_stall_list *list, enum sws_stall_state state)
{
	return list->state == state && !sws_stall_check(&list->context);
}

int sws_stall_begin(const struct sws_stall_context *context, bool file, uint64_t taken,
		    struct sws_stall_list *list)
{
	if (sws_stall_check(context) || !taken || taken > SWS_STALL_LIST_MAX)
		return SWS_ERROR_BAD_ARGUMENT;
	*list = (struct sws_stall_list){
		.context = *context,
		.state = SWS_STALL_STATE_PAGE,
		.counts = { .taken = taken, .file_taken = file ? taken : 0 },
		.flags = context->flags,
	};
	return SWS_OK;
}

/* Ends the path of the current page. */
static void end_path(struct sws_stall_list *list, bool activates)
{
	list->state = SWS_STALL_STATE_PAGE;
	list->activates = activates;
}

static void enter_case_1(struct sws_stall_list *list, const struct sws_stall_rules *rules)
{
	if (rules->case_1 < SWS_STALL_CASE_1_COUNT_AND_KEEP) {
		list->state = SWS_STALL_STATE_ASLEEP;
		list->slept++;
	} else {
		list->counts.immediate += list->weight;
		end_path(list, rules->case_1 == SWS_STALL_CASE_1_COUNT_AND_ACTIVATE);
	}
}

static void enter_case_2(struct sws_stall_list *list, const struct sws_stall_rules *rules)
{
	list->counts.writeback += list->weight;
	list->marks = true;
	end_path(list, rules->activates);
}

int sws_stall_meet(struct sws_stall_list *list, uint16_t page, uint32_t base_pages)
{
	struct stall_masks masks;

	if (!is_in(list, SWS_STALL_STATE_PAGE) || sws_stall__check_page(page) || !base_pages ||
	    base_pages > SWS_STALL_LIST_MAX)
		return SWS_ERROR_BAD_ARGUMENT;
	masks = masks_of(list);
	list->page = page;
	list->weight = stall_weight(&masks, base_pages);
	list->activates = false;
	list->marks = false;
	list->under_writeback = false;
	stall_account(&masks, page, list->weight, &list->counts);
	list->branch = stall_case(&masks, page, list->flags);
	if (list->branch == SWS_STALL_BRANCH_CASE_1)
		enter_case_1(list, masks.rules);
	else if (list->branch == SWS_STALL_BRANCH_CASE_2)
		enter_case_2(list, masks.rules);
	else
		list->state = list->branch == SWS_STALL_BRANCH_CASE_3 ? SWS_STALL_STATE_WAITING
								      : SWS_STALL_STATE_GOES_ON;
	return SWS_OK;
}

int sws_stall_slept(struct sws_stall_list *list, bool under_writeback)
{
	const struct sws_stall_rules *rules = NULL;
	uint8_t clears = 0;

	if (!is_in(list, SWS_STALL_STATE_ASLEEP))
		return SWS_ERROR_BAD_ARGUMENT;
	rules = sws_stall_rules_of(list->context.set);
	clears = rules->clears[SWS_STALL_CLEAR_IMMEDIATE];
	list->flags &= (uint8_t)~clears;
	list->cleared |= clears;
	if (rules->case_1 == SWS_STALL_CASE_1_SLEEP_LOCKED) {
		list->under_writeback = under_writeback;
		list->state = SWS_STALL_STATE_GOES_ON;
	} else {
		end_path(list, false);
	}
	return SWS_OK;
}

int sws_stall_waited(struct sws_stall_list *list)
{
	if (!is_in(list, SWS_STALL_STATE_WAITING))
		return SWS_ERROR_BAD_ARGUMENT;
	list->state = sws_stall_rules_of(list->context.set)->retries ? SWS_STALL_STATE_PAGE
								     : SWS_STALL_STATE_GOES_ON;
	return SWS_OK;
}

int sws_stall_left(struct sws_stall_list *list)
{
	if (!is_in(list, SWS_STALL_STATE_GOES_ON))
		return SWS_ERROR_BAD_ARGUMENT;
	end_path(list, false);
	return SWS_OK;
}

int sws_stall_dirty(struct sws_stall_list *list)
{
	struct stall_masks masks;

	if (!is_in(list, SWS_STALL_STATE_GOES_ON))
		return SWS_ERROR_BAD_ARGUMENT;
	masks = masks_of(list);
	stall_count_late(&masks, list->under_writeback, list->weight, &list->counts);
	list->branch = stall_may_write(&masks, list->page, list->flags);
	if (list->branch == SWS_STALL_BRANCH_NOT_WRITTEN) {
		list->marks = true;
		end_path(list, masks.rules->activates);
	} else {
		list->state = SWS_STALL_STATE_PAGEOUT;
	}
	return SWS_OK;
}

int sws_stall_paged_out(struct sws_stall_list *list, bool kept)
{
	struct stall_masks masks;

	if (!is_in(list, SWS_STALL_STATE_PAGEOUT))
		return SWS_ERROR_BAD_ARGUMENT;
	masks = masks_of(list);
	list->counts.congested += list->weight * (masks.by_pageout & kept);
	end_path(list, false);
	return SWS_OK;
}

int sws_stall_end(struct sws_stall_list *list, struct sws_stall_decision *decision)
{
	if (!is_in(list, SWS_STALL_STATE_PAGE))
		return SWS_ERROR_BAD_ARGUMENT;
	list->context.flags = list->flags;
	sws_stall__decide(&list->context, SWS_STALL_AT_LIST, &list->counts, decision);
	decision->cleared = list->cleared;
	list->flags = decision->flags_after;
	list->state = SWS_STALL_STATE_ENDED;
	return SWS_OK;
}

int sws_stall_verify(const struct sws_stall_list *list, const char **reason)
{
	const struct sws_stall_rules *rules = sws_stall_rules_of(list->context.set);
	const struct sws_stall_counts *counts = &list->counts;

	*reason = NULL;
	if (sws_stall_check(&list->context))
		*reason = "the context of the list is invalid";
	else if ((unsigned int)list->state > SWS_STALL_STATE_ENDED)
		*reason = "the state of the list is unknown";
	else if (counts->unqueued_dirty > counts->dirty)
		*reason = "more pages are unqueued than dirty";
	else if (list->slept && rules->case_1 >= SWS_STALL_CASE_1_COUNT_AND_KEEP)
		*reason = "case 1 has slept, but its rules only count";
	else if (counts->immediate && rules->case_1 < SWS_STALL_CASE_1_COUNT_AND_KEEP)
		*reason = "case 1 was counted, but its rules sleep";
	else if (list->cleared & ~rules->clears[SWS_STALL_CLEAR_IMMEDIATE])
		*reason = "case 1 has cleared a flag that its rules do not clear";
	else if (list->under_writeback && rules->case_1 != SWS_STALL_CASE_1_SLEEP_LOCKED)
		*reason = "a page under writeback goes on";
	return *reason ? SWS_ERROR_BROKEN : SWS_OK;
}
