/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_ftrace.c - arbitrary bytes, parsed at once and in pieces: both results must agree, and every
 * table must satisfy its invariants.
 *
 * The first byte determines the first rows and whether batches are cleared between pieces, the
 * second the size of a piece; the rest is the text.
 */
#include "input.h"

#include "swapsim/ftrace.h"

#include <stdlib.h>
#include <string.h>

static sws_ftrace *new_parser(uint32_t first_rows)
{
	struct sws_ftrace_config config;
	sws_ftrace *parser = NULL;

	sws_ftrace_config_init(&config);
	config.skip = true;
	config.first_rows = first_rows;
	config.max_line = 512;
	config.max_events = 8;
	config.max_fields = 8;
	MUST(sws_ftrace_new(&config, &parser) == SWS_OK);
	MUST(sws_ftrace_know_field(parser, "cache", "dev", SWS_FTRACE_STRING) == SWS_OK);
	MUST(sws_ftrace_know_field(parser, "cache", "ino", SWS_FTRACE_HEX) == SWS_OK);
	MUST(sws_ftrace_know_field(parser, "cache", "ofs", SWS_FTRACE_INT64) == SWS_OK);
	MUST(sws_ftrace_know_text(parser, "cache", "dev {dev} ino {ino} {}") == SWS_OK);
	MUST(sws_ftrace_know_text(parser, "cache", "{dev}: {ofs}") == SWS_OK);
	return parser;
}

static void verify(const sws_ftrace *parser)
{
	const char *reason = NULL;

	MUST(sws_ftrace_verify(parser, &reason) == SWS_OK);
}

static void same_faults(const sws_ftrace *one, const sws_ftrace *other)
{
	struct sws_ftrace_report reports[2];

	for (int kind = 1; kind < SWS_FTRACE_FAULTS; kind++) {
		MUST(sws_ftrace_report(one, kind, &reports[0]) == SWS_OK);
		MUST(sws_ftrace_report(other, kind, &reports[1]) == SWS_OK);
		MUST(reports[0].count == reports[1].count && reports[0].line == reports[1].line);
		MUST(strcmp(reports[0].field, reports[1].field) == 0);
		MUST(memcmp(reports[0].excerpt, reports[1].excerpt, sizeof(reports[0].excerpt)) ==
		     0);
	}
}

static void same_column(const sws_ftrace *one, const sws_ftrace *other, size_t event, size_t index,
			size_t rows)
{
	struct sws_ftrace_column a;
	struct sws_ftrace_column b;

	MUST(sws_ftrace_column(one, event, index, &a) == SWS_OK);
	MUST(sws_ftrace_column(other, event, index, &b) == SWS_OK);
	MUST(strcmp(a.name, b.name) == 0 && a.type == b.type && a.used == b.used);
	MUST(!a.valid == !b.valid && (!a.valid || memcmp(a.valid, b.valid, rows) == 0));
	MUST(memcmp(a.values, b.values,
		    rows * (a.type == SWS_FTRACE_STRING ? sizeof(uint32_t) : sizeof(uint64_t))) ==
	     0);
}

static void same_tables(const sws_ftrace *one, const sws_ftrace *other)
{
	MUST(sws_ftrace_events(one) == sws_ftrace_events(other));
	for (size_t event = 0; event < sws_ftrace_events(one); event++) {
		struct sws_ftrace_batch a;
		struct sws_ftrace_batch b;

		MUST(sws_ftrace_batch(one, event, &a) == SWS_OK);
		MUST(sws_ftrace_batch(other, event, &b) == SWS_OK);
		MUST(a.rows == b.rows && a.fields == b.fields && strcmp(a.name, b.name) == 0);
		if (!a.rows)
			continue;
		MUST(memcmp(a.seq, b.seq, a.rows * sizeof(*a.seq)) == 0);
		MUST(memcmp(a.t_ns, b.t_ns, a.rows * sizeof(*a.t_ns)) == 0);
		MUST(memcmp(a.pid, b.pid, a.rows * sizeof(*a.pid)) == 0);
		MUST(memcmp(a.comm, b.comm, a.rows * sizeof(*a.comm)) == 0);
		for (size_t column = 0; column < a.fields; column++)
			same_column(one, other, event, column, a.rows);
	}
}

static void same_totals(const sws_ftrace *one, const sws_ftrace *other)
{
	struct sws_ftrace_totals a;
	struct sws_ftrace_totals b;

	sws_ftrace_totals(one, &a);
	sws_ftrace_totals(other, &b);
	MUST(a.lines == b.lines && a.rows == b.rows && a.overwritten == b.overwritten);
	MUST(a.gaps == b.gaps && a.clock == b.clock);
	MUST(a.earlier == b.earlier && a.earlier_line == b.earlier_line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	sws_ftrace *whole = NULL;
	sws_ftrace *pieces = NULL;
	const char *text = NULL;
	size_t length = size < 2 ? 0 : size - 2;
	size_t piece = 0;
	bool clears = false;

	if (size < 2)
		return 0;
	clears = data[0] & 1;
	piece = data[1] ? data[1] : 1000;
	/* A copy of exactly this size, so that a read beyond it is detected. */
	text = memcpy(malloc(length + !length), data + 2, length);
	whole = new_parser((data[0] >> 1) + 1u);
	pieces = new_parser((data[0] >> 1) + 1u);
	MUST(sws_ftrace_feed(whole, text, length) == SWS_OK);
	MUST(sws_ftrace_finish(whole) == SWS_OK);
	verify(whole);
	for (size_t at = 0; at < length; at += piece) {
		MUST(sws_ftrace_feed(pieces, text + at,
				     length - at < piece ? length - at : piece) == SWS_OK);
		verify(pieces);
		if (clears)
			sws_ftrace_clear(pieces);
	}
	MUST(sws_ftrace_finish(pieces) == SWS_OK);
	verify(pieces);
	same_totals(whole, pieces);
	same_faults(whole, pieces);
	if (!clears)
		same_tables(whole, pieces);
	sws_ftrace_free(whole);
	sws_ftrace_free(pieces);
	free((void *)(uintptr_t)text);
	return 0;
}
