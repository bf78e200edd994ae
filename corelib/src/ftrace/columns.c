/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ftrace/parts.h"
#include "ftrace/value.h"

static const char *const head_names[] = { "seq", "t_ns", "cpu", "pid", "comm", "text" };

/* The prefix of a column whose name is also one of the head's. */
static const char prefix[] = "arg_";

static size_t prefix_of(struct ftrace_span key)
{
	for (size_t i = 0; i < sizeof(head_names) / sizeof(head_names[0]); i++)
		if (ftrace_is(key, head_names[i]))
			return sizeof(prefix) - 1;
	return 0;
}

void sws_ftrace__columns_become_ragged(struct ftrace_event *event)
{
	if (event->ragged)
		return;
	for (size_t i = 0; i < event->columns_count; i++)
		memset(event->columns[i].valid, 1, event->rows);
	event->ragged = true;
}

static void free_column(const struct sws_allocator *allocator, struct ftrace_column *column)
{
	sws_release(allocator, column->name);
	sws_release(allocator, column->values);
	sws_release(allocator, column->valid);
}

static int add_column(struct sws_ftrace *self, struct ftrace_event *event, struct ftrace_span key,
		      size_t before, struct ftrace_column column)
{
	const struct sws_allocator *allocator = &self->config.allocator;
	int error = SWS_OK;

	error = sws_reserve(allocator, &event->columns, &event->columns_room,
			    event->columns_count + 1, sizeof(*event->columns));
	if (error)
		return error;
	error = SWS_ERROR_NO_MEMORY;
	column.name_length = before + key.length;
	column.name = sws_allocate(allocator, column.name_length + 1);
	column.values = sws_allocate_zeroed(allocator, event->room, sizeof(uint64_t));
	column.valid = sws_allocate_zeroed(allocator, event->room, 1);
	if (!column.name || !column.values || !column.valid)
		goto out;
	memcpy(column.name, prefix, before);
	memcpy(column.name + before, key.start, key.length);
	column.name[column.name_length] = '\0';
	column.last_batch = self->strings.batch - 1;
	/*
	 * The earlier rows of this batch are null in the new column, so valid is needed from now
	 * on.
	 */
	if (event->rows)
		sws_ftrace__columns_become_ragged(event);
	event->columns[event->columns_count++] = column;
	return SWS_OK;
out:
	free_column(allocator, &column);
	return error;
}

static bool is_column(const struct ftrace_column *column, struct ftrace_span key, size_t before)
{
	return column->name_length == before + key.length &&
	       memcmp(column->name, prefix, before) == 0 &&
	       memcmp(column->name + before, key.start, key.length) == 0;
}

int sws_ftrace__known_type(const struct ftrace_event *event, struct ftrace_span key)
{
	for (size_t i = 0; i < event->known_count; i++)
		if (event->known[i].name_length == key.length &&
		    memcmp(event->known[i].name, key.start, key.length) == 0)
			return event->known[i].type;
	return -1;
}

/*
 * Rows of an event have their fields in one order, so the nth field is usually column n:
 *
 *      columns     folio  entry  text  flags        text: words that are not fields
 *      a row       folio  entry  flags              guess 0, 1, 2: the third goes on to column 3
 *
 * A field `comm` becomes arg_comm, because comm is the task of the line's head.
 */
int sws_ftrace__column_find(struct sws_ftrace *self, struct ftrace_event *event,
			    const struct ftrace_field *field, size_t guess, size_t *index)
{
	struct ftrace_column column = { .known = false };
	size_t before = prefix_of(field->key);

	for (size_t i = 0; i < event->columns_count; i++) {
		*index = (guess + i) % event->columns_count;
		if (*index != event->words_column &&
		    is_column(&event->columns[*index], field->key, before))
			return SWS_OK;
	}
	if (event->columns_count >= self->config.max_fields)
		return sws_ftrace__trouble(self, SWS_FTRACE_CROWDED, field->key, field->value);
	*index = event->columns_count;
	column.type = sws_ftrace__known_type(event, field->key);
	column.known = column.type >= 0;
	if (!column.known)
		column.type = ftrace_judge(ftrace_weigh(field->value));
	return add_column(self, event, field->key, before, column);
}

int sws_ftrace__column_for_words(struct sws_ftrace *self, struct ftrace_event *event)
{
	static const struct ftrace_span text = { "text", 4 };
	struct ftrace_column column = { .type = SWS_FTRACE_STRING, .known = true };
	int error = SWS_OK;

	if (event->words_column != SIZE_MAX)
		return SWS_OK;
	error = add_column(self, event, text, 0, column);
	if (!error)
		event->words_column = event->columns_count - 1;
	return error;
}

int sws_ftrace__column_code(struct sws_ftrace *self, struct ftrace_column *column,
			    struct ftrace_span text, uint32_t *code)
{
	int error = SWS_OK;

	if (column->last_batch == self->strings.batch &&
	    sws_ftrace__strings_is(&self->strings, column->last_code, text)) {
		*code = column->last_code;
		return SWS_OK;
	}
	error = sws_ftrace__strings_intern(&self->strings, text, code);
	if (error)
		return error;
	column->last_code = *code;
	column->last_batch = self->strings.batch;
	return SWS_OK;
}

int sws_ftrace__columns_grow(struct sws_ftrace *self, struct ftrace_event *event)
{
	const struct sws_allocator *allocator = &self->config.allocator;
	size_t want = event->room ? event->room * 2 : 64;
	struct {
		void *block;
		size_t item;
	} heads[] = {
		{ &event->seq, sizeof(*event->seq) },   { &event->t_ns, sizeof(*event->t_ns) },
		{ &event->cpu, sizeof(*event->cpu) },   { &event->pid, sizeof(*event->pid) },
		{ &event->comm, sizeof(*event->comm) },
	};
	int error = SWS_OK;
	size_t room = 0;

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]) && !error; i++) {
		room = 0;
		error = sws_reserve(allocator, heads[i].block, &room, want, heads[i].item);
	}
	for (size_t i = 0; i < event->columns_count && !error; i++) {
		struct ftrace_column *column = &event->columns[i];

		room = 0;
		error = sws_reserve(allocator, &column->values, &room, want, sizeof(uint64_t));
		room = 0;
		if (!error)
			error = sws_reserve(allocator, &column->valid, &room, want, 1);
	}
	if (!error)
		event->room = want;
	return error;
}

void sws_ftrace__columns_drop(struct sws_ftrace *self, struct ftrace_event *event, size_t count)
{
	while (event->columns_count > count)
		free_column(&self->config.allocator, &event->columns[--event->columns_count]);
	if (event->words_column >= count)
		event->words_column = SIZE_MAX;
}
