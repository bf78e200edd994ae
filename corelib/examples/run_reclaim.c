/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run_reclaim.c - the effect of a file on a program that has all of its pages in use: the same
 * simulation with the rules of 3.9, of mmotm and of the series, a sixteenth of the mail's in size.
 *
 * The program uses 300 of 430 MB and serves its items for ten seconds; after one second a file of
 * 400 MB is written at the same time. With the rules of 3.9 reclaim meets dirty pages, scans more
 * pages, and takes those of the program; with the later ones it seldom does, and the series scans
 * least. The costs are round numbers; data/reclaim.csv has the sources of real ones.
 */
#include "swapsim/reclaim.h"

#include <inttypes.h>
#include <stdio.h>

enum { MIB_PAGES = 256, SERVE_S = 10 };
static const uint64_t SECOND_NS = 1000000000;

static const struct sws_reclaim_costs costs = {
	.op_ns = 43000,
	.fault_ns = 1500,
	.map_ns = 1500,
	.copy_ns = 3000,
	.scan_ns = 300,
	.age_ns = 150,
	.remove_ns = 500,
	.submit_ns = 400,
	.redirty_ns = 800,
	.look_ns = 5000,
	.drop_ns = 300,
};

static int run(const char *name, enum sws_stall_set rules)
{
	const uint32_t files[] = { 400 * MIB_PAGES };
	struct sws_reclaim_config config;
	struct sws_reclaim *simulation = NULL;
	struct sws_reclaim_counts counts;
	uint64_t scanned = 0;
	bool more = true;
	int error = SWS_OK;

	sws_reclaim_config_init(&config);
	config.rules = rules;
	config.costs = costs;
	config.dma32_pages = 190 * MIB_PAGES;
	config.normal_pages = 240 * MIB_PAGES;
	config.min_free_pages = 4 * MIB_PAGES;
	config.swap_pages = 512 * MIB_PAGES;
	config.items = 300 * MIB_PAGES / config.item_pages;
	config.serve_ns = SERVE_S * SECOND_NS;
	config.write_delay_ns = SECOND_NS;
	config.file_pages = files;
	error = sws_reclaim_new(&config, &simulation);
	while (!error && more)
		error = sws_reclaim_run(simulation, UINT64_MAX, 1 << 16, &more);
	if (error) {
		fprintf(stderr, "%s: %s\n", name, sws_strerror(error));
		goto out;
	}
	counts = sws_reclaim_counts_of(simulation);
	for (uint32_t zone = 0; zone < SWS_RECLAIM_ZONES; zone++)
		scanned += sws_reclaim_zone_of(simulation, zone).scanned_kswapd;
	printf("%-8s %5" PRIu64 " operations a second, the file in %" PRIu64
	       " ms\n         kswapd scanned %" PRIu64 ", gave %" PRIu64
	       " file pages to be written; %" PRIu64 " swapped out, %" PRIu64 " in\n",
	       name, counts.ops / SERVE_S, sws_reclaim_round_of(simulation, 0).io_ns / 1000000,
	       scanned, counts.reclaim_writes_file, counts.swapped_out, counts.swapped_in);
out:
	sws_reclaim_free(simulation);
	return error;
}

int main(void)
{
	return run("3.9", SWS_STALL_3_9) || run("mmotm", SWS_STALL_MMOTM) ||
	       run("series-8", SWS_STALL_SERIES_8);
}
