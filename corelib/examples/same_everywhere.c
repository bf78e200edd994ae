/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * same_everywhere.c - one sum per mechanism over all counts of a small run.
 *
 * No mechanism uses a floating point number, an address or a clock, so the compiler, the
 * optimization and the processor must not change the sums: they have to equal those in the text
 * file next to this file, wherever it is built.
 */
#include "small_runs.h"

#include "swapsim/ftrace.h"
#include "swapsim/mapping_replay.h"
#include "swapsim/reclaim.h"
#include "swapsim/removal.h"
#include "swapsim/slot_replay.h"
#include "swapsim/stall.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 1 << 12 };

/* Adds numbers one by one, not the bytes of a struct, because its padding is undefined. */
static void add(uint64_t *sum, uint64_t number)
{
	*sum = (*sum ^ number) * 0x100000001b3;
}

/* Adds a struct or an array that consists of 64-bit numbers only. */
#define ADD_ALL(sum, numbers) add_all(sum, (const uint64_t *)(numbers), sizeof(*(numbers)))

static void add_all(uint64_t *sum, const uint64_t *numbers, size_t bytes)
{
	for (size_t i = 0; i < bytes / sizeof(*numbers); i++)
		add(sum, numbers[i]);
}

static int read_text(uint64_t *sum)
{
	static const char text[] =
		"kswapd0-61 [003] ..... 12.000001: mm_vmscan_scan: zone=1 page=0xffff8 why=a\n"
		"cc1-900 [001] d..1. 12.000002: mm_vmscan_scan: zone=-2 page=0x0 why=b\n"
		"cc1-900 [001] d..1. 12.500000: swap_slot: offset=77\n";
	struct sws_ftrace_config config;
	struct sws_ftrace_batch batch;
	struct sws_ftrace_totals totals;
	sws_ftrace *parser = NULL;
	int error = SWS_OK;

	sws_ftrace_config_init(&config);
	error = sws_ftrace_new(&config, &parser);
	if (!error)
		error = sws_ftrace_feed(parser, text, strlen(text));
	if (!error)
		error = sws_ftrace_finish(parser);
	for (size_t event = 0; !error && event < sws_ftrace_events(parser); event++) {
		error = sws_ftrace_batch(parser, event, &batch);
		for (size_t row = 0; !error && row < batch.rows; row++) {
			add(sum, batch.seq[row]);
			add(sum, (uint64_t)batch.t_ns[row]);
			add(sum, batch.cpu[row]);
			add(sum, (uint64_t)batch.pid[row]);
			add(sum, batch.comm[row]);
		}
	}
	if (!error) {
		sws_ftrace_totals(parser, &totals);
		add(sum, totals.lines);
		add(sum, totals.rows);
	}
	sws_ftrace_free(parser);
	return error;
}

/* Swaps pages out and in again, with random slots. */
static int replay_mappings(uint64_t *sum)
{
	static const uint8_t steps[] = { SWS_MAPPING_REPLAY_SWAP_ADD, SWS_MAPPING_REPLAY_START,
					 SWS_MAPPING_REPLAY_END, SWS_MAPPING_REPLAY_SWAP_DELETE };
	static uint8_t op[ROWS];
	static uint64_t folio[ROWS], slot[ROWS], none[ROWS];
	static struct sws_mapping_replay_cell
		cells[SWS_MAPPING_REPLAY_FLOWS * SWS_MAPPING_REPLAY_SITES];
	const struct sws_mapping_replay_rows rows = {
		.op = op, .folio = folio, .index = slot, .file = none, .shadow = none
	};
	struct sws_mapping_replay *replay = NULL;
	struct sws_mapping_config config;
	struct sws_generator generator;
	uint64_t row = 0;
	int error = SWS_OK;

	sws_generator_seed(&generator, 1, 0);
	for (uint32_t i = 0; i < ROWS; i++) {
		op[i] = steps[i % 4];
		folio[i] = i % 4 ? folio[i - 1] : 0x1000 * (uint64_t)(i + 1);
		slot[i] = i % 4 ? slot[i - 1] : 1 + sws_generator_below(&generator, 1 << 20);
	}
	sws_mapping_config_init(&config);
	error = sws_mapping_replay_new(&config, &replay);
	if (!error)
		error = sws_mapping_replay_feed(replay, &rows, ROWS, &row);
	if (!error)
		error = sws_mapping_replay_finish(replay, cells);
	if (!error)
		ADD_ALL(sum, &cells);
	sws_mapping_replay_free(replay);
	return error;
}

