/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check.h"

#include "swapsim/ftrace.h"

#include "ftrace/value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One line of each form of tracefs and trace-cmd, and every kind of event text. */
static const char forms[] =
	"# tracer: nop\n"
	"# entries-in-buffer/entries-written: 10/25   #P:8\n"
	"cpus=8\n"
	"CPU 3 is empty\n"
	"         kswapd0-53      [001] d..1.    10.263993: swp_add: (f+0x0/0x2) "
	"folio=0xffffea00000d8fc0 "
	"entry=0x4000\n"
	"         kswapd0-53      (     53) [001] d..1    10.263993: swp_add: (f+0x0/0x2) "
	"folio=0xffffea00000d9000 entry=0x4001\n"
	"           <...>-54      (-------) [002]    10.263994: other: n=-5 cpu=7 text=a b "
	"flag=X|Y\n"
	"     Web Content-55    [003] 10.263994123: other:           n=6 cpu=8 text=c d flag=X|Y\n"
	"CPU:3 [LOST 12 EVENTS]\n"
	"CPU:3 [7 EVENTS DROPPED]\n"
	"CPU:1 [LOST EVENTS]\n"
	" a-1 [000] 1: x:-56    [000] .....    11.000000: cache: dev 8:1 ino 2a pfn=0x1234 "
	"ofs=4096\n"
	"bash-57 [65535] ..... 12.000000: cache: dev 8:1 ino ff pfn=(fault) "
	"ofs=-9223372036854775808\r\n";

static sws_ftrace *new_parser(const struct sws_allocator *allocator, bool skip)
{
	struct sws_ftrace_config config;
	sws_ftrace *parser = NULL;

	sws_ftrace_config_init(&config);
	config.allocator = allocator ? *allocator : config.allocator;
	config.skip = skip;
	config.first_rows = 2;
	CHECK(sws_ftrace_new(&config, &parser) == SWS_OK);
	CHECK(sws_ftrace_know_field(parser, "swp_add", "folio", SWS_FTRACE_UINT64) == SWS_OK);
	CHECK(sws_ftrace_know_field(parser, "cache", "dev", SWS_FTRACE_STRING) == SWS_OK);
	CHECK(sws_ftrace_know_field(parser, "cache", "ino", SWS_FTRACE_HEX) == SWS_OK);
	CHECK(sws_ftrace_know_field(parser, "cache", "pfn", SWS_FTRACE_UINT64) == SWS_OK);
	CHECK(sws_ftrace_know_text(parser, "cache", "dev {dev} ino {ino} {}") == SWS_OK);
	return parser;
}

static void verify(const sws_ftrace *parser)
{
	const char *reason = NULL;

	CHECK(sws_ftrace_verify(parser, &reason) == SWS_OK);
	CHECK(!reason);
}

/* Feeds a text in pieces of `piece` bytes and ends it. */
static int feed(sws_ftrace *parser, const char *text, size_t piece)
{
	size_t length = strlen(text);
	int error = SWS_OK;

	for (size_t at = 0; at < length && !error; at += piece) {
		error = sws_ftrace_feed(parser, text + at,
					length - at < piece ? length - at : piece);
		verify(parser);
	}
	return error ? error : sws_ftrace_finish(parser);
}

static struct sws_ftrace_batch event(const sws_ftrace *parser, const char *name, size_t *index)
{
	struct sws_ftrace_batch batch;

	for (*index = 0; *index < sws_ftrace_events(parser); (*index)++) {
		CHECK(sws_ftrace_batch(parser, *index, &batch) == SWS_OK);
		if (strcmp(batch.name, name) == 0)
			return batch;
	}
	CHECK(*index < sws_ftrace_events(parser));
	return batch;
}

