/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine/place.h - the slot CPU of an actor, as the devices see it. */
#ifndef SWAPSIM_MACHINE_PLACE_H
#define SWAPSIM_MACHINE_PLACE_H

#include "machine/layout.h"

/* Places an actor on its own CPU, when the machine is built. */
void sws_machine__place(struct actor *actor);

/* Moves an actor that requests a slot to another CPU if it has been on this one for long enough. */
void sws_machine__change_cpu(struct actor *actor);

#endif
