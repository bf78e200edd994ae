/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "swapsim/slot_base.h"

/*
 * With 4 CPUs and highest 65535 the distance is 65535 / 4 = 16383:
 *
 *      owner   0       1       2       3
 *      base    1   16384   32767   49150
 *      trunk   0       1       1       2          of 16384 slots
 *
 * Even distances do not imply different trunks: the division rounds down and the first base is 1,
 * so 32767 is the last slot of trunk 1, and CPU 2 starts where CPU 1 is.
 */
static int64_t even(int64_t owner, int64_t cpus, int64_t highest)
{
	return 1 + owner % cpus * (highest / cpus);
}

/* Compares instead of dividing, because it is called for each base and each trunk. */
static bool lies_in(int64_t base, int64_t trunk, int64_t trunk_size)
{
	const int64_t start = trunk * trunk_size;

	return base >= start && base < start + trunk_size;
}

static bool trunk_taken(const int64_t *bases, int64_t n_bases, int64_t trunk, int64_t trunk_size)
{
	for (int64_t i = 0; i < n_bases; i++)
		if (lies_in(bases[i], trunk, trunk_size))
			return true;
	return false;
}

/*
 * Returns a slot in the first trunk, cyclically from the one of `drawn`, that has no earlier base.
 * With highest 65535, trunks of 16384, and the draws 20000, 25000 and 60000:
 *
 *      owner 0     20000   trunk 1, without a base         20000
 *      owner 1     25000   trunk 1 taken, on to trunk 2    32768
 *      owner 2     60000   trunk 3, without a base         60000
 */
static int64_t apart(const struct sws_base_device *device, const int64_t *bases, int64_t n_bases,
		     int64_t drawn)
{
	const int64_t trunks = device->highest / device->trunk_size + 1;
	const int64_t first = drawn / device->trunk_size;

	for (int64_t step = 0; step < trunks; step++) {
		const int64_t trunk = (first + step) % trunks;
		const int64_t start = trunk * device->trunk_size;

		if (trunk_taken(bases, n_bases, trunk, device->trunk_size))
			continue;
		if (step == 0)
			return drawn;
		return start > 1 ? start : 1;
	}
	return drawn;
}

static int64_t first_base(enum sws_base_initial initial, const struct sws_base_device *device,
			  struct sws_generator *generator, const int64_t *bases, int64_t owner)
{
	const int64_t trunks = device->highest / device->trunk_size + 1;
	int64_t drawn = 0;

	switch (initial) {
	case SWS_BASE_FIRST:
		return 1;
	case SWS_BASE_EVEN_POSSIBLE:
		return even(owner, device->possible_cpus, device->highest);
	case SWS_BASE_EVEN_ONLINE:
		return even(owner, device->online_cpus, device->highest);
	case SWS_BASE_OF_KERNEL:
		return device->shared_start;
	case SWS_BASE_RANDOM:
	case SWS_BASE_APART:
		break;
	}
	drawn = 1 + (int64_t)sws_generator_below(generator, (uint64_t)device->highest);
	/* If every trunk already has a base, there is no trunk to find. */
	if (initial == SWS_BASE_APART && owner < trunks)
		drawn = apart(device, bases, owner, drawn);
	return drawn;
}

void sws_base_start(enum sws_base_initial initial, const struct sws_base_device *device,
		    struct sws_generator *generators, int64_t *bases, int64_t n_bases)
{
	for (int64_t owner = 0; owner < n_bases; owner++)
		bases[owner] = first_base(initial, device, &generators[owner], bases, owner);
}

/*
 * The value that each policy stores when CPU 0 leaves trunk 0, with its base 16383, next 16384, the
 * other CPUs' bases 33000 and 50000, lowest 1, highest 65535, trunks of 16384 and the draw 40000:
 *
 *      linear          16384        continues in trunk 1, whether or not it has a base
 *      rerandomise     32768        the start of trunk 2, where 33000 is: it reads no bases
 *      avoid               1        2 and 3 are taken, 0 is its own: its start; reads 5 bases
 *
 *      trunk   0            1            2            3
 *              [.....0----->|            |1           | 2          ]
 *
 * Within a trunk all three store next. The base is compared, not the slot allocated last: a CPU
 * whose cluster is in another trunk than its base leaves the trunk with the first call that takes
 * slots from the cluster.
 */
static int64_t store_linear(int64_t cpu, int64_t mm, int64_t base, int64_t next, int64_t lowest,
			    int64_t highest, int64_t trunk_size, int64_t draw, const int64_t *bases,
			    int64_t n_bases, int64_t *looked_at)
{
	(void)cpu;
	(void)mm;
	(void)base;
	(void)lowest;
	(void)highest;
	(void)trunk_size;
	(void)draw;
	(void)bases;
	(void)n_bases;
	(void)looked_at;
	return next;
}

static int64_t random_slot(int64_t lowest, int64_t highest, int64_t draw)
{
	return lowest + draw % (highest - lowest + 1);
}

static int64_t trunk_start(int64_t trunk, int64_t trunk_size, int64_t lowest)
{
	return trunk * trunk_size > lowest ? trunk * trunk_size : lowest;
}

