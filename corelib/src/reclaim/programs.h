/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reclaim/programs.h - the pages of programs and libraries, which their tasks touch by a clock. */
#ifndef SWAPSIM_RECLAIM_PROGRAMS_H
#define SWAPSIM_RECLAIM_PROGRAMS_H

#include "reclaim/layout.h"

/* Fills memory with the pages of both parts; returns false if they have no room. */
bool sws_reclaim__fill_programs(struct sws_reclaim *self);

/* Runs one part of the programs, by the kind of its actor. */
int sws_reclaim__programs(struct actor *actor);

#endif
