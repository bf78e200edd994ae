/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "swapsim/machine.h"

#include "check.h"

#include <string.h>

/* Costs with which the composition of a sum of holds is unambiguous. */
static void set_costs(struct sws_machine_costs *costs)
{
	*costs = (struct sws_machine_costs){
		.travel_same_socket_ns = 30,
		.travel_other_socket_ns = 90,
		.irq_save_ns = 3,
		.fault_ns = 500,
		.touch_ns = 700,
		.access_ns = 90,
		.reference_ns = 40,
		.unmap_ns = 800,
		.copy_ns = 600,
		.transfer_ns = 80,
		.channel_ns = 10000,
		.interrupt_ns = 900,
		.tree_ns = 100,
		.tree_next_ns = 60,
		.tag_ns = 70,
		.descent_ns = 50,
		.map_ns = 20,
		.map_next_ns = 20,
		.slot_ns = 25,
		.free_ns = 33,
		.record_ns = 17,
		.device_ns = 35,
		.test_ns = 2,
		.base_ns = 4,
		.avail_ns = 15,
		.cache_ns = 10,
		.lru_page_ns = 12,
		.zone_page_ns = 14,
	};
}

static struct sws_machine_config config_of(enum sws_kernel kernel)
{
	struct sws_machine_config config;

	sws_machine_config_init(&config);
	set_costs(&config.costs);
	config.device.kernel = kernel;
	config.device.slots = 1 << 14;
	config.device.cluster_size = 256;
	config.device.trunk_shift = 10;
	config.device.policy = SWS_BASE_SHARED;
	config.walkers = 0;
	config.frames = 4096;
	config.pages = 3000;
	return config;
}

static struct sws_machine *make(const struct sws_machine_config *config)
{
	struct sws_machine *machine = NULL;

	CHECK(sws_machine_new(config, &machine) == SWS_OK);
	return machine;
}

static void verify(const struct sws_machine *machine)
{
	const char *reason = "";

	if (sws_machine_verify(machine, &reason) != SWS_OK)
		check_failed(__FILE__, __LINE__, reason);
}

/* Runs until a time and verifies every `stride` events; returns the number of events. */
static uint64_t run(struct sws_machine *machine, uint64_t until_ns, uint64_t stride)
{
	uint64_t events = 0;

	for (bool more = true; more;) {
		CHECK(sws_machine_run(machine, until_ns, stride, &more, &events) == SWS_OK);
		verify(machine);
	}
	return events;
}

static uint64_t sum(const struct sws_machine *machine, size_t member)
{
	uint64_t total = 0;

	for (uint32_t cpu = 0; cpu < sws_machine_cpus(machine); cpu++) {
		const struct sws_machine_cpu count = sws_machine_cpu_of(machine, cpu);

		total += *(const uint64_t *)(const void *)((const char *)&count + member);
	}
	return total;
}

static uint64_t requests_done(const struct sws_machine *machine)
{
	return sum(machine, offsetof(struct sws_machine_cpu, pages_out)) +
	       sum(machine, offsetof(struct sws_machine_cpu, pages_in));
}

static uint64_t slots_in_use(const struct sws_machine *machine)
{
	const struct sws_slots_work work = sws_machine_slots_work(machine);

	return work.given - work.freed;
}

static uint64_t acquisitions(const struct sws_machine *machine, enum sws_machine_site site)
{
	return sws_machine_site_of(machine, site).acquisitions;
}

/* Returns true if two counts of the same pages differ by at most those under way. */
static bool near(uint64_t a, uint64_t b, uint64_t under_way)
{
	return a <= b + under_way && b <= a + under_way;
}

static void a_walker_whose_pages_all_fit_takes_no_lock(void)
{
	struct sws_machine_config config = config_of(SWS_KERNEL_5_8);
	struct sws_machine *machine = NULL;
	struct sws_machine_cpu walker;

	config.walkers = 1;
	machine = make(&config);
	run(machine, 3000000, 500);
	for (uint32_t site = 0; site < SWS_SITES; site++)
		CHECK(sws_machine_site_of(machine, site).acquisitions == 0);
	walker = sws_machine_cpu_of(machine, 0);
	CHECK(walker.kind == SWS_ACTOR_WALKER && walker.accesses > 20000);
	CHECK(walker.time.wait_ns == 0 && walker.time.hold_ns == 0);
	CHECK(walker.time.run_ns >= 2900000 && walker.pages_in == 0);
	sws_machine_free(machine);
}

static void a_page_out_of_4_8_takes_four_tree_locks_or_two(void)
{
	for (int tags = 0; tags <= 1; tags++) {
		struct sws_machine_config config = config_of(SWS_KERNEL_4_8);
		struct sws_machine *machine = NULL;
		uint64_t out = 0;

		config.writers = 2;
		config.swap_writeback_tags = tags ? SWS_TAGS_KEPT : SWS_TAGS_NOT_KEPT;
		machine = make(&config);
		run(machine, 20000000, 1000);
		out = sum(machine, offsetof(struct sws_machine_cpu, pages_out));
		CHECK(out > 2000);
		CHECK(near(acquisitions(machine, SWS_SITE_TREE_ADD), out, 3));
		CHECK(near(acquisitions(machine, SWS_SITE_TREE_START), tags ? out : 0, 3));
		CHECK(near(acquisitions(machine, SWS_SITE_TREE_END), tags ? out : 0, 3));
		CHECK(near(acquisitions(machine, SWS_SITE_TREE_REMOVE), out, 3));
		CHECK(near(acquisitions(machine, SWS_SITE_AVAIL), out, 3));
		CHECK(near(acquisitions(machine, SWS_SITE_DEVICE_GET), out, 3));
		CHECK(near(acquisitions(machine, SWS_SITE_DUPLICATE), out, 3));
		CHECK(near(acquisitions(machine, SWS_SITE_COUNT), out, 3));
		CHECK(near(acquisitions(machine, SWS_SITE_PUT), out, 3));
		CHECK(acquisitions(machine, SWS_SITE_CLUSTER_GET) == 0);
		CHECK(acquisitions(machine, SWS_SITE_CACHE_MUTEX) == 0);
		sws_machine_free(machine);
	}
}

