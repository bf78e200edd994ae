/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ftrace/parts.h"

/* The events of a trace: look-up by name, declarations, results. */

static uint32_t hash_of(struct ftrace_span name)
{
	uint64_t head = 0;
	uint64_t tail = 0;
	uint32_t half = 0;

	/* The ends of an event's name usually identify it; the middle is compared anyway. */
	if (name.length >= 8) {
		memcpy(&head, name.start, 8);
		memcpy(&tail, name.start + name.length - 8, 8);
	} else if (name.length >= 4) {
		memcpy(&half, name.start, 4);
		head = half;
		memcpy(&half, name.start + name.length - 4, 4);
		tail = half;
	} else {
		memcpy(&head, name.start, name.length);
	}
	head = (head ^ name.length) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(((head ^ tail) * UINT64_C(0xff51afd7ed558ccd)) >> 32);
}

static bool is_event(const struct ftrace_event *event, struct ftrace_span name)
{
	return event->name_length == name.length &&
	       ftrace_same(event->name, name.start, name.length);
}

/*
 * Tracepoints of one subsystem start with the same text (mm_vmscan_direct_reclaim_begin and _end
 * share 25 bytes), so the hash includes the tail; if two names still collide, the next slot is
 * used. A slot contains the event's number + 1, because 0 is an empty slot.
 */
static size_t slot_of(const struct sws_ftrace *self, struct ftrace_span name)
{
	size_t mask = self->names_room - 1;
	size_t at = hash_of(name) & mask;

	while (self->names[at] && !is_event(self->events[self->names[at] - 1], name))
		at = (at + 1) & mask;
	return at;
}

static int grow_names(struct sws_ftrace *self)
{
	size_t room = self->names_room ? self->names_room * 2 : 256;
	uint32_t *names = sws_allocate_zeroed(&self->config.allocator, room, sizeof(*names));

	if (!names)
		return SWS_ERROR_NO_MEMORY;
	sws_release(&self->config.allocator, self->names);
	self->names = names;
	self->names_room = room;
	for (size_t i = 0; i < self->events_count; i++) {
		const struct ftrace_event *event = self->events[i];

		names[slot_of(self, (struct ftrace_span){ event->name, event->name_length })] =
			(uint32_t)i + 1;
	}
	return SWS_OK;
}

static int add_event(struct sws_ftrace *self, struct ftrace_span name, bool known,
		     struct ftrace_event **out)
{
	const struct sws_allocator *allocator = &self->config.allocator;
	struct ftrace_event *event = sws_allocate_zeroed(allocator, 1, sizeof(*event));
	int error = SWS_ERROR_NO_MEMORY;

	if (!event)
		goto out;
	event->name = sws_allocate_zeroed(allocator, name.length + 1, 1);
	if (!event->name)
		goto out;
	memcpy(event->name, name.start, name.length);
	event->name_length = name.length;
	event->words_column = SIZE_MAX;
	error = sws_reserve(allocator, &self->events, &self->events_room, self->events_count + 1,
			    sizeof(struct ftrace_event *));
	if (error)
		goto out;
	self->names[slot_of(self, name)] = (uint32_t)self->events_count + 1;
	self->events[self->events_count++] = event;
	self->events_known += known;
	*out = event;
	event = NULL;
out:
	if (event)
		sws_ftrace__event_free(self, event);
	return error;
}

int sws_ftrace__event_find(struct sws_ftrace *self, struct ftrace_span name, bool known,
			   struct ftrace_event **event)
{
	int error = SWS_OK;
	size_t at = 0;

	*event = NULL;
	if ((self->events_count + 1) * 2 > self->names_room) {
		error = grow_names(self);
		if (error)
			return error;
	}
	at = slot_of(self, name);
	if (self->names[at]) {
		*event = self->events[self->names[at] - 1];
		return SWS_OK;
	}
	if (!known && self->events_count - self->events_known >= self->config.max_events)
		return SWS_OK;
	return add_event(self, name, known, event);
}

int sws_ftrace_know_field(sws_ftrace *self, const char *event_name, const char *field, int type)
{
	const struct sws_allocator *allocator = &self->config.allocator;
	struct ftrace_known_field known = { .name_length = strlen(field), .type = type };
	struct ftrace_span name = { event_name, strlen(event_name) };
	struct ftrace_event *event = NULL;
	size_t room = 0;
	int error = SWS_ERROR_BAD_ARGUMENT;

	if (type < SWS_FTRACE_INT64 || type > SWS_FTRACE_STRING || !name.length ||
	    !known.name_length || self->totals.lines)
		goto out;
	error = sws_ftrace__event_find(self, name, true, &event);
	if (error)
		goto out;
	error = SWS_ERROR_NO_MEMORY;
	known.name = sws_allocate_zeroed(allocator, known.name_length + 1, 1);
	if (!known.name)
		goto out;
	memcpy(known.name, field, known.name_length);
	room = event->known_count;
	error = sws_reserve(allocator, &event->known, &room, event->known_count + 1,
			    sizeof(*event->known));
	if (error)
		goto out;
	event->known[event->known_count++] = known;
	known.name = NULL;
out:
	sws_release(allocator, known.name);
	return error;
}

int sws_ftrace__event_next(struct sws_ftrace *self, struct ftrace_span name,
			   struct ftrace_event **event)
{
	struct ftrace_event *latest = self->latest;
	int error = SWS_OK;

	if (latest && latest->follower && is_event(latest->follower, name)) {
		*event = latest->follower;
	} else {
		error = sws_ftrace__event_find(self, name, false, event);
		if (latest)
			latest->follower = *event;
	}
	self->latest = *event;
	latest = *event ? (*event)->follower : NULL;
	self->hint.event = latest ? (struct ftrace_span){ latest->name, latest->name_length }
				  : ftrace_nothing();
	return error;
}

size_t sws_ftrace_events(const sws_ftrace *self)
{
	return self->events_count;
}

int sws_ftrace_batch(const sws_ftrace *self, size_t event, struct sws_ftrace_batch *out)
{
	const struct ftrace_event *of = NULL;

	if (event >= self->events_count)
		return SWS_ERROR_BAD_ARGUMENT;
	of = self->events[event];
	*out = (struct sws_ftrace_batch){
		.name = of->name,
		.rows = of->rows,
		.fields = of->columns_count,
		.seq = of->seq,
		.t_ns = of->t_ns,
		.cpu = of->cpu,
		.pid = of->pid,
		.comm = of->comm,
	};
	return SWS_OK;
}

int sws_ftrace_column(const sws_ftrace *self, size_t event, size_t column,
		      struct sws_ftrace_column *out)
{
	const struct ftrace_column *of = NULL;

	if (event >= self->events_count || column >= self->events[event]->columns_count)
		return SWS_ERROR_BAD_ARGUMENT;
	of = &self->events[event]->columns[column];
	*out = (struct sws_ftrace_column){
		.name = of->name,
		.type = of->type,
		.used = of->used,
		.values = of->values,
		.valid = self->events[event]->ragged ? of->valid : NULL,
	};
	return SWS_OK;
}