static struct sws_ftrace_column column(const sws_ftrace *parser, const char *name,
				       const char *field)
{
	struct sws_ftrace_column found;
	size_t index = 0;
	size_t i = 0;
	struct sws_ftrace_batch batch = event(parser, name, &index);

	for (; i < batch.fields; i++) {
		CHECK(sws_ftrace_column(parser, index, i, &found) == SWS_OK);
		if (strcmp(found.name, field) == 0)
			return found;
	}
	CHECK(i < batch.fields);
	return found;
}

static uint64_t number(const sws_ftrace *parser, const char *name, const char *field, size_t row)
{
	return ((const uint64_t *)column(parser, name, field).values)[row];
}

static bool is_string(const sws_ftrace *parser, uint32_t code, const char *wanted)
{
	size_t left = 0;
	const char *at = sws_ftrace_strings(parser, &left);

	CHECK(code > 0);
	for (; code > 1; code--) {
		const char *end = memchr(at, '\n', left);

		CHECK(end);
		left -= (size_t)(end + 1 - at);
		at = end + 1;
	}
	return left > strlen(wanted) && memcmp(at, wanted, strlen(wanted)) == 0 &&
	       at[strlen(wanted)] == '\n';
}

static bool has_string(const sws_ftrace *parser, const char *name, const char *field, size_t row,
		       const char *wanted)
{
	struct sws_ftrace_column found = column(parser, name, field);

	CHECK(found.type == SWS_FTRACE_STRING);
	return is_string(parser, ((const uint32_t *)found.values)[row], wanted);
}

static void check_heads(const sws_ftrace *parser)
{
	size_t index = 0;
	struct sws_ftrace_batch batch = event(parser, "swp_add", &index);

	CHECK(batch.rows == 2 && batch.seq[1] == 1 && batch.pid[1] == 53 && batch.cpu[1] == 1);
	CHECK(batch.t_ns[0] == INT64_C(10263993000));
	batch = event(parser, "other", &index);
	CHECK(batch.rows == 2 && batch.cpu[0] == 2 && batch.t_ns[1] == INT64_C(10263994123));
	CHECK(is_string(parser, batch.comm[0], "<...>"));
	CHECK(is_string(parser, batch.comm[1], "Web Content"));
	batch = event(parser, "cache", &index);
	CHECK(batch.rows == 2 && batch.seq[0] == 4 && batch.cpu[1] == 65535);
	CHECK(is_string(parser, batch.comm[0], "a-1 [000] 1: x:"));
	CHECK(is_string(parser, batch.comm[1], "bash"));
}

static void check_fields(const sws_ftrace *parser)
{
	CHECK(number(parser, "swp_add", "folio", 1) == UINT64_C(0xffffea00000d9000));
	CHECK(number(parser, "swp_add", "entry", 0) == 0x4000);
	CHECK(has_string(parser, "swp_add", "text", 1, "(f+0x0/0x2)"));
	CHECK((int64_t)number(parser, "other", "n", 0) == -5);
	CHECK(number(parser, "other", "arg_cpu", 1) == 8);
	CHECK(has_string(parser, "other", "arg_text", 0, "a"));
	CHECK(has_string(parser, "other", "text", 1, "d"));
	CHECK(has_string(parser, "other", "flag", 1, "X|Y"));
	CHECK(has_string(parser, "cache", "dev", 0, "8:1"));
	CHECK(number(parser, "cache", "ino", 0) == 0x2a &&
	      number(parser, "cache", "ino", 1) == 0xff);
	CHECK((int64_t)number(parser, "cache", "ofs", 1) == INT64_MIN);
	CHECK(column(parser, "cache", "pfn").valid[0] == 1);
	CHECK(column(parser, "cache", "pfn").valid[1] == 0);
	CHECK(!column(parser, "swp_add", "entry").valid);
}

