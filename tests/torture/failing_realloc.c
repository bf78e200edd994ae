/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * failing_realloc.c - to be preloaded: makes one allocation of the C core fail, whatever else the
 * process allocates. The core's allocations are calls of realloc and calloc from its library.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

extern void *__libc_realloc(void *pointer, size_t size);
extern void *__libc_calloc(size_t count, size_t size);

static uint64_t requests;
static uint64_t fail_at;

/* Makes request number fail_at fail from now on (0: none), and returns the requests so far. */
uint64_t failing_realloc_arm(uint64_t at)
{
	const uint64_t seen = requests;

	requests = 0;
	fail_at = at;
	return seen;
}

static int fails(const void *caller)
{
	Dl_info from;

	if (!dladdr(caller, &from) || !from.dli_fname || !strstr(from.dli_fname, "/_core."))
		return 0;
	return ++requests == fail_at;
}

void *realloc(void *pointer, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(pointer, size);
}

void *calloc(size_t count, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}
