/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "swapsim/core.h"

#include <stdlib.h>
#include <string.h>

const char *sws_strerror(int error)
{
	switch ((enum sws_error)error) {
	case SWS_OK:
		return "no error";
	case SWS_ERROR_NO_MEMORY:
		return "out of memory: use smaller chunks or a larger machine";
	case SWS_ERROR_BAD_CONFIG:
		return "a field of the config is out of its range: see the header for the range";
	case SWS_ERROR_BAD_ARGUMENT:
		return "an argument is out of its range: see the header for the range";
	case SWS_ERROR_EXISTS:
		return "the index holds an item already: delete it first";
	case SWS_ERROR_NOT_FOUND:
		return "the index holds no item: insert one first";
	case SWS_ERROR_OUT_OF_ORDER:
		return "rows are out of order: sort them by seq";
	case SWS_ERROR_UNKNOWN_OP:
		return "a row's operation is unknown: use a value of the enum";
	case SWS_ERROR_BAD_LINE:
		return "a line cannot be read: mend it, or skip such lines with --keep-going";
	case SWS_ERROR_BROKEN:
		return "an invariant of the library is broken: please report how it came about";
	}
	return "unknown error code: the library and its caller are of different versions";
}

static void *libc_resize(void *context, void *pointer, size_t size)
{
	(void)context;
	if (size == 0) {
		free(pointer);
		return NULL;
	}
	return realloc(pointer, size);
}

const struct sws_allocator sws_libc_allocator = { .resize = libc_resize, .context = NULL };

void *sws_allocate(const struct sws_allocator *allocator, size_t size)
{
	/* A block of no bytes would read as a failure. */
	return allocator->resize(allocator->context, NULL, size ? size : 1);
}

static bool overflows(size_t count, size_t size)
{
	return size && count > SIZE_MAX / size;
}

void *sws_allocate_array(const struct sws_allocator *allocator, size_t count, size_t size)
{
	return overflows(count, size) ? NULL : sws_allocate(allocator, count * size);
}

void *sws_allocate_zeroed(const struct sws_allocator *allocator, size_t count, size_t size)
{
	void *block = NULL;

	/* libc has large blocks that are zero already: no need to touch them all at once. */
	if (allocator->resize == libc_resize && !overflows(count, size))
		return calloc(count ? count : 1, size ? size : 1);
	block = sws_allocate_array(allocator, count, size);
	if (block)
		memset(block, 0, count * size);
	return block;
}

void sws_release(const struct sws_allocator *allocator, void *pointer)
{
	if (pointer)
		allocator->resize(allocator->context, pointer, 0);
}

static uint64_t splitmix64(uint64_t *state)
{
	uint64_t mixed = *state += UINT64_C(0x9e3779b97f4a7c15);

	mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
	return mixed ^ (mixed >> 31);
}

void sws_generator_seed(struct sws_generator *self, uint64_t seed, uint64_t stream)
{
	/* The stream is mixed before it meets the seed: seed 1, stream 2 is not seed 2, stream 1. */
	uint64_t state = seed ^ splitmix64(&stream);

	for (int word = 0; word < 4; word++)
		self->state[word] = splitmix64(&state);
}

static uint64_t rotate_left(uint64_t value, int count)
{
	return (value << count) | (value >> (64 - count));
}

uint64_t sws_generator_next(struct sws_generator *self)
{
	uint64_t *state = self->state;
	uint64_t result = rotate_left(state[1] * 5, 7) * 9;
	uint64_t shifted = state[1] << 17;

	state[2] ^= state[0];
	state[3] ^= state[1];
	state[1] ^= state[2];
	state[0] ^= state[3];
	state[2] ^= shifted;
	state[3] = rotate_left(state[3], 45);
	return result;
}

uint64_t sws_generator_below(struct sws_generator *self, uint64_t bound)
{
	uint64_t threshold = 0;
	uint64_t draw = 0;

	if (bound == 0)
		return 0;
	/* The first 2^64 mod bound values would favour small results: draw again. */
	threshold = -bound % bound;
	do {
		draw = sws_generator_next(self);
	} while (draw < threshold);
	return draw % bound;
}
