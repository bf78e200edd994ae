/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ftrace/parts.h"
#include "ftrace/value.h"

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
		error = sws_reserve(&self->config.allocator, &self->lost, &room, cpu + 1,
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

/*
 * tracefs: "CPU:3 [LOST 12 EVENTS]"; trace-cmd: "CPU:3 [12 EVENTS DROPPED]"; both also without the
 * number.
 */
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
		return sws_ftrace__trouble(self, SWS_FTRACE_HEAD, ftrace_nothing(), line);
	tail = after(at, end, "LOST ");
	at = tail ? tail : at;
	tail = number(at, end, &count);
	tail = tail ? after(tail, end, " ") : NULL;
	known = tail;
	tail = after(known ? known : at, end, "EVENTS");
	if (tail && after(tail, end, " DROPPED"))
		tail += strlen(" DROPPED");
	if (!tail || end - tail != 1 || *tail != ']')
		return sws_ftrace__trouble(self, SWS_FTRACE_HEAD, ftrace_nothing(), line);
	if (known)
		return add_lost(self, (size_t)cpu, (uint64_t)count);
	self->totals.gaps++;
	return SWS_OK;
}

/* Returns true for a line that trace-cmd report writes before the events. */
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

/*
 * The first byte is a cheap test: a task's name has at most 15 bytes and is right-aligned in 16
 * columns, so an event line starts with a space. In a text without indentation, a task "cpus"
 * starts like a preamble, but lacks the "=".
 */
int sws_ftrace__remark_read(struct sws_ftrace *self, const char *line, const char *end,
			    bool *is_remark)
{
	*is_remark = true;
	switch (*line) {
	case '#':
		read_comment(self, line, end);
		return SWS_OK;
	case 'C':
		if (after(line, end, "CPU:"))
			return read_lost(self, line, end);
		*is_remark = is_preamble(line, end);
		return SWS_OK;
	case 'c':
	case 'v':
		*is_remark = is_preamble(line, end);
		return SWS_OK;
	default:
		*is_remark = false;
		return SWS_OK;
	}
}
