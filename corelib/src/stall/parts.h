/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stall/parts.h - functions that the sources of stall.h and stall_replay.h share. */
#ifndef SWAPSIM_STALL_PARTS_H
#define SWAPSIM_STALL_PARTS_H

#include "stall/page.h"

/* check.c: returns the problem of a page's bits. */
enum sws_stall_problem sws_stall__check_page(uint32_t page);

/* check.c: as sws_stall_check, for a known rule set. */
enum sws_stall_problem sws_stall__check_caller(uint8_t caller, uint8_t priority, uint8_t flags);

/* decide.c: runs the program of a place; the context and the counts have been checked. */
void sws_stall__decide(const struct sws_stall_context *context, enum sws_stall_place place,
		       const struct sws_stall_counts *counts, struct sws_stall_decision *decision);

#endif
