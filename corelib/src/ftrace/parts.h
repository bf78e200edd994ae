/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ftrace/parts.h - the parser's state, and what its sources call of each other;
 * nobody else includes it. From the bottom up, each calls those above it alone:
 *
 *      span.h, value.h   text, and a value's text to a number
 *      strings           each string of a batch once
 *      head              a line's start: task, CPU, time, event name
 *      faults            why a line cannot be read
 *      bytes, remarks    is it text? is it one of the lines that are no event?
 *      columns           an event's columns: found, made, grown
 *      scan              the rest of a line: keys, values, words
 *      layout            the shape of the row before, matched at once
 *      rows              one row into the columns, by layout or by scan
 *      event             first rows and types; an event's end
 *      events            all events by name, handed out
 *      known_text        texts told beforehand
 *      ftrace            chunks to lines; a parser's life
 */
#ifndef SWAPSIM_FTRACE_PARTS_H
#define SWAPSIM_FTRACE_PARTS_H

#include "swapsim/ftrace.h"

#include "ftrace/head.h"
#include "ftrace/span.h"
#include "ftrace/strings.h"

/* --- a line's fields, and the texts told beforehand --- */

/* Where a value ends: for the layout that is learned from it. */
enum ftrace_ends {
	FTRACE_ENDS_AT_SPACE,
	FTRACE_ENDS_AT_LITERAL,
	FTRACE_ENDS_AT_LINE,
};

struct ftrace_field {
	struct ftrace_span key;
	/* Without quotes, trimmed where it runs to the line's end. */
	struct ftrace_span value;
	/* The value as it stands in the line. */
	const char *begin;
	const char *end;
	enum ftrace_ends ends;
	/* Of the literal that ends it, under FTRACE_ENDS_AT_LITERAL. */
	size_t stop_length;
	/* Where it goes; set when its value is written. */
	size_t column;
};

/* The line at hand, as scan left it. */
struct ftrace_scan {
	struct ftrace_field *fields;
	size_t count;
	size_t room;
	/* Those that are no field, joined by one space. */
	char *words;
	size_t words_length;
	size_t words_room;
	bool has_words;
	/* Every row of the same shape reads the same way. */
	bool learnable;
};

/* One {field} of a known text, with the literal before it. */
struct ftrace_piece {
	struct ftrace_span literal;
	struct ftrace_span name;
	enum ftrace_ends ends;
};

struct ftrace_known_text {
	char *bytes;
	struct ftrace_piece *pieces;
	size_t count;
	/* The literal behind the last piece. */
	struct ftrace_span tail;
	/* key=value words follow. */
	bool rest;
};

/* --- layouts --- */

#define FTRACE_LAYOUTS 4

/* A value's place in a layout. */
struct ftrace_step {
	/* Where the literal before it lies in the layout's bytes. */
	uint32_t literal;
	uint32_t literal_length;
	/* How much of the next literal ends a string. */
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
	/* The words' code, of this batch of strings. */
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
	/* Its type was told, not found. */
	bool known;
	/* Some row that counts has it. */
	bool used;
	/* What the first rows say about its type: bits of enum ftrace_evidence. */
	unsigned int evidence;
	/* int64_t, uint64_t or uint32_t codes, as the type says. */
	void *values;
	/* A byte a row: 1 valid, 0 null; kept only while the event is ragged. */
	uint8_t *valid;
	/* The row that wrote it last. */
	uint64_t stamp;
	/* The string of the row before, of this batch: strings repeat. */
	uint64_t last_batch;
	uint32_t last_code;
};

struct ftrace_known_field {
	char *name;
	size_t name_length;
	int type;
};

/* A row that waits as text. */
struct ftrace_waiting {
	uint64_t seq;
	uint64_t line;
	size_t start;
	size_t length;
};

struct ftrace_event {
	char *name;
	size_t name_length;

	/* What was told beforehand. */
	struct ftrace_known_field *known;
	size_t known_count;
	struct ftrace_known_text *texts;
	size_t texts_count;

	/* The columns, and those of the head that each event has. */
	struct ftrace_column *columns;
	size_t columns_count;
	size_t columns_room;
	/* SIZE_MAX until a row has words. */
	size_t words_column;
	size_t rows;
	size_t room;
	uint64_t *seq;
	int64_t *t_ns;
	uint16_t *cpu;
	int32_t *pid;
	uint32_t *comm;
	/* Some row of the batch lacks a column: valid is kept. */
	bool ragged;

	/* The first rows, until they have settled all types. */
	bool settled;
	struct ftrace_waiting *waiting;
	size_t waiting_count;
	size_t waiting_room;
	char *waiting_bytes;
	size_t waiting_length;
	size_t waiting_bytes_room;

	/* The one that matched last is tried first; the next one learned replaces the oldest. */
	struct ftrace_layout layouts[FTRACE_LAYOUTS];
	unsigned int layout_hint;
	unsigned int layout_next;
};

/* --- the parser --- */

#define FTRACE_COMMS 256

/* A task's name of up to 16 bytes: its first eight and its last eight tell all of it. */
struct ftrace_comm {
	uint64_t bytes[2];
	size_t length;
	uint64_t batch;
	uint32_t code;
};

