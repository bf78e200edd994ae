// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random walkers over anonymous memory, as pmbench with a uniform pattern: every process maps its own
 * set, writes one word of each page once, then visits pages drawn uniformly at random, a random word
 * in each; READ_PERCENT of the visits read, the others write. The same seed gives the same visits.
 *
 *   random_walker PROCESSES MEBIBYTES_EACH VISITS_EACH READ_PERCENT SEED
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

struct walk {
	size_t pages;
	long visits;
	long read_percent;
	uint64_t state;
};

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
		fprintf(stderr, "random_walker: '%s' is not a number of %ld or more\n", text,
			lowest);
		exit(2);
	}
	return value;
}

static int walk(struct walk *walk)
{
	uint64_t started_us = 0;
	volatile uint32_t *words = mmap(NULL, walk->pages * PAGE_BYTES, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (words == MAP_FAILED) {
		perror("random_walker: mmap");
		return 1;
	}
	/* A page that was only read would be the shared zero page: write each once. */
	for (size_t page = 0; page < walk->pages; page++)
		words[page * WORDS_PER_PAGE] = (uint32_t)page;
	started_us = now_us();
	for (long i = 0; i < walk->visits; i++) {
		size_t page = draw(&walk->state) % walk->pages;
		uint64_t die = draw(&walk->state);
		volatile uint32_t *word =
			&words[page * WORDS_PER_PAGE + (die >> 32) % WORDS_PER_PAGE];

		if ((long)((uint32_t)die % 100) < walk->read_percent)
			(void)*word;
		else
			*word = (uint32_t)i;
	}
	printf("%ld visits in %llu usecs\n", walk->visits,
	       (unsigned long long)(now_us() - started_us));
	fflush(stdout);
	return 0;
}

int main(int argc, char **argv)
{
	int failed = 0;
	int gate[2] = { -1, -1 };
	long processes = 0;
	uint64_t seed = 0;
	struct walk own = { 0 };

	if (argc != 6) {
		fprintf(stderr, "usage: random_walker PROCESSES MEBIBYTES_EACH VISITS_EACH "
				"READ_PERCENT SEED\n");
		return 2;
	}
	processes = number(argv[1], 1);
	own.pages = (size_t)number(argv[2], 1) * (1u << 20) / PAGE_BYTES;
	own.visits = number(argv[3], 0);
	own.read_percent = number(argv[4], 0);
	seed = (uint64_t)number(argv[5], 0);
	/* All processes start together: they wait until the last one is there and the gate shuts. */
	if (pipe(gate) != 0) {
		perror("random_walker: pipe");
		return 1;
	}
	for (long i = 0; i < processes; i++) {
		pid_t pid = fork();

		if (pid < 0) {
			perror("random_walker: fork");
			failed = 1;
			break;
		}
		if (pid == 0) {
			char byte = 0;

			close(gate[1]);
			own.state = seed + ((uint64_t)i << 32);
			_exit(read(gate[0], &byte, 1) == 0 ? walk(&own) : 1);
		}
	}
	close(gate[1]);
	for (int status = 0; wait(&status) > 0;)
		failed |= status != 0;
	return failed;
}
