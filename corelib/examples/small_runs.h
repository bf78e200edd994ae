/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * small_runs.h - a workbench and a machine that run in a moment, for examples that compare their
 * counts.
 */
#ifndef SWAPSIM_EXAMPLES_SMALL_RUNS_H
#define SWAPSIM_EXAMPLES_SMALL_RUNS_H

#include "swapsim/machine.h"
#include "swapsim/slot_workbench.h"

enum { CPUS = 8, SLOTS = 1 << 14 };

struct machine_counts {
	uint64_t now_ns;
	struct sws_des_site sites[SWS_SITES];
};

/*
 * Fills half of a device and replaces so many pages per task; returns an error of sws_strerror().
 */
static inline int measure_slots(uint64_t pages, struct sws_workbench_measures *measures)
{
	struct sws_workbench_config config;
	struct sws_workbench *bench = NULL;
	bool over = false;
	int error = SWS_OK;

	sws_workbench_config_init(&config);
	config.cache.device.slots = SLOTS;
	config.cache.device.trunk_shift = 8;
	config.cache.device.possible_cpus = CPUS;
	config.cache.device.online_cpus = CPUS;
	config.cache.device.address_spaces = CPUS;
	error = sws_workbench_new(&config, &bench);
	if (!error)
		error = sws_workbench_fill(bench, SLOTS / 2, false);
	while (!error && !over)
		error = sws_workbench_run(bench, 1 << 16, &over);
	if (!error)
		error = sws_workbench_churn(bench, pages);
	for (over = false; !error && !over;)
		error = sws_workbench_run(bench, 1 << 16, &over);
	if (!error)
		sws_workbench_measures(bench, measures);
	sws_workbench_free(bench);
	return error;
}

/* Runs so many events of writers only, with arbitrary costs. */
static inline int count_machine(uint64_t events, struct machine_counts *counts)
{
	struct sws_machine_config config;
	struct sws_machine *machine = NULL;
	uint64_t *const costs = (uint64_t *)&config.costs;
	uint64_t done = 0;
	bool more = true;
	int error = SWS_OK;

	sws_machine_config_init(&config);
	for (size_t cost = 0; cost < sizeof(config.costs) / sizeof(*costs); cost++)
		costs[cost] = 10 * (cost + 1);
	config.device.slots = SLOTS;
	config.writers = CPUS;
	config.walkers = 0;
	config.frames = 8192;
	error = sws_machine_new(&config, &machine);
	if (!error)
		error = sws_machine_run(machine, UINT64_MAX, events, &more, &done);
	if (!error) {
		counts->now_ns = sws_machine_now(machine);
		for (uint32_t site = 0; site < SWS_SITES; site++)
			counts->sites[site] = sws_machine_site_of(machine, site);
	}
	sws_machine_free(machine);
	return error;
}

#endif
