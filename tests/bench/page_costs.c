// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * page_costs.c - measures the cost of a page of 4 KB on this machine, in ns: four constants of
 * data/costs.csv. Build: cc -O2 page_costs.c -o page_costs. Each page is in no cache when it is
 * accessed; times are those of the process.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PAGE = 4096, PAGES = 1 << 16, READS = 1 << 22, SLOTS = 1 << 24 };

static double now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static void report(const char *name, double since, double count)
{
	printf("%-10s %8.2f ns\n", name, (now_ns() - since) / count);
}

static void copy(char *to, const char *from)
{
	const double start = now_ns();

	for (size_t page = 0; page < PAGES; page++)
		memcpy(to + page * PAGE, from + page * PAGE, PAGE);
	report("copy_ns", start, PAGES);
}

static void touch(char *memory)
{
	const double start = now_ns();

	for (size_t page = 0; page < PAGES; page++) {
		volatile uint64_t *words = (void *)(memory + page * PAGE);

		memset(memory + page * PAGE, 0, PAGE);
		for (size_t word = 0; word < PAGE / sizeof(*words); word++)
			words[word] = word;
	}
	report("touch_ns", start, PAGES);
}

/* Each address depends on the last read, unlike a walker's: an upper bound. */
static void access(const char *memory)
{
	const volatile char *bytes = memory;
	uint64_t state = 1;
	double start = now_ns();

	for (int i = 0; i < READS; i++) {
		state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407) +
			(uint64_t)bytes[(state >> 20) % ((uint64_t)PAGE * PAGES)];
	}
	report("access_ns", start, READS);
}

static void test_slots(void)
{
	char *map = malloc(SLOTS);
	volatile uint64_t found = 0;
	double start = 0;

	if (!map)
		return;
	for (size_t i = 0; i < SLOTS; i++)
		map[i] = (char)(i % 61 != 0);
	start = now_ns();
	for (const volatile char *slot = map; slot < map + SLOTS; slot++)
		found += !*slot;
	report("test_ns", start, SLOTS);
	free(map);
}

int main(void)
{
	char *one = calloc(PAGES, PAGE);
	char *two = calloc(PAGES, PAGE);

	if (!one || !two)
		return 1;
	memset(one, 1, (size_t)PAGE * PAGES);
	memset(two, 2, (size_t)PAGE * PAGES);
	copy(one, two);
	touch(one);
	access(two);
	test_slots();
	free(one);
	free(two);
	return 0;
}
