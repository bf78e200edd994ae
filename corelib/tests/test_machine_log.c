/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "swapsim/machine_log.h"

#include "check.h"

#include <string.h>

enum { ROOM = 200, CPUS_MAX = 16, SITES = SWS_SITES };

/* Arbitrary nonzero costs: the log is compared with the counts of the machine. */
static void set_costs(struct sws_machine_costs *costs)
{
	uint64_t each[sizeof(*costs) / sizeof(uint64_t)];

	for (size_t i = 0; i < sizeof(each) / sizeof(*each); i++)
		each[i] = 20 + 7 * i;
	memcpy(costs, each, sizeof(each));
}

static struct sws_machine_config config_of(enum sws_kernel kernel)
{
	struct sws_machine_config config;

	sws_machine_config_init(&config);
	set_costs(&config.costs);
	config.device.kernel = kernel;
	config.device.slots = 1 << 15;
	config.device.cluster_size = 256;
	config.device.trunk_shift = 10;
	config.device.policy = SWS_BASE_SHARED;
	config.nodes = 2;
	config.devices = 2;
	config.walkers = 4;
	config.writers = 1;
	config.frames = 4096;
	config.pages = 3000;
	return config;
}

static struct sws_machine *make(const struct sws_machine_config *config, uint64_t until_ns)
{
	struct sws_machine *machine = NULL;
	uint64_t events = 0;

	CHECK(sws_machine_new(config, &machine) == SWS_OK);
	for (bool more = true; more;)
		CHECK(sws_machine_run(machine, until_ns, 10000, &more, &events) == SWS_OK);
	return machine;
}

struct sums {
	uint64_t acquisitions[SITES];
	uint64_t wait_ns[SITES];
	uint64_t hold_ns[SITES];
	uint64_t ended[CPUS_MAX];
	uint64_t slept;
};

static void check_span(const struct sws_machine_log *log, const struct sws_span *span,
		       struct sums *sums)
{
	struct sws_lock_identity identity;

	CHECK(span->cpu < CPUS_MAX && span->from_ns <= span->until_ns);
	if (span->kind == SWS_SPAN_SLEEP) {
		sums->slept += span->until_ns - span->from_ns;
		CHECK(span->site == SWS_LOG_NONE && span->lock == SWS_LOG_NONE);
		return;
	}
	CHECK(sums->ended[span->cpu] <= span->until_ns);
	sums->ended[span->cpu] = span->until_ns;
	CHECK(span->site < SWS_SITES);
	CHECK((span->lock == SWS_LOG_NONE) == (span->site == SWS_SITE_FLUSH));
	if (span->lock != SWS_LOG_NONE)
		CHECK(sws_machine_log_lock(log, span->lock, &identity) == SWS_OK);
	CHECK(span->holder != span->cpu);
	if (span->kind == SWS_SPAN_WAIT) {
		sums->acquisitions[span->site]++;
		sums->wait_ns[span->site] += span->until_ns - span->from_ns;
	} else {
		sums->hold_ns[span->site] += span->until_ns - span->from_ns;
	}
}

/* Logs until a time, and compares the sums with the counts of the sites. */
static struct sums log_until(struct sws_machine *machine, uint64_t until_ns)
{
	struct sws_des_site before[SITES];
	struct sws_span spans[ROOM];
	struct sums sums = { .slept = 0 };
	struct sws_machine_log *log = NULL;
	uint32_t n = 0;

	for (uint32_t site = 0; site < SITES; site++)
		before[site] = sws_machine_site_of(machine, site);
	CHECK(sws_machine_log_new(machine, &log) == SWS_OK);
	for (bool more = true; more;) {
		CHECK(sws_machine_log_run(log, until_ns, 500, spans, ROOM, &n, &more) == SWS_OK);
		for (uint32_t i = 0; i < n; i++)
			check_span(log, &spans[i], &sums);
	}
	for (uint32_t site = 0; site < SITES; site++) {
		const struct sws_des_site cost = sws_machine_site_of(machine, site);

		CHECK(sums.acquisitions[site] == cost.acquisitions - before[site].acquisitions);
		CHECK(sums.wait_ns[site] == cost.wait_ns - before[site].wait_ns);
		CHECK(sums.hold_ns[site] == cost.hold_ns - before[site].hold_ns);
	}
	sws_machine_log_free(log);
	return sums;
}

static void spans_add_up_to_what_the_sites_counted(void)
{
	static const enum sws_kernel kernels[] = { SWS_KERNEL_4_8, SWS_KERNEL_5_7, SWS_KERNEL_5_8,
						   SWS_KERNEL_6_1 };

	for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++)
		for (int variant = 0; variant < 4; variant++) {
			struct sws_machine_config config = config_of(kernels[i]);
			struct sws_machine *machine = NULL;
			struct sums sums;

			config.lock_kind = variant == 1 ? SWS_LOCK_TEST_AND_SET : SWS_LOCK_QUEUED;
			config.channels = variant == 2 ? 3 : 0;
			config.removal =
				variant == 3 ? SWS_REMOVAL_BATCHED : SWS_REMOVAL_PAGE_BY_PAGE;
			machine = make(&config, 300000);
			sums = log_until(machine, 3000000);
			CHECK(sums.wait_ns[SWS_SITE_TREE_ADD] > 0);
			CHECK(variant != 2 || sums.slept > 0);
			sws_machine_free(machine);
		}
}

