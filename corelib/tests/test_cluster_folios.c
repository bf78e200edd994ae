/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "swapsim/cluster_folios.h"

#include "check.h"

enum { SIZE = 16, PAGES = 64 };

static struct sws_cluster_folios_config config_of(enum sws_cluster_rule_set set,
						  const struct sws_clusters_device *device)
{
	struct sws_cluster_folios_config config;

	sws_cluster_folios_config_init(&config);
	CHECK(sws_cluster_rules_init(set, &config.clusters.rules) == SWS_OK);
	config.clusters.cluster_size = SIZE;
	config.clusters.trunk_shift = 6;
	config.clusters.cpus = 2;
	config.clusters.devices = device;
	config.clusters.n_devices = 1;
	config.processes = 2;
	config.pages = PAGES;
	config.swap_in_orders = 1U << 2;
	return config;
}

static struct sws_cluster_folios *make(enum sws_cluster_rule_set set, uint32_t slots)
{
	const struct sws_clusters_device device = { .slots = slots };
	const struct sws_cluster_folios_config config = config_of(set, &device);
	struct sws_cluster_folios *self = NULL;

	CHECK(sws_cluster_folios_new(&config, &self) == SWS_OK);
	return self;
}

static int feed(struct sws_cluster_folios *self, uint32_t process, uint16_t cpu, uint8_t step,
		uint8_t order, uint32_t page, uint32_t n)
{
	const struct sws_cluster_folios_rows rows = { &process, &cpu, &step, &order, &page, &n };

	return sws_cluster_folios_feed(self, &rows, 1);
}

static void step(struct sws_cluster_folios *self, uint8_t what, uint8_t order, uint32_t page,
		 uint32_t n)
{
	const char *reason = NULL;

	CHECK(feed(self, 0, 0, what, order, page, n) == SWS_OK);
	CHECK(sws_cluster_folios_verify(self, &reason) == SWS_OK);
}

static struct sws_cluster_folios_totals totals_of(const struct sws_cluster_folios *self)
{
	struct sws_cluster_folios_totals totals;

	sws_cluster_folios_totals(self, &totals);
	return totals;
}

static void a_folio_goes_out_and_comes_in_whole(void)
{
	struct sws_cluster_folios *self = make(SWS_CLUSTER_RULES_7_3, 8 * SIZE);
	uint32_t order = 0;
	uint32_t slot = 0;

	step(self, SWS_CLUSTER_FOLIOS_ACCESS, 2, 4, 4);
	CHECK(sws_cluster_folios_slot(self, 0, 6, &order) == 0 && order == 2);
	step(self, SWS_CLUSTER_FOLIOS_OUT, 0, 0, PAGES);
	slot = sws_cluster_folios_slot(self, 0, 4, &order);
	CHECK(slot % 4 == 0 && order == UINT32_MAX);
	CHECK(sws_cluster_folios_slot(self, 0, 7, &order) == slot + 3);
	step(self, SWS_CLUSTER_FOLIOS_ACCESS, 2, 6, 1);
	CHECK(sws_cluster_folios_slot(self, 0, 4, &order) == 0 && order == 2);
	CHECK(totals_of(self).mapped[2] == 1 && totals_of(self).swapped_out[2] == 1);
	CHECK(totals_of(self).swapped_in[2] == 1 && !totals_of(self).fallbacks[2]);
	sws_cluster_folios_free(self);
}

/* Slots 1 .. 15 of the only cluster: two runs of 4 fit behind 1 .. 3, then none. */
static void a_folio_without_a_run_is_split_and_comes_in_page_by_page(void)
{
	struct sws_cluster_folios *self = make(SWS_CLUSTER_RULES_7_3, SIZE);
	uint32_t order = 0;

	step(self, SWS_CLUSTER_FOLIOS_ACCESS, 0, 0, 6);
	step(self, SWS_CLUSTER_FOLIOS_OUT, 0, 0, 6);
	step(self, SWS_CLUSTER_FOLIOS_ACCESS, 2, 16, 12);
	step(self, SWS_CLUSTER_FOLIOS_OUT, 0, 16, 12);
	CHECK(totals_of(self).swapped_out[2] + totals_of(self).fallbacks[2] == 3);
	CHECK(totals_of(self).fallbacks[2] >= 1);
	CHECK(totals_of(self).stayed == 6 + 12 - (SIZE - 1));
	step(self, SWS_CLUSTER_FOLIOS_ACCESS, 2, 24, 1);
	CHECK(sws_cluster_folios_slot(self, 0, 24, &order) == 0 && order == 0);
	sws_cluster_folios_free(self);
}

static void a_dropped_part_splits_a_folio(void)
{
	struct sws_cluster_folios *self = make(SWS_CLUSTER_RULES_7_3, 8 * SIZE);
	uint32_t order = 0;

	step(self, SWS_CLUSTER_FOLIOS_ACCESS, 3, 0, 8);
	step(self, SWS_CLUSTER_FOLIOS_DROP, 0, 2, 2);
	(void)sws_cluster_folios_slot(self, 0, 0, &order);
	CHECK(order == 0);
	(void)sws_cluster_folios_slot(self, 0, 2, &order);
	CHECK(order == UINT32_MAX);
	step(self, SWS_CLUSTER_FOLIOS_OUT, 0, 0, 8);
	CHECK(totals_of(self).swapped_out[0] == 6);
	sws_cluster_folios_free(self);
}

