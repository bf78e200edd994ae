/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/device.h - an asynchronous device: its channels, its queue, its interrupt.
 *
 *      submit -> [ queue of 128 pages ] -> channels, a page each -> interrupt -> wake the
 *      reader, or end writeback and rotate 15 written pages to their list's tail at once
 */
#ifndef SWAPSIM_MACHINE_DEVICE_H
#define SWAPSIM_MACHINE_DEVICE_H

#include "machine/layout.h"

/* A page goes to the device, or comes for a reader (actor). */
int sws_machine__submit(struct sws_machine *self, struct device *device, uint32_t page,
			uint32_t reader);

/* Must a writer wait until others' pages are written? */
bool sws_machine__is_congested(const struct device *device);

/* What the actor of a device's interrupt does. */
int sws_machine__interrupt(struct actor *actor);

#endif
