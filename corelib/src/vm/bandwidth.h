/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vm/bandwidth.h - how fast the file is written, by which writers are throttled. */
#ifndef SWAPSIM_VM_BANDWIDTH_H
#define SWAPSIM_VM_BANDWIDTH_H

#include "vm/layout.h"

/* Pages of the file were written just now. Models: bdi_update_write_bandwidth. */
void sws_vm__measure(struct sws_vm *vm, uint32_t pages);

#endif
