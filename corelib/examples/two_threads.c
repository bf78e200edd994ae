/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * two_threads.c - threads may share no mutable state, so they can do everything at the same time.
 * Each thread creates its own objects, and gets the results of a single thread.
 *
 *      thread 0   workbench, machine ----.
 *                                         >  the same, bit for bit
 *      thread 1   workbench, machine ----'
 *
 * ThreadSanitizer also checks this program (make analyse).
 */
#include "small_runs.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct found {
	struct sws_workbench_measures slots;
	struct machine_counts machine;
	int error;
};

static void *work(void *result)
{
	struct found *found = result;

	found->error = measure_slots(500, &found->slots);
	if (!found->error)
		found->error = count_machine(100000, &found->machine);
	return NULL;
}

static bool are_same(const struct found *one, const struct found *other)
{
	return one->error == other->error &&
	       !memcmp(&one->slots, &other->slots, sizeof(one->slots)) &&
	       !memcmp(&one->machine, &other->machine, sizeof(one->machine));
}

int main(void)
{
	static struct found alone, parallel[2];
	pthread_t threads[2];

	work(&alone);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, work, &parallel[i]))
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	if (alone.error) {
		fprintf(stderr, "%s\n", sws_strerror(alone.error));
		return 1;
	}
	for (int i = 0; i < 2; i++)
		printf("thread %d: %s\n", i,
		       are_same(&parallel[i], &alone) ? "as one alone" : "something else");
	return 0;
}
