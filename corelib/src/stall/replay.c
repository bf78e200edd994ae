/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stall/replay.c - replays lists in columns. The result of a page is looked up (paths.h). The
 * validity of the rows is tested once per list; only if the test fails is the faulty row searched.
 */
#include "stall/paths.h"

void sws_stall_replay_config_init(struct sws_stall_replay_config *config)
{
	*config = (struct sws_stall_replay_config){ .set = SWS_STALL_6_1, .allocator = NULL };
}

int sws_stall_replay_new(const struct sws_stall_replay_config *config,
			 struct sws_stall_replay **out)
{
	struct sws_stall_replay *self = NULL;

	*out = NULL;
	if (!sws_stall_rules_of(config->set))
		return SWS_ERROR_BAD_CONFIG;
	self = sws_create(config->allocator, sizeof(*self));
	if (!self)
		return SWS_ERROR_NO_MEMORY;
	self->set = config->set;
	self->rules = sws_stall_rules_of(config->set);
	self->accounts =
		sws_allocate_array(&self->allocator, STALL_ACCOUNTS, sizeof(*self->accounts));
	self->paths = sws_allocate_array(&self->allocator, (size_t)STALL_CALLERS * STALL_PATHS,
					 sizeof(*self->paths));
	if (!self->accounts || !self->paths) {
		sws_stall_replay_free(self);
		return SWS_ERROR_NO_MEMORY;
	}
	sws_stall__fill_accounts(self);
	*out = self;
	return SWS_OK;
}

void sws_stall_replay_free(struct sws_stall_replay *self)
{
	if (!self)
		return;
	sws_release(&self->allocator, self->accounts);
	sws_release(&self->allocator, self->paths);
	sws_destroy(self);
}

/* The state that is carried from row to row of a list. */
struct walk {
	const uint32_t *accounts;
	const uint64_t *paths;
	struct sws_stall_counts counts;
	/* Pages of case 1. */
	uint64_t first;
	uint64_t writes;
	uint64_t unrecorded;
	/* The flags that case 1 clears, and those that it has cleared. */
	uint8_t clears;
	uint8_t cleared;
	uint8_t flags;
	/* 1 if this row continues the page of the previous row, which has waited. */
	uint32_t waited;
	/* Nonzero if a row so far is invalid. */
	uint32_t wrong;
};

/* Adds the byte counters of an account and a path, times a weight. */
static void add_bytes(struct walk *walk, uint32_t account, uint64_t path, uint64_t weight)
{
	struct sws_stall_counts *counts = &walk->counts;
	const uint64_t late = weight * stall_byte(path, STALL_BYTE_LATE);

	counts->dirty += weight * stall_byte(account, 0) + late;
	counts->unqueued_dirty += weight * stall_byte(account, 1) + late;
	counts->congested += weight * (stall_byte(account, 2) + stall_byte(path, STALL_BYTE_KEPT));
	counts->writeback += weight * stall_byte(path, STALL_BYTE_WRITEBACK);
	walk->first += weight * stall_byte(path, STALL_BYTE_FIRST);
}

/* Processes up to 255 rows, which byte counters can hold. A missing column means ordinary pages. */
static void walk_rows(struct walk *from, const struct sws_stall_rows *rows, const uint32_t *weights,
		      uint64_t begin, uint64_t end, uint8_t *branches)
{
	/* A local copy without aliases, so that stores to branches leave it in registers. */
	struct walk walk = *from;
	uint32_t accounts = 0;
	uint64_t paths = 0;

	for (uint64_t row = begin; row < end; row++) {
		const uint32_t page = rows->page[row];
		const uint32_t step = rows->step[row];
		const uint32_t flags = rows->flags ? rows->flags[row] : walk.flags;
		const uint32_t account = walk.accounts[page & SWS_STALL_PAGE_BITS];
		const uint64_t path =
			walk.paths[(account >> STALL_ACCOUNT_INPUT & STALL_INPUT_BITS) |
				   (step & STALL_STEP_BITS) << STALL_PATH_STEP |
				   (flags & STALL_PATH_FLAG_BITS) << STALL_PATH_FLAGS |
				   walk.waited << STALL_PATH_WAITED];
		const uint32_t at_top = account & STALL_ACCOUNT_BYTES &
					(0U - (uint32_t)(path >> STALL_PATH_COUNTS_AT_TOP & 1));
		const uint8_t cleared = (uint8_t)(walk.clears * (path >> STALL_PATH_CLEARS & 1));

		accounts += at_top;
		paths += path & STALL_PATH_BYTES;
		walk.waited = path >> STALL_PATH_WAITS & 1;
		walk.flags &= (uint8_t)~cleared;
		walk.cleared |= cleared;
		walk.wrong |= (page & ~(uint32_t)SWS_STALL_PAGE_BITS) |
			      (step & ~(uint32_t)STALL_STEP_BITS) |
			      (flags & ~(uint32_t)SWS_STALL_FLAGS) |
			      (account >> STALL_ACCOUNT_WRONG & 1) |
			      (uint32_t)(path >> STALL_PATH_WRONG & 1);
		if (weights && weights[row] != 1)
			add_bytes(&walk, at_top, path, (uint64_t)weights[row] - 1);
		if (branches)
			branches[row] = (uint8_t)(path >> STALL_PATH_BRANCH);
	}
	add_bytes(&walk, accounts, paths, 1);
	walk.writes += stall_byte(paths, STALL_BYTE_WRITES);
	walk.unrecorded += stall_byte(paths, STALL_BYTE_UNRECORDED);
	*from = walk;
}

