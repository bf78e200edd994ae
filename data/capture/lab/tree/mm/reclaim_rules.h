/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ours, for the lab kernel: the rules by which reclaim stalls, one row a kernel, and what 6.1 has no function for. mm/vmscan.c
 * includes it once, behind struct scan_control; patches/03-stall-decisions/switch.cocci puts the calls in. A node stands for
 * what was a zone, PGDAT_DIRTY for ZONE_TAIL_LRU_DIRTY, and the root's LRUVEC_CONGESTED for ZONE_CONGESTED.
 */
#include <linux/write_congestion.h>

static bool may_enter_fs(struct folio *folio, gfp_t gfp_mask);

/* Which pages count as congested. */
enum reclaim_congested {
	CONGESTED_NOT_WRITTEN, /* pageout() kept it */
	CONGESTED_DEVICE, /* its device is, though the page be clean */
	CONGESTED_DEVICE_OR_AGAIN, /* that, or under writeback and marked for immediate reclaim */
	CONGESTED_AGAIN, /* the latter alone */
};

/* What kswapd does with a page that is under writeback and marked, on a node flagged for writeback: case 1. */
enum reclaim_case_1 {
	CASE_1_NEVER, /* it is case 2 */
	CASE_1_SLEEPS_LOCKED, /* sleeps with the page locked, then goes on with it */
	CASE_1_SLEEPS, /* sleeps, then keeps it */
	CASE_1_KEEPS, /* counts and keeps it */
	CASE_1_ACTIVATES, /* counts and activates it */
};

/* When kswapd may write a dirty page of a file. Nobody else ever does. */
enum reclaim_writes {
	WRITES_BELOW_10, /* by priority */
	WRITES_FLAGGED, /* on a node flagged dirty */
	WRITES_FLAGGED_AGAIN, /* there, if the page is marked for immediate reclaim */
};

/* How many of the pages taken make a case. */
enum reclaim_share {
	SHARE_NEVER,
	SHARE_BY_PRIORITY, /* all at priority 12, half of them at 11, ... */
	SHARE_ALL,
};

/* Whether such a case stalls too, and when. */
enum reclaim_stall {
	STALL_NEVER,
	STALL_THEN_FLAG,
	FLAG_THEN_STALL,
};

struct reclaim_rules {
	const char *name;
	/* Counters of all lists of a pass are summed and decided upon once; its decisions are left as 6.1 has them. */
	bool by_pass;
	/* Dirty pages count when they could be written, anonymous ones too; else files' pages count when they are met. */
	bool counts_late;
	/* Which file systems are asked whether a page with private data is dirty: those on buffer heads, all. */
	bool asks_buffers, asks_all;
	enum reclaim_congested congested;
	enum reclaim_case_1 case_1;
	enum reclaim_writes writes;
	/* Pages under writeback, counted by case 2. */
	enum reclaim_share writeback_share;
	enum reclaim_stall writeback_stall;
	bool flags_writeback;
	/* Dirty pages that are not under writeback. */
	enum reclaim_share dirty_share;
	enum reclaim_stall dirty_stall;
	/* Direct reclaim may nap behind each list; else behind each round over the zones. */
	bool naps_by_list;
	/* kswapd reclaims without end at each priority, down to 0, and starts anew once it has 32 pages. */
	bool kswapd_unlimited;
};

/* Each kernel is the one before and what was changed. */
#define RULES_3_9                                                                                  \
	.counts_late = true, .congested = CONGESTED_NOT_WRITTEN, .case_1 = CASE_1_NEVER,           \
	.writes = WRITES_BELOW_10, .writeback_share = SHARE_BY_PRIORITY,                           \
	.writeback_stall = STALL_THEN_FLAG, .dirty_share = SHARE_NEVER, .kswapd_unlimited = true
#define RULES_MMOTM                                                                                \
	RULES_3_9, .case_1 = CASE_1_SLEEPS_LOCKED, .writes = WRITES_FLAGGED,                       \
		.flags_writeback = true, .dirty_share = SHARE_BY_PRIORITY,                         \
		.kswapd_unlimited = false
