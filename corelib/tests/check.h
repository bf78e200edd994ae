/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check.h - shared by the C tests: a check, a runner, and an allocator that fails on demand and
 * counts the blocks that are not freed.
 */
#ifndef SWAPSIM_TESTS_CHECK_H
#define SWAPSIM_TESTS_CHECK_H

#include "swapsim/core.h"

/* Ends the test program with file, line and condition if the condition is false. */
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			check_failed(__FILE__, __LINE__, #condition);                              \
	} while (0)

_Noreturn void check_failed(const char *file, int line, const char *condition);

/* Runs one test function and prints its name. */
#define RUN(test) check_run(#test, test)

void check_run(const char *name, void (*test)(void));

/* An allocator whose request number fail_at (from 1; 0 for none) fails. */
struct failing_allocator {
	uint64_t requests;
	uint64_t fail_at;
	uint64_t failed;
	uint64_t held;
};

/* Returns the allocator interface of a failing_allocator, which has to outlive it. */
struct sws_allocator failing_allocator_seam(struct failing_allocator *self);

/*
 * Calls scenario(allocator) with request 1, 2, ... failing until a run ends without a failure.
 * Checks that each run frees all of its memory, and that at least one failure was injected. A
 * scenario returns an enum sws_error.
 */
void check_each_allocation_failing(int (*scenario)(const struct sws_allocator *allocator));

#endif
