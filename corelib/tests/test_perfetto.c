/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check.h"

#include "swapsim/perfetto.h"

#include <stdlib.h>
#include <string.h>

/*
 * Two events of one bundle: { time=1000000001 pid=7, generic { name="add", { "entry", unsigned
 * 0x4000 }, { "n", signed -2 }, { "w", "a b" }, { "__probe_ip", unsigned 1 } } }, and { time=2 pid=8,
 * type 46 { 1: 3, 3: 0xcc0 } }.
 */
static const char bundle[] = "\x08\x01"
			     "\x12\x47\x08\x81\x94\xeb\xdc\x03\x10\x07\xba\x14\x3c"
			     "\x0a\x03"
			     "add"
			     "\x12\x0b\x0a\x05"
			     "entry"
			     "\x28\x80\x80\x01"
			     "\x12\x0e\x0a\x01n\x20\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"
			     "\x12\x08\x0a\x01w\x1a\x03"
			     "a\"b"
			     "\x12\x0e\x0a\x0a__probe_ip\x28\x01"
			     "\x12\x0c\x08\x02\x10\x08\xf2\x02\x05\x08\x03\x18\xc0\x19";

/* Where the first event ends. */
#define FIRST 75

static const char text[] = "<...>-7 [003] 1.000000001: add: entry=0x4000 n=-2 w=\"a?b\"\n"
			   "<...>-8 [003] 0.000000002: begin: order=3 mask=0xcc0\n";

static sws_perfetto *new_reader(bool whole_clock)
{
	struct sws_perfetto_config config;
	sws_perfetto *reader = NULL;

	sws_perfetto_config_init(&config);
	config.whole_clock = whole_clock;
	CHECK(sws_perfetto_new(&config, &reader) == SWS_OK);
	return reader;
}

static int know(sws_perfetto *reader)
{
	int error = sws_perfetto_know(reader, 46, "begin");

	error = error ? error : sws_perfetto_know_field(reader, 1, "order", true);
	return error ? error : sws_perfetto_know_field(reader, 3, "mask", false);
}

static void has_text(const sws_perfetto *reader, const char *wanted)
{
	size_t length = 0;
	const char *found = sws_perfetto_text(reader, &length);

	CHECK(length == strlen(wanted));
	CHECK(!length || memcmp(found, wanted, length) == 0);
}

static void events_become_lines(void)
{
	sws_perfetto *reader = new_reader(false);

	CHECK(know(reader) == SWS_OK);
	CHECK(sws_perfetto_read(reader, bundle, sizeof(bundle) - 1, 3) == SWS_OK);
	has_text(reader, text);
	CHECK(sws_perfetto_others(reader) == 0);
	sws_perfetto_clear(reader);
	has_text(reader, "");
	sws_perfetto_free(reader);
}

static void a_clock_of_whole_numbers_has_no_point(void)
{
	static const char one[] = "\x12\x10\x08\xe7\x0f\x10\x07\xba\x14\x08\x0a\x06"
				  "events";
	static const char short_name[] = "\x12\x0b\x08\xe7\x0f\x10\x07\xba\x14\x03\x0a\x01"
					 "e";
	sws_perfetto *reader = new_reader(true);

	CHECK(sws_perfetto_read(reader, one, sizeof(one) - 1, 12) == SWS_OK);
	has_text(reader, "<...>-7 [012] 2023: events:\n");
	CHECK(sws_perfetto_read(reader, short_name, sizeof(short_name) - 1, 0) == SWS_OK);
	has_text(reader, "<...>-7 [012] 2023: events:\n<...>-7 [000] 2023: e:\n");
	sws_perfetto_free(reader);
}

static void other_types_are_counted(void)
{
	sws_perfetto *reader = new_reader(false);

	CHECK(sws_perfetto_know(reader, 46, "begin") == SWS_OK);
	CHECK(sws_perfetto_know(reader, 47, "end") == SWS_OK);
	CHECK(sws_perfetto_know_field(reader, 1, "order", true) == SWS_OK);
	/* The type is another event now, without fields. */
	CHECK(sws_perfetto_know(reader, 46, "started") == SWS_OK);
	CHECK(sws_perfetto_read(reader, bundle + FIRST, sizeof(bundle) - 1 - FIRST, 3) == SWS_OK);
	has_text(reader, "<...>-8 [003] 0.000000002: started:\n");
	sws_perfetto_free(reader);
	reader = new_reader(false);
	CHECK(sws_perfetto_read(reader, bundle + FIRST, sizeof(bundle) - 1 - FIRST, 3) == SWS_OK);
	CHECK(sws_perfetto_others(reader) == 1);
	sws_perfetto_free(reader);
}

static void a_cut_bundle_leaves_the_text_as_it_was(void)
{
	sws_perfetto *reader = new_reader(false);

	CHECK(know(reader) == SWS_OK);
	CHECK(sws_perfetto_read(reader, bundle, sizeof(bundle) - 1, 3) == SWS_OK);
	for (size_t length = 1; length < sizeof(bundle) - 1; length++) {
		char *cut = memcpy(malloc(length), bundle, length);
		int error = sws_perfetto_read(reader, cut, length, 3);

		/* Between two events the rest is a bundle, too. */
		CHECK(error == (length == 2 || length == FIRST ? SWS_OK : SWS_ERROR_BAD_ARGUMENT));
		if (!error) {
			sws_perfetto_clear(reader);
			CHECK(sws_perfetto_read(reader, bundle, sizeof(bundle) - 1, 3) == SWS_OK);
		}
		has_text(reader, text);
		free(cut);
	}
	sws_perfetto_free(reader);
}

static void names_that_are_no_words_are_refused(void)
{
	sws_perfetto *reader = new_reader(false);
	char changed[sizeof(bundle)];

	CHECK(sws_perfetto_know_field(reader, 1, "order", true) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_perfetto_know(reader, 46, "") == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_perfetto_know(reader, 46, "a b") == SWS_ERROR_BAD_ARGUMENT);
	CHECK(know(reader) == SWS_OK);
	CHECK(sws_perfetto_know_field(reader, 1, "a=", true) == SWS_ERROR_BAD_ARGUMENT);
	memcpy(changed, bundle, sizeof(bundle));
	*strstr(changed + 10, "add") = '\n';
	CHECK(sws_perfetto_read(reader, changed, sizeof(bundle) - 1, 3) == SWS_ERROR_BAD_ARGUMENT);
	has_text(reader, "");
	sws_perfetto_free(reader);
}

static int read_all(const struct sws_allocator *allocator)
{
	struct sws_perfetto_config config;
	sws_perfetto *reader = NULL;
	int error = SWS_OK;

	sws_perfetto_config_init(&config);
	config.allocator = *allocator;
	error = sws_perfetto_new(&config, &reader);
	if (!error)
		error = know(reader);
	for (int i = 0; i < 20 && !error; i++)
		error = sws_perfetto_read(reader, bundle, sizeof(bundle) - 1, 3);
	sws_perfetto_free(reader);
	return error;
}

static void each_failed_allocation_is_reported_and_nothing_leaks(void)
{
	check_each_allocation_failing(read_all);
}

int main(void)
{
	RUN(events_become_lines);
	RUN(a_clock_of_whole_numbers_has_no_point);
	RUN(other_types_are_counted);
	RUN(a_cut_bundle_leaves_the_text_as_it_was);
	RUN(names_that_are_no_words_are_refused);
	RUN(each_failed_allocation_is_reported_and_nothing_leaks);
	return 0;
}
