// SPDX-License-Identifier: GPL-2.0-or-later
//
// Writes the events of include/trace/events/reclaim.h where mm/vmscan.c takes folios from a list, adds up what it met, and asks
// for sleeps. Goes in after the switches of patches/ and after removal-events.cocci. Only shrink_inactive_list numbers a list:
// other callers of shrink_folio_list leave no rows.

@ header @
@@
 #include <trace/events/removal.h>
+#include <linux/reclaim_events.h>

@ asker @
@@
 struct scan_control {
 	...
+	struct reclaim_asker asker;
 };

@ events @
@@
+#include <trace/events/reclaim.h>
+
+static atomic64_t reclaim_last_pass;
+static atomic64_t reclaim_last_list;
+
+static void reclaim_asks(struct reclaim_asker *asker, enum vmscan_throttle_state reason)
+{
+	asker->throttle = reason + 1;
+	trace_throttle_askers(asker);
+}
+
 int vm_swappiness = 60;

@ way_begins @
@@
 shrink_folio_list(...)
 {
 <...
(
 struct folio *folio;
+struct reclaim_way way;
|
 list_del(&folio->lru);
+reclaim_way_begins(&way, folio);
|
 nr_pages = folio_nr_pages(folio);
+reclaim_way_locked(&way, folio);
)
 ...>
 }

@ own_flags @
typedef bool;
identifier folio, dirty, writeback;
@@
 folio_check_dirty_writeback(struct folio *folio, bool *dirty, bool *writeback
+			     , struct reclaim_way *way
 			     )
 {
 <...
(
 *writeback = folio_test_writeback(folio);
+reclaim_way_accounted(way, *dirty, *writeback);
|
 mapping->a_ops->is_dirty_writeback(folio, dirty, writeback);
+reclaim_way_answered(way, mapping, *dirty, *writeback);
)
 ...>
 }

@ private_data @
@@
 folio_check_dirty_writeback(...)
 {
 <...
-folio_test_private(folio)
+reclaim_way_private(way, folio)
 ...>
 }

@ accounted @
expression dirty, writeback;
@@
 folio_check_dirty_writeback(folio, dirty, writeback
+			     , &way
 			     )

@ step_before_a_test @
statement anon, other;
@@
 shrink_folio_list(...)
 {
 <...
(
+way.step = RECLAIM_AT_MAPPED;
 if (!sc->may_unmap && folio_mapped(folio)) goto keep_locked;
|
+way.step = RECLAIM_AT_SWAP;
 if (folio_test_anon(folio) && folio_test_swapbacked(folio)) anon else other
|
+way.step = RECLAIM_AT_PINNED;
 if (folio_maybe_dma_pinned(folio)) goto activate_locked;
|
+way.step = RECLAIM_AT_RELEASE;
 if (folio_needs_release(folio)) { ... }
|
+way.step = RECLAIM_AT_REMOVE;
 if (folio_test_anon(folio) && !folio_test_swapbacked(folio)) anon else other
|
+way.step = RECLAIM_AT_NO_WRITE;
 if (references == FOLIOREF_RECLAIM_CLEAN) goto keep_locked;
)
 ...>
 }

@ step_with_a_count @
@@
 shrink_folio_list(...)
 {
 <...
(
+way.step = RECLAIM_AT_WRITEBACK_1;
 stat->nr_immediate += nr_pages;
|
+way.step = RECLAIM_AT_WRITEBACK_2;
 stat->nr_writeback += nr_pages;
|
+way.step = RECLAIM_AT_UNMAP;
 stat->nr_unmap_fail += nr_pages;
|
+way.step = RECLAIM_AT_REFERENCE_KEEP;
 stat->nr_ref_keep += nr_pages;
|
+way.step = RECLAIM_AT_DIRTY;
 node_stat_mod_folio(folio, NR_VMSCAN_IMMEDIATE, nr_pages);
|
+way.step = RECLAIM_AT_PAGEOUT_KEEP;
 try_to_unmap_flush_dirty();
|
+way.step = RECLAIM_AT_WRITTEN;
+way.outcome = RECLAIM_WRITTEN;
+way.clean = false;
 stat->nr_pageout += nr_pages;
)
 ...>
 }

@ came_back_clean @
@@
 if (folio_test_dirty(folio) || folio_test_writeback(folio))
 	goto keep_locked;
