/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reclaim/report.h - the contribution of a round to the counts. */
#ifndef SWAPSIM_RECLAIM_REPORT_H
#define SWAPSIM_RECLAIM_REPORT_H

#include "reclaim/layout.h"

/*
 * At the beginning of a round stores the counts; at its end stores their increase. Each call
 * computes the counts minus the stored values, so one function does both.
 */
void sws_reclaim__count_round(const struct sws_reclaim *self, struct sws_reclaim_round *round);

#endif
