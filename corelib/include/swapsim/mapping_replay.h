/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mapping_replay.h - leads the folios of a trace through the mappings and keeps the
 * ledger: how often each site took the lock, and the work under it.
 *
 * A trace says "writeback starts on folio F". Which mapping and which index
 * that is, only the folio's history tells:
 *
 *      add F at swap offset 70000 --> F: swap cache, trunk 4, index 70000
 *      start F   (history known)  --> site start of trunk 4, written
 *      end F
 *      delete F                   --> F forgotten; add, start, end and delete
 *                                     of this stay go into the ledger
 *
 * A stay in the swap cache that saw a writeback is "written" (a page swapped
 * out), else "unwritten" (swapped in, or put into the cache and not written).
 * So the add's share is booked only when its stay ends, or at the finish.
 *
 * Pages that the trace did not see coming (it began in the middle) are put into
 * their tree without a word in the ledger when the row says where they are.
 * A start or end that does not say it is booked as one of a file page, with its
 * lock, and counted as unresolved: no tree, so no work under the lock.
 *
 * A trace may contradict itself: a probe at a function's entry also sees calls
 * that fail. Then the newer row is believed, and the contradiction is counted.
 *
 * Locks: those of mapping.h. Not modelled: time. The rows' order is the order.
 */
#ifndef SWAPSIM_MAPPING_REPLAY_H
#define SWAPSIM_MAPPING_REPLAY_H

#include "swapsim/core.h"
#include "swapsim/mapping.h"

/* ffi: begin */

/*
 * What a row says; above each op the columns that it reads. For swap rows index
 * is the device offset, for file rows the page's index. A move is compaction
 * giving a page another folio.
 */
enum sws_mapping_replay_op {
	/* Folio, index. */
	SWS_MAPPING_REPLAY_SWAP_ADD = 0,
	/* Folio, index, shadow. */
	SWS_MAPPING_REPLAY_SWAP_DELETE = 1,
	/* Index. */
	SWS_MAPPING_REPLAY_SLOT_FREE = 2,
	/* Folio; file and index where the row says them. */
	SWS_MAPPING_REPLAY_START = 3,
	/* Folio; file and index where the row says them. */
	SWS_MAPPING_REPLAY_END = 4,
	/* Folio, file, index. */
	SWS_MAPPING_REPLAY_FILE_ADD = 5,
	/* Folio, file, index. */
	SWS_MAPPING_REPLAY_FILE_DELETE = 6,
	/* File, index. */
	SWS_MAPPING_REPLAY_FILE_DIRTY = 7,
	/* Folio: the new one; index: the address of the old one. */
	SWS_MAPPING_REPLAY_MOVE = 8,
};

/* Values of the file column that name no file. */
enum sws_mapping_replay_file {
	/* The row does not say whose page it is. */
	SWS_MAPPING_REPLAY_FILE_UNKNOWN = 0,
	/* The row says: swap cache, at this index. */
	SWS_MAPPING_REPLAY_FILE_SWAP = 1,
};

/* Values of the shadow column that are no shadow; those are odd. */
enum sws_mapping_replay_shadow {
	/* The removal leaves none. */
	SWS_MAPPING_REPLAY_SHADOW_NONE = 0,
	/* The row does not say: a written page leaves one. */
	SWS_MAPPING_REPLAY_SHADOW_UNTOLD = 2,
};

/* Code paths that may take a mapping's lock. */
enum sws_mapping_replay_site {
	SWS_MAPPING_REPLAY_SITE_ADD = 0,
	SWS_MAPPING_REPLAY_SITE_DIRTY = 1,
	SWS_MAPPING_REPLAY_SITE_START = 2,
	SWS_MAPPING_REPLAY_SITE_END = 3,
	SWS_MAPPING_REPLAY_SITE_MOVE = 4,
	SWS_MAPPING_REPLAY_SITE_DELETE = 5,
	SWS_MAPPING_REPLAY_SITE_CLEAR_SHADOW = 6,
	SWS_MAPPING_REPLAY_SITES = 7,
};

/* Whose page. */
enum sws_mapping_replay_flow {
	/* In the swap cache, its stay saw a writeback; and all freed slots. */
	SWS_MAPPING_REPLAY_WRITTEN = 0,
	/* In the swap cache, its stay saw none. */
	SWS_MAPPING_REPLAY_UNWRITTEN = 1,
	SWS_MAPPING_REPLAY_FILE = 2,
	SWS_MAPPING_REPLAY_FLOWS = 3,
};

/* One cell of the ledger. */
struct sws_mapping_replay_cell {
	/* Times that the site was reached. */
	uint64_t calls;
	/* Of these, whose place in a tree the trace does not tell. */
	uint64_t unresolved;
	/* Stays in the swap cache that a row at this site proved over. */
	uint64_t contradicted;
	struct sws_mapping_work work;
};

/* The columns of a chunk of rows, in trace order; all of one length. */
struct sws_mapping_replay_rows {
	/* enum sws_mapping_replay_op. */
	const uint8_t *op;
	/* Even address, 0 where the op has none. */
	const uint64_t *folio;
	const uint64_t *index;
	/* A file's key, or enum sws_mapping_replay_file. */
	const uint64_t *file;
	/* An odd number, or enum sws_mapping_replay_shadow. */
	const uint64_t *shadow;
};

struct sws_mapping_replay;

/* Makes an empty replay over new mappings. The caller frees it. Returns as sws_mappings_new. */
int sws_mapping_replay_new(const struct sws_mapping_config *config,
			   struct sws_mapping_replay **out);

/* Frees the replay and its mappings; takes NULL. */
void sws_mapping_replay_free(struct sws_mapping_replay *self);

/*
 * Feeds count rows. On an error *row is the row at fault, and those before it
 * are booked: SWS_ERROR_UNKNOWN_OP; SWS_ERROR_BAD_ARGUMENT for an offset past
 * the device, a folio that is 0 or odd, or an even shadow; SWS_ERROR_NO_MEMORY.
 */
int sws_mapping_replay_feed(struct sws_mapping_replay *self,
			    const struct sws_mapping_replay_rows *rows, uint64_t count,
			    uint64_t *row);

/*
 * Books the stays that are still open and writes the ledger:
 * SWS_MAPPING_REPLAY_FLOWS * SWS_MAPPING_REPLAY_SITES cells, flow by flow. Call it once, last.
 */
int sws_mapping_replay_finish(struct sws_mapping_replay *self,
			      struct sws_mapping_replay_cell *cells);

/* Re-derives every invariant; SWS_ERROR_BROKEN and a reason if one fails. */
int sws_mapping_replay_verify(const struct sws_mapping_replay *self, const char **reason);

/* ffi: end */

#endif
