/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vm/zones.h - watermarks, the fast way to a page, and what may be dirty. */
#ifndef SWAPSIM_VM_ZONES_H
#define SWAPSIM_VM_ZONES_H

#include "vm/layout.h"

/* Sizes and watermarks of both zones, all of their frames free. */
void sws_vm__make_zones(struct sws_vm *vm);

/* Has a zone more free pages than a mark, for one who may use zones up to a class? */
bool sws_vm__zone_has(const struct sws_vm *vm, uint32_t zone, uint32_t mark, uint32_t class);

/* zone_balanced, pgdat_balanced */
bool sws_vm__is_balanced(const struct sws_vm *vm, uint32_t zone, uint32_t gap, uint32_t class);
bool sws_vm__all_balanced(const struct sws_vm *vm);

uint32_t sws_vm__reclaimable(const struct sws_vm *vm, uint32_t zone);

/* Was it scanned less than six times over since a page of it was freed? */
bool sws_vm__is_reclaimable(const struct sws_vm *vm, uint32_t zone);

/*
 * get_page_from_freelist: from Normal, else from DMA32, down to the low mark, and for a page
 * that will be dirty within the zone's share; VM_NONE if there is none.
 */
uint32_t sws_vm__take_fast(struct sws_vm *vm, bool dirties);

/* The same down to the min mark, whatever is dirty. */
uint32_t sws_vm__take_low(struct sws_vm *vm);

/* Pages that may be dirty before the flusher begins, and before writers are stopped. */
struct vm_limits {
	uint64_t background;
	uint64_t dirty;
};

struct vm_limits sws_vm__limits(const struct sws_vm *vm);

/* Dirty pages, those with them that a server has in its memory alone. */
uint32_t sws_vm__dirty(const struct sws_vm *vm);
uint32_t sws_vm__writeback(const struct sws_vm *vm);

#endif
