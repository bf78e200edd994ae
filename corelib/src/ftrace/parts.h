/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ftrace/parts.h - the parser's state, and the functions that its sources share; only these include
 * it. From the bottom up, each calls only those above it:
 *
 *      span.h, value.h   text, and conversion of a value's text to a number
 *      strings           each string of a batch once
 *      head              the beginning of a line: task, CPU, time, event name
 *      faults            the reason why a line cannot be read
 *      bytes, remarks    tests for text, and for lines that are not events
 *      columns           an event's columns: look-up, creation, growth
 *      scan              the rest of a line: keys, values, words
 *      layout            the shape of the row before, matched at once
 *      rows              one row into the columns, by layout or by scan
 *      event             first rows and types; the end of an event
 *      events            all events by name, and their results
 *      known_text        formats declared in advance
 *      ftrace            chunks to lines; creation and end of a parser
 */
#ifndef SWAPSIM_FTRACE_PARTS_H
#define SWAPSIM_FTRACE_PARTS_H

#include "swapsim/ftrace.h"

#include "ftrace/head.h"
#include "ftrace/span.h"
#include "ftrace/strings.h"

/* --- a line's fields, and formats declared in advance --- */

/* The way in which a value ends, for the layout that is learned from it. */
enum ftrace_ends {
	FTRACE_ENDS_AT_SPACE,
	FTRACE_ENDS_AT_LITERAL,
	FTRACE_ENDS_AT_LINE,
};

struct ftrace_field {
	struct ftrace_span key;
	/* The value without quotes; trimmed if it extends to the line's end. */
	struct ftrace_span value;
	/* The value in the line. */
	const char *begin;
	const char *end;
	enum ftrace_ends ends;
	/* With FTRACE_ENDS_AT_LITERAL: the length of the literal that ends it. */
	size_t stop_length;
	/* Its column; set when its value is written. */
	size_t column;
};

/* The current line, as read by scan. */
struct ftrace_scan {
	struct ftrace_field *fields;
	size_t count;
	size_t room;
	/* The words that are not fields, joined by single spaces. */
	char *words;
	size_t words_length;
	size_t words_room;
	bool has_words;
	/* True if every row of the same shape is read in the same way. */
	bool learnable;
};

/* One {field} of a declared format, with the literal before it. */
struct ftrace_piece {
	struct ftrace_span literal;
	struct ftrace_span name;
	enum ftrace_ends ends;
};

struct ftrace_known_text {
	char *bytes;
	struct ftrace_piece *pieces;
	size_t count;
	/* The literal after the last piece. */
	struct ftrace_span tail;
	/* True if key=value words follow. */
	bool rest;
};

/* --- layouts --- */

#define FTRACE_LAYOUTS 4

/* The place of a value in a layout. */
struct ftrace_step {
	/* The position of the literal before it in the layout's bytes. */
	uint32_t literal;
	uint32_t literal_length;
	/* The length of the part of the next literal that ends a string. */
	uint32_t stop_length;
	uint16_t column;
	/* enum sws_ftrace_type */
	uint8_t type;
	/* enum ftrace_ends */
	uint8_t ends;
};

struct ftrace_layout {
	struct ftrace_step *steps;
	size_t count;
	size_t steps_room;
	/* All literals, the tail, the words. */
	char *bytes;
	size_t bytes_room;
	uint32_t tail;
	uint32_t tail_length;
	uint32_t words;
	uint32_t words_length;
	/* The code of the words in this batch of strings. */
	uint64_t words_batch;
	uint32_t words_code;
	bool has_words;
	bool used;
};

/* --- events --- */

