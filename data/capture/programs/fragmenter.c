// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fragments swap, then works on what is left: every process maps its own set and writes one word of
 * each page, one process after the other, which on many CPUs is sooner done than all at once; each
 * drops DROP_PERCENT of its pages at random; each visits pages drawn uniformly at random, READ_PERCENT
 * of the visits read, the others write; all wait for each other after each of these. Visits go to
 * the pages that were kept, so no more memory is used; but WARM visits that only read come first, and
 * with REFILL=1 the others go to all pages: a dropped page that is written is there again. The same
 * seed gives the same pages and visits.
 *
 *   fragmenter PROCESSES MEBIBYTES_EACH DROP_PERCENT WARM_EACH VISITS_EACH READ_PERCENT REFILL SEED
 *
 * One line a process: visits in microseconds.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE_BYTES     4096u
#define WORDS_PER_PAGE (PAGE_BYTES / (unsigned)sizeof(uint32_t))
#define ARGUMENTS      8

struct work {
	size_t pages;
	long drop_percent;
	long warm;
	long visits;
	long read_percent;
	long refill;
	uint64_t state;
	volatile uint32_t *words;
	/* Numbers of the pages that were kept. */
	size_t *kept;
	size_t n_kept;
};

/*
 * All processes meet: each writes a byte when it is there, and reads one when all are. A meeting serves
 * once: who is early at the next one would take the byte of who is late here. At the first, the processes
 * take turns.
 */
struct meeting {
	int arrive[2];
	int leave[2];
};

enum { TURN, FULL, FRAGMENTED, VISITED, MEETINGS };

