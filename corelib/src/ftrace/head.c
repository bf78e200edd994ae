/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ftrace/head.h"

#include "ftrace/value.h"

/*
 * trace_print_context() writes "%16s-%-7d [%03d] ", so the dash after a task's name is in column 16
 * whatever the name contains: "a-1 [000] 2: x:" is a legal one. Only if no head starts there, in a
 * text that has lost its indentation, is the first dash used that a head can follow.
 *
 *   0               16      columns
 *            kswapd0-55      (     55) [003] d..1.    10.263993: swp_del: (f+0x0/0x2) n=-2
 *            -------                                                  sws_ftrace__head_read
 *                    --                                               read_number
 *                            ---------                                skip_thread_group
 *                                       ---                           read_number
 *                                            -----                    skip_irq_info
 *                                                     ----------      read_time
 *                                                                -------- read_event
 *
 * 10.263993 has 6 decimals: 10 s and 263993000 ns. trace-cmd may print 9 decimals; with any other
 * number their unit is unknown, so the text is not a time.
 */
#define COMM_WIDTH    16
#define LAST_COLUMN   64
#define LONGEST_EVENT 200

static const char *skip_spaces(const char *at, const char *end)
{
	while (at < end && *at == ' ')
		at++;
	return at;
}

/*
 * Reads digits as a number of at most max; returns NULL without digits, and sets *fault if it is
 * larger.
 */
static const char *read_number(const char *at, const char *end, uint64_t max, uint64_t *value,
			       int *fault)
{
	const char *first = at;

	at = ftrace_digits_prefix(first, end, value);
	if (!at) {
		/* There is no digit, or there are more of them than are read at once. */
		for (at = first; at < end && ftrace_is_digit(*at); at++)
			;
		if (at == first)
			return NULL;
		if (ftrace_digits(ftrace_between(first, at), max, value) != FTRACE_FITS)
			*fault = SWS_FTRACE_NUMBER;
	}
	if (*value > max)
		*fault = SWS_FTRACE_NUMBER;
	return at;
}

/* Skips the thread group that options/record-tgid adds: "(    123) " or "(-------) ". */
static const char *skip_thread_group(const char *at, const char *end)
{
	if (at == end || *at != '(')
		return at;
	at = skip_spaces(at + 1, end);
	while (at < end && (ftrace_is_digit(*at) || *at == '-'))
		at++;
	return at < end && *at == ')' ? skip_spaces(at + 1, end) : NULL;
}

/* Skips the letters of irq-info, "d..1.", which never start with a digit as a time does. */
static const char *skip_irq_info(const char *at, const char *end)
{
	const char *first = at;

	if (at < end && ftrace_is_digit(*at))
		return at;
	while (at < end && *at != ' ')
		at++;
	return at - first < 3 || at - first > 7 ? NULL : skip_spaces(at, end);
}

/* Reads seconds with 6 or 9 decimals, or an integer, up to the colon. */
static const char *read_time(const char *at, const char *end, struct ftrace_head *head, int *fault)
{
	uint64_t seconds = 0;
	uint64_t decimals = 0;
	const char *first = NULL;
	uint64_t ns = 0;

	at = read_number(at, end, UINT64_MAX, &seconds, fault);
	if (!at || at == end)
		return NULL;
	head->clock = SWS_FTRACE_CLOCK_WHOLE;
	head->t_ns = (int64_t)seconds;
	if (*at == '.') {
		first = at + 1;
		if (end - first >= 8 && first[6] == ':' && ftrace_six_digits(first, &decimals))
			at = first + 6;
		else
			at = read_number(first, end, 999999999, &decimals, fault);
		if (!at || (at - first != 6 && at - first != 9))
			return NULL;
		ns = at - first == 6 ? decimals * 1000 : decimals;
		if (seconds > (INT64_MAX - ns) / 1000000000)
			*fault = SWS_FTRACE_NUMBER;
		else
			head->t_ns = (int64_t)(seconds * 1000000000 + ns);
		head->clock = SWS_FTRACE_CLOCK_SECONDS;
	}
	return at < end && *at == ':' ? at + 1 : NULL;
}

/* Returns true for a byte of an event's name; one bit per byte: . 0-9, then A-Z _ a-z. */
static bool is_name_byte(char c)
{
	static const uint64_t bits[4] = { UINT64_C(0x03ff400000000000),
					  UINT64_C(0x07fffffe87fffffe) };
	unsigned char byte = (unsigned char)c;

	return bits[byte >> 6] >> (byte & 63) & 1;
}

static int read_event(const char *at, const char *end, struct ftrace_span likely,
		      struct ftrace_head *head)
{
	const char *first = skip_spaces(at, end);

	at = first;
	if ((size_t)(end - at) > likely.length && ftrace_same(at, likely.start, likely.length))
		at += likely.length;
	while (at < end && is_name_byte(*at))
		at++;
	/* The name becomes a file name, so it must not be hidden or refer to another folder. */
	if (at == first || at == end || *at != ':' || *first == '.' || at - first > LONGEST_EVENT)
		return SWS_FTRACE_EVENT;
	head->event = ftrace_between(first, at);
	head->text = skip_spaces(at + 1, end);
	return SWS_FTRACE_NO_FAULT;
}

