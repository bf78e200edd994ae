/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "swapsim/sweeps.h"

#include "check.h"

static const uint64_t FAULT_NS[] = { 1000, 2000, 3000 };
static const uint32_t EVEN[] = { SWS_SWEEPS_ONE, SWS_SWEEPS_ONE, SWS_SWEEPS_ONE };
static const uint32_t UNEVEN[] = { 500000, SWS_SWEEPS_ONE, 1500000 };

/* Three threads that need 90 of 64 pages. */
static struct sws_sweeps_config plain(void)
{
	struct sws_sweeps_config config;

	sws_sweeps_config_init(&config);
	config.threads = 3;
	config.sweeps = 30;
	config.pages = 90;
	config.memory = 64;
	config.slots = 40;
	config.active_per_inactive = 4;
	config.cpus = 8;
	config.kswapds = 4;
	config.access_ns = 100;
	config.fault_ns = FAULT_NS;
	config.factors = EVEN;
	return config;
}

static struct sws_sweeps_result run(const struct sws_sweeps_config *config)
{
	struct sws_sweeps_result result;

	CHECK(sws_sweeps_run(config, &result) == SWS_OK);
	CHECK(result.faults <= result.accesses && result.pages_out <= result.faults);
	return result;
}

static void a_thread_alone_misses_nearly_all(void)
{
	struct sws_sweeps_config config = plain();
	struct sws_sweeps_result result;

	config.threads = 1;
	result = run(&config);
	CHECK(result.accesses == 30 * 90);
	CHECK(result.faults * 10 > result.accesses * 8);
	CHECK(result.system_ns == result.faults * 1000);
	CHECK(result.elapsed_ns == result.system_ns + result.accesses * 100);
	config.memory = 90;
	CHECK(run(&config).faults == 90);
}

static void uneven_threads_fault_less_on_one_node_and_on_four(void)
{
	struct sws_sweeps_config config = plain();
	uint64_t even = 0;

	for (config.nodes = 1; config.nodes <= 4; config.nodes += 3) {
		config.factors = EVEN;
		even = run(&config).faults;
		config.factors = UNEVEN;
		CHECK(run(&config).faults * 10 < even * 9);
	}
}

static void a_run_ends_where_no_slot_is_left(void)
{
	struct sws_sweeps_config config = plain();
	struct sws_sweeps_result result;

	CHECK(!run(&config).out_of_swap);
	config.slots = 5;
	result = run(&config);
	CHECK(result.out_of_swap && result.pages_out == 5);
}

static void more_tasks_than_cpus_take_longer(void)
{
	struct sws_sweeps_config config = plain();
	const uint64_t enough = run(&config).elapsed_ns;

	config.cpus = 2;
	CHECK(run(&config).elapsed_ns > 2 * enough);
}

static void a_field_out_of_its_range_is_refused(void)
{
	static const uint64_t NO_NS[] = { 1000, 2000, 0 };
	const struct sws_sweeps_config good = plain();
	struct sws_sweeps_config bad[12];
	struct sws_sweeps_result result;
	int n = 0;

	for (int i = 0; i < 12; i++)
		bad[i] = good;
	bad[n++].threads = 0;
	bad[n++].sweeps = SWS_SWEEPS_MAX + 1;
	bad[n++].pages = 2;
	bad[n++].nodes = SWS_SWEEPS_NODES_MAX + 1;
	bad[n++].memory = 15;
	bad[n++].slots = 0;
	bad[n++].list_pages = 0;
	bad[n++].active_per_inactive = 0;
	bad[n++].cpus = 0;
	bad[n++].access_ns = SWS_SWEEPS_NS_MAX + 1;
	bad[n++].fault_ns = NO_NS;
	bad[n++].factors = NULL;
	for (int i = 0; i < n; i++)
		CHECK(sws_sweeps_run(&bad[i], &result) == SWS_ERROR_BAD_CONFIG);
}

static int scenario(const struct sws_allocator *allocator)
{
	struct sws_sweeps_config config = plain();
	struct sws_sweeps_result result;

	config.allocator = allocator;
	return sws_sweeps_run(&config, &result);
}

static void memory_that_is_missing_is_an_error(void)
{
	check_each_allocation_failing(scenario);
}

int main(void)
{
	RUN(a_thread_alone_misses_nearly_all);
	RUN(uneven_threads_fault_less_on_one_node_and_on_four);
	RUN(a_run_ends_where_no_slot_is_left);
	RUN(more_tasks_than_cpus_take_longer);
	RUN(a_field_out_of_its_range_is_refused);
	RUN(memory_that_is_missing_is_an_error);
	return 0;
}
