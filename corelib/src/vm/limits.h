/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vm/limits.h - what follows from a config before a world is made. */
#ifndef SWAPSIM_VM_LIMITS_H
#define SWAPSIM_VM_LIMITS_H

#include "swapsim/vm.h"

/* Pages of the largest file of all rounds. */
uint32_t sws_vm__largest_file(const struct sws_vm_config *config);

/* nfs_congestion_kb in pages: above so many under writeback a server is congested. */
uint32_t sws_vm__nfs_congestion(const struct sws_vm_config *config);

#endif
