// SPDX-License-Identifier: GPL-2.0-or-later
//
// Writes the events of include/trace/events/removal.h where mm/vmscan.c takes folios out of mappings. Goes in after
// patches/02-batched-removal/switch.cocci, whose functions remove a batch.

@ header @
@@
 #include <trace/events/vmscan.h>
+#include <trace/events/removal.h>

@ removed @
identifier mapping, folio, reclaimed, target_memcg, swap, shadow;
symbol cannot_free;
@@
 __remove_mapping(struct address_space *mapping, struct folio *folio, bool reclaimed, struct mem_cgroup *target_memcg)
 {
 <...
(
+if (reclaimed)
+	trace_removals(mapping, folio, true);
 __delete_from_swap_cache(folio, swap, shadow);
|
+if (reclaimed)
+	trace_removals(mapping, folio, true);
 __filemap_remove_folio(folio, shadow);
|
 cannot_free:
+	if (reclaimed)
+		trace_removals(mapping, folio, false);
 	xa_unlock_irq(&mapping->i_pages);
)
 ...>
 }

@ removed_in_a_batch @
identifier mapping, folio;
statement swapped, removal;
@@
 remove_under_lock(struct address_space *mapping, struct folio *folio, ...)
 {
 	...
+	trace_removals(mapping, folio, true);
 	if (folio_test_swapcache(folio)) swapped else removal
 	...
 }

@ not_removed_in_a_batch @
identifier mapping, folio, gone, failed;
expression target_memcg;
@@
 if (remove_under_lock(mapping, folio, target_memcg))
 	list_move_tail(&folio->lru, &gone);
-else
+else {
+	trace_removals(mapping, folio, false);
 	list_move_tail(&folio->lru, &failed);
+}

@ batch_removed @
identifier nr_removed;
@@
 remove_batch(...)
 {
 	...
+	trace_removal_hold(nr_removed);
 	return nr_removed;
 }

@ list_ended @
identifier nr_reclaimed;
@@
 shrink_folio_list(...)
 {
 	...
+	trace_removal_list(nr_reclaimed);
 	return nr_reclaimed;
 }
