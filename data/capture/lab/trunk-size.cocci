// SPDX-License-Identifier: GPL-2.0-or-later
//
// Makes the size of a trunk a choice of the kernel's configuration: lab/tree/mm/Kconfig.lab has the option.

@@
@@
-#define SWAP_ADDRESS_SPACE_SHIFT 14
+#define SWAP_ADDRESS_SPACE_SHIFT CONFIG_SWAP_ADDRESS_SPACE_SHIFT
