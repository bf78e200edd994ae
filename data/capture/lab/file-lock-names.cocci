// SPDX-License-Identifier: GPL-2.0-or-later
//
// Gives the xa_lock of each inode's mapping the name file_cache in /proc/lock_stat, where every xarray of Linux that is
// made in this way is called &xa->xa_lock.

@@
identifier mapping;
@@
 static void __address_space_init_once(struct address_space *mapping)
 {
+	static struct lock_class_key file_cache_class;
+
 	xa_init_flags(&mapping->i_pages, XA_FLAGS_LOCK_IRQ | XA_FLAGS_ACCOUNT);
+	lockdep_set_class_and_name(&mapping->i_pages.xa_lock, &file_cache_class, "file_cache");
 	...
 }
