/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * input.h - shared by the fuzz targets: bytes read as numbers, and an allocator with little memory
 * that fails the request that the input chooses.
 *
 * After the end of the bytes zeros follow: a configuration drawn from an empty input is the default
 * one.
 */
#ifndef SWAPSIM_FUZZ_INPUT_H
#define SWAPSIM_FUZZ_INPUT_H

#include "swapsim/core.h"

/* Stops with the line of a false condition; libFuzzer stores the input. */
#define MUST(condition)                                                                            \
	do {                                                                                       \
		if (!(condition))                                                                  \
			input_failed(__FILE__, __LINE__, #condition);                              \
	} while (0)

_Noreturn void input_failed(const char *file, int line, const char *condition);

/* The function that a target defines; returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *bytes;
	size_t left;
};

uint8_t input_byte(struct input *self);

/*
 * Returns any number, with the limits of all integer sizes more often than others: below 64 in one
 * byte, 2^n and 2^n - 1 in one byte, and one to eight bytes as they are.
 */
uint64_t input_number(struct input *self);
uint32_t input_number32(struct input *self);

/* Returns the usual number in half of all cases, else any. */
uint32_t input_or(struct input *self, uint32_t usual);
uint64_t input_or64(struct input *self, uint64_t usual);

/* Returns a number in 0 .. bound - 1. */
uint32_t input_below(struct input *self, uint32_t bound);

bool input_bit(struct input *self);

/* An allocator that fails request number fail_at (0: none) and requests that exceed its room. */
struct scarce {
	uint64_t requests;
	uint64_t fail_at;
	size_t held;
	size_t room;
};

struct scarce scarce_memory(struct input *input);
struct sws_allocator scarce_seam(struct scarce *self);

#endif
