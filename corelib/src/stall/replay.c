/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stall/replay.c - lists that come as columns. A page takes no branch: what a step means is
 * looked up, what the rules make of it is arithmetic on bits, and whether a row is sound is
 * asked once for a whole list. Only if it is not, the row is searched.
 */
#include "swapsim/stall_replay.h"

#include "stall/parts.h"

/* What a step says of a page's way. */
enum {
	MET = 1, /* it came to the accounting */
	IN_CASE = 2, /* it ended, or waited, in one of the three cases */
	WAITS = 4, /* the next row is the same page */
	DIRTY = 8, /* it came dirty to the dirty test */
	NOT_TRIED = 16, /* and was not to be written */
	NOT_NOW = 32, /* or could not be */
	KEPT = 64, /* or was kept by pageout */
	PAST = 128, /* it came past the dirty test, dirty if it came back from pageout */
};

/* As many as five bits can name: a step that there is not reads nothing. */
static const uint8_t meaning[32] = {
	[SWS_STALL_STEP_WRITEBACK_1] = MET | IN_CASE,
	[SWS_STALL_STEP_WRITEBACK_2] = MET | IN_CASE,
	[SWS_STALL_STEP_WRITEBACK_3] = MET | IN_CASE | WAITS,
	[SWS_STALL_STEP_REFERENCE_ACTIVATE] = MET,
	[SWS_STALL_STEP_REFERENCE_KEEP] = MET,
	[SWS_STALL_STEP_DEMOTE] = MET,
	[SWS_STALL_STEP_SWAP] = MET,
	[SWS_STALL_STEP_UNMAP] = MET,
	[SWS_STALL_STEP_PINNED] = MET,
	[SWS_STALL_STEP_DIRTY] = MET | DIRTY | NOT_TRIED,
	[SWS_STALL_STEP_NO_WRITE] = MET | DIRTY | NOT_NOW,
	[SWS_STALL_STEP_PAGEOUT_KEEP] = MET | DIRTY | KEPT,
	[SWS_STALL_STEP_PAGEOUT_ACTIVATE] = MET | DIRTY,
	[SWS_STALL_STEP_WRITTEN] = MET | DIRTY,
	[SWS_STALL_STEP_RELEASE] = MET | PAST,
	[SWS_STALL_STEP_REMOVE] = MET | PAST,
	[SWS_STALL_STEP_FREED] = MET | PAST,
};

/* What goes from row to row of a list. */
struct walk {
	struct stall_masks masks;
	struct sws_stall_counts counts;
	/* 1: case 1 counts its pages; it leads them on, and so does case 3. */
	uint32_t counts_first;
	uint32_t first_goes_on;
	uint32_t third_goes_on;
	/* What a case 1 clears. */
	uint8_t clears;
	uint8_t flags;
	uint8_t cleared;
	/* This row goes on with the page that waited in the one before it. */
	uint32_t continues;
	uint32_t slept;
	uint32_t writes;
	uint32_t untold;
	/* Something is wrong with a row so far. */
	uint32_t wrong;
};

static struct walk start_walk(const struct sws_stall_rules *rules, uint8_t caller, uint8_t priority,
			      uint8_t flags)
{
	return (struct walk){
		.masks = stall_masks_of(rules, caller, priority),
		.counts_first = rules->case_1 >= SWS_STALL_CASE_1_COUNT_AND_KEEP,
		.first_goes_on = rules->case_1 == SWS_STALL_CASE_1_SLEEP_LOCKED,
		.third_goes_on = !rules->retries,
		.clears = rules->clears[SWS_STALL_CLEAR_IMMEDIATE],
		.flags = flags,
	};
}

