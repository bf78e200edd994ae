// SPDX-License-Identifier: GPL-2.0-or-later
//
// Writes the events of include/trace/events/reclaim.h where mm/reclaim_rules.h decides as the kernels of 2013 did, and where
// mm/vmscan.c asks it to. Goes in after reclaim-events.cocci, which numbers passes and lists.

@ stall_told @
@@
+static void tell_stall(struct pglist_data *pgdat, struct scan_control *sc, int reason, u8 flags, int devices, long slept)
+{
+	struct reclaim_sleep sleep = { .congested_devices = devices, .flags = flags };
+
+	if (sc)
+		reclaim_asks(&sc->asker, reason);
+	trace_throttles(pgdat, reason, slept < 0 ? 0 : jiffies_to_usecs(HZ / 10), slept < 0 ? 0 : jiffies_to_usecs(slept), &sleep);
+}
+
 static void congestion_wait(...) { ... }

@ slept @
symbol pgdat, sc;
@@
 congestion_wait(...)
 {
+	u8 flags = reclaim_flags(pgdat, NULL);
+	int devices = atomic_read(&write_congested_devices);
+
-	sleep_until_written();
+	tell_stall(pgdat, sc, RECLAIM_CONGESTION_WAIT, flags, devices, HZ / 10 - sleep_until_written());
 }

@ slept_or_declined @
identifier flagged;
symbol pgdat, sc;
@@
 wait_iff_congested(...)
 {
 	bool flagged = ...;
+	int devices = atomic_read(&write_congested_devices);
+	u8 flags = reclaim_node_flags(pgdat) | (flagged ? RECLAIM_FLAG_CONGESTED : 0);
+	long slept = -1;

-	if (flagged && atomic_read(&write_congested_devices))
-		sleep_until_written();
+	if (flagged && devices)
+		slept = HZ / 10 - sleep_until_written();
 	else
 		cond_resched();
+	tell_stall(pgdat, sc, RECLAIM_WAIT_IFF_CONGESTED, flags, devices, slept);
 }

@ device_asked @
@@
 counts_as_congested(bool device, bool again
+		    , struct reclaim_way *way
 		    )
 {
 <...
(
+way->device = device;
 return device;
|
+way->device = device;
 return device || again;
)
 ...>
 }

@ device_of_this @
expression device, again;
@@
 counts_as_congested(device, again
+		    , &way
 		    )

@ list_flags_node @
symbol pgdat, sc;
@@
 decide_list(...)
 {
 <...
(
 set_bit(LRUVEC_CONGESTED, root_lruvec_flags(pgdat));
+sc->asker.flags_set |= RECLAIM_FLAG_CONGESTED;
|
 set_bit(PGDAT_WRITEBACK, &pgdat->flags);
+sc->asker.flags_set |= RECLAIM_FLAG_WRITEBACK;
|
 set_bit(PGDAT_DIRTY, &pgdat->flags);
+sc->asker.flags_set |= RECLAIM_FLAG_DIRTY;
)
 ...>
 }

@ round_told @
symbol preferred, sc;
@@
 decide_round(...)
 {
 <...
 if (sc->nr_reclaimed < sc->nr_to_reclaim && !sc->compaction_ready) { ... }
+trace_reclaim_rounds(preferred->zone_pgdat, sc);
+sc->asker.throttle = 0;
 ...>
 }

@ round_not_told_twice @
expression pgdat, sc;
@@
 shrink_zones(...)
 {
 <...
+if (reclaim_rules->by_pass)
 	trace_reclaim_rounds(pgdat, sc);
 ...>
 }

@ kept_by_case_1 @
symbol keep_locked, written, way;
identifier folio;
@@
 if (written_by_now(folio))
 	goto written;
+way.step = RECLAIM_AT_WRITEBACK_1;
 goto keep_locked;

@ kept_by_case_3 @
symbol keep_locked, written, way;
identifier folio, sc;
@@
 if (waited_for_writeback(folio, sc))
 	goto written;
+way.step = RECLAIM_AT_REMOVE;
 goto keep_locked;

@ unlocked_by_case_1 @
symbol way;
identifier folio, pgdat, sc;
@@
 folio_unlock(folio);
+way.step = RECLAIM_AT_WRITEBACK_1;
 congestion_wait(pgdat, sc);

@ cleared_by_case_1 @
symbol pgdat, sc;
@@
 congestion_wait(pgdat, sc);
 clear_bit(PGDAT_WRITEBACK, &pgdat->flags);
+trace_reclaim_clears(pgdat, NULL, RECLAIM_FLAG_WRITEBACK, RECLAIM_IMMEDIATE);

@ cleared_behind_a_node @
symbol pgdat;
@@
 kswapd_shrink_node(...)
 {
 <...
 clear_bit(PGDAT_WRITEBACK, &pgdat->flags);
+trace_reclaim_clears(pgdat, NULL, RECLAIM_FLAG_WRITEBACK, RECLAIM_SHRUNK);
 ...>
 }

@ cleared_in_balance @
symbol pgdat;
@@
-RECLAIM_FLAG_DIRTY | RECLAIM_FLAG_WRITEBACK | RECLAIM_FLAG_CONGESTED
+RECLAIM_FLAG_CONGESTED | (dirty_until_balanced() ? RECLAIM_FLAG_DIRTY : 0) | (reclaim_rules->by_pass ? RECLAIM_FLAG_WRITEBACK : 0)

@ not_asked_by_pass @
symbol sc, target_lruvec;
@@
-reclaim_congested(&sc->asker, target_lruvec)
+(reclaim_rules->by_pass && reclaim_congested(&sc->asker, target_lruvec))
