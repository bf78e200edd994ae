/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check.h"

#include <string.h>

static void every_code_has_a_sentence(void)
{
	for (int code = -8192; code <= 8192; code++)
		CHECK(strlen(sws_strerror(code)) > 0);
	CHECK(strcmp(sws_strerror(SWS_ERROR_EXISTS), sws_strerror(SWS_ERROR_NOT_FOUND)) != 0);
}

static void zeroed_allocation_refuses_an_overflowing_product(void)
{
	unsigned char *block = sws_allocate_zeroed(&sws_libc_allocator, 3, 5);

	CHECK(!sws_allocate_zeroed(&sws_libc_allocator, SIZE_MAX / 2, 3));
	CHECK(!sws_allocate_array(&sws_libc_allocator, SIZE_MAX / 2, 3));
	CHECK(block);
	for (int byte = 0; byte < 15; byte++)
		CHECK(block[byte] == 0);
	sws_release(&sws_libc_allocator, block);
	sws_release(&sws_libc_allocator, NULL);
}

static int grow_an_array(const struct sws_allocator *allocator)
{
	uint16_t *squares = NULL;
	size_t room = 0;
	int error = SWS_OK;

	for (uint16_t i = 0; i < 100 && !error; i++) {
		error = sws_reserve(allocator, &squares, &room, (size_t)i + 1, sizeof(*squares));
		if (error)
			break;
		CHECK(room > i);
		squares[i] = (uint16_t)(i * i);
		for (uint16_t before = 0; before < i; before++)
			CHECK(squares[before] == before * before);
	}
	sws_release(allocator, squares);
	return error;
}

static void reserve_keeps_what_an_array_holds(void)
{
	uint16_t *none = NULL;
	size_t room = 0;

	check_each_allocation_failing(grow_an_array);
	CHECK(sws_reserve(&sws_libc_allocator, &none, &room, SIZE_MAX / 4, sizeof(*none)) ==
	      SWS_ERROR_NO_MEMORY);
	/* A capacity of powers of two above half of all sizes would never be reached. */
	CHECK(sws_reserve(&sws_libc_allocator, &none, &room, SIZE_MAX / 2 + 2, 1) ==
	      SWS_ERROR_NO_MEMORY);
	CHECK(sws_reserve(&sws_libc_allocator, &none, &room, SIZE_MAX, 1) == SWS_ERROR_NO_MEMORY);
	CHECK(!sws_resize_array(&sws_libc_allocator, NULL, SIZE_MAX / 2 + 2, 2));
	CHECK(!none && room == 0);
}

static void streams_differ_and_repeat(void)
{
	struct sws_generator first, again, other;

	sws_generator_seed(&first, 1, 2);
	sws_generator_seed(&again, 1, 2);
	sws_generator_seed(&other, 2, 1);
	for (int draw = 0; draw < 100; draw++) {
		uint64_t value = sws_generator_next(&first);

		CHECK(value == sws_generator_next(&again));
		CHECK(value != sws_generator_next(&other));
	}
}

static void below_is_even_over_its_range(void)
{
	struct sws_generator generator;
	int seen[7] = { 0 };

	sws_generator_seed(&generator, 7, 0);
	CHECK(sws_generator_below(&generator, 0) == 0);
	CHECK(sws_generator_below(&generator, 1) == 0);
	for (int draw = 0; draw < 70000; draw++)
		seen[sws_generator_below(&generator, 7)]++;
	/* Six standard deviations of a binomial of 70,000 draws at 1/7 are 556. */
	for (int value = 0; value < 7; value++)
		CHECK(seen[value] > 9444 && seen[value] < 10556);
}

int main(void)
{
	RUN(every_code_has_a_sentence);
	RUN(zeroed_allocation_refuses_an_overflowing_product);
	RUN(reserve_keeps_what_an_array_holds);
	RUN(streams_differ_and_repeat);
	RUN(below_is_even_over_its_range);
	return 0;
}
