/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ftrace_value.h"

/*
 * trace_print_context() writes "%16s-%-7d [%03d] ", so the dash behind a task's
 * name stands at column 16 whatever the name holds: "a-1 [000] 2: x:" is a
 * legal one. Only where no head starts there, in a text whose indent was lost,
 * is the first dash taken that a head can follow.
 */
#define COMM_WIDTH    16
#define LAST_COLUMN   64
#define LONGEST_EVENT 200

/* Bytes of a word that equal one byte, each by its highest bit; exact up to the first. */
static uint64_t equal(uint64_t word, char byte)
{
	uint64_t zero = word ^ FTRACE_ONES * (unsigned char)byte;

	return (zero - FTRACE_ONES) & ~zero & FTRACE_HIGHS;
}

/* Bytes of a word below 0x80 that lie in a range, each by its highest bit. */
static uint64_t within(uint64_t word, char low, char high)
{
	uint64_t at_least = (word | FTRACE_HIGHS) - FTRACE_ONES * (unsigned char)low;
	uint64_t above = (word | FTRACE_HIGHS) - FTRACE_ONES * ((unsigned char)high + 1u);

	return at_least & ~above & FTRACE_HIGHS;
}

static const char *skip_spaces(const char *at, const char *end)
{
	unsigned int count = 8;

	while (count == 8) {
		count = ftrace_good_bytes(ftrace_load8(at, end) ^ FTRACE_ONES * ' ');
		at += count;
	}
	return at;
}

/* Digits as a number of at most max; NULL where there is none, *fault where it is larger. */
static const char *read_number(const char *at, const char *end, uint64_t max, uint64_t *value,
			       int *fault)
{
	const char *first = at;

	at = ftrace_digits_prefix(first, end, value);
	if (!at) {
		/* No digit, or more of them than are read at once. */
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

/* The thread group that options/record-tgid adds: "(    123) " or "(-------) ". */
static const char *skip_thread_group(const char *at, const char *end)
{
	if (at == end || *at != '(')
		return at;
	at = skip_spaces(at + 1, end);
	while (at < end && (ftrace_is_digit(*at) || *at == '-'))
		at++;
	return at < end && *at == ')' ? skip_spaces(at + 1, end) : NULL;
}

/* The letters of irq-info, "d..1.": never a digit first, so never a time. */
static const char *skip_irq_info(const char *at, const char *end)
{
	unsigned int length = 0;

	if (at < end && ftrace_is_digit(*at))
		return at;
	length = ftrace_good_bytes(equal(ftrace_load8(at, end), ' '));
	if (length < 3 || length == 8)
		return NULL;
	return skip_spaces(at + length, end);
}

/* Seconds with 6 or 9 decimals, or a whole number, up to the colon. */
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
	head->t_ns = 0;
	if (*at == '.') {
		first = at + 1;
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

/* How many of the next eight bytes may stand in an event's name: . 0-9 A-Z _ a-z. */
static unsigned int name_bytes(uint64_t word)
{
	uint64_t good = within(word, '0', '9') | within(word | FTRACE_ONES * 0x20, 'a', 'z') |
			within(word, '_', '_') | within(word, '.', '.');

	return ftrace_good_bytes((good & ~word & FTRACE_HIGHS) ^ FTRACE_HIGHS);
}

static int read_event(const char *at, const char *end, struct ftrace_head *head)
{
	const char *first = skip_spaces(at, end);
	unsigned int count = 8;

	for (at = first; count == 8; at += count)
		count = name_bytes(ftrace_load8(at, end));
	/* A name becomes a file's name: none that hides it or leads elsewhere. */
	if (at == first || at == end || *at != ':' || *first == '.' || at - first > LONGEST_EVENT)
		return SWS_FTRACE_EVENT;
	head->event = ftrace_between(first, at);
	head->text = skip_spaces(at + 1, end);
	return SWS_FTRACE_NO_FAULT;
}

/* Reads what follows a task's name, from its dash on. */
static int read_from_dash(const char *at, const char *end, struct ftrace_head *head)
{
	int fault = SWS_FTRACE_NO_FAULT;
	uint64_t pid = 0;
	uint64_t cpu = 0;

	at = read_number(at + 1, end, INT32_MAX, &pid, &fault);
	if (!at || at == end || *at != ' ')
		return SWS_FTRACE_HEAD;
	at = skip_thread_group(skip_spaces(at, end), end);
	if (!at || at == end || *at != '[')
		return SWS_FTRACE_HEAD;
	at = read_number(at + 1, end, UINT16_MAX, &cpu, &fault);
	if (!at || end - at < 2 || at[0] != ']' || at[1] != ' ')
		return SWS_FTRACE_HEAD;
	at = skip_irq_info(skip_spaces(at + 1, end), end);
	if (at)
		at = read_time(at, end, head, &fault);
	if (!at)
		return SWS_FTRACE_HEAD;
	head->pid = (int32_t)pid;
	head->cpu = (uint16_t)cpu;
	return fault ? fault : read_event(at, end, head);
}

/* Of two faults, the one of the attempt that got further. */
static int further(int one, int other)
{
	static const int order[] = { SWS_FTRACE_EVENT, SWS_FTRACE_NUMBER };

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (one == order[i] || other == order[i])
			return order[i];
	return SWS_FTRACE_HEAD;
}

int sws_ftrace__head_read(const char *line, const char *end, struct ftrace_head *head)
{
	const char *first = skip_spaces(line, end);
	const char *last = end - first > LAST_COLUMN ? first + LAST_COLUMN : end;
	const char *dash = NULL;
	int fault = SWS_FTRACE_HEAD;

	if (end - line > COMM_WIDTH && line[COMM_WIDTH] == '-' && first <= line + COMM_WIDTH) {
		dash = line + COMM_WIDTH;
		fault = read_from_dash(dash, end, head);
	}
	for (const char *at = first; fault && at < last; at++) {
		int other = SWS_FTRACE_HEAD;

		if (*at != '-')
			continue;
		other = read_from_dash(at, end, head);
		fault = other ? further(fault, other) : SWS_FTRACE_NO_FAULT;
		dash = at;
	}
	if (!fault)
		head->comm = ftrace_between(first < dash ? first : dash, dash);
	return fault;
}
