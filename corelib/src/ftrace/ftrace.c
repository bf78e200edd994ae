/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "swapsim/ftrace.h"

#include "ftrace/parts.h"
#include "ftrace/value.h"

static const struct ftrace_span nothing = { "", 0 };

/* --- memory --- */

int sws_ftrace__reserve(const struct sws_allocator *allocator, void *block, size_t *room,
			size_t count, size_t item)
{
	size_t want = *room < 8 ? 8 : *room;
	void *old = NULL;
	void *fresh = NULL;

	if (count <= *room)
		return SWS_OK;
	while (want < count)
		want *= 2;
	if (want > SIZE_MAX / 2 / item)
		return SWS_ERROR_NO_MEMORY;
	memcpy(&old, block, sizeof(old));
	fresh = allocator->resize(allocator->context, old, want * item);
	if (!fresh)
		return SWS_ERROR_NO_MEMORY;
	memcpy(block, &fresh, sizeof(fresh));
	*room = want;
	return SWS_OK;
}

/* --- faults --- */

static void copy_cut(char *to, size_t room, struct ftrace_span from)
{
	size_t length = from.length < room ? from.length : room - 1;

	memcpy(to, from.start, length);
	memset(to + length, 0, room - length);
}

int sws_ftrace__trouble(struct sws_ftrace *self, int kind, struct ftrace_span field,
			struct ftrace_span excerpt)
{
	self->trouble.kind = kind;
	self->trouble.type = -1;
	self->trouble.excerpt = excerpt;
	copy_cut(self->trouble.field, sizeof(self->trouble.field), field);
	return SWS_ERROR_BAD_LINE;
}

int sws_ftrace__file(struct sws_ftrace *self, uint64_t line)
{
	struct sws_ftrace_report *report = &self->reports[self->trouble.kind];

	/* A first row's fault passes here a second time, by way of the line that settled it. */
	if (self->trouble.kind == SWS_FTRACE_NO_FAULT)
		return SWS_ERROR_BAD_LINE;
	self->trouble.kind = SWS_FTRACE_NO_FAULT;
	/* The first rows of an event are judged late: an earlier line may come after. */
	if (!report->count || line < report->line) {
		report->line = line;
		report->type = self->trouble.type;
		memcpy(report->field, self->trouble.field, sizeof(report->field));
		copy_cut(report->excerpt, sizeof(report->excerpt), self->trouble.excerpt);
	}
	report->count++;
	return self->config.skip ? SWS_OK : SWS_ERROR_BAD_LINE;
}

/* --- bytes --- */

/* Whether text needs a closer look: control bytes, or bytes beyond ASCII. One pass, no branch. */
static bool is_odd(const char *bytes, size_t length)
{
	unsigned char odd = 0;

	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)bytes[i];

		odd |= (unsigned char)(((unsigned char)(c - ' ') > '~' - ' ') & (c != '\n'));
	}
	return odd;
}

/* The length of the UTF-8 sequence at `at`, or 0 where it is none. */
static size_t utf8_length(const unsigned char *at, size_t left)
{
	unsigned char c = at[0];
	size_t length = c < 0x80   ? 1
			: c < 0xc2 ? 0
			: c < 0xe0 ? 2
			: c < 0xf0 ? 3
			: c < 0xf5 ? 4
				   : 0;

	if (length > left)
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates, and what lies beyond U+10FFFF. */
	if ((c == 0xe0 && at[1] < 0xa0) || (c == 0xed && at[1] > 0x9f) ||
	    (c == 0xf0 && at[1] < 0x90) || (c == 0xf4 && at[1] > 0x8f))
		return 0;
	return length;
}

