// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Walkers that change CPU, over fragmented swap: every process maps its own set and writes one word of
 * each page, one process after the other; drops DROP_PERCENT of its pages at random, and has the kernel
 * swap the others out, for who began with its set in memory would keep it there; then all visit pages
 * of theirs that were kept, drawn uniformly at random, 80 % of the visits read, the others write, until
 * each has made VISITS_EACH.
 * Each process is bound to a CPU that no other one has, and before a visit moves, with the chance of one
 * in VISITS_A_CPU, to one drawn uniformly from those that nobody has. VISITS_A_CPU 0: it stays where it
 * is; -1: it is bound nowhere, and the kernel moves it. Pages, visits and moves follow from the number
 * in the environment as `round`.
 *
 *   wanderer PROCESSES MEBIBYTES_EACH DROP_PERCENT VISITS_EACH VISITS_A_CPU
 *
 * One line a process: visits in microseconds, and how often it was on another CPU than before.
 */
#include "program.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#define READ_PERCENT 80u
#define CPUS_MAX     64
#define ARGUMENTS    5

/* Shared by all processes. */
struct place {
	pthread_barrier_t meeting;
	/* Processes that have visits of their own left. */
	atomic_long busy;
	int cpus;
	atomic_bool taken[CPUS_MAX];
};

struct walk {
	struct place *place;
	long processes;
	long number;
	size_t pages;
	long drop_percent;
	long visits;
	long visits_a_cpu;
	uint64_t state;
	int cpu;
	long made;
	long changes;
	volatile uint32_t *words;
	/* Numbers of the pages that were kept. */
	size_t *kept;
	size_t n_kept;
};

static void fail(const char *what)
{
	exit(failed_at(what));
}

/* Goes to a CPU that was free, and holds it. */
static void bind_to(struct walk *walk, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		fail("sched_setaffinity");
	walk->cpu = cpu;
}

static void move(struct walk *walk)
{
	struct place *place = walk->place;
	const int left = walk->cpu;
	int cpu = 0;

	do {
		cpu = (int)(draw(&walk->state) % (uint64_t)place->cpus);
	} while (atomic_exchange(&place->taken[cpu], true));
	bind_to(walk, cpu);
	atomic_store(&place->taken[left], false);
	walk->changes++;
}

/* Where the kernel has put it meanwhile. */
static void look(struct walk *walk)
{
	const int cpu = sched_getcpu();

	walk->changes += cpu != walk->cpu;
	walk->cpu = cpu;
}

static void fill(struct walk *walk)
{
	walk->kept = map_memory(walk->pages * sizeof(*walk->kept));
	walk->words = map_pages(walk->pages);
	if (walk->kept == MAP_FAILED || walk->words == MAP_FAILED)
		exit(1);
}

static void drop(struct walk *walk)
{
	for (size_t page = 0; page < walk->pages; page++) {
		void *address = (char *)(uintptr_t)walk->words + page * PAGE_BYTES;

		if ((long)(draw(&walk->state) % 100) >= walk->drop_percent)
			walk->kept[walk->n_kept++] = page;
		else if (madvise(address, PAGE_BYTES, MADV_DONTNEED) != 0)
			fail("madvise");
	}
	if (madvise((void *)(uintptr_t)walk->words, walk->pages * PAGE_BYTES, MADV_PAGEOUT) != 0)
		fail("madvise");
}

/* Those who are early go on, so that there are as many walkers to the end. */
static void visit(struct walk *walk)
{
	for (long i = 0; atomic_load(&walk->place->busy) > 0; i++) {
		uint64_t place = draw(&walk->state);
		uint64_t die = draw(&walk->state);
		volatile uint32_t *word =
			&walk->words[walk->kept[place % walk->n_kept] * WORDS_PER_PAGE +
				     (die >> 32) % WORDS_PER_PAGE];

		if (walk->visits_a_cpu < 0)
			look(walk);
		else if (walk->visits_a_cpu > 0 &&
			 draw(&walk->state) % (uint64_t)walk->visits_a_cpu == 0)
			move(walk);
		if ((uint32_t)die % 100 < READ_PERCENT)
			(void)*word;
		else
			*word = (uint32_t)i;
		if (i + 1 == walk->visits)
			atomic_fetch_sub(&walk->place->busy, 1);
		walk->made = i + 1;
	}
}

static int run(struct walk *walk)
{
	pthread_barrier_t *meeting = &walk->place->meeting;
	uint64_t started_us = 0;

	if (walk->visits_a_cpu >= 0) {
		atomic_store(&walk->place->taken[walk->number], true);
		bind_to(walk, (int)walk->number);
	}
	for (long turn = 0; turn < walk->processes; turn++) {
		if (turn == walk->number)
			fill(walk);
		pthread_barrier_wait(meeting);
	}
	drop(walk);
	pthread_barrier_wait(meeting);
	if (walk->number == 0)
		mark("begin");
	pthread_barrier_wait(meeting);
	walk->cpu = sched_getcpu();
	started_us = now_us();
	visit(walk);
	printf("%ld visits in %llu usecs, %ld changes of CPU\n", walk->made,
	       (unsigned long long)(now_us() - started_us), walk->changes);
	fflush(stdout);
	pthread_barrier_wait(meeting);
	if (walk->number == 0)
		mark("end");
	pthread_barrier_wait(meeting);
	return 0;
}

static struct place *prepare(long processes)
{
	pthread_barrierattr_t shared;
	struct place *place = mmap(NULL, sizeof(*place), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (place == MAP_FAILED)
		fail("mmap");
	atomic_init(&place->busy, processes);
	place->cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	if (place->cpus > CPUS_MAX || place->cpus <= processes) {
		fprintf(stderr, "wanderer: %d CPUs: give more than processes, up to %d\n",
			place->cpus, CPUS_MAX);
		exit(2);
	}
	pthread_barrierattr_init(&shared);
	pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&place->meeting, &shared, (unsigned)processes);
	return place;
}

int main(int argc, char **argv)
{
	static const long lowest[ARGUMENTS] = { 1, 1, 0, 1, -1 };
	long arguments[ARGUMENTS] = { 0 };
	const char *round = getenv("round");
	const uint64_t seed = (uint64_t)number(round ? round : "0", 0);
	struct place *place = NULL;

	if (argc != ARGUMENTS + 1)
		return usage("PROCESSES MEBIBYTES_EACH DROP_PERCENT VISITS_EACH VISITS_A_CPU");
	for (int i = 0; i < ARGUMENTS; i++)
		arguments[i] = number(argv[i + 1], lowest[i]);
	place = prepare(arguments[0]);
	for (long i = 0; i < arguments[0]; i++) {
		pid_t pid = fork();

		if (pid < 0)
			fail("fork");
		if (pid == 0) {
			struct walk own = {
				.place = place,
				.processes = arguments[0],
				.number = i,
				.pages = pages_of(arguments[1]),
				.drop_percent = arguments[2],
				.visits = arguments[3],
				.visits_a_cpu = arguments[4],
				.state = seed + ((uint64_t)i << 32),
			};

			_exit(run(&own));
		}
	}
	return await_processes();
}