static void a_batched_list_of_4_8_takes_one_hold_for_all_removals(void)
{
	for (uint32_t pages = 1; pages <= SWS_MACHINE_LIST_MAX; pages *= 8) {
		struct sws_machine_config config = config_of(SWS_KERNEL_4_8);
		struct sws_machine *machine = NULL;
		struct sws_des_site remove = { 0 };
		uint64_t out = 0;

		config.writers = 1;
		config.frames = 8192;
		config.device.slots = 1 << 15;
		config.removal = SWS_REMOVAL_BATCHED;
		config.list_pages = pages;
		machine = make(&config);
		run(machine, 20000000, 1000);
		remove = sws_machine_site_of(machine, SWS_SITE_TREE_REMOVE);
		out = sum(machine, offsetof(struct sws_machine_cpu, reclaimed));
		CHECK(out > 2000);
		/* Two CPUs may be processing a list each. */
		CHECK(remove.longest_hold_ns == 100 + (pages - 1) * 60 + pages * 50);
		CHECK(near(remove.acquisitions * pages, out, 2 * pages));
		CHECK(near(acquisitions(machine, SWS_SITE_PUT), out, 2 * pages));
		CHECK(near(acquisitions(machine, SWS_SITE_TREE_ADD), out, 2 * pages));
		sws_machine_free(machine);
	}
}

static void a_batched_list_takes_a_hold_for_each_trunk(void)
{
	struct sws_machine_config config = config_of(SWS_KERNEL_6_1);
	struct sws_machine *machine = NULL;
	uint64_t out = 0;
	uint64_t holds = 0;

	config.writers = 2;
	config.removal = SWS_REMOVAL_BATCHED;
	/* A CPU gets 64 slots at a time, so a list of 32 is usually in one trunk of 256. */
	config.device.trunk_shift = 8;
	machine = make(&config);
	run(machine, 20000000, 1000);
	out = sum(machine, offsetof(struct sws_machine_cpu, reclaimed));
	holds = acquisitions(machine, SWS_SITE_TREE_REMOVE);
	CHECK(out > 2000);
	CHECK(holds * 32 > out && holds * 8 < out);
	sws_machine_free(machine);
}

static void one_writer_wakes_all_kswapds_where_memory_is_shared(void)
{
	for (int shares = 0; shares <= 1; shares++) {
		struct sws_machine_config config = config_of(SWS_KERNEL_4_8);
		struct sws_machine *machine = NULL;
		uint32_t busy = 0;

		config.writers = 1;
		config.nodes = 4;
		config.shares_memory = shares;
		machine = make(&config);
		run(machine, 30000000, 1000);
		for (uint32_t cpu = 0; cpu < sws_machine_cpus(machine); cpu++) {
			const struct sws_machine_cpu count = sws_machine_cpu_of(machine, cpu);

			busy += count.kind == SWS_ACTOR_KSWAPD && count.reclaimed > 100;
		}
		CHECK(busy == (shares ? 4 : 1));
		sws_machine_free(machine);
	}
}

static void a_rotational_device_has_no_cluster_locks(void)
{
	const enum sws_kernel kernels[] = { SWS_KERNEL_4_8, SWS_KERNEL_5_8, SWS_KERNEL_6_1 };

	for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++) {
		struct sws_machine_config config = config_of(kernels[i]);
		struct sws_machine *machine = NULL;

		config.walkers = 3;
		config.device.rotational = true;
		machine = make(&config);
		run(machine, 60000000, 10000);
		CHECK(sum(machine, offsetof(struct sws_machine_cpu, pages_in)) > 1000);
		CHECK(acquisitions(machine, SWS_SITE_CLUSTER_GET) == 0);
		CHECK(acquisitions(machine, SWS_SITE_CLUSTER_SEARCH) == 0);
		CHECK(acquisitions(machine, SWS_SITE_CLUSTER_FREE) == 0);
		CHECK(acquisitions(machine, SWS_SITE_DEVICE_SCAN) > 0);
		CHECK(sws_machine_slots_work(machine).tested_scan > 256);
		sws_machine_free(machine);
	}
}

static void a_walkers_page_of_5_7_skips_the_cache_on_its_way_in(void)
{
	struct sws_machine_config config = config_of(SWS_KERNEL_5_7_SCAN_MORE);
	struct sws_machine *machine = NULL;
	uint64_t in = 0;
	uint64_t out = 0;

	config.walkers = 4;
	config.nodes = 2;
	config.devices = 2;
	config.fragmented = true;
	machine = make(&config);
	run(machine, 60000000, 10000);
	in = sum(machine, offsetof(struct sws_machine_cpu, pages_in));
	out = sum(machine, offsetof(struct sws_machine_cpu, pages_out));
	CHECK(in > 2000 && near(in, out, 600));
	CHECK(near(acquisitions(machine, SWS_SITE_TREE_ADD), out, 6));
	CHECK(near(acquisitions(machine, SWS_SITE_TREE_REMOVE), out, 6));
	CHECK(acquisitions(machine, SWS_SITE_TREE_START) == 0);
	CHECK(acquisitions(machine, SWS_SITE_TREE_READ) == 0);
	CHECK(acquisitions(machine, SWS_SITE_TREE_SHADOW) == 0);
	CHECK(near(acquisitions(machine, SWS_SITE_LRU_CHARGE), in, 4));
	CHECK(near(acquisitions(machine, SWS_SITE_SWAP_FREE), in, 4));
	CHECK(near(acquisitions(machine, SWS_SITE_RETURN_CACHE), in, 4));
	CHECK(acquisitions(machine, SWS_SITE_CLUSTER_FREE) % 64 <= 4);
	CHECK(near(64 * acquisitions(machine, SWS_SITE_DEVICE_FREE),
		   acquisitions(machine, SWS_SITE_CLUSTER_FREE), 64 * 4));
	CHECK(near(acquisitions(machine, SWS_SITE_CACHE_MUTEX), out, 6));
	sws_machine_free(machine);
}

