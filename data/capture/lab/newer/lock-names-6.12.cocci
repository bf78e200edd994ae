// SPDX-License-Identifier: GPL-2.0-or-later
//
// Names for the locks of swapping in /proc/lock_stat of 6.12, as lock-names.cocci gives them in 6.1: swap_cache, swap_device,
// swap_cluster.

@ cache_class @
@@
+static struct lock_class_key swap_cache_class;
+
 int init_swap_address_space(...) { ... }

@ cache_name @
struct address_space *space;
@@
 xa_init_flags(&space->i_pages, XA_FLAGS_LOCK_IRQ);
+lockdep_set_class_and_name(&space->i_pages.xa_lock, &swap_cache_class, "swap_cache");

@ device_classes @
@@
+static struct lock_class_key swap_device_class;
+static struct lock_class_key swap_cluster_class;
+
 static struct swap_info_struct *alloc_swap_info(void) { ... }

@ device_name @
struct swap_info_struct *p;
@@
 spin_lock_init(&p->lock);
+lockdep_set_class_and_name(&p->lock, &swap_device_class, "swap_device");

@ cluster_name @
struct swap_cluster_info *cluster_info;
identifier i;
@@
 spin_lock_init(&cluster_info[i].lock);
+lockdep_set_class_and_name(&cluster_info[i].lock, &swap_cluster_class, "swap_cluster");
