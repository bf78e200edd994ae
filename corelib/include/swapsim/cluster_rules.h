/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cluster_rules.h - the switches between the allocators of clusters.h, and the rule sets that have
 * names.
 *
 * Models the differences between mm/swapfile.c of 6.12.117 and of 7.3.4 (get_swap_pages,
 * folio_alloc_swap, cluster_alloc_swap_entry, alloc_swap_scan_cluster, setup_clusters), each as a
 * switch of its own, because the versions between them have some of the changes and not others.
 * Left out: what 6.13 to 7.1 do beyond these switches. The locks are in clusters.h.
 *
 *      request -> [ own cluster ] -> [ free | nonfull | frag ] -> [ larger orders ] -> refused
 *                  checks_own,         nonfull_first,
 *                  shared_next         frag_all, large_from_free_only
 *
 *   switch                  6.11   6.12   6.12-nonfull-first   7.3
 *   columns                   x      x             x            -
 *   large_from_free_only      x      -             -            -
 *   nonfull_first             -      -             x            x
 *   frag_all                  x      x             x            -
 *   isolates                  -      -             -            x
 *   trylock                   -      -             -            x
 *   full_before_frag          -      -             x            x
 *   shared_next               -      -             -            x
 *   turns_each_call           x      x             x            -
 *   checks_own                -      -             -            x
 *   credit_first              x      x             x            -
 *   ends_at_device            x      x             x            -
 *   global_next               -      -             -            x
 *   discards_in_device        x      x             x            -
 *   slot_cache                x      x             x            -
 *   own_by_task               -      -             -            -
 *
 * The rule set 6.11 is 6.12 with the one rule that made large folios fail before it: they come from
 * free clusters only. Single slots without a free cluster use 6.12's lists here, where 6.11 scanned
 * the map (slots.h models that scan).
 *
 * own_by_task is in no kernel. Nor is 7.3 without shared_next: a CPU has a cluster in each device,
 * and a search begins with that of the first device. What frag_all changes:
 *
 *      frag[4]     17 -> 3 -> 8              17 does not fit, so it goes to the tail
 *      frag_all    17, 3, 8                  each once
 *      without     17                        refused, although 3 may fit
 *
 * A user's function may choose the lists in place of nonfull_first, frag_all, full_before_frag and
 * large_from_free_only (sws_clusters_config):
 *
 *      free 0   nonfull[4] 2   frag[4] 7     -> NONFULL    6 does not fit, and goes to frag[4]
 *      free 0   nonfull[4] 1   frag[4] 8     -> NONFULL    11 fits
 */
#ifndef SWAPSIM_CLUSTER_RULES_H
#define SWAPSIM_CLUSTER_RULES_H

#include "swapsim/core.h"

/* ffi: begin */

/* The rule sets with names. The numbers may change between versions; store the names. */
enum sws_cluster_rule_set {
	/* Large orders from free clusters only. */
	SWS_CLUSTER_RULES_6_11,
	/* The kernel 6.12. */
	SWS_CLUSTER_RULES_6_12,
	/* 6.12 with the order of lists of 6.18. */
	SWS_CLUSTER_RULES_6_12_NONFULL_FIRST,
	/* The kernel 7.3. */
	SWS_CLUSTER_RULES_7_3,
};

/* The switches. */
struct sws_cluster_rules {
	/*
	 * At the start clusters are listed column by column, so that neighbours on the list are 64
	 * MB apart; else in ascending order.
	 */
	bool columns;
	/* Orders above 0 use their own cluster and free clusters, no others. */
	bool large_from_free_only;
	/* Nonfull clusters come before free ones, unless the device discards. */
	bool nonfull_first;
	/*
	 * A search tries every frag cluster of its order, each once; else the first one, also if
	 * the search put it there itself.
	 */
	bool frag_all;
	/*
	 * A cluster leaves its list while it is visited, so that si->lock protects only the lists;
	 * else si->lock is held for the whole call, and clusters stay on lists.
	 */
	bool isolates;
	/*
	 * With isolates: a pick skips clusters whose lock another CPU holds; else it waits for the
	 * lock of the first one.
	 */
	bool trylock;
	/* A full cluster is reclaimed before the frag list; else as soon as no cluster is free. */
	bool full_before_frag;
	/*
	 * A CPU has one next slot for each order; else one for each order and device, and goes on
	 * in the first device of the list.
	 */
	bool shared_next;
	/* The first device goes behind its equals at every call; else only for a new cluster. */
	bool turns_each_call;
	/*
	 * A CPU's own cluster is used only if it is still allocatable and of this order, and from
	 * its start if it is empty.
	 */
	bool checks_own;
	/* A call takes its slots from the counter of free slots before it searches. */
	bool credit_first;
	/* A visit ends at the end of the device; else at the end of the cluster. */
	bool ends_at_device;
	/* A rotational device is allowed and has one next slot per order for all CPUs. */
	bool global_next;
	/*
	 * A search discards the waiting clusters of its device before it gives up; else a call for
	 * a single slot does so after all devices.
	 */
	bool discards_in_device;
	/* Single slots go through per-CPU caches of 64 (slot_cache.h). */
	bool slot_cache;
	/*
	 * Current clusters belong to owners that the caller names, such as address spaces or memory
	 * cgroups; else to CPUs.
	 */
	bool own_by_task;
};

/*
 * What a user's function chooses as the next step of a search. It is asked again until a cluster
 * fits or it returns END; a list without a cluster yields none. A search ends at an answer that is no
 * choice, and after `most` of them; a call, after each device had one turn. The function's arguments:
 * the order; the choices before in this search, and the maximum of them; the last choice (-1 for
 * none), and how often it was chosen in a row; the clusters on the free list, on nonfull and frag of
 * the order (0 for an order of complete clusters), on those of larger orders (0 unless the order is
 * 0), and on the full list; 1 if swap is full, else 0.
 */
enum sws_cluster_choice {
	/* The first cluster of the free list. */
	SWS_CLUSTER_CHOOSE_FREE = 0,
	/* The first nonfull cluster of the order. */
	SWS_CLUSTER_CHOOSE_NONFULL = 1,
	/* The first frag cluster of the order. */
	SWS_CLUSTER_CHOOSE_FRAG = 2,
	/* Reclaim of the first full cluster. */
	SWS_CLUSTER_CHOOSE_FULL = 3,
	/* For a single slot: the clusters of larger orders, each until one has a slot; then the end. */
	SWS_CLUSTER_CHOOSE_LARGER = 4,
	/* The end of the search without a result. */
	SWS_CLUSTER_CHOOSE_END = 5,
	/* The number of choices. */
	SWS_CLUSTER_CHOICES = 6,
};

/* Returns the name of a choice in Python, such as "NONFULL"; NULL for an unknown one. */
const char *sws_cluster_choice_name(uint32_t choice);

/* Returns the name of a rule set in tables and on the command line; NULL past the last. */
const char *sws_cluster_rule_set_name(enum sws_cluster_rule_set set);

/*
 * Writes the switches of a rule set. Complexity: O(1). Returns SWS_OK, or SWS_ERROR_BAD_ARGUMENT
 * for an unknown one.
 */
int sws_cluster_rules_init(enum sws_cluster_rule_set set, struct sws_cluster_rules *rules);

/* ffi: end */

#endif
