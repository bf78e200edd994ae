/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mglru.h - what reclaim decides with MGLRU: from which type of pages it takes some, which tiers it
 * spares, whether it makes a new generation first, how many pages it scans, and when it stops.
 *
 * Models, in mm/vmscan.c of 6.12 and 7.3
 *   type, tier index   get_type_to_scan, get_tier_idx, positive_ctrl_err, read_ctrl_pos
 *   order of lists     isolate_folios (the two types in turn)
 *   aging              should_run_aging
 *   scan size, end     get_nr_to_scan, try_to_shrink_lruvec, should_abort_scan
 *
 *      max_seq   5   new pages, and pages that were accessed         7.3 ages if two are left
 *                4                                                    of the older type
 *      min_seq   3   anon: 3    file: 4    the oldest of each type
 *                      |          |
 *                      |          |   tiers of an oldest generation, by references to a folio
 *                      v          v     0 | 1 | 2 | 3     those above the tier index are spared
 *                  refaulted  refaulted                   and go to the next generation
 *                  ---------- ----------
 *                    total      total    total = evicted + protected; each with its average
 *                      |          |
 *       gain: swappiness          200 - swappiness
 *                      '--> < <---'
 *                         file, if its rate over its gain is the lower one; else anon
 *
 * File is taken if it has fewer than few_refaults refaults, or if
 * file.refaulted * (anon.total + 64) * gain of anon <= (anon.refaulted + 1) * file.total * gain of
 * file, in 64 bits that wrap as in the kernel. A tier is spared from the first one on that fails
 * the same comparison with the first tier.
 *
 *   switch                 6.12   7.3    no kernel
 *   older_first            x      -                 anon, if its oldest generation is the older one
 *   io_first               x      -                 file, if the caller may start no IO
 *   all_tiers              -      x                 the sum of the tiers is compared, not the first
 *   protects_first         -      x                 protected pages of the first tier count
 *   other_first_tier       x      -                 tiers are compared with the other type's first
 *   spares_last            x      -                 the last tier is spared by any index
 *   retries_type           -      x                 scanned, nothing isolated: the same type again
 *   tier_gain              1:2    2:3
 *   few_refaults           64     64     0 ..
 *   controller             x      x      off        off: by swappiness alone, above 100 anon
 *   choose                 -      -      x          a user's function chooses the type
 *   anon_gain, file_gain   0      0      1 ..       0: by swappiness
 *   ages_by_spread         x      -                 by the spread of pages over generations
 *   sizes_once             -      x                 the size is computed once, in batches of 64
 *   aborts_cgroups         -      x                 a cgroup's reclaim may stop early, too
 *
 *   part                   lock          work under it
 *   type, tier index       lru_lock      refaulted and evicted are atomics that change without it
 *   aging, scan size       none          generations and their sizes may change meanwhile
 *
 * So a recording has two values of these counters, before a decision and after it. A decision that is
 * the same for all values between them is determined; else it is ambiguous, and not compared.
 *
 * Left out: the folios themselves, which scan_folios sorts one by one (of tiers only the pages show
 * that it spared); the random bin of memory cgroups, and their protection (memory.low, memory.min);
 * the walk of page tables; zone watermarks, by which kswapd may stop: these are taken from the trace.
 */
#ifndef SWAPSIM_MGLRU_H
#define SWAPSIM_MGLRU_H

#include "swapsim/core.h"

/* ffi: begin */

enum {
	/* Tiers of a generation: MAX_NR_TIERS. */
	SWS_MGLRU_TIERS = 4,
	/* Generations that remain at least: MIN_NR_GENS. */
	SWS_MGLRU_GENS_MIN = 2,
	/* Generations that there are at most: MAX_NR_GENS. */
	SWS_MGLRU_GENS_MAX = 4,
	/* Pages of a batch, and refaults that are few: MIN_LRU_BATCH. */
	SWS_MGLRU_BATCH = 64,
	/* The highest swappiness of a system: MAX_SWAPPINESS. */
	SWS_MGLRU_SWAPPINESS_MAX = 200,
	/* Anonymous pages only, which a request to reclaim may ask for: SWAPPINESS_ANON_ONLY. */
	SWS_MGLRU_ANON_ONLY = 201,
	/* The priority at which reclaim begins: DEF_PRIORITY. */
	SWS_MGLRU_PRIORITY_MAX = 12,
};

