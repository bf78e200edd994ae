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
#include "program.h"

struct walk {
	size_t pages;
	long visits;
	long read_percent;
	uint64_t state;
};

static int run(void *own, long process)
{
	struct walk *walk = own;
	volatile uint32_t *words = map_pages(walk->pages);
	uint64_t started_us = now_us();

	if (words == MAP_FAILED)
		return 1;
	walk->state += (uint64_t)process << 32;
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
	print_visits(walk->visits, started_us);
	return 0;
}

int main(int argc, char **argv)
{
	struct walk own = { 0 };

	if (argc != 6)
		return usage("PROCESSES MEBIBYTES_EACH VISITS_EACH READ_PERCENT SEED");
	own.pages = pages_of(number(argv[2], 1));
	own.visits = number(argv[3], 0);
	own.read_percent = number(argv[4], 0);
	own.state = (uint64_t)number(argv[5], 0);
	return run_together(number(argv[1], 1), run, &own);
}
