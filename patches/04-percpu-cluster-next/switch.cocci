// SPDX-License-Identifier: GPL-2.0-or-later
//
// Puts the choice of the scan base in Linux 6.1 behind the boot parameter swap_base=, for SSD swap:
//
//   shared              one base a device, runs on linearly from slot 1: Linux before 5.8
//   percpu              one base a CPU, first at random, runs on linearly: the patch as first posted
//   percpu-rerandomise  one base a CPU, anew at random on leaving a trunk: the patch as merged, and the default
//   spread              as percpu, but first at even distances over the possible CPUs
//   avoid               as percpu-rerandomise, but into a trunk where no other online CPU's base is, if there is one
//   permm               as percpu, but one base an address space; kernel threads by CPU
//
// A trunk is the part of the device that one swap-cache mapping serves: 1 << SWAP_ADDRESS_SPACE_SHIFT slots. Every base is
// read once and stored once a call, as in 5.8 to 6.1; swap on rotational devices stays as it is. An address space has one
// base, whatever the number of devices.
//
//   spatch --sp-file switch.cocci --in-place mm/swapfile.c include/linux/mm_types.h kernel/fork.c

@ base_of_mm @
@@
 struct mm_struct {
 	struct {
 		...
+		/* Where the next scan for a swap slot starts, under swap_base=permm; 0: not drawn yet. */
+		unsigned int swap_base;
 	} __randomize_layout;
 	...
 };

@ no_base_of_parent @
identifier mm;
@@
 mm_init(struct mm_struct *mm, ...)
 {
+	mm->swap_base = 0;
 	...
 }

@ policies @
typedef bool;
iterator name for_each_online_cpu;
@@
+enum swap_base_policy {
+	SWAP_BASE_SHARED,
+	SWAP_BASE_PERCPU,
+	SWAP_BASE_PERCPU_RERANDOMISE,
+	SWAP_BASE_SPREAD,
+	SWAP_BASE_AVOID,
+	SWAP_BASE_PERMM,
+};
+
+static const char *swap_base_names[] = {
+	"shared", "percpu", "percpu-rerandomise", "spread", "avoid", "permm",
+};
+
+static int swap_base_policy = SWAP_BASE_PERCPU_RERANDOMISE;
+
+static int swap_base_param_set(const char *name, const struct kernel_param *param)
+{
+	int policy = sysfs_match_string(swap_base_names, name);
+
+	if (policy < 0)
+		return policy;
+	swap_base_policy = policy;
+	return 0;
+}
+
+static int swap_base_param_get(char *buffer, const struct kernel_param *param)
+{
+	return sysfs_emit(buffer, "%s\n", swap_base_names[swap_base_policy]);
+}
+
+static const struct kernel_param_ops swap_base_param = {
+	.set = swap_base_param_set,
+	.get = swap_base_param_get,
+};
+
+__module_param_call("", swap_base, &swap_base_param, NULL, 0444, -1, 0);
+
+/* The base that the current task scans from. Under si->lock, so on one CPU. */
+static unsigned int *swap_base(struct swap_info_struct *si)
+{
+	struct mm_struct *mm = current->mm;
+
+	if (!(si->flags & SWP_SOLIDSTATE) || swap_base_policy == SWAP_BASE_SHARED)
+		return &si->cluster_next;
+	if (swap_base_policy != SWAP_BASE_PERMM || !mm)
+		return this_cpu_ptr(si->cluster_next_cpu);
+	if (!mm->swap_base)
+		mm->swap_base = 1 + prandom_u32_max(si->highest_bit);
+	return &mm->swap_base;
+}
+
+static bool swap_base_runs_on(struct swap_info_struct *si)
+{
+	return !(si->flags & SWP_SOLIDSTATE) ||
+	       (swap_base_policy != SWAP_BASE_PERCPU_RERANDOMISE &&
+		swap_base_policy != SWAP_BASE_AVOID);
+}
+
+/* A CPU whose base is 0 has none yet. */
+static bool swap_base_in_trunk(struct swap_info_struct *si, unsigned int trunk, int but_of)
+{
+	unsigned int base;
+	int cpu;
+
+	for_each_online_cpu(cpu) {
+		base = per_cpu(*si->cluster_next_cpu, cpu);
+		if (cpu != but_of && base && base >> SWAP_ADDRESS_SPACE_SHIFT == trunk)
+			return true;
+	}
+	return false;
+}
+
+/* The first trunk, cyclically from one drawn at random, without another CPU's base; the drawn one if all have some. */
+static unsigned int swap_base_avoid(struct swap_info_struct *si, int for_cpu)
+{
+	unsigned int first = si->lowest_bit >> SWAP_ADDRESS_SPACE_SHIFT;
+	unsigned int trunks = (si->highest_bit >> SWAP_ADDRESS_SPACE_SHIFT) - first + 1;
+	unsigned int drawn = prandom_u32_max(trunks);
+	unsigned int tried;
+
+	for (tried = 0; tried < trunks; tried++) {
+		unsigned int trunk = first + (drawn + tried) % trunks;
+
+		if (!swap_base_in_trunk(si, trunk, for_cpu))
+			return trunk << SWAP_ADDRESS_SPACE_SHIFT;
+	}
+	return (first + drawn) << SWAP_ADDRESS_SPACE_SHIFT;
+}
+
+static unsigned int swap_base_first(struct swap_info_struct *si, int cpu)
+{
+	if (swap_base_policy == SWAP_BASE_SPREAD)
+		return 1 + cpu * (si->highest_bit / num_possible_cpus());
+	if (swap_base_policy == SWAP_BASE_AVOID)
+		return max(swap_base_avoid(si, cpu), si->lowest_bit);
+	return 1 + prandom_u32_max(si->highest_bit);
+}
+
 static bool scan_swap_map_try_ssd_cluster(...) { ... }

@ first_bases @
struct swap_info_struct *p;
identifier cpu;
@@
 per_cpu(*p->cluster_next_cpu, cpu) =
-	1 + prandom_u32_max(p->highest_bit)
+	swap_base_first(p, cpu)
 ;

@ base_after_discard @
struct swap_info_struct *si;
unsigned long *scan_base;
@@
- *scan_base = this_cpu_read(*si->cluster_next_cpu);
+ *scan_base = *swap_base(si);

@ base_of_call @
struct swap_info_struct *si;
identifier scan_base;
@@
-if (si->flags & SWP_SOLIDSTATE)
-	scan_base = this_cpu_read(*si->cluster_next_cpu);
-else
-	scan_base = si->cluster_next;
+scan_base = *swap_base(si);

@ base_after_call @
identifier si, next, prev;
@@
 set_cluster_next(struct swap_info_struct *si, unsigned long next)
 {
+	unsigned int *base = swap_base(si);
 	unsigned long prev;

-	if (!(si->flags & SWP_SOLIDSTATE)) {
-		si->cluster_next = next;
+	if (swap_base_runs_on(si)) {
+		*base = next;
 		return;
 	}

-	prev = this_cpu_read(*si->cluster_next_cpu);
+	prev = *base;
 	...
-	this_cpu_write(*si->cluster_next_cpu, next);
+	*base = next;
 }

@ trunk_of_no_other @
struct swap_info_struct *si;
identifier next;
@@
-next = si->lowest_bit + prandom_u32_max(si->highest_bit - si->lowest_bit + 1);
+if (swap_base_policy == SWAP_BASE_AVOID)
+	next = swap_base_avoid(si, smp_processor_id());
+else
+	next = si->lowest_bit + prandom_u32_max(si->highest_bit - si->lowest_bit + 1);
