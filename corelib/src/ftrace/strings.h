/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ftrace/strings.h - each string of a batch once, under a small number, its code.
 *
 * The strings lie in the order of their codes, as a reader splits them:
 *
 *      bytes   kswapd0\nRECLAIM_WB_ANON\n...
 *      ends           ^code 1         ^code 2
 *
 * A clear forgets all of them, so what repeats costs once and what does not
 * repeat cannot fill the memory.
 */
#ifndef SWAPSIM_FTRACE_STRINGS_H
#define SWAPSIM_FTRACE_STRINGS_H

#include "ftrace/span.h"

struct ftrace_slot {
	uint32_t hash;
	/* 0: a hole. */
	uint32_t code;
};

struct ftrace_strings {
	const struct sws_allocator *allocator;
	char *bytes;
	size_t length;
	size_t room;
	/* Of code n: ends[n], where its '\n' lies. */
	size_t *ends;
	size_t ends_room;
	/* A hash table of slots_room places: a power of two, or 0. */
	struct ftrace_slot *slots;
	size_t slots_room;
	/* The highest code. */
	uint32_t count;
	/* Counts the clears: a code of an older batch is stale. */
	uint64_t batch;
};

/* Finds a string's code, or gives it the next one. */
int sws_ftrace__strings_intern(struct ftrace_strings *self, struct ftrace_span text,
			       uint32_t *code);

/* Whether a code of this batch stands for the text. */
bool sws_ftrace__strings_is(const struct ftrace_strings *self, uint32_t code,
			    struct ftrace_span text);

/* Forgets all strings and keeps their room. */
void sws_ftrace__strings_clear(struct ftrace_strings *self);

void sws_ftrace__strings_free(struct ftrace_strings *self);

#endif
