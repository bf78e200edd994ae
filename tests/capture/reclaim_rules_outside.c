/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reclaim_rules_outside.c - the rules that the lab kernel decides by, in user space: this file
 * defines what mm/reclaim_rules.h needs from a kernel. No device is congested, so that
 * wait_iff_congested always yields and congestion_wait always sleeps.
 *
 * Each line of the input is a decision: list RULES KSWAPD MEMCG HIBERNATION PRIORITY TAKEN DIRTY
 * UNQUEUED CONGESTED WRITEBACK IMMEDIATE; round RULES HIBERNATION PRIORITY SCANNED RECLAIMED
 * WANTED; write RULES PRIORITY FLAGGED AGAIN; counts RULES DEVICE AGAIN; facts RULES. A line of the
 * output is its result: the flags set and the sleeps in their order, or yes and no.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The header of devices is not needed, only its names. */
#define _LINUX_WRITE_CONGESTION_H

#define ARRAY_SIZE(array)              (sizeof(array) / sizeof(*(array)))
#define HZ                             250
#define DEF_PRIORITY                   12
#define __GFP_IO                       1u
#define TASK_UNINTERRUPTIBLE           2
#define WB_REASON_VMSCAN               2
#define cpuset_current_mems_allowed    (*(int *)NULL)
#define DECLARE_WAIT_QUEUE_HEAD(queue) int queue
#define DEFINE_WAIT(wait)              int wait = 0
#define core_param(name, variable, type, mode)
#define __module_param_call(prefix, name, ops, arg, perm, level, flags)

typedef unsigned int gfp_t;
typedef struct {
	int counter;
} atomic_t;

enum {
	PGDAT_DIRTY,
	PGDAT_WRITEBACK,
	LRUVEC_CONGESTED,
};

struct kernel_param;
struct kernel_param_ops {
	int (*set)(const char *value, const struct kernel_param *param);
	int (*get)(char *buffer, const struct kernel_param *param);
};
struct backing_dev_info {
	unsigned long write_congested;
};
struct inode {
	struct backing_dev_info *device;
};
struct folio {
	bool writeback;
};
struct address_space_operations {
	void (*is_dirty_writeback)(struct folio *folio, bool *dirty, bool *writeback);
};
struct address_space {
	struct inode *host;
	const struct address_space_operations *a_ops;
};
struct mem_cgroup;
struct lruvec {
	unsigned long flags;
};
struct pglist_data {
	unsigned long flags;
	struct lruvec root;
};
struct zone {
	struct pglist_data *zone_pgdat;
};
struct zoneref {
	struct zone *zone;
};
struct zonelist {
	struct zoneref first;
};
struct scan_control {
	unsigned long nr_to_reclaim, nr_reclaimed, nr_scanned;
	bool memcg, hibernation_mode, compaction_ready, may_writepage;
	int priority;
	gfp_t gfp_mask;
};
struct reclaim_stat {
	unsigned int nr_dirty, nr_unqueued_dirty, nr_congested, nr_writeback, nr_immediate;
};

static bool kswapd;
static char did[64];

static void does(const char *what)
{
	strncat(did, what, sizeof(did) - strlen(did) - 1);
}

static bool test_bit(int bit, const unsigned long *word)
{
	return *word >> bit & 1;
}

static void set_bit(int bit, unsigned long *word)
{
	*word |= 1ul << bit;
	does(bit == PGDAT_DIRTY ? " D" : bit == PGDAT_WRITEBACK ? " W" : " C");
}

static bool test_and_set_bit(int bit, unsigned long *word)
{
	bool was = test_bit(bit, word);

	*word |= 1ul << bit;
	return was;
}

static bool test_and_clear_bit(int bit, unsigned long *word)
{
	bool was = test_bit(bit, word);

	*word &= ~(1ul << bit);
	return was;
}

static long io_schedule_timeout(long timeout)
{
	does(" congestion_wait");
	return timeout;
}

static void cond_resched(void)
{
	does(" wait_iff_congested");
}

static void buffer_check_dirty_writeback(struct folio *folio, bool *dirty, bool *writeback)
{
	*dirty = *writeback = folio->writeback;
}

static void other_check(struct folio *folio, bool *dirty, bool *writeback)
{
	*dirty = *writeback = !folio->writeback;
}

