/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ftrace/strings.h - stores each string of a batch once, with a small number, its code.
 *
 * The strings are in the order of their codes, and separated by '\n' for the caller:
 *
 *      bytes   kswapd0\nRECLAIM_WB_ANON\n...
 *      ends           ^code 1         ^code 2
 *
 * A clear drops all of them, so repeated strings are stored once per batch, and different strings
 * cannot fill the memory.
 */
#ifndef SWAPSIM_FTRACE_STRINGS_H
#define SWAPSIM_FTRACE_STRINGS_H

#include "ftrace/span.h"

struct ftrace_slot {
	uint32_t hash;
	/* The code; 0 for an empty slot. */
	uint32_t code;
};

struct ftrace_strings {
	const struct sws_allocator *allocator;
	char *bytes;
	size_t length;
	size_t room;
	/* ends[n] is the position of the '\n' of code n. */
	size_t *ends;
	size_t ends_room;
	/* A hash table of slots_room slots: a power of two, or 0. */
	struct ftrace_slot *slots;
	size_t slots_room;
	/* The highest code. */
	uint32_t count;
	/* The number of clears; a code of an older batch is invalid. */
	uint64_t batch;
};

/* Finds a string's code, or assigns the next one. */
int sws_ftrace__strings_intern(struct ftrace_strings *self, struct ftrace_span text,
			       uint32_t *code);

/* Returns true if a code of this batch stands for the text. */
bool sws_ftrace__strings_is(const struct ftrace_strings *self, uint32_t code,
			    struct ftrace_span text);

/* Drops all strings but not their memory. */
void sws_ftrace__strings_clear(struct ftrace_strings *self);

void sws_ftrace__strings_free(struct ftrace_strings *self);

#endif
