/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reclaim/limits.h - values that follow from a configuration. */
#ifndef SWAPSIM_RECLAIM_LIMITS_H
#define SWAPSIM_RECLAIM_LIMITS_H

#include "swapsim/reclaim.h"

/* Returns the pages of the largest file of all rounds. */
uint32_t sws_reclaim__largest_file(const struct sws_reclaim_config *config);

/* nfs_congestion_kb in pages: with more pages under writeback the server is congested. */
uint32_t sws_reclaim__nfs_congestion(const struct sws_reclaim_config *config);

#endif
