/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "swapsim/ftrace.h"

#include "ftrace/parts.h"

/* --- lines --- */

/* Counts a row that is earlier than the one before; values of a whole clock have no sign. */
static void watch_order(struct sws_ftrace *self, uint64_t now)
{
	if (now < self->last) {
		self->totals.earlier++;
		if (!self->totals.earlier_line)
			self->totals.earlier_line = self->totals.lines;
	}
	self->last = now;
}

static int take_event(struct sws_ftrace *self, const char *line, const char *end)
{
	struct ftrace_event *event = NULL;
	struct ftrace_head head = { .pid = 0 };
	int fault = sws_ftrace__head_read(&self->hint, line, end, &head);
	int error = SWS_OK;

	if (!fault && self->totals.clock && head.clock != self->totals.clock)
		fault = SWS_FTRACE_CLOCK;
	if (fault)
		return sws_ftrace__trouble(self, fault, ftrace_nothing(),
					   ftrace_between(line, end));
	error = sws_ftrace__event_next(self, head.event, &event);
	if (!error && !event)
		error = sws_ftrace__trouble(self, SWS_FTRACE_CROWDED, ftrace_nothing(), head.event);
	if (error)
		return error;
	self->totals.clock = head.clock;
	watch_order(self, (uint64_t)head.t_ns);
	error = sws_ftrace__event_take(self, event, &head, line, end);
	self->totals.rows++;
	return error;
}

static int read_line(struct sws_ftrace *self, const char *line, size_t length, bool odd)
{
	const char *end = line + length;
	bool remark = false;
	int error = SWS_OK;

	if (odd) {
		end -= length && end[-1] == '\r';
		error = sws_ftrace__check_bytes(self, ftrace_between(line, end));
		if (error)
			return error;
	}
	if (line == end)
		return SWS_OK;
	error = sws_ftrace__remark_read(self, line, end, &remark);
	return error || remark ? error : take_event(self, line, end);
}

/* Reads one line, counts it and files its fault. */
static int pass_line(struct sws_ftrace *self, const char *line, size_t length, bool odd)
{
	int error = SWS_OK;

	self->totals.lines++;
	if (length > self->config.max_line)
		error = sws_ftrace__trouble(self, SWS_FTRACE_LONG, ftrace_nothing(),
					    (struct ftrace_span){ line, length });
	else
		error = read_line(self, line, length, odd);
	return error == SWS_ERROR_BAD_LINE ? sws_ftrace__file(self, self->totals.lines) : error;
}

/* Stores the beginning of a line until its end is fed; of a line that is too long only a part. */
static int keep(struct sws_ftrace *self, const char *bytes, size_t length)
{
	size_t most = (size_t)self->config.max_line + 1 - self->carry_length;
	int error = SWS_OK;

	if (length > most)
		length = most;
	error = sws_reserve(&self->config.allocator, &self->carry, &self->carry_room,
			    self->carry_length + length, 1);
	if (error || !length)
		return error;
	memcpy(self->carry + self->carry_length, bytes, length);
	self->carry_length += length;
	return SWS_OK;
}

/*
 * A line that is split at a block's end, $ for an end of line:
 *
 *      block 1    .. swp_del: n=-2$         kswapd0-55      [0
 *                                  |-------------------------| stored in carry
 *      block 2    03] d..1.    10.263993: swp_del: n=-2$         kswapd0-55 ..
 *                 |------------------------------------| appended; then as usual
 *
 * Only such a line is copied; all others are read in place. Unusual bytes are tested once per
 * block, so a line that is carried over two blocks always gets the closer test, which is slower and
 * never wrong. Of a line that is too long, max_line + 1 bytes are stored, one more than allowed, so
 * that pass_line detects it.
 */
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
	odd = sws_ftrace__is_odd(at, (size_t)(end - at));
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

/* The last line has no end: whatever it contains, the writer may have been interrupted in it. */
static int judge_last_line(struct sws_ftrace *self)
{
	struct ftrace_span line = { self->carry, self->carry_length };
	int fault = memchr(line.start, 0, line.length) ? SWS_FTRACE_BYTES : SWS_FTRACE_CUT;

	self->totals.lines++;
	(void)sws_ftrace__trouble(self, fault, ftrace_nothing(), line);
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

/* --- creation and end of a parser --- */

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
	/* Caches start at batch 0, which is never valid. */
	self->strings.batch = 1;
	self->hint.event = ftrace_nothing();
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

/* --- results --- */

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
