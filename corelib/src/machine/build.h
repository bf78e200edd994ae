/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine/build.h - creation of a machine, and its state before the first event. */
#ifndef SWAPSIM_MACHINE_BUILD_H
#define SWAPSIM_MACHINE_BUILD_H

#include "machine/layout.h"

enum {
	/* Pages or slots of one event of the fill. */
	MACHINE_PART = 256,
};

/* Builds the machine from its configuration; on an error the caller frees it. */
int sws_machine__assemble(struct sws_machine *self);

/* Begins the fill. */
void sws_machine__begin_fill(struct sws_machine *self);

/* Fills a part of memory and devices; advances self->fill.phase. */
int sws_machine__fill(struct sws_machine *self);

/* As sws_machine__fill, for walkers that have dropped pages. */
int sws_machine__fill_and_drop(struct sws_machine *self);

#endif
