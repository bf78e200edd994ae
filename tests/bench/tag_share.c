/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_share.c - compares how long a hold of a swap cache's lock lasts that sets or clears writeback
 * tags with one that adds or removes a page: a thread on each CPU, one tree as in 4.8, one queued
 * lock.
 *
 *      a thread    add  think  start of writeback  think  end  think  remove    next page
 *      the tree    insert      tag, untag, untag          untag       look, untag x 3, delete
 *
 * Each thread has pages in its own clusters, as the allocator assigns them, and one page at a time
 * in the tree, as with a device that copies at once. So the leaves belong to one thread, and exist
 * as long as their page, while the nodes above are shared: their lines come from the last holder of
 * the lock. The counters that the kernel changes under the lock are included, and the page's own
 * words.
 *
 * A hold is timed from acquisition to release; the time of reading the clock is subtracted. The
 * longest tenth does not count, because a thread may have been preempted. The lock is the queue of
 * qspinlock: each waiter spins on its own word.
 *
 * Usage: tag_share THREADS PAGES. Prints the mean of each kind of hold, in ns.
 */
#include "swapsim/rtree.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CLUSTER = 256, CLUSTERS = 4096, THINK = 400, LINE = 64, PATIENCE = 1 << 14 };

enum hold { ADD, START, END, REMOVE, HOLDS };

struct waiter {
	_Alignas(LINE) struct waiter *_Atomic next;
	atomic_bool waits;
};

/* The tree's root and its lock share a line, as in struct address_space. */
static struct {
	_Alignas(LINE) struct waiter *_Atomic last;
	struct sws_forest *forest;
	uint64_t pages;
	_Alignas(LINE) uint64_t adds;
	uint64_t removals;
} mapping;

struct worker {
	_Alignas(LINE) pthread_t thread;
	struct waiter waiter;
	uint32_t number;
	uint32_t threads;
	uint32_t pages;
	uint64_t state;
	/* The ticks of each hold, one page after another. */
	double *ticks;
	bool failed;
};

static atomic_bool go;

static double now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

/* The processor's own counter if it has one, because it costs less than the clock. */
static double ticks(void)
{
#if defined(__x86_64__)
	__builtin_ia32_lfence();
	return (double)__builtin_ia32_rdtsc();
#else
	return now_ns();
#endif
}

static void lock(struct waiter *me)
{
	struct waiter *before = NULL;

	atomic_store_explicit(&me->next, NULL, memory_order_relaxed);
	atomic_store_explicit(&me->waits, true, memory_order_relaxed);
	before = atomic_exchange_explicit(&mapping.last, me, memory_order_acq_rel);
	if (!before)
		return;
	atomic_store_explicit(&before->next, me, memory_order_release);
	for (uint32_t looks = 1; atomic_load_explicit(&me->waits, memory_order_acquire); looks++)
		if (looks % PATIENCE == 0)
			sched_yield();
}

static void unlock(struct waiter *me)
{
	struct waiter *expected = me;
	struct waiter *next = atomic_load_explicit(&me->next, memory_order_acquire);

	if (!next &&
	    atomic_compare_exchange_strong_explicit(&mapping.last, &expected, NULL,
						    memory_order_acq_rel, memory_order_acquire))
		return;
	while (!next)
		next = atomic_load_explicit(&me->next, memory_order_acquire);
	atomic_store_explicit(&next->waits, false, memory_order_release);
}

static void think(struct worker *my)
{
	volatile uint64_t spun = 0;

	my->state = my->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	for (uint64_t left = (my->state >> 33) % (2 * THINK); left; left--)
		spun += left;
}

/* The words of a page's struct that are used. */
struct page {
	_Alignas(LINE) uint64_t flags;
	uint64_t private_word;
};

