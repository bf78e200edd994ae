/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vm/report.h - what a round adds to the counts. */
#ifndef SWAPSIM_RECLAIM_REPORT_H
#define SWAPSIM_RECLAIM_REPORT_H

#include "reclaim/layout.h"

/*
 * At a round's beginning: its counts are all that was counted before. At its end: what was
 * counted since. The one is the other's inverse, so the same is done.
 */
void sws_reclaim__count_round(const struct sws_reclaim *vm, struct sws_reclaim_round *round);

#endif