/* Not 0 if the row cannot be; which problem it is, find_problem says. */
static inline uint32_t is_wrong(uint32_t page, uint32_t step, uint32_t base_pages, uint32_t flags)
{
	const uint32_t callbacks = SWS_STALL_PAGE_BUFFERS | SWS_STALL_PAGE_NFS;
	const uint32_t in_case = meaning[step & 31] & IN_CASE;

	return (page & ~(uint32_t)SWS_STALL_PAGE_BITS) | ((page & callbacks) == callbacks) |
	       (step > SWS_STALL_STEP_FREED) |
	       (in_case && !(page & SWS_STALL_PAGE_UNDER_WRITEBACK)) |
	       (base_pages - 1 >= SWS_STALL_LIST_MAX) | (flags & ~(uint32_t)SWS_STALL_FLAGS);
}

/*
 * One page. Its way is longer or shorter than the columns', by case:
 *
 *      columns          these rules      what is made of it
 *      writeback_2      case 1, 2        stopped here, too
 *      writeback_2      goes on          untold
 *      writeback_3      waits, retries   counted again in its next row
 *      writeback_3      waits, goes on   its next row is the rest of its way
 *      freed            case 1, 2        stopped here
 *      dirty            written          untold what pageout would have said
 */
static inline uint8_t walk_page(struct walk *walk, uint32_t page, uint32_t step, uint32_t weight,
				uint8_t flags)
{
	const uint32_t means = meaning[step & 31];
	const uint32_t met = stall_bit(means, MET);
	const uint32_t anew = met & !walk->continues;
	const uint32_t fate = stall_case(&walk->masks, page, flags);
	const uint32_t first = anew & (fate == SWS_STALL_FATE_CASE_1);
	const uint32_t second = anew & (fate == SWS_STALL_FATE_CASE_2);
	const uint32_t third = anew & (fate == SWS_STALL_FATE_CASE_3);
	const uint32_t goes_on =
		met & !(second | (first & !walk->first_goes_on) | (third & !walk->third_goes_on));
	const uint32_t waits = goes_on & (third | walk->continues) & stall_bit(means, WAITS);
	const uint32_t late =
		goes_on & (stall_bit(means, DIRTY) |
			   (stall_bit(means, PAST) & stall_bit(page, SWS_STALL_PAGE_CAME_BACK)));
	const uint32_t may_write =
		stall_may_write(&walk->masks, page, flags) == SWS_STALL_FATE_WRITE;
	const uint32_t writes = late & may_write & !(means & NOT_NOW);
	const uint32_t in_case = first | second | third;

	stall_account(&walk->masks, page, weight * anew, &walk->counts);
	walk->counts.immediate += weight * (first & walk->counts_first);
	walk->counts.writeback += weight * second;
	stall_count_late(&walk->masks, 0, weight * late, &walk->counts);
	walk->counts.congested +=
		weight * (walk->masks.by_pageout & writes & stall_bit(means, KEPT));
	walk->slept += first & !walk->counts_first;
	walk->cleared |= (uint8_t)(walk->clears * first);
	walk->flags &= (uint8_t)~(walk->clears * first);
	walk->writes += writes;
	walk->untold += (goes_on & stall_bit(means, IN_CASE) & !waits) |
			(writes & stall_bit(means, NOT_TRIED)) | (walk->continues & !met);
	walk->continues = waits;
	return (uint8_t)(met * (in_case      ? fate
				: !late      ? SWS_STALL_FATE_GOES_ON
				: !may_write ? SWS_STALL_FATE_NOT_WRITTEN
				: writes     ? SWS_STALL_FATE_WRITE
					     : SWS_STALL_FATE_NO_WRITE));
}

/* Walks the rows begin .. end - 1; where a column is missing, it is that of an ordinary page. */
static void walk_rows(struct walk *walk, const struct sws_stall_rows *rows, uint64_t begin,
		      uint64_t end, uint8_t *fates)
{
	for (uint64_t row = begin; row < end; row++) {
		const uint32_t page = rows->page[row];
		const uint32_t step = rows->step[row];
		const uint32_t base_pages = rows->base_pages ? rows->base_pages[row] : 1;
		const uint8_t flags = rows->flags ? rows->flags[row] : walk->flags;
		uint8_t fate;

		walk->wrong |= is_wrong(page, step, base_pages, flags);
		fate = walk_page(walk, page, step, stall_weight(&walk->masks, base_pages), flags);
		if (fates)
			fates[row] = fate;
	}
}

