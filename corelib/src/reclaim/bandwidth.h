/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reclaim/bandwidth.h - the write rate of the file, from which the writers' throttling follows. */
#ifndef SWAPSIM_RECLAIM_BANDWIDTH_H
#define SWAPSIM_RECLAIM_BANDWIDTH_H

#include "reclaim/layout.h"

/* Counts pages of the file whose write has completed. Models: bdi_update_write_bandwidth. */
void sws_reclaim__measure(struct sws_reclaim *self, uint32_t pages);

#endif
