/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "input.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	/* Zeroing more than that takes too much of a fuzzer's time. */
	ROOM = 16 << 20,
};

_Noreturn void input_failed(const char *file, int line, const char *condition)
{
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
	abort();
}

uint8_t input_byte(struct input *self)
{
	if (!self->left)
		return 0;
	self->left--;
	return *self->bytes++;
}

uint64_t input_number(struct input *self)
{
	const uint8_t head = input_byte(self);
	uint64_t number = 0;

	switch (head >> 6) {
	case 0:
		return head;
	case 1:
		return UINT64_C(1) << (head & 63);
	case 2:
		return (UINT64_C(1) << (head & 63)) - 1;
	default:
		for (uint32_t byte = 0; byte <= (head & 7u); byte++)
			number = number << 8 | input_byte(self);
		return number;
	}
}

uint32_t input_number32(struct input *self)
{
	return (uint32_t)input_number(self);
}

uint32_t input_or(struct input *self, uint32_t usual)
{
	return (uint32_t)input_or64(self, usual);
}

uint64_t input_or64(struct input *self, uint64_t usual)
{
	return input_bit(self) ? input_number(self) : usual;
}

uint32_t input_below(struct input *self, uint32_t bound)
{
	return bound ? (uint32_t)(input_number(self) % bound) : 0;
}

bool input_bit(struct input *self)
{
	return input_byte(self) & 1;
}

static void *scarce_resize(void *context, void *pointer, size_t size)
{
	struct scarce *self = context;
	const size_t before = pointer ? malloc_usable_size(pointer) : 0;
	void *block = NULL;

	if (size == 0) {
		self->held -= before;
		free(pointer);
		return NULL;
	}
	if (++self->requests == self->fail_at || size > self->room - self->held)
		return NULL;
	block = realloc(pointer, size);
	MUST(block);
	self->held += malloc_usable_size(block) - before;
	/* malloc may round the size up beyond the room, which must not wrap. */
	self->room = self->room < self->held ? self->held : self->room;
	return block;
}

struct scarce scarce_memory(struct input *input)
{
	return (struct scarce){ .fail_at = input_or64(input, 0), .room = ROOM };
}

struct sws_allocator scarce_seam(struct scarce *self)
{
	return (struct sws_allocator){ .resize = scarce_resize, .context = self };
}
