// SPDX-License-Identifier: GPL-2.0-or-later
//
// Puts batched removal in Linux 6.1 behind the boot parameter batched_removal=: 0, the default, removes a folio of
// shrink_folio_list from its mapping as soon as it can go, under a hold of the mapping's lock of its own; 1 puts it aside, still
// locked, and removes all folios of a list behind the loop, under one hold per mapping.
//
//   spatch --sp-file switch.cocci --in-place mm/vmscan.c

@ removal_of_a_batch @
typedef bool, swp_entry_t;
iterator name list_for_each_entry_safe;
declarer name LIST_HEAD;
@@
+static bool batched_removal;
+core_param(batched_removal, batched_removal, bool, 0444);
+
+/* What __remove_mapping() does between taking the lock of the mapping and dropping it. */
+static bool remove_under_lock(struct address_space *mapping, struct folio *folio,
+			      struct mem_cgroup *target_memcg)
+{
+	int refcount = 1 + folio_nr_pages(folio);
+	void *shadow = NULL;
+
+	if (!folio_ref_freeze(folio, refcount))
+		return false;
+	if (unlikely(folio_test_dirty(folio))) {
+		folio_ref_unfreeze(folio, refcount);
+		return false;
+	}
+	if (folio_test_swapcache(folio)) {
+		swp_entry_t swap = folio_swap_entry(folio);
+
+		if (!mapping_exiting(mapping))
+			shadow = workingset_eviction(folio, target_memcg);
+		mem_cgroup_swapout(folio, swap);
+		__delete_from_swap_cache(folio, swap, shadow);
+		/* Its slot is freed when the lock is dropped: deletion forgets which one it is. */
+		folio_set_swap_entry(folio, swap);
+	} else {
+		if (folio_is_file_lru(folio) && !mapping_exiting(mapping) && !dax_mapping(mapping))
+			shadow = workingset_eviction(folio, target_memcg);
+		__filemap_remove_folio(folio, shadow);
+	}
+	return true;
+}
+
+/*
+ * The first folio of a batch fixes the mapping, and one hold of its lock removes all folios of that mapping; those of others
+ * stay for the next call. All are locked, none has a lock when it leaves. Returns how many pages were removed.
+ */
+static unsigned int remove_batch(struct list_head *batch, struct list_head *free_folios,
+				 struct list_head *ret_folios, struct mem_cgroup *target_memcg)
+{
+	struct folio *folio = list_first_entry(batch, struct folio, lru);
+	struct address_space *mapping = folio_mapping(folio);
+	void (*free_folio)(struct folio *) = mapping->a_ops->free_folio;
+	bool swapcache = folio_test_swapcache(folio);
+	unsigned int nr_removed = 0;
+	struct folio *next;
+	LIST_HEAD(removed);
+	LIST_HEAD(failed);
+
+	if (!swapcache)
+		spin_lock(&mapping->host->i_lock);
+	xa_lock_irq(&mapping->i_pages);
+	list_for_each_entry_safe(folio, next, batch, lru) {
+		BUG_ON(!folio_test_locked(folio));
+		if (folio_mapping(folio) != mapping)
+			continue;
+		if (remove_under_lock(mapping, folio, target_memcg))
+			list_move_tail(&folio->lru, &removed);
+		else
+			list_move_tail(&folio->lru, &failed);
+	}
+	xa_unlock_irq(&mapping->i_pages);
+	if (!swapcache) {
+		if (mapping_shrinkable(mapping))
+			inode_add_lru(mapping->host);
+		spin_unlock(&mapping->host->i_lock);
+	}
+
+	list_for_each_entry_safe(folio, next, &removed, lru) {
+		if (swapcache) {
+			swp_entry_t swap = folio_swap_entry(folio);
+
+			folio->private = NULL;
+			put_swap_folio(folio, swap);
+		} else if (free_folio) {
+			free_folio(folio);
+		}
+		folio_unlock(folio);
+		nr_removed += folio_nr_pages(folio);
+		list_del(&folio->lru);
+		if (unlikely(folio_test_large(folio))) {
+			try_to_unmap_flush();
+			destroy_large_folio(folio);
+		} else {
+			list_add(&folio->lru, free_folios);
+		}
+	}
+	list_for_each_entry_safe(folio, next, &failed, lru) {
+		folio_unlock(folio);
+		list_move(&folio->lru, ret_folios);
+	}
+	return nr_removed;
+}
+
 static unsigned int shrink_folio_list(...) { ... }

@ aside @
declarer name LIST_HEAD;
symbol demote_folios;
@@
 LIST_HEAD(demote_folios);
+LIST_HEAD(removals);

@ put_aside depends on aside @
identifier mapping, folio;
symbol true, keep_locked, sc;
@@
-if (!mapping || !__remove_mapping(mapping, folio, true, sc->target_mem_cgroup))
-	goto keep_locked;
+if (mapping && batched_removal) {
+	list_add(&folio->lru, &removals);
+	continue;
+} else if (!mapping || !__remove_mapping(mapping, folio, true, sc->target_mem_cgroup))
+	goto keep_locked;

@ removed_behind_the_loop depends on put_aside @
identifier nr_reclaimed;
@@
 shrink_folio_list(...)
 {
 	<...
+	while (!list_empty(&removals))
+		nr_reclaimed += remove_batch(&removals, &free_folios, &ret_folios, sc->target_mem_cgroup);
 	nr_reclaimed += demote_folio_list(...);
 	...>
 }