static uint64_t now_us(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

/* splitmix64: one 64-bit state, full period, so each process has its own stream from seed and number. */
static uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static long number(const char *text, long lowest)
{
	char *end = NULL;
	long value = strtol(text, &end, 10);

	if (end == text || *end != '\0' || value < lowest) {
		fprintf(stderr, "fragmenter: '%s' is not a number of %ld or more\n", text, lowest);
		exit(2);
	}
	return value;
}

static int prepare(struct meeting *meetings)
{
	for (int i = 0; i < MEETINGS; i++) {
		if (pipe(meetings[i].arrive) != 0 || pipe(meetings[i].leave) != 0) {
			perror("fragmenter: pipe");
			return 1;
		}
	}
	return 0;
}

/* Each side closes the ends that are not its own, so that whoever waits for the dead is told. */
static void keep_ends_of_guest(const struct meeting *meetings)
{
	for (int i = 0; i < MEETINGS; i++) {
		close(meetings[i].arrive[0]);
		close(meetings[i].leave[1]);
	}
}

static void keep_ends_of_host(const struct meeting *meetings)
{
	for (int i = 0; i < MEETINGS; i++) {
		close(meetings[i].arrive[1]);
		close(meetings[i].leave[0]);
	}
}

/* Tells the host that this process is there, and whether it failed on the way. */
static int arrive(const struct meeting *meeting, int failed)
{
	char byte = (char)failed;

	return write(meeting->arrive[1], &byte, 1) != 1 || failed;
}

static int await_leave(const struct meeting *meeting)
{
	char byte = 0;

	return read(meeting->leave[0], &byte, 1) != 1;
}

static int await_all(const struct meeting *meeting, long processes)
{
	char byte = 0;

	for (long i = 0; i < processes; i++) {
		if (read(meeting->arrive[0], &byte, 1) != 1 || byte != 0)
			return 1;
	}
	return 0;
}

static int release_all(const struct meeting *meeting, long processes)
{
	char byte = 0;

	for (long i = 0; i < processes; i++) {
		if (write(meeting->leave[1], &byte, 1) != 1)
			return 1;
	}
	return 0;
}

static int give_turns(const struct meeting *meeting, long processes)
{
	for (long i = 0; i < processes; i++) {
		if (release_all(meeting, 1) || await_all(meeting, 1))
			return 1;
	}
	return 0;
}

static int fill(struct work *work)
{
	work->kept = mmap(NULL, work->pages * sizeof(*work->kept), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	work->words = mmap(NULL, work->pages * PAGE_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (work->kept == MAP_FAILED || work->words == MAP_FAILED) {
		perror("fragmenter: mmap");
		return 1;
	}
	for (size_t page = 0; page < work->pages; page++)
		work->words[page * WORDS_PER_PAGE] = (uint32_t)page;
	return 0;
}

static int drop(struct work *work)
{
	for (size_t page = 0; page < work->pages; page++) {
		void *address = (char *)(uintptr_t)work->words + page * PAGE_BYTES;

		if ((long)(draw(&work->state) % 100) >= work->drop_percent) {
			work->kept[work->n_kept++] = page;
		} else if (madvise(address, PAGE_BYTES, MADV_DONTNEED) != 0) {
			perror("fragmenter: madvise");
			return 1;
		}
	}
	return work->n_kept == 0;
}

static void visit(struct work *work, long visits, long read_percent, long all)
{
	for (long i = 0; i < visits; i++) {
		uint64_t place = draw(&work->state);
		uint64_t die = draw(&work->state);
		size_t page = all ? place % work->pages : work->kept[place % work->n_kept];
		volatile uint32_t *word =
			&work->words[page * WORDS_PER_PAGE + (die >> 32) % WORDS_PER_PAGE];

		if ((long)((uint32_t)die % 100) < read_percent)
			(void)*word;
		else
			*word = (uint32_t)i;
	}
}

static int run(struct work *work, const struct meeting *meetings)
{
	uint64_t started_us = 0;

	if (await_leave(&meetings[TURN]) || arrive(&meetings[TURN], fill(work)))
		return 1;
	if (arrive(&meetings[FULL], 0) || await_leave(&meetings[FULL]))
		return 1;
	if (arrive(&meetings[FRAGMENTED], drop(work)) || await_leave(&meetings[FRAGMENTED]))
		return 1;
	started_us = now_us();
	visit(work, work->warm, 100, 0);
	visit(work, work->visits, work->read_percent, work->refill);
	printf("%ld visits in %llu usecs\n", work->warm + work->visits,
	       (unsigned long long)(now_us() - started_us));
	fflush(stdout);
	return arrive(&meetings[VISITED], 0) || await_leave(&meetings[VISITED]);
}

/* The lab's guest leaves a script here that counts what the kernel does during the visits. */
static void mark(const char *what)
{
	static const char script[] = "/capture/mark";
	char command[sizeof(script) + 16];

	snprintf(command, sizeof(command), "%s %s", script, what);
	if (access(script, X_OK) == 0 && system(command) != 0)
		fprintf(stderr, "fragmenter: %s failed\n", command);
}

static int host(const struct meeting *meetings, long processes)
{
	if (give_turns(&meetings[TURN], processes))
		return 1;
	for (int i = FULL; i < MEETINGS; i++) {
		if (await_all(&meetings[i], processes))
			return 1;
		if (i == FRAGMENTED)
			mark("begin");
		if (i == VISITED)
			mark("end");
		if (release_all(&meetings[i], processes))
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const long lowest[ARGUMENTS] = { 1, 1, 0, 0, 0, 0, 0, 0 };
	long arguments[ARGUMENTS] = { 0 };
	int failed = 0;
	struct meeting meetings[MEETINGS] = { 0 };

	if (argc != ARGUMENTS + 1) {
		fprintf(stderr, "usage: fragmenter PROCESSES MEBIBYTES_EACH DROP_PERCENT WARM_EACH "
				"VISITS_EACH READ_PERCENT REFILL SEED\n");
		return 2;
	}
	for (int i = 0; i < ARGUMENTS; i++)
		arguments[i] = number(argv[i + 1], lowest[i]);
	if (prepare(meetings))
		return 1;
	for (long i = 0; i < arguments[0]; i++) {
		pid_t pid = fork();

		if (pid < 0) {
			perror("fragmenter: fork");
			return 1;
		}
		if (pid == 0) {
			struct work own = {
				.pages = (size_t)arguments[1] * (1u << 20) / PAGE_BYTES,
				.drop_percent = arguments[2],
				.warm = arguments[3],
				.visits = arguments[4],
				.read_percent = arguments[5],
				.refill = arguments[6],
				.state = (uint64_t)arguments[7] + ((uint64_t)i << 32),
			};

			keep_ends_of_guest(meetings);
			_exit(run(&own, meetings));
		}
	}
	keep_ends_of_host(meetings);
	failed = host(meetings, arguments[0]);
	for (int i = 0; i < MEETINGS; i++)
		close(meetings[i].leave[1]);
	for (int status = 0; wait(&status) > 0;)
		failed |= status != 0;
	return failed;
}
