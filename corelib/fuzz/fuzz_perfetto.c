/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_perfetto.c - arbitrary bytes, read as a bundle: refused without a trace, or lines that the
 * parser of ftrace.h reads without a fault of their form, one event each.
 */
#include "input.h"

#include "swapsim/ftrace.h"
#include "swapsim/perfetto.h"

#include <stdlib.h>
#include <string.h>

static sws_perfetto *new_reader(bool whole_clock)
{
	struct sws_perfetto_config config;
	sws_perfetto *reader = NULL;

	sws_perfetto_config_init(&config);
	config.whole_clock = whole_clock;
	MUST(sws_perfetto_new(&config, &reader) == SWS_OK);
	MUST(sws_perfetto_know(reader, 46, "begin") == SWS_OK);
	MUST(sws_perfetto_know_field(reader, 1, "order", true) == SWS_OK);
	MUST(sws_perfetto_know_field(reader, 3, "mask", false) == SWS_OK);
	return reader;
}

static void parse(const char *text, size_t length)
{
	/* A pid or a time may be out of range, a field twice in an event, and a string no UTF-8. */
	static const int impossible[] = { SWS_FTRACE_BYTES, SWS_FTRACE_CUT, SWS_FTRACE_HEAD,
					  SWS_FTRACE_EVENT, SWS_FTRACE_CLOCK };
	struct sws_ftrace_config config;
	struct sws_ftrace_report report;
	struct sws_ftrace_totals totals;
	sws_ftrace *parser = NULL;
	const char *reason = NULL;
	uint64_t lines = 0;

	sws_ftrace_config_init(&config);
	config.skip = true;
	MUST(sws_ftrace_new(&config, &parser) == SWS_OK);
	MUST(sws_ftrace_feed(parser, text, length) == SWS_OK);
	MUST(sws_ftrace_finish(parser) == SWS_OK);
	MUST(sws_ftrace_verify(parser, &reason) == SWS_OK);
	for (size_t i = 0; i < sizeof(impossible) / sizeof(impossible[0]); i++) {
		MUST(sws_ftrace_report(parser, impossible[i], &report) == SWS_OK);
		MUST(report.count == 0);
	}
	for (size_t i = 0; i < length; i++)
		lines += text[i] == '\n';
	sws_ftrace_totals(parser, &totals);
	MUST(totals.lines == lines);
	sws_ftrace_free(parser);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	sws_perfetto *reader = NULL;
	const char *text = NULL;
	char *bytes = NULL;
	size_t length = 0;
	int error = SWS_OK;

	if (!size)
		return 0;
	reader = new_reader(data[0] & 1);
	/* A copy of exactly this size, so that a read beyond it is detected. */
	bytes = memcpy(malloc(size - 1 + !(size - 1)), data + 1, size - 1);
	error = sws_perfetto_read(reader, bytes, size - 1, data[0]);
	text = sws_perfetto_text(reader, &length);
	MUST(error == SWS_OK || error == SWS_ERROR_BAD_ARGUMENT);
	MUST(!error || !length);
	if (length)
		parse(text, length);
	sws_perfetto_free(reader);
	free(bytes);
	return 0;
}