#define atomic_inc(atomic)                        ((atomic)->counter++)
#define atomic_dec(atomic)                        ((atomic)->counter--)
#define atomic_read(atomic)                       ((atomic)->counter)
#define wq_has_sleeper(queue)                     (*(queue) > 0)
#define wake_up(queue)                            (*(queue) = 0)
#define prepare_to_wait(queue, wait, s)           ((void)(queue), (void)(wait))
#define finish_wait(queue, wait)                  ((void)(queue), (void)(wait))
#define schedule_timeout_uninterruptible(timeout) io_schedule_timeout(timeout)
#define mem_cgroup_lruvec(memcg, node)            ((void)(memcg), &(node)->root)
#define folio_mapping(folio)                      ((void)(folio), (struct address_space *)NULL)
#define folio_nr_pages(folio)                     ((void)(folio), 1u)
#define folio_test_writeback(folio)               ((folio)->writeback)
#define folio_wait_writeback(folio)               ((folio)->writeback = false)
#define inode_to_bdi(inode)                       ((inode)->device)
#define cgroup_reclaim(sc)                        ((sc)->memcg)
#define writeback_throttling_sane(sc)             ((void)(sc), true)
#define current_is_kswapd()                       kswapd
#define wakeup_flusher_threads(reason)            ((void)(reason))
#define first_zones_zonelist(list, zone, nodes)   (&(list)->first)
#define gfp_zone(mask)                            (mask)
#define sysfs_streq(one, other)                   (strcmp(one, other) == 0)
#define sysfs_emit(buffer, ...)                   snprintf(buffer, 64, __VA_ARGS__)

#include "reclaim_rules.h"

static bool may_enter_fs(struct folio *folio, gfp_t gfp_mask)
{
	return folio && gfp_mask;
}

static int answer(const char *line)
{
	static const struct address_space_operations buffers = { buffer_check_dirty_writeback };
	static const struct address_space_operations others = { other_check };
	struct address_space of_buffers = { NULL, &buffers }, of_nfs = { NULL, &others };
	struct pglist_data node = { 0 };
	struct zone zone = { &node };
	struct zonelist zones = { { &zone } };
	struct scan_control sc = { 0 };
	struct reclaim_stat stat = { 0 };
	unsigned long number[4] = { 0 };
	int kswapd_asks = 0, memcg = 0, hibernation = 0, yes[2] = { 0 };
	char name[16] = "";

	did[0] = '\0';
	if (sscanf(line, "%*s %15s", name) != 1 || reclaim_rules_param_set(name, NULL) != 0)
		return -EINVAL;
	if (sscanf(line, "list %*s %d %d %d %d %lu %u %u %u %u %u", &kswapd_asks, &memcg,
		   &hibernation, &sc.priority, &number[0], &stat.nr_dirty, &stat.nr_unqueued_dirty,
		   &stat.nr_congested, &stat.nr_writeback, &stat.nr_immediate) == 10) {
		kswapd = kswapd_asks;
		sc.memcg = memcg;
		sc.hibernation_mode = hibernation;
		decide_list(&node, &sc, &stat, number[0]);
		puts(did);
	} else if (sscanf(line, "round %*s %d %d %lu %lu %lu", &hibernation, &sc.priority,
			  &sc.nr_scanned, &sc.nr_reclaimed, &sc.nr_to_reclaim) == 5) {
		sc.hibernation_mode = hibernation;
		decide_round(&zones, &sc, 0);
		puts(did);
	} else if (sscanf(line, "write %*s %d %d %d", &sc.priority, &yes[0], &yes[1]) == 3) {
		puts(kswapd_writes(yes[1], yes[0], sc.priority) ? "yes" : "no");
	} else if (sscanf(line, "counts %*s %d %d", &yes[0], &yes[1]) == 2) {
		puts(counts_as_congested(yes[0], yes[1]) ? "yes" : "no");
	} else {
		printf("%d %d %d %d %d %d\n", reclaim_rules->counts_late, reclaim_rules->case_1,
		       asks_filesystem(&of_buffers), asks_filesystem(&of_nfs),
		       dirty_until_balanced(), reclaim_rules->flags_writeback);
	}
	return 0;
}

int main(void)
{
	char line[256];
	char name[64];

	reclaim_rules_param_get(name, NULL);
	fputs(name, stdout);
	while (fgets(line, sizeof(line), stdin))
		if (answer(line) != 0)
			return 1;
	return 0;
}