+way.outcome = RECLAIM_KEPT;
+way.clean = true;
 mapping = folio_mapping(folio);

@ as_read_by_the_cases @
@@
-if (folio_test_writeback(folio)) {
+if (reclaim_way_cases(&way, folio, pgdat)) {
 	...
 }

@ as_read @
@@
 shrink_folio_list(...)
 {
 <...
(
-folio_test_reclaim(folio)
+reclaim_way_marked(&way, folio)
|
-test_bit(PGDAT_WRITEBACK, &pgdat->flags)
+reclaim_way_node(&way, pgdat, RECLAIM_FLAG_WRITEBACK)
|
-test_bit(PGDAT_DIRTY, &pgdat->flags)
+reclaim_way_node(&way, pgdat, RECLAIM_FLAG_DIRTY)
)
 ...>
 }

@ way_ends @
@@
 shrink_folio_list(...)
 {
 <...
(
+way.step = RECLAIM_AT_WRITEBACK_3;
+trace_reclaim_folios(sc->asker.list, &way, nr_pages);
 folio_unlock(folio);
 folio_wait_writeback(folio);
|
+way.step = RECLAIM_AT_DEMOTE;
+trace_reclaim_folios(sc->asker.list, &way, nr_pages);
 list_add(&folio->lru, &demote_folios);
|
+way.step = RECLAIM_AT_FREED;
+way.outcome = RECLAIM_RECLAIMED;
+trace_reclaim_folios(sc->asker.list, &way, nr_pages);
 nr_reclaimed += nr_pages;
|
+way.outcome = RECLAIM_ACTIVATED;
 stat->nr_activate[type] += nr_pages;
|
+reclaim_way_turned_away(&way);
 if (folio_test_swapcache(folio) && (mem_cgroup_swap_full(folio) || folio_test_mlocked(folio)))
 	folio_free_swap(folio);
|
+trace_reclaim_folios(sc->asker.list, &way, folio_nr_pages(folio));
 list_add(&folio->lru, &ret_folios);
)
 ...>
 }

@ list_begins @
@@
 shrink_inactive_list(...)
 {
 <...
+sc->asker.list = reclaim_next(&reclaim_last_list);
+sc->asker.list_scanned = sc->nr_scanned;
+sc->asker.list_flags = reclaim_flags(pgdat, sc->target_mem_cgroup);
+sc->asker.flags_set = 0;
 nr_reclaimed = shrink_folio_list(&folio_list, pgdat, sc, &stat, false);
 ...>
 }

@ list_ends @
@@
 shrink_inactive_list(...)
 {
 	...
+	trace_reclaim_lists(sc, &stat, lruvec, file, nr_taken, nr_reclaimed, writeback_throttling_sane(sc));
+	sc->asker.list = 0;
+	sc->asker.flags_set = 0;
 	return nr_reclaimed;
 }

@ pass_begins @
@@
 shrink_node(...)
 {
 <...
(
 nr_scanned = sc->nr_scanned;
+sc->asker.pass = reclaim_next(&reclaim_last_pass);
+sc->asker.pass_scanned = nr_scanned;
+sc->asker.pass_reclaimed = nr_reclaimed;
+sc->asker.pass_flags = reclaim_flags(pgdat, sc->target_mem_cgroup);
+sc->asker.congested = RECLAIM_UNASKED;
+sc->asker.flags_set = 0;
|
 shrink_node_memcgs(pgdat, sc);
+sc->asker.throttle = 0;
)
 ...>
 }

@ pass_ends @
@@
 shrink_node(...)
 {
 <...
+trace_reclaim_passes(pgdat, sc, current_may_throttle(), writeback_throttling_sane(sc));
+sc->asker.throttle = 0;
 if (should_continue_reclaim(...)) goto again;
 ...>
 }

@ node_flag_set @
identifier f;
@@
 f(..., struct scan_control *sc, ...)
 {
 <...
(
 set_bit(PGDAT_DIRTY, &pgdat->flags);
+sc->asker.flags_set |= RECLAIM_FLAG_DIRTY;
|
 set_bit(PGDAT_WRITEBACK, &pgdat->flags);
+sc->asker.flags_set |= RECLAIM_FLAG_WRITEBACK;
|
 set_bit(LRUVEC_CONGESTED, &target_lruvec->flags);
+sc->asker.flags_set |= RECLAIM_FLAG_CONGESTED;
)
 ...>
 }

@ test_of_direct_reclaim @
@@
 shrink_node(...)
 {
 <...
-test_bit(LRUVEC_CONGESTED, &target_lruvec->flags)
+reclaim_congested(&sc->asker, target_lruvec)
 ...>
 }

@ asked @
identifier f;
@@
 f(..., struct scan_control *sc, ...)
 {
 <...
(
+reclaim_asks(&sc->asker, VMSCAN_THROTTLE_WRITEBACK);
 reclaim_throttle(pgdat, VMSCAN_THROTTLE_WRITEBACK);
|
+reclaim_asks(&sc->asker, VMSCAN_THROTTLE_ISOLATED);
 reclaim_throttle(pgdat, VMSCAN_THROTTLE_ISOLATED);
|
+reclaim_asks(&sc->asker, VMSCAN_THROTTLE_NOPROGRESS);
 reclaim_throttle(pgdat, VMSCAN_THROTTLE_NOPROGRESS);
|
+reclaim_asks(&sc->asker, VMSCAN_THROTTLE_CONGESTED);
 reclaim_throttle(pgdat, VMSCAN_THROTTLE_CONGESTED);
)
 ...>
 }

@ round_ends @
@@
 shrink_zones(...)
 {
 <...
(
+sc->asker.pass = 0;
 orig_mask = sc->gfp_mask;
|
-if (first_pgdat)
+if (first_pgdat) {
 	consider_reclaim_throttle(first_pgdat, sc);
+	trace_reclaim_rounds(first_pgdat, sc);
+	sc->asker.throttle = 0;
+}
)
 ...>
 }

@ progress @
typedef pg_data_t;
@@
 skip_throttle_noprogress(pg_data_t *pgdat
+			  , struct reclaim_sleep *sleep
 			  )
 {
 <...
-pgdat->kswapd_failures >= MAX_RECLAIM_RETRIES
+(sleep->failures = pgdat->kswapd_failures) >= MAX_RECLAIM_RETRIES
 ...>
 }

@ progress_counted @
@@
 skip_throttle_noprogress(...)
 {
 <...
+sleep->reclaimable = reclaimable;
+sleep->write_pending = write_pending;
 if (2 * write_pending <= reclaimable) return true;
 ...>
 }

@ sleep @
@@
 void reclaim_throttle(pg_data_t *pgdat, enum vmscan_throttle_state reason)
 {
+	struct reclaim_sleep sleep = { .congested_devices = RECLAIM_UNASKED, .flags = RECLAIM_UNASKED };
 	wait_queue_head_t *wqh = &pgdat->reclaim_wait[reason];
 <...
(
+trace_throttles(pgdat, reason, 0, 0, &sleep);
 cond_resched();
 return;
|
 trace_mm_vmscan_throttled(...);
+trace_throttles(pgdat, reason, jiffies_to_usecs(timeout), jiffies_to_usecs(timeout - ret), &sleep);
)
 ...>
 }

@ asked_for_progress @
@@
 skip_throttle_noprogress(pgdat
+			  , &sleep
 			  )

@ no_kernel_thread @
@@
 reclaim_throttle(...)
 {
 <...
-if (!current_is_kswapd() && current->flags & (PF_IO_WORKER|PF_KTHREAD)) {
+sleep.kthread = !current_is_kswapd() && current->flags & (PF_IO_WORKER|PF_KTHREAD);
+if (sleep.kthread) {
 	...
 }
 ...>
 }

@ balanced @
@@
 clear_pgdat_congested(pg_data_t *pgdat)
 {
 	...
 	clear_bit(LRUVEC_CONGESTED, &lruvec->flags);
 	...
+	trace_reclaim_clears(pgdat, NULL, RECLAIM_FLAG_DIRTY | RECLAIM_FLAG_WRITEBACK | RECLAIM_FLAG_CONGESTED, RECLAIM_BALANCED);
 }

@ direct_reclaim_ended @
@@
 do_try_to_free_pages(...)
 {
 <...
 clear_bit(LRUVEC_CONGESTED, &lruvec->flags);
+trace_reclaim_clears(zone->zone_pgdat, sc->target_mem_cgroup, RECLAIM_FLAG_CONGESTED, RECLAIM_DIRECT);
 ...>
 }