#define RULES_SERIES_1 RULES_MMOTM, .case_1 = CASE_1_SLEEPS
#define RULES_SERIES_2                                                                             \
	RULES_SERIES_1, .counts_late = false, .congested = CONGESTED_DEVICE,                       \
		.dirty_share = SHARE_ALL, .dirty_stall = STALL_THEN_FLAG
#define RULES_SERIES_3 RULES_SERIES_2, .case_1 = CASE_1_KEEPS, .dirty_stall = FLAG_THEN_STALL
#define RULES_SERIES_4 RULES_SERIES_3, .writeback_stall = FLAG_THEN_STALL
#define RULES_SERIES_5 RULES_SERIES_4, .writeback_stall = STALL_NEVER, .naps_by_list = true
#define RULES_SERIES_6 RULES_SERIES_5, .congested = CONGESTED_DEVICE_OR_AGAIN
#define RULES_SERIES_7 RULES_SERIES_6, .asks_buffers = true
#define RULES_SERIES_8 RULES_SERIES_7, .asks_all = true
#define RULES_3_11     RULES_SERIES_8, .writeback_share = SHARE_ALL
#define RULES_6_1                                                                                  \
	.by_pass = true, .asks_buffers = true, .asks_all = true, .congested = CONGESTED_AGAIN,     \
	.case_1 = CASE_1_ACTIVATES, .writes = WRITES_FLAGGED_AGAIN

static const struct reclaim_rules reclaim_rule_sets[] = {
	{ .name = "3.9", RULES_3_9 },           { .name = "mmotm", RULES_MMOTM },
	{ .name = "series-1", RULES_SERIES_1 }, { .name = "series-2", RULES_SERIES_2 },
	{ .name = "series-3", RULES_SERIES_3 }, { .name = "series-4", RULES_SERIES_4 },
	{ .name = "series-5", RULES_SERIES_5 }, { .name = "series-6", RULES_SERIES_6 },
	{ .name = "series-7", RULES_SERIES_7 }, { .name = "series-8", RULES_SERIES_8 },
	{ .name = "3.11", RULES_3_11 },         { .name = "6.1", RULES_6_1 },
};

static const struct reclaim_rules *reclaim_rules =
	&reclaim_rule_sets[ARRAY_SIZE(reclaim_rule_sets) - 1];

static int reclaim_rules_param_set(const char *name, const struct kernel_param *param)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(reclaim_rule_sets); i++) {
		if (sysfs_streq(name, reclaim_rule_sets[i].name)) {
			reclaim_rules = &reclaim_rule_sets[i];
			return 0;
		}
	}
	return -EINVAL;
}

static int reclaim_rules_param_get(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%s\n", reclaim_rules->name);
}

static const struct kernel_param_ops reclaim_rules_param = {
	.set = reclaim_rules_param_set,
	.get = reclaim_rules_param_get,
};

__module_param_call("", reclaim_rules, &reclaim_rules_param, NULL, 0444, -1, 0);

/* Pages that mmotm would have gone on with, and might have freed, while they were under writeback still. */
static unsigned int reclaim_unwritten;
core_param(reclaim_unwritten, reclaim_unwritten, uint, 0444);

static DECLARE_WAIT_QUEUE_HEAD(write_congestion);
static atomic_t write_congested_devices;

void set_write_congested(struct backing_dev_info *bdi)
{
	if (!test_and_set_bit(0, &bdi->write_congested))
		atomic_inc(&write_congested_devices);
}

/* Wakes who sleeps even if the device was not marked. */
void clear_write_congested(struct backing_dev_info *bdi)
{
	if (test_and_clear_bit(0, &bdi->write_congested))
		atomic_dec(&write_congested_devices);
	if (wq_has_sleeper(&write_congestion))
		wake_up(&write_congestion);
}

