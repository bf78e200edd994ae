/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ftrace.h - parses the text of a kernel trace into typed columns.
 *
 * Reads the output of trace_print_context() and of the events' TP_printk formats
 * (kernel/trace/trace_output.c, 6.1), from tracefs or from `trace-cmd report`:
 *
 *      kworker/0:1-12    (     12) [003] d..1.    10.263993: swp_del: (f+0x0/0x2) folio=0x1f n=-2
 *      ----------- --     -------   ---  -----    ---------  -------  ----------- ---------------
 *      comm        pid    ignored   cpu  ignored  time       event    text        fields
 *
 *      chunk of text -> lines -> head -> event -> layout -> one array per column
 *                                          |        |
 *                     first rows determine types   keys of the row before, compared at once
 *
 * Supported: every event line, one table per event; lost events per CPU; the number of events that
 * the ring buffer overwrote. Ignored: the irq-info letters and the thread group. Not supported: the
 * function tracers, the latency format, stack dumps.
 *
 * Memory is bounded by the text that is fed between two calls of sws_ftrace_clear(): a row is
 * stored in its columns, and a string once per batch. The first rows of each event are stored as
 * text, until they determine the types of its fields (config.first_rows).
 *
 * Locks: none. An object belongs to one thread at a time.
 */
#ifndef SWAPSIM_FTRACE_H
#define SWAPSIM_FTRACE_H

#include "swapsim/core.h"

/* ffi: begin */

/*
 * The notation of a field, which determines its column. If a probe prints the field in the other
 * notation, the column has the same 64 bits. A word in a numeric column is a fault.
 */
enum sws_ftrace_type {
	/* A decimal number; int64_t. */
	SWS_FTRACE_INT64 = 0,
	/* 0x..., the 16 digits of %p, even if all are decimal, or the 0 of %#x; uint64_t. */
	SWS_FTRACE_UINT64 = 1,
	/* Hexadecimal digits without 0x; uint64_t. */
	SWS_FTRACE_HEX = 2,
	/* Any text; a code of the batch's strings. */
	SWS_FTRACE_STRING = 3,
};

/* The reason why a line cannot be read. */
enum sws_ftrace_fault {
	/* No fault. */
	SWS_FTRACE_NO_FAULT = 0,
	/* The line contains bytes that are not text, such as NUL. */
	SWS_FTRACE_BYTES = 1,
	/* The line is not UTF-8. */
	SWS_FTRACE_UTF8 = 2,
	/* The line is longer than config.max_line. */
	SWS_FTRACE_LONG = 3,
	/* The line is the last one and has no end of line. */
	SWS_FTRACE_CUT = 4,
	/* The line does not start with a task, a CPU and a time. */
	SWS_FTRACE_HEAD = 5,
	/* The time is of another kind than in the lines before. */
	SWS_FTRACE_CLOCK = 6,
	/* There is no event name after the time. */
	SWS_FTRACE_EVENT = 7,
	/* A number is out of its column's range. */
	SWS_FTRACE_NUMBER = 8,
	/* A field is a word, but its column contains integers. */
	SWS_FTRACE_TYPE = 9,
	/* The line contains a field twice. */
	SWS_FTRACE_DUPLICATE = 10,
	/* There are more events or fields than the configuration allows. */
	SWS_FTRACE_CROWDED = 11,
	/* The line lacks a declared field that the first lines of its event have: it is cut. */
	SWS_FTRACE_LACKS = 12,
	/* The number of values, including 0. */
	SWS_FTRACE_FAULTS = 13,
};

/* The clock of a trace: seconds with decimals, or an integer such as that of the clock counter. */
enum sws_ftrace_clock {
	/* No event line has been read. */
	SWS_FTRACE_CLOCK_UNKNOWN = 0,
	/* Seconds with decimals. */
	SWS_FTRACE_CLOCK_SECONDS = 1,
	/* Integers. */
	SWS_FTRACE_CLOCK_WHOLE = 2,
};

