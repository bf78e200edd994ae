/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>

void check_failed(const char *file, int line, const char *condition)
{
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
	exit(1);
}

void check_run(const char *name, void (*test)(void))
{
	printf("%s\n", name);
	fflush(stdout);
	test();
}

static void *failing_resize(void *context, void *pointer, size_t size)
{
	struct failing_allocator *self = context;
	void *block = NULL;

	if (size == 0) {
		self->held -= pointer != NULL;
		free(pointer);
		return NULL;
	}
	if (++self->requests == self->fail_at) {
		self->failed++;
		return NULL;
	}
	block = realloc(pointer, size);
	self->held += block && !pointer;
	return block;
}

struct sws_allocator failing_allocator_seam(struct failing_allocator *self)
{
	return (struct sws_allocator){ .resize = failing_resize, .context = self };
}

void check_each_allocation_failing(int (*scenario)(const struct sws_allocator *allocator))
{
	for (uint64_t fail_at = 1;; fail_at++) {
		struct failing_allocator failing = { .fail_at = fail_at };
		struct sws_allocator seam = failing_allocator_seam(&failing);
		int error = scenario(&seam);

		CHECK(failing.held == 0);
		if (!failing.failed) {
			CHECK(error == SWS_OK);
			CHECK(fail_at > 1);
			return;
		}
		CHECK(error == SWS_ERROR_NO_MEMORY);
	}
}
