/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ftrace/parts.h"
#include "ftrace/value.h"

/*
 * The states of an event:
 *
 *      row 1 .. first_rows     stored as text, so that all of them determine the types
 *      settle                  types fixed, columns filled from the stored rows
 *      every later row         written to its columns; a row that does not fit is a fault
 *
 * Types by the first row only would be wrong: of rows a=0 and a=0x1f the first indicates INT64, and
 * all later ones would be faults; both together indicate UINT64.
 *
 * The stored rows include their line numbers, because a fault is found long after: with first_rows
 * 1024 that of row 3 when row 1024 is read.
 */

static int wait(struct sws_ftrace *self, struct ftrace_event *event, const char *line,
		const char *end)
{
	const struct sws_allocator *allocator = &self->config.allocator;
	size_t length = (size_t)(end - line);
	int error = SWS_OK;

	error = sws_reserve(allocator, &event->waiting, &event->waiting_room,
			    event->waiting_count + 1, sizeof(*event->waiting));
	if (!error)
		error = sws_reserve(allocator, &event->waiting_bytes, &event->waiting_bytes_room,
				    event->waiting_length + length, 1);
	if (error)
		return error;
	memcpy(event->waiting_bytes + event->waiting_length, line, length);
	event->waiting[event->waiting_count++] = (struct ftrace_waiting){
		.seq = self->totals.rows,
		.line = self->totals.lines,
		.start = event->waiting_length,
		.length = length,
	};
	event->waiting_length += length;
	return SWS_OK;
}

/* Reads the head of a stored row, which was readable when the row was stored. */
static const char *waiting_row(struct sws_ftrace *self, const struct ftrace_event *event, size_t i,
			       struct ftrace_head *head)
{
	const char *line = event->waiting_bytes + event->waiting[i].start;
	const char *end = line + event->waiting[i].length;

	(void)sws_ftrace__head_read(&self->hint, line, end, head);
	return end;
}

/* Collects the evidence of one stored row for its columns' types. */
static int weigh_row(struct sws_ftrace *self, struct ftrace_event *event, size_t i)
{
	struct ftrace_scan *scan = &self->scan;
	struct ftrace_head head = { .pid = 0 };
	const char *end = waiting_row(self, event, i, &head);
	size_t index = 0;
	int error = sws_ftrace__scan(self, event, head.text, end);

	self->stamp++;
	for (size_t field = 0; field < scan->count && !error; field++) {
		error = sws_ftrace__column_find(self, event, &scan->fields[field], field, &index);
		if (!error)
			event->columns[index].evidence |= ftrace_weigh(scan->fields[field].value);
	}
	/* The row is read again later, and a fault reported then. */
	return error == SWS_ERROR_BAD_LINE ? SWS_OK : error;
}

static void judge_columns(struct ftrace_event *event)
{
	for (size_t i = 0; i < event->columns_count; i++) {
		struct ftrace_column *column = &event->columns[i];

		column->required = column->known;
		if (!column->known)
			column->type = ftrace_judge(column->evidence);
	}
}

int sws_ftrace__event_settle(struct sws_ftrace *self, struct ftrace_event *event)
{
	const struct sws_allocator *allocator = &self->config.allocator;
	struct ftrace_head head = { .pid = 0 };
	int error = SWS_OK;

	if (event->settled)
		return SWS_OK;
	event->settled = true;
	for (size_t i = 0; i < event->waiting_count && !error; i++)
		error = weigh_row(self, event, i);
	if (!error)
		judge_columns(event);
	for (size_t i = 0; i < event->waiting_count && !error; i++) {
		const char *end = waiting_row(self, event, i, &head);

		error = sws_ftrace__row_read(self, event, &head, event->waiting[i].seq, end);
		if (error == SWS_ERROR_BAD_LINE)
			error = sws_ftrace__file(self, event->waiting[i].line);
	}
	sws_release(allocator, event->waiting);
	sws_release(allocator, event->waiting_bytes);
	event->waiting = NULL;
	event->waiting_bytes = NULL;
	event->waiting_count = 0;
	event->waiting_room = 0;
	event->waiting_length = 0;
	event->waiting_bytes_room = 0;
	return error;
}

int sws_ftrace__event_take(struct sws_ftrace *self, struct ftrace_event *event,
			   const struct ftrace_head *head, const char *line, const char *end)
{
	int error = SWS_OK;

	if (event->settled)
		return sws_ftrace__row_read(self, event, head, self->totals.rows, end);
	error = wait(self, event, line, end);
	if (!error && (event->waiting_count >= self->config.first_rows ||
		       event->waiting_length >= self->config.first_bytes))
		error = sws_ftrace__event_settle(self, event);
	return error;
}

/* --- creation and end of an event --- */

void sws_ftrace__event_clear(struct ftrace_event *event)
{
	event->rows = 0;
	event->ragged = false;
}

void sws_ftrace__event_free(struct sws_ftrace *self, struct ftrace_event *event)
{
	const struct sws_allocator *allocator = &self->config.allocator;

	sws_ftrace__columns_drop(self, event, 0);
	for (size_t i = 0; i < event->texts_count; i++) {
		sws_release(allocator, event->texts[i].bytes);
		sws_release(allocator, event->texts[i].pieces);
	}
	for (size_t i = 0; i < event->known_count; i++)
		sws_release(allocator, event->known[i].name);
	for (size_t i = 0; i < FTRACE_LAYOUTS; i++) {
		sws_release(allocator, event->layouts[i].steps);
		sws_release(allocator, event->layouts[i].bytes);
	}
	sws_release(allocator, event->columns);
	sws_release(allocator, event->texts);
	sws_release(allocator, event->known);
	sws_release(allocator, event->seq);
	sws_release(allocator, event->t_ns);
	sws_release(allocator, event->cpu);
	sws_release(allocator, event->pid);
	sws_release(allocator, event->comm);
	sws_release(allocator, event->waiting);
	sws_release(allocator, event->waiting_bytes);
	sws_release(allocator, event->name);
	sws_release(allocator, event);
}