/* Activated once for each page that came in, and tested once more before it goes out. */
static void a_page_that_comes_in_is_activated_by_the_first_scan(void)
{
	static const uint32_t ratios[] = { 1, 3, 11 };

	for (size_t i = 0; i < sizeof(ratios) / sizeof(*ratios); i++) {
		struct sws_machine_config config = config_of(SWS_KERNEL_5_8);
		struct sws_machine *machine = NULL;
		uint64_t in = 0;

		config.walkers = 2;
		/* So many that hardly one is touched twice while it is in memory. */
		config.pages = 50000;
		config.device.slots = 1 << 17;
		config.inactive_ratio = ratios[i];
		machine = make(&config);
		run(machine, 60000000, 10000);
		in = sum(machine, offsetof(struct sws_machine_cpu, pages_in));
		CHECK(in > 2000);
		CHECK(near(sum(machine, offsetof(struct sws_machine_cpu, activated)), in, in / 8));
		CHECK(acquisitions(machine, SWS_SITE_LRU_INACTIVE) > in * 4 / 32 * 7 / 8);
		sws_machine_free(machine);
	}
}

static void a_slot_of_5_8_is_recorded_on_its_way_out_in_and_back(void)
{
	for (int batched = 0; batched <= 1; batched++) {
		struct sws_machine_config config = config_of(SWS_KERNEL_5_8);
		struct sws_machine *machine = NULL;
		uint64_t in = 0;
		uint64_t out = 0;

		config.walkers = 4;
		config.removal = batched ? SWS_REMOVAL_BATCHED : SWS_REMOVAL_PAGE_BY_PAGE;
		machine = make(&config);
		run(machine, 60000000, 10000);
		in = sum(machine, offsetof(struct sws_machine_cpu, pages_in));
		out = sum(machine, offsetof(struct sws_machine_cpu, pages_out));
		CHECK(in > 2000);
		CHECK(near(acquisitions(machine, SWS_SITE_RECORD_IN), in, 4));
		CHECK(near(acquisitions(machine, SWS_SITE_RECORD_OUT), out, batched ? 6 * 32 : 6));
		CHECK(near(acquisitions(machine, SWS_SITE_RECORD_FREE),
			   acquisitions(machine, SWS_SITE_CLUSTER_FREE), 4));
		sws_machine_free(machine);
	}
}

/* A writer's own pages need no interrupt; kswapd, and the other writer, interrupt it. */
static void a_page_of_another_task_is_written_when_its_cpu_was_interrupted(void)
{
	for (uint32_t writers = 1; writers <= 2; writers++) {
		struct sws_machine_config config = config_of(SWS_KERNEL_4_8);
		struct sws_machine *machine = NULL;
		struct sws_des_site flush = { 0 };
		uint64_t out = 0;

		config.writers = writers;
		config.frames = 8192;
		machine = make(&config);
		run(machine, 20000000, 10000);
		out = sum(machine, offsetof(struct sws_machine_cpu, pages_out));
		flush = sws_machine_site_of(machine, SWS_SITE_FLUSH);
		if (writers == 1)
			CHECK(near(flush.acquisitions, sws_machine_cpu_of(machine, 1).pages_out,
				   2));
		else
			CHECK(flush.acquisitions > out / 3 && flush.acquisitions < out);
		CHECK(flush.contended > 0 && flush.moved == 0 && flush.hold_ns == 0);
		sws_machine_free(machine);
	}
}

static void kernel_6_1_clears_a_shadow_for_each_slot_freed(void)
{
	struct sws_machine_config config = config_of(SWS_KERNEL_6_1);
	struct sws_machine *machine = NULL;

	config.walkers = 3;
	machine = make(&config);
	run(machine, 60000000, 10000);
	CHECK(acquisitions(machine, SWS_SITE_TREE_SHADOW) > 1000);
	CHECK(near(acquisitions(machine, SWS_SITE_TREE_SHADOW),
		   acquisitions(machine, SWS_SITE_CLUSTER_FREE), 3));
	CHECK(acquisitions(machine, SWS_SITE_LRU_CHARGE) == 0);
	sws_machine_free(machine);
}

static struct sws_machine_config limited(void)
{
	struct sws_machine_config config = config_of(SWS_KERNEL_6_1);

	config.memory_max = 2000;
	config.frames = 8192;
	config.accesses = 3000;
	return config;
}

static void writers_of_6_1_reclaim_for_themselves_and_exit(void)
{
	for (int tags = 0; tags <= 1; tags++) {
		struct sws_machine_config config = limited();
		struct sws_machine *machine = NULL;
		uint64_t out = 0;

		config.writers = 4;
		config.swap_writeback_tags = tags ? SWS_TAGS_KEPT : SWS_TAGS_AS_RELEASED;
		machine = make(&config);
		run(machine, UINT64_MAX, 1000);
		out = sum(machine, offsetof(struct sws_machine_cpu, pages_out));
		CHECK(sws_machine_cpus(machine) == 4 && !sws_machine_stuck(machine));
		CHECK(sum(machine, offsetof(struct sws_machine_cpu, touched)) == 12000);
		CHECK(out > 8000 && out <= 12000);
		CHECK(acquisitions(machine, SWS_SITE_TREE_START) == (tags ? out : 0));
		CHECK(acquisitions(machine, SWS_SITE_TREE_END) == (tags ? out : 0));
		CHECK(acquisitions(machine, SWS_SITE_CLUSTER_SEARCH) >= out);
		CHECK(acquisitions(machine, SWS_SITE_SWAP_FREE) == out);
		CHECK(acquisitions(machine, SWS_SITE_RETURN_CACHE) == out);
		/* The slots still in use wait in the CPUs' caches. */
		CHECK(slots_in_use(machine) <= 4 * 2 * 64);
		CHECK(near(acquisitions(machine, SWS_SITE_TREE_SHADOW), out, 4 * 64));
		sws_machine_free(machine);
	}
}

