/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_locks.c - counts how often two pages take the lock of their mapping, before and after patch
 * A, with a trace of a few handwritten rows.
 *
 * A trace of a real kernel comes in columns; here it is
 *
 *      page 0x1000   swapped out to slot 70000:  add, start, end, delete
 *      page 0x2000   read back from slot 5:      add, delete
 *
 * The replay finds the mapping and the index of each row, executes the step there, and counts the
 * lock and the tree's work at the step's site.
 */
#include "swapsim/mapping_replay.h"

#include <inttypes.h>
#include <stdio.h>

enum { ROWS = 6 };

static const uint8_t op[ROWS] = {
	SWS_MAPPING_REPLAY_SWAP_ADD, SWS_MAPPING_REPLAY_START,       SWS_MAPPING_REPLAY_SWAP_ADD,
	SWS_MAPPING_REPLAY_END,      SWS_MAPPING_REPLAY_SWAP_DELETE, SWS_MAPPING_REPLAY_SWAP_DELETE,
};
static const uint64_t folio[ROWS] = { 0x1000, 0x1000, 0x2000, 0x1000, 0x1000, 0x2000 };
/* The swap cache's rows contain the slot; start and end need not, because of the page's history. */
static const uint64_t slot[ROWS] = { 70000, 0, 5, 0, 70000, 5 };
static const uint64_t file[ROWS] = { 0 };
static const uint64_t shadow[ROWS] = { 0 };

static const struct {
	enum sws_mapping_replay_site site;
	const char *name;
} sites[] = {
	{ SWS_MAPPING_REPLAY_SITE_ADD, "add" },
	{ SWS_MAPPING_REPLAY_SITE_START, "start of writeback" },
	{ SWS_MAPPING_REPLAY_SITE_END, "end of writeback" },
	{ SWS_MAPPING_REPLAY_SITE_DELETE, "delete" },
};

/* Replays all rows on 4.8, with the tags that patch A removes, or without them. */
static int replay(bool writeback_tags, struct sws_mapping_replay_cell *cells)
{
	const struct sws_mapping_replay_rows rows = {
		.op = op, .folio = folio, .index = slot, .file = file, .shadow = shadow
	};
	struct sws_mapping_replay *replay = NULL;
	struct sws_mapping_config config;
	uint64_t row = 0;
	int error = SWS_OK;

	sws_mapping_config_init(&config);
	config.swap_writeback_tags = writeback_tags;
	error = sws_mapping_replay_new(&config, &replay);
	if (!error)
		error = sws_mapping_replay_feed(replay, &rows, ROWS, &row);
	if (!error)
		error = sws_mapping_replay_finish(replay, cells);
	if (error)
		fprintf(stderr, "row %" PRIu64 ": %s\n", row, sws_strerror(error));
	sws_mapping_replay_free(replay);
	return error;
}

int main(void)
{
	struct sws_mapping_replay_cell before[SWS_MAPPING_REPLAY_FLOWS * SWS_MAPPING_REPLAY_SITES];
	struct sws_mapping_replay_cell after[SWS_MAPPING_REPLAY_FLOWS * SWS_MAPPING_REPLAY_SITES];

	if (replay(true, before) || replay(false, after))
		return 1;
	printf("locks of the swap cache    before  after\n");
	for (size_t flow = SWS_MAPPING_REPLAY_WRITTEN; flow <= SWS_MAPPING_REPLAY_UNWRITTEN;
	     flow++) {
		const size_t first = flow * SWS_MAPPING_REPLAY_SITES;

		printf("%s\n", flow == SWS_MAPPING_REPLAY_WRITTEN ? "a page swapped out"
								  : "a page read back");
		for (size_t i = 0; i < sizeof(sites) / sizeof(*sites); i++)
			printf("  %-24s %6" PRIu64 " %6" PRIu64 "\n", sites[i].name,
			       before[first + sites[i].site].work.acquisitions,
			       after[first + sites[i].site].work.acquisitions);
	}
	return 0;
}