static void every_form_is_read_wherever_the_text_is_cut(void)
{
	for (size_t piece = 1; piece <= sizeof(forms); piece++) {
		sws_ftrace *parser = new_parser(NULL, false);
		struct sws_ftrace_totals totals;
		const uint64_t *lost = NULL;
		size_t cpus = 0;

		CHECK(feed(parser, forms, piece) == SWS_OK);
		check_heads(parser);
		check_fields(parser);
		sws_ftrace_totals(parser, &totals);
		CHECK(totals.rows == 6 && totals.lines == 13 && totals.overwritten == 15);
		CHECK(totals.gaps == 1 && totals.clock == SWS_FTRACE_CLOCK_SECONDS);
		lost = sws_ftrace_lost(parser, &cpus);
		CHECK(cpus > 3 && lost[3] == 19 && lost[1] == 0);
		sws_ftrace_free(parser);
	}
}

/* Feeds one line of an event "e" with these fields. */
static int add(sws_ftrace *parser, const char *fields)
{
	static const char head[] = "            task-1       [000] .....     1.000000: e: ";
	int error = sws_ftrace_feed(parser, head, strlen(head));

	if (!error)
		error = sws_ftrace_feed(parser, fields, strlen(fields));
	return error ? error : sws_ftrace_feed(parser, "\n", 1);
}

static int type_of(const char *first, const char *second)
{
	sws_ftrace *parser = new_parser(NULL, false);
	int type = -1;

	CHECK(add(parser, first) == SWS_OK && add(parser, second) == SWS_OK);
	type = column(parser, "e", "f").type;
	sws_ftrace_free(parser);
	return type;
}

static void first_rows_settle_types(void)
{
	CHECK(type_of("f=1", "f=-2") == SWS_FTRACE_INT64);
	CHECK(type_of("f=0", "f=0x1f") == SWS_FTRACE_UINT64);
	CHECK(type_of("f=00000000abcdef12", "f=ffff888004cb92d9") == SWS_FTRACE_UINT64);
	CHECK(type_of("f=0000000012345678", "f=0000000012345679") == SWS_FTRACE_UINT64);
	CHECK(type_of("f=1234567890123456", "f=1") == SWS_FTRACE_INT64);
	CHECK(type_of("f=(fault)", "f=0x1") == SWS_FTRACE_UINT64);
	CHECK(type_of("f=1", "f=0x10") == SWS_FTRACE_UINT64);
	CHECK(type_of("f=1", "f=9223372036854775808") == SWS_FTRACE_UINT64);
	CHECK(type_of("f=1.5", "f=2") == SWS_FTRACE_STRING);
	CHECK(type_of("f=", "f=A|B") == SWS_FTRACE_STRING);
}

static struct sws_ftrace_report fault_of(const char *text, int kind)
{
	sws_ftrace *parser = new_parser(NULL, false);
	struct sws_ftrace_report report;

	CHECK(feed(parser, text, 7) == SWS_ERROR_BAD_LINE);
	CHECK(sws_ftrace_feed(parser, "\n", 1) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_ftrace_report(parser, kind, &report) == SWS_OK);
	CHECK(report.count == 1);
	sws_ftrace_free(parser);
	return report;
}

#define TASK "            task-1       [000] .....     "
#define HEAD TASK "1.000000: "

static void each_fault_names_its_line_and_field(void)
{
	struct sws_ftrace_report report = fault_of("#\n" HEAD "e: a=\x01\n", SWS_FTRACE_BYTES);

	CHECK(report.line == 2);
	CHECK(fault_of(HEAD "e: a=\xc3\x28\n", SWS_FTRACE_UTF8).line == 1);
	CHECK(fault_of(HEAD "e: a=1", SWS_FTRACE_CUT).line == 1);
	CHECK(fault_of("nonsense\n", SWS_FTRACE_HEAD).line == 1);
	CHECK(fault_of(HEAD "e: a=1\n task-1 [000] 12: e: a=1\n", SWS_FTRACE_CLOCK).line == 2);
	CHECK(fault_of(" bash-1 [000] 1.000000: f <-g\n", SWS_FTRACE_EVENT).line == 1);
	CHECK(fault_of(" bash-4294967296 [000] 1.000000: e: a=1\n", SWS_FTRACE_NUMBER).line == 1);
	report = fault_of(HEAD "e: a=1\n" HEAD "e: a=18446744073709551616\n", SWS_FTRACE_NUMBER);
	CHECK(report.line == 2 && strcmp(report.field, "a") == 0);
	CHECK(strcmp(report.excerpt, "18446744073709551616") == 0);
	report = fault_of(HEAD "cache: dev 8:1 ino xyz a=1\n", SWS_FTRACE_TYPE);
	CHECK(strcmp(report.field, "ino") == 0 && report.type == SWS_FTRACE_HEX);
	report = fault_of(HEAD "e: a=1 a=2\n", SWS_FTRACE_DUPLICATE);
	CHECK(strcmp(report.field, "a") == 0 && strcmp(report.excerpt, "2") == 0);
}

