/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ftrace/parts.h"
#include "ftrace/value.h"

/*
 * An event's rows nearly always have one shape: the same text around values that change. A layout
 * is that text, learned from a row that ftrace/scan.c has read, so the next row needs a comparison
 * and a number per field:
 *
 *      (f+0x0/0x2) folio=0x1f entry=-2
 *      literal           value literal value, then the tail ""
 *
 * Words that are not fields are part of the literals, so a match implies them. A row with any
 * difference is read the slow way, which decides and reports.
 *
 *      step     literal                   at   length  value
 *      0        "(f+0x0/0x2) folio="       0     18    0x1f, UINT64
 *      1        " entry="                 22      7    -2, INT64
 *      tail     ""                        31      0
 *      words    "(f+0x0/0x2)"             31     11    after the row's 31 bytes
 *
 *      the next row                            by this layout
 *      (f+0x0/0x2) folio=0x2000 entry=7        matches: a value may be longer or shorter
 *      (f+0x0/0x2) folio=0x20 entry=7 x=1      read to 7; then " x=1" is not the tail
 *      (f+0x0/0x2) folio=(null) entry=7        no pointer starts with a bracket
 *      (g+0x0/0x2) folio=0x20 entry=7          the first literal differs
 *
 * Values that a row has written before a difference is found do no harm: they are at event->rows,
 * which does not count yet, and the slow way overwrites them.
 */

/*
 * Returns the end of a step's value in a String column; NULL if the row has to be read the slow
 * way.
 */
static const char *string_end(const struct ftrace_layout *layout, size_t step, const char *at,
			      const char *end)
{
	bool last = step + 1 == layout->count;
	const char *literal =
		layout->bytes + (last ? layout->tail : layout->steps[step + 1].literal);
	size_t length = layout->steps[step].stop_length;
	const char *stop = NULL;

	switch ((enum ftrace_ends)layout->steps[step].ends) {
	case FTRACE_ENDS_AT_SPACE:
		/* A quoted value may contain spaces. */
		if (at < end && *at == '"')
			return NULL;
		for (stop = at; stop < end && *stop != ' '; stop++)
			;
		return stop;
	case FTRACE_ENDS_AT_LITERAL:
		for (stop = at; (size_t)(end - stop) >= length; stop++)
			if (ftrace_same(stop, literal, length))
				return stop;
		return NULL;
	case FTRACE_ENDS_AT_LINE:
		break;
	}
	return end;
}

static int read_string(struct sws_ftrace *self, struct ftrace_column *column, size_t row,
		       enum ftrace_ends ends, const char *at, const char *stop)
{
	struct ftrace_span text = ftrace_between(at, stop);

	while (ends == FTRACE_ENDS_AT_LINE && text.length && text.start[0] == ' ') {
		text.start++;
		text.length--;
	}
	while (ends == FTRACE_ENDS_AT_LINE && text.length && text.start[text.length - 1] == ' ')
		text.length--;
	return sws_ftrace__column_code(self, column, text, (uint32_t *)column->values + row);
}

/* Reads the row by one layout; *matched is false if it has another shape. */
static int read_by(struct sws_ftrace *self, struct ftrace_event *event,
		   const struct ftrace_layout *layout, const char *at, const char *end,
		   bool *matched)
{
	const char *bytes = layout->bytes;
	size_t row = event->rows;
	int error = SWS_OK;

	*matched = false;
	for (size_t i = 0; i < layout->count; i++) {
		const struct ftrace_step *step = &layout->steps[i];
		struct ftrace_column *column = &event->columns[step->column];
		const char *start = at + step->literal_length;

		if ((size_t)(end - at) < step->literal_length ||
		    !ftrace_same(at, bytes + step->literal, step->literal_length))
			return SWS_OK;
		switch ((enum sws_ftrace_type)step->type) {
		case SWS_FTRACE_INT64:
			at = ftrace_decimal_prefix(start, end, (int64_t *)column->values + row);
			break;
		case SWS_FTRACE_UINT64:
			at = ftrace_pointer_prefix(start, end, (uint64_t *)column->values + row);
			break;
		case SWS_FTRACE_HEX:
			at = ftrace_hex_prefix(start, end, (uint64_t *)column->values + row);
			break;
		case SWS_FTRACE_STRING:
			at = string_end(layout, i, start, end);
			if (at)
				error = read_string(self, column, row, (enum ftrace_ends)step->ends,
						    start, at);
			break;
		}
		if (!at || error)
			return error;
	}
	*matched = (size_t)(end - at) == layout->tail_length &&
		   ftrace_same(at, bytes + layout->tail, layout->tail_length);
	return SWS_OK;
}

