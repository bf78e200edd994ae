/* SPDX-License-Identifier: GPL-2.0-or-later */
/* des/closed_loop.c - the smallest machine: CPUs that only take a lock. */
#include "swapsim/des.h"

enum stage { THINKS, ASKS, HOLDS };

struct looper {
	struct sws_generator generator;
	enum stage stage;
};

/*
 * Uniform in 0 .. 2 * think_ns, except for a bias below 2^-31: a division would cost as much as an
 * event.
 *
 *      think_ns 1000: draw 0              0 * 2001 >> 32 = 0
 *                     draw 2^32 - 1       (2^32 - 1) * 2001 >> 32 = 2000
 *
 * think_ns is at most INT32_MAX, so the product stays within 64 bits.
 */
static uint64_t think(const struct sws_closed_loop_config *config, struct looper *looper)
{
	return (sws_generator_next(&looper->generator) >> 32) * (2 * config->think_ns + 1) >> 32;
}

/*
 * One round of a CPU, with a hold of 100, and the calls at its events:
 *
 *      event at    stage      calls                next event
 *      700         THINKS     lock                 700 if free, else at the hand-over
 *      830         ASKS       run 100              930: it has the lock since 830
 *      930         HOLDS      unlock, run 1400     2330
 *
 * Unlock creates no event for the CPU itself (it does for the next waiter), so the thinking starts
 * in the same step.
 */
static int step(struct sws_des *des, const struct sws_closed_loop_config *config,
		struct looper *looper, uint32_t cpu, uint64_t *had)
{
	const uint32_t lock = cpu % config->locks;
	int error = SWS_OK;

	switch (looper->stage) {
	case THINKS:
		looper->stage = ASKS;
		return sws_des_lock(des, cpu, lock, 0, false);
	case ASKS:
		looper->stage = HOLDS;
		++*had;
		return sws_des_run(des, cpu, config->hold_ns);
	case HOLDS:
		looper->stage = THINKS;
		error = sws_des_unlock(des, cpu, lock);
		if (error)
			return error;
		return sws_des_run(des, cpu, think(config, looper));
	}
	return SWS_ERROR_BROKEN;
}

static int start(struct sws_des *des, const struct sws_closed_loop_config *config,
		 struct looper *loopers)
{
	uint32_t first = 0;
	int error = sws_des_add_locks(des, config->lock_kind, config->locks, &first);

	for (uint32_t cpu = 0; cpu < config->des.cpus && !error; cpu++) {
		sws_generator_seed(&loopers[cpu].generator, config->seed, cpu);
		error = sws_des_run(
			des, cpu,
			sws_generator_below(&loopers[cpu].generator, 2 * config->think_ns + 1));
	}
	return error;
}

int sws_closed_loop(const struct sws_closed_loop_config *config, uint64_t acquisitions,
		    struct sws_des_site *site, uint64_t *now)
{
	const struct sws_allocator *allocator =
		config->des.allocator ? config->des.allocator : &sws_libc_allocator;
	struct looper *loopers = NULL;
	struct sws_des *des = NULL;
	uint64_t had = 0;
	uint32_t cpu = 0;
	int error = SWS_OK;

	if (!config->locks || config->locks > config->des.cpus || config->think_ns > INT32_MAX ||
	    config->hold_ns > UINT32_MAX)
		return SWS_ERROR_BAD_CONFIG;
	error = sws_des_new(&config->des, &des);
	if (error)
		return error;
	loopers = sws_allocate_zeroed(allocator, config->des.cpus, sizeof(*loopers));
	error = loopers ? start(des, config, loopers) : SWS_ERROR_NO_MEMORY;
	while (!error && had < acquisitions && sws_des_next(des, &cpu))
		error = step(des, config, &loopers[cpu], cpu, &had);
	*site = sws_des_site_of(des, 0);
	*now = sws_des_now(des);
	sws_release(allocator, loopers);
	sws_des_free(des);
	return error;
}