static int check_bytes(struct sws_ftrace *self, struct ftrace_span line)
{
	const unsigned char *at = (const unsigned char *)line.start;
	size_t left = line.length;
	size_t length = 0;

	for (size_t i = 0; i < left; i++)
		if ((at[i] < ' ' && at[i] != '\t') || at[i] == 0x7f)
			return sws_ftrace__trouble(self, SWS_FTRACE_BYTES, nothing, line);
	for (; left; at += length, left -= length) {
		length = utf8_length(at, left);
		if (!length)
			return sws_ftrace__trouble(self, SWS_FTRACE_UTF8, nothing, line);
	}
	return SWS_OK;
}

/* --- lines that are no event --- */

static const char *after(const char *at, const char *end, const char *word)
{
	size_t length = strlen(word);

	return (size_t)(end - at) >= length && memcmp(at, word, length) == 0 ? at + length : NULL;
}

static const char *number(const char *at, const char *end, int64_t *value)
{
	at = at ? ftrace_decimal_prefix(at, end, value) : NULL;
	return at && *value >= 0 ? at : NULL;
}

/* tracefs: "# entries-in-buffer/entries-written: 10/12   #P:8" */
static void read_comment(struct sws_ftrace *self, const char *at, const char *end)
{
	int64_t kept = 0;
	int64_t written = 0;

	at = number(after(at, end, "# entries-in-buffer/entries-written: "), end, &kept);
	at = at ? after(at, end, "/") : NULL;
	if (number(at, end, &written) && written > kept)
		self->totals.overwritten = (uint64_t)(written - kept);
}

static int add_lost(struct sws_ftrace *self, size_t cpu, uint64_t count)
{
	size_t room = self->lost_count;
	int error = SWS_OK;

	if (cpu >= self->lost_count) {
		error = sws_ftrace__reserve(&self->config.allocator, &self->lost, &room, cpu + 1,
					    sizeof(*self->lost));
		if (error)
			return error;
		memset(self->lost + self->lost_count, 0,
		       (room - self->lost_count) * sizeof(*self->lost));
		self->lost_count = room;
	}
	self->lost[cpu] += count;
	return SWS_OK;
}

/* tracefs: "CPU:3 [LOST 12 EVENTS]"; trace-cmd: "CPU:3 [12 EVENTS DROPPED]"; either without n. */
static int read_lost(struct sws_ftrace *self, const char *at, const char *end)
{
	struct ftrace_span line = ftrace_between(at, end);
	int64_t cpu = 0;
	int64_t count = 0;
	const char *tail = NULL;
	const char *known = NULL;

	at = number(at + strlen("CPU:"), end, &cpu);
	at = at ? after(at, end, " [") : NULL;
	if (!at || cpu > UINT16_MAX)
		return sws_ftrace__trouble(self, SWS_FTRACE_HEAD, nothing, line);
	tail = after(at, end, "LOST ");
	at = tail ? tail : at;
	tail = number(at, end, &count);
	tail = tail ? after(tail, end, " ") : NULL;
	known = tail;
	tail = after(known ? known : at, end, "EVENTS");
	if (tail && after(tail, end, " DROPPED"))
		tail += strlen(" DROPPED");
	if (!tail || end - tail != 1 || *tail != ']')
		return sws_ftrace__trouble(self, SWS_FTRACE_HEAD, nothing, line);
	if (known)
		return add_lost(self, (size_t)cpu, (uint64_t)count);
	self->totals.gaps++;
	return SWS_OK;
}

/* What trace-cmd report writes above the events. */
static bool is_preamble(const char *at, const char *end)
{
	int64_t value = 0;
	const char *tail = number(after(at, end, "cpus="), end, &value);

	if (!tail)
		tail = number(after(at, end, "version = "), end, &value);
	if (!tail) {
		tail = number(after(at, end, "CPU "), end, &value);
		tail = tail ? after(tail, end, " is empty") : NULL;
	}
	return tail == end;
}

/* --- lines --- */

