/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ftrace.h - the text of a kernel trace, turned into typed columns.
 *
 * Reads what trace_print_context() and the events' TP_printk formats write
 * (kernel/trace/trace_output.c, 6.1), from tracefs or from `trace-cmd report`:
 *
 *      kworker/0:1-12    (     12) [003] d..1.    10.263993: swp_del: (f+0x0/0x2) folio=0x1f n=-2
 *      ----------- --     -------   ---  -----    ---------  -------  ----------- ---------------
 *      comm        pid    dropped   cpu  dropped  time       event    text        fields
 *
 *      chunk of text -> lines -> head -> event -> layout -> one array per column
 *                                          |        |
 *                     first rows settle types    keys of the row before, compared at once
 *
 * Kept: every event line, one table per event; lost events per CPU; how many
 * events the ring buffer overwrote. Dropped: the irq-info letters and the
 * thread group. Not read: the function tracers, latency format, stack dumps.
 *
 * Memory is bounded by what is fed between two sws_ftrace_clear(): a row waits
 * in its columns, a string once per batch. Of each event the first rows wait
 * as text, until they settle the types of its fields (config.first_rows).
 *
 * Locks: none. An object belongs to one thread at a time.
 */
#ifndef SWAPSIM_FTRACE_H
#define SWAPSIM_FTRACE_H

#include "swapsim/core.h"

/* ffi: begin */

/*
 * How a field is printed, and so what its column holds. A probe may be defined to print it in the
 * other notation: then the column holds the same 64 bits. A word in it is a fault.
 */
enum sws_ftrace_type {
	/* A decimal number; int64_t. */
	SWS_FTRACE_INT64 = 0,
	/* 0x..., the 16 digits of %p, be they all decimal, or the 0 of %#x; uint64_t. */
	SWS_FTRACE_UINT64 = 1,
	/* Hexadecimal digits without 0x; uint64_t. */
	SWS_FTRACE_HEX = 2,
	/* Anything; a code of the batch's strings. */
	SWS_FTRACE_STRING = 3,
};

/* Why a line cannot be read. */
enum sws_ftrace_fault {
	SWS_FTRACE_NO_FAULT = 0,
	/* It holds bytes that no text has, such as NUL. */
	SWS_FTRACE_BYTES = 1,
	/* It is not UTF-8. */
	SWS_FTRACE_UTF8 = 2,
	/* It is longer than config.max_line. */
	SWS_FTRACE_LONG = 3,
	/* It is the last one and has no end of line. */
	SWS_FTRACE_CUT = 4,
	/* No task, CPU and time at its start. */
	SWS_FTRACE_HEAD = 5,
	/* Its time is of another kind than in the lines before. */
	SWS_FTRACE_CLOCK = 6,
	/* No event name after its time. */
	SWS_FTRACE_EVENT = 7,
	/* A number is out of its column's range. */
	SWS_FTRACE_NUMBER = 8,
	/* A field is a word, and its column holds whole numbers. */
	SWS_FTRACE_TYPE = 9,
	/* A field stands in it twice. */
	SWS_FTRACE_DUPLICATE = 10,
	/* More events or fields than the config allows. */
	SWS_FTRACE_CROWDED = 11,
	/* How many kinds there are, 0 included. */
	SWS_FTRACE_FAULTS = 12,
};

/* The clock of a trace: seconds with decimals, or a whole number such as counter's. */
enum sws_ftrace_clock {
	/* No event line was read. */
	SWS_FTRACE_CLOCK_UNKNOWN = 0,
	SWS_FTRACE_CLOCK_SECONDS = 1,
	SWS_FTRACE_CLOCK_WHOLE = 2,
};

struct sws_ftrace_config {
	/* Of all the parser's memory; default libc's. */
	struct sws_allocator allocator;
	/* Count a line that cannot be read and go on; default false. */
	bool skip;
	/* Rows of an event that settle its types; default 1024. */
	uint32_t first_rows;
	/* Or so many bytes of them, if fewer rows; default 262,144. */
	uint32_t first_bytes;
	/* Bytes of the longest line, at most 2^24; default 65,536. */
	uint32_t max_line;
	/* Different events beside those known beforehand; default 1024. */
	uint32_t max_events;
	/* Different fields of an event; default 256. */
	uint32_t max_fields;
};

/* All faults of one kind: how many, and the first one in the order of lines. */
struct sws_ftrace_report {
	uint64_t count;
	/* Where the first one is, from 1. */
	uint64_t line;
	/* enum sws_ftrace_type of that column, -1 where none is. */
	int type;
	/* The column at fault, "" where none is. */
	char field[64];
	/* The value at fault, else the line; cut to fit. */
	char excerpt[104];
};

