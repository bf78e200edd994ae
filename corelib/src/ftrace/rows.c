/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ftrace/parts.h"
#include "ftrace/value.h"

/*
 * A row is read by a layout if one matches, else slowly; both leave the columns in this state:
 *
 *      rows     a=1      a=1 b=x   a=(fault)       ragged from row 2 on: b is new, and
 *      a        1        1         0               null in row 1
 *      valid    1        1         0
 *      b        0        code 7    0
 *      valid    0        1         0
 *
 * While no row lacks a column, valid is not written.
 */

/* seq, t_ns, cpu, pid, comm. */
#define HEAD_COLUMNS 5

static struct ftrace_span name_of(const struct ftrace_column *column)
{
	return (struct ftrace_span){ column->name, column->name_length };
}

static size_t width_of(int type)
{
	return type == SWS_FTRACE_STRING ? sizeof(uint32_t) : sizeof(uint64_t);
}

static int write_value(struct sws_ftrace *self, struct ftrace_column *column, size_t row,
		       const struct ftrace_field *field, bool *null)
{
	enum ftrace_verdict verdict = FTRACE_FITS;
	uint64_t *bits = (uint64_t *)column->values + row;

	*null = column->type != SWS_FTRACE_STRING && ftrace_is_null(field->value);
	if (*null) {
		*bits = 0;
		return SWS_OK;
	}
	switch ((enum sws_ftrace_type)column->type) {
	case SWS_FTRACE_INT64:
		verdict = ftrace_signed(field->value, bits);
		break;
	case SWS_FTRACE_UINT64:
		verdict = ftrace_unsigned(field->value, bits);
		break;
	case SWS_FTRACE_HEX:
		verdict = ftrace_bare_hex(field->value, bits);
		break;
	case SWS_FTRACE_STRING:
		return sws_ftrace__column_code(self, column, field->value,
					       (uint32_t *)column->values + row);
	}
	if (verdict == FTRACE_FITS)
		return SWS_OK;
	(void)sws_ftrace__trouble(self,
				  verdict == FTRACE_MISFIT ? SWS_FTRACE_TYPE : SWS_FTRACE_NUMBER,
				  name_of(column), field->value);
	self->trouble.type = column->type;
	return SWS_ERROR_BAD_LINE;
}

static int write_words(struct sws_ftrace *self, struct ftrace_event *event)
{
	struct ftrace_span words = { self->scan.words, self->scan.words_length };
	struct ftrace_column *column = NULL;
	int error = sws_ftrace__column_for_words(self, event);

	if (error)
		return error;
	column = &event->columns[event->words_column];
	column->stamp = self->stamp;
	return sws_ftrace__column_code(self, column, words,
				       (uint32_t *)column->values + event->rows);
}

/* Writes null to each column that the current row lacks. */
static void write_missing(struct ftrace_event *event, uint64_t stamp)
{
	size_t row = event->rows;

	for (size_t i = 0; i < event->columns_count; i++) {
		struct ftrace_column *column = &event->columns[i];

		if (column->stamp == stamp) {
			column->used = true;
			column->valid[row] = 1;
			continue;
		}
		memset((char *)column->values + row * width_of(column->type), 0,
		       width_of(column->type));
		column->valid[row] = 0;
	}
}

/* Writes all fields of self->scan; the caller decides whether the row counts. */
static int write_fields(struct sws_ftrace *self, struct ftrace_event *event, bool *whole)
{
	struct ftrace_scan *scan = &self->scan;
	bool null = false;
	int error = SWS_OK;

	*whole = true;
	for (size_t i = 0; i < scan->count; i++) {
		struct ftrace_field *field = &scan->fields[i];
		struct ftrace_column *column = NULL;

		error = sws_ftrace__column_find(self, event, field, i, &field->column);
		if (error)
			return error;
		column = &event->columns[field->column];
		if (column->stamp == self->stamp)
			return sws_ftrace__trouble(self, SWS_FTRACE_DUPLICATE, name_of(column),
						   field->value);
		column->stamp = self->stamp;
		error = write_value(self, column, event->rows, field, &null);
		if (error)
			return error;
		*whole = *whole && !null;
	}
	return scan->has_words ? write_words(self, event) : SWS_OK;
}

/*
 * Refuses a row that lacks a required column. A layout is learned from a row that passed, so that
 * a row which it matches needs no test.
 */
