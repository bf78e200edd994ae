/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * core.h - what every mechanism shares: error codes, the allocation seam and
 * the generator.
 *
 * Models nothing of the kernel. It holds the three things that a mechanism
 * needs from its surroundings and that a test wants to control:
 *
 *      mechanism ----> sws_allocator     a test's allocator fails call n
 *          |---------> sws_generator     one stream per actor, passed in
 *          '---------> enum sws_error    what went wrong, as one int
 *
 * Nothing here is global, nothing prints, nothing aborts.
 *
 * Threads: an object belongs to one thread at a time, and so do its allocator's context and the
 * memory that a caller lends it. Two threads with objects of their own share nothing that
 * changes; names, tables of rules and sws_libc_allocator are constants, for all.
 */
#ifndef SWAPSIM_CORE_H
#define SWAPSIM_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ffi: begin */

/* Codes that a fallible function returns; SWS_OK is 0, all others are negative. */
enum sws_error {
	SWS_OK = 0,
	/* An allocation failed; the object is unchanged. */
	SWS_ERROR_NO_MEMORY = -1,
	/* A field of a config is out of its range. */
	SWS_ERROR_BAD_CONFIG = -2,
	/* An argument is out of its range. */
	SWS_ERROR_BAD_ARGUMENT = -3,
	/* The index holds an item already. */
	SWS_ERROR_EXISTS = -4,
	/* The index holds no item. */
	SWS_ERROR_NOT_FOUND = -5,
	/* Rows are not in the order that the call needs. */
	SWS_ERROR_OUT_OF_ORDER = -6,
	/* A row's operation is none of the enum. */
	SWS_ERROR_UNKNOWN_OP = -7,
	/* A line of text cannot be read. */
	SWS_ERROR_BAD_LINE = -8,
	/* An invariant does not hold: a bug of ours. */
	SWS_ERROR_BROKEN = -9,
};

/* The sentence that belongs to a code, saying what to fix; total: any int has one. */
const char *sws_strerror(int error);

/*
 * The allocation seam. All memory of an object comes from the allocator of its
 * config, so a test can fail allocation n and count what is still held.
 * resize(context, NULL, size) allocates, resize(context, pointer, 0) frees and
 * returns NULL; else as realloc: on failure NULL, and the old block stays.
 */
struct sws_allocator {
	void *(*resize)(void *context, void *pointer, size_t size);
	void *context;
};

/*
 * xoshiro256** seeded through splitmix64. Each actor owns one, seeded with the
 * run's seed and its own stream number, so a new actor shifts no other.
 */
struct sws_generator {
	uint64_t state[4];
};

/* Seeds a generator for one stream of a run. Never fails. */
void sws_generator_seed(struct sws_generator *self, uint64_t seed, uint64_t stream);

/* The next 64 random bits. */
uint64_t sws_generator_next(struct sws_generator *self);

/* A uniform number in [0, bound), without modulo bias; 0 when bound is 0. */
uint64_t sws_generator_below(struct sws_generator *self, uint64_t bound);

/* ffi: end */

/* The allocator over libc's realloc and free: what a config's default names. */
extern const struct sws_allocator sws_libc_allocator;

/* Allocates size bytes; NULL when there are none. The caller owns the block. */
void *sws_allocate(const struct sws_allocator *allocator, size_t size);

/* Allocates count * size bytes; NULL also when the product overflows. */
void *sws_allocate_array(const struct sws_allocator *allocator, size_t count, size_t size);

/* The same, zeroed. */
void *sws_allocate_zeroed(const struct sws_allocator *allocator, size_t count, size_t size);

/*
 * Grows an array to a room for at least count items of item bytes: doubles, so
 * that appending is amortised. block is the address of the array's pointer, NULL
 * at birth with *room 0. Returns SWS_OK, or SWS_ERROR_NO_MEMORY and all as it was.
 */
int sws_reserve(const struct sws_allocator *allocator, void *block, size_t *room, size_t count,
		size_t item);

/* Frees a block of this allocator; takes NULL. */
void sws_release(const struct sws_allocator *allocator, void *pointer);

#endif