struct ftrace_column {
	char *name;
	size_t name_length;
	/* enum sws_ftrace_type */
	int type;
	/* True if its type was declared, false if it was determined. */
	bool known;
	/* True if it was declared and a first row has it: a row without it is a fault. */
	bool required;
	/* True if a row that counts has it. */
	bool used;
	/* The evidence of the first rows for its type: bits of enum ftrace_evidence. */
	unsigned int evidence;
	/* int64_t, uint64_t or uint32_t codes, depending on the type. */
	void *values;
	/* A byte per row: 1 valid, 0 null; used only while the event is ragged. */
	uint8_t *valid;
	/* The row that wrote it last. */
	uint64_t stamp;
	/* The string of the row before, in this batch, because strings repeat. */
	uint64_t last_batch;
	uint32_t last_code;
};

struct ftrace_known_field {
	char *name;
	size_t name_length;
	int type;
};

/* A row that is stored as text. */
struct ftrace_waiting {
	uint64_t seq;
	uint64_t line;
	size_t start;
	size_t length;
};

struct ftrace_event {
	char *name;
	size_t name_length;

	/* The declarations. */
	struct ftrace_known_field *known;
	size_t known_count;
	struct ftrace_known_text *texts;
	size_t texts_count;

	/* The columns, and those of the head, which each event has. */
	struct ftrace_column *columns;
	size_t columns_count;
	size_t columns_room;
	/* The column of words; SIZE_MAX until a row has words. */
	size_t words_column;
	size_t rows;
	size_t room;
	uint64_t *seq;
	int64_t *t_ns;
	uint16_t *cpu;
	int32_t *pid;
	uint32_t *comm;
	/* True if a row of the batch lacks a column, so that valid is needed. */
	bool ragged;
	/* The event that came after it last, or NULL: events come in turn. */
	struct ftrace_event *follower;

	/* The first rows, until they have determined all types. */
	bool settled;
	struct ftrace_waiting *waiting;
	size_t waiting_count;
	size_t waiting_room;
	char *waiting_bytes;
	size_t waiting_length;
	size_t waiting_bytes_room;

	/* The layout that matched last is tried first; a new one replaces the oldest. */
	struct ftrace_layout layouts[FTRACE_LAYOUTS];
	unsigned int layout_hint;
	unsigned int layout_next;
};

/* --- the parser --- */

#define FTRACE_COMMS 256

/* A task's name of up to 16 bytes: its first eight and its last eight bytes contain all of it. */
struct ftrace_comm {
	uint64_t bytes[2];
	size_t length;
	uint64_t batch;
	uint32_t code;
};

/* The fault of the current line. */
struct ftrace_trouble {
	/* enum sws_ftrace_fault */
	int kind;
	/* The type of the column at fault, or -1. */
	int type;
	/* A copy, because the column may be dropped before the fault is filed. */
	char field[64];
	struct ftrace_span excerpt;
};

struct sws_ftrace {
	struct sws_ftrace_config config;
	struct sws_ftrace_totals totals;
	/* The time of the last row. */
	uint64_t last;
	struct sws_ftrace_report reports[SWS_FTRACE_FAULTS];
	struct ftrace_trouble trouble;
	/* Lost events by CPU. */
	uint64_t *lost;
	size_t lost_count;
	/* True after a failed feed; only results may be read. */
	bool failed;

	/* A line whose end has not been fed yet. */
	char *carry;
	size_t carry_length;
	size_t carry_room;

	struct ftrace_event **events;
	size_t events_count;
	size_t events_room;
	/* The number of declared events, which config.max_events does not include. */
	size_t events_known;
	/* A hash table of events: index + 1, or 0. */
	uint32_t *names;
	size_t names_room;
	/* The event of the line before, or NULL. */
	struct ftrace_event *latest;
	struct ftrace_hint hint;

	struct ftrace_strings strings;
	/* A cache of the codes of tasks' names, at a hash of the name. */
	struct ftrace_comm comms[FTRACE_COMMS];
	struct ftrace_scan scan;
	/* The number of rows tried; identifies the columns that a row has written. */
	uint64_t stamp;
	size_t cells;
};

/* --- faults.c --- */

/* Records why the current line cannot be read; returns BAD_LINE. */
int sws_ftrace__trouble(struct sws_ftrace *self, int kind, struct ftrace_span field,
			struct ftrace_span excerpt);

