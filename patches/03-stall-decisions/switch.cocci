// SPDX-License-Identifier: GPL-2.0-or-later
//
// Puts the rules by which reclaim stalls in Linux 6.1 behind the boot parameter reclaim_rules=:
//
//   3.9                     of 2013, before anything was changed
//   mmotm                   with "Reduce system disruption due to kswapd", the base of the series
//   series-1 ... series-8   mmotm and so many patches of the series, in their true order
//   3.11                    the series as it was released
//   6.1                     Linux 6.1 as it is, and the default
//
// The rules themselves, one row a kernel, are in mm/reclaim_rules.h, and when a device is congested, which 6.1 does not know
// any more, is in include/linux/write_congestion.h: both stand in data/capture/lab/tree and are copied into the kernel first.
//
//   spatch --sp-file switch.cocci --in-place mm/vmscan.c include/linux/backing-dev-defs.h block/blk-mq.c block/blk-merge.c
//       fs/nfs/write.c

@ congestion_of_device @
@@
 struct backing_dev_info {
 	...
+	/* Write requests that nobody waits for, and in bit 0 whether they are many: linux/write_congestion.h. */
+	atomic_t async_writes;
+	unsigned long write_congested;
 };

@ header_of_requests @
@@
 #include <trace/events/block.h>
+#include <linux/write_congestion.h>

@ request_begins @
identifier req;
@@
 blk_account_io_start(struct request *req)
 {
 	if (blk_do_io_stat(req)) {
 		...
+		write_request_begins(req);
 	}
 }

@ request_ends @
identifier req;
expression counted;
@@
 blk_account_io_done(struct request *req, ...)
 {
 	if (counted) {
 		...
+		write_request_ends(req);
 	}
 }

@ request_merged @
identifier req;
@@
 blk_account_io_merge_request(struct request *req)
 {
 	if (blk_do_io_stat(req)) {
 		...
+		write_request_ends(req);
 	}
 }

@ header_of_nfs @
@@
 #include <linux/backing-dev.h>
+#include <linux/write_congestion.h>

@ nfs_congested @
identifier inode, nfss;
expression host;
@@
 nfs_set_page_writeback(...)
 {
 	struct inode *inode = host;
 	...
-	if (atomic_long_inc_return(&nfss->writeback) > NFS_CONGESTION_ON_THRESH)
+	if (atomic_long_inc_return(&nfss->writeback) > NFS_CONGESTION_ON_THRESH) {
 		nfss->write_congested = 1;
+		set_write_congested(inode_to_bdi(inode));
+	}
 }

@ nfs_not_congested @
identifier inode, nfss;
expression host;
@@
 nfs_end_page_writeback(...)
 {
 	struct inode *inode = host;
 	...
-	if (atomic_long_dec_return(&nfss->writeback) < NFS_CONGESTION_OFF_THRESH)
+	if (atomic_long_dec_return(&nfss->writeback) < NFS_CONGESTION_OFF_THRESH) {
 		nfss->write_congested = 0;
+		clear_write_congested(inode_to_bdi(inode));
+	}
 }

@ rules @
typedef bool, pg_data_t;
symbol pgdat;
@@
+#include "reclaim_rules.h"
+
 static bool skip_throttle_noprogress(pg_data_t *pgdat) { ... }

@ sleeps_of_2013 @
typedef pg_data_t;
identifier reason, wait;
symbol pgdat;
@@
 reclaim_throttle(pg_data_t *pgdat, enum vmscan_throttle_state reason)
 {
 	...
 	DEFINE_WAIT(wait);
+
+	if (!reclaim_rules->by_pass) {
+		if (reason == VMSCAN_THROTTLE_ISOLATED)
+			congestion_wait(pgdat, NULL);
+		return;
+	}
 	...
 }

@ not_counted_when_met @
identifier folio, mapping;
@@
 folio_check_dirty_writeback(...)
 {
 	...
 	if (
+	    reclaim_rules->counts_late ||
 	    !folio_is_file_lru(folio) || (folio_test_anon(folio) && !folio_test_swapbacked(folio))) {
 		...
 	}
 	...
-	if (mapping && mapping->a_ops->is_dirty_writeback)
+	if (mapping && asks_filesystem(mapping))
 		mapping->a_ops->is_dirty_writeback(...);
 }

