// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * flush_costs.c - measures the cost of each of the 64 slots that swapcache_free_entries frees, in
 * ns: bounds of free_ns and record_ns in data/costs.csv. Build: cc -O2 -pthread flush_costs.c.
 *
 * The slots are random slots of a device whose map exceeds all caches. For each one the cluster's
 * lock is taken, the map byte is cleared, the counts of the cluster and the device change, and the
 * memory cgroup's record is cleared under another lock. Waits for locks are short, so cache misses
 * are measured:
 *
 *      warm     the same 64 slots again and again: no misses
 *      cold     other slots each time: lock, byte and record come from memory
 *      shared   cold, while another CPU takes and releases such locks at random: some
 *               lines come from its cache
 *
 * Times are those of the thread. Each slot is known only after the one before it has been read, so
 * misses add up. That gives an upper bound: in the kernel the byte was changed recently, when the
 * slot went to the return cache, and a CPU executes ahead.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SLOTS = 48 << 22, CLUSTER = 512, CLUSTERS = SLOTS / CLUSTER };
enum { FLUSH = 64, FLUSHES = 1 << 14, NEVER_SET = 0x80 };

struct cluster {
	atomic_uint lock;
	unsigned int count;
};

static struct cluster *clusters;
static unsigned char *map;
static unsigned short *records;
static struct {
	unsigned int in_use;
	atomic_long free;
} device;
static atomic_bool done;

static uint32_t draw(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((*state >> 32) * SLOTS >> 32);
}

static void take(struct cluster *cluster)
{
	unsigned int was = 0;

	while (!atomic_compare_exchange_weak_explicit(&cluster->lock, &was, 1, memory_order_acquire,
						      memory_order_relaxed))
		was = 0;
}

static void give_back(struct cluster *cluster)
{
	atomic_store_explicit(&cluster->lock, 0, memory_order_release);
}

/* Both functions return 0, which is unknown before the byte or the record has been read. */
static uint32_t free_slot(uint32_t slot)
{
	struct cluster *cluster = &clusters[slot / CLUSTER];
	uint32_t was = 0;

	take(cluster);
	was = map[slot] & NEVER_SET;
	map[slot] = 0;
	cluster->count--;
	device.in_use--;
	atomic_fetch_add_explicit(&device.free, 1, memory_order_relaxed);
	give_back(cluster);
	return was;
}

static uint32_t record(uint32_t slot)
{
	static struct cluster lock;
	uint32_t was = 0;

	take(&lock);
	was = records[slot] & NEVER_SET;
	records[slot] = 0;
	give_back(&lock);
	return was;
}

static void *others(void *unused)
{
	uint64_t state = 7;

	while (!atomic_load_explicit(&done, memory_order_relaxed)) {
		struct cluster *cluster = &clusters[draw(&state) / CLUSTER];

		take(cluster);
		cluster->count++;
		give_back(cluster);
	}
	return unused;
}

static double now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static double flush(const uint32_t *slots, uint32_t (*each)(uint32_t slot))
{
	const double start = now_ns();
	uint32_t last = 0;

	for (int i = 0; i < FLUSH; i++)
		last = each(slots[i] + last);
	return now_ns() - start;
}

/* The slots are drawn in advance, as they are in the return cache. */
static void report(const char *name, int flushes_apart)
{
	uint32_t slots[FLUSH];
	uint64_t state = 1;
	double freed = 0;
	double recorded = 0;

	for (int i = 0; i < FLUSHES; i++) {
		for (int slot = 0; slot < FLUSH && i % flushes_apart == 0; slot++)
			slots[slot] = draw(&state);
		freed += flush(slots, free_slot);
		recorded += flush(slots, record);
	}
	printf("%-8s free_ns %8.2f   record_ns %8.2f\n", name, freed / FLUSHES / FLUSH,
	       recorded / FLUSHES / FLUSH);
}

int main(void)
{
	pthread_t other;

	clusters = calloc(CLUSTERS, sizeof(*clusters));
	map = calloc(SLOTS, sizeof(*map));
	records = calloc(SLOTS, sizeof(*records));
	if (!clusters || !map || !records)
		return 1;
	for (uint32_t slot = 0; slot < SLOTS; slot++)
		records[slot] = map[slot] = 1;
	report("warm", FLUSHES);
	report("cold", 1);
	if (pthread_create(&other, NULL, others, NULL))
		return 1;
	report("shared", 1);
	atomic_store(&done, true);
	pthread_join(other, NULL);
	free(clusters);
	free(map);
	free(records);
	return 0;
}
