/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_stall.c - any context: a list whose functions are called in any order, a second decision
 * from its counts, and random counters, rounds and sleepers.
 */
#include "input.h"

#include "swapsim/stall.h"

#include <string.h>

/* A tick of a faster clock is less than the unit of a sleep's length. */
enum { US_PER_S = 1000000 };

static struct sws_stall_context draw_context(struct input *input)
{
	return (struct sws_stall_context){
		.set = (enum sws_stall_set)input_or(input, input_below(input, 12)),
		.caller = (uint8_t)input_below(input, SWS_STALL_CALLER_BITS + 2),
		.priority = (uint8_t)input_or(input, 12),
		.flags = (uint8_t)input_below(input, 9),
	};
}

static struct sws_stall_counts draw_counts(struct input *input)
{
	const uint64_t taken = input_or64(input, 32);

	return (struct sws_stall_counts){
		.dirty = input_or64(input, taken),
		.unqueued_dirty = input_or64(input, taken),
		.congested = input_or64(input, 0),
		.writeback = input_or64(input, 0),
		.immediate = input_or64(input, 0),
		.taken = taken,
		.file_taken = input_or64(input, taken),
	};
}

static int lead(struct sws_stall_list *list, struct input *input)
{
	const uint8_t part = input_byte(input) % 8;
	/* Separate statements, so that the order does not depend on the compiler. */
	const uint16_t page = part > 5 ? (uint16_t)input_number(input) : 0;
	const uint32_t base_pages = part > 5 ? input_or(input, 1) : 0;

	switch (part) {
	case 0:
		return sws_stall_slept(list, input_bit(input));
	case 1:
		return sws_stall_waited(list);
	case 2:
		return sws_stall_left(list);
	case 3:
		return sws_stall_dirty(list);
	case 4:
		return sws_stall_paged_out(list, input_bit(input));
	case 5:
		/* Others change the zone's flags in between. */
		list->flags = (uint8_t)input_below(input, 8);
		return SWS_OK;
	default:
		return sws_stall_meet(list, page, base_pages);
	}
}

static void follow_list(const struct sws_stall_context *context, struct input *input)
{
	const char *reason = NULL;
	struct sws_stall_decision decision;
	struct sws_stall_list list;
	struct sws_stall_list before;
	const bool knows = sws_stall_check(context) == SWS_STALL_NO_PROBLEM;
	const uint64_t taken = input_or64(input, 32);
	const int error = sws_stall_begin(context, input_bit(input), taken, &list);

	MUST(!error == (knows && taken && taken <= SWS_STALL_LIST_MAX));
	if (error)
		return;
	while (input->left && list.state != SWS_STALL_STATE_ENDED) {
		memcpy(&before, &list, sizeof(list));
		/* A call in the wrong state has no effect. */
		if (lead(&list, input) != SWS_OK)
			/* NOLINTNEXTLINE(bugprone-suspicious-*,cert-*): padding was copied, too */
			MUST(memcmp(&before, &list, sizeof(list)) == 0);
		MUST(sws_stall_verify(&list, &reason) == SWS_OK);
		if (input_byte(input) == 255)
			(void)sws_stall_end(&list, &decision);
	}
}

static void decide(const struct sws_stall_context *context, struct input *input)
{
	const struct sws_stall_counts counts = draw_counts(input);
	const struct sws_stall_round round = {
		.scanned = input_number(input),
		.reclaimed = input_number(input),
		.wanted = input_number(input),
	};
	const enum sws_stall_place place =
		(enum sws_stall_place)input_below(input, SWS_STALL_PLACES + 1);
	const bool fits = sws_stall_check(context) == SWS_STALL_NO_PROBLEM &&
			  sws_stall_check_counts(context, place, &counts) == SWS_STALL_NO_PROBLEM;
	struct sws_stall_decision decision;

	if (sws_stall_decide(context, place, &counts, &decision) == SWS_OK) {
		MUST(fits);
		MUST(decision.acts || (!decision.set && !decision.sleeps));
		MUST(decision.acts < 1U << SWS_STALL_ACTS_MAX);
	}
	(void)sws_stall_decide_round(context, &round, &decision);
}

static void go_to_sleep(struct input *input)
{
	const struct sws_stall_sleeper sleeper = {
		.kswapd = input_bit(input),
		.kthread = input_bit(input),
		.failures = input_number32(input),
		.reclaimable = input_number(input),
		.write_pending = input_number(input),
		.congested_devices = input_number32(input),
		.flags = (uint8_t)input_number(input),
		.hz = input_or(input, 250),
	};
	enum sws_stall_skip skipped = SWS_STALL_SLEEPS;
	uint64_t timeout_us = 0;

	if (sws_stall_sleep_length((enum sws_stall_sleep)input_below(input, 8), &sleeper,
				   &timeout_us, &skipped) == SWS_OK)
		MUST(skipped ? !timeout_us : timeout_us || sleeper.hz > US_PER_S);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { .bytes = data, .left = size };
	const struct sws_stall_context context = draw_context(&input);

	decide(&context, &input);
	go_to_sleep(&input);
	follow_list(&context, &input);
	return 0;
}
