// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two turns for a ledger of locks, each with marks of its own. Each process maps its set of units of
 * UNIT_PAGES pages. In the turn "fill" all processes write their units once, in order, to an unused
 * device. Then each drops DROP_PERCENT of its units at random. In the turn "visits" each visits VISITS
 * units drawn uniformly at random from its complete set, dropped ones too; a visit reads each page of
 * the unit (READ_PERCENT of the visits) or writes it. The same seed gives the same units and visits.
 *
 *   ledger_turns PROCESSES MEBIBYTES_EACH UNIT_PAGES DROP_PERCENT VISITS READ_PERCENT SEED
 *
 * One line a process: visits in microseconds.
 */
#include "program.h"

#include <pthread.h>

/* Sets begin where the largest folio would. */
#define ALIGNMENT (2u << 20)

enum { PROCESSES, MEBIBYTES, UNIT_PAGES, DROP_PERCENT, VISITS, READ_PERCENT, SEED, ARGUMENTS };

static void await(pthread_barrier_t *turn)
{
	pthread_barrier_wait(turn);
}

/* A process waits until all have come, and again until the first one has marked. */
static void await_mark(pthread_barrier_t *turn)
{
	await(turn);
	await(turn);
}

static void mark_when_all_wait(pthread_barrier_t *turn, const char *what)
{
	await(turn);
	mark("%s", what);
	await(turn);
}

static void visit(volatile uint32_t *unit, const long *arguments, uint32_t written)
{
	for (long page = 0; page < arguments[UNIT_PAGES]; page++) {
		if (written)
			unit[page * WORDS_PER_PAGE] = written;
		else
			(void)unit[page * WORDS_PER_PAGE];
	}
}

static int run(const long *arguments, long process, pthread_barrier_t *turn)
{
	size_t bytes = (size_t)arguments[MEBIBYTES] << 20;
	size_t unit_bytes = (size_t)arguments[UNIT_PAGES] * PAGE_BYTES;
	size_t unit_words = unit_bytes / sizeof(uint32_t);
	size_t units = bytes / unit_bytes;
	uint64_t state = (uint64_t)arguments[SEED] + ((uint64_t)process << 32);
	uint64_t started_us = 0;
	volatile uint32_t *words = NULL;
	char *map = map_memory(bytes + ALIGNMENT);

	if (map == MAP_FAILED)
		return 1;
	map += (ALIGNMENT - (uintptr_t)map % ALIGNMENT) % ALIGNMENT;
	words = (volatile uint32_t *)(void *)map;
	await(turn);
	for (size_t unit = 0; unit < units; unit++)
		visit(&words[unit * unit_words], arguments, (uint32_t)unit + 1);
	await_mark(turn);
	for (size_t unit = 0; unit < units; unit++) {
		if ((long)(draw(&state) % 100) < arguments[DROP_PERCENT] &&
		    madvise(map + unit * unit_bytes, unit_bytes, MADV_DONTNEED) != 0)
			failed_at("madvise");
	}
	await_mark(turn);
	started_us = now_us();
	for (long i = 0; i < arguments[VISITS]; i++) {
		size_t unit = draw(&state) % units;
		int reads = (long)(draw(&state) % 100) < arguments[READ_PERCENT];

		visit(&words[unit * unit_words], arguments, reads ? 0 : (uint32_t)i + 1);
	}
	print_visits(arguments[VISITS], started_us);
	await_mark(turn);
	return 0;
}

int main(int argc, char **argv)
{
	static const long lowest[ARGUMENTS] = { 1, 1, 1, 0, 0, 0, 0 };
	long arguments[ARGUMENTS] = { 0 };
	pthread_barrierattr_t shared;
	pthread_barrier_t *turn = mmap(NULL, sizeof(*turn), PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (argc != ARGUMENTS + 1)
		return usage("PROCESSES MEBIBYTES_EACH UNIT_PAGES DROP_PERCENT VISITS READ_PERCENT "
			     "SEED");
	for (int i = 0; i < ARGUMENTS; i++)
		arguments[i] = number(argv[i + 1], lowest[i]);
	if (turn == MAP_FAILED || pthread_barrierattr_init(&shared) != 0 ||
	    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED) != 0 ||
	    pthread_barrier_init(turn, &shared, (unsigned)arguments[PROCESSES] + 1) != 0) {
		fprintf(stderr, "ledger_turns: no barrier\n");
		return 1;
	}
	for (long i = 0; i < arguments[PROCESSES]; i++) {
		pid_t pid = fork();

		/* Those that have come wait for ever: the rig ends the run at its time limit. */
		if (pid < 0)
			return failed_at("fork");
		if (pid == 0)
			_exit(run(arguments, i, turn));
	}
	mark("begin fill");
	await(turn);
	mark_when_all_wait(turn, "end fill");
	mark_when_all_wait(turn, "begin visits");
	mark_when_all_wait(turn, "end visits");
	return await_processes();
}
