/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slots/replay/calls.c - the open calls: an entry for each, found by its task. */
#include "slots/replay/parts.h"

static const uint32_t NO_ROOM = UINT32_MAX;

enum { FIRST_ROOMS = 16 };

void sws_slot_replay__start_calls(struct sws_slot_replay *self)
{
	self->first_free = NO_ROOM;
}

/*
 * Returns a nonzero key, because 0 marks an empty entry of the map: pid 0, the idle task, is 1, and
 * pid -1 is 4294967296, different from all others.
 */
static uint64_t key_of(int32_t pid)
{
	return (uint64_t)(uint32_t)pid + 1;
}

struct replay_call *sws_slot_replay__find_call(const struct sws_slot_replay *self, int32_t pid)
{
	uint32_t room = 0;

	if (self->holder && self->holder->pid == pid)
		return self->holder;
	return sws_index_map__find(&self->tasks, key_of(pid), &room) ? &self->calls[room] : NULL;
}

/* The entries move, so no hold may be under way. */
static int grow_rooms(struct sws_slot_replay *self)
{
	const uint32_t rooms = self->rooms ? 2 * self->rooms : FIRST_ROOMS;
	struct replay_call *calls = NULL;

	if (rooms >= NO_ROOM / 2)
		return SWS_ERROR_NO_MEMORY;
	calls = sws_resize_array(&self->allocator, self->calls, rooms, sizeof(*calls));
	if (!calls)
		return SWS_ERROR_NO_MEMORY;
	self->calls = calls;
	for (uint32_t room = self->rooms; room < rooms; room++) {
		calls[room].open = false;
		calls[room].window = false;
		calls[room].next_free = room + 1 < rooms ? room + 1 : NO_ROOM;
	}
	self->first_free = self->rooms;
	self->rooms = rooms;
	return SWS_OK;
}

int sws_slot_replay__open_call(struct sws_slot_replay *self, const struct replay_row *row,
			       struct replay_call **out)
{
	struct replay_call *call = NULL;
	int error = self->first_free == NO_ROOM ? grow_rooms(self) : SWS_OK;

	if (!error)
		error = sws_index_map__put(&self->tasks, key_of(row->pid), self->first_free);
	if (error)
		return error;
	call = &self->calls[self->first_free];
	self->first_free = call->next_free;
	call->pid = row->pid;
	call->open = true;
	call->window = false;
	call->diverged = false;
	call->again = false;
	/* The base of its scan is known when the scan begins. */
	call->rations[0] = (struct replay_ration){ .left = SWS_SLOTS_RATION };
	call->n_rations = 1;
	call->account.call = (struct sws_slot_replay_call){
		.seq = row->seq,
		.pid = row->pid,
		.cpu = row->cpu,
		.wanted = row->n,
	};
	call->account.n_ours = 0;
	call->account.n_theirs = 0;
	call->account.next = 0;
	call->account.next_row = 0;
	call->account.reuse = 0;
	call->account.ration = SWS_SLOTS_RATION;
	*out = call;
	return SWS_OK;
}

/*
 * A wrong base is a mismatch of its call, and none of its slots counts as matched. They may still
 * be the same, because slots from a cluster do not depend on the base.
 */
static void judge_base(struct sws_slot_replay_call *call)
{
	if (call->fault != SWS_SLOT_REPLAY_BASE_BEFORE && call->fault != SWS_SLOT_REPLAY_BASE_AFTER)
		return;
	call->exact = 0;
	call->raced = 0;
}

void sws_slot_replay__close_call(struct sws_slot_replay *self, struct replay_call *call,
				 struct sws_slot_replay_call *judged, uint64_t *n_judged)
{
	call->account.call.slots = call->account.n_theirs;
	judge_base(&call->account.call);
	judged[(*n_judged)++] = call->account.call;
	if (call->account.call.fault && !self->mismatched) {
		self->mismatched = true;
		self->first = call->account;
	}
	sws_index_map__remove(&self->tasks, key_of(call->pid));
	call->open = false;
	call->next_free = self->first_free;
	self->first_free = (uint32_t)(call - self->calls);
}