static void a_line_without_a_declared_field_of_the_first_ones_is_a_fault(void)
{
	struct sws_ftrace_report report = fault_of(
		HEAD "swp_add: (f+0x0/0x2) folio=0x1\n" HEAD "swp_add: (f+0\n", SWS_FTRACE_LACKS);
	sws_ftrace *parser = new_parser(NULL, false);

	CHECK(report.line == 2 && strcmp(report.field, "folio") == 0);
	CHECK(strcmp(report.excerpt, "(f+0") == 0);
	report = fault_of(HEAD "swp_add: (f+0\n" HEAD "swp_add: (f+0x0/0x2) folio=0x1\n" HEAD
			       "swp_add: (f+0x0/0x2) folio=0x2\n",
			  SWS_FTRACE_LACKS);
	CHECK(report.line == 1);
	/* No line of the first two has it, and the type of "entry" is not declared. */
	CHECK(feed(parser,
		   HEAD "swp_add: entry=1\n" HEAD "swp_add: x=1\n" HEAD "swp_add: folio=0x1\n" HEAD
			"swp_add: x=1\n",
		   9) == SWS_OK);
	CHECK(!column(parser, "swp_add", "folio").valid[3]);
	sws_ftrace_free(parser);
}

static void lines_of_one_task_are_read_as_any_other(void)
{
	sws_ftrace *parser = new_parser(NULL, false);
	size_t index = 0;

	CHECK(feed(parser, HEAD "e: a=1\n" HEAD "ee: a=2\n" HEAD "e: a=3\n" HEAD "e: a=4\n", 99) ==
	      SWS_OK);
	CHECK(event(parser, "e", &index).rows == 3 && event(parser, "ee", &index).rows == 1);
	sws_ftrace_free(parser);
	CHECK(fault_of(HEAD "e: a=1\n" TASK "nonsense\n", SWS_FTRACE_HEAD).line == 2);
	CHECK(fault_of(HEAD "e: a=1\n" TASK "12: e: a=1\n", SWS_FTRACE_CLOCK).line == 2);
	CHECK(fault_of(HEAD "e: a=1\n" HEAD "e.\n", SWS_FTRACE_EVENT).line == 2);
}

static void six_digits_are_read_at_once_and_no_other_byte_is(void)
{
	char text[16];
	uint64_t value = 0;

	for (uint64_t number = 0; number < 1000000; number += 7) {
		(void)snprintf(text, sizeof(text), "%06u: ", (unsigned int)number);
		CHECK(ftrace_six_digits(text, &value) && value == number);
	}
	for (size_t at = 0; at < 6; at++) {
		for (int byte = 0; byte < 256; byte++) {
			memcpy(text, "123456: ", 8);
			text[at] = (char)byte;
			CHECK(ftrace_six_digits(text, &value) == ftrace_is_digit((char)byte));
		}
	}
}

