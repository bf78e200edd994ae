// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Swaps folios of seven sizes out and in, while the share of each size in memory changes all the time. Each process has its own CPU and its
 * own chunks: mappings of one size each, apart from each other, so that the kernel can give a chunk one folio and no other size fits. A
 * chunk of order 0 is 16 single pages.
 *
 * A process first maps chunks until they have MEBIBYTES_EACH. In each iteration it then
 *   unmap  unmaps chunks until it has REPLACED_PERCENT less,
 *   map    maps new ones until it has as much as before: 2 MiB of one size at a time, half of them of this iteration's favourite size,
 *   touch  writes to one page of as many chunks as make up TOUCHED_PERCENT,
 *   out    has the kernel page all chunks out, one after another, those that were mapped first coming first.
 * Chunks to unmap and to touch are those of pages drawn uniformly at random. The processes begin and end each iteration together, and the
 * program prints the kernel's counters of folios that were swapped out whole, and that were split because no slots were found for them.
 * What a process does depends on its own random numbers alone: "print" writes it as lines of
 *   PROCESS ITERATION unmap|map|touch|out ORDER CHUNK PAGE
 * and changes nothing. CHUNK is the number of the place that a chunk has among those of its order, PAGE the page that is touched.
 *
 *   folio_turnover run|print PROCESSES MEBIBYTES_EACH ITERATIONS REPLACED_PERCENT TOUCHED_PERCENT SEED
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE_BYTES    4096u
#define BLOCK_PAGES   512u /* mapped at a time: 2 MiB */
#define SINGLE_PAGES  16u  /* of a chunk of order 0 */
#define SIZES         7u
#define PROCESSES_MAX 64
#define STATS         "/sys/kernel/mm/transparent_hugepage/hugepages-%ukB/stats/%s"
#define KHUGEPAGED    "/sys/kernel/mm/transparent_hugepage/khugepaged/scan_sleep_millisecs"

static const unsigned orders[SIZES] = { 0, 3, 4, 5, 6, 7, 9 };

struct chunk {
	unsigned size; /* in orders */
	size_t place;
	struct chunk *next;
};

/* A process: its chunks in the order in which they were mapped, and which places of each size are taken. */
struct turnover {
	bool print;
	long number;
	long iteration;
	size_t pages; /* to have mapped */
	size_t mapped;
	struct chunk *first;
	struct chunk **last;
	char *areas[SIZES];
	bool *taken[SIZES];
	size_t places[SIZES];
	uint64_t state;
};

struct rules {
	long processes;
	long mebibytes;
	long iterations;
	long replaced_percent;
	long touched_percent;
	uint64_t seed;
};

/* splitmix64, as in folio_churner.c. */
static uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static size_t pages_of(unsigned size)
{
	return orders[size] == 0 ? SINGLE_PAGES : (size_t)1 << orders[size];
}

/* Places lie as far apart as they are long, so that two chunks are never one mapping. */
static char *address_of(const struct turnover *own, const struct chunk *chunk)
{
	return own->areas[chunk->size] + 2 * chunk->place * pages_of(chunk->size) * PAGE_BYTES;
}

static void say(const struct turnover *own, const char *what, const struct chunk *chunk,
		size_t page)
{
	printf("%ld %ld %s %u %zu %zu\n", own->number, own->iteration, what, orders[chunk->size],
	       chunk->place, page);
}

