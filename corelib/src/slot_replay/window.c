/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slot_replay/window.c - what changed while a call's lock was dropped, and where
 * its scan can have stopped.
 *
 *      slot       base+1 ........................... highest | lowest .... base-1
 *      now          #    #    .    #    .    #                  first and second lap
 *      in the log             x
 *                             |         '-- free for the whole window: no scan gets by
 *                             '-- free now, but taken at some moment: one can have got by
 */
#include "slot_replay/parts.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CHANGES = 256 };

void sws_slot_replay__open_window(struct sws_slot_replay *self, struct replay_call *call)
{
	if (!self->windows)
		self->log.n = 0;
	self->windows++;
	call->window = true;
	call->since = sws_slot_replay__now(self, 0);
	call->since_change = self->log.n;
}

void sws_slot_replay__close_window(struct sws_slot_replay *self, struct replay_call *call)
{
	self->windows -= call->window;
	call->window = false;
}

/* Forgets what no window wants any more. */
static void shorten(struct sws_slot_replay *self)
{
	struct replay_log *log = &self->log;
	uint64_t oldest = log->n;

	for (uint32_t room = 0; room < self->rooms; room++)
		if (self->calls[room].window && self->calls[room].since_change < oldest)
			oldest = self->calls[room].since_change;
	if (!oldest)
		return;
	memmove(log->changes, log->changes + oldest, (log->n - oldest) * sizeof(*log->changes));
	log->n -= oldest;
	for (uint32_t room = 0; room < self->rooms; room++)
		if (self->calls[room].window)
			self->calls[room].since_change -= oldest;
}

static int grow(struct sws_slot_replay *self)
{
	const struct sws_allocator *allocator = &self->allocator;
	struct replay_log *log = &self->log;
	const uint64_t room = log->room ? 2 * log->room : FIRST_CHANGES;
	struct replay_change *changes = NULL;
	uint32_t *sorted = NULL;

	if (room > SIZE_MAX / sizeof(*changes))
		return SWS_ERROR_NO_MEMORY;
	changes = allocator->resize(allocator->context, log->changes, room * sizeof(*changes));
	if (!changes)
		return SWS_ERROR_NO_MEMORY;
	log->changes = changes;
	sorted = allocator->resize(allocator->context, log->sorted, room * sizeof(*sorted));
	if (!sorted)
		return SWS_ERROR_NO_MEMORY;
	log->sorted = sorted;
	log->room = room;
	return SWS_OK;
}

int sws_slot_replay__log(struct sws_slot_replay *self, const struct replay_change *change)
{
	struct replay_log *log = &self->log;

	if (!self->windows)
		return SWS_OK;
	if (log->n == log->room) {
		int error = SWS_OK;

		shorten(self);
		/* Less than half freed: it would soon be shortened again. */
		if (2 * log->n >= log->room)
			error = grow(self);
		if (error)
			return error;
	}
	log->changes[log->n++] = *change;
	return SWS_OK;
}

struct replay_change sws_slot_replay__now(const struct sws_slot_replay *self, uint32_t offset)
{
	return (struct replay_change){
		.offset = offset,
		.lowest = sws_slots_lowest(self->device),
		.highest = sws_slots_highest(self->device),
		.credit = sws_slots_credit(self->device),
	};
}

static int by_offset(const void *left, const void *right)
{
	const uint32_t a = *(const uint32_t *)left;
	const uint32_t b = *(const uint32_t *)right;

	return (a > b) - (a < b);
}

static bool changed(const struct sws_slot_replay *self, const struct replay_reach *reach,
		    uint32_t offset)
{
	return reach->n_sorted && bsearch(&offset, self->log.sorted, reach->n_sorted,
					  sizeof(*self->log.sorted), by_offset);
}

/* The first slot in from .. to - 1 that was free for the whole window, or to. */
static uint32_t find_open(const struct sws_slot_replay *self, const struct replay_reach *reach,
			  uint32_t from, uint32_t to)
{
	const uint8_t *map = self->device->map;

	while (from < to) {
		const uint8_t *found = memchr(map + from, 0, to - from);

		if (!found)
			return to;
		from = (uint32_t)(found - map);
		if (!changed(self, reach, from))
			return from;
		from++;
	}
	return to;
}

