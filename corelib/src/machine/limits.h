/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine/limits.h - checks of a configuration, field by field and in combination. */
#ifndef SWAPSIM_MACHINE_LIMITS_H
#define SWAPSIM_MACHINE_LIMITS_H

#include "machine/layout.h"

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

#endif
