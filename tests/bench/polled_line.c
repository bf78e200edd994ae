// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * polled_line.c - measures on this machine how much longer a write to a cache line takes, in ns, while
 * another CPU polls that line, as the first waiter of a queued lock does: contended_ns of a machine.
 * Build: cc -O2 -pthread polled_line.c -o polled_line. Each figure is the median of the batches, with
 * the least and the greatest quarter; of a poller that was not running, a batch does not count.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCHES = 20001, WRITES = 100, WORK = 400 };

static _Alignas(128) atomic_uint line[32];
static _Alignas(128) atomic_uint polls[32];
static _Alignas(128) atomic_bool ended;

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return UINT64_C(1000000000) * (uint64_t)time.tv_sec + (uint64_t)time.tv_nsec;
}

static void *poll_line(void *unused)
{
	unsigned int count = 0;

	while (!atomic_load_explicit(&ended, memory_order_relaxed)) {
		(void)atomic_load_explicit(&line[0], memory_order_acquire);
		if (++count % 16 == 0)
			atomic_store_explicit(&polls[0], count, memory_order_relaxed);
	}
	return unused;
}

static int by_size(const void *one, const void *two)
{
	const double a = *(const double *)one;
	const double b = *(const double *)two;

	return (a > b) - (a < b);
}

/* Other work between two writes, so that the poller has the line again. */
static void work(void)
{
	for (volatile int i = 0; i < WORK; i++)
		;
}

static double measure(const char *name, int polled)
{
	static double each[BATCHES];
	size_t count = 0;

	for (int batch = 0; batch < BATCHES; batch++) {
		const unsigned int before = atomic_load(&polls[0]);
		const uint64_t start = now_ns();
		uint64_t ns = 0;

		for (int i = 0; i < WRITES; i++) {
			/* The second word of the line: the lock is the first one. */
			atomic_fetch_add(&line[1], 1);
			work();
		}
		ns = now_ns() - start;
		if (!polled || atomic_load(&polls[0]) - before >= WRITES / 2)
			each[count++] = (double)ns / WRITES;
	}
	qsort(each, count, sizeof(*each), by_size);
	if (count < BATCHES / 20) {
		printf("%-10s too few batches: %zu\n", name, count);
		return 0;
	}
	printf("%-10s %8.1f ns (%.1f to %.1f), %zu batches\n", name, each[count / 2],
	       each[count / 4], each[3 * count / 4], count);
	return each[count / 2];
}

int main(void)
{
	pthread_t poller;
	const double alone = measure("alone", 0);
	double polled = 0;

	if (pthread_create(&poller, NULL, poll_line, NULL))
		return 1;
	polled = measure("polled", 1);
	atomic_store(&ended, 1);
	pthread_join(poller, NULL);
	printf("longer by  %8.1f ns\n", polled - alone);
	return 0;
}