static bool change(enum hold hold, uint64_t index, struct page *page)
{
	const uint64_t item = (uint64_t)(uintptr_t)page;

	switch (hold) {
	case ADD:
		page->flags |= 1;
		page->private_word = index;
		mapping.pages++;
		mapping.adds++;
		return sws_rtree_insert(mapping.forest, 0, index, item, NULL) == SWS_OK;
	case START:
		page->flags |= 2;
		return sws_rtree_tag_set(mapping.forest, 0, index, SWS_RTREE_TAG_WRITEBACK, NULL) ==
			       SWS_OK &&
		       sws_rtree_tag_clear(mapping.forest, 0, index, SWS_RTREE_TAG_DIRTY, NULL) ==
			       SWS_OK &&
		       sws_rtree_tag_clear(mapping.forest, 0, index, SWS_RTREE_TAG_TOWRITE, NULL) ==
			       SWS_OK;
	case END:
		page->flags &= ~UINT64_C(2);
		return sws_rtree_tag_clear(mapping.forest, 0, index, SWS_RTREE_TAG_WRITEBACK,
					   NULL) == SWS_OK;
	default:
		page->flags = 0;
		page->private_word = 0;
		mapping.pages--;
		mapping.removals++;
		return sws_rtree_delete(mapping.forest, 0, index, NULL) == item;
	}
}

static void *work(void *worker)
{
	struct worker *my = worker;
	struct page page = { 0 };

	while (!atomic_load_explicit(&go, memory_order_acquire))
		;
	for (uint32_t done = 0; done < my->pages && !my->failed; done++) {
		const uint64_t cluster = (uint64_t)(done / CLUSTER) * my->threads + my->number;
		const uint64_t index = cluster % CLUSTERS * CLUSTER + done % CLUSTER + 1;

		for (int hold = 0; hold < HOLDS && !my->failed; hold++) {
			double start = 0;

			lock(&my->waiter);
			start = ticks();
			my->failed = !change((enum hold)hold, index, &page);
			my->ticks[(size_t)hold * my->pages + done] = ticks() - start;
			unlock(&my->waiter);
			think(my);
		}
	}
	return NULL;
}

static int compare(const void *a, const void *b)
{
	const double difference = *(const double *)a - *(const double *)b;

	return (difference > 0) - (difference < 0);
}

/* Returns the mean without the longest tenth. */
static double mean(double *values, size_t n)
{
	const size_t counted = n - n / 10;
	double sum = 0;

	qsort(values, n, sizeof(*values), compare);
	for (size_t i = 0; i < counted; i++)
		sum += values[i];
	return sum / (double)counted;
}

/* Measures two consecutive reads of the clock. */
static double look_ticks(double *values, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const double start = ticks();

		values[i] = ticks() - start;
	}
	return mean(values, n);
}

static int run(struct worker *workers, uint32_t threads, uint32_t pages, double *samples)
{
	static const char *const names[HOLDS] = { "add", "start", "end", "remove" };
	const size_t all = (size_t)threads * pages;
	const double look = look_ticks(samples, all);
	double *of_hold = malloc(all * sizeof(*of_hold));
	const double began_ns = now_ns();
	const double began = ticks();
	double ticks_a_ns = 1;
	int failed = !of_hold;

	for (uint32_t i = 0; i < threads && !failed; i++) {
		workers[i] = (struct worker){
			.number = i,
			.threads = threads,
			.pages = pages,
			.state = i + 1,
			.ticks = samples + (size_t)i * HOLDS * pages,
		};
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			exit(1);
	}
	atomic_store_explicit(&go, true, memory_order_release);
	for (uint32_t i = 0; i < threads && of_hold; i++) {
		pthread_join(workers[i].thread, NULL);
		failed |= workers[i].failed;
	}
	ticks_a_ns = (ticks() - began) / (now_ns() - began_ns);
	for (int hold = 0; hold < HOLDS && !failed; hold++) {
		for (uint32_t i = 0; i < threads; i++)
			memcpy(of_hold + (size_t)i * pages, workers[i].ticks + (size_t)hold * pages,
			       pages * sizeof(*of_hold));
		printf("%s %.2f\n", names[hold], (mean(of_hold, all) - look) / ticks_a_ns);
	}
	free(of_hold);
	return failed;
}

int main(int argc, char **argv)
{
	const uint32_t threads = argc == 3 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
	const uint32_t pages = argc == 3 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
	struct sws_forest_config config;
	struct worker *workers = NULL;
	double *samples = NULL;
	int failed = 1;

	sws_forest_config_init(&config);
	if (threads && pages && !sws_forest_new(&config, &mapping.forest)) {
		workers = aligned_alloc(LINE, threads * sizeof(*workers));
		samples = calloc((size_t)threads * pages * HOLDS, sizeof(*samples));
	}
	if (workers && samples)
		failed = run(workers, threads, pages, samples);
	free(samples);
	free(workers);
	sws_forest_free(mapping.forest);
	return failed;
}