/* The rule sets. The numbers may change between versions; store the names. */
enum sws_mglru_set {
	/* The kernel 6.12. */
	SWS_MGLRU_6_12 = 0,
	/* The kernel 7.3. */
	SWS_MGLRU_7_3 = 1,
};

/* Types of pages. */
enum sws_mglru_type {
	/* Anonymous pages. */
	SWS_MGLRU_ANON = 0,
	/* File pages. */
	SWS_MGLRU_FILE = 1,
	/* Neither. */
	SWS_MGLRU_NEITHER = 2,
};

/* The term of the rules that decides a type. */
enum sws_mglru_term {
	/* The swappiness allows one type only, or prefers it: 0, 1, 200, 201. */
	SWS_MGLRU_BY_SWAPPINESS = 0,
	/* The oldest generation of anonymous pages is older. */
	SWS_MGLRU_BY_AGE = 1,
	/* The caller may start no IO. */
	SWS_MGLRU_BY_IO = 2,
	/* File pages have few refaults. */
	SWS_MGLRU_BY_FEW = 3,
	/* The refault rates and gains. */
	SWS_MGLRU_BY_RATES = 4,
	/* A user's function. */
	SWS_MGLRU_BY_USER = 5,
};

/* The switches. */
struct sws_mglru_rules {
	/* Anonymous pages come first if their oldest generation is older than that of file pages. */
	bool older_first;
	/* File pages come first if the caller may start no IO. */
	bool io_first;
	/* The sums of all tiers are compared; else the first tiers. */
	bool all_tiers;
	/* Protected pages of the first tier are part of its total. */
	bool protects_first;
	/*
	 * If refault rates have decided the type, its tiers are compared with the first tier of the
	 * other type, with the gains of the types; else with its own first tier, with tier_gain.
	 */
	bool other_first_tier;
	/* Folios with the most references, all in the last tier, are spared by any index. */
	bool spares_last;
	/* A type of which pages were scanned and none isolated is scanned again; else the other one. */
	bool retries_type;
	/* Refault rates are compared; else the gains alone. */
	bool controller;
	/*
	 * A new generation is made if too many pages are in the newest one or too few in the oldest;
	 * else if two generations are left, below the priority at which reclaim begins.
	 */
	bool ages_by_spread;
	/* The scan size is computed once and scanned in batches; else it is computed for each scan. */
	bool sizes_once;
	/* Reclaim for a cgroup stops, too, when it has freed what it wants. */
	bool aborts_cgroups;
	/* The gain of the first tier when tiers are compared, 1 or more. */
	uint32_t tier_gain;
	/* The gain of the other tiers. */
	uint32_t tier_gain_of_others;
	/* File pages, and tiers, with fewer refaults than this are taken. */
	uint32_t few_refaults;
	/* The gain of anonymous pages; 0 means the swappiness. */
	uint32_t anon_gain;
	/* The gain of file pages; 0 means 200 - swappiness. */
	uint32_t file_gain;
	/*
	 * A user's function, which chooses the type, anon or file, in place of the rules; NULL, which
	 * is the default, for none. Its arguments: the swappiness; 1 if the caller may start IO;
	 * generations of anon and file, 2 to 4, of which two are too few to scan; refaulted and total
	 * pages of anon, then of file, of all tiers with protected pages (7.3); and the same four of
	 * the first tier alone, without them (6.12).
	 */
	int64_t (*choose)(int64_t swappiness, int64_t io, int64_t anon_generations,
			  int64_t file_generations, int64_t anon_refaulted, int64_t anon_total,
			  int64_t file_refaulted, int64_t file_total, int64_t anon_first_refaulted,
			  int64_t anon_first_total, int64_t file_first_refaulted,
			  int64_t file_first_total);
};

/* Returns the name of a rule set; NULL past the last. All names are constants. */
const char *sws_mglru_set_name(enum sws_mglru_set set);
/* Returns the name of a type, the last one `neither`; NULL past the last. */
const char *sws_mglru_type_name(enum sws_mglru_type type);
/* Returns the name of a term; NULL past the last. */
const char *sws_mglru_term_name(enum sws_mglru_term term);