static int remove_lists(uint64_t *sum)
{
	enum { LISTS = 16, PAGES = ROWS / LISTS };
	static uint32_t file[ROWS], references[ROWS], place[ROWS];
	static uint64_t index[ROWS], ends[LISTS];
	static uint8_t locked[ROWS], dirty[ROWS], none[ROWS], removed[ROWS];
	static struct sws_removal_hold holds[ROWS];
	const struct sws_removal_rows rows = {
		.file = file,
		.index = index,
		.references = references,
		.locked = locked,
		.dirty = dirty,
		.freepage = none,
		.lazyfree = none,
	};
	struct sws_removal_results results = { .removed = removed, .place = place, .holds = holds };
	struct sws_mapping_config mapping;
	struct sws_removal_config config;
	struct sws_mappings *mappings = NULL;
	struct sws_removal *removal = NULL;
	struct sws_generator generator;
	uint32_t added = 0;
	int error = SWS_OK;

	sws_generator_seed(&generator, 2, 0);
	for (uint32_t i = 0; i < ROWS; i++) {
		file[i] = sws_generator_below(&generator, 2) ? 0 : SWS_REMOVAL_FILE_SWAP;
		index[i] = i + 1;
		references[i] = SWS_REMOVAL_REFERENCES + !sws_generator_below(&generator, 8);
		locked[i] = true;
		dirty[i] = !sws_generator_below(&generator, 8);
	}
	for (uint32_t list = 0; list < LISTS; list++)
		ends[list] = (list + 1) * PAGES;
	sws_mapping_config_init(&mapping);
	mapping.swap_slots = SLOTS;
	sws_removal_config_init(&config);
	config.list_pages = PAGES;
	config.brings_pages = true;
	error = sws_mappings_new(&mapping, &mappings);
	if (!error)
		error = sws_mapping_add_file(mappings, &added);
	if (!error)
		error = sws_removal_new(&config, mappings, &removal);
	if (!error)
		error = sws_removal_lists(removal, &rows, LISTS, ends, &results);
	for (uint32_t i = 0; !error && i < ROWS; i++)
		add(sum, removed[i] + 2 * (uint64_t)place[i]);
	for (uint64_t i = 0; !error && i < results.n_holds; i++) {
		add(sum, holds[i].mapping);
		add(sum, holds[i].removed);
		add(sum, holds[i].passed_over);
		ADD_ALL(sum, &holds[i].tree);
	}
	sws_removal_free(removal);
	sws_mappings_free(mappings);
	return error;
}

static int use_slots(uint64_t *sum)
{
	struct sws_workbench_measures measures;
	const int error = measure_slots(100, &measures);

	if (!error)
		ADD_ALL(sum, &measures);
	return error;
}

/* A task takes free slots from its base on; each slot gets a verdict. */
static int replay_slots(uint64_t *sum)
{
	enum { WANTED = 6, CALL_ROWS = WANTED + 2 };
	static const uint16_t cpu[CALL_ROWS];
	static const int32_t pid[CALL_ROWS];
	uint64_t seq[CALL_ROWS];
	uint8_t op[CALL_ROWS];
	uint32_t n[CALL_ROWS] = { 0 }, offset[CALL_ROWS] = { 0 }, zero[CALL_ROWS] = { 0 };
	uint32_t base[CALL_ROWS] = { 0 }, next[CALL_ROWS] = { 0 }, highest[CALL_ROWS] = { 0 };
	struct sws_slot_replay_call judged[CALL_ROWS];
	const struct sws_slot_replay_rows rows = {
		.seq = seq,
		.cpu = cpu,
		.pid = pid,
		.op = op,
		.n = n,
		.offset = offset,
		.base = base,
		.next = next,
		.lowest = zero,
		.highest = highest,
	};
	struct sws_slot_replay_config config;
	struct sws_slot_replay *replay = NULL;
	uint64_t n_judged = 0;
	int error = SWS_OK;

	for (uint32_t i = 0; i < CALL_ROWS; i++) {
		seq[i] = i;
		op[i] = SWS_SLOT_REPLAY_ALLOC;
		offset[i] = i;
	}
	op[0] = SWS_SLOT_REPLAY_CALL;
	n[0] = WANTED;
	base[0] = 1;
	zero[0] = 1;
	highest[0] = SLOTS - 1;
	op[CALL_ROWS - 1] = SWS_SLOT_REPLAY_DONE;
	offset[CALL_ROWS - 1] = 0;
	n[CALL_ROWS - 1] = WANTED;
	next[CALL_ROWS - 1] = WANTED + 1;
	sws_slot_replay_config_init(&config);
	config.device.slots = SLOTS;
	error = sws_slot_replay_new(&config, &replay);
	if (!error)
		error = sws_slot_replay_feed(replay, &rows, CALL_ROWS, judged, &n_judged);
	add(sum, n_judged);
	for (uint64_t i = 0; !error && i < n_judged; i++) {
		add(sum, judged[i].slots);
		add(sum, judged[i].exact);
		add(sum, judged[i].raced);
		add(sum, judged[i].fault);
	}
	sws_slot_replay_free(replay);
	return error;
}

