/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine/requests.h - what streams ask for, counted beforehand. */
#ifndef SWAPSIM_MACHINE_REQUESTS_H
#define SWAPSIM_MACHINE_REQUESTS_H

#include "swapsim/machine.h"

/* Adds, for each node, the pages of memory that its streams hold at most. */
void sws_machine__stream_pages(const struct sws_machine_config *config, uint64_t *pages);

#endif