static void a_life_has_a_fill_a_phase_of_swapping_and_an_exit(void)
{
	struct sws_machine_config config = limited();
	struct sws_machine *machine = NULL;
	uint64_t events = 0;

	config.writers = 4;
	machine = make(&config);
	for (int life = SWS_LIFE_FILL; life <= SWS_LIVES; life++) {
		const uint64_t before = sws_machine_now(machine);
		bool more = true;

		while (more)
			CHECK(sws_machine_run_life(machine, (enum sws_machine_life)life, 7, &more,
						   &events) == SWS_OK);
		CHECK(sws_machine_now(machine) > before || life == SWS_LIFE_FILL);
		CHECK(sum(machine, offsetof(struct sws_machine_cpu, pages_out)) > 0 ||
		      life == SWS_LIFE_FILL);
	}
	for (uint32_t cpu = 0; cpu < 4; cpu++)
		CHECK(sws_machine_cpu_of(machine, cpu).written_ns > 0);
	sws_machine_free(machine);
}

/*
 * One CPU refills its cache from free clusters: of each 64 searches and 64 slots, only the first
 * look at a cache line of the map is dear. A slot takes slot_ns in addition.
 */
static void a_refill_pays_a_cache_line_of_the_map_once(void)
{
	struct sws_machine_config config = limited();
	struct sws_machine *machine = NULL;
	uint64_t refills = 0;
	uint64_t held = 0;

	config.writers = 1;
	config.costs.map_ns = 1000;
	config.costs.map_next_ns = 3;
	machine = make(&config);
	run(machine, UINT64_MAX, 1000);
	refills = acquisitions(machine, SWS_SITE_DEVICE_GET);
	held = sws_machine_site_of(machine, SWS_SITE_CLUSTER_SEARCH).hold_ns +
	       sws_machine_site_of(machine, SWS_SITE_CLUSTER_GET).hold_ns;
	CHECK(refills > 10);
	CHECK(near(held, refills * (1000 + 127 * 3 + 64 * config.costs.slot_ns), 3000));
	sws_machine_free(machine);
}

static void walkers_of_6_1_drop_pages_and_rest_after_their_accesses(void)
{
	struct sws_machine_config config = limited();
	struct sws_machine *machine = NULL;
	uint64_t in = 0;
	uint64_t events = 0;
	bool more = false;

	config.walkers = 4;
	config.drop_percent = 60;
	machine = make(&config);
	CHECK(sws_machine_run(machine, 0, UINT64_MAX, &more, &events) == SWS_OK);
	/* Of 12000 pages 2000 were in memory and 10000 on the device; 60 % of both were dropped. */
	run(machine, UINT64_MAX, 1000);
	in = sum(machine, offsetof(struct sws_machine_cpu, pages_in));
	CHECK(sum(machine, offsetof(struct sws_machine_cpu, accesses)) == 12000);
	CHECK(in > 6000 && !sws_machine_stuck(machine));
	CHECK(acquisitions(machine, SWS_SITE_PREPARE) == in);
	CHECK(acquisitions(machine, SWS_SITE_CLEAR) == in);
	CHECK(acquisitions(machine, SWS_SITE_SWAP_FREE) == in);
	CHECK(acquisitions(machine, SWS_SITE_LRU_RELEASE) == 0);
	CHECK(sws_machine_shared_slots(machine) <= sws_machine_slots_work(machine).given);
	sws_machine_free(machine);
}

static void pages_read_from_an_asynchronous_device_pass_the_cache(void)
{
	static const enum sws_kernel kernels[] = { SWS_KERNEL_4_8, SWS_KERNEL_5_8, SWS_KERNEL_6_1 };

	for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++) {
		struct sws_machine_config config = config_of(kernels[i]);
		struct sws_machine *machine = NULL;
		uint64_t in = 0;
		uint64_t out = 0;

		config.walkers = 4;
		config.nodes = 2;
		config.channels = 4;
		config.fragmented = true;
		machine = make(&config);
		run(machine, 60000000, 10000);
		in = sum(machine, offsetof(struct sws_machine_cpu, pages_in));
		out = sum(machine, offsetof(struct sws_machine_cpu, pages_out));
		CHECK(in > 2000);
		/* Pages that were only read need not be written again. */
		CHECK(out < in);
		CHECK(near(acquisitions(machine, SWS_SITE_TREE_READ), in, 4));
		CHECK(acquisitions(machine, SWS_SITE_LRU_ROTATE) > 10);
		CHECK(near(acquisitions(machine, SWS_SITE_TREE_END),
			   kernels[i] == SWS_KERNEL_4_8 ? out : 0, 64));
		sws_machine_free(machine);
	}
}

static void cached_slots_are_reclaimed_when_swap_is_nearly_full(void)
{
	struct sws_machine_config config = config_of(SWS_KERNEL_5_8);
	struct sws_machine *machine = NULL;

	config.walkers = 4;
	config.channels = 8;
	config.fragmented = true;
	config.device.slots = 9700;
	machine = make(&config);
	run(machine, 100000000, 1000);
	CHECK(sws_machine_slots_work(machine).reclaims > 0);
	sws_machine_free(machine);
}

static void a_full_device_stops_its_writers(void)
{
	struct sws_machine_config config = config_of(SWS_KERNEL_5_8);
	struct sws_machine *machine = NULL;

	config.writers = 2;
	config.device.slots = 2000;
	machine = make(&config);
	run(machine, 1000000000, 100000);
	CHECK(sws_machine_stuck(machine));
	CHECK(sws_machine_now(machine) < 1000000000);
	sws_machine_free(machine);
}

