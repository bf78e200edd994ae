/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ftrace/head.h - the beginning of a line: task, CPU, time and the event's name. */
#ifndef SWAPSIM_FTRACE_HEAD_H
#define SWAPSIM_FTRACE_HEAD_H

#include "ftrace/span.h"

struct ftrace_head {
	struct ftrace_span comm;
	struct ftrace_span event;
	/* The text after the event's colon and spaces. */
	const char *text;
	/* The time in ns, or the value of an integer clock. */
	int64_t t_ns;
	int32_t pid;
	uint16_t cpu;
	/* enum sws_ftrace_clock */
	int clock;
};

#define FTRACE_TASK 64

/* What the lines before suggest for the next one: lines of one task and CPU come together. */
struct ftrace_hint {
	/* The last line up to its time; empty if its task did not end in the usual column. */
	char task[FTRACE_TASK];
	size_t task_length;
	/* What this was read as, and where the task's name begins. */
	int32_t pid;
	uint16_t cpu;
	size_t comm;
	/* The name of the event that may follow, or an empty one. */
	struct ftrace_span event;
};

/*
 * Reads a line's head; a hint makes it faster and never different. Returns an enum
 * sws_ftrace_fault, which is not recorded yet.
 */
int sws_ftrace__head_read(struct ftrace_hint *hint, const char *line, const char *end,
			  struct ftrace_head *head);

#endif