/* Writes the words of a layout, one text that is interned once per batch. */
static int write_words(struct sws_ftrace *self, struct ftrace_event *event,
		       struct ftrace_layout *layout)
{
	struct ftrace_column *column = &event->columns[event->words_column];
	struct ftrace_span words = { layout->bytes + layout->words, layout->words_length };
	int error = SWS_OK;

	if (layout->words_batch != self->strings.batch) {
		error = sws_ftrace__strings_intern(&self->strings, words, &layout->words_code);
		layout->words_batch = self->strings.batch;
	}
	((uint32_t *)column->values)[event->rows] = layout->words_code;
	return error;
}

/* Writes nulls to the columns that the layout lacks. */
static void write_gaps(struct ftrace_event *event, const struct ftrace_layout *layout,
		       uint64_t stamp)
{
	size_t row = event->rows;

	for (size_t i = 0; i < layout->count; i++)
		event->columns[layout->steps[i].column].stamp = stamp;
	if (layout->has_words)
		event->columns[event->words_column].stamp = stamp;
	for (size_t i = 0; i < event->columns_count; i++) {
		struct ftrace_column *column = &event->columns[i];

		column->valid[row] = column->stamp == stamp;
		if (column->valid[row])
			continue;
		if (column->type == SWS_FTRACE_STRING)
			((uint32_t *)column->values)[row] = 0;
		else
			((uint64_t *)column->values)[row] = 0;
	}
}

int sws_ftrace__layout_read(struct sws_ftrace *self, struct ftrace_event *event, const char *text,
			    const char *end, bool *matched)
{
	int error = SWS_OK;

	*matched = false;
	for (unsigned int i = 0; i < FTRACE_LAYOUTS && !*matched; i++) {
		unsigned int which = (event->layout_hint + i) % FTRACE_LAYOUTS;
		struct ftrace_layout *layout = &event->layouts[which];
		bool whole = layout->count + layout->has_words == event->columns_count;

		/* A row with nulls needs valid, which the slow way allocates. */
		if (!layout->used || (!whole && !event->ragged))
			continue;
		error = read_by(self, event, layout, text, end, matched);
		if (!error && *matched && layout->has_words)
			error = write_words(self, event, layout);
		if (error)
			return error;
		if (*matched && event->ragged)
			write_gaps(event, layout, ++self->stamp);
		if (*matched)
			event->layout_hint = which;
	}
	return SWS_OK;
}

static int reserve(struct sws_ftrace *self, struct ftrace_layout *layout, size_t bytes)
{
	const struct sws_allocator *allocator = &self->config.allocator;
	int error = sws_reserve(allocator, &layout->steps, &layout->steps_room,
				self->scan.count + 1, sizeof(*layout->steps));

	if (!error)
		error = sws_reserve(allocator, &layout->bytes, &layout->bytes_room, bytes, 1);
	return error;
}

int sws_ftrace__layout_learn(struct sws_ftrace *self, struct ftrace_event *event, const char *text,
			     const char *end)
{
	struct ftrace_layout *layout = &event->layouts[event->layout_next];
	const struct ftrace_scan *scan = &self->scan;
	size_t length = (size_t)(end - text);
	const char *at = text;
	int error = reserve(self, layout, length + scan->words_length + 1);

	if (error)
		return error;
	memcpy(layout->bytes, text, length);
	layout->count = scan->count;
	for (size_t i = 0; i < scan->count; i++) {
		const struct ftrace_field *field = &scan->fields[i];
		size_t column = field->column;

		layout->steps[i] = (struct ftrace_step){
			.literal = (uint32_t)(at - text),
			.literal_length = (uint32_t)(field->begin - at),
			.column = (uint16_t)column,
			.stop_length = (uint32_t)field->stop_length,
			.type = (uint8_t)event->columns[column].type,
			.ends = (uint8_t)field->ends,
		};
		at = field->end;
	}
	layout->tail = (uint32_t)(at - text);
	layout->tail_length = (uint32_t)(end - at);
	layout->words = (uint32_t)length;
	layout->words_length = (uint32_t)scan->words_length;
	layout->words_batch = self->strings.batch - 1;
	layout->has_words = scan->has_words;
	if (scan->has_words)
		memcpy(layout->bytes + length, scan->words, scan->words_length);
	layout->used = true;
	event->layout_hint = event->layout_next;
	event->layout_next = (event->layout_next + 1) % FTRACE_LAYOUTS;
	return SWS_OK;
}