/* The configuration of a parser. */
struct sws_ftrace_config {
	/* The allocator of the parser's memory; default that of libc. */
	struct sws_allocator allocator;
	/* True if a line that cannot be read is counted and skipped; default false. */
	bool skip;
	/* Number of rows of an event that determine its types; default 1024. */
	uint32_t first_rows;
	/* Number of bytes of those rows that is sufficient with fewer rows; default 262,144. */
	uint32_t first_bytes;
	/* Maximum length of a line in bytes, at most 2^24; default 65,536. */
	uint32_t max_line;
	/*
	 * Maximum number of different events in addition to those that are known in advance;
	 * default 1024.
	 */
	uint32_t max_events;
	/* Maximum number of different fields of an event; default 256. */
	uint32_t max_fields;
};

/* The faults of one kind: their number, and the first one in the order of lines. */
struct sws_ftrace_report {
	/* The number of faults. */
	uint64_t count;
	/* The line of the first fault, from 1. */
	uint64_t line;
	/* enum sws_ftrace_type of the column at fault, -1 for no column. */
	int type;
	/* The column at fault, "" for no column. */
	char field[64];
	/* The value at fault, else the line; truncated to fit. */
	char excerpt[104];
};

/* The counts of a parser. */
struct sws_ftrace_totals {
	/* Lines of text so far. */
	uint64_t lines;
	/* Event lines with a readable head; the next seq. */
	uint64_t rows;
	/* Events that the ring buffer overwrote, from the header of tracefs. */
	uint64_t overwritten;
	/* Losses whose number is not in the trace. */
	uint64_t gaps;
	/* Rows whose time is earlier than that of the row before: rows keep the order of lines. */
	uint64_t earlier;
	/* The line of the first such row, from 1; 0 for none. */
	uint64_t earlier_line;
	/* enum sws_ftrace_clock */
	int clock;
};

/* The rows of one event since the last clear; arrays of `rows` items, owned by the parser. */
struct sws_ftrace_batch {
	/* The name of the event, terminated by NUL. */
	const char *name;
	/* The number of rows. */
	size_t rows;
	/* The number of columns in addition to the following five. */
	size_t fields;
	/* The sequence number of the row in the trace. */
	const uint64_t *seq;
	/* The time in ns, or the value of an integer clock. */
	const int64_t *t_ns;
	/* The CPU. */
	const uint16_t *cpu;
	/* The task's pid. */
	const int32_t *pid;
	/* The task's name, as a code of sws_ftrace_strings(). */
	const uint32_t *comm;
};

/* One field of one event since the last clear. */
struct sws_ftrace_column {
	/* The name of the field, terminated by NUL. */
	const char *name;
	/* enum sws_ftrace_type */
	int type;
	/* True if any row of the complete trace has the field. */
	bool used;
	/* An array of int64_t, uint64_t, or uint32_t codes. */
	const void *values;
	/* A byte per row, 0 for null; NULL if no row of the batch is null. */
	const uint8_t *valid;
};

/* A parser; only the functions below read it. */
typedef struct sws_ftrace sws_ftrace;

/* Writes every default; it cannot fail. Complexity: O(1). */
void sws_ftrace_config_init(struct sws_ftrace_config *config);

/*
 * Creates a parser. The caller owns *out and frees it by sws_ftrace_free. Complexity: O(1). Returns
 * SWS_OK, SWS_ERROR_BAD_CONFIG if a limit is 0 or max_line above 2^24, or SWS_ERROR_NO_MEMORY.
 */
int sws_ftrace_new(const struct sws_ftrace_config *config, sws_ftrace **out);

/* Frees a parser and the memory of all its results; accepts NULL. */
void sws_ftrace_free(sws_ftrace *self);