static int take_event(struct sws_ftrace *self, const char *line, const char *end)
{
	struct ftrace_event *event = NULL;
	struct ftrace_head head = { .pid = 0 };
	int fault = sws_ftrace__head_read(line, end, &head);
	int error = SWS_OK;

	if (!fault && self->totals.clock && head.clock != self->totals.clock)
		fault = SWS_FTRACE_CLOCK;
	if (fault)
		return sws_ftrace__trouble(self, fault, nothing, ftrace_between(line, end));
	error = sws_ftrace__event_find(self, head.event, false, &event);
	if (!error && !event)
		error = sws_ftrace__trouble(self, SWS_FTRACE_CROWDED, nothing, head.event);
	if (error)
		return error;
	self->totals.clock = head.clock;
	error = sws_ftrace__event_take(self, event, &head, line, end);
	self->totals.rows++;
	return error;
}

static int read_line(struct sws_ftrace *self, const char *line, size_t length, bool odd)
{
	const char *end = line + length;
	int error = SWS_OK;

	if (odd) {
		end -= length && end[-1] == '\r';
		error = check_bytes(self, ftrace_between(line, end));
		if (error)
			return error;
	}
	if (line == end)
		return SWS_OK;
	switch (*line) {
	case '#':
		read_comment(self, line, end);
		return SWS_OK;
	case 'C':
		if (after(line, end, "CPU:"))
			return read_lost(self, line, end);
		if (is_preamble(line, end))
			return SWS_OK;
		break;
	case 'c':
	case 'v':
		if (is_preamble(line, end))
			return SWS_OK;
		break;
	default:
		break;
	}
	return take_event(self, line, end);
}

/* One line, its number counted and its fault filed. */
static int pass_line(struct sws_ftrace *self, const char *line, size_t length, bool odd)
{
	int error = SWS_OK;

	self->totals.lines++;
	if (length > self->config.max_line)
		error = sws_ftrace__trouble(self, SWS_FTRACE_LONG, nothing,
					    (struct ftrace_span){ line, length });
	else
		error = read_line(self, line, length, odd);
	return error == SWS_ERROR_BAD_LINE ? sws_ftrace__file(self, self->totals.lines) : error;
}

/* Keeps the start of a line until its end is fed; of a line too long only the start. */
static int keep(struct sws_ftrace *self, const char *bytes, size_t length)
{
	size_t most = (size_t)self->config.max_line + 1 - self->carry_length;
	int error = SWS_OK;

	if (length > most)
		length = most;
	error = sws_ftrace__reserve(&self->config.allocator, &self->carry, &self->carry_room,
				    self->carry_length + length, 1);
	if (error || !length)
		return error;
	memcpy(self->carry + self->carry_length, bytes, length);
	self->carry_length += length;
	return SWS_OK;
}

static int feed_lines(struct sws_ftrace *self, const char *at, const char *end)
{
	const char *stop = NULL;
	bool odd = false;
	int error = SWS_OK;

	if (self->carry_length) {
		stop = memchr(at, '\n', (size_t)(end - at));
		error = keep(self, at, (size_t)((stop ? stop : end) - at));
		if (error || !stop)
			return error;
		error = pass_line(self, self->carry, self->carry_length, true);
		self->carry_length = 0;
		at = stop + 1;
	}
	odd = is_odd(at, (size_t)(end - at));
	while (!error && at < end) {
		stop = memchr(at, '\n', (size_t)(end - at));
		if (!stop)
			return keep(self, at, (size_t)(end - at));
		error = pass_line(self, at, (size_t)(stop - at), odd);
		at = stop + 1;
	}
	return error;
}

int sws_ftrace_feed(sws_ftrace *self, const char *bytes, size_t length)
{
	int error = SWS_OK;

	if (self->failed)
		return SWS_ERROR_BAD_ARGUMENT;
	if (length)
		error = feed_lines(self, bytes, bytes + length);
	self->failed = error != SWS_OK;
	return error;
}