/* Returns nonzero if a folio has an impossible number of base pages. */
static uint32_t sizes_are_wrong(const uint32_t *base_pages, uint64_t begin, uint64_t end)
{
	uint32_t wrong = 0;

	for (uint64_t row = begin; base_pages && row < end; row++)
		wrong |= base_pages[row] - 1 >= SWS_STALL_LIST_MAX;
	return wrong;
}

static enum sws_stall_problem row_problem(const struct sws_stall_rows *rows, uint64_t row)
{
	const uint32_t step = rows->step[row];
	const enum sws_stall_problem problem = sws_stall__check_page(rows->page[row]);

	if (problem)
		return problem;
	if (step > SWS_STALL_STEP_FREED)
		return SWS_STALL_UNKNOWN_STEP;
	if (sws_stall__is_case((uint8_t)step) &&
	    !(rows->page[row] & SWS_STALL_PAGE_UNDER_WRITEBACK))
		return SWS_STALL_STEP_WITHOUT_WRITEBACK;
	if (rows->flags && (rows->flags[row] & ~SWS_STALL_FLAGS))
		return SWS_STALL_UNKNOWN_FLAGS;
	if (rows->base_pages && rows->base_pages[row] - 1 >= SWS_STALL_LIST_MAX)
		return SWS_STALL_NO_PAGES;
	return SWS_STALL_NO_PROBLEM;
}

/* Finds the first invalid row of a list that has one. */
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

/*
 * Returns the flags at the beginning of a list: as given, or those of the node after its clear
 * events.
 */
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

/* Replays a list that was checked and tests its rows. */
static int walk_list(struct sws_stall_replay *self, const struct sws_stall_context *context,
		     const struct sws_stall_rows *rows, uint64_t begin,
		     const struct sws_stall_lists *lists, struct sws_stall_results *results)
{
	struct sws_stall_result *result = &results->lists[results->list];
	struct sws_stall_context at_end = *context;
	const uint32_t taken = lists->taken[results->list];
	const uint64_t end = lists->ends[results->list];
	const uint32_t *weights = self->rules->counts_base_pages ? rows->base_pages : NULL;
	const bool counts_first = self->rules->case_1 >= SWS_STALL_CASE_1_COUNT_AND_KEEP;
	struct walk walk = {
		.accounts = self->accounts,
		.paths = sws_stall__paths(self, context->caller, context->priority),
		.counts = { .taken = taken, .file_taken = lists->file[results->list] ? taken : 0 },
		.clears = self->rules->clears[SWS_STALL_CLEAR_IMMEDIATE],
		.flags = context->flags,
		.wrong = sizes_are_wrong(rows->base_pages, begin, end),
	};

	for (uint64_t row = begin; row < end; row += STALL_BYTE_ROWS)
		walk_rows(&walk, rows, weights, row,
			  end - row < STALL_BYTE_ROWS ? end : row + STALL_BYTE_ROWS,
			  results->branches);
	if (walk.wrong) {
		find_problem(rows, results);
		return SWS_ERROR_BAD_ARGUMENT;
	}
	at_end.flags = walk.flags;
	walk.counts.immediate = counts_first ? walk.first : 0;
	*result = (struct sws_stall_result){
		.counts = walk.counts,
		.flags_before = context->flags,
		.slept = counts_first ? 0 : (uint32_t)walk.first,
		.writes = (uint32_t)walk.writes,
		.unrecorded = (uint32_t)walk.unrecorded,
	};
	sws_stall__decide(&at_end, SWS_STALL_AT_LIST, &walk.counts, &result->decision);
	result->decision.cleared = walk.cleared;
	return SWS_OK;
}

int sws_stall_replay_lists(struct sws_stall_replay *self, const struct sws_stall_rows *rows,
			   uint64_t n_lists, const struct sws_stall_lists *lists,
			   struct sws_stall_results *results)
{
	uint64_t begin = 0;

	results->list = results->row = 0;
	results->problem = SWS_STALL_NO_PROBLEM;
	for (uint64_t list = 0; list < n_lists; list++) {
		struct sws_stall_context context = { .set = self->set };

		results->list = list;
		results->row = begin;
		results->problem = list_problem(lists, list, begin);
		if (results->problem)
			break;
		context.caller = lists->caller[list];
		context.priority = lists->priority[list];
		context.flags = flags_of(self->rules, lists, list);
		if (walk_list(self, &context, rows, begin, lists, results))
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
