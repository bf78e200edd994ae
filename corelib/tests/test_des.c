/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "swapsim/des.h"

#include "check.h"

static struct sws_des *make(uint32_t cpus, uint32_t locks, enum sws_lock_kind kind)
{
	struct sws_des_config config;
	struct sws_des *des = NULL;
	uint32_t first = 0;

	sws_des_config_init(&config);
	config.cpus = cpus;
	config.cpus_per_core = 2;
	config.cpus_per_socket = 4;
	config.sites = 4;
	config.irq_save_ns = 7;
	CHECK(sws_des_new(&config, &des) == SWS_OK);
	CHECK(sws_des_add_locks(des, kind, locks, &first) == SWS_OK && first == 0);
	return des;
}

static void verify(const struct sws_des *des)
{
	const char *reason = NULL;

	CHECK(sws_des_verify(des, &reason) == SWS_OK);
}

/* Checks that the next event belongs to this CPU at this time. */
static void expect(struct sws_des *des, uint32_t cpu, uint64_t now)
{
	uint32_t who = 0;

	CHECK(sws_des_next(des, &who));
	CHECK(who == cpu && sws_des_now(des) == now);
	verify(des);
}

static void run(struct sws_des *des, uint32_t cpu, uint64_t ns)
{
	CHECK(sws_des_run(des, cpu, ns) == SWS_OK);
	verify(des);
}

static void lock(struct sws_des *des, uint32_t cpu, uint32_t number, uint32_t site)
{
	CHECK(sws_des_lock(des, cpu, number, site, false) == SWS_OK);
	verify(des);
}

static int interrupt(struct sws_des *des, uint32_t cpu, uint32_t other)
{
	return sws_des_interrupt(des, cpu, other, sws_des_interrupts_on(des, other), 3);
}

static void unlock(struct sws_des *des, uint32_t cpu, uint32_t number)
{
	CHECK(sws_des_unlock(des, cpu, number) == SWS_OK);
	verify(des);
}

static void a_lone_cpu_never_waits(void)
{
	struct sws_des *des = make(1, 1, SWS_LOCK_QUEUED);

	for (uint64_t round = 0; round < 100; round++) {
		lock(des, 0, 0, 0);
		expect(des, 0, round * 30);
		run(des, 0, 10);
		expect(des, 0, round * 30 + 10);
		unlock(des, 0, 0);
		run(des, 0, 20);
		expect(des, 0, round * 30 + 30);
	}
	CHECK(sws_des_site_of(des, 0).wait_ns == 0 && sws_des_site_of(des, 0).contended == 0);
	CHECK(sws_des_site_of(des, 0).hold_ns == 1000 && sws_des_cpu_of(des, 0).hold_ns == 1000);
	CHECK(sws_des_cpu_of(des, 0).run_ns == 2000 && sws_des_cpu_of(des, 0).wait_ns == 0);
	sws_des_free(des);
}

static void events_of_one_time_come_in_the_order_of_their_making(void)
{
	struct sws_des *des = make(6, 1, SWS_LOCK_QUEUED);

	for (uint32_t cpu = 6; cpu-- > 0;)
		run(des, cpu, 5);
	for (uint32_t cpu = 6; cpu-- > 0;)
		expect(des, cpu, 5);
	sws_des_free(des);
}

/* CPU 0, 4 (other socket), 1 (same core), 2 (same socket) request the lock at 0, 1, 2, 3. */
static struct sws_des *four_that_ask(enum sws_lock_kind kind)
{
	static const uint32_t order[] = { 0, 4, 1, 2 };
	struct sws_des *des = make(8, 1, kind);

	for (uint32_t i = 0; i < 4; i++)
		run(des, order[i], i);
	for (uint32_t i = 0; i < 4; i++) {
		expect(des, order[i], i ? i : 0);
		lock(des, order[i], 0, i);
		if (i == 0) {
			expect(des, 0, 0);
			run(des, 0, 100);
		}
	}
	expect(des, 0, 100);
	unlock(des, 0, 0);
	return des;
}

static void a_queued_lock_serves_in_order_and_pays_the_lines_way(void)
{
	struct sws_des *des = four_that_ask(SWS_LOCK_QUEUED);

	expect(des, 4, 100 + 3 * 90); /* another socket */
	run(des, 4, 10);
	expect(des, 4, 380);
	unlock(des, 4, 0);
	expect(des, 1, 380 + 3 * 90); /* and back */
	unlock(des, 1, 0);
	expect(des, 2, 650 + 3 * 30); /* another core */
	unlock(des, 2, 0);
	CHECK(sws_des_site_of(des, 0).wait_ns == 0);
	CHECK(sws_des_site_of(des, 1).wait_ns == 369);
	CHECK(sws_des_site_of(des, 2).wait_ns == 648);
	CHECK(sws_des_site_of(des, 3).wait_ns == 737);
	CHECK(sws_des_site_of(des, 3).moved == 1 && sws_des_site_of(des, 3).contended == 1);
	CHECK(sws_des_cpu_of(des, 2).run_ns == 3 && sws_des_cpu_of(des, 2).wait_ns == 737);
	sws_des_free(des);
}