static void a_log_changes_nothing(void)
{
	const struct sws_machine_config config = config_of(SWS_KERNEL_6_1);
	struct sws_machine *logged = make(&config, 100000);
	struct sws_machine *alone = make(&config, 1000000);

	log_until(logged, 1000000);
	CHECK(sws_machine_now(logged) == sws_machine_now(alone));
	CHECK(sws_machine_events(logged) == sws_machine_events(alone));
	for (uint32_t cpu = 0; cpu < sws_machine_cpus(alone); cpu++)
		CHECK(sws_machine_cpu_of(logged, cpu).time.wait_ns ==
		      sws_machine_cpu_of(alone, cpu).time.wait_ns);
	sws_machine_free(alone);
	sws_machine_free(logged);
}

static void locks_have_names_and_places(void)
{
	const struct sws_machine_config config = config_of(SWS_KERNEL_6_1);
	struct sws_machine *machine = make(&config, 0);
	struct sws_machine_log *log = NULL;
	struct sws_lock_identity identity;
	uint32_t of_class[SWS_LOCK_CLASS_CLUSTER + 1] = { 0 };
	uint32_t lock = 0;

	CHECK(sws_machine_log_new(machine, &log) == SWS_OK);
	for (; sws_machine_log_lock(log, lock, &identity) == SWS_OK; lock++)
		of_class[identity.lock_class]++;
	CHECK(of_class[SWS_LOCK_CLASS_SWAP_AVAIL] == 1);
	CHECK(of_class[SWS_LOCK_CLASS_ALLOC] == sws_machine_cpus(machine));
	CHECK(of_class[SWS_LOCK_CLASS_LRU] == 2 && of_class[SWS_LOCK_CLASS_ZONE] == 2);
	CHECK(of_class[SWS_LOCK_CLASS_SI] == 2 && of_class[SWS_LOCK_CLASS_RECORD] == 0);
	CHECK(of_class[SWS_LOCK_CLASS_TREE] == 2 * (1 << 15 >> 10));
	CHECK(of_class[SWS_LOCK_CLASS_CLUSTER] == 2 * (1 << 15) / 256);
	/* The last lock is the last cluster of the last device. */
	CHECK(sws_machine_log_lock(log, lock - 1, &identity) == SWS_OK);
	CHECK(identity.owner == 1 && identity.part == (1 << 15) / 256 - 1);
	CHECK(!strcmp(sws_lock_class_name(SWS_LOCK_CLASS_TREE), "tree_lock"));
	CHECK(!sws_lock_class_name(SWS_LOCK_CLASS_CLUSTER + 1));
	sws_machine_log_free(log);
	sws_machine_free(machine);
}

static void what_cannot_be_logged_is_refused(void)
{
	const struct sws_machine_config config = config_of(SWS_KERNEL_6_1);
	struct sws_machine *machine = NULL;
	struct sws_machine_log *log = NULL;
	struct sws_span spans[ROOM];
	uint32_t n = 0;
	bool more = true;

	CHECK(sws_machine_new(&config, &machine) == SWS_OK);
	CHECK(sws_machine_log_new(machine, &log) == SWS_ERROR_BAD_ARGUMENT);
	sws_machine_free(machine);
	machine = make(&config, 1000);
	CHECK(sws_machine_log_new(machine, &log) == SWS_OK);
	CHECK(sws_machine_log_run(log, 2000, 10, spans, sws_machine_log_room(log) - 1, &n, &more) ==
	      SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_machine_log_cached(log) == 0);
	sws_machine_log_free(log);
	sws_machine_log_free(NULL);
	sws_machine_free(machine);
}

static int a_log(const struct sws_allocator *allocator)
{
	struct sws_machine_config config = config_of(SWS_KERNEL_6_1);
	struct sws_machine *machine = NULL;
	struct sws_machine_log *log = NULL;
	uint64_t events = 0;
	int error = SWS_OK;

	config.allocator = allocator;
	error = sws_machine_new(&config, &machine);
	for (bool more = true; more && !error;)
		error = sws_machine_run(machine, 0, 10000, &more, &events);
	if (!error)
		error = sws_machine_log_new(machine, &log);
	sws_machine_log_free(log);
	sws_machine_free(machine);
	return error;
}

static void each_allocation_may_fail(void)
{
	check_each_allocation_failing(a_log);
}

int main(void)
{
	RUN(spans_add_up_to_what_the_sites_counted);
	RUN(a_log_changes_nothing);
	RUN(locks_have_names_and_places);
	RUN(what_cannot_be_logged_is_refused);
	RUN(each_allocation_may_fail);
	return 0;
}
