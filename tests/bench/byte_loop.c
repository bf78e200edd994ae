/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * byte_loop.c - the scan for a free slot in its simplest form: one byte per iteration, with the
 * ration decremented each time.
 *
 * usage: byte_loop BYTES SCANS; prints the nanoseconds of so many scans over so many bytes, the
 * bytes tested, and how often one scan's ration ran out.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RATION = 256, COUNT = 0x3f };

/* Tests slots 0 .. highest until one is free, or held by the cache only; returns its position. */
static uint64_t scan(const uint8_t *map, uint64_t highest, uint64_t *rescheduled)
{
	uint64_t offset = 0;
	int ration = RATION;

	for (; offset <= highest; offset++) {
		if (--ration < 0) {
			++*rescheduled;
			ration = RATION;
		}
		if (!(map[offset] & COUNT))
			break;
	}
	return offset;
}

static double now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

int main(int argc, char **argv)
{
	const uint64_t bytes = argc == 3 ? strtoull(argv[1], NULL, 10) : 0;
	const uint64_t scans = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
	uint8_t *map = bytes ? malloc(bytes) : NULL;
	uint64_t rescheduled = 0;
	uint64_t tested = 0;
	double start = 0;

	if (!map || !scans) {
		fprintf(stderr, "usage: %s BYTES SCANS\n", argv[0]);
		return 2;
	}
	memset(map, 1, bytes);
	map[bytes - 1] = 0;
	start = now_ns();
	for (uint64_t i = 0; i < scans; i++)
		tested += scan(map, bytes - 1, &rescheduled) + 1;
	printf("%.0f %llu %llu\n", now_ns() - start, (unsigned long long)tested,
	       (unsigned long long)(rescheduled / scans));
	free(map);
	return 0;
}