static void times_add_up_to_the_clock(void)
{
	struct sws_machine_config config = config_of(SWS_KERNEL_5_8);
	struct sws_machine *machine = NULL;

	config.walkers = 2;
	config.writers = 2;
	config.channels = 2;
	config.device.slots = 1 << 16;
	machine = make(&config);
	run(machine, 20000000, 1000);
	for (uint32_t cpu = 0; cpu < sws_machine_cpus(machine); cpu++) {
		const struct sws_machine_cpu count = sws_machine_cpu_of(machine, cpu);
		const uint64_t total = count.time.run_ns + count.time.hold_ns + count.time.wait_ns +
				       count.time.idle_ns;

		CHECK(count.time.run_ns < UINT64_C(1) << 62);
		CHECK(total < sws_machine_now(machine) + 200000);
		if (count.kind == SWS_ACTOR_WALKER || count.kind == SWS_ACTOR_WRITER)
			CHECK(total > 19000000);
	}
	sws_machine_free(machine);
}

static uint64_t digest(const struct sws_machine_config *config, uint64_t chunk)
{
	struct sws_machine *machine = make(config);
	uint64_t mixed = 0;
	uint64_t events = 0;

	for (bool more = true; more;)
		CHECK(sws_machine_run(machine, 10000000, chunk, &more, &events) == SWS_OK);
	for (uint32_t site = 0; site < SWS_SITES; site++)
		mixed = mixed * 31 + sws_machine_site_of(machine, site).wait_ns;
	mixed = mixed * 31 + events;
	sws_machine_free(machine);
	return mixed;
}

static void the_same_seed_gives_the_same_run_in_chunks_of_any_size(void)
{
	struct sws_machine_config config = config_of(SWS_KERNEL_5_8);
	uint64_t first = 0;

	config.walkers = 4;
	config.fragmented = true;
	first = digest(&config, 1000);
	CHECK(first == digest(&config, 1));
	CHECK(first == digest(&config, UINT64_MAX));
	config.device.seed = 2;
	CHECK(first != digest(&config, 1000));
}

/* The function of a policy that claims to have read as many bases as a call may. */
static int64_t look_far(int64_t cpu, int64_t mm, int64_t base, int64_t next, int64_t lowest,
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
	*looked_at += 1 << 22;
	return next;
}

static void a_call_comes_back_when_the_devices_looked_far(void)
{
	struct sws_machine_config config = config_of(SWS_KERNEL_5_8);
	struct sws_machine *machine = NULL;
	uint64_t events = 0;
	bool more = true;

	config.walkers = 2;
	config.device.policy = SWS_BASE_READER;
	config.device.reader = (struct sws_base_ops){ SWS_BASE_OF_CPU, SWS_BASE_RANDOM, look_far };
	machine = make(&config);
	while (more && sws_machine_slots_work(machine).stores < 640) {
		const uint64_t stores = sws_machine_slots_work(machine).stores;

		CHECK(sws_machine_run(machine, UINT64_MAX, UINT64_MAX, &more, &events) == SWS_OK);
		/* At most the events of one batch. */
		CHECK(sws_machine_slots_work(machine).stores - stores <= 64);
	}
	CHECK(more);
	sws_machine_free(machine);
}

enum { GETS = 3000, STREAMS = 3 };

/*
 * Each stream sends half of its pages out; then with each further page out a page comes in,
 * alternately one of its own and one of the next stream's.
 */
static struct sws_machine_config streams_of(enum sws_kernel kernel,
					    struct sws_machine_request *requests)
{
	struct sws_machine_config config = config_of(kernel);
	struct sws_machine_request *at = requests;

	for (uint32_t s = 0; s < STREAMS; s++) {
		const int32_t mm = s ? (int32_t)s : -1;
		const uint32_t first = s * GETS;
		const uint32_t next = (s + 1) % STREAMS * GETS;

		for (uint32_t i = 0; i < GETS; i++) {
			const uint32_t back = i - GETS / 2;

			*at++ = (struct sws_machine_request){ s, mm, first + i, false };
			if (i < GETS / 2)
				continue;
			*at++ = (struct sws_machine_request){
				s, mm, back % 2 ? first + back : next + GETS / 2 + back, true
			};
		}
	}
	config.streams = STREAMS;
	config.requests = requests;
	config.n_requests = (uint32_t)(at - requests);
	config.device.slots = 2 * STREAMS * GETS;
	config.frames = 8192;
	return config;
}

static void streams_do_each_request_once(void)
{
	static const enum sws_kernel kernels[] = { SWS_KERNEL_4_8, SWS_KERNEL_5_7, SWS_KERNEL_6_1 };
	static struct sws_machine_request requests[2 * STREAMS * GETS];

	for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++) {
		struct sws_machine_config config = streams_of(kernels[i], requests);
		struct sws_machine *machine = NULL;
		uint64_t out = 0;

		config.nodes = 2;
		machine = make(&config);
		run(machine, UINT64_MAX, 2000);
		out = sum(machine, offsetof(struct sws_machine_cpu, pages_out));
		CHECK(!sws_machine_stuck(machine));
		CHECK(requests_done(machine) == config.n_requests);
		CHECK(sws_machine_longest_ended(machine) == 3 * GETS / 2);
		CHECK(out == STREAMS * GETS);
		CHECK(sum(machine, offsetof(struct sws_machine_cpu, pages_in)) == out / 2);
		CHECK(sum(machine, offsetof(struct sws_machine_cpu, reclaimed)) == out);
		CHECK(acquisitions(machine, SWS_SITE_TREE_ADD) == out);
		CHECK(acquisitions(machine, SWS_SITE_TREE_REMOVE) == out);
		CHECK(acquisitions(machine, SWS_SITE_DUPLICATE) == out);
		CHECK(acquisitions(machine, SWS_SITE_SWAP_FREE) == out / 2);
		CHECK(acquisitions(machine, SWS_SITE_LRU_ACTIVE) == 0);
		/* The slots that are not free again are in the CPUs' caches. */
		CHECK(slots_in_use(machine) >= out / 2);
		CHECK(slots_in_use(machine) <= out / 2 + 2 * 64 * STREAMS);
		sws_machine_free(machine);
	}
}