/* Files the recorded fault under a line's number; returns SWS_OK if config.skip is on. */
int sws_ftrace__file(struct sws_ftrace *self, uint64_t line);

/* --- bytes.c --- */

/* Returns true if text needs a closer test: control bytes, or bytes beyond ASCII. */
bool sws_ftrace__is_odd(const char *bytes, size_t length);

/* Tests one line closely: BAD_LINE for bytes that are not text, or not UTF-8. */
int sws_ftrace__check_bytes(struct sws_ftrace *self, struct ftrace_span line);

/* --- remarks.c --- */

/* Reads a line that is not an event: comments, losses, the preamble of trace-cmd report. */
int sws_ftrace__remark_read(struct sws_ftrace *self, const char *line, const char *end,
			    bool *is_remark);

/* --- columns.c --- */

/* Returns the declared type of a field, -1 if there is none. */
int sws_ftrace__known_type(const struct ftrace_event *event, struct ftrace_span field);

/* Finds or creates a field's column; `guess` is its likely position from the row's order. */
int sws_ftrace__column_find(struct sws_ftrace *self, struct ftrace_event *event,
			    const struct ftrace_field *field, size_t guess, size_t *index);

/* Creates the column for words that are not fields if it does not exist. */
int sws_ftrace__column_for_words(struct sws_ftrace *self, struct ftrace_event *event);

/* Interns the value of a String column, which is often that of the row before. */
int sws_ftrace__column_code(struct sws_ftrace *self, struct ftrace_column *column,
			    struct ftrace_span text, uint32_t *code);

/* Doubles the capacity of all columns. */
int sws_ftrace__columns_grow(struct sws_ftrace *self, struct ftrace_event *event);

/* Drops the columns after the first `count`. */
void sws_ftrace__columns_drop(struct sws_ftrace *self, struct ftrace_event *event, size_t count);

/* Allocates valid, a byte per row that distinguishes values from nulls. */
void sws_ftrace__columns_become_ragged(struct ftrace_event *event);

/* --- scan.c --- */

/* Reads the text of a line into self->scan. */
int sws_ftrace__scan(struct sws_ftrace *self, const struct ftrace_event *event, const char *text,
		     const char *end);

void sws_ftrace__scan_free(struct sws_ftrace *self);

/* --- layout.c --- */

/* Tries the layouts of earlier rows; *matched is true if one fits and its values are written. */
int sws_ftrace__layout_read(struct sws_ftrace *self, struct ftrace_event *event, const char *text,
			    const char *end, bool *matched);

/* Learns the layout of the row in self->scan. */
int sws_ftrace__layout_learn(struct sws_ftrace *self, struct ftrace_event *event, const char *text,
			     const char *end);

/* --- rows.c --- */

/* Reads one row into the columns; a faulty row has no effect. */
int sws_ftrace__row_read(struct sws_ftrace *self, struct ftrace_event *event,
			 const struct ftrace_head *head, uint64_t seq, const char *end);

/* --- event.c --- */

/* Handles one event line: writes it to the columns, or stores it with the first rows. */
int sws_ftrace__event_take(struct sws_ftrace *self, struct ftrace_event *event,
			   const struct ftrace_head *head, const char *line, const char *end);

/* Determines the types from the stored rows, and reads these. */
int sws_ftrace__event_settle(struct sws_ftrace *self, struct ftrace_event *event);

/* Drops the rows; columns and layouts remain. */
void sws_ftrace__event_clear(struct ftrace_event *event);

void sws_ftrace__event_free(struct sws_ftrace *self, struct ftrace_event *event);

/* --- events.c --- */

/* Finds an event by name, or adds it; *event is NULL if there are too many. */
int sws_ftrace__event_find(struct sws_ftrace *self, struct ftrace_span name, bool known,
			   struct ftrace_event **event);

/* Finds the event of the next line, which often follows that of the line before. */
int sws_ftrace__event_next(struct sws_ftrace *self, struct ftrace_span name,
			   struct ftrace_event **event);

#endif
