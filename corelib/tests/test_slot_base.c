/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "swapsim/slot_base.h"

#include "check.h"

enum { TRUNK = 100, HIGHEST = 999, CPUS = 4 };

static const struct sws_base_device device = {
	.highest = HIGHEST,
	.trunk_size = TRUNK,
	.possible_cpus = 8,
	.online_cpus = CPUS,
	.shared_start = 321,
};

static void start(enum sws_base_initial initial, int64_t *bases, int64_t n_bases)
{
	struct sws_generator generators[32];

	for (unsigned int i = 0; i < 32; i++)
		sws_generator_seed(&generators[i], 7, i);
	sws_base_start(initial, &device, generators, bases, n_bases);
	for (int64_t i = 0; i < n_bases; i++)
		CHECK(bases[i] >= 1 && bases[i] <= HIGHEST);
}

static void even_bases_lie_highest_by_cpus_apart(void)
{
	int64_t bases[10];

	start(SWS_BASE_EVEN_POSSIBLE, bases, 10);
	for (int64_t i = 0; i < 10; i++)
		CHECK(bases[i] == 1 + i % 8 * (HIGHEST / 8));
	start(SWS_BASE_EVEN_ONLINE, bases, 10);
	for (int64_t i = 0; i < 10; i++)
		CHECK(bases[i] == 1 + i % CPUS * (HIGHEST / CPUS));
}

static void fixed_bases_are_slot_one_or_the_kernels(void)
{
	int64_t bases[2];

	start(SWS_BASE_FIRST, bases, 2);
	CHECK(bases[0] == 1 && bases[1] == 1);
	start(SWS_BASE_OF_KERNEL, bases, 1);
	CHECK(bases[0] == 321);
}

static void bases_apart_share_no_trunk_while_there_are_enough(void)
{
	int64_t bases[12];
	unsigned int in_trunk[10] = { 0 };

	start(SWS_BASE_APART, bases, 12);
	for (unsigned int i = 0; i < 10; i++)
		CHECK(in_trunk[bases[i] / TRUNK]++ == 0);
}

static int64_t store(enum sws_base_policy policy, int64_t base, int64_t next, int64_t draw,
		     const int64_t *bases, int64_t *looked_at)
{
	*looked_at = 0;
	return sws_base_ops_of(policy)->store(1, -1, base, next, 250, 799, TRUNK, draw, bases, CPUS,
					      looked_at);
}

static void a_linear_base_walks_on_into_the_next_trunk(void)
{
	const int64_t bases[CPUS] = { 300, 399, 500, 600 };
	int64_t looked_at = 0;

	CHECK(store(SWS_BASE_SHARED, 399, 400, 0, bases, &looked_at) == 400);
	CHECK(store(SWS_BASE_PERCPU, 399, 400, 0, bases, &looked_at) == 400);
	CHECK(store(SWS_BASE_SPREAD, 399, 400, 0, bases, &looked_at) == 400);
	CHECK(store(SWS_BASE_PERMM, 399, 400, 0, bases, &looked_at) == 400);
	CHECK(looked_at == 0);
}

static void a_rerandomised_base_starts_at_a_drawn_trunk_once_it_leaves_its_own(void)
{
	const int64_t bases[CPUS] = { 300, 399, 500, 600 };
	int64_t looked_at = 0;

	CHECK(store(SWS_BASE_PERCPU_RERANDOMISE, 390, 399, 5, bases, &looked_at) == 399);
	/* 250 + 283 = 533, aligned down */
	CHECK(store(SWS_BASE_PERCPU_RERANDOMISE, 399, 400, 283, bases, &looked_at) == 500);
	/* 250 + 3 = 253: its trunk starts below the lowest slot */
	CHECK(store(SWS_BASE_PERCPU_RERANDOMISE, 399, 400, 550 + 3, bases, &looked_at) == 250);
}

static void a_full_device_leaves_the_base_alone(void)
{
	const int64_t bases[CPUS] = { 300, 399, 500, 600 };
	int64_t looked_at = 0;

	CHECK(sws_base_ops_of(SWS_BASE_PERCPU_RERANDOMISE)
		      ->store(1, -1, 399, 400, 1000, 0, TRUNK, 5, bases, CPUS, &looked_at) == 399);
	CHECK(sws_base_ops_of(SWS_BASE_AVOID)
		      ->store(1, -1, 399, 400, 1000, 0, TRUNK, 5, bases, CPUS, &looked_at) == 399);
}

static void avoid_takes_the_first_trunk_without_another_cpus_base(void)
{
	const int64_t bases[CPUS] = { 533, 399, 612, 222 };
	int64_t looked_at = 0;

	/* The draw is in trunk 5, which CPU 0 has; CPU 2 has 6; 7 is free. */
	CHECK(store(SWS_BASE_AVOID, 399, 400, 283, bases, &looked_at) == 700);
	CHECK(looked_at == 1 + 2 + 3);
	/* The draw is in trunk 3, its own, which counts as free. */
	CHECK(store(SWS_BASE_AVOID, 399, 400, 100, bases, &looked_at) == 300);
	CHECK(looked_at == 3);
}

static void avoid_takes_the_drawn_trunk_when_each_is_taken(void)
{
	const int64_t bases[CPUS] = { 200, 399, 210, 220 };
	int64_t looked_at = 0;

	CHECK(sws_base_ops_of(SWS_BASE_AVOID)
		      ->store(1, -1, 399, 400, 205, 299, TRUNK, 20, bases, CPUS, &looked_at) ==
	      205);
	CHECK(looked_at == 1);
}

static void a_readers_policy_is_not_built_in(void)
{
	CHECK(!sws_base_ops_of(SWS_BASE_READER));
	CHECK(!sws_base_ops_of((enum sws_base_policy)77));
	CHECK(!sws_base_policy_name(SWS_BASE_READER));
}

static void what_is_in_an_enum_has_a_name_and_nothing_else_has(void)
{
	for (int i = 0; i < 100; i++) {
		CHECK(!sws_base_policy_name((enum sws_base_policy)i) == (i >= SWS_BASE_READER));
		CHECK(!sws_base_of_name((enum sws_base_of)i) == (i > SWS_BASE_OF_MM));
		CHECK(!sws_base_initial_name((enum sws_base_initial)i) == (i > SWS_BASE_OF_KERNEL));
	}
}

int main(void)
{
	RUN(even_bases_lie_highest_by_cpus_apart);
	RUN(fixed_bases_are_slot_one_or_the_kernels);
	RUN(bases_apart_share_no_trunk_while_there_are_enough);
	RUN(a_linear_base_walks_on_into_the_next_trunk);
	RUN(a_rerandomised_base_starts_at_a_drawn_trunk_once_it_leaves_its_own);
	RUN(a_full_device_leaves_the_base_alone);
	RUN(avoid_takes_the_first_trunk_without_another_cpus_base);
	RUN(avoid_takes_the_drawn_trunk_when_each_is_taken);
	RUN(a_readers_policy_is_not_built_in);
	RUN(what_is_in_an_enum_has_a_name_and_nothing_else_has);
	return 0;
}
