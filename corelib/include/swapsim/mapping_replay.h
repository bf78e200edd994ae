/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mapping_replay.h - replays the folio events of a trace through the mappings and counts, for each
 * site, how often it took the lock, and the work under the lock.
 *
 * A row of a trace says "writeback starts on folio F". The mapping and the index follow only from
 * the history of the folio:
 *
 *      add F at swap offset 70000 --> F: swap cache, trunk 4, index 70000
 *      start F   (history known)  --> site start of trunk 4, written
 *      end F
 *      delete F                   --> F is dropped; add, start, end and delete
 *                                     of this stay are counted
 *
 * A stay in the swap cache with a writeback is "written" (a page that was swapped out), another one
 * is "unwritten" (a page that was swapped in, or added and not written). So the add is counted only
 * when its stay ends, or at the finish.
 *
 * Pages from before the beginning of the trace are added to their tree without being counted if the
 * row has their position. A start or end without it counts as that of a file page, with its lock,
 * and as unresolved: the tree is unknown, so there is no work under the lock.
 *
 * A trace may contradict itself, because a probe at the entry of a function also records calls that
 * fail. Then the later row is taken as correct, and the contradiction is counted.
 *
 * Locks: those of mapping.h. Left out: time; the order of the rows is the order of the events.
 */
#ifndef SWAPSIM_MAPPING_REPLAY_H
#define SWAPSIM_MAPPING_REPLAY_H

#include "swapsim/core.h"
#include "swapsim/mapping.h"

/* ffi: begin */

/*
 * The operations of rows, with the columns that each reads. The index is the device offset for swap
 * rows, and the page's index for file rows.
 */
enum sws_mapping_replay_op {
	/* A page is added to the swap cache: folio, index. */
	SWS_MAPPING_REPLAY_SWAP_ADD = 0,
	/* A page is deleted from the swap cache: folio, index, shadow. */
	SWS_MAPPING_REPLAY_SWAP_DELETE = 1,
	/* A slot is freed: index. */
	SWS_MAPPING_REPLAY_SLOT_FREE = 2,
	/* Writeback starts: folio; file and index if the row has them. */
	SWS_MAPPING_REPLAY_START = 3,
	/* Writeback ends: folio; file and index if the row has them. */
	SWS_MAPPING_REPLAY_END = 4,
	/* A page is added to a file: folio, file, index. */
	SWS_MAPPING_REPLAY_FILE_ADD = 5,
	/* A page is deleted from a file: folio, file, index. */
	SWS_MAPPING_REPLAY_FILE_DELETE = 6,
	/* A file page is dirtied: file, index. */
	SWS_MAPPING_REPLAY_FILE_DIRTY = 7,
	/*
	 * Compaction replaces a page's folio: folio is the new one, index the address of the old
	 * one.
	 */
	SWS_MAPPING_REPLAY_MOVE = 8,
};

/* Values of the file column that are not a file. */
enum sws_mapping_replay_file {
	/* The row does not contain the page's mapping. */
	SWS_MAPPING_REPLAY_FILE_UNKNOWN = 0,
	/* The page is in the swap cache, at this index. */
	SWS_MAPPING_REPLAY_FILE_SWAP = 1,
};

/* Values of the shadow column that are not a shadow; shadows are odd. */
enum sws_mapping_replay_shadow {
	/* The removal leaves no shadow. */
	SWS_MAPPING_REPLAY_SHADOW_NONE = 0,
	/* The row does not contain the shadow; a written page then leaves one. */
	SWS_MAPPING_REPLAY_SHADOW_UNTOLD = 2,
};

/* The code paths that may take a mapping's lock. */
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

/* The kinds of pages by which the counts are split. */
enum sws_mapping_replay_flow {
	/* Pages whose stay in the swap cache had a writeback; and all freed slots. */
	SWS_MAPPING_REPLAY_WRITTEN = 0,
	/* Pages whose stay in the swap cache had no writeback. */
	SWS_MAPPING_REPLAY_UNWRITTEN = 1,
	/* Pages of files. */
	SWS_MAPPING_REPLAY_FILE = 2,
	/* The number of kinds. */
	SWS_MAPPING_REPLAY_FLOWS = 3,
};

/* The counts of one site and one kind of pages. */
struct sws_mapping_replay_cell {
	/* Calls of the site. */
	uint64_t calls;
	/* Calls whose place in a tree is not in the trace. */
	uint64_t unresolved;
	/* Stays in the swap cache that a row at this site proved to be over. */
	uint64_t contradicted;
	/* The acquisitions and the work under them. */
	struct sws_mapping_work work;
};

/* A chunk of rows as columns of one length, in trace order. */
struct sws_mapping_replay_rows {
	/* enum sws_mapping_replay_op */
	const uint8_t *op;
	/* An even address; 0 if the operation has no folio. */
	const uint64_t *folio;
	/* The index; its meaning depends on op. */
	const uint64_t *index;
	/* The key of a file, or enum sws_mapping_replay_file. */
	const uint64_t *file;
	/* An odd number, or enum sws_mapping_replay_shadow. */
	const uint64_t *shadow;
};

/* A replay with its mappings; only the functions below read it. */
struct sws_mapping_replay;

/*
 * Creates an empty replay with new mappings. The caller owns *out and frees it by
 * sws_mapping_replay_free. Complexity: O(trunks). Returns the codes of sws_mappings_new.
 */
int sws_mapping_replay_new(const struct sws_mapping_config *config,
			   struct sws_mapping_replay **out);

/* Frees the replay and its mappings; accepts NULL. */
void sws_mapping_replay_free(struct sws_mapping_replay *self);

/*
 * Replays count rows. On an error *row is the row at fault, and those before it are counted.
 * Complexity: O(1) per row and its tree walks. Returns SWS_OK; SWS_ERROR_UNKNOWN_OP;
 * SWS_ERROR_BAD_ARGUMENT for an offset past the device, a folio that is 0 or odd, or an even
 * shadow; or SWS_ERROR_NO_MEMORY.
 */
int sws_mapping_replay_feed(struct sws_mapping_replay *self,
			    const struct sws_mapping_replay_rows *rows, uint64_t count,
			    uint64_t *row);

/*
 * Counts the stays that are still open and writes SWS_MAPPING_REPLAY_FLOWS *
 * SWS_MAPPING_REPLAY_SITES cells, ordered by kind of pages. To be called once, after all rows.
 * Complexity: O(open stays).
 */
int sws_mapping_replay_finish(struct sws_mapping_replay *self,
			      struct sws_mapping_replay_cell *cells);

/*
 * Recomputes every invariant. Complexity: O(nodes + stays). Returns SWS_OK, or SWS_ERROR_BROKEN and
 * the *reason, a constant string.
 */
int sws_mapping_replay_verify(const struct sws_mapping_replay *self, const char **reason);

/* ffi: end */

#endif