/* Congestion is flagged for the whole node, in 6.1 for the cgroup that reclaim aims at. */
static struct mem_cgroup *flagged_cgroup(struct mem_cgroup *target)
{
	return reclaim_rules->by_pass ? target : NULL;
}

static unsigned long *root_lruvec_flags(struct pglist_data *pgdat)
{
	return &mem_cgroup_lruvec(NULL, pgdat)->flags;
}

/* Is a node dirty no more once it is balanced? Only where it may be flagged so. */
static bool dirty_until_balanced(void)
{
	return reclaim_rules->by_pass || reclaim_rules->dirty_share != SHARE_NEVER;
}

/* Returns what is left of 100 ms, in jiffies, when the next write ends. */
static long sleep_until_written(void)
{
	DEFINE_WAIT(wait);
	long left;

	prepare_to_wait(&write_congestion, &wait, TASK_UNINTERRUPTIBLE);
	left = io_schedule_timeout(HZ / 10);
	finish_wait(&write_congestion, &wait);
	return left;
}

static void congestion_wait(struct pglist_data *pgdat, struct scan_control *sc)
{
	sleep_until_written();
}

/* Sleeps only where some device of the system is congested, and this node is flagged so. */
static void wait_iff_congested(struct pglist_data *pgdat, struct scan_control *sc)
{
	bool flagged = test_bit(LRUVEC_CONGESTED, root_lruvec_flags(pgdat));

	if (flagged && atomic_read(&write_congested_devices))
		sleep_until_written();
	else
		cond_resched();
}

/* May the file system be asked whether a page of this mapping is dirty? */
static bool asks_filesystem(struct address_space *mapping)
{
	if (!mapping->a_ops->is_dirty_writeback)
		return false;
	if (mapping->a_ops->is_dirty_writeback == buffer_check_dirty_writeback)
		return reclaim_rules->asks_buffers;
	return reclaim_rules->asks_all;
}

/* The swap cache has no host: its device is never congested. */
static bool device_congested(struct folio *folio)
{
	struct address_space *mapping = folio_mapping(folio);

	return mapping && mapping->host &&
	       test_bit(0, &inode_to_bdi(mapping->host)->write_congested);
}

/* Does a folio that is met count? Again: it is under writeback and marked for immediate reclaim. */
static bool counts_as_congested(bool device, bool again)
{
	switch (reclaim_rules->congested) {
	case CONGESTED_NOT_WRITTEN:
		return false;
	case CONGESTED_DEVICE:
		return device;
	case CONGESTED_DEVICE_OR_AGAIN:
		return device || again;
	case CONGESTED_AGAIN:
		break;
	}
	return again;
}

/* A folio that is dirty when it could be written. */
static void count_late(struct folio *folio, struct reclaim_stat *stat)
{
	if (!reclaim_rules->counts_late)
		return;
	stat->nr_dirty += folio_nr_pages(folio);
	if (!folio_test_writeback(folio))
		stat->nr_unqueued_dirty += folio_nr_pages(folio);
}

/* Does kswapd write a dirty folio of a file? Again: it is marked for immediate reclaim; flagged: its node is dirty. */
static bool kswapd_writes(bool again, bool flagged, int priority)
{
	switch (reclaim_rules->writes) {
	case WRITES_BELOW_10:
		return priority < DEF_PRIORITY - 2;
	case WRITES_FLAGGED:
		return flagged;
	case WRITES_FLAGGED_AGAIN:
		break;
	}
	return again && flagged;
}

/* mmotm went on with any page behind its sleep; memory that a device still reads must not be freed. */
static bool written_by_now(struct folio *folio)
{
	if (!folio_test_writeback(folio))
		return true;
	reclaim_unwritten++;
	return false;
}

/* Case 3: only a folio of a memory cgroup is waited for. */
static bool waits_for_writeback(struct folio *folio, struct scan_control *sc)
{
	if (reclaim_rules->by_pass)
		return !writeback_throttling_sane(sc) && may_enter_fs(folio, sc->gfp_mask);
	return cgroup_reclaim(sc) && sc->gfp_mask & __GFP_IO;
}

