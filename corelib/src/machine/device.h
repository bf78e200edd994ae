/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/device.h - an asynchronous device: its channels, its queue, its interrupt.
 *
 *      submit -> [ queue of 128 pages ] -> channels, a page each -> interrupt -> wakes the
 *      reader, or ends writeback and rotates 15 written pages to the tail of their list
 */
#ifndef SWAPSIM_MACHINE_DEVICE_H
#define SWAPSIM_MACHINE_DEVICE_H

#include "machine/layout.h"

/* Submits a page: a read for a reader (an actor), or a write. */
int sws_machine__submit(struct sws_machine *self, struct device *device, uint32_t page,
			uint32_t reader);

/* Returns true if a writer has to wait for the writes of others. */
bool sws_machine__is_congested(const struct device *device);

/* Runs the actor of a device's interrupt. */
int sws_machine__interrupt(struct actor *actor);

#endif
