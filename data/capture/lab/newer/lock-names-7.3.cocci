// SPDX-License-Identifier: GPL-2.0-or-later
//
// Names for the locks of swapping in /proc/lock_stat of 7.3, as lock-names.cocci gives them in 6.1: swap_device, swap_cluster,
// and swap_local, the local lock of a CPU's clusters. The swap cache has no lock but the cluster's.

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

@ local_class @
iterator name for_each_possible_cpu;
@@
+static struct lock_class_key swap_local_class;
+
+static void __init name_local_locks(void)
+{
+	int cpu;
+
+	for_each_possible_cpu(cpu)
+		lockdep_set_class_and_name(per_cpu_ptr(&percpu_swap_cluster.lock, cpu), &swap_local_class, "swap_local");
+}
+
 static int __init swapfile_init(void) { ... }

@ local_name @
@@
 static int __init swapfile_init(void)
 {
 	...
+	name_local_locks();
 	return 0;
 }
