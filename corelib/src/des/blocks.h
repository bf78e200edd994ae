/* SPDX-License-Identifier: GPL-2.0-or-later */
/* des/blocks.h - blocks of events in the queue. */
#ifndef SWAPSIM_DES_BLOCKS_H
#define SWAPSIM_DES_BLOCKS_H

#include "des/layout.h"

/* Events that are shifted at once. */
#define BLOCK 32U

/*
 * Shifts blocks of events that are not later than a time, for one more at the end; returns the free
 * place, from which less than a block is left to be shifted.
 */
uint32_t sws_des__shift_blocks(struct sws_des *self, uint32_t end, uint64_t time);

#endif
