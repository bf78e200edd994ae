/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine/sites.h - the call sites of locks: names, and whether interrupts are off. */
#ifndef SWAPSIM_MACHINE_SITES_H
#define SWAPSIM_MACHINE_SITES_H

#include "engine/engine.h"

/* Returns the table of enum sws_machine_site. */
const struct engine_site *sws_machine__sites(void);

#endif