static void a_put_sleeps_until_another_stream_sent_its_page_out(void)
{
	static const struct sws_machine_request requests[] = {
		{ 0, 0, 3, true }, { 1, 1, 1, false }, { 1, 1, 2, false }, { 1, 1, 3, false }
	};
	struct sws_machine_config config = config_of(SWS_KERNEL_6_1);
	struct sws_machine *machine = NULL;
	struct sws_machine_cpu waits;
	struct sws_machine_cpu works;

	config.streams = 2;
	config.requests = requests;
	config.n_requests = 4;
	machine = make(&config);
	run(machine, UINT64_MAX, 1);
	waits = sws_machine_cpu_of(machine, 0);
	works = sws_machine_cpu_of(machine, 1);
	CHECK(waits.kind == SWS_ACTOR_STREAM && waits.pages_in == 1 && waits.pages_out == 0);
	CHECK(works.pages_in == 0 && works.pages_out == 3);
	CHECK(waits.time.idle_ns > 3 * config.costs.unmap_ns / 2);
	CHECK(sws_machine_longest_ended(machine) == 3);
	sws_machine_free(machine);
}

/*
 * A stream's 705th page is added to its list at once, together with 14 others (a pagevec has 15),
 * and its slot to a return cache that is full (64 slots): while the cache is flushed, two other
 * streams send all pages of the list out; these come in again at the end.
 */
static void a_page_goes_out_again_before_its_slot_is_given_back(void)
{
	enum { PAGES = 1500 };

	static struct sws_machine_request requests[10 * PAGES];
	struct sws_machine_config config = config_of(SWS_KERNEL_6_1);
	struct sws_machine_request *at = requests;
	struct sws_machine *machine = NULL;

	for (uint32_t stream = 0; stream < 3; stream++) {
		const uint32_t pages = stream ? 2 * PAGES : PAGES;

		for (uint32_t i = 0; i < 2 * pages; i++)
			*at++ = (struct sws_machine_request){ stream, 0,
							      2 * PAGES * stream + i % pages,
							      i >= pages };
	}
	config.streams = 3;
	config.requests = requests;
	config.n_requests = 10 * PAGES;
	config.frames = 1 << 14;
	config.costs.device_ns = 1000000;
	machine = make(&config);
	run(machine, UINT64_MAX, 500);
	CHECK(requests_done(machine) == 10 * PAGES);
	CHECK(sum(machine, offsetof(struct sws_machine_cpu, pages_in)) == 5 * PAGES);
	sws_machine_free(machine);
}

static void a_run_of_streams_stops_at_the_request_or_the_end_asked_for(void)
{
	static struct sws_machine_request requests[2 * STREAMS * GETS];
	struct sws_machine_config config = streams_of(SWS_KERNEL_6_1, requests);
	struct sws_machine *machine = NULL;
	uint64_t events = 0;
	bool more = true;

	machine = make(&config);
	while (more)
		CHECK(sws_machine_run_streams(machine, 5000, UINT32_MAX, 7, &more, &events) ==
		      SWS_OK);
	/* The pages of requests that are not complete count, too. */
	CHECK(near(requests_done(machine), 5000, STREAMS));
	CHECK(sws_machine_longest_ended(machine) == 0);
	for (more = true; more;)
		CHECK(sws_machine_run_streams(machine, UINT64_MAX, GETS, 1000, &more, &events) ==
		      SWS_OK);
	CHECK(sws_machine_longest_ended(machine) >= GETS);
	CHECK(requests_done(machine) < config.n_requests);
	verify(machine);
	sws_machine_free(machine);
}

static void a_stream_without_a_slot_gives_up(void)
{
	static struct sws_machine_request requests[2 * STREAMS * GETS];
	struct sws_machine_config config = streams_of(SWS_KERNEL_6_1, requests);
	struct sws_machine *machine = NULL;

	config.device.slots = STREAMS * GETS / 2;
	machine = make(&config);
	run(machine, UINT64_MAX, 1000);
	CHECK(sws_machine_stuck(machine));
	CHECK(requests_done(machine) < config.n_requests);
	sws_machine_free(machine);
}

static void refuse(struct sws_machine_config config)
{
	struct sws_machine *machine = NULL;

	CHECK(sws_machine_new(&config, &machine) == SWS_ERROR_BAD_CONFIG && !machine);
}

static void a_config_out_of_range_is_refused(void)
{
	struct sws_machine_config config = config_of(SWS_KERNEL_5_8);

	refuse(config); /* There are no tasks. */
	config.writers = 1;
	config.costs.lru_page_ns = 0;
	refuse(config);
	config.costs.lru_page_ns = UINT64_MAX;
	refuse(config);
	set_costs(&config.costs);
	config.devices = 2;
	refuse(config);
	config.devices = 1;
	config.frames = 64;
	refuse(config);
	config.frames = 4096;
	config.walkers = 8;
	refuse(config); /* There are more pages than memory and slots. */
	config.walkers = 0;
	config.list_pages = 0;
	refuse(config);
	config.list_pages = SWS_MACHINE_LIST_MAX + 1;
	refuse(config);
	config.list_pages = SWS_MACHINE_LIST_MAX;
	config.frames = 2 * 2 * SWS_MACHINE_FRAMES_KEPT;
	refuse(config); /* Its lists hold more than half of its memory. */
	config.frames = 4096;
	config.list_pages = 32;
	config.removal = SWS_REMOVAL_BATCHED + 1;
	refuse(config);
	config.removal = SWS_REMOVAL_PAGE_BY_PAGE;
	config.shares_memory = true;
	config.accesses = 100;
	refuse(config); /* A writer that exits frees pages of its own node only. */
	config.accesses = 0;
	config.shares_memory = false;
	config.nodes = 2;
	config.devices = 2;
	config.device.slots = (1 << 29) + 1;
	refuse(config);
	config.device.slots = (1 << 28) + 1;
	config.device.trunk_shift = 9;
	refuse(config); /* There are too many trunks. */
	config = limited();
	config.writers = 1;
	config.channels = 1;
	refuse(config); /* A page may be under writeback when its writer exits. */
	config.channels = 0;
	config.memory_max = 8000;
	refuse(config); /* The node's watermarks are reached before the limit. */
	config.memory_max = 0;
	config.drop_percent = 25;
	refuse(config); /* Pages are dropped under a limit only. */
	config = limited();
	config.writers = 1;
	config.swap_writeback_tags = (enum sws_machine_tags)3;
	refuse(config);
}

