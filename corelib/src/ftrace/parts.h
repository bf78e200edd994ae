/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ftrace/parts.h - what the sources of ftrace share; nobody else includes it.
 *
 *      ftrace.c          chunks to lines, faults, what is counted
 *      ftrace/head.c     a line's start: task, CPU, time, event name
 *      ftrace/scan.c     the rest of a line: keys, values, words
 *      ftrace/event.c    an event: columns, first rows, types, rows
 *      ftrace/layout.c   the shape of the row before, matched at once
 *      ftrace/strings.c  each string of a batch once
 *      ftrace/value.h    a value's text to a number
 */
#ifndef SWAPSIM_FTRACE_PARTS_H
#define SWAPSIM_FTRACE_PARTS_H

#include "swapsim/ftrace.h"

#include <string.h>

#define FTRACE_LAYOUTS 4
#define FTRACE_COMMS   256

/* Bytes of a line, or of a copy that outlives it. */
struct ftrace_span {
	const char *start;
	size_t length;
};

static inline struct ftrace_span ftrace_between(const char *start, const char *end)
{
	return (struct ftrace_span){ start, (size_t)(end - start) };
}

/* Whether two texts of one length agree; most are keys of a few bytes, so no call. */
static inline bool ftrace_same(const char *a, const char *b, size_t length)
{
	uint64_t x = 0;
	uint64_t y = 0;

	while (length > 8) {
		memcpy(&x, a, 8);
		memcpy(&y, b, 8);
		if (x != y)
			return false;
		a += 8;
		b += 8;
		length -= 8;
	}
	if (length == 8) {
		memcpy(&x, a, 8);
		memcpy(&y, b, 8);
		return x == y;
	}
	if (length >= 4) {
		uint32_t head[2];
		uint32_t tail[2];

		memcpy(&head[0], a, 4);
		memcpy(&head[1], b, 4);
		memcpy(&tail[0], a + length - 4, 4);
		memcpy(&tail[1], b + length - 4, 4);
		return head[0] == head[1] && tail[0] == tail[1];
	}
	while (length--)
		if (a[length] != b[length])
			return false;
	return true;
}

/* --- strings --- */

struct ftrace_slot {
	uint32_t hash;
	uint32_t code;
};

struct ftrace_strings {
	const struct sws_allocator *allocator;
	char *bytes;
	size_t length;
	size_t room;
	size_t *ends; /* of code n: ends[n], where its '\n' lies; ends[0] + 1 is 0 */
	size_t ends_room;
	struct ftrace_slot *slots;
	size_t slots_room; /* a power of two, or 0 */
	uint32_t count;
	uint64_t batch; /* counts the clears: a code of an older batch is stale */
};

int sws_ftrace__strings_intern(struct ftrace_strings *self, struct ftrace_span text,
			       uint32_t *code);
bool sws_ftrace__strings_is(const struct ftrace_strings *self, uint32_t code,
			    struct ftrace_span text);
void sws_ftrace__strings_clear(struct ftrace_strings *self);
void sws_ftrace__strings_free(struct ftrace_strings *self);

/* --- head --- */

struct ftrace_head {
	struct ftrace_span comm;
	struct ftrace_span event;
	const char *text; /* behind the event's colon and spaces */
	int64_t t_ns;
	int32_t pid;
	uint16_t cpu;
	int clock;
};

/* Reads a line's head; an enum sws_ftrace_fault. */
int sws_ftrace__head_read(const char *line, const char *end, struct ftrace_head *head);

/* --- scan --- */

/* Where a value ends: for the layout that is learned from it. */
enum ftrace_ends {
	FTRACE_ENDS_AT_SPACE,
	FTRACE_ENDS_AT_LITERAL,
	FTRACE_ENDS_AT_LINE,
};

struct ftrace_field {
	struct ftrace_span key;
	struct ftrace_span value; /* without quotes, trimmed where it runs to the line's end */
	const char *begin;        /* the value as it stands in the line */
	const char *end;
	enum ftrace_ends ends;
	size_t stop_length; /* of the literal that ends it, under FTRACE_ENDS_AT_LITERAL */
	size_t column;      /* where it goes; set when its value is written */
};

struct ftrace_scan {
	struct ftrace_field *fields;
	size_t count;
	size_t room;
	char *words; /* those that are no field, joined by one space */
	size_t words_length;
	size_t words_room;
	bool has_words;
	bool learnable; /* every row of the same shape reads the same way */
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
	struct ftrace_span tail; /* the literal behind the last piece */
	bool rest;               /* key=value words follow */
};

/* --- layout --- */

/* A value's place in a layout. */
struct ftrace_step {
	uint32_t literal; /* offset in bytes */
	uint32_t literal_length;
	uint32_t stop_length; /* how much of the next literal ends a string */
	uint16_t column;
	uint8_t type;
	uint8_t ends;
};

struct ftrace_layout {
	struct ftrace_step *steps;
	size_t count;
	size_t steps_room;
	char *bytes; /* all literals, the tail, the words */
	size_t bytes_room;
	uint32_t tail;
	uint32_t tail_length;
	uint32_t words;
	uint32_t words_length;
	uint64_t words_batch;
	uint32_t words_code;
	bool has_words;
	bool used;
};