static int require_columns(struct sws_ftrace *self, const struct ftrace_event *event,
			   const char *text, const char *end)
{
	for (size_t i = 0; i < event->columns_count; i++) {
		const struct ftrace_column *column = &event->columns[i];

		if (column->required && column->stamp != self->stamp)
			return sws_ftrace__trouble(self, SWS_FTRACE_LACKS, name_of(column),
						   ftrace_between(text, end));
	}
	return SWS_OK;
}

/* Writes a null that the row contains as text, "(fault)". */
static void write_spelt_nulls(struct ftrace_event *event, const struct ftrace_scan *scan)
{
	for (size_t i = 0; i < scan->count; i++) {
		struct ftrace_column *column = &event->columns[scan->fields[i].column];

		if (column->type != SWS_FTRACE_STRING && ftrace_is_null(scan->fields[i].value))
			column->valid[event->rows] = 0;
	}
}

/*
 * Reads a row of any shape, finds every fault, and learns the layout for the next row. The stamp
 * counts rows tried, not rows read: columns that a faulty row has stamped before its fault are not
 * taken for columns of the next row.
 */
static int read_slowly(struct sws_ftrace *self, struct ftrace_event *event, const char *text,
		       const char *end)
{
	const struct ftrace_scan *scan = &self->scan;
	size_t columns = event->columns_count;
	bool whole = false;
	int error = sws_ftrace__scan(self, event, text, end);

	self->stamp++;
	if (!error)
		error = write_fields(self, event, &whole);
	if (!error)
		error = require_columns(self, event, text, end);
	/* A faulty line leaves no new column. */
	if (error) {
		sws_ftrace__columns_drop(self, event, columns);
		return error;
	}
	if (!whole || scan->count + scan->has_words < event->columns_count)
		sws_ftrace__columns_become_ragged(event);
	write_missing(event, self->stamp);
	if (!whole)
		write_spelt_nulls(event, scan);
	return scan->learnable ? sws_ftrace__layout_learn(self, event, text, end) : SWS_OK;
}

/*
 * Interns a task's name by a small cache keyed by its bytes. "kworker/0:1" has 11 bytes: its first
 * eight are "kworker/", its last eight "rker/0:1", and with the length no other name has both. A
 * name of up to 7 bytes fits into the first word, followed by zeros.
 */
static int comm_code(struct sws_ftrace *self, struct ftrace_span comm, uint32_t *code)
{
	struct ftrace_comm *cached = NULL;
	uint64_t bytes[2] = { 0, 0 };
	int error = SWS_OK;

	if (comm.length > sizeof(bytes))
		return sws_ftrace__strings_intern(&self->strings, comm, code);
	/* Loading a word that was just stored in parts is slow, so short names only are copied. */
	if (comm.length >= 8) {
		bytes[0] = ftrace_load8(comm.start);
		bytes[1] = ftrace_load8(comm.start + comm.length - 8);
	} else {
		memcpy(bytes, comm.start, comm.length);
	}
	cached = &self->comms[((bytes[0] ^ bytes[1]) * UINT64_C(0x9e3779b97f4a7c15)) >> 56];
	if (cached->batch != self->strings.batch || cached->length != comm.length ||
	    cached->bytes[0] != bytes[0] || cached->bytes[1] != bytes[1]) {
		error = sws_ftrace__strings_intern(&self->strings, comm, &cached->code);
		cached->length = comm.length;
		cached->bytes[0] = bytes[0];
		cached->bytes[1] = bytes[1];
		cached->batch = error ? self->strings.batch - 1 : self->strings.batch;
	}
	*code = cached->code;
	return error;
}

int sws_ftrace__row_read(struct sws_ftrace *self, struct ftrace_event *event,
			 const struct ftrace_head *head, uint64_t seq, const char *end)
{
	size_t row = event->rows;
	bool matched = false;
	int error = SWS_OK;

	if (row == event->room)
		error = sws_ftrace__columns_grow(self, event);
	if (!error)
		error = comm_code(self, head->comm, &event->comm[row]);
	if (!error)
		error = sws_ftrace__layout_read(self, event, head->text, end, &matched);
	if (!error && !matched)
		error = read_slowly(self, event, head->text, end);
	if (error)
		return error;
	event->seq[row] = seq;
	event->t_ns[row] = head->t_ns;
	event->cpu[row] = head->cpu;
	event->pid[row] = head->pid;
	event->rows++;
	self->cells += event->columns_count + HEAD_COLUMNS;
	return SWS_OK;
}
