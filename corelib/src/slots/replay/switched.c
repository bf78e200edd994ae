/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slot_replay/switched.c - on one CPU others run only where the ration of a scan ends.
 * Is a way explained by such changes of task alone?
 *
 *      tests      |<- ration left ->|<----- 257 ----->|<----- 257 ----->|<- last ->|
 *      others ran                   ^                 ^                 ^
 *
 * The scan passes a stretch in no time as they see it: there must be one moment when all
 * slots of the stretch were taken, not before that of the stretch before.
 */
#include "slots/replay/parts.h"

/* The tests of the first lap of a way that wraps. */
static uint64_t tests_before_wrap(const struct replay_reach *reach, const struct replay_way *way)
{
	const uint32_t start = reach->call->call.offset;

	return way->highest > start ? way->highest - start : 0;
}

/* The slot of a way's test. */
static uint32_t slot_of_test(const struct replay_reach *reach, const struct replay_way *way,
			     uint64_t test)
{
	const uint64_t lap = tests_before_wrap(reach, way);

	if (!way->wraps || test < lap)
		return (uint32_t)(reach->call->call.offset + 1 + test);
	return (uint32_t)(way->lowest + (test - lap));
}

/* The tests between two ends of the ration. */
struct stretch {
	uint64_t first;
	uint64_t n; /* at most MOST_TESTS */
	bool wraps; /* lowest and highest are read in it */
};

enum { MOST_TESTS = SWS_SLOTS_RATION + 1 };

/* A stretch's slots at one moment. */
struct sight {
	const struct stretch *stretch;
	bool is_free[MOST_TESTS];
	uint64_t n_free;
};

/*
 * The slot of a test changes hands: free becomes taken, taken free. A change of the log is its own
 * opposite, so one function leads back in time; it need not know which of both it was.
 */
static void turn(struct sight *sight, uint64_t test)
{
	bool *is_free = NULL;

	if (test < sight->stretch->first || test - sight->stretch->first >= sight->stretch->n)
		return;
	is_free = &sight->is_free[test - sight->stretch->first];
	sight->n_free += *is_free ? UINT64_MAX : 1;
	*is_free = !*is_free;
}

/* Takes a change back. On a small device both laps may have tested its slot. */
static void step_back(struct sight *sight, const struct replay_reach *reach,
		      const struct replay_way *way, uint32_t offset)
{
	const uint32_t start = reach->call->call.offset;
	const uint64_t lap = tests_before_wrap(reach, way);

	if (!offset)
		return;
	if (offset > start && (!way->wraps || offset - start <= lap))
		turn(sight, offset - start - 1);
	if (way->wraps && offset >= way->lowest)
		turn(sight, lap + (offset - way->lowest));
}

/*
 * The earliest moment from `from` on (counted in changes) when every slot of a
 * stretch was taken and, if it wraps, the limits were the way's. Walks back from
 * now; returns false if there is none.
 *
 * The stretch tested 8, 9 and 10; in the window 9 was taken, then freed:
 *
 *      moment        0                1               2, now
 *      8 9 10      # . #   9 taken  # # #   9 freed  # . #
 *                                   passes
 *
 * Not at moment 0: somebody else ran before the stretch. If it is the first, whose ration had not
 * ended yet, changes of task do not explain the way.
 */
static bool earliest_pass(const struct sws_slot_replay *self, const struct replay_reach *reach,
			  const struct replay_way *way, const struct stretch *stretch,
			  uint64_t from, uint64_t *moment)
{
	const struct replay_change *changes = self->log.changes;
	struct sight sight = { .stretch = stretch };
	bool passed = false;

	for (uint64_t test = 0; test < stretch->n; test++)
		if (!sws_slots_usage(self->device, slot_of_test(reach, way, stretch->first + test)))
			turn(&sight, stretch->first + test);
	for (uint64_t at = self->log.n;; at--) {
		const struct replay_change *state =
			at > reach->call->since_change ? &changes[at - 1] : &reach->call->since;

		if (!sight.n_free && (!stretch->wraps || (state->highest == way->highest &&
							  state->lowest == way->lowest))) {
			*moment = at;
			passed = true;
		}
		if (at == from)
			return passed;
		step_back(&sight, reach, way, state->offset);
	}
}

/* Does a scan read the limits in the stretch? In 5.8 the ration ends between the last test and that. */
static bool wraps_in(const struct sws_slot_replay *self, const struct replay_reach *reach,
		     const struct replay_way *way, const struct stretch *stretch, bool begins)
{
	const uint64_t lap = tests_before_wrap(reach, way);
	const uint64_t end = stretch->first + stretch->n;

	if (!way->wraps)
		return false;
	if (sws_slots__spends_before_test(self->device))
		return (stretch->first < lap && lap <= end) || (begins && !lap);
	return stretch->first <= lap && lap < end;
}

/*
 * A stretch is given the earliest moment, not any that would do: that leaves the most to those
 * behind it, so if the earliest fail, all do. With 200 left, a way of 600 tests in 6.1 is 200, 257
 * and 143; in 5.8, which spends after the test, 201, 257 and 142.
 */
bool sws_slot_replay__switched(const struct sws_slot_replay *self, const struct replay_reach *reach,
			       const struct replay_way *way, int32_t ration)
{
	const uint64_t opened = reach->call->since_change;
	uint64_t moment = opened;
	bool begins = true;
	struct stretch stretch = {
		.n = (uint64_t)ration + !sws_slots__spends_before_test(self->device),
	};

	if (way->jumps)
		return false;
	/* The last test finds the slot, on the map as it is now. */
	while (stretch.first + stretch.n < way->tests) {
		stretch.wraps = wraps_in(self, reach, way, &stretch, begins);
		if (!earliest_pass(self, reach, way, &stretch, moment, &moment))
			return false;
		/* Nobody else runs before the ration ends for the first time. */
		if (begins && moment != opened)
			return false;
		begins = false;
		stretch = (struct stretch){ .first = stretch.first + stretch.n, .n = MOST_TESTS };
	}
	if (begins && self->log.n != opened)
		return false;
	stretch.n = way->tests - stretch.first;
	stretch.wraps = wraps_in(self, reach, way, &stretch, begins);
	stretch.n--;
	return !sws_slots_usage(self->device, way->offset) &&
	       earliest_pass(self, reach, way, &stretch, self->log.n, &moment);
}