static void a_test_and_set_lock_goes_to_the_nearest_at_the_cost_of_all(void)
{
	struct sws_des *des = four_that_ask(SWS_LOCK_TEST_AND_SET);

	expect(des, 1, 100 + 5 * 3);
	unlock(des, 1, 0);
	expect(des, 2, 115 + 30 * 2);
	unlock(des, 2, 0);
	expect(des, 4, 175 + 90);
	sws_des_free(des);
}

static void a_ticket_lock_serves_in_order_at_half_the_cost_of_all(void)
{
	struct sws_des *des = four_that_ask(SWS_LOCK_TICKET);

	expect(des, 4, 100 + 90 * (1 + 2)); /* three wait: a store and two reads */
	unlock(des, 4, 0);
	expect(des, 1, 370 + 90 * (1 + 1)); /* two wait */
	unlock(des, 1, 0);
	expect(des, 2, 550 + 30 * (1 + 1)); /* one waits */
	sws_des_free(des);
}

static void a_lock_found_free_still_costs_its_lines_way(void)
{
	struct sws_des *des = make(8, 1, SWS_LOCK_QUEUED);

	lock(des, 0, 0, 0);
	expect(des, 0, 0);
	unlock(des, 0, 0);
	CHECK(sws_des_lock(des, 4, 0, 1, true) == SWS_OK);
	expect(des, 4, 90 + 7);
	CHECK(sws_des_site_of(des, 1).contended == 0 && sws_des_site_of(des, 1).moved == 1);
	CHECK(sws_des_site_of(des, 1).wait_ns == 97);
	sws_des_free(des);
}

static void locks_nest_and_a_wait_inside_is_no_hold_of_the_cpu(void)
{
	struct sws_des *des = make(2, 2, SWS_LOCK_QUEUED);

	lock(des, 0, 1, 1);
	expect(des, 0, 0);
	run(des, 0, 50);
	lock(des, 1, 0, 0);
	expect(des, 1, 0);
	lock(des, 1, 1, 1);
	expect(des, 0, 50);
	unlock(des, 0, 1);
	run(des, 0, 1000);
	expect(des, 1, 65);
	run(des, 1, 10);
	expect(des, 1, 75);
	unlock(des, 1, 1);
	unlock(des, 1, 0);
	CHECK(sws_des_cpu_of(des, 1).wait_ns == 65 && sws_des_cpu_of(des, 1).hold_ns == 10);
	CHECK(sws_des_site_of(des, 0).hold_ns == 75 && sws_des_site_of(des, 1).hold_ns == 60);
	CHECK(sws_des_site_of(des, 0).longest_hold_ns == 75);
	CHECK(sws_des_site_of(des, 1).longest_wait_ns == 65);
	CHECK(sws_des_site_of(des, 1).longest_hold_ns == 50);
	sws_des_free(des);
}

static void a_sleep_that_is_cut_short_counts_as_long_as_it_was(void)
{
	struct sws_des *des = make(4, 1, SWS_LOCK_QUEUED);
	uint64_t next = 0;

	CHECK(!sws_des_peek(des, &next));
	run(des, 0, 100);
	run(des, 1, 1000);
	run(des, 2, 40);
	run(des, 3, 40);
	CHECK(sws_des_peek(des, &next) && next == 40);
	expect(des, 2, 40);
	/* CPU 2's event is taken: the next is CPU 3's, at the same time. */
	CHECK(sws_des_peek(des, &next) && next == 40);
	CHECK(sws_des_hasten(des, 1) == SWS_OK);
	verify(des);
	/* CPU 3's event was created before; it is due now, so it keeps its place. */
	CHECK(sws_des_hasten(des, 3) == SWS_OK);
	expect(des, 3, 40);
	expect(des, 1, 40);
	CHECK(sws_des_cpu_of(des, 1).run_ns == 40);
	expect(des, 0, 100);
	CHECK(!sws_des_peek(des, &next));
	/* A CPU without an event, or with a lock, cannot be hastened. */
	CHECK(sws_des_hasten(des, 1) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_des_hasten(des, 9) == SWS_ERROR_BAD_ARGUMENT);
	lock(des, 0, 0, 0);
	CHECK(sws_des_hasten(des, 0) == SWS_ERROR_BAD_ARGUMENT);
	expect(des, 0, 100);
	unlock(des, 0, 0);
	sws_des_free(des);
}

