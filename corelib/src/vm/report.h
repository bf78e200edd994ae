/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vm/report.h - what a round adds to the counts. */
#ifndef SWAPSIM_VM_REPORT_H
#define SWAPSIM_VM_REPORT_H

#include "vm/layout.h"

/*
 * At a round's beginning: its counts are all that was counted before. At its end: what was
 * counted since. The one is the other's inverse, so the same is done.
 */
void sws_vm__count_round(const struct sws_vm *vm, struct sws_vm_round *round);

#endif