/* The last line has no end: whatever it holds, the writer may have been stopped within it. */
static int judge_last_line(struct sws_ftrace *self)
{
	struct ftrace_span line = { self->carry, self->carry_length };
	int error = SWS_OK;

	self->totals.lines++;
	for (size_t i = 0; i < line.length && !error; i++)
		if (!line.start[i])
			error = sws_ftrace__trouble(self, SWS_FTRACE_BYTES, nothing, line);
	if (!error)
		error = sws_ftrace__trouble(self, SWS_FTRACE_CUT, nothing, line);
	self->carry_length = 0;
	return sws_ftrace__file(self, self->totals.lines);
}

int sws_ftrace_finish(sws_ftrace *self)
{
	int error = SWS_OK;

	if (self->failed)
		return SWS_ERROR_BAD_ARGUMENT;
	if (self->carry_length)
		error = judge_last_line(self);
	for (size_t i = 0; i < self->events_count && !error; i++)
		error = sws_ftrace__event_settle(self, self->events[i]);
	self->failed = error != SWS_OK;
	return error;
}

/* --- life --- */

void sws_ftrace_config_init(struct sws_ftrace_config *config)
{
	*config = (struct sws_ftrace_config){
		.allocator = sws_libc_allocator,
		.skip = false,
		.first_rows = 1024,
		.first_bytes = 256 * 1024,
		.max_line = 64 * 1024,
		.max_events = 1024,
		.max_fields = 256,
	};
}

static bool config_is_good(const struct sws_ftrace_config *config)
{
	return config->allocator.resize && config->first_rows && config->first_bytes &&
	       config->max_line && config->max_line <= 1u << 24 && config->max_events &&
	       config->max_events <= 1u << 20 && config->max_fields &&
	       config->max_fields <= UINT16_MAX;
}

int sws_ftrace_new(const struct sws_ftrace_config *config, sws_ftrace **out)
{
	sws_ftrace *self = NULL;

	*out = NULL;
	if (!config_is_good(config))
		return SWS_ERROR_BAD_CONFIG;
	self = sws_allocate_zeroed(&config->allocator, 1, sizeof(*self));
	if (!self)
		return SWS_ERROR_NO_MEMORY;
	self->config = *config;
	self->strings.allocator = &self->config.allocator;
	/* Caches start at batch 0, which is stale. */
	self->strings.batch = 1;
	*out = self;
	return SWS_OK;
}

void sws_ftrace_free(sws_ftrace *self)
{
	struct sws_allocator allocator;

	if (!self)
		return;
	allocator = self->config.allocator;
	for (size_t i = 0; i < self->events_count; i++)
		sws_ftrace__event_free(self, self->events[i]);
	sws_release(&allocator, self->events);
	sws_release(&allocator, self->names);
	sws_release(&allocator, self->lost);
	sws_release(&allocator, self->carry);
	sws_ftrace__scan_free(self);
	sws_ftrace__strings_free(&self->strings);
	sws_release(&allocator, self);
}

/* --- what a caller asks --- */

size_t sws_ftrace_cells(const sws_ftrace *self)
{
	return self->cells;
}

const char *sws_ftrace_strings(const sws_ftrace *self, size_t *length)
{
	*length = self->strings.length;
	return self->strings.bytes;
}

void sws_ftrace_clear(sws_ftrace *self)
{
	for (size_t i = 0; i < self->events_count; i++)
		sws_ftrace__event_clear(self->events[i]);
	sws_ftrace__strings_clear(&self->strings);
	self->cells = 0;
}

void sws_ftrace_totals(const sws_ftrace *self, struct sws_ftrace_totals *out)
{
	*out = self->totals;
}

const uint64_t *sws_ftrace_lost(const sws_ftrace *self, size_t *cpus)
{
	*cpus = self->lost_count;
	return self->lost;
}

int sws_ftrace_report(const sws_ftrace *self, int kind, struct sws_ftrace_report *out)
{
	if (kind <= SWS_FTRACE_NO_FAULT || kind >= SWS_FTRACE_FAULTS)
		return SWS_ERROR_BAD_ARGUMENT;
	*out = self->reports[kind];
	return SWS_OK;
}