/*
 * Writes the switches of a rule set. Complexity: O(1). Returns SWS_OK, or SWS_ERROR_BAD_ARGUMENT
 * for an unknown one.
 */
int sws_mglru_rules_init(enum sws_mglru_set set, struct sws_mglru_rules *rules);

/* The counters of a type's oldest generation with its averages, in pages by tier. */
struct sws_mglru_side {
	/* Pages that refaulted, and their average. */
	uint64_t refaulted[4];
	/* Pages that were evicted, and the average of evicted and protected ones. */
	uint64_t evicted[4];
	/* Pages that were protected. */
	uint64_t protected_pages[4];
};

/* What a choice depends on. */
struct sws_mglru_state {
	/* Both types: enum sws_mglru_type. */
	struct sws_mglru_side sides[2];
	/* The newest generation. */
	uint64_t max_seq;
	/* The oldest generation of each type. */
	uint64_t min_seq[2];
	/* 0 .. SWS_MGLRU_ANON_ONLY */
	int32_t swappiness;
	/* Whether the caller may start IO. */
	bool io;
};

/* A choice. */
struct sws_mglru_choice {
	/* The type that is scanned first; neither if a user's function returns none. */
	enum sws_mglru_type type;
	/* The term that decides it. */
	enum sws_mglru_term term;
	/* The tier index of each type, if that is scanned now: tiers above it are spared. */
	uint8_t tier[2];
};

/*
 * Chooses a type and both tier indices. Models: isolate_folios up to its first scan. Complexity:
 * O(tiers). Locks: lru_lock.
 */
void sws_mglru_choose(const struct sws_mglru_rules *rules, const struct sws_mglru_state *state,
		      struct sws_mglru_choice *choice);

/* The sizes of the generations of an lruvec, as aging and scan size depend on them. */
struct sws_mglru_sizes {
	/* The newest generation. */
	uint64_t max_seq;
	/* The oldest generation of each type. */
	uint64_t min_seq[2];
	/* Pages of each type and generation, by its number modulo 4. */
	uint64_t pages[2][4];
};

/*
 * Returns whether a new generation is made before a scan at a priority. Models: should_run_aging.
 * Complexity: O(generations). Locks: none.
 */
bool sws_mglru_ages(const struct sws_mglru_rules *rules, const struct sws_mglru_sizes *sizes,
		    int32_t swappiness, uint32_t priority);

/*
 * Returns the pages to scan at a priority, 0 above SWS_MGLRU_PRIORITY_MAX; all of them if the
 * memory cgroup was deleted. Models:
 * get_nr_to_scan. Complexity: O(generations). Locks: none.
 */
uint64_t sws_mglru_scan_size(const struct sws_mglru_rules *rules,
			     const struct sws_mglru_sizes *sizes, int32_t swappiness,
			     uint32_t priority, bool online);

/* Calls of isolate_folios as columns of one length. Counters are in the order of names below. */
struct sws_mglru_choice_rows {
	/*
	 * avg_refaulted, avg_total, protected, evicted and refaulted; each of four tiers of anon, then
	 * of file.
	 */
	const uint32_t *counters[40];
	/* By how much protected, evicted and refaulted rose meanwhile, in the same order. */
	const uint32_t *more[24];
	/* The newest generation. */
	const uint64_t *max_seq;
	/* The oldest generations. */
	const uint64_t *min_seq[2];
	/* The swappiness. */
	const int32_t *swappiness;
	/* 1 if the caller may start IO. */
	const uint8_t *io;
	/* The lists that were scanned, in order: enum sws_mglru_type. */
	const uint8_t *scan[2];
	/* Pages that each of them scanned. */
	const uint32_t *pages[2];
	/* Pages that each of them isolated. */
	const uint32_t *taken[2];
	/* Pages that the call returned. */
	const uint32_t *result;
};

