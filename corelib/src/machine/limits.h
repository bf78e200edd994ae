/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine/limits.h - does what a config asks for fit, each field and all together? */
#ifndef SWAPSIM_MACHINE_LIMITS_H
#define SWAPSIM_MACHINE_LIMITS_H

#include "machine/layout.h"

/* Each field within its range, and with the others. */
bool sws_machine__config_fits(const struct sws_machine_config *config);

/* Free pages of a node below which tasks reclaim for themselves: a 128th, as of a few GB. */
uint32_t sws_machine__watermark_min(uint32_t frames);

/* Active pages that an inactive one is enough for, in a node of so many frames. */
uint32_t sws_machine__inactive_ratio(uint32_t frames);

/* Do memory and devices have room for what is to be in them, and for what CPUs keep? */
bool sws_machine__has_room(const struct sws_machine *self);

#endif
