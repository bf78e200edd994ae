/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * core.h - error codes, the allocator interface and the random generator, which all mechanisms
 * share.
 *
 * It models no kernel code. It has the three things that a mechanism takes from its caller and that
 * a test has to control:
 *
 *      mechanism ----> sws_allocator     a test's allocator fails call n
 *          |---------> sws_generator     one stream per actor, passed in
 *          '---------> enum sws_error    the result of a call, as one int
 *
 * The library has no global state, prints no output and never aborts.
 *
 * Threads: an object belongs to one thread at a time, and so do its allocator's context and the
 * memory that a caller lends it. Objects of two threads share no mutable state; names, tables of
 * rules and sws_libc_allocator are constants.
 */
#ifndef SWAPSIM_CORE_H
#define SWAPSIM_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ffi: begin */

/* Codes that a fallible function returns; SWS_OK is 0, all others are negative. */
enum sws_error {
	/* Success. */
	SWS_OK = 0,
	/* An allocation failed; the object is unchanged. */
	SWS_ERROR_NO_MEMORY = -1,
	/* A field of a config is out of its range. */
	SWS_ERROR_BAD_CONFIG = -2,
	/* An argument is out of its range. */
	SWS_ERROR_BAD_ARGUMENT = -3,
	/* The index already holds an item. */
	SWS_ERROR_EXISTS = -4,
	/* The index does not hold an item. */
	SWS_ERROR_NOT_FOUND = -5,
	/* Rows are not in the required order. */
	SWS_ERROR_OUT_OF_ORDER = -6,
	/* The operation of a row is not in its enum. */
	SWS_ERROR_UNKNOWN_OP = -7,
	/* A line of text cannot be read. */
	SWS_ERROR_BAD_LINE = -8,
	/* An invariant does not hold: a bug in this library. */
	SWS_ERROR_BROKEN = -9,
};

/*
 * Returns the sentence for a code, which says what to fix. Every int has a sentence; the string is
 * constant.
 */
const char *sws_strerror(int error);

/*
 * The allocator interface. All memory of an object comes from the allocator of its configuration,
 * so that a test can fail allocation n and count the blocks that are not freed. resize(context,
 * NULL, size) allocates; resize(context, pointer, 0) frees and returns NULL; all other calls resize
 * as realloc does and return NULL on failure, which leaves the old block unchanged.
 */
struct sws_allocator {
	void *(*resize)(void *context, void *pointer, size_t size);
	void *context;
};

/*
 * A xoshiro256** generator that is seeded through splitmix64. Each actor owns one, seeded with the
 * seed of the run and the actor's stream number, so that a new actor does not change the streams of
 * others.
 */
struct sws_generator {
	uint64_t state[4];
};

/*
 * Seeds a generator for one stream of a run; it cannot fail. Complexity: O(1), as the functions
 * below.
 */
void sws_generator_seed(struct sws_generator *self, uint64_t seed, uint64_t stream);

/* Returns the next 64 random bits. */
uint64_t sws_generator_next(struct sws_generator *self);

/* Returns a uniform number in [0, bound) without modulo bias; 0 when bound is 0. */
uint64_t sws_generator_below(struct sws_generator *self, uint64_t bound);

/* ffi: end */

/*
 * The allocator over libc's realloc and free; a NULL allocator in a configuration means this one.
 */
extern const struct sws_allocator sws_libc_allocator;

/* Allocates size bytes, which the caller owns; returns NULL on failure. */
void *sws_allocate(const struct sws_allocator *allocator, size_t size);

/* Allocates count * size bytes, which the caller owns; returns NULL on failure and on overflow. */
void *sws_allocate_array(const struct sws_allocator *allocator, size_t count, size_t size);

/* As sws_allocate_array, with all bytes zero. */
void *sws_allocate_zeroed(const struct sws_allocator *allocator, size_t count, size_t size);

/*
 * Resizes an array, NULL at first, to count items of size bytes, at least 1 of each; returns NULL on
 * failure and on overflow, which leaves the array unchanged.
 */
void *sws_resize_array(const struct sws_allocator *allocator, void *block, size_t count,
		       size_t size);

/*
 * Grows an array to a capacity of at least count items of item bytes. The capacity doubles, so
 * appending is amortised O(1). block is the address of the array's pointer, which is NULL with
 * *room 0 at first. Returns SWS_OK, or SWS_ERROR_NO_MEMORY, which leaves the array unchanged.
 */
int sws_reserve(const struct sws_allocator *allocator, void *block, size_t *room, size_t count,
		size_t item);

/* Frees a block of this allocator; accepts NULL. */
void sws_release(const struct sws_allocator *allocator, void *pointer);

/*
 * Allocates an object, which the caller owns: its first member is its struct sws_allocator, the
 * given one or for NULL that of libc, and all other bytes are zero. Returns NULL on failure.
 */
void *sws_create(const struct sws_allocator *allocator, size_t size);

/* Frees such an object, whose blocks are released, by its own allocator. */
void sws_destroy(void *object);

#endif