@ congested_when_met @
identifier writeback, folio, nr_pages;
symbol stat;
@@
-if (writeback && folio_test_reclaim(folio))
+if (counts_as_congested(device_congested(folio), writeback && folio_test_reclaim(folio)))
 	stat->nr_congested += nr_pages;

@ met_under_writeback @
identifier folio, folio_list, nr_pages;
symbol activate_locked, keep_locked, keep, stat, sc, pgdat;
@@
 if (folio_test_writeback(folio)) {
 	if (
+	    reclaim_rules->case_1 != CASE_1_NEVER &&
 	    current_is_kswapd() && folio_test_reclaim(folio) && test_bit(PGDAT_WRITEBACK, &pgdat->flags)) {
+		if (reclaim_rules->case_1 == CASE_1_SLEEPS_LOCKED) {
+			congestion_wait(pgdat, sc);
+			clear_bit(PGDAT_WRITEBACK, &pgdat->flags);
+			if (written_by_now(folio))
+				goto written;
+			goto keep_locked;
+		}
+		if (reclaim_rules->case_1 == CASE_1_SLEEPS) {
+			folio_unlock(folio);
+			congestion_wait(pgdat, sc);
+			clear_bit(PGDAT_WRITEBACK, &pgdat->flags);
+			goto keep;
+		}
 		stat->nr_immediate += nr_pages;
+		if (reclaim_rules->case_1 == CASE_1_KEEPS)
+			goto keep_locked;
 		goto activate_locked;
 	} else if (
-		   writeback_throttling_sane(sc) || !folio_test_reclaim(folio) || !may_enter_fs(folio, sc->gfp_mask)
+		   !waits_for_writeback(folio, sc) || !folio_test_reclaim(folio)
 		   ) {
 		folio_set_reclaim(folio);
 		stat->nr_writeback += nr_pages;
+		if (!reclaim_rules->by_pass)
+			goto keep_locked;
 		goto activate_locked;
 	} else {
+		if (!reclaim_rules->by_pass) {
+			if (waited_for_writeback(folio, sc))
+				goto written;
+			goto keep_locked;
+		}
 		folio_unlock(folio);
 		folio_wait_writeback(folio);
 		list_add_tail(&folio->lru, folio_list);
 		continue;
 	}
 }
+written:

@ counted_late @
identifier folio, mapping;
symbol stat;
@@
 mapping = folio_mapping(folio);
 if (folio_test_dirty(folio)) {
+	count_late(folio, stat);
 	...
 }

