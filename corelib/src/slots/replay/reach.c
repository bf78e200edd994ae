/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots/replay/reach.c - how far a scan can have come while its call had dropped the lock.
 *
 *      slot       base+1 ........................... highest | lowest .... base-1
 *      now          #    #    .    #    .    #                  first and second lap
 *      in the log             x
 *                             |         '-- free for the complete window: no scan passes it
 *                             '-- free now, but taken at some moment: a scan can have passed it
 */
#include "slots/replay/parts.h"

#include <stdlib.h>

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

/*
 * Returns the first slot in from .. to - 1 that was free for the complete window, or to. A slot
 * that is free at the end and not in the log was free at every moment; no scan passes it. A slot
 * that is free now but in the log was in use at some moment, at which a scan may have passed it:
 *
 *      slot     11 12 13 14 15 16
 *      now       #  .  #  .  #  .        from 11 on: 12 is free but changed, 14 was always free
 *      log      "12 freed"               so a scan may have stopped at 12 or 14, not at 16
 */
static uint32_t find_open(const struct sws_slot_replay *self, const struct replay_reach *reach,
			  uint32_t from, uint32_t to)
{
	while (from < to) {
		from = sws_slots__find_free(self->device, from, to);
		if (from < to && !changed(self, reach, from))
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

/* Collects the values of lowest and highest, from the start of the window to the latest. */
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
 * Slots above the highest or below the lowest of some moment were taken at that moment, so a lap
 * need not know where the scan wrapped: the first lap is examined up to the end of the device, not
 * up to a highest. If a slot in it was always free, no highest was below that slot, so the scan
 * cannot have wrapped, and there is no second lap (0).
 */
void sws_slot_replay__reach(struct sws_slot_replay *self, const struct replay_call *call,
			    struct replay_reach *reach)
{
	const uint32_t max = self->slots;

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
	return sws_slots_usage(self->device, offset) || changed(self, reach, offset);
}

bool sws_slot_replay__exhausts(const struct sws_slot_replay *self, const struct replay_reach *reach,
			       uint32_t scan_base)
{
	return reach->first_lap == self->slots && reach->second_lap >= scan_base;
}