/* Room for the addresses of all places, none of them mapped. */
static void reserve(struct turnover *own)
{
	char *rooms[SIZES] = { NULL };
	size_t bytes[SIZES] = { 0 };

	for (unsigned size = 0; size < SIZES; size++) {
		size_t stride = 2 * pages_of(size) * PAGE_BYTES;

		own->places[size] = own->pages / pages_of(size) + BLOCK_PAGES / pages_of(size);
		own->taken[size] = calloc(own->places[size], sizeof(bool));
		bytes[size] = (own->places[size] + 1) * stride;
		rooms[size] = mmap(NULL, bytes[size], PROT_NONE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (own->taken[size] == NULL || rooms[size] == MAP_FAILED)
			fail("folio_turnover: no addresses");
		own->areas[size] =
			rooms[size] + (stride - (uintptr_t)rooms[size] % stride) % stride;
	}
	/* All at once, or the next room would have the same addresses. */
	for (unsigned size = 0; size < SIZES; size++) {
		if (munmap(rooms[size], bytes[size]))
			fail("folio_turnover: munmap");
	}
}

static void map_chunk(struct turnover *own, struct chunk *chunk)
{
	char *at = address_of(own, chunk);
	size_t bytes = pages_of(chunk->size) * PAGE_BYTES;

	if (own->print) {
		say(own, "map", chunk, 0);
		return;
	}
	if (mmap(at, bytes, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != at)
		fail("folio_turnover: mmap");
	if (orders[chunk->size] == 0 && madvise(at, bytes, MADV_NOHUGEPAGE))
		fail("folio_turnover: MADV_NOHUGEPAGE");
	memset(at, 0x11, bytes);
}

static void add_chunk(struct turnover *own, unsigned size)
{
	struct chunk *chunk = calloc(1, sizeof(*chunk));

	if (chunk == NULL)
		fail("folio_turnover: calloc");
	chunk->size = size;
	while (own->taken[size][chunk->place])
		chunk->place++;
	own->taken[size][chunk->place] = true;
	*own->last = chunk;
	own->last = &chunk->next;
	own->mapped += pages_of(size);
	map_chunk(own, chunk);
}

/* 2 MiB of one size at a time: of any with the same chance, or of the favourite one. */
static void map_chunks(struct turnover *own, unsigned favourite)
{
	while (own->mapped < own->pages) {
		uint64_t drawn = draw(&own->state);
		unsigned size = drawn >> 63 ? favourite : (unsigned)(drawn % SIZES);
		size_t wanted = own->mapped + BLOCK_PAGES;

		while (own->mapped < wanted && own->mapped < own->pages)
			add_chunk(own, size);
	}
}

/* The link to the chunk of a page drawn at random, and the page's number in it. */
static struct chunk **draw_chunk(struct turnover *own, size_t *page)
{
	size_t left = draw(&own->state) % own->mapped;
	struct chunk **link = &own->first;

	while (left >= pages_of((*link)->size)) {
		left -= pages_of((*link)->size);
		link = &(*link)->next;
	}
	*page = left;
	return link;
}

static void unmap_chunks(struct turnover *own, size_t pages)
{
	while (own->mapped > pages) {
		size_t page = 0;
		struct chunk **link = draw_chunk(own, &page);
		struct chunk *chunk = *link;

		if (own->print)
			say(own, "unmap", chunk, 0);
		else if (munmap(address_of(own, chunk), pages_of(chunk->size) * PAGE_BYTES))
			fail("folio_turnover: munmap");
		own->taken[chunk->size][chunk->place] = false;
		own->mapped -= pages_of(chunk->size);
		*link = chunk->next;
		if (own->last == &chunk->next)
			own->last = link;
		free(chunk);
	}
}

static void touch_chunks(struct turnover *own, size_t pages)
{
	for (size_t touched = 0, page = 0; touched < pages;) {
		struct chunk *chunk = *draw_chunk(own, &page);

		touched += pages_of(chunk->size);
		if (own->print)
			say(own, "touch", chunk, page);
		else
			memset(address_of(own, chunk) + page * PAGE_BYTES, 0x11, PAGE_BYTES);
	}
}

static void page_out(struct turnover *own)
{
	for (struct chunk *chunk = own->first; chunk != NULL; chunk = chunk->next) {
		size_t bytes = pages_of(chunk->size) * PAGE_BYTES;

		if (own->print)
			say(own, "out", chunk, 0);
		else if (madvise(address_of(own, chunk), bytes, MADV_PAGEOUT))
			fail("folio_turnover: MADV_PAGEOUT");
	}
}

/* Iteration 0 maps what the others replace. */
static void iterate(struct turnover *own, const struct rules *rules)
{
	unsigned favourite = (unsigned)(draw(&own->state) % SIZES);

	if (own->iteration > 0)
		unmap_chunks(own, own->pages * (size_t)(100 - rules->replaced_percent) / 100);
	map_chunks(own, favourite);
	if (own->iteration > 0)
		touch_chunks(own, own->pages * (size_t)rules->touched_percent / 100);
	page_out(own);
}

static unsigned long counter(unsigned order, const char *name)
{
	char path[sizeof(STATS) + 32] = "";
	unsigned long value = 0;
	FILE *file = NULL;

	snprintf(path, sizeof(path), STATS, 4u << order, name);
	file = fopen(path, "r");
	if (file == NULL || fscanf(file, "%lu", &value) != 1)
		fail(path);
	fclose(file);
	return value;
}

/* What the counters have gained since the last call. */
static void report(long iteration)
{
	static unsigned long before[SIZES][2];

	for (unsigned size = 1; size < SIZES; size++) {
		unsigned long whole = counter(orders[size], "swpout");
		unsigned long split = counter(orders[size], "swpout_fallback");

		if (iteration >= 0)
			printf("iteration %ld order %u swpout %lu fallback %lu\n", iteration,
			       orders[size], whole - before[size][0], split - before[size][1]);
		before[size][0] = whole;
		before[size][1] = split;
	}
}

static void report_faults(void)
{
	for (unsigned size = 1; size < SIZES; size++)
		printf("order %u allocated %lu fallback %lu\n", orders[size],
		       counter(orders[size], "anon_fault_alloc"),
		       counter(orders[size], "anon_fault_fallback"));
}

static void meet(pthread_barrier_t *barrier)
{
	int met = barrier != NULL ? pthread_barrier_wait(barrier) : 0;

	if (met != 0 && met != PTHREAD_BARRIER_SERIAL_THREAD)
		fail("folio_turnover: barrier");
}

static void live(const struct rules *rules, long number, bool print, pthread_barrier_t *barrier)
{
	struct turnover own = { .print = print, .number = number };

	own.pages = (size_t)rules->mebibytes * BLOCK_PAGES / 2;
	own.last = &own.first;
	own.state = rules->seed + ((uint64_t)number << 32);
	reserve(&own);
	for (; own.iteration <= rules->iterations; own.iteration++) {
		meet(barrier);
		iterate(&own, rules);
		meet(barrier);
	}
}

static void bind_to(long cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET((size_t)(cpu % sysconf(_SC_NPROCESSORS_ONLN)), &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		fail("folio_turnover: sched_setaffinity");
}

static pthread_barrier_t *new_barrier(unsigned parties)
{
	pthread_barrierattr_t shared;
	pthread_barrier_t *barrier = mmap(NULL, sizeof(*barrier), PROT_READ | PROT_WRITE,
					  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (barrier == MAP_FAILED || pthread_barrierattr_init(&shared) ||
	    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED) ||
	    pthread_barrier_init(barrier, &shared, parties))
		fail("folio_turnover: barrier");
	return barrier;
}

/* The kernel's own thread would make folios of pages by itself. */
static void stop_khugepaged(void)
{
	FILE *file = fopen(KHUGEPAGED, "w");

	if (file == NULL || fputs("4000000000", file) < 0 || fclose(file))
		fail(KHUGEPAGED);
}

static int run(const struct rules *rules)
{
	pthread_barrier_t *barrier = new_barrier((unsigned)rules->processes + 1);
	int failed = 0;

	stop_khugepaged();
	report(-1);
	for (long i = 0; i < rules->processes; i++) {
		pid_t pid = fork();

		if (pid < 0)
			fail("folio_turnover: fork");
		if (pid == 0) {
			bind_to(i);
			live(rules, i, false, barrier);
			_exit(0);
		}
	}
	for (long iteration = 0; iteration <= rules->iterations; iteration++) {
		meet(barrier);
		meet(barrier);
		report(iteration);
	}
	report_faults();
	fflush(stdout);
	for (int status = 0; wait(&status) > 0;)
		failed |= status != 0;
	return failed;
}

static long number(const char *text, long lowest, long highest)
{
	char *end = NULL;
	long value = strtol(text, &end, 10);

	if (end == text || *end != '\0' || value < lowest || value > highest) {
		fprintf(stderr, "folio_turnover: '%s' is not a number from %ld to %ld\n", text,
			lowest, highest);
		exit(2);
	}
	return value;
}

int main(int argc, char **argv)
{
	bool print = argc == 8 && strcmp(argv[1], "print") == 0;
	struct rules rules = { 0 };

	if (!print && (argc != 8 || strcmp(argv[1], "run") != 0)) {
		fprintf(stderr,
			"usage: folio_turnover run|print PROCESSES MEBIBYTES_EACH ITERATIONS "
			"REPLACED_PERCENT TOUCHED_PERCENT SEED\n");
		return 2;
	}
	rules.processes = number(argv[2], 1, PROCESSES_MAX);
	rules.mebibytes = number(argv[3], 4, 1 << 20);
	rules.iterations = number(argv[4], 1, 1 << 20);
	rules.replaced_percent = number(argv[5], 1, 99);
	rules.touched_percent = number(argv[6], 0, 100);
	rules.seed = (uint64_t)number(argv[7], 0, 1 << 30);
	if (!print)
		return run(&rules);
	for (long i = 0; i < rules.processes; i++)
		live(&rules, i, true, NULL);
	return 0;
}
