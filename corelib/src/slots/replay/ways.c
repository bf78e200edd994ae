/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slot_replay/ways.c - on which ways a scan can have come to a slot, and how many tests
 * each took.
 *
 *      start 7, the scan stops at 12, or at 3 of the second lap; lowest 2, highest 20:
 *
 *      first lap    8 9 10 11 12                      5 tests
 *      wraps        8 ... 20, then 2 3                13 + 2 tests
 *      jumps        8 ... 18, which was free: the     11 tests, and one more for 3: when
 *                   lock is taken, highest is 17      the lock is held it looks at 2,
 *                   by now, so it goes to lowest      which is not tested
 */
#include "slots/replay/parts.h"

struct replay_ration sws_slot_replay__spent(struct replay_ration ration,
					    const struct replay_way *way)
{
	struct sws_slots_call call = { .ration = ration.left };
	const bool ran_out = sws_slots__spend(&call, way->spent) > 0;

	return (struct replay_ration){
		.left = call.ration,
		.scanned_many = ration.scanned_many || ran_out,
		.scan_base = way->scan_base,
	};
}

/*
 * Before 6.1 a test that finds a slot costs nothing of the ration, even if the slot
 * is lost again before the lock is taken. 5.8, 12 tests to the slot that the call took:
 *
 *      found at once                12 tests, 11 spent
 *      one more found, and lost     12 tests, 10 spent        and so on, up to four lost
 *
 * 6.1 spends first: 12 tests are 12, whatever they found.
 */
static int show(const struct sws_slot_replay *self, struct replay_way way, uint32_t found,
		const struct replay_visitor *visitor)
{
	const bool spends_before = sws_slots__spends_before_test(self->device);
	const uint32_t lost = spends_before ? 0 : REPLAY_LOST;
	int result = 0;

	if (spends_before)
		found = 0;
	for (uint32_t i = 0; !result && i <= lost && found + i <= way.tests; i++) {
		way.spent = way.tests - found - i;
		result = visitor->visit(visitor->context, &way);
	}
	return result;
}

/* The tests of a first lap up to highest. */
static uint64_t first_lap_tests(const struct replay_reach *reach, uint32_t highest)
{
	const uint32_t start = reach->call->call.offset;

	return highest > start ? highest - start : 0;
}

/* The first lap to its end, and on from lowest. */
static int show_wraps(const struct sws_slot_replay *self, const struct replay_reach *reach,
		      struct replay_way way, const struct replay_visitor *visitor)
{
	int result = 0;

	way.wraps = true;
	for (uint32_t i = 0; !result && i < reach->n_highs; i++) {
		way.highest = reach->highs[i];
		way.tests = first_lap_tests(reach, way.highest) +
			    (uint64_t)(way.offset - way.lowest) + 1;
		result = show(self, way, 1, visitor);
	}
	return result;
}

static uint32_t least_of(const uint32_t *values, uint32_t n)
{
	uint32_t found = UINT32_MAX;

	for (uint32_t i = 0; i < n; i++)
		if (values[i] < found)
			found = values[i];
	return found;
}

static uint32_t greatest_of(const uint32_t *values, uint32_t n)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < n; i++)
		if (values[i] > found)
			found = values[i];
	return found;
}

/*
 * The slot found was above highest when the lock was taken: the kernel stands on
 * lowest then, which it looks at without a test, and its second lap is over before
 * it begins. In the first lap highest must have fallen; the second goes up to the
 * base, where the cache alone may hold slots.
 */
static int show_jumps(const struct sws_slot_replay *self, const struct replay_reach *reach,
		      struct replay_way way, const struct replay_visitor *visitor)
{
	const uint32_t start = reach->call->call.offset;
	const uint32_t most = greatest_of(reach->highs, reach->n_highs);
	const uint32_t least = least_of(reach->highs, reach->n_highs);
	const uint32_t scan_base = way.scan_base;
	const uint64_t after = way.offset - way.lowest;
	const uint32_t found_twice = 1 + (after > 0);
	int result = 0;

	way.jumps = true;
	way.scan_base = way.lowest;
	for (uint64_t i = 1; !result && i <= REPLAY_JUMPS; i++) {
		const uint64_t found = least + i;

		if (found > start && found <= most) {
			way.tests = found - start + after;
			result = show(self, way, found_twice, visitor);
		}
		if (!result && found < scan_base && found >= way.lowest &&
		    found <= reach->second_lap) {
			way.tests = first_lap_tests(reach, most) + (found - way.lowest) + 1 + after;
			result = show(self, way, found_twice, visitor);
		}
	}
	return result;
}

/*
 * A slot may be on both laps. A reuse in the second lap of base 10 stopped at 5: the kernel scans
 * on from 6 to highest once more, and then from lowest to 9. Slot 7 is on its way twice, so a way
 * of the first lap does not rule out the others.
 */
int sws_slot_replay__each_way(const struct sws_slot_replay *self, const struct replay_reach *reach,
			      uint32_t scan_base, uint32_t offset,
			      const struct replay_visitor *visitor)
{
	const uint32_t start = reach->call->call.offset;
	struct replay_way way = { .offset = offset, .scan_base = scan_base };
	int result = 0;

	if (offset > start && offset <= reach->first_lap) {
		way.tests = offset - start;
		result = show(self, way, 1, visitor);
	}
	if (offset > reach->second_lap)
		return result;
	for (uint32_t i = 0; !result && i < reach->n_lows; i++) {
		way.lowest = reach->lows[i];
		if (way.lowest > offset)
			continue;
		if (offset < scan_base)
			result = show_wraps(self, reach, way, visitor);
		if (!result)
			result = show_jumps(self, reach, way, visitor);
	}
	return result;
}
