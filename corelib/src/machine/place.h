/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine/place.h - which CPU an actor is on, as the devices see it. */
#ifndef SWAPSIM_MACHINE_PLACE_H
#define SWAPSIM_MACHINE_PLACE_H

#include "machine/layout.h"

/* On a CPU of its own, when the machine is built. */
void sws_machine__place(struct actor *actor);

/* Before an actor asks for a slot: to another CPU, if it has been on this one for long enough. */
void sws_machine__change_cpu(struct actor *actor);

#endif
