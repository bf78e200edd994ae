/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ftrace/span.h - a part of a text by its start and its length, without NUL and without a copy. */
#ifndef SWAPSIM_FTRACE_SPAN_H
#define SWAPSIM_FTRACE_SPAN_H

#include "swapsim/core.h"

#include <string.h>

/* Bytes of a line, or of a longer-lived copy. */
struct ftrace_span {
	const char *start;
	size_t length;
};

static inline struct ftrace_span ftrace_between(const char *start, const char *end)
{
	return (struct ftrace_span){ start, (size_t)(end - start) };
}

/* Compares two texts of one length; inline, because most are keys of a few bytes. */
static inline bool ftrace_same(const char *a, const char *b, size_t length)
{
	uint64_t x = 0;
	uint64_t y = 0;

	while (length > 8) {
		memcpy(&x, a, 8);
		memcpy(&y, b, 8);
		if (x != y)
			return false;
		a += 8;
		b += 8;
		length -= 8;
	}
	if (length == 8) {
		memcpy(&x, a, 8);
		memcpy(&y, b, 8);
		return x == y;
	}
	if (length >= 4) {
		uint32_t head[2];
		uint32_t tail[2];

		memcpy(&head[0], a, 4);
		memcpy(&head[1], b, 4);
		memcpy(&tail[0], a + length - 4, 4);
		memcpy(&tail[1], b + length - 4, 4);
		return head[0] == head[1] && tail[0] == tail[1];
	}
	while (length--)
		if (a[length] != b[length])
			return false;
	return true;
}

/* Returns an empty text, for a fault without one. */
static inline struct ftrace_span ftrace_nothing(void)
{
	return (struct ftrace_span){ "", 0 };
}

#endif