/* The caches start above 320 free slots a CPU, and take 64 at once. */
static void single_slots_wait_in_caches_under_the_rules_of_6_12(void)
{
	struct sws_cluster_folios *self = make(SWS_CLUSTER_RULES_6_12, 44 * SIZE);

	step(self, SWS_CLUSTER_FOLIOS_ACCESS, 0, 0, 2);
	step(self, SWS_CLUSTER_FOLIOS_OUT, 0, 0, 2);
	CHECK(sws_cluster_folios_cached(self) == 62);
	CHECK(sws_clusters_in_use(sws_cluster_folios_clusters(self), 0) == 64);
	step(self, SWS_CLUSTER_FOLIOS_ACCESS, 0, 0, 2);
	CHECK(sws_cluster_folios_cached(self) == 64);
	sws_cluster_folios_free(self);
}

static void free_runs_are_the_largest_aligned_ones(void)
{
	struct sws_cluster_folios *self = make(SWS_CLUSTER_RULES_7_3, 2 * SIZE);
	uint64_t runs[SWS_CLUSTERS_ORDERS];

	/* Slot 0 is the header: 1, 2 .. 3, 4 .. 7, 8 .. 15, and a cluster. */
	sws_clusters_free_runs(sws_cluster_folios_clusters(self), 0, runs);
	for (uint32_t order = 0; order < SWS_CLUSTERS_ORDERS; order++)
		CHECK(runs[order] == (order <= 4));
	sws_clusters_free_runs(sws_cluster_folios_clusters(self), 1, runs);
	CHECK(!runs[0]);
	sws_cluster_folios_free(self);
}

static void a_row_that_cannot_be_run_is_refused(void)
{
	static const struct {
		uint32_t process;
		uint16_t cpu;
		uint8_t step;
		uint8_t order;
		uint32_t page;
		uint32_t n;
		uint32_t problem;
	} bad[] = {
		{ 2, 0, 0, 0, 0, 1, SWS_CLUSTER_FOLIOS_BAD_PROCESS },
		{ 0, 2, 0, 0, 0, 1, SWS_CLUSTER_FOLIOS_BAD_CPU },
		{ 0, 0, 3, 0, 0, 1, SWS_CLUSTER_FOLIOS_BAD_STEP },
		{ 0, 0, 0, 5, 0, 1, SWS_CLUSTER_FOLIOS_BAD_ORDER },
		{ 0, 0, 0, 0, 0, 0, SWS_CLUSTER_FOLIOS_BAD_PAGES },
		{ 0, 0, 0, 0, PAGES, 1, SWS_CLUSTER_FOLIOS_BAD_PAGES },
		{ 0, 0, 0, 0, 1, PAGES, SWS_CLUSTER_FOLIOS_BAD_PAGES },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct sws_cluster_folios *self = make(SWS_CLUSTER_RULES_7_3, 8 * SIZE);
		uint64_t at = 0;

		step(self, SWS_CLUSTER_FOLIOS_ACCESS, 0, 0, 1);
		CHECK(feed(self, bad[i].process, bad[i].cpu, bad[i].step, bad[i].order, bad[i].page,
			   bad[i].n) == SWS_ERROR_BAD_ARGUMENT);
		CHECK(sws_cluster_folios_problem(self, &at) == bad[i].problem && at == 1);
		CHECK(sws_cluster_folios_problem_text(bad[i].problem));
		sws_cluster_folios_free(self);
	}
	CHECK(!sws_cluster_folios_problem_text(SWS_CLUSTER_FOLIOS_PROBLEMS));
	CHECK(!sws_cluster_folios_step_name(SWS_CLUSTER_FOLIOS_STEPS));
}

static void a_config_out_of_its_range_is_refused(void)
{
	const struct sws_clusters_device device = { .slots = 8 * SIZE };
	const struct sws_cluster_folios_config good = config_of(SWS_CLUSTER_RULES_7_3, &device);

	for (int what = 0; what < 5; what++) {
		struct sws_cluster_folios_config config = good;
		struct sws_cluster_folios *self = NULL;

		config.processes = what == 0   ? 0
				   : what == 1 ? SWS_CLUSTER_FOLIOS_PROCESSES_MAX + 1
					       : 2;
		config.pages = what == 2 ? 0 : PAGES;
		config.swap_in_orders = what == 3 ? 1U << 9 : 0;
		config.clusters.n_devices = what == 4 ? 2 : 1;
		CHECK(sws_cluster_folios_new(&config, &self) == SWS_ERROR_BAD_CONFIG && !self);
	}
}

static int with_little_memory(const struct sws_allocator *allocator)
{
	const struct sws_clusters_device device = { .slots = 8 * SIZE };
	struct sws_cluster_folios_config config = config_of(SWS_CLUSTER_RULES_7_3, &device);
	struct sws_cluster_folios *self = NULL;
	const char *reason = NULL;
	int error = SWS_OK;

	config.clusters.allocator = allocator;
	error = sws_cluster_folios_new(&config, &self);
	if (!error)
		error = feed(self, 0, 0, SWS_CLUSTER_FOLIOS_ACCESS, 2, 0, 8);
	if (!error)
		error = feed(self, 0, 0, SWS_CLUSTER_FOLIOS_OUT, 0, 0, 8);
	if (!error)
		error = sws_cluster_folios_verify(self, &reason);
	sws_cluster_folios_free(self);
	return error;
}

static void each_failed_allocation_is_reported(void)
{
	check_each_allocation_failing(with_little_memory);
}

int main(void)
{
	RUN(a_folio_goes_out_and_comes_in_whole);
	RUN(a_folio_without_a_run_is_split_and_comes_in_page_by_page);
	RUN(a_dropped_part_splits_a_folio);
	RUN(single_slots_wait_in_caches_under_the_rules_of_6_12);
	RUN(free_runs_are_the_largest_aligned_ones);
	RUN(a_row_that_cannot_be_run_is_refused);
	RUN(a_config_out_of_its_range_is_refused);
	RUN(each_failed_allocation_is_reported);
	return 0;
}