/* Runs every rule set on random counters. */
static int decide_stalls(uint64_t *sum)
{
	struct sws_generator generator;
	struct sws_stall_decision decision;

	sws_generator_seed(&generator, 3, 0);
	for (uint32_t i = 0; i < ROWS; i++) {
		const struct sws_stall_context context = {
			.set = (enum sws_stall_set)(i % (SWS_STALL_6_1 + 1)),
			.caller = i % 2 ? SWS_STALL_KSWAPD : 0,
			.priority = (uint8_t)sws_generator_below(&generator, 13),
		};
		const struct sws_stall_counts counts = {
			.dirty = 32,
			.unqueued_dirty = sws_generator_below(&generator, 33),
			.congested = sws_generator_below(&generator, 33),
			.writeback = sws_generator_below(&generator, 33),
			.immediate = sws_generator_below(&generator, 2),
			.taken = 32,
			.file_taken = 32,
		};

		for (uint32_t place = 0; place < SWS_STALL_PLACES; place++) {
			decision = (struct sws_stall_decision){ 0 };
			add(sum, (uint64_t)sws_stall_decide(&context, (enum sws_stall_place)place,
							    &counts, &decision));
			add(sum, decision.set);
			add(sum, decision.flags_after);
			add(sum, decision.sleeps);
			add(sum, decision.acts);
		}
	}
	return SWS_OK;
}

static int run_machine(uint64_t *sum)
{
	struct machine_counts counts;
	const int error = count_machine(50000, &counts);

	if (!error)
		ADD_ALL(sum, &counts);
	return error;
}

static int run_reclaim(uint64_t *sum)
{
	const uint32_t files[] = { 1 << 13 };
	struct sws_reclaim_config config;
	struct sws_reclaim_counts counts;
	struct sws_reclaim *simulation = NULL;
	uint64_t *const costs = (uint64_t *)&config.costs;
	bool more = true;
	int error = SWS_OK;

	sws_reclaim_config_init(&config);
	for (size_t cost = 0; cost < sizeof(config.costs) / sizeof(*costs); cost++)
		costs[cost] = 100 * (cost + 1);
	config.dma32_pages = 6 << 10;
	config.normal_pages = 6 << 10;
	config.min_free_pages = 128;
	config.swap_pages = SLOTS;
	config.items = (9 << 10) / config.item_pages;
	config.serve_ns = 200 * 1000 * 1000;
	config.file_pages = files;
	error = sws_reclaim_new(&config, &simulation);
	while (!error && more)
		error = sws_reclaim_run(simulation, UINT64_MAX, 1 << 16, &more);
	if (!error) {
		counts = sws_reclaim_counts_of(simulation);
		ADD_ALL(sum, &counts);
	}
	sws_reclaim_free(simulation);
	return error;
}

int main(void)
{
	static const struct {
		const char *name;
		int (*run)(uint64_t *sum);
	} mechanisms[] = {
		{ "ftrace", read_text },         { "mapping_replay", replay_mappings },
		{ "removal", remove_lists },     { "slot_workbench", use_slots },
		{ "slot_replay", replay_slots }, { "stall", decide_stalls },
		{ "machine", run_machine },      { "reclaim", run_reclaim },
	};

	for (size_t i = 0; i < sizeof(mechanisms) / sizeof(*mechanisms); i++) {
		uint64_t sum = 0xcbf29ce484222325;
		const int error = mechanisms[i].run(&sum);

		if (error) {
			fprintf(stderr, "%s: %s\n", mechanisms[i].name, sws_strerror(error));
			return 1;
		}
		printf("%-14s %016" PRIx64 "\n", mechanisms[i].name, sum);
	}
	return 0;
}