/* The fault of the line at hand. */
struct ftrace_trouble {
	/* enum sws_ftrace_fault */
	int kind;
	/* Of the column at fault, or -1. */
	int type;
	/* A copy: a column at fault may go before the fault is filed. */
	char field[64];
	struct ftrace_span excerpt;
};

struct sws_ftrace {
	struct sws_ftrace_config config;
	struct sws_ftrace_totals totals;
	struct sws_ftrace_report reports[SWS_FTRACE_FAULTS];
	struct ftrace_trouble trouble;
	/* Lost events by CPU. */
	uint64_t *lost;
	size_t lost_count;
	/* A feed has failed: the parser can only be asked and freed. */
	bool failed;

	/* A line whose end was not fed yet. */
	char *carry;
	size_t carry_length;
	size_t carry_room;

	struct ftrace_event **events;
	size_t events_count;
	size_t events_room;
	/* Those made by the know calls, which config.max_events does not count. */
	size_t events_known;
	/* A hash table of events: index + 1, or 0. */
	uint32_t *names;
	size_t names_room;

	struct ftrace_strings strings;
	/* A cache of the tasks' codes, at a hash of the name. */
	struct ftrace_comm comms[FTRACE_COMMS];
	struct ftrace_scan scan;
	/* Counts the rows tried: tells which columns a row wrote. */
	uint64_t stamp;
	size_t cells;
};

/* --- faults.c --- */

/* Notes why the line at hand cannot be read; returns BAD_LINE. */
int sws_ftrace__trouble(struct sws_ftrace *self, int kind, struct ftrace_span field,
			struct ftrace_span excerpt);

/* Files the noted trouble under a line's number; SWS_OK where config.skip is on. */
int sws_ftrace__file(struct sws_ftrace *self, uint64_t line);

/* --- bytes.c --- */

/* Whether text needs a closer look: control bytes, or bytes beyond ASCII. */
bool sws_ftrace__is_odd(const char *bytes, size_t length);

/* The closer look at one line: BAD_LINE for bytes that no text has, or no UTF-8. */
int sws_ftrace__check_bytes(struct sws_ftrace *self, struct ftrace_span line);

/* --- remarks.c --- */

/* Reads a line that is no event: comments, losses, the preamble of trace-cmd report. */
int sws_ftrace__remark_read(struct sws_ftrace *self, const char *line, const char *end,
			    bool *is_remark);

/* --- columns.c --- */

/* The type that was told for a field, -1 where none was. */
int sws_ftrace__known_type(const struct ftrace_event *event, struct ftrace_span field);

/* Finds a field's column, or makes it; `guess` is where the row's order suggests it. */
int sws_ftrace__column_find(struct sws_ftrace *self, struct ftrace_event *event,
			    const struct ftrace_field *field, size_t guess, size_t *index);

/* Makes the column for words that are no field, if there is none. */
int sws_ftrace__column_for_words(struct sws_ftrace *self, struct ftrace_event *event);

/* Interns a String column's value, which is often that of the row before. */
int sws_ftrace__column_code(struct sws_ftrace *self, struct ftrace_column *column,
			    struct ftrace_span text, uint32_t *code);

/* Doubles the rows that all columns have room for. */
int sws_ftrace__columns_grow(struct sws_ftrace *self, struct ftrace_event *event);

/* Frees the columns beyond the first count. */
void sws_ftrace__columns_drop(struct sws_ftrace *self, struct ftrace_event *event, size_t count);

/* Starts to keep a byte per row that tells values from nulls. */
void sws_ftrace__columns_become_ragged(struct ftrace_event *event);

/* --- scan.c --- */

/* Reads the text of a line into self->scan. */
int sws_ftrace__scan(struct sws_ftrace *self, const struct ftrace_event *event, const char *text,
		     const char *end);

void sws_ftrace__scan_free(struct sws_ftrace *self);

/* --- layout.c --- */

/* Tries the shapes of the rows before; *matched where one fits and its values are written. */
int sws_ftrace__layout_read(struct sws_ftrace *self, struct ftrace_event *event, const char *text,
			    const char *end, bool *matched);

/* Learns the shape of the row that self->scan holds. */
int sws_ftrace__layout_learn(struct sws_ftrace *self, struct ftrace_event *event, const char *text,
			     const char *end);

/* --- rows.c --- */

/* Reads one row into the columns; a row at fault leaves nothing behind. */
int sws_ftrace__row_read(struct sws_ftrace *self, struct ftrace_event *event,
			 const struct ftrace_head *head, uint64_t seq, const char *end);

/* --- event.c --- */

/* Takes one event line: to the columns, or to wait with the first rows. */
int sws_ftrace__event_take(struct sws_ftrace *self, struct ftrace_event *event,
			   const struct ftrace_head *head, const char *line, const char *end);

/* Decides the types by the rows that wait, and reads those. */
int sws_ftrace__event_settle(struct sws_ftrace *self, struct ftrace_event *event);

/* Drops the rows; columns and layouts stay. */
void sws_ftrace__event_clear(struct ftrace_event *event);

void sws_ftrace__event_free(struct sws_ftrace *self, struct ftrace_event *event);

/* --- events.c --- */

/* Finds an event by name, or adds it; *event is NULL where there are too many. */
int sws_ftrace__event_find(struct sws_ftrace *self, struct ftrace_span name, bool known,
			   struct ftrace_event **event);

#endif
