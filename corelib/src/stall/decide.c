/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stall/decide.c - runs the programs of stall_rules.h: the acts in order, each with the flags that
 * the acts before it have left. Example: kswapd, global reclaim, priority 10, series-5; of 32 pages
 * 8 are under writeback and 9 dirty, all of these on a congested device:
 *
 *      act   test                    numbers    holds    flags    throttles
 *      set W W > 0, W >= share       8 >= 8     yes      W
 *      set C D > 0, D == C           9 == 9     yes      W C
 *      set D U == T                  1 == 32    no       W C
 *      cw    U == T or I > 0         1, I 0     no
 *      wic   always, direct          -          not for kswapd
 */
#include "stall/page.h"

/* The numbers that the tests of one program read. */
struct numbers {
	/* Indexed by enum sws_stall_number; includes immediate. */
	uint64_t of[SWS_STALL_N_SHARE + 1];
	struct sws_stall_round round;
	uint8_t scopes;
	uint8_t priority;
	uint8_t flags;
};

/* Returns the scopes that include a caller: bits of enum sws_stall_scope. */
static uint8_t scopes_of(uint8_t caller)
{
	const bool kswapd = caller & SWS_STALL_KSWAPD;
	const bool memcg = caller & SWS_STALL_MEMCG;
	const bool legacy = caller & SWS_STALL_LEGACY;
	const bool direct = !kswapd && !(caller & SWS_STALL_HIBERNATION);

	return (uint8_t)(SWS_STALL_FOR_ANY | (memcg ? 0 : SWS_STALL_FOR_GLOBAL) |
			 (kswapd ? SWS_STALL_FOR_KSWAPD : 0) |
			 (kswapd || (memcg && !legacy) ? SWS_STALL_FOR_KSWAPD_OR_SANE_MEMCG : 0) |
			 (direct ? SWS_STALL_FOR_DIRECT : 0) |
			 (direct && !(caller & SWS_STALL_LOCAL_THROTTLE)
				  ? SWS_STALL_FOR_THROTTLED_DIRECT
				  : 0) |
			 (legacy ? SWS_STALL_FOR_LEGACY_MEMCG : 0) |
			 (!kswapd && !memcg ? SWS_STALL_FOR_GLOBAL_DIRECT : 0));
}

static struct numbers numbers_of(const struct sws_stall_context *context,
				 const struct sws_stall_counts *counts)
{
	return (struct numbers){
		.of = { [SWS_STALL_N_DIRTY] = counts->dirty,
			[SWS_STALL_N_UNQUEUED_DIRTY] = counts->unqueued_dirty,
			[SWS_STALL_N_CONGESTED] = counts->congested,
			[SWS_STALL_N_WRITEBACK] = counts->writeback,
			[SWS_STALL_N_IMMEDIATE] = counts->immediate,
			[SWS_STALL_N_TAKEN] = counts->taken,
			[SWS_STALL_N_FILE_TAKEN] = counts->file_taken,
			[SWS_STALL_N_SHARE] =
				counts->taken >> (SWS_STALL_PRIORITY_MAX - context->priority) },
		.scopes = scopes_of(context->caller),
		.priority = context->priority,
		.flags = context->flags,
	};
}

static bool in_trouble(const struct numbers *numbers)
{
	const struct sws_stall_round *round = &numbers->round;

	return numbers->priority < SWS_STALL_TROUBLE && round->scanned &&
	       round->reclaimed < round->wanted;
}

static bool test_holds(const struct sws_stall_act *act, const struct numbers *numbers)
{
	const uint64_t number = numbers->of[act->number];
	const uint64_t of = numbers->of[act->of];

	switch ((enum sws_stall_test)act->test) {
	case SWS_STALL_TEST_ALWAYS:
		return true;
	case SWS_STALL_TEST_SOME:
		return number;
	case SWS_STALL_TEST_SOME_AT_LEAST:
		return number && number >= of;
	case SWS_STALL_TEST_SOME_EQUAL:
		return number && number == of;
	case SWS_STALL_TEST_EQUAL:
		return number == of;
	case SWS_STALL_TEST_EQUAL_OR_IMMEDIATE:
		return number == of || numbers->of[SWS_STALL_N_IMMEDIATE];
	case SWS_STALL_TEST_FLAGGED:
		return numbers->flags & SWS_STALL_CONGESTED;
	case SWS_STALL_TEST_IN_TROUBLE:
		return in_trouble(numbers);
	case SWS_STALL_TEST_NO_PROGRESS:
		return numbers->priority == 1 && !numbers->round.reclaimed;
	}
	return false;
}

static bool is_done(const struct sws_stall_act *act, const struct numbers *numbers)
{
	return (act->scope & numbers->scopes) && test_holds(act, numbers);
}

/* Carries out one act if its test holds in its scope. */
static void carry_out(const struct sws_stall_act *act, uint32_t place, struct numbers *numbers,
		      struct sws_stall_decision *decision)
{
	if (!is_done(act, numbers))
		return;
	decision->acts |= (uint8_t)(1U << place);
	if (act->does == SWS_STALL_DOES_SET) {
		decision->set |= act->what;
		numbers->flags |= act->what;
	} else if (act->does == SWS_STALL_DOES_SLEEP) {
		decision->sleeps |= (uint8_t)(1U << act->what);
	}
}

static void run(const struct sws_stall_act *acts, struct numbers *numbers,
		struct sws_stall_decision *decision)
{
	*decision = (struct sws_stall_decision){ 0 };
	for (uint32_t i = 0; i < SWS_STALL_ACTS_MAX && acts[i].does; i++)
		carry_out(&acts[i], i, numbers, decision);
	decision->flags_after = numbers->flags;
}

void sws_stall__decide(const struct sws_stall_context *context, enum sws_stall_place place,
		       const struct sws_stall_counts *counts, struct sws_stall_decision *decision)
{
	struct numbers numbers = numbers_of(context, counts);

	run(sws_stall_rules_of(context->set)->acts[place], &numbers, decision);
}

static bool counts_fit(const struct sws_stall_context *context, enum sws_stall_place place,
		       const struct sws_stall_counts *counts)
{
	return !sws_stall_check(context) && (unsigned int)place < SWS_STALL_AT_ROUND &&
	       !sws_stall_check_counts(context, place, counts);
}

int sws_stall_decide(const struct sws_stall_context *context, enum sws_stall_place place,
		     const struct sws_stall_counts *counts, struct sws_stall_decision *decision)
{
	if (!counts_fit(context, place, counts))
		return SWS_ERROR_BAD_ARGUMENT;
	sws_stall__decide(context, place, counts, decision);
	return SWS_OK;
}

int sws_stall_decide_round(const struct sws_stall_context *context,
			   const struct sws_stall_round *round, struct sws_stall_decision *decision)
{
	struct numbers numbers;

	if (sws_stall_check(context))
		return SWS_ERROR_BAD_ARGUMENT;
	numbers = numbers_of(context, &(struct sws_stall_counts){ 0 });
	numbers.round = *round;
	run(sws_stall_rules_of(context->set)->acts[SWS_STALL_AT_ROUND], &numbers, decision);
	return SWS_OK;
}