static enum sws_stall_problem row_problem(const struct sws_stall_rows *rows, uint64_t row)
{
	const uint32_t step = rows->step[row];
	const enum sws_stall_problem problem = sws_stall__check_page(rows->page[row]);

	if (problem)
		return problem;
	if (step > SWS_STALL_STEP_FREED)
		return SWS_STALL_UNKNOWN_STEP;
	if ((meaning[step] & IN_CASE) && !(rows->page[row] & SWS_STALL_PAGE_UNDER_WRITEBACK))
		return SWS_STALL_STEP_WITHOUT_WRITEBACK;
	if (rows->flags && (rows->flags[row] & ~SWS_STALL_FLAGS))
		return SWS_STALL_UNKNOWN_FLAGS;
	if (rows->base_pages && rows->base_pages[row] - 1 >= SWS_STALL_LIST_MAX)
		return SWS_STALL_NO_PAGES;
	return SWS_STALL_NO_PROBLEM;
}

/* The first row of a list that is at fault: there is one. */
static void find_problem(const struct sws_stall_rows *rows, struct sws_stall_results *results)
{
	while (!(results->problem = row_problem(rows, results->row)))
		results->row++;
}

static enum sws_stall_problem list_problem(const struct sws_stall_lists *lists, uint64_t list,
					   uint64_t begin)
{
	if (lists->ends[list] <= begin || !lists->taken[list])
		return SWS_STALL_EMPTY_LIST;
	if (lists->ends[list] - begin > SWS_STALL_LIST_MAX ||
	    lists->taken[list] > SWS_STALL_LIST_MAX)
		return SWS_STALL_LIST_TOO_LONG;
	if (!lists->flags && lists->node[list] >= lists->n_nodes)
		return SWS_STALL_UNKNOWN_NODE;
	if (!lists->flags && lists->clears && lists->clears[list] >> SWS_STALL_CLEARS)
		return SWS_STALL_UNKNOWN_CLEARS;
	return sws_stall__check_caller(lists->caller[list], lists->priority[list],
				       lists->flags ? lists->flags[list]
						    : lists->node_flags[lists->node[list]]);
}

/* Flags as a list begins: as they are given, or as the node has them after what cleared some. */
static uint8_t flags_of(const struct sws_stall_rules *rules, const struct sws_stall_lists *lists,
			uint64_t list)
{
	uint8_t flags = 0;

	if (lists->flags)
		return lists->flags[list];
	flags = lists->node_flags[lists->node[list]];
	for (uint32_t why = 0; lists->clears && why < SWS_STALL_CLEARS; why++)
		if (lists->clears[list] >> why & 1)
			flags &= (uint8_t)~rules->clears[why];
	return flags;
}

/* One list, which was checked; its rows are checked on the way. */
static int walk_list(const struct sws_stall_context *context, const struct sws_stall_rows *rows,
		     uint64_t begin, const struct sws_stall_lists *lists,
		     struct sws_stall_results *results)
{
	struct sws_stall_result *result = &results->lists[results->list];
	struct sws_stall_context at_end = *context;
	struct walk walk = start_walk(sws_stall_rules_of(context->set), context->caller,
				      context->priority, context->flags);
	const uint32_t taken = lists->taken[results->list];

	walk.counts.taken = taken;
	walk.counts.file_taken = lists->file[results->list] ? taken : 0;
	walk_rows(&walk, rows, begin, lists->ends[results->list], results->fates);
	if (walk.wrong) {
		find_problem(rows, results);
		return SWS_ERROR_BAD_ARGUMENT;
	}
	at_end.flags = walk.flags;
	*result = (struct sws_stall_result){
		.counts = walk.counts,
		.flags_before = context->flags,
		.slept = walk.slept,
		.writes = walk.writes,
		.untold = walk.untold,
	};
	sws_stall__decide(&at_end, SWS_STALL_AT_LIST, &walk.counts, &result->decision);
	result->decision.cleared = walk.cleared;
	return SWS_OK;
}

