/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine/requests.h - properties of the requests of streams, computed in advance. */
#ifndef SWAPSIM_MACHINE_REQUESTS_H
#define SWAPSIM_MACHINE_REQUESTS_H

#include "swapsim/machine.h"

/* Adds for each node the maximum number of pages of memory that its streams hold. */
void sws_machine__stream_pages(const struct sws_machine_config *config, uint64_t *pages);

#endif
