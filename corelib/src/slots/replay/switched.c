/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots/replay/switched.c - on one CPU other tasks run only where the ration of a scan ends. Tests
 * whether such task switches alone explain a path.
 *
 *      tests      |<- ration left ->|<----- 257 ----->|<----- 257 ----->|<- last ->|
 *      others ran                   ^                 ^                 ^
 *
 * To the other tasks the scan passes a stretch at one moment. So there has to be a moment at which
 * all slots of the stretch were taken, not before that of the previous stretch.
 */
#include "slots/replay/parts.h"

/* Returns the tests of the first lap of a path that wraps. */
static uint64_t tests_before_wrap(const struct replay_reach *reach, const struct replay_path *path)
{
	const uint32_t start = reach->call->call.offset;

	return path->highest > start ? path->highest - start : 0;
}

/* Returns the slot of a path's test. */
static uint32_t slot_of_test(const struct replay_reach *reach, const struct replay_path *path,
			     uint64_t test)
{
	const uint64_t lap = tests_before_wrap(reach, path);

	if (!path->wraps || test < lap)
		return (uint32_t)(reach->call->call.offset + 1 + test);
	return (uint32_t)(path->lowest + (test - lap));
}

/* The tests between two ends of the ration. */
struct stretch {
	uint64_t first;
	/* At most MOST_TESTS. */
	uint64_t n;
	/* True if lowest and highest are read in it. */
	bool wraps;
};

enum { MOST_TESTS = SWS_SLOTS_RATION + 1 };

/* The slots of a stretch at one moment. */
struct sight {
	const struct stretch *stretch;
	bool is_free[MOST_TESTS];
	uint64_t n_free;
};

/*
 * Changes the slot of a test from free to taken or from taken to free. An entry of the log is its
 * own inverse, so one function goes back in time without knowing which of the two it was.
 */
static void toggle(struct sight *sight, uint64_t test)
{
	bool *is_free = NULL;

	if (test < sight->stretch->first || test - sight->stretch->first >= sight->stretch->n)
		return;
	is_free = &sight->is_free[test - sight->stretch->first];
	sight->n_free += *is_free ? UINT64_MAX : 1;
	*is_free = !*is_free;
}

/* Undoes a change. On a small device both laps may have tested its slot. */
static void step_back(struct sight *sight, const struct replay_reach *reach,
		      const struct replay_path *path, uint32_t offset)
{
	const uint32_t start = reach->call->call.offset;
	const uint64_t lap = tests_before_wrap(reach, path);

	if (!offset)
		return;
	if (offset > start && (!path->wraps || offset - start <= lap))
		toggle(sight, offset - start - 1);
	if (path->wraps && offset >= path->lowest)
		toggle(sight, lap + (offset - path->lowest));
}

/*
 * Finds the earliest moment from `from` on (counted in changes) at which every slot of a stretch
 * was taken and, if it wraps, the limits were those of the path. Walks back from now; returns false
 * if there is no such moment.
 *
 * A stretch tested 8, 9 and 10; in the window 9 was taken, then freed:
 *
 *      moment        0                1               2, now
 *      8 9 10      # . #   9 taken  # # #   9 freed  # . #
 *                                   passes
 *
 * The moment is not 0, so another task ran before the stretch. If it is the first stretch, whose
 * ration had not ended before, task switches do not explain the path.
 */
static bool earliest_pass(const struct sws_slot_replay *self, const struct replay_reach *reach,
			  const struct replay_path *path, const struct stretch *stretch,
			  uint64_t from, uint64_t *moment)
{
	const struct replay_change *changes = self->log.changes;
	struct sight sight = { .stretch = stretch };
	bool passed = false;

	for (uint64_t test = 0; test < stretch->n; test++)
		if (!sws_slots_usage(self->device,
				     slot_of_test(reach, path, stretch->first + test)))
			toggle(&sight, stretch->first + test);
	for (uint64_t at = self->log.n;; at--) {
		const struct replay_change *state =
			at > reach->call->since_change ? &changes[at - 1] : &reach->call->since;

		if (!sight.n_free && (!stretch->wraps || (state->highest == path->highest &&
							  state->lowest == path->lowest))) {
			*moment = at;
			passed = true;
		}
		if (at == from)
			return passed;
		step_back(&sight, reach, path, state->offset);
	}
}

/*
 * Returns true if a scan reads the limits in the stretch. In 5.8 the ration ends between the last
 * test and that read.
 */
static bool wraps_in(const struct sws_slot_replay *self, const struct replay_reach *reach,
		     const struct replay_path *path, const struct stretch *stretch, bool begins)
{
	const uint64_t lap = tests_before_wrap(reach, path);
	const uint64_t end = stretch->first + stretch->n;

	if (!path->wraps)
		return false;
	if (sws_slots__spends_before_test(self->device))
		return (stretch->first < lap && lap <= end) || (begins && !lap);
	return stretch->first <= lap && lap < end;
}

/*
 * A stretch gets the earliest possible moment. This leaves most moments to the later ones, so if
 * the earliest moments fail, all do. With 200 left, a path of 600 tests has stretches of 200, 257
 * and 143 in 6.1, and of 201, 257 and 142 in 5.8, which decrements after the test.
 */
bool sws_slot_replay__switched(const struct sws_slot_replay *self, const struct replay_reach *reach,
			       const struct replay_path *path, int32_t ration)
{
	const uint64_t opened = reach->call->since_change;
	uint64_t moment = opened;
	bool begins = true;
	struct stretch stretch = {
		.n = (uint64_t)ration + !sws_slots__spends_before_test(self->device),
	};

	if (path->jumps)
		return false;
	/* The last test finds the slot on the current map. */
	while (stretch.first + stretch.n < path->tests) {
		stretch.wraps = wraps_in(self, reach, path, &stretch, begins);
		if (!earliest_pass(self, reach, path, &stretch, moment, &moment))
			return false;
		/* No other task runs before the ration ends for the first time. */
		if (begins && moment != opened)
			return false;
		begins = false;
		stretch = (struct stretch){ .first = stretch.first + stretch.n, .n = MOST_TESTS };
	}
	if (begins && self->log.n != opened)
		return false;
	stretch.n = path->tests - stretch.first;
	stretch.wraps = wraps_in(self, reach, path, &stretch, begins);
	stretch.n--;
	return !sws_slots_usage(self->device, path->offset) &&
	       earliest_pass(self, reach, path, &stretch, self->log.n, &moment);
}