/* Returns memory with old content, never zeros. */
static void *resize_dirty(void *context, void *pointer, size_t size)
{
	void *block = sws_libc_allocator.resize(NULL, pointer, size);

	(void)context;
	if (!pointer && block)
		memset(block, 0xa5, size);
	return block;
}

static void fill_alike(struct sws_machine_config config)
{
	const struct sws_allocator dirty = { .resize = resize_dirty };
	const uint64_t first = digest(&config, 1000);
	struct sws_machine *machine = NULL;

	config.allocator = &dirty;
	CHECK(first == digest(&config, 1000));
	machine = make(&config);
	run(machine, 1000000, 50);
	sws_machine_free(machine);
}

static void memory_that_held_something_before_changes_no_run(void)
{
	static struct sws_machine_request requests[2 * STREAMS * GETS];
	struct sws_machine_config config = config_of(SWS_KERNEL_5_8);

	config.walkers = 2;
	config.writers = 2;
	config.nodes = 2;
	config.devices = 2;
	fill_alike(config);
	config.channels = 2;
	config.fragmented = true;
	fill_alike(config);
	config = limited();
	config.walkers = 1;
	config.writers = 2;
	config.accesses = 700;
	fill_alike(config);
	config.drop_percent = 25;
	fill_alike(config);
	fill_alike(streams_of(SWS_KERNEL_6_1, requests));
}

static int make_and_drop(const struct sws_allocator *allocator)
{
	struct sws_machine_config config = limited();
	struct sws_machine *machine = NULL;
	uint64_t events = 0;
	bool more = false;
	int error = SWS_OK;

	config.allocator = allocator;
	config.walkers = 1;
	config.writers = 1;
	config.drop_percent = 25;
	error = sws_machine_new(&config, &machine);
	if (!error)
		error = sws_machine_run(machine, 100000, UINT64_MAX, &more, &events);
	sws_machine_free(machine);
	return error;
}

static void refuse_requests(const struct sws_machine_request *requests, uint32_t n,
			    uint32_t wrong_row)
{
	struct sws_machine_config config = config_of(SWS_KERNEL_6_1);
	const char *reason = NULL;
	uint32_t row = UINT32_MAX;

	config.streams = 2;
	config.requests = requests;
	config.n_requests = n;
	CHECK(sws_machine_check_requests(&config, &row, &reason) == SWS_ERROR_BAD_CONFIG);
	CHECK(row == wrong_row && reason);
	refuse(config);
}

static void requests_that_cannot_be_done_are_refused(void)
{
	const struct sws_machine_request right[] = {
		{ 0, 0, 0, false }, { 0, 0, 1, true }, { 1, 0, 1, false }, { 1, 0, 0, true }
	};
	struct sws_machine_config config = config_of(SWS_KERNEL_6_1);
	struct sws_machine_request rows[4];

	memcpy(rows, right, sizeof(rows));
	config.streams = 2;
	config.requests = rows;
	config.n_requests = 4;
	sws_machine_free(make(&config));
	config.writers = 1;
	refuse(config); /* There are other tasks. */
	config.writers = 0;
	config.channels = 1;
	refuse(config);
	rows[3].page = 4; /* The page is unknown. */
	refuse_requests(rows, 4, 3);
	rows[3].page = 1; /* The page comes in twice. */
	refuse_requests(rows, 4, 3);
	rows[3] = (struct sws_machine_request){ 1, 0, 1, false }; /* The page goes out twice. */
	refuse_requests(rows, 4, 3);
	rows[3] = (struct sws_machine_request){ 1, 0, 2, true }; /* The page never goes out. */
	refuse_requests(rows, 4, 3);
	rows[3] = (struct sws_machine_request){ 1, 1, 0, true }; /* The stream has another mm. */
	refuse_requests(rows, 4, 3);
	rows[3] = (struct sws_machine_request){ 2, 0, 0, true }; /* The stream is unknown. */
	refuse_requests(rows, 4, 3);
	memcpy(rows, right, sizeof(rows));
	rows[0] = right[1];
	rows[1] = right[0];
	rows[2] = right[3];
	rows[3] = right[2]; /* Each stream waits for the other. */
	refuse_requests(rows, 4, 0);
	rows[0].page = 0; /* The stream waits for itself. */
	rows[2].page = 1;
	refuse_requests(rows, 4, 0);
	refuse_requests(right, 2, 1); /* The second stream has no requests. */
}

static void memory_too_small_for_what_comes_back_is_refused(void)
{
	static struct sws_machine_request requests[2 * STREAMS * GETS];
	struct sws_machine_config config = streams_of(SWS_KERNEL_6_1, requests);
	struct sws_machine_request *at = requests;

	for (uint32_t s = 0; s < STREAMS; s++)
		for (uint32_t i = 0; i < 2 * GETS; i++)
			*at++ = (struct sws_machine_request){ s, 0, s * GETS + i % GETS,
							      i >= GETS };
	config.n_requests = 2 * STREAMS * GETS;
	refuse(config);
	config.frames *= 2;
	sws_machine_free(make(&config));
}

static int make_and_run_streams(const struct sws_allocator *allocator)
{
	static struct sws_machine_request requests[2 * STREAMS * GETS];
	struct sws_machine_config config = streams_of(SWS_KERNEL_6_1, requests);
	struct sws_machine *machine = NULL;
	uint64_t events = 0;
	bool more = false;
	int error = SWS_OK;

	config.allocator = allocator;
	error = sws_machine_new(&config, &machine);
	if (!error)
		error = sws_machine_run(machine, 2000000, UINT64_MAX, &more, &events);
	sws_machine_free(machine);
	return error;
}

