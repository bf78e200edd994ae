/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run_machine.c - the cost of locks: the same machine with one writer and with eight, and the times
 * of their waits.
 *
 * A writer touches new pages as fast as it can, so each of them pushes an older one out to swap.
 * The mechanisms determine which locks that takes and how much work is done under each; the costs
 * below turn work into nanoseconds, and an event simulation computes the waits. data/costs.csv has
 * the sources of real costs; these are round numbers of the same size.
 */
#include "swapsim/machine.h"

#include <inttypes.h>
#include <stdio.h>

static const uint64_t UNTIL_NS = 20 * 1000 * 1000;

static const struct sws_machine_costs costs = {
	.travel_same_socket_ns = 50,
	.travel_other_socket_ns = 100,
	.irq_save_ns = 5,
	.fault_ns = 500,
	.touch_ns = 700,
	.access_ns = 100,
	.reference_ns = 50,
	.unmap_ns = 800,
	.copy_ns = 600,
	.transfer_ns = 100,
	.channel_ns = 10000,
	.interrupt_ns = 1000,
	.tree_ns = 100,
	.tree_next_ns = 50,
	.tag_ns = 50,
	.descent_ns = 50,
	.map_ns = 20,
	.map_next_ns = 20,
	.slot_ns = 20,
	.free_ns = 20,
	.record_ns = 20,
	.device_ns = 50,
	.test_ns = 2,
	.base_ns = 5,
	.avail_ns = 20,
	.cache_ns = 10,
	.lru_page_ns = 10,
	.zone_page_ns = 10,
};

static int run(uint32_t writers)
{
	struct sws_machine_config config;
	struct sws_machine *machine = NULL;
	uint64_t events = 0;
	uint64_t pages = 0;
	bool more = true;
	int error = SWS_OK;

	sws_machine_config_init(&config);
	config.device.kernel = SWS_KERNEL_5_8;
	config.device.policy = SWS_BASE_PERCPU_RERANDOMISE;
	config.device.slots = 1 << 18;
	config.costs = costs;
	config.writers = writers;
	config.walkers = 0;
	error = sws_machine_new(&config, &machine);
	while (!error && more && sws_machine_now(machine) < UNTIL_NS)
		error = sws_machine_run(machine, UNTIL_NS, 1 << 20, &more, &events);
	if (error) {
		fprintf(stderr, "%" PRIu32 " writers: %s\n", writers, sws_strerror(error));
		goto out;
	}
	for (uint32_t cpu = 0; cpu < sws_machine_cpus(machine); cpu++)
		pages += sws_machine_cpu_of(machine, cpu).pages_out;
	printf("writers %" PRIu32 ": %" PRIu64 " pages out in %" PRIu64 " ms\n", writers, pages,
	       UNTIL_NS / 1000000);
	for (uint32_t site = 0; site < SWS_SITES; site++) {
		const struct sws_des_site lock = sws_machine_site_of(machine, site);

		/* Locks for which fewer than one in a hundred acquisitions waited are left out. */
		if (lock.contended && lock.contended >= lock.acquisitions / 100)
			printf("  %-30s taken %5" PRIu64 ", waited for %4" PRIu64 ", %4" PRIu64
			       " ns each\n",
			       sws_machine_site_name(site), lock.acquisitions, lock.contended,
			       lock.wait_ns / lock.acquisitions);
	}
out:
	sws_machine_free(machine);
	return error;
}

int main(void)
{
	return run(1) || run(8);
}