/* Reads the text from the dash after a task's name up to the time; NULL if there is no head. */
static const char *read_task(const char *at, const char *end, struct ftrace_head *head, int *fault)
{
	uint64_t pid = 0;
	uint64_t cpu = 0;

	at = read_number(at + 1, end, INT32_MAX, &pid, fault);
	if (!at || at == end || *at != ' ')
		return NULL;
	at = skip_thread_group(skip_spaces(at, end), end);
	if (!at || at == end || *at != '[')
		return NULL;
	at = read_number(at + 1, end, UINT16_MAX, &cpu, fault);
	if (!at || end - at < 2 || at[0] != ']' || at[1] != ' ')
		return NULL;
	head->pid = (int32_t)pid;
	head->cpu = (uint16_t)cpu;
	return skip_irq_info(skip_spaces(at + 1, end), end);
}

/* Reads the time and the event's name; `fault` is that of the text before. */
static int read_moment(const char *at, const char *end, struct ftrace_span likely,
		       struct ftrace_head *head, int fault)
{
	at = read_time(at, end, head, &fault);
	if (!at)
		return SWS_FTRACE_HEAD;
	return fault ? fault : read_event(at, end, likely, head);
}

static int read_from_dash(const char *at, const char *end, struct ftrace_span likely,
			  struct ftrace_head *head, const char **time)
{
	int fault = SWS_FTRACE_NO_FAULT;

	*time = read_task(at, end, head, &fault);
	return *time ? read_moment(*time, end, likely, head, fault) : SWS_FTRACE_HEAD;
}

/*
 * Returns the fault of the attempt that got further. If a task "a-b" is followed by a bad number,
 * its first dash is followed by no head, its second one by a pid that is too large; the latter is
 * the helpful report.
 */
static int further(int one, int other)
{
	static const int order[] = { SWS_FTRACE_EVENT, SWS_FTRACE_NUMBER };

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (one == order[i] || other == order[i])
			return order[i];
	return SWS_FTRACE_HEAD;
}

/*
 * The hint after "         kswapd0-53      [001] d..1.    10.263993: swp_add: .." and the next lines:
 *
 *      task    "         kswapd0-53      [001] d..1.    "      pid 53, cpu 1, comm at 9
 *      event   swp_del, which came after swp_add the last time
 *
 *      "         kswapd0-53      [001] d..1.    10.264001: swp_del: .."     read from 10.264001 on
 *      "         kswapd0-53      [002] d..1.    10.264003: .."              read as usual
 *      "         kswapd0-53      [001] d..1.    nonsense"                   likewise: the fault
 *
 * A task is a hint only if its dash is in column 16, because any other dash counts only if no head
 * starts there.
 */
static bool read_by_hint(const struct ftrace_hint *hint, const char *line, const char *end,
			 struct ftrace_head *head)
{
	size_t length = hint->task_length;

	if (!length || (size_t)(end - line) <= length || !ftrace_same(line, hint->task, length))
		return false;
	head->pid = hint->pid;
	head->cpu = hint->cpu;
	head->comm = ftrace_between(line + hint->comm, line + COMM_WIDTH);
	return !read_moment(line + length, end, hint->event, head, SWS_FTRACE_NO_FAULT);
}

static void learn_task(struct ftrace_hint *hint, const char *line, const char *time,
		       const struct ftrace_head *head)
{
	size_t length = (size_t)(time - line);

	hint->task_length = length <= FTRACE_TASK ? length : 0;
	memcpy(hint->task, line, hint->task_length);
	hint->pid = head->pid;
	hint->cpu = head->cpu;
	hint->comm = (size_t)(head->comm.start - line);
}

int sws_ftrace__head_read(struct ftrace_hint *hint, const char *line, const char *end,
			  struct ftrace_head *head)
{
	const char *first = skip_spaces(line, end);
	const char *last = end - first > LAST_COLUMN ? first + LAST_COLUMN : end;
	const char *dash = NULL;
	const char *time = NULL;
	int fault = SWS_FTRACE_HEAD;

	if (read_by_hint(hint, line, end, head))
		return SWS_FTRACE_NO_FAULT;
	if (end - line > COMM_WIDTH && line[COMM_WIDTH] == '-' && first <= line + COMM_WIDTH) {
		dash = line + COMM_WIDTH;
		fault = read_from_dash(dash, end, hint->event, head, &time);
		if (!fault) {
			head->comm = ftrace_between(first, dash);
			learn_task(hint, line, time, head);
			return fault;
		}
	}
	for (const char *at = first; fault && at < last; at++) {
		int other = SWS_FTRACE_HEAD;

		if (*at != '-')
			continue;
		other = read_from_dash(at, end, hint->event, head, &time);
		fault = other ? further(fault, other) : SWS_FTRACE_NO_FAULT;
		dash = at;
	}
	if (!fault)
		head->comm = ftrace_between(first < dash ? first : dash, dash);
	return fault;
}
