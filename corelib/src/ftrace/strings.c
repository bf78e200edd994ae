/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ftrace/strings.h"

static uint32_t hash_of(struct ftrace_span text)
{
	uint64_t hash = text.length * UINT64_C(0x9e3779b97f4a7c15);
	uint64_t word = 0;
	const char *at = text.start;
	size_t left = text.length;

	for (; left >= 8; at += 8, left -= 8) {
		memcpy(&word, at, 8);
		hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
		hash ^= hash >> 32;
	}
	word = 0;
	memcpy(&word, at, left);
	hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
	return (uint32_t)(hash >> 32);
}

/*
 * Only the ends of strings are stored: ends[1] is 7, ends[2] is 23.
 *
 *      kswapd0\nRECLAIM_WB_ANON\n       code 2 begins after the end of code 1, at 8,
 *      0      7 8              23        and has 23 - 8 = 15 bytes
 */
static size_t start_of(const struct ftrace_strings *self, uint32_t code)
{
	return code == 1 ? 0 : self->ends[code - 1] + 1;
}

bool sws_ftrace__strings_is(const struct ftrace_strings *self, uint32_t code,
			    struct ftrace_span text)
{
	size_t start = start_of(self, code);

	return self->ends[code] - start == text.length &&
	       ftrace_same(self->bytes + start, text.start, text.length);
}

static void place(struct ftrace_slot *slots, size_t room, struct ftrace_slot slot)
{
	size_t at = slot.hash & (room - 1);

	while (slots[at].code)
		at = (at + 1) & (room - 1);
	slots[at] = slot;
}

static int grow_slots(struct ftrace_strings *self)
{
	size_t room = self->slots_room ? self->slots_room * 2 : 1024;
	struct ftrace_slot *slots = sws_allocate_zeroed(self->allocator, room, sizeof(*slots));

	if (!slots)
		return SWS_ERROR_NO_MEMORY;
	for (size_t i = 0; i < self->slots_room; i++)
		if (self->slots[i].code)
			place(slots, room, self->slots[i]);
	sws_release(self->allocator, self->slots);
	self->slots = slots;
	self->slots_room = room;
	return SWS_OK;
}

static int append(struct ftrace_strings *self, struct ftrace_span text)
{
	int error = SWS_OK;

	if (self->count == UINT32_MAX - 1)
		return SWS_ERROR_NO_MEMORY;
	error = sws_reserve(self->allocator, &self->bytes, &self->room,
			    self->length + text.length + 1, 1);
	if (!error)
		error = sws_reserve(self->allocator, &self->ends, &self->ends_room,
				    (size_t)self->count + 2, sizeof(*self->ends));
	if (error)
		return error;
	memcpy(self->bytes + self->length, text.start, text.length);
	self->length += text.length;
	self->bytes[self->length] = '\n';
	self->ends[++self->count] = self->length++;
	return SWS_OK;
}

int sws_ftrace__strings_intern(struct ftrace_strings *self, struct ftrace_span text, uint32_t *code)
{
	uint32_t hash = hash_of(text);
	int error = SWS_OK;
	size_t at = 0;

	if (((size_t)self->count + 1) * 2 > self->slots_room) {
		error = grow_slots(self);
		if (error)
			return error;
	}
	for (at = hash & (self->slots_room - 1); self->slots[at].code;
	     at = (at + 1) & (self->slots_room - 1)) {
		*code = self->slots[at].code;
		if (self->slots[at].hash == hash && sws_ftrace__strings_is(self, *code, text))
			return SWS_OK;
	}
	error = append(self, text);
	if (error)
		return error;
	*code = self->count;
	self->slots[at] = (struct ftrace_slot){ .hash = hash, .code = self->count };
	return SWS_OK;
}

void sws_ftrace__strings_clear(struct ftrace_strings *self)
{
	if (self->slots)
		memset(self->slots, 0, self->slots_room * sizeof(*self->slots));
	self->length = 0;
	self->count = 0;
	self->batch++;
}

void sws_ftrace__strings_free(struct ftrace_strings *self)
{
	sws_release(self->allocator, self->bytes);
	sws_release(self->allocator, self->ends);
	sws_release(self->allocator, self->slots);
}
