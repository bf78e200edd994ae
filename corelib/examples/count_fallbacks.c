/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_fallbacks.c - how many 64 KB folios find no 16 free slots in a row, round by round, under
 * the rules of four allocators.
 *
 * 60 MB of folios of 64 KB are swapped out to 64 MB. Each round touches 512 random pages, which come
 * back from swap one by one, then drops and rewrites 256 random folios, and swaps everything out
 * again:
 *
 *      a page that was touched       its slot is freed; it goes out as a single slot
 *      a folio that was rewritten    its slots are freed; it goes out as a run of 16, or if that is
 *                                    refused as 16 single slots: a fallback
 *
 * Where large orders come from free clusters only, all folios fall back after one round. The other
 * rules use clusters that are partly full, until single slots have broken up too many runs; with
 * nonfull clusters before free ones that takes longer.
 */
#include "swapsim/clusters.h"

#include <stdio.h>

enum {
	PAGES_A_FOLIO = 16,
	ORDER = 4,
	FOLIOS = 960,
	PAGES = FOLIOS * PAGES_A_FOLIO,
	SLOTS = 16384,
	TOUCHES = 512,
	REWRITES = 256,
	ROUNDS = 8,
};

/* The slot of each page; 0 while the page is in memory. */
struct memory {
	struct sws_clusters *clusters;
	uint32_t slots[PAGES];
	/* True if the folio of the page was rewritten, and goes out as a whole. */
	bool rewritten[FOLIOS];
	uint32_t asked;
	uint32_t refused;
};

static void swap_in(struct memory *memory, uint32_t page)
{
	if (memory->slots[page])
		(void)sws_clusters_free_slots(memory->clusters, 0, memory->slots[page], 1);
	memory->slots[page] = 0;
}

/* Swaps out 2^order pages from a page on; returns false if no slots were found. */
static bool swap_out(struct memory *memory, uint32_t page, uint32_t order)
{
	uint32_t granted = 0;
	uint32_t slot = 0;
	uint8_t device = 0;

	(void)sws_clusters_allocate(memory->clusters, 0, 0, order, 1, &device, &slot, &granted);
	for (uint32_t i = 0; granted && i < UINT32_C(1) << order; i++)
		memory->slots[page + i] = slot + i;
	return granted;
}

static void swap_out_all(struct memory *memory)
{
	for (uint32_t folio = 0; folio < FOLIOS; folio++) {
		const uint32_t first = folio * PAGES_A_FOLIO;
		bool out = false;

		if (memory->rewritten[folio]) {
			out = swap_out(memory, first, ORDER);
			memory->asked++;
			memory->refused += !out;
		}
		for (uint32_t page = first; !out && page < first + PAGES_A_FOLIO; page++)
			if (!memory->slots[page])
				(void)swap_out(memory, page, 0);
		memory->rewritten[folio] = false;
	}
}

static void drop_and_rewrite(struct memory *memory, uint32_t folio)
{
	for (uint32_t i = 0; i < PAGES_A_FOLIO; i++)
		swap_in(memory, folio * PAGES_A_FOLIO + i);
	memory->rewritten[folio] = true;
}

/* Prints the fallbacks of each round in percent. */
static int run(enum sws_cluster_rule_set set)
{
	static struct memory memory;
	const struct sws_clusters_device device = { .slots = SLOTS };
	struct sws_clusters_config config;
	struct sws_generator random;
	int error = SWS_OK;

	memory = (struct memory){ 0 };
	sws_clusters_config_init(&config);
	config.devices = &device;
	config.n_devices = 1;
	sws_generator_seed(&random, 1, 0);
	error = sws_cluster_rules_init(set, &config.rules);
	if (!error)
		error = sws_clusters_new(&config, &memory.clusters);
	if (error)
		return error;
	for (uint32_t folio = 0; folio < FOLIOS; folio++)
		memory.rewritten[folio] = true;
	swap_out_all(&memory);
	printf("%-19s", sws_cluster_rule_set_name(set));
	for (int round = 0; round < ROUNDS; round++) {
		memory.asked = 0;
		memory.refused = 0;
		for (int i = 0; i < TOUCHES; i++)
			swap_in(&memory, (uint32_t)sws_generator_below(&random, PAGES));
		for (int i = 0; i < REWRITES; i++)
			drop_and_rewrite(&memory, (uint32_t)sws_generator_below(&random, FOLIOS));
		swap_out_all(&memory);
		printf("%6.1f", 100.0 * memory.refused / memory.asked);
	}
	printf("\n");
	sws_clusters_free(memory.clusters);
	return SWS_OK;
}

int main(void)
{
	int error = SWS_OK;

	printf("fallbacks in %% of the 64 KB folios that were swapped out, by round\n");
	for (int set = SWS_CLUSTER_RULES_6_11; !error && set <= SWS_CLUSTER_RULES_7_3; set++)
		error = run((enum sws_cluster_rule_set)set);
	return error != SWS_OK;
}