/*
 * Models set_cluster_next (5.8 to 6.11). The slot is drawn, not the trunk, so that a last trunk
 * with few slots is seldom chosen. It is rounded down, so that the CPU has a complete trunk before
 * its next draw; rounding up could yield a slot past the end.
 */
static int64_t store_rerandomise(int64_t cpu, int64_t mm, int64_t base, int64_t next,
				 int64_t lowest, int64_t highest, int64_t trunk_size, int64_t draw,
				 const int64_t *bases, int64_t n_bases, int64_t *looked_at)
{
	(void)cpu;
	(void)mm;
	(void)bases;
	(void)n_bases;
	(void)looked_at;
	if (base / trunk_size == next / trunk_size)
		return next;
	/* The device is full or has one free slot. */
	if (highest <= lowest)
		return base;
	return trunk_start(random_slot(lowest, highest, draw) / trunk_size, trunk_size, lowest);
}

/*
 * The policy does not read its own base: it leaves that trunk and may return to its start. The loop
 * ends at the first base in the trunk, so a call reads 1 to n - 1 bases under si->lock.
 */
static bool other_cpu_in(int64_t trunk, int64_t cpu, int64_t trunk_size, const int64_t *bases,
			 int64_t n_bases, int64_t *looked_at)
{
	for (int64_t other = 0; other < n_bases; other++) {
		if (other == cpu)
			continue;
		++*looked_at;
		if (lies_in(bases[other], trunk, trunk_size))
			return true;
	}
	return false;
}

static int64_t store_avoid(int64_t cpu, int64_t mm, int64_t base, int64_t next, int64_t lowest,
			   int64_t highest, int64_t trunk_size, int64_t draw, const int64_t *bases,
			   int64_t n_bases, int64_t *looked_at)
{
	int64_t first = 0;
	int64_t trunks = 0;
	int64_t drawn = 0;

	(void)mm;
	if (base / trunk_size == next / trunk_size)
		return next;
	if (highest <= lowest)
		return base;
	first = lowest / trunk_size;
	trunks = highest / trunk_size - first + 1;
	drawn = random_slot(lowest, highest, draw) / trunk_size;
	for (int64_t step = 0; step < trunks; step++) {
		const int64_t trunk = first + (drawn - first + step) % trunks;

		if (!other_cpu_in(trunk, cpu, trunk_size, bases, n_bases, looked_at))
			return trunk_start(trunk, trunk_size, lowest);
	}
	return trunk_start(drawn, trunk_size, lowest);
}

struct policy {
	const char *name;
	struct sws_base_ops ops;
};

static const struct policy policies[] = {
	[SWS_BASE_SHARED] = { "shared", { SWS_BASE_OF_DEVICE, SWS_BASE_OF_KERNEL, store_linear } },
	[SWS_BASE_PERCPU] = { "percpu", { SWS_BASE_OF_CPU, SWS_BASE_RANDOM, store_linear } },
	[SWS_BASE_PERCPU_RERANDOMISE] = { "percpu-rerandomise",
					  { SWS_BASE_OF_CPU, SWS_BASE_RANDOM, store_rerandomise } },
	[SWS_BASE_SPREAD] = { "spread", { SWS_BASE_OF_CPU, SWS_BASE_EVEN_POSSIBLE, store_linear } },
	[SWS_BASE_SPREAD_ONLINE] = { "spread-online",
				     { SWS_BASE_OF_CPU, SWS_BASE_EVEN_ONLINE, store_linear } },
	[SWS_BASE_AVOID] = { "avoid", { SWS_BASE_OF_CPU, SWS_BASE_APART, store_avoid } },
	[SWS_BASE_PERMM] = { "permm", { SWS_BASE_OF_MM, SWS_BASE_RANDOM, store_linear } },
};

const struct sws_base_ops *sws_base_ops_of(enum sws_base_policy policy)
{
	return (unsigned int)policy < SWS_BASE_READER ? &policies[policy].ops : NULL;
}

const char *sws_base_policy_name(enum sws_base_policy policy)
{
	return (unsigned int)policy < SWS_BASE_READER ? policies[policy].name : NULL;
}

const char *sws_base_of_name(enum sws_base_of base_of)
{
	static const char *const names[] = {
		[SWS_BASE_OF_DEVICE] = "device",
		[SWS_BASE_OF_CPU] = "cpu",
		[SWS_BASE_OF_MM] = "mm",
	};

	return (unsigned int)base_of <= SWS_BASE_OF_MM ? names[base_of] : NULL;
}

const char *sws_base_initial_name(enum sws_base_initial initial)
{
	static const char *const names[] = {
		[SWS_BASE_FIRST] = "first",
		[SWS_BASE_RANDOM] = "random",
		[SWS_BASE_EVEN_POSSIBLE] = "even-possible",
		[SWS_BASE_EVEN_ONLINE] = "even-online",
		[SWS_BASE_APART] = "apart",
		[SWS_BASE_OF_KERNEL] = "kernel",
	};

	return (unsigned int)initial <= SWS_BASE_OF_KERNEL ? names[initial] : NULL;
}
