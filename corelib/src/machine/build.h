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

/* limits.c: checks of a configuration, field by field and in combination. */

/* Returns true if each field is within its range, and consistent with the others. */
bool sws_machine__config_fits(const struct sws_machine_config *config);

/*
 * Returns the free pages of a node below which tasks reclaim for themselves: a 128th of it, as with
 * a few GB.
 */
uint32_t sws_machine__watermark_min(uint32_t frames);

/* Returns the number of active pages per inactive page, in a node of so many frames. */
uint32_t sws_machine__inactive_ratio(uint32_t frames);

/* Returns true if memory and devices have room for their contents and for what CPUs hold. */
bool sws_machine__has_room(const struct sws_machine *self);

/* Adds for each node the maximum number of pages of memory that its streams hold. */
void sws_machine__stream_pages(const struct sws_machine_config *config, uint64_t *pages);

/* Returns the table of enum sws_machine_site. */
const struct engine_site *sws_machine__sites(void);

#endif
