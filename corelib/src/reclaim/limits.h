/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vm/limits.h - what follows from a config before a world is made. */
#ifndef SWAPSIM_RECLAIM_LIMITS_H
#define SWAPSIM_RECLAIM_LIMITS_H

#include "swapsim/reclaim.h"

/* Pages of the largest file of all rounds. */
uint32_t sws_reclaim__largest_file(const struct sws_reclaim_config *config);

/* nfs_congestion_kb in pages: above so many under writeback a server is congested. */
uint32_t sws_reclaim__nfs_congestion(const struct sws_reclaim_config *config);

#endif