static void keep_value(uint32_t *values, uint32_t most, uint32_t *n, uint32_t value)
{
	for (uint32_t i = 0; i < *n; i++)
		if (values[i] == value)
			return;
	if (*n < most)
		values[(*n)++] = value;
}

static void keep_limits(struct replay_reach *reach, const struct replay_change *state)
{
	keep_value(reach->highs, REPLAY_HIGHS, &reach->n_highs, state->highest);
	keep_value(reach->lows, REPLAY_LOWS, &reach->n_lows, state->lowest);
}

/* The values of lowest and highest: those of the window's start, and the latest. */
static void read_limits(const struct sws_slot_replay *self, struct replay_reach *reach)
{
	const struct replay_change *changes = self->log.changes;

	keep_limits(reach, &reach->call->since);
	for (uint64_t i = self->log.n; i-- > reach->call->since_change;)
		if (i + 1 == self->log.n || changes[i].highest != changes[i + 1].highest ||
		    changes[i].lowest != changes[i + 1].lowest)
			keep_limits(reach, &changes[i]);
}

/*
 * Slots above the highest or below the lowest of some moment were taken at that
 * moment, so a lap need not know where the scan wrapped.
 */
void sws_slot_replay__reach(struct sws_slot_replay *self, const struct replay_call *call,
			    struct replay_reach *reach)
{
	const uint32_t max = self->device->max;

	*reach = (struct replay_reach){ .call = call };
	for (uint64_t i = call->since_change; i < self->log.n; i++)
		if (self->log.changes[i].offset)
			self->log.sorted[reach->n_sorted++] = self->log.changes[i].offset;
	if (reach->n_sorted)
		qsort(self->log.sorted, reach->n_sorted, sizeof(*self->log.sorted), by_offset);
	reach->first_lap = find_open(self, reach, call->call.offset + 1, max);
	if (reach->first_lap < max)
		return;
	reach->first_lap = max;
	reach->second_lap = find_open(self, reach, 1, max);
	read_limits(self, reach);
}

bool sws_slot_replay__was_used(const struct sws_slot_replay *self, const struct replay_reach *reach,
			       uint32_t offset)
{
	return self->device->map[offset] || changed(self, reach, offset);
}

uint32_t sws_slot_replay__least_credit(const struct sws_slot_replay *self,
				       const struct replay_call *call)
{
	uint32_t least = call->since.credit;

	for (uint64_t i = call->since_change; i < self->log.n; i++)
		if (self->log.changes[i].credit < least)
			least = self->log.changes[i].credit;
	return least;
}

bool sws_slot_replay__exhausts(const struct sws_slot_replay *self, const struct replay_reach *reach,
			       uint32_t scan_base)
{
	return reach->first_lap == self->device->max && reach->second_lap >= scan_base;
}

/*
 * Before 6.1 a test that finds a slot costs nothing of the ration, even if the slot
 * is lost again before the lock is taken.
 */
static int show(const struct sws_slot_replay *self, struct replay_way way, uint32_t found,
		const struct replay_visitor *visitor)
{
	const uint32_t lost = self->device->rules->spends_before_test ? 0 : REPLAY_LOST;
	int result = 0;

	if (self->device->rules->spends_before_test)
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
 */
static bool earliest_pass(const struct sws_slot_replay *self, const struct replay_reach *reach,
			  const struct replay_way *way, const struct stretch *stretch,
			  uint64_t from, uint64_t *moment)
{
	const struct replay_change *changes = self->log.changes;
	struct sight sight = { .stretch = stretch };
	bool passed = false;

	for (uint64_t test = 0; test < stretch->n; test++)
		if (!self->device->map[slot_of_test(reach, way, stretch->first + test)])
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
	if (self->device->rules->spends_before_test)
		return (stretch->first < lap && lap <= end) || (begins && !lap);
	return stretch->first <= lap && lap < end;
}

bool sws_slot_replay__switched(const struct sws_slot_replay *self, const struct replay_reach *reach,
			       const struct replay_way *way, int32_t ration)
{
	const uint64_t opened = reach->call->since_change;
	uint64_t moment = opened;
	bool begins = true;
	struct stretch stretch = {
		.n = (uint64_t)ration + !self->device->rules->spends_before_test,
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
	return !self->device->map[way->offset] &&
	       earliest_pass(self, reach, way, &stretch, self->log.n, &moment);
}
