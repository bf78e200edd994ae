/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots/replay/paths.c - the paths by which a scan can have come to a slot, and the number of tests
 * of each.
 *
 *      start 7, the scan stops at 12, or at 3 of the second lap; lowest 2, highest 20:
 *
 *      first lap    8 9 10 11 12                      5 tests
 *      wraps        8 ... 20, then 2 3                13 + 2 tests
 *      jumps        8 ... 18, which was free: when    11 tests, and one more for 3:
 *                   the lock is taken, highest is     under the lock the kernel takes 2
 *                   17, so the scan goes to lowest    into account without a test
 */
#include "slots/replay/parts.h"

struct replay_ration sws_slot_replay__spent(struct replay_ration ration,
					    const struct replay_path *path)
{
	struct sws_slots_call call = { .ration = ration.left };
	const bool ran_out = sws_slots__spend(&call, path->spent) > 0;

	return (struct replay_ration){
		.left = call.ration,
		.scanned_many = ration.scanned_many || ran_out,
		.scan_base = path->scan_base,
	};
}

/*
 * Before 6.1 a test that finds a slot does not decrement the ration, even if the slot is lost again
 * before the lock is taken. In 5.8, with 12 tests up to the slot that the call took:
 *
 *      found at once                12 tests, 11 spent
 *      one more found, and lost     12 tests, 10 spent        and so on, up to four lost
 *
 * 6.1 decrements first: 12 tests spend 12, whatever they found.
 */
static int show(const struct sws_slot_replay *self, struct replay_path path, uint32_t found,
		const struct replay_visitor *visitor)
{
	const bool spends_before = sws_slots__spends_before_test(self->device);
	const uint32_t lost = spends_before ? 0 : REPLAY_LOST;
	int result = 0;

	if (spends_before)
		found = 0;
	for (uint32_t i = 0; !result && i <= lost && found + i <= path.tests; i++) {
		path.spent = path.tests - found - i;
		result = visitor->visit(visitor->context, &path);
	}
	return result;
}

/* Returns the tests of a first lap up to highest. */
static uint64_t first_lap_tests(const struct replay_reach *reach, uint32_t highest)
{
	const uint32_t start = reach->call->call.offset;

	return highest > start ? highest - start : 0;
}

/* Visits the paths that complete the first lap and continue from lowest. */
static int show_wraps(const struct sws_slot_replay *self, const struct replay_reach *reach,
		      struct replay_path path, const struct replay_visitor *visitor)
{
	int result = 0;

	path.wraps = true;
	for (uint32_t i = 0; !result && i < reach->n_highs; i++) {
		path.highest = reach->highs[i];
		path.tests = first_lap_tests(reach, path.highest) +
			     (uint64_t)(path.offset - path.lowest) + 1;
		result = show(self, path, 1, visitor);
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
 * Visits the paths whose slot was above highest when the lock was taken: the kernel then continues
 * at lowest, which it takes into account without a test, and its second lap is over before it
 * begins. In the first lap highest must have fallen; the second lap ends at the base, where only
 * the cache may hold slots.
 */
static int show_jumps(const struct sws_slot_replay *self, const struct replay_reach *reach,
		      struct replay_path path, const struct replay_visitor *visitor)
{
	const uint32_t start = reach->call->call.offset;
	const uint32_t most = greatest_of(reach->highs, reach->n_highs);
	const uint32_t least = least_of(reach->highs, reach->n_highs);
	const uint32_t scan_base = path.scan_base;
	const uint64_t after = path.offset - path.lowest;
	const uint32_t found_twice = 1 + (after > 0);
	int result = 0;

	path.jumps = true;
	path.scan_base = path.lowest;
	for (uint64_t i = 1; !result && i <= REPLAY_JUMPS; i++) {
		const uint64_t found = least + i;

		if (found > start && found <= most) {
			path.tests = found - start + after;
			result = show(self, path, found_twice, visitor);
		}
		if (!result && found < scan_base && found >= path.lowest &&
		    found <= reach->second_lap) {
			path.tests =
				first_lap_tests(reach, most) + (found - path.lowest) + 1 + after;
			result = show(self, path, found_twice, visitor);
		}
	}
	return result;
}

/*
 * A slot may be on both laps. If a reuse in the second lap of base 10 stopped at 5, the kernel
 * scans from 6 to highest once more, and then from lowest to 9. Slot 7 is then on its path twice,
 * so a path of the first lap does not exclude the others.
 */
int sws_slot_replay__each_path(const struct sws_slot_replay *self, const struct replay_reach *reach,
			       uint32_t scan_base, uint32_t offset,
			       const struct replay_visitor *visitor)
{
	const uint32_t start = reach->call->call.offset;
	struct replay_path path = { .offset = offset, .scan_base = scan_base };
	int result = 0;

	if (offset > start && offset <= reach->first_lap) {
		path.tests = offset - start;
		result = show(self, path, 1, visitor);
	}
	if (offset > reach->second_lap)
		return result;
	for (uint32_t i = 0; !result && i < reach->n_lows; i++) {
		path.lowest = reach->lows[i];
		if (path.lowest > offset)
			continue;
		if (offset < scan_base)
			result = show_wraps(self, reach, path, visitor);
		if (!result)
			result = show_jumps(self, reach, path, visitor);
	}
	return result;
}
