// SPDX-License-Identifier: GPL-2.0-or-later
//
// Puts the writeback tags of the swap cache in Linux 6.1 behind the boot parameter swap_tags=: 0, the default, keeps none,
// as since 4.9; 1 keeps them, as before. It is read when a swap device is switched on.
//
//   spatch --sp-file switch.cocci --in-place mm/swap_state.c

@ parameter @
@@
+static bool swap_tags;
+core_param(swap_tags, swap_tags, bool, 0444);
+
 int init_swap_address_space(...) { ... }

@ behind_parameter depends on parameter @
expression space;
@@
-mapping_set_no_writeback_tags(space);
+if (!swap_tags)
+	mapping_set_no_writeback_tags(space);
