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
#include "program.h"

#define ARGUMENTS 8

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

static int prepare(struct meeting *meetings)
{
	for (int i = 0; i < MEETINGS; i++) {
		if (pipe(meetings[i].arrive) != 0 || pipe(meetings[i].leave) != 0)
			return failed_at("pipe");
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
	work->kept = map_memory(work->pages * sizeof(*work->kept));
	work->words = map_pages(work->pages);
	return work->kept == MAP_FAILED || work->words == MAP_FAILED;
}

static int drop(struct work *work)
{
	for (size_t page = 0; page < work->pages; page++) {
		void *address = (char *)(uintptr_t)work->words + page * PAGE_BYTES;

		if ((long)(draw(&work->state) % 100) >= work->drop_percent) {
			work->kept[work->n_kept++] = page;
		} else if (madvise(address, PAGE_BYTES, MADV_DONTNEED) != 0) {
			return failed_at("madvise");
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
	print_visits(work->warm + work->visits, started_us);
	return arrive(&meetings[VISITED], 0) || await_leave(&meetings[VISITED]);
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

	if (argc != ARGUMENTS + 1)
		return usage("PROCESSES MEBIBYTES_EACH DROP_PERCENT WARM_EACH VISITS_EACH "
			     "READ_PERCENT REFILL SEED");
	for (int i = 0; i < ARGUMENTS; i++)
		arguments[i] = number(argv[i + 1], lowest[i]);
	if (prepare(meetings))
		return 1;
	for (long i = 0; i < arguments[0]; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return failed_at("fork");
		if (pid == 0) {
			struct work own = {
				.pages = pages_of(arguments[1]),
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
	return await_processes() | failed;
}
