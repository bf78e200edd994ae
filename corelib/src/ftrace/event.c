/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ftrace/parts.h"

#include "ftrace/value.h"

/*
 * An event's life:
 *
 *      row 1 .. first_rows     wait as text, so that all of them decide the types
 *      settle                  types fixed, columns filled from what waited
 *      every row after         to its columns; one that does not fit is a fault
 */

static const char *const head_names[] = { "seq", "t_ns", "cpu", "pid", "comm", "text" };

#define HEAD_COLUMNS 5

/* The columns' own prefix keeps a field of a head's name apart from the head. */
static const char prefix[] = "arg_";

static struct ftrace_span name_of(const struct ftrace_column *column)
{
	return (struct ftrace_span){ column->name, column->name_length };
}

static size_t prefix_of(struct ftrace_span key)
{
	for (size_t i = 0; i < sizeof(head_names) / sizeof(head_names[0]); i++)
		if (ftrace_is(key, head_names[i]))
			return sizeof(prefix) - 1;
	return 0;
}

static size_t width_of(int type)
{
	return type == SWS_FTRACE_STRING ? sizeof(uint32_t) : sizeof(uint64_t);
}

/* --- columns --- */

/* Starts to keep a byte per row that tells values from nulls. */
static void become_ragged(struct ftrace_event *event)
{
	if (event->ragged)
		return;
	for (size_t i = 0; i < event->columns_count; i++)
		memset(event->columns[i].valid, 1, event->rows);
	event->ragged = true;
}

static int add_column(struct sws_ftrace *self, struct ftrace_event *event, struct ftrace_span key,
		      size_t before, struct ftrace_column column)
{
	const struct sws_allocator *allocator = &self->config.allocator;
	int error = SWS_OK;

	error = sws_ftrace__reserve(allocator, &event->columns, &event->columns_room,
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
	/* Its earlier rows of this batch are null: valid is kept from now on. */
	if (event->rows)
		become_ragged(event);
	event->columns[event->columns_count++] = column;
	return SWS_OK;
out:
	sws_release(allocator, column.name);
	sws_release(allocator, column.values);
	sws_release(allocator, column.valid);
	return error;
}

static bool is_column(const struct ftrace_column *column, struct ftrace_span key, size_t before)
{
	return column->name_length == before + key.length &&
	       memcmp(column->name, prefix, before) == 0 &&
	       memcmp(column->name + before, key.start, key.length) == 0;
}

static int known_type(const struct ftrace_event *event, struct ftrace_span key)
{
	for (size_t i = 0; i < event->known_count; i++)
		if (event->known[i].name_length == key.length &&
		    memcmp(event->known[i].name, key.start, key.length) == 0)
			return event->known[i].type;
	return -1;
}

/* Finds a field's column, or makes it; `guess` is where the row's order suggests it. */
static int find_column(struct sws_ftrace *self, struct ftrace_event *event,
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
	column.type = known_type(event, field->key);
	column.known = column.type >= 0;
	if (!column.known)
		column.type = ftrace_judge(ftrace_weigh(field->value));
	return add_column(self, event, field->key, before, column);
}

static int find_words_column(struct sws_ftrace *self, struct ftrace_event *event)
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

static int grow_rows(struct sws_ftrace *self, struct ftrace_event *event)
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
		error = sws_ftrace__reserve(allocator, heads[i].block, &room, want, heads[i].item);
	}
	for (size_t i = 0; i < event->columns_count && !error; i++) {
		struct ftrace_column *column = &event->columns[i];

		room = 0;
		error = sws_ftrace__reserve(allocator, &column->values, &room, want,
					    sizeof(uint64_t));
		room = 0;
		if (!error)
			error = sws_ftrace__reserve(allocator, &column->valid, &room, want, 1);
	}
	if (!error)
		event->room = want;
	return error;
}

/* --- rows --- */

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
		verdict = ftrace_decimal(field->value, (int64_t *)column->values + row);
		break;
	case SWS_FTRACE_UINT64:
		verdict = ftrace_pointer(field->value, bits);
		break;
	case SWS_FTRACE_HEX:
		verdict = ftrace_hex(field->value, bits);
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
	int error = find_words_column(self, event);

	if (error)
		return error;
	column = &event->columns[event->words_column];
	column->stamp = self->stamp;
	return sws_ftrace__column_code(self, column, words,
				       (uint32_t *)column->values + event->rows);
}

/* Writes null to each column that the row at hand did not reach. */
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

