/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stall/paths.c - computes each path of a page by the tests of page.h. The path with other rules is
 * longer or shorter than the recorded one:
 *
 *      columns          these rules      result
 *      writeback_2      case 1, 2        stopped here, too
 *      writeback_2      goes on          unrecorded: the rest is not recorded
 *      writeback_3      waits, retries   counted again in its next row
 *      writeback_3      waits, goes on   its next row is the rest of its path
 *      freed            case 1, 2        stopped here
 *      dirty            written          unrecorded: the result of pageout is not recorded
 */
#include "stall/paths.h"

/* The properties of a path that follow from its step. */
enum {
	/* The page reached the accounting. */
	MET = 1,
	/* The path ended, or waited, in one of the three cases. */
	IN_CASE = 2,
	/* The next row is the same page. */
	WAITS = 4,
	/* The page was dirty at the dirty test. */
	DIRTY = 8,
	/* The page was dirty and not to be written. */
	NOT_TRIED = 16,
	/* The page was dirty and could not be written at that moment. */
	NOT_NOW = 32,
	/* The page was dirty and kept by pageout. */
	KEPT = 64,
	/* The page passed the dirty test; it was dirty there if it came back from pageout. */
	PAST = 128,
};

/* One entry for each value of five bits; unknown steps have no properties. */
static const uint8_t meaning[STALL_STEP_BITS + 1] = {
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

bool sws_stall__is_case(uint8_t step)
{
	return step <= STALL_STEP_BITS && (meaning[step] & IN_CASE);
}

static uint32_t account_of(const struct stall_masks *masks, uint32_t page)
{
	struct sws_stall_counts counts = { 0 };
	const uint32_t inputs =
		stall_bit(page, SWS_STALL_PAGE_FILE) * STALL_INPUT_FILE |
		stall_bit(page, SWS_STALL_PAGE_UNDER_WRITEBACK) * STALL_INPUT_UNDER_WRITEBACK |
		stall_bit(page, SWS_STALL_PAGE_MARKED) * STALL_INPUT_MARKED |
		stall_bit(page, SWS_STALL_PAGE_CAME_BACK) * STALL_INPUT_CAME_BACK;
	const uint32_t wrong = sws_stall__check_page(page) != SWS_STALL_NO_PROBLEM;

	stall_account(masks, page, 1, &counts);
	return (uint32_t)(counts.dirty | counts.unqueued_dirty << 8 | counts.congested << 16) |
	       inputs << STALL_ACCOUNT_INPUT | wrong << STALL_ACCOUNT_WRONG;
}

void sws_stall__fill_accounts(struct sws_stall_replay *self)
{
	const struct stall_masks masks = stall_masks_of(self->rules, 0, 0);

	for (uint32_t page = 0; page < STALL_ACCOUNTS; page++)
		self->accounts[page] = account_of(&masks, page);
}

/* Returns a page with only the bits that the tests after the accounting read. */
static uint32_t page_of(uint32_t inputs)
{
	return (inputs & STALL_INPUT_FILE ? SWS_STALL_PAGE_FILE : 0U) |
	       (inputs & STALL_INPUT_UNDER_WRITEBACK ? SWS_STALL_PAGE_UNDER_WRITEBACK : 0U) |
	       (inputs & STALL_INPUT_MARKED ? SWS_STALL_PAGE_MARKED : 0U);
}

/* The result of a page that is dirty at the dirty test: at most one member is 1. */
struct late {
	uint32_t writes;
	uint32_t not_now;
	uint32_t not_written;
};

static struct late late_of(const struct stall_masks *masks, uint32_t page, uint8_t flags,
			   uint32_t means)
{
	const uint32_t may = stall_may_write(masks, page, flags) == SWS_STALL_BRANCH_WRITE;
	const uint32_t now = !(means & NOT_NOW);

	return (struct late){ .writes = may & now, .not_now = may & !now, .not_written = !may };
}

static uint64_t path_of(const struct stall_masks *masks, uint32_t index)
{
	const struct sws_stall_rules *rules = masks->rules;
	const uint32_t inputs = index & STALL_INPUT_BITS;
	const uint32_t step = index >> STALL_PATH_STEP & STALL_STEP_BITS;
	const uint8_t flags = index >> STALL_PATH_FLAGS & STALL_PATH_FLAG_BITS;
	const uint32_t waited = index >> STALL_PATH_WAITED & 1;
	const uint32_t means = meaning[step];
	const uint32_t page = page_of(inputs);
	const uint32_t met = stall_bit(means, MET);
	const uint32_t first_time = met & !waited;
	const enum sws_stall_branch branch = first_time ? stall_case(masks, page, flags)
					     : met      ? SWS_STALL_BRANCH_GOES_ON
							: SWS_STALL_BRANCH_UNMET;
	const uint32_t first = branch == SWS_STALL_BRANCH_CASE_1;
	const uint32_t second = branch == SWS_STALL_BRANCH_CASE_2;
	const uint32_t third = branch == SWS_STALL_BRANCH_CASE_3;
	const uint32_t stops = second | (first & (rules->case_1 != SWS_STALL_CASE_1_SLEEP_LOCKED)) |
			       (third & rules->retries);
	const uint32_t goes_on = met & !stops;
	const uint32_t waits = goes_on & (third | waited) & stall_bit(means, WAITS);
	const uint32_t came_back =
		stall_bit(means, PAST) & stall_bit(inputs, STALL_INPUT_CAME_BACK);
	const uint32_t late = goes_on & (stall_bit(means, DIRTY) | came_back);
	const struct late then = late ? late_of(masks, page, flags, means) : (struct late){ 0 };
	const uint64_t unrecorded = (goes_on & stall_bit(means, IN_CASE) & !waits) |
				    (then.writes & stall_bit(means, NOT_TRIED)) | (waited & !met);
	const uint64_t kept = masks->by_pageout & then.writes & stall_bit(means, KEPT);
	const uint64_t wrong =
		(stall_bit(means, IN_CASE) & !stall_bit(inputs, STALL_INPUT_UNDER_WRITEBACK)) |
		(step > SWS_STALL_STEP_FREED);
	const uint64_t ends_as = branch != SWS_STALL_BRANCH_GOES_ON ? branch
				 : then.writes                      ? SWS_STALL_BRANCH_WRITE
				 : then.not_now                     ? SWS_STALL_BRANCH_NO_WRITE
				 : then.not_written                 ? SWS_STALL_BRANCH_NOT_WRITTEN
								    : branch;

	return (uint64_t)second << 8 * STALL_BYTE_WRITEBACK |
	       (uint64_t)first << 8 * STALL_BYTE_FIRST |
	       (uint64_t)(late & !masks->at_top) << 8 * STALL_BYTE_LATE |
	       kept << 8 * STALL_BYTE_KEPT | (uint64_t)then.writes << 8 * STALL_BYTE_WRITES |
	       unrecorded << 8 * STALL_BYTE_UNRECORDED |
	       (uint64_t)first_time << STALL_PATH_COUNTS_AT_TOP |
	       (uint64_t)waits << STALL_PATH_WAITS | (uint64_t)first << STALL_PATH_CLEARS |
	       wrong << STALL_PATH_WRONG | ends_as << STALL_PATH_BRANCH;
}

/* Returns the kind of a caller, 0 .. 15. */
static uint32_t kind_of(const struct stall_masks *masks)
{
	return masks->case_1 | masks->case_3[0] << 1 | masks->case_3[1] << 2 | masks->writes << 3;
}

const uint64_t *sws_stall__paths(struct sws_stall_replay *self, uint8_t caller, uint8_t priority)
{
	const struct stall_masks masks = stall_masks_of(self->rules, caller, priority);
	const uint32_t kind = kind_of(&masks);
	uint64_t *paths = &self->paths[kind * STALL_PATHS];

	for (uint32_t index = 0; !self->computed[kind] && index < STALL_PATHS; index++)
		paths[index] = path_of(&masks, index);
	self->computed[kind] = true;
	return paths;
}

/*
 * Compares the table of a caller's kind with its recomputation. All kinds occur among the 2^7 sets
 * of bits with one priority above and one below 10.
 */
static bool paths_hold(const struct sws_stall_replay *self, uint32_t caller, uint8_t priority)
{
	const struct stall_masks masks = stall_masks_of(self->rules, (uint8_t)caller, priority);
	const uint32_t kind = kind_of(&masks);

	for (uint32_t index = 0; self->computed[kind] && index < STALL_PATHS; index++)
		if (self->paths[kind * STALL_PATHS + index] != path_of(&masks, index))
			return false;
	return true;
}

int sws_stall_replay_verify(const struct sws_stall_replay *self, const char **reason)
{
	const struct stall_masks masks = stall_masks_of(self->rules, 0, 0);

	*reason = NULL;
	for (uint32_t page = 0; page < STALL_ACCOUNTS; page++)
		if (self->accounts[page] != account_of(&masks, page))
			*reason = "the account of a page differs from its tests";
	for (uint32_t caller = 0; caller <= SWS_STALL_CALLER_BITS; caller++)
		if (!paths_hold(self, caller, SWS_STALL_PRIORITY_MAX) ||
		    !paths_hold(self, caller, 0))
			*reason = "the path of a page differs from its tests";
	return *reason ? SWS_ERROR_BROKEN : SWS_OK;
}