/*
 * Waits for a locked folio, and tells whether it can be gone on with. Without __GFP_FS the one who waits may be the one who
 * has yet to submit the write: 2013 could hang there, this waits no longer than a stall does.
 */
static bool waited_for_writeback(struct folio *folio, struct scan_control *sc)
{
	if (may_enter_fs(folio, sc->gfp_mask))
		folio_wait_writeback(folio);
	else
		schedule_timeout_uninterruptible(HZ / 10);
	return !folio_test_writeback(folio);
}

static bool reaches(enum reclaim_share share, unsigned long pages, unsigned long taken,
		    int priority)
{
	switch (share) {
	case SHARE_NEVER:
		break;
	case SHARE_BY_PRIORITY:
		return pages && pages >= taken >> (DEF_PRIORITY - priority);
	case SHARE_ALL:
		return pages && pages == taken;
	}
	return false;
}

/* The end of a list: flags the node, then stalls with nothing held, or the other way round. */
static void decide_list(struct pglist_data *pgdat, struct scan_control *sc,
			const struct reclaim_stat *stat, unsigned long taken)
{
	bool global = !cgroup_reclaim(sc);
	bool congested = global && stat->nr_dirty && stat->nr_dirty == stat->nr_congested;
	bool writeback =
		reaches(reclaim_rules->writeback_share, stat->nr_writeback, taken, sc->priority);
	bool dirty = global && reaches(reclaim_rules->dirty_share, stat->nr_unqueued_dirty, taken,
				       sc->priority);
	bool immediate = global && stat->nr_immediate;

	if (congested)
		set_bit(LRUVEC_CONGESTED, root_lruvec_flags(pgdat));

	if (writeback && reclaim_rules->writeback_stall == STALL_THEN_FLAG)
		wait_iff_congested(pgdat, sc);
	if (writeback && reclaim_rules->flags_writeback)
		set_bit(PGDAT_WRITEBACK, &pgdat->flags);
	if (writeback && reclaim_rules->writeback_stall == FLAG_THEN_STALL)
		wait_iff_congested(pgdat, sc);

	if (dirty && reclaim_rules->dirty_stall == STALL_THEN_FLAG)
		congestion_wait(pgdat, sc);
	if (dirty)
		set_bit(PGDAT_DIRTY, &pgdat->flags);
	if ((dirty || immediate) && reclaim_rules->dirty_stall == FLAG_THEN_STALL)
		congestion_wait(pgdat, sc);

	if (reclaim_rules->naps_by_list && !sc->hibernation_mode && !current_is_kswapd())
		wait_iff_congested(pgdat, sc);
}

/* May direct reclaim nap behind a round over the zones that did not give it enough? */
static bool naps_by_round(struct scan_control *sc)
{
	return !reclaim_rules->naps_by_list && !sc->hibernation_mode && sc->nr_scanned &&
	       sc->priority < DEF_PRIORITY - 2;
}

/* The end of such a round: the flushers are woken, and until series-5 reclaim naps at its first zone. */
static void decide_round(struct zonelist *zonelist, struct scan_control *sc,
			 unsigned long total_scanned)
{
	struct zone *preferred =
		first_zones_zonelist(zonelist, gfp_zone(sc->gfp_mask), &cpuset_current_mems_allowed)
			->zone;

	if (!preferred)
		return;
	if (sc->nr_reclaimed < sc->nr_to_reclaim && !sc->compaction_ready) {
		if (total_scanned > sc->nr_to_reclaim + sc->nr_to_reclaim / 2) {
			wakeup_flusher_threads(WB_REASON_VMSCAN);
			sc->may_writepage = 1;
		}
		if (naps_by_round(sc))
			wait_iff_congested(preferred->zone_pgdat, sc);
	}
}