/* --- event --- */

struct ftrace_column {
	char *name;
	size_t name_length;
	int type;
	bool known; /* its type was told, not found */
	bool used;  /* some row that counts has it */
	unsigned int evidence;
	void *values;
	uint8_t *valid;
	uint64_t stamp; /* the row that wrote it last */
	uint64_t last_batch;
	uint32_t last_code; /* the string of the row before: strings repeat */
};

struct ftrace_known_field {
	char *name;
	size_t name_length;
	int type;
};

struct ftrace_waiting {
	uint64_t seq;
	uint64_t line;
	size_t start;
	size_t length;
};

struct ftrace_event {
	char *name;
	size_t name_length;
	struct ftrace_known_field *known;
	size_t known_count;
	struct ftrace_known_text *texts;
	size_t texts_count;

	struct ftrace_column *columns;
	size_t columns_count;
	size_t columns_room;
	size_t words_column; /* SIZE_MAX until a row has words */
	size_t rows;
	size_t room;
	uint64_t *seq;
	int64_t *t_ns;
	uint16_t *cpu;
	int32_t *pid;
	uint32_t *comm;
	bool ragged; /* some row of the batch lacks a column: valid is kept */

	bool settled; /* the first rows are through, all types stand */
	struct ftrace_waiting *waiting;
	size_t waiting_count;
	size_t waiting_room;
	char *waiting_bytes;
	size_t waiting_length;
	size_t waiting_bytes_room;

	struct ftrace_layout layouts[FTRACE_LAYOUTS];
	unsigned int layout_hint;
	unsigned int layout_next;
};

/* A task's name of up to 16 bytes: its first eight and its last eight tell all of it. */
struct ftrace_comm {
	uint64_t bytes[2];
	size_t length;
	uint64_t batch;
	uint32_t code;
};

/* The fault of the line at hand. */
struct ftrace_trouble {
	int kind;
	int type;       /* of the column at fault, or -1 */
	char field[64]; /* a copy: a column at fault may go before the fault is filed */
	struct ftrace_span excerpt;
};

struct sws_ftrace {
	struct sws_ftrace_config config;
	struct sws_ftrace_totals totals;
	struct sws_ftrace_report reports[SWS_FTRACE_FAULTS];
	struct ftrace_trouble trouble;
	uint64_t *lost;
	size_t lost_count;
	bool failed;

	char *carry; /* a line whose end was not fed yet */
	size_t carry_length;
	size_t carry_room;
	bool carry_long; /* it passed max_line: only its end matters */

	struct ftrace_event **events;
	size_t events_count;
	size_t events_room;
	size_t events_known; /* those made by the know calls */
	uint32_t *names;     /* hash table: index + 1 of an event */
	size_t names_room;

	struct ftrace_strings strings;
	struct ftrace_comm comms[FTRACE_COMMS];
	struct ftrace_scan scan;
	uint64_t stamp;
	size_t cells;
};

/* Notes why the line at hand cannot be read; returns BAD_LINE. */
int sws_ftrace__trouble(struct sws_ftrace *self, int kind, struct ftrace_span field,
			struct ftrace_span excerpt);

/* Files the noted trouble under a line's number; SWS_OK where config.skip is on. */
int sws_ftrace__file(struct sws_ftrace *self, uint64_t line);

/* Grows a block to hold count items; doubles, so that appending is amortised. */
int sws_ftrace__reserve(const struct sws_allocator *allocator, void *block, size_t *room,
			size_t count, size_t item);

/* Reads the text of a line into self->scan. */
int sws_ftrace__scan(struct sws_ftrace *self, const struct ftrace_event *event, const char *text,
		     const char *end);
void sws_ftrace__scan_free(struct sws_ftrace *self);

/* Finds an event by name, or adds it; *event is NULL where there are too many. */
int sws_ftrace__event_find(struct sws_ftrace *self, struct ftrace_span name, bool known,
			   struct ftrace_event **event);
void sws_ftrace__event_free(struct sws_ftrace *self, struct ftrace_event *event);

/* Takes one event line: to the columns, or to wait with the first rows. */
int sws_ftrace__event_take(struct sws_ftrace *self, struct ftrace_event *event,
			   const struct ftrace_head *head, const char *line, const char *end);

/* Decides the types by the rows that wait, and reads those. */
int sws_ftrace__event_settle(struct sws_ftrace *self, struct ftrace_event *event);

void sws_ftrace__event_clear(struct ftrace_event *event);

/* Interns a String column's value, which is often that of the row before. */
int sws_ftrace__column_code(struct sws_ftrace *self, struct ftrace_column *column,
			    struct ftrace_span text, uint32_t *code);

/* Tries the shapes of the rows before; *matched where one fits and its values are written. */
int sws_ftrace__layout_read(struct sws_ftrace *self, struct ftrace_event *event, const char *text,
			    const char *end, bool *matched);

/* Learns the shape of the row that self->scan holds. */
int sws_ftrace__layout_learn(struct sws_ftrace *self, struct ftrace_event *event, const char *text,
			     const char *end);

#endif
