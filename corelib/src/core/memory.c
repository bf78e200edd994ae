/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "swapsim/core.h"

#include <stdlib.h>
#include <string.h>

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
	/* An empty block would look like a failure. */
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

void *sws_resize_array(const struct sws_allocator *allocator, void *block, size_t count,
		       size_t size)
{
	if (!count || !size || overflows(count, size))
		return NULL;
	return allocator->resize(allocator->context, block, count * size);
}

void *sws_allocate_zeroed(const struct sws_allocator *allocator, size_t count, size_t size)
{
	void *block = NULL;

	/* libc has large blocks that are already zero, which need not be touched. */
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

void *sws_create(const struct sws_allocator *allocator, size_t size)
{
	void *object = NULL;

	if (!allocator)
		allocator = &sws_libc_allocator;
	object = sws_allocate_zeroed(allocator, 1, size);
	if (object)
		memcpy(object, allocator, sizeof(*allocator));
	return object;
}

void sws_destroy(void *object)
{
	struct sws_allocator allocator;

	memcpy(&allocator, object, sizeof(allocator));
	sws_release(&allocator, object);
}

/*
 * The capacity doubles, so that adding n items one by one copies fewer than 2 n items in total:
 *
 *      capacity 0, 1 wanted       8
 *      capacity 8, 9 wanted      16
 *      capacity 8, 100 wanted   128      8 16 32 64 128
 *
 * Without memory the old block and its capacity do not change.
 */
int sws_reserve(const struct sws_allocator *allocator, void *block, size_t *room, size_t count,
		size_t item)
{
	size_t want = *room < 8 ? 8 : *room;
	void *old = NULL;
	void *fresh = NULL;

	if (count <= *room)
		return SWS_OK;
	/* want, up to twice as many, must not wrap, and no object is larger than half of all sizes. */
	if (count > SIZE_MAX / 4 / item)
		return SWS_ERROR_NO_MEMORY;
	while (want < count)
		want *= 2;
	/* A pointer must not be read through another type; copying its bytes is allowed. */
	memcpy(&old, block, sizeof(old));
	fresh = sws_resize_array(allocator, old, want, item);
	if (!fresh)
		return SWS_ERROR_NO_MEMORY;
	memcpy(block, &fresh, sizeof(fresh));
	*room = want;
	return SWS_OK;
}