/* Writes all fields of self->scan; the row counts only when its caller says so. */
static int write_fields(struct sws_ftrace *self, struct ftrace_event *event, bool *whole)
{
	struct ftrace_scan *scan = &self->scan;
	bool null = false;
	int error = SWS_OK;

	*whole = true;
	for (size_t i = 0; i < scan->count; i++) {
		struct ftrace_field *field = &scan->fields[i];
		struct ftrace_column *column = NULL;

		error = find_column(self, event, field, i, &field->column);
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

/* A null that the row spells out, "(fault)". */
static void write_spelt_nulls(struct ftrace_event *event, const struct ftrace_scan *scan)
{
	for (size_t i = 0; i < scan->count; i++) {
		struct ftrace_column *column = &event->columns[scan->fields[i].column];

		if (column->type != SWS_FTRACE_STRING && ftrace_is_null(scan->fields[i].value))
			column->valid[event->rows] = 0;
	}
}

static void free_column(const struct sws_allocator *allocator, struct ftrace_column *column)
{
	sws_release(allocator, column->name);
	sws_release(allocator, column->values);
	sws_release(allocator, column->valid);
}

/* A line at fault leaves no column behind. */
static void drop_columns(struct sws_ftrace *self, struct ftrace_event *event, size_t count)
{
	while (event->columns_count > count)
		free_column(&self->config.allocator, &event->columns[--event->columns_count]);
	if (event->words_column >= count)
		event->words_column = SIZE_MAX;
}

/* The slow way: reads any shape, finds every fault, learns the shape for the next row. */
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
	if (error) {
		drop_columns(self, event, columns);
		return error;
	}
	if (!whole || scan->count + scan->has_words < event->columns_count)
		become_ragged(event);
	write_missing(event, self->stamp);
	if (!whole)
		write_spelt_nulls(event, scan);
	return scan->learnable ? sws_ftrace__layout_learn(self, event, text, end) : SWS_OK;
}

/* Interns a task's name, by way of a small cache keyed by its bytes. */
static int comm_code(struct sws_ftrace *self, struct ftrace_span comm, uint32_t *code)
{
	struct ftrace_comm *cached = NULL;
	uint64_t bytes[2] = { 0, 0 };
	int error = SWS_OK;

	if (comm.length > sizeof(bytes))
		return sws_ftrace__strings_intern(&self->strings, comm, code);
	/* What was just stored in pieces is slow to load as a word: copy only where it must be. */
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

static int read_row(struct sws_ftrace *self, struct ftrace_event *event,
		    const struct ftrace_head *head, uint64_t seq, const char *end)
{
	size_t row = event->rows;
	bool matched = false;
	int error = SWS_OK;

	if (row == event->room)
		error = grow_rows(self, event);
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

/* --- first rows --- */

static int wait(struct sws_ftrace *self, struct ftrace_event *event, const char *line,
		const char *end)
{
	const struct sws_allocator *allocator = &self->config.allocator;
	size_t length = (size_t)(end - line);
	int error = SWS_OK;

	error = sws_ftrace__reserve(allocator, &event->waiting, &event->waiting_room,
				    event->waiting_count + 1, sizeof(*event->waiting));
	if (!error)
		error = sws_ftrace__reserve(allocator, &event->waiting_bytes,
					    &event->waiting_bytes_room,
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

/* Reads the head of a row that waits; it was readable when the row came. */
static const char *waiting_row(const struct ftrace_event *event, size_t i, struct ftrace_head *head)
{
	const char *line = event->waiting_bytes + event->waiting[i].start;
	const char *end = line + event->waiting[i].length;

	(void)sws_ftrace__head_read(line, end, head);
	return end;
}

/* Gathers what one waiting row says about its columns' types. */
static int weigh_row(struct sws_ftrace *self, struct ftrace_event *event, size_t i)
{
	struct ftrace_scan *scan = &self->scan;
	struct ftrace_head head = { .pid = 0 };
	const char *end = waiting_row(event, i, &head);
	size_t index = 0;
	int error = sws_ftrace__scan(self, event, head.text, end);

	self->stamp++;
	for (size_t field = 0; field < scan->count && !error; field++) {
		error = find_column(self, event, &scan->fields[field], field, &index);
		if (!error)
			event->columns[index].evidence |= ftrace_weigh(scan->fields[field].value);
	}
	/* The row is read again, and judged then. */
	return error == SWS_ERROR_BAD_LINE ? SWS_OK : error;
}

static void judge_columns(struct ftrace_event *event)
{
	for (size_t i = 0; i < event->columns_count; i++)
		if (!event->columns[i].known)
			event->columns[i].type = ftrace_judge(event->columns[i].evidence);
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
		const char *end = waiting_row(event, i, &head);

		error = read_row(self, event, &head, event->waiting[i].seq, end);
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
		return read_row(self, event, head, self->totals.rows, end);
	error = wait(self, event, line, end);
	if (!error && (event->waiting_count >= self->config.first_rows ||
		       event->waiting_length >= self->config.first_bytes))
		error = sws_ftrace__event_settle(self, event);
	return error;
}

/* --- life --- */

void sws_ftrace__event_clear(struct ftrace_event *event)
{
	event->rows = 0;
	event->ragged = false;
}

void sws_ftrace__event_free(struct sws_ftrace *self, struct ftrace_event *event)
{
	const struct sws_allocator *allocator = &self->config.allocator;

	for (size_t i = 0; i < event->columns_count; i++)
		free_column(allocator, &event->columns[i]);
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