@ may_be_written @
identifier folio, nr_pages;
symbol activate_locked, sc, pgdat;
@@
-if (folio_is_file_lru(folio) &&
-    (!current_is_kswapd() || !folio_test_reclaim(folio) || !test_bit(PGDAT_DIRTY, &pgdat->flags))) {
+if (folio_is_file_lru(folio) &&
+    (!current_is_kswapd() ||
+     !kswapd_writes(folio_test_reclaim(folio), test_bit(PGDAT_DIRTY, &pgdat->flags), sc->priority))) {
 	node_stat_mod_folio(folio, NR_VMSCAN_IMMEDIATE, nr_pages);
 	folio_set_reclaim(folio);
+	if (!reclaim_rules->by_pass)
+		goto keep_locked;
 	goto activate_locked;
 }

@ not_written @
typedef pageout_t;
@@
+static pageout_t count_not_written(pageout_t outcome, struct folio *folio, struct reclaim_stat *stat)
+{
+	if (outcome == PAGE_KEEP && reclaim_rules->congested == CONGESTED_NOT_WRITTEN)
+		stat->nr_congested += folio_nr_pages(folio);
+	return outcome;
+}
+
 may_enter_fs(...) { ... }

@ not_written_counts @
symbol folio, stat, mapping, plug;
@@
-pageout(folio, mapping, &plug)
+count_not_written(pageout(folio, mapping, &plug), folio, stat)

@ isolated @
identifier file, stalled;
symbol pgdat, sc, true;
@@
-while (unlikely(too_many_isolated(pgdat, file, sc))) {
-	if (stalled)
+while (unlikely(too_many_isolated(pgdat, file, sc)) && (reclaim_rules->by_pass || !cgroup_reclaim(sc))) {
+	if (stalled && reclaim_rules->by_pass)
 		return 0;
 	stalled = true;
-	reclaim_throttle(pgdat, VMSCAN_THROTTLE_ISOLATED);
+	if (reclaim_rules->by_pass)
+		reclaim_throttle(pgdat, VMSCAN_THROTTLE_ISOLATED);
+	else
+		congestion_wait(pgdat, sc);
 	...
 }

@ list_ended @
identifier nr_taken, file;
symbol stat, sc, pgdat;
@@
-if (stat.nr_unqueued_dirty == nr_taken) {
+if (reclaim_rules->by_pass && stat.nr_unqueued_dirty == nr_taken) {
 	...
 }
 ...
 if (file)
 	sc->nr.file_taken += nr_taken;
+if (!reclaim_rules->by_pass)
+	decide_list(pgdat, sc, &stat, nr_taken);

@ node_flagged_by_pass @
symbol sc;
@@
 shrink_node(...)
 {
 <...
 if (
+    reclaim_rules->by_pass &&
     current_is_kswapd()) {
 	...
 }
 ...>
 }

@ congested_by_pass @
identifier target_lruvec;
symbol sc;
@@
 if (
+    reclaim_rules->by_pass &&
     (current_is_kswapd() || (cgroup_reclaim(sc) && writeback_throttling_sane(sc))) &&
     sc->nr.dirty && sc->nr.dirty == sc->nr.congested)
 	set_bit(LRUVEC_CONGESTED, &target_lruvec->flags);

@ stall_by_pass @
symbol pgdat;
@@
+if (reclaim_rules->by_pass)
 	reclaim_throttle(pgdat, VMSCAN_THROTTLE_CONGESTED);

@ stall_by_round @
symbol pgdat;
@@
+if (reclaim_rules->by_pass)
 	reclaim_throttle(pgdat, VMSCAN_THROTTLE_NOPROGRESS);

@ round_scanned @
identifier initial_priority;
symbol sc;
@@
 do_try_to_free_pages(...)
 {
 	int initial_priority = sc->priority;
+	unsigned long total_scanned = 0;
 	...
 }

@ round_ended @
identifier zonelist;
symbol sc;
@@
 shrink_zones(zonelist, sc);
+if (!reclaim_rules->by_pass) {
+	total_scanned += sc->nr_scanned;
+	decide_round(zonelist, sc, total_scanned);
+}

@ cgroup_ended @
symbol sc;
@@
 do_try_to_free_pages(...)
 {
 <...
 if (
+    reclaim_rules->by_pass &&
     cgroup_reclaim(sc)) {
 	...
 }
 ...>
 }

@ node_balanced @
symbol pgdat, lruvec;
@@
 clear_pgdat_congested(...)
 {
 	...
 	clear_bit(LRUVEC_CONGESTED, &lruvec->flags);
-	clear_bit(PGDAT_DIRTY, &pgdat->flags);
-	clear_bit(PGDAT_WRITEBACK, &pgdat->flags);
+	if (dirty_until_balanced())
+		clear_bit(PGDAT_DIRTY, &pgdat->flags);
+	if (reclaim_rules->by_pass)
+		clear_bit(PGDAT_WRITEBACK, &pgdat->flags);
 }

@ node_shrunk @
symbol sc, pgdat;
@@
 kswapd_shrink_node(...)
 {
 	...
+	if (reclaim_rules->kswapd_unlimited)
+		sc->nr_to_reclaim = ULONG_MAX;
 	shrink_node(pgdat, sc);
+	if (reclaim_rules->flags_writeback)
+		clear_bit(PGDAT_WRITEBACK, &pgdat->flags);
 	...
 }

@ balanced @
identifier raise_priority, nr_reclaimed;
symbol sc;
@@
+if (reclaim_rules->kswapd_unlimited && sc.nr_reclaimed >= SWAP_CLUSTER_MAX)
+	break;
 if (raise_priority || !nr_reclaimed)
 	sc.priority--;

@ last_priority @
symbol sc;
@@
 sc.priority >=
-	1
+	!reclaim_rules->kswapd_unlimited
