// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keeps folios of several orders coming: every process maps its own set, writes one word of each page, then drops and writes again
 * whole chunks, aligned and of an order drawn from a list, so that the kernel gives a huge page of that order where it may; between
 * two chunks it visits pages drawn uniformly at random, half of the visits read. A private chunk of 2 MiB is mapped again, for only then
 * is its page table gone. Only shared memory has huge pages of two pages. The same seed gives the same chunks and visits.
 *
 *   folio_churner private|shared PROCESSES MEBIBYTES_EACH CHUNKS_EACH ORDERS VISITS_BETWEEN SEED
 *
 * ORDERS: numbers from 0 to 9 with commas; one that stands twice is drawn twice as often.
 */
#include "program.h"

#define HUGE_BYTES     (PAGE_BYTES << HIGHEST_ORDER)
#define HIGHEST_ORDER  9
#define ORDERS_AT_MOST 64

struct churn {
	char *memory;
	int kind; /* MAP_PRIVATE or MAP_SHARED */
	size_t pages;
	long chunks;
	long visits;
	unsigned orders[ORDERS_AT_MOST];
	size_t n_orders;
	uint64_t state;
};

static void read_orders(struct churn *churn, char *text)
{
	for (char *rest = text, *word; (word = strsep(&rest, ",")) != NULL;) {
		long order = number(word, 0);

		if (order > HIGHEST_ORDER || churn->n_orders == ORDERS_AT_MOST) {
			fprintf(stderr, "folio_churner: '%s' is one order too many or too high\n",
				word);
			exit(2);
		}
		churn->orders[churn->n_orders++] = (unsigned)order;
	}
}

static void write_pages(const struct churn *churn, size_t first, size_t pages)
{
	for (size_t page = first; page < first + pages; page++) {
		volatile uint32_t *words = (void *)(churn->memory + page * PAGE_BYTES);

		words[page % WORDS_PER_PAGE] = (uint32_t)page;
	}
}

static int map(struct churn *churn)
{
	size_t bytes = churn->pages * PAGE_BYTES;
	char *wide = mmap(NULL, bytes + HUGE_BYTES, PROT_READ | PROT_WRITE,
			  churn->kind | MAP_ANONYMOUS, -1, 0);

	if (wide == MAP_FAILED)
		return failed_at("mmap");
	churn->memory = wide + (HUGE_BYTES - (uintptr_t)wide % HUGE_BYTES) % HUGE_BYTES;
	write_pages(churn, 0, churn->pages);
	return 0;
}

static int drop(const struct churn *churn, size_t first, unsigned order)
{
	char *at = churn->memory + first * PAGE_BYTES;
	size_t bytes = (size_t)PAGE_BYTES << order;

	if (churn->kind == MAP_SHARED)
		return madvise(at, bytes, MADV_REMOVE);
	if (order < HIGHEST_ORDER)
		return madvise(at, bytes, MADV_DONTNEED);
	return mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		    0) == MAP_FAILED;
}

static void visit(struct churn *churn)
{
	uint64_t place = draw(&churn->state);
	size_t page = place % churn->pages;
	volatile uint32_t *words = (void *)(churn->memory + page * PAGE_BYTES);
	size_t word = (place >> 40) % WORDS_PER_PAGE;

	if (place >> 63)
		words[word] = (uint32_t)page;
	else
		(void)words[word];
}

static int run(void *own, long process)
{
	struct churn *churn = own;

	churn->state += (uint64_t)process << 32;
	if (map(churn))
		return 1;
	for (long i = 0; i < churn->chunks; i++) {
		unsigned order = churn->orders[draw(&churn->state) % churn->n_orders];
		size_t first = draw(&churn->state) % (churn->pages >> order) << order;

		if (drop(churn, first, order))
			return failed_at("drop");
		write_pages(churn, first, (size_t)1 << order);
		for (long visits = 0; visits < churn->visits; visits++)
			visit(churn);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct churn own = { 0 };

	if (argc == 8)
		own.kind = strcmp(argv[1], "private") == 0  ? MAP_PRIVATE
			   : strcmp(argv[1], "shared") == 0 ? MAP_SHARED
							    : 0;
	if (own.kind == 0)
		return usage("private|shared PROCESSES MEBIBYTES_EACH CHUNKS_EACH ORDERS "
			     "VISITS_BETWEEN SEED");
	/* Whole huge pages. */
	own.pages = ((size_t)number(argv[3], 2) << 20) / HUGE_BYTES << HIGHEST_ORDER;
	own.chunks = number(argv[4], 0);
	read_orders(&own, argv[5]);
	own.visits = number(argv[6], 0);
	own.state = (uint64_t)number(argv[7], 0);
	return run_together(number(argv[2], 1), run, &own);
}