static void either_notation_of_a_whole_number_is_good_in_any_column(void)
{
	sws_ftrace *parser = new_parser(NULL, false);

	CHECK(sws_ftrace_know_field(parser, "k", "d", SWS_FTRACE_INT64) == SWS_OK);
	CHECK(sws_ftrace_know_field(parser, "k", "p", SWS_FTRACE_UINT64) == SWS_OK);
	CHECK(sws_ftrace_know_field(parser, "k", "x", SWS_FTRACE_HEX) == SWS_OK);
	CHECK(feed(parser,
		   HEAD "k: d=-2 p=0x8000 x=1f\n" HEAD "k: d=0x10 p=32768 x=0x1f\n" HEAD
			"k: d=0xfffffffffffffffe p=18446744073709551614 x=20\n" HEAD
			"k: d=ffffffffffffffff p=-1 x=0\n",
		   999) == SWS_OK);
	CHECK(sws_ftrace_finish(parser) == SWS_OK);
	CHECK(number(parser, "k", "d", 1) == 0x10);
	CHECK(number(parser, "k", "d", 2) == (uint64_t)-2);
	CHECK(number(parser, "k", "d", 3) == (uint64_t)-1);
	CHECK(number(parser, "k", "p", 0) == number(parser, "k", "p", 1));
	CHECK(number(parser, "k", "p", 2) == (uint64_t)-2);
	CHECK(number(parser, "k", "p", 3) == (uint64_t)-1);
	CHECK(number(parser, "k", "x", 0) == number(parser, "k", "x", 1));
	sws_ftrace_free(parser);
	CHECK(fault_of(HEAD "cache: dev 8:1 ino 1 a=0x10000000000000000\n", SWS_FTRACE_NUMBER)
		      .line == 1);
}

static void a_line_too_long_is_a_fault_and_no_memory(void)
{
	sws_ftrace *parser = new_parser(NULL, true);
	struct sws_ftrace_report report;
	char block[4096];

	memset(block, 'x', sizeof(block));
	for (int i = 0; i < 100; i++)
		CHECK(sws_ftrace_feed(parser, block, sizeof(block)) == SWS_OK);
	CHECK(feed(parser, "\n" HEAD "e: a=1\n", 1) == SWS_OK);
	CHECK(sws_ftrace_report(parser, SWS_FTRACE_LONG, &report) == SWS_OK);
	CHECK(report.count == 1 && report.line == 1);
	CHECK(number(parser, "e", "a", 0) == 1);
	sws_ftrace_free(parser);
}

static void names_beyond_the_limits_are_faults(void)
{
	struct sws_ftrace_config config;
	sws_ftrace *parser = NULL;
	struct sws_ftrace_report report;

	sws_ftrace_config_init(&config);
	config.max_events = 2;
	config.max_fields = 2;
	config.skip = true;
	CHECK(sws_ftrace_new(&config, &parser) == SWS_OK);
	CHECK(feed(parser,
		   HEAD "a: x=1\n" HEAD "b: x=1 y=2 z=3\n" HEAD "b: x=1\n" HEAD "c: x=1\n" HEAD
			"a: y=1\n" HEAD "a: z=1\n",
		   1000) == SWS_OK);
	CHECK(sws_ftrace_report(parser, SWS_FTRACE_CROWDED, &report) == SWS_OK);
	CHECK(report.count == 3 && report.line == 2);
	sws_ftrace_free(parser);
	config.max_fields = 0;
	CHECK(sws_ftrace_new(&config, &parser) == SWS_ERROR_BAD_CONFIG);
	CHECK(!parser);
}

static void skipped_lines_are_counted_and_leave_no_column(void)
{
	sws_ftrace *parser = new_parser(NULL, true);
	struct sws_ftrace_report report;
	struct sws_ftrace_batch batch;
	size_t index = 0;

	CHECK(feed(parser,
		   HEAD "e: a=1\n" HEAD "e: a=2\n" HEAD "e: b=3 a=x\nnonsense\n" HEAD
			"e: a=4\nmore\n",
		   5) == SWS_OK);
	batch = event(parser, "e", &index);
	CHECK(batch.rows == 3 && batch.fields == 1 && batch.seq[2] == 3);
	CHECK(sws_ftrace_report(parser, SWS_FTRACE_HEAD, &report) == SWS_OK);
	CHECK(report.count == 2 && report.line == 4);
	CHECK(strcmp(report.excerpt, "nonsense") == 0);
	sws_ftrace_free(parser);
}