static int make_and_batch(const struct sws_allocator *allocator)
{
	struct sws_machine_config config = config_of(SWS_KERNEL_4_8);
	struct sws_machine *machine = NULL;
	uint64_t events = 0;
	bool more = false;
	int error = SWS_OK;

	config.allocator = allocator;
	config.writers = 2;
	config.removal = SWS_REMOVAL_BATCHED;
	config.device.slots = 2048;
	config.device.rotational = true;
	config.frames = 2200;
	error = sws_machine_new(&config, &machine);
	if (!error)
		error = sws_machine_run(machine, 2000000, UINT64_MAX, &more, &events);
	sws_machine_free(machine);
	return error;
}

static int make_and_run(const struct sws_allocator *allocator)
{
	struct sws_machine_config config = config_of(SWS_KERNEL_6_1);
	struct sws_machine *machine = NULL;
	uint64_t events = 0;
	bool more = false;
	int error = SWS_OK;

	config.allocator = allocator;
	config.writers = 2;
	config.channels = 1;
	config.device.slots = 2048;
	config.frames = 2200;
	error = sws_machine_new(&config, &machine);
	if (!error)
		error = sws_machine_run(machine, 2000000, UINT64_MAX, &more, &events);
	sws_machine_free(machine);
	return error;
}

static void a_failing_allocation_leaves_nothing_behind(void)
{
	check_each_allocation_failing(make_and_run);
	check_each_allocation_failing(make_and_run_streams);
	check_each_allocation_failing(make_and_drop);
	check_each_allocation_failing(make_and_batch);
}

static uint64_t changes_of(uint32_t spare_cpus, uint64_t stay_ns, uint64_t *pages_out)
{
	struct sws_machine_config config = config_of(SWS_KERNEL_6_1);
	struct sws_machine *machine = NULL;
	uint64_t changes = 0;

	config.device.policy = SWS_BASE_PERCPU;
	config.walkers = 3;
	config.fragmented = true;
	config.spare_cpus = spare_cpus;
	config.stay_ns = stay_ns;
	machine = make(&config);
	run(machine, 20000000, 5000);
	changes = sum(machine, offsetof(struct sws_machine_cpu, changes));
	*pages_out = sum(machine, offsetof(struct sws_machine_cpu, pages_out));
	sws_machine_free(machine);
	return changes;
}

static void an_actor_changes_cpu_where_one_is_free(void)
{
	uint64_t of_those_who_stay = 0;
	uint64_t pages_out = 0;

	CHECK(changes_of(0, 0, &of_those_who_stay) == 0);
	CHECK(changes_of(0, 100000, &pages_out) == 0 && pages_out > 1000);
	/* Spare CPUs alone change nothing: no actor moves. */
	CHECK(changes_of(3, 0, &pages_out) == 0 && pages_out == of_those_who_stay);
	/* Three walkers for 20 ms, on average 100 us and the time to the next page each. */
	CHECK(changes_of(3, 100000, &pages_out) > 200 && pages_out > 1000);
}

static void a_closed_loop_by_hand(void)
{
	struct sws_closed_loop_config config = { .locks = 1, .hold_ns = 10 };
	struct sws_des_site site = { 0 };
	uint64_t now = 0;

	sws_des_config_init(&config.des);
	config.des.cpus = 2;
	config.des.cpus_per_socket = 2;
	/* Without think time the lock alternates: hold 10, three transfers of 30. */
	CHECK(sws_closed_loop(&config, 5, &site, &now) == SWS_OK);
	CHECK(site.acquisitions == 5 && now == 400);
	CHECK(site.moved == 4 && site.contended == 5);
	config.locks = 3;
	CHECK(sws_closed_loop(&config, 5, &site, &now) == SWS_ERROR_BAD_CONFIG);
}

int main(void)
{
	RUN(a_walker_whose_pages_all_fit_takes_no_lock);
	RUN(a_page_out_of_4_8_takes_four_tree_locks_or_two);
	RUN(a_batched_list_of_4_8_takes_one_hold_for_all_removals);
	RUN(a_batched_list_takes_a_hold_for_each_trunk);
	RUN(one_writer_wakes_all_kswapds_where_memory_is_shared);
	RUN(a_rotational_device_has_no_cluster_locks);
	RUN(a_walkers_page_of_5_7_skips_the_cache_on_its_way_in);
	RUN(a_page_that_comes_in_is_activated_by_the_first_scan);
	RUN(a_slot_of_5_8_is_recorded_on_its_way_out_in_and_back);
	RUN(a_page_of_another_task_is_written_when_its_cpu_was_interrupted);
	RUN(kernel_6_1_clears_a_shadow_for_each_slot_freed);
	RUN(writers_of_6_1_reclaim_for_themselves_and_exit);
	RUN(a_life_has_a_fill_a_phase_of_swapping_and_an_exit);
	RUN(a_refill_pays_a_cache_line_of_the_map_once);
	RUN(walkers_of_6_1_drop_pages_and_rest_after_their_accesses);
	RUN(pages_read_from_an_asynchronous_device_pass_the_cache);
	RUN(cached_slots_are_reclaimed_when_swap_is_nearly_full);
	RUN(a_full_device_stops_its_writers);
	RUN(times_add_up_to_the_clock);
	RUN(the_same_seed_gives_the_same_run_in_chunks_of_any_size);
	RUN(streams_do_each_request_once);
	RUN(a_put_sleeps_until_another_stream_sent_its_page_out);
	RUN(a_page_goes_out_again_before_its_slot_is_given_back);
	RUN(a_run_of_streams_stops_at_the_request_or_the_end_asked_for);
	RUN(a_stream_without_a_slot_gives_up);
	RUN(a_config_out_of_range_is_refused);
	RUN(requests_that_cannot_be_done_are_refused);
	RUN(memory_too_small_for_what_comes_back_is_refused);
	RUN(memory_that_held_something_before_changes_no_run);
	RUN(a_call_comes_back_when_the_devices_looked_far);
	RUN(a_failing_allocation_leaves_nothing_behind);
	RUN(an_actor_changes_cpu_where_one_is_free);
	RUN(a_closed_loop_by_hand);
	return 0;
}