static void an_interrupt_waits_for_who_has_interrupts_off(void)
{
	struct sws_des *des = make(8, 2, SWS_LOCK_QUEUED);

	/* CPU 2 has interrupts on, with or without a lock. */
	lock(des, 2, 1, 0);
	expect(des, 2, 0);
	run(des, 2, 500);
	CHECK(interrupt(des, 3, 2) == SWS_OK);
	expect(des, 3, 0);
	/* CPU 0 has them off for a lock, and so has CPU 1 while it waits for that lock. */
	CHECK(sws_des_lock(des, 0, 0, 1, true) == SWS_OK);
	expect(des, 0, 7);
	run(des, 0, 100);
	CHECK(sws_des_lock(des, 1, 0, 1, true) == SWS_OK);
	CHECK(interrupt(des, 3, 1) == SWS_OK);
	CHECK(interrupt(des, 4, 0) == SWS_OK);
	CHECK(interrupt(des, 5, 1) == SWS_OK);
	CHECK(interrupt(des, 1, 0) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(interrupt(des, 6, 6) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(interrupt(des, 6, 8) == SWS_ERROR_BAD_ARGUMENT);
	verify(des);
	expect(des, 0, 107);
	/* From one lock to the next in one step: interrupts that waited in between are taken. */
	unlock(des, 0, 0);
	CHECK(sws_des_lock(des, 0, 0, 1, true) == SWS_OK);
	expect(des, 4, 107);
	expect(des, 1, 107 + 3 * 5 + 7);
	run(des, 1, 10);
	expect(des, 1, 139);
	unlock(des, 1, 0);
	expect(des, 3, 139);
	expect(des, 5, 139);
	/* CPU 0 took the interrupts that were sent before its second lock. */
	CHECK(sws_des_interrupts_on(des, 0) == 1 && sws_des_interrupts_on(des, 8) == 0);
	CHECK(sws_des_interrupt(des, 6, 0, 0, 3) == SWS_OK);
	expect(des, 6, 139);
	CHECK(sws_des_site_of(des, 3).acquisitions == 5 && sws_des_site_of(des, 3).contended == 3);
	CHECK(sws_des_site_of(des, 3).wait_ns == 132 + 100 + 132);
	CHECK(sws_des_cpu_of(des, 5).wait_ns == 132 && sws_des_cpu_of(des, 5).run_ns == 0);
	sws_des_free(des);
}

static void what_a_cpu_cannot_do_is_refused(void)
{
	struct sws_des *des = make(2, 1, SWS_LOCK_QUEUED);
	uint32_t first = 0;

	CHECK(sws_des_run(des, 2, 1) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_des_run(des, 0, UINT64_MAX) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_des_lock(des, 0, 1, 0, false) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_des_lock(des, 0, 0, 4, false) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_des_unlock(des, 0, 0) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_des_add_locks(des, SWS_LOCK_QUEUED, 0, &first) == SWS_ERROR_BAD_ARGUMENT);
	lock(des, 0, 0, 0);
	CHECK(sws_des_run(des, 0, 1) == SWS_ERROR_BAD_ARGUMENT);
	expect(des, 0, 0);
	CHECK(sws_des_lock(des, 0, 0, 0, false) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_des_unlock(des, 1, 0) == SWS_ERROR_BAD_ARGUMENT);
	sws_des_free(des);
}

/* Each hand-over to 4095 waiters takes about as long as the clock may run. */
static void the_clock_ends_before_it_wraps(void)
{
	struct sws_des_config config;
	struct sws_des *des = NULL;
	uint64_t before = 0;
	uint32_t first = 0;
	uint32_t cpu = 0;
	int error = SWS_OK;

	sws_des_config_init(&config);
	config.cpus = 4096;
	config.travel_other_socket_ns = UINT64_C(1) << 38;
	CHECK(sws_des_new(&config, &des) == SWS_ERROR_BAD_CONFIG);
	config.travel_other_socket_ns--;
	CHECK(sws_des_new(&config, &des) == SWS_OK);
	CHECK(sws_des_add_locks(des, SWS_LOCK_TEST_AND_SET, 1, &first) == SWS_OK);
	for (uint32_t i = 0; i < config.cpus; i++)
		CHECK(sws_des_lock(des, i, 0, 0, false) == SWS_OK);
	while (!error && sws_des_next(des, &cpu)) {
		CHECK(sws_des_now(des) >= before);
		before = sws_des_now(des);
		verify(des);
		error = sws_des_unlock(des, cpu, 0);
	}
	CHECK(error == SWS_ERROR_BAD_ARGUMENT && before > UINT64_C(1) << 50);
	CHECK(sws_des_run(des, cpu, 1) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_des_interrupt(des, cpu, !cpu, 0, 0) == SWS_ERROR_BAD_ARGUMENT);
	sws_des_free(des);
}

static void a_config_out_of_range_is_refused(void)
{
	struct sws_des_config config;
	struct sws_des *des = NULL;

	sws_des_config_init(&config);
	config.cpus = 0;
	CHECK(sws_des_new(&config, &des) == SWS_ERROR_BAD_CONFIG);
	sws_des_config_init(&config);
	config.cpus_per_core = 2;
	config.cpus_per_socket = 3;
	CHECK(sws_des_new(&config, &des) == SWS_ERROR_BAD_CONFIG);
	sws_des_config_init(&config);
	config.travel_other_socket_ns = UINT64_MAX;
	CHECK(sws_des_new(&config, &des) == SWS_ERROR_BAD_CONFIG);
	sws_des_config_init(&config);
	config.hand_off_ways = 0;
	CHECK(sws_des_new(&config, &des) == SWS_ERROR_BAD_CONFIG);
	sws_des_config_init(&config);
	config.contended_ns = UINT64_C(1) << 38;
	CHECK(sws_des_new(&config, &des) == SWS_ERROR_BAD_CONFIG);
}

enum { MANY = 37, LOCKS = 3 };

/* Each CPU in turn thinks, takes a lock, holds it, releases it; random times from one stream. */
static uint64_t crowd(enum sws_lock_kind kind, uint64_t seed)
{
	struct sws_des *des = make(MANY, LOCKS, kind);
	struct sws_generator generator;
	uint32_t holds[MANY];
	unsigned int step[MANY] = { 0 };
	uint64_t digest = 0;
	uint64_t acquisitions = 0;
	uint32_t cpu = 0;

	sws_generator_seed(&generator, seed, 0);
	for (uint32_t i = 0; i < MANY; i++)
		run(des, i, sws_generator_below(&generator, 50));
	for (int i = 0; i < 5000 && sws_des_next(des, &cpu); i++) {
		switch (step[cpu]++ % 3) {
		case 0:
			holds[cpu] = (uint32_t)sws_generator_below(&generator, LOCKS);
			lock(des, cpu, holds[cpu], holds[cpu]);
			break;
		case 1:
			run(des, cpu, sws_generator_below(&generator, 20));
			break;
		default:
			unlock(des, cpu, holds[cpu]);
			run(des, cpu, sws_generator_below(&generator, 100));
		}
		digest = digest * 31 + sws_des_now(des) * 64 + cpu;
	}
	for (uint32_t site = 0; site < LOCKS; site++)
		acquisitions += sws_des_site_of(des, site).acquisitions;
	CHECK(acquisitions > 1000);
	sws_des_free(des);
	return digest;
}

static void the_same_seed_gives_the_same_run(void)
{
	for (int kind = SWS_LOCK_QUEUED; kind <= SWS_LOCK_TICKET; kind++) {
		CHECK(crowd((enum sws_lock_kind)kind, 1) == crowd((enum sws_lock_kind)kind, 1));
		CHECK(crowd((enum sws_lock_kind)kind, 1) != crowd((enum sws_lock_kind)kind, 2));
	}
}

static int make_one(const struct sws_allocator *allocator)
{
	struct sws_des_config config;
	struct sws_des *des = NULL;
	uint32_t first = 0;
	int error = SWS_OK;

	sws_des_config_init(&config);
	config.allocator = allocator;
	error = sws_des_new(&config, &des);
	if (!error)
		error = sws_des_add_locks(des, SWS_LOCK_QUEUED, 10, &first);
	sws_des_free(des);
	return error;
}

static void a_failing_allocation_leaves_nothing_behind(void)
{
	check_each_allocation_failing(make_one);
}

int main(void)
{
	RUN(a_lone_cpu_never_waits);
	RUN(events_of_one_time_come_in_the_order_of_their_making);
	RUN(a_queued_lock_serves_in_order_and_pays_the_lines_way);
	RUN(a_test_and_set_lock_goes_to_the_nearest_at_the_cost_of_all);
	RUN(a_ticket_lock_serves_in_order_at_half_the_cost_of_all);
	RUN(a_lock_found_free_still_costs_its_lines_way);
	RUN(locks_nest_and_a_wait_inside_is_no_hold_of_the_cpu);
	RUN(a_sleep_that_is_cut_short_counts_as_long_as_it_was);
	RUN(an_interrupt_waits_for_who_has_interrupts_off);
	RUN(what_a_cpu_cannot_do_is_refused);
	RUN(the_clock_ends_before_it_wraps);
	RUN(a_config_out_of_range_is_refused);
	RUN(the_same_seed_gives_the_same_run);
	RUN(a_failing_allocation_leaves_nothing_behind);
	return 0;
}