static void a_clear_drops_rows_and_keeps_types(void)
{
	sws_ftrace *parser = new_parser(NULL, false);
	size_t index = 0;

	CHECK(add(parser, "f=0x1 g=a") == SWS_OK && add(parser, "f=0x2") == SWS_OK);
	CHECK(sws_ftrace_cells(parser) == 14);
	CHECK(column(parser, "e", "g").valid[1] == 0);
	sws_ftrace_clear(parser);
	CHECK(sws_ftrace_cells(parser) == 0);
	CHECK(add(parser, "f=0x3 g=b") == SWS_OK);
	verify(parser);
	CHECK(event(parser, "e", &index).rows == 1 && event(parser, "e", &index).seq[0] == 2);
	CHECK(number(parser, "e", "f", 0) == 3 && has_string(parser, "e", "g", 0, "b"));
	CHECK(!column(parser, "e", "g").valid);
	sws_ftrace_free(parser);
}

static void known_texts_that_break_the_rules_are_refused(void)
{
	static const char *const bad[] = { "no field",   "{dev",       "{unknown} x",
					   "{dev}{ino}", "{dev} {} x", "{dev}0 {ino}" };
	sws_ftrace *parser = new_parser(NULL, false);

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(sws_ftrace_know_text(parser, "cache", bad[i]) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_ftrace_know_field(parser, "cache", "x", 4) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_ftrace_know_field(parser, "cache", "", 0) == SWS_ERROR_BAD_ARGUMENT);
	sws_ftrace_free(parser);
}

static int read_all(const struct sws_allocator *allocator)
{
	struct sws_ftrace_config config;
	sws_ftrace *parser = NULL;
	int error = SWS_OK;

	sws_ftrace_config_init(&config);
	config.allocator = *allocator;
	config.first_rows = 1;
	error = sws_ftrace_new(&config, &parser);
	if (!error)
		error = sws_ftrace_know_field(parser, "cache", "dev", SWS_FTRACE_STRING);
	if (!error)
		error = sws_ftrace_know_text(parser, "cache", "dev {dev} {}");
	for (size_t at = 0; at + 1 < sizeof(forms) && !error; at++)
		error = sws_ftrace_feed(parser, forms + at, 1);
	for (int i = 0; i < 200 && !error; i++)
		error = add(parser, i % 3 ? "a=1 b=x" : "a=2 c=3 word");
	if (!error)
		error = sws_ftrace_finish(parser);
	sws_ftrace_free(parser);
	return error;
}

static void each_failed_allocation_is_reported_and_nothing_leaks(void)
{
	check_each_allocation_failing(read_all);
}

int main(void)
{
	RUN(every_form_is_read_wherever_the_text_is_cut);
	RUN(first_rows_settle_types);
	RUN(each_fault_names_its_line_and_field);
	RUN(a_line_without_a_declared_field_of_the_first_ones_is_a_fault);
	RUN(lines_of_one_task_are_read_as_any_other);
	RUN(six_digits_are_read_at_once_and_no_other_byte_is);
	RUN(either_notation_of_a_whole_number_is_good_in_any_column);
	RUN(a_line_too_long_is_a_fault_and_no_memory);
	RUN(names_beyond_the_limits_are_faults);
	RUN(skipped_lines_are_counted_and_leave_no_column);
	RUN(a_clear_drops_rows_and_keeps_types);
	RUN(known_texts_that_break_the_rules_are_refused);
	RUN(each_failed_allocation_is_reported_and_nothing_leaks);
	return 0;
}