struct sws_ftrace_totals {
	/* Lines of text so far. */
	uint64_t lines;
	/* Event lines with a readable head: the next seq. */
	uint64_t rows;
	/* Events that the ring buffer dropped, by the header of tracefs. */
	uint64_t overwritten;
	/* Losses of which the trace does not know the number. */
	uint64_t gaps;
	/* enum sws_ftrace_clock. */
	int clock;
};

/* The rows of one event since the last clear; arrays of `rows` items, owned by the parser. */
struct sws_ftrace_batch {
	/* NUL at its end. */
	const char *name;
	size_t rows;
	/* Columns beyond these five. */
	size_t fields;
	const uint64_t *seq;
	/* 0 under a clock of whole numbers. */
	const int64_t *t_ns;
	const uint16_t *cpu;
	const int32_t *pid;
	/* Codes of sws_ftrace_strings(). */
	const uint32_t *comm;
};

/* One field of one event since the last clear. */
struct sws_ftrace_column {
	/* NUL at its end. */
	const char *name;
	/* enum sws_ftrace_type. */
	int type;
	/* Some row of the whole trace has it. */
	bool used;
	/* int64_t, uint64_t, or uint32_t codes. */
	const void *values;
	/* A byte per row, 0 = null; NULL where no row of the batch is null. */
	const uint8_t *valid;
};

typedef struct sws_ftrace sws_ftrace;

/* Writes every default of the config. Never fails. */
void sws_ftrace_config_init(struct sws_ftrace_config *config);

/* Makes a parser. BAD_CONFIG where a limit is 0 or max_line above 2^24; the caller frees *out. */
int sws_ftrace_new(const struct sws_ftrace_config *config, sws_ftrace **out);

/* Frees a parser and all that it handed out; takes NULL. */
void sws_ftrace_free(sws_ftrace *self);

/*
 * Fixes the type of a field before the first feed, so that no row decides it.
 * BAD_ARGUMENT for a type or a name that is none. The strings are copied.
 */
int sws_ftrace_know_field(sws_ftrace *self, const char *event, const char *field, int type);

/*
 * Says how an event prints what is not key=value: literal text with {field}
 * between, each field known beforehand by sws_ftrace_know_field(), and {} at
 * the end where key=value words follow. A STRING runs to the literal behind it,
 * so it may hold spaces. A line that does not match is read word by word.
 * BAD_ARGUMENT for a text that breaks these rules. Later ones are tried later.
 */
int sws_ftrace_know_text(sws_ftrace *self, const char *event, const char *text);

/*
 * Reads the next bytes of the trace; a line may cross any number of calls.
 * BAD_LINE where a line cannot be read and config.skip is off: see
 * sws_ftrace_report(). After a failure the parser can only be asked and freed.
 * Complexity: linear in length.
 */
int sws_ftrace_feed(sws_ftrace *self, const char *bytes, size_t length);

/* Ends the trace: the last line must be whole, and waiting rows go to their columns. */
int sws_ftrace_finish(sws_ftrace *self);

/* How many events there are so far; an index stays with its event. */
size_t sws_ftrace_events(const sws_ftrace *self);

/* How many values wait in all columns since the last clear: a measure of the memory they take. */
size_t sws_ftrace_cells(const sws_ftrace *self);

/* The rows of an event since the last clear; BAD_ARGUMENT beyond the last event. */
int sws_ftrace_batch(const sws_ftrace *self, size_t event, struct sws_ftrace_batch *out);

/* One field of an event, in the order of first sight; BAD_ARGUMENT beyond the last. */
int sws_ftrace_column(const sws_ftrace *self, size_t event, size_t column,
		      struct sws_ftrace_column *out);

/*
 * The strings of the batch, each with '\n' behind it (none holds one): code n
 * is the n-th, from 1; code 0 is null. *length gets the bytes. Owned by the parser.
 */
const char *sws_ftrace_strings(const sws_ftrace *self, size_t *length);

/* Drops all rows and strings; events, columns and their types stay. */
void sws_ftrace_clear(sws_ftrace *self);

/* What was counted so far. Never fails. */
void sws_ftrace_totals(const sws_ftrace *self, struct sws_ftrace_totals *out);

/* Lost events by CPU, *cpus items; owned by the parser, until the next feed. */
const uint64_t *sws_ftrace_lost(const sws_ftrace *self, size_t *cpus);

/* The faults of one kind; BAD_ARGUMENT for a kind that is none. */
int sws_ftrace_report(const sws_ftrace *self, int kind, struct sws_ftrace_report *out);

/* Checks that all columns agree; BROKEN, and a sentence in *reason, where they do not. */
int sws_ftrace_verify(const sws_ftrace *self, const char **reason);

/* ffi: end */

#endif