/*
 * Declares the type of a field before the first feed, so that the rows do not determine it. If one
 * of the event's first rows (config.first_rows) has the field, each row must have it: a kernel
 * prints all fields of a tracepoint, and a line without one of them is cut. The strings are copied.
 * Complexity: O(declared fields). Returns SWS_OK, SWS_ERROR_BAD_ARGUMENT for an invalid type or
 * name, or SWS_ERROR_NO_MEMORY.
 */
int sws_ftrace_know_field(sws_ftrace *self, const char *event, const char *field, int type);

/*
 * Declares the format of an event whose text is not key=value: literal text with {field} in
 * between, each of which sws_ftrace_know_field() has declared, and {} at the end if key=value words
 * follow. A STRING ends at the next literal, so it may contain spaces. A line that does not match
 * is read word by word; several formats are tried in the order of their declaration. The strings
 * are copied. Returns SWS_OK, SWS_ERROR_BAD_ARGUMENT for a text that violates these rules, or
 * SWS_ERROR_NO_MEMORY.
 */
int sws_ftrace_know_text(sws_ftrace *self, const char *event, const char *text);

/*
 * Reads the next bytes of the trace; a line may be split over any number of calls. After a failure
 * only the functions that return results, and sws_ftrace_free, may be called. Complexity:
 * O(length). Returns SWS_OK, SWS_ERROR_BAD_LINE if a line cannot be read and config.skip is false
 * (see sws_ftrace_report()), or SWS_ERROR_NO_MEMORY.
 */
int sws_ftrace_feed(sws_ftrace *self, const char *bytes, size_t length);

/*
 * Ends the trace: the last line has to be complete, and the stored first rows go to their columns.
 * Returns the codes of sws_ftrace_feed.
 */
int sws_ftrace_finish(sws_ftrace *self);

/* Returns the number of events so far; the index of an event does not change. */
size_t sws_ftrace_events(const sws_ftrace *self);

/* Returns the number of values in all columns since the last clear, a measure of their memory. */
size_t sws_ftrace_cells(const sws_ftrace *self);

/*
 * Writes the rows of an event since the last clear. Complexity: O(1). Returns SWS_OK, or
 * SWS_ERROR_BAD_ARGUMENT past the last event.
 */
int sws_ftrace_batch(const sws_ftrace *self, size_t event, struct sws_ftrace_batch *out);

/*
 * Writes one field of an event, in the order of their first occurrence. Complexity: O(1). Returns
 * SWS_OK, or SWS_ERROR_BAD_ARGUMENT past the last field.
 */
int sws_ftrace_column(const sws_ftrace *self, size_t event, size_t column,
		      struct sws_ftrace_column *out);

/*
 * Returns the strings of the batch, each followed by '\n' (which none contains): code n is the nth
 * one, from 1; code 0 is null. *length is the number of bytes. The parser owns the memory.
 */
const char *sws_ftrace_strings(const sws_ftrace *self, size_t *length);

/* Drops all rows and strings; events, columns and their types remain. */
void sws_ftrace_clear(sws_ftrace *self);

/* Writes the counts so far; it cannot fail. */
void sws_ftrace_totals(const sws_ftrace *self, struct sws_ftrace_totals *out);

/*
 * Returns the lost events by CPU, *cpus items; the parser owns them, and the next feed invalidates
 * them.
 */
const uint64_t *sws_ftrace_lost(const sws_ftrace *self, size_t *cpus);

/* Writes the faults of one kind. Returns SWS_OK, or SWS_ERROR_BAD_ARGUMENT for an unknown kind. */
int sws_ftrace_report(const sws_ftrace *self, int kind, struct sws_ftrace_report *out);

/*
 * Recomputes every invariant of the columns. Complexity: O(cells). Returns SWS_OK, or
 * SWS_ERROR_BROKEN and the *reason, a constant string.
 */
int sws_ftrace_verify(const sws_ftrace *self, const char **reason);

/* ffi: end */

#endif
