/* SPDX-License-Identifier: GPL-2.0-or-later */
/* des/blocks.c - the shift of many events, for a machine of many CPUs. */
#include "des/blocks.h"

#include <string.h>

uint32_t sws_des__shift_blocks(struct sws_des *self, uint32_t end, uint64_t time)
{
	uint32_t *queue = self->queue;
	uint32_t at = end;

	while (at >= BLOCK && self->cpus[queue[at - BLOCK]].until <= time)
		at -= BLOCK;
	memmove(&queue[at + 1], &queue[at], (end - at) * sizeof(*queue));
	return at;
}
