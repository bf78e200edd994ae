/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots/replay/log.c - windows, and the log of the changes since the oldest open window.
 *
 *      log        | 17 taken | 4 freed | credit | 9 taken | ...
 *                 |          |                            '-- the device now
 *      windows    task 7     task 8
 */
#include "slots/replay/parts.h"

#include <string.h>

enum { FIRST_CHANGES = 256 };

/*
 * If no other window is open, the log is cleared, because older changes concern no call. The window
 * begins after the last change, so the credit that the call itself took is not in it.
 */
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

/*
 * Drops the changes before the oldest window. A full log of 256 with three open windows:
 *
 *      0 ............. 100 ........ 180 ..... 230 .. 256
 *      (no window)      task 7      task 8    task 9
 *
 *      afterwards: task 7 at 0, task 8 at 80, task 9 at 130, 156 changes left
 *
 * 156 are more than half of the capacity, so it also grows to 512.
 */
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
	changes = sws_resize_array(allocator, log->changes, (size_t)room, sizeof(*changes));
	if (!changes)
		return SWS_ERROR_NO_MEMORY;
	log->changes = changes;
	sorted = sws_resize_array(allocator, log->sorted, (size_t)room, sizeof(*sorted));
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
		/*
		 * Less than half was freed, so it would soon be shortened again; or there are more
		 * calls than changes, so the walk over them costs more than the changes did.
		 */
		if (2 * log->n >= log->room || log->room < self->rooms)
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

uint32_t sws_slot_replay__least_credit(const struct sws_slot_replay *self,
				       const struct replay_call *call)
{
	uint32_t least = call->since.credit;

	for (uint64_t i = call->since_change; i < self->log.n; i++)
		if (self->log.changes[i].credit < least)
			least = self->log.changes[i].credit;
	return least;
}
