/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine/build.h - a machine from its config, and what comes before its first event. */
#ifndef SWAPSIM_MACHINE_BUILD_H
#define SWAPSIM_MACHINE_BUILD_H

#include "machine/layout.h"

enum {
	MACHINE_PART = 256, /* pages or slots of one event of the fill */
};

/* Fills in what the config says; on an error the caller frees. */
int sws_machine__assemble(struct sws_machine *self);

/* How the fill begins. */
void sws_machine__begin_fill(struct sws_machine *self);

/* Fills memory and devices a little further; moves self->fill.phase on. */
int sws_machine__fill(struct sws_machine *self);

/* The same for walkers that dropped pages. */
int sws_machine__fill_and_drop(struct sws_machine *self);

#endif