int sws_stall_replay_lists(enum sws_stall_set set, const struct sws_stall_rows *rows,
			   uint64_t n_lists, const struct sws_stall_lists *lists,
			   struct sws_stall_results *results)
{
	const struct sws_stall_rules *rules = sws_stall_rules_of(set);
	uint64_t begin = 0;

	results->list = results->row = 0;
	results->problem = rules ? SWS_STALL_NO_PROBLEM : SWS_STALL_UNKNOWN_SET;
	for (uint64_t list = 0; rules && list < n_lists; list++) {
		struct sws_stall_context context = { .set = set };

		results->list = list;
		results->row = begin;
		results->problem = list_problem(lists, list, begin);
		if (results->problem)
			break;
		context.caller = lists->caller[list];
		context.priority = lists->priority[list];
		context.flags = flags_of(rules, lists, list);
		if (walk_list(&context, rows, begin, lists, results))
			break;
		if (!lists->flags)
			lists->node_flags[lists->node[list]] =
				results->lists[list].decision.flags_after;
		begin = lists->ends[list];
	}
	return results->problem ? SWS_ERROR_BAD_ARGUMENT : SWS_OK;
}

int sws_stall_replay_counts(enum sws_stall_set set, enum sws_stall_place place, uint64_t n,
			    const struct sws_stall_summed *lists,
			    struct sws_stall_decision *decisions, uint64_t *row,
			    enum sws_stall_problem *problem)
{
	for (*row = 0; *row < n; (*row)++) {
		const struct sws_stall_context context = {
			.set = set,
			.caller = lists->caller[*row],
			.priority = lists->priority[*row],
			.flags = lists->flags[*row],
		};

		*problem = sws_stall_check(&context);
		if (!*problem)
			*problem = sws_stall_check_counts(&context, place, &lists->counts[*row]);
		if (*problem ||
		    sws_stall_decide(&context, place, &lists->counts[*row], &decisions[*row]))
			return SWS_ERROR_BAD_ARGUMENT;
	}
	*problem = SWS_STALL_NO_PROBLEM;
	return SWS_OK;
}

const char *sws_stall_step_name(enum sws_stall_step step)
{
	static const char *const names[] = {
		[SWS_STALL_STEP_LOCK] = "lock",
		[SWS_STALL_STEP_EVICTABLE] = "evictable",
		[SWS_STALL_STEP_MAPPED] = "mapped",
		[SWS_STALL_STEP_WRITEBACK_1] = "writeback_1",
		[SWS_STALL_STEP_WRITEBACK_2] = "writeback_2",
		[SWS_STALL_STEP_WRITEBACK_3] = "writeback_3",
		[SWS_STALL_STEP_REFERENCE_ACTIVATE] = "reference_activate",
		[SWS_STALL_STEP_REFERENCE_KEEP] = "reference_keep",
		[SWS_STALL_STEP_DEMOTE] = "demote",
		[SWS_STALL_STEP_SWAP] = "swap",
		[SWS_STALL_STEP_UNMAP] = "unmap",
		[SWS_STALL_STEP_PINNED] = "pinned",
		[SWS_STALL_STEP_DIRTY] = "dirty",
		[SWS_STALL_STEP_NO_WRITE] = "no_write",
		[SWS_STALL_STEP_PAGEOUT_KEEP] = "pageout_keep",
		[SWS_STALL_STEP_PAGEOUT_ACTIVATE] = "pageout_activate",
		[SWS_STALL_STEP_WRITTEN] = "written",
		[SWS_STALL_STEP_RELEASE] = "release",
		[SWS_STALL_STEP_REMOVE] = "remove",
		[SWS_STALL_STEP_FREED] = "freed",
	};

	return (size_t)step < sizeof(names) / sizeof(*names) ? names[step] : NULL;
}