/* The result of a comparison. */
enum sws_mglru_equal {
	/* Nothing to compare: any rule has the same result, or the rows do not show it. */
	SWS_MGLRU_NOT_COMPARED = 0,
	/* The model's is the kernel's. */
	SWS_MGLRU_EQUAL = 1,
	/* It differs. */
	SWS_MGLRU_DIFFERS = 2,
	/* Values between those before and after would decide otherwise. */
	SWS_MGLRU_AMBIGUOUS = 3,
};

/* The result of a row of choices. */
struct sws_mglru_chosen {
	/* enum sws_mglru_equal, of the lists that were scanned. */
	uint8_t type_equal;
	/* The same of the tier indices. */
	uint8_t tier_equal;
	/* The model's type: enum sws_mglru_type. */
	uint8_t type;
	/* The list that it scans first, since a type with two generations yields nothing. */
	uint8_t first;
	/* enum sws_mglru_term */
	uint8_t term;
	/* The tier index of that list. */
	uint8_t tier;
};

/*
 * Chooses for each of n rows, by the counters before, and compares with the lists of the row.
 * Complexity: O(n). Returns SWS_OK, or SWS_ERROR_BAD_ARGUMENT and the row whose swappiness is
 * out of its range, or that has fewer than two or more than four generations; SWS_ERROR_BAD_CONFIG
 * and the row for which a user's function returns no type.
 */
int sws_mglru_choices(const struct sws_mglru_rules *rules, uint64_t n,
		      const struct sws_mglru_choice_rows *rows, struct sws_mglru_chosen *chosen,
		      uint64_t *row);

/* The state of a row, as columns of one length. */
struct sws_mglru_size_rows {
	/* The newest generation. */
	const uint64_t *max_seq;
	/* The oldest generations. */
	const uint64_t *min_seq[2];
	/* Pages of anon by the number of the generation modulo 4, then of file. */
	const uint32_t *pages[8];
};

/*
 * Turns of the loop of try_to_shrink_lruvec as columns of one length. The rows of a call follow each
 * other; the last one may be a turn in which nothing was done.
 */
struct sws_mglru_step_rows {
	/* Before the turn. */
	struct sws_mglru_size_rows before;
	/* When the kernel acts; if it does not, when the sizes are next known, or the same. */
	struct sws_mglru_size_rows acts;
	/* The number of the call. */
	const uint32_t *call;
	/* The swappiness. */
	const int32_t *swappiness;
	/* The priority. */
	const uint8_t *priority;
	/* 1 for reclaim of all memory, 0 for that of a cgroup. */
	const uint8_t *root;
	/* 1 unless the memory cgroup was deleted. */
	const uint8_t *online;
	/* 1 if the memory cgroup is protected, so that its scan size is not modelled. */
	const uint8_t *shielded;
	/* 1 if a new generation was asked for. */
	const uint8_t *aged;
	/* 1 if pages were scanned. */
	const uint8_t *evicted;
	/* Pages of the batch, where the kernel has batches. */
	const uint32_t *batch;
	/* Pages that were scanned. */
	const uint32_t *scanned;
	/* 1 if the scan is to be stopped, 0 if not, 2 if the kernel did not ask. */
	const uint8_t *stop;
	/* Pages that were freed so far. */
	const uint64_t *freed;
	/* Pages to free. */
	const uint64_t *wanted;
	/* The order of the allocation, 0 .. 31. */
	const uint8_t *order;
};

/* The result of a row of steps. */
struct sws_mglru_stepped {
	/* enum sws_mglru_equal, of the aging. */
	uint8_t age_equal;
	/* The same of the scan size, and of the end of the loop. */
	uint8_t size_equal;
	/* Whether the model ages. */
	uint8_t ages;
	/* The pages that it scans at least, by the values before and when the kernel acts. */
	uint64_t low;
	/* The pages that it scans at most. */
	uint64_t high;
};

/*
 * Runs the loop by the rules and compares each turn. Complexity: O(n). Returns SWS_OK, or
 * SWS_ERROR_BAD_ARGUMENT and the row whose swappiness, priority, order or generations are out of
 * range.
 */
int sws_mglru_steps(const struct sws_mglru_rules *rules, uint64_t n,
		    const struct sws_mglru_step_rows *rows, struct sws_mglru_stepped *stepped,
		    uint64_t *row);

/* ffi: end */

#endif
