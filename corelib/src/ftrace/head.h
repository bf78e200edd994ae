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

/* Reads a line's head. Returns an enum sws_ftrace_fault, which is not recorded yet. */
int sws_ftrace__head_read(const char *line, const char *end, struct ftrace_head *head);

#endif
