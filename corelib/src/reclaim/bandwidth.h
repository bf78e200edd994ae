/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vm/bandwidth.h - how fast the file is written, by which writers are throttled. */
#ifndef SWAPSIM_RECLAIM_BANDWIDTH_H
#define SWAPSIM_RECLAIM_BANDWIDTH_H

#include "reclaim/layout.h"

/* Pages of the file were written just now. Models: bdi_update_write_bandwidth. */
void sws_reclaim__measure(struct sws_reclaim *vm, uint32_t pages);

#endif
