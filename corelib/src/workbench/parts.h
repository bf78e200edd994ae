/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * workbench/parts.h - what the sources of slot_workbench.h share: the pages
 * that are swapped out, by address space, and the counting of measures.
 */
#ifndef SWAPSIM_SLOT_WORKBENCH_PARTS_H
#define SWAPSIM_SLOT_WORKBENCH_PARTS_H

#include "swapsim/slot_workbench.h"

/*
 * Which address space each page out belongs to, so that any of its pages can be picked with the
 * same chance. A slot's owner stands in 0, 1, 2, 4 or 8 bits; where they stand is looked up in
 * counts a block, kept as a Fenwick tree an address space.
 */
struct workbench_pages {
	const struct sws_slots *device;
	uint8_t *
		owners; /* packed; NULL for one address space. Of a slot without a page out: anything */
	uint64_t *counts; /* pages out, an address space */
	uint32_t *trees; /* a tree of n_blocks + 1 each; NULL until the first churn */
	uint64_t out; /* pages out, of all */
	uint32_t slots;
	uint32_t spaces;
	uint32_t blocks;
	uint32_t block_shift;
	uint32_t bits_shift; /* log2 of the bits of an owner */
	bool indexed; /* the trees are up to date */
};

int sws_workbench__pages_new(const struct sws_allocator *allocator, const struct sws_slots *device,
			     uint32_t slots, uint32_t spaces, struct workbench_pages *self);
void sws_workbench__pages_free(const struct sws_allocator *allocator, struct workbench_pages *self);

/* A page of this address space is out in the slot, whose map byte is 1; and no longer. */
void sws_workbench__page_out(struct workbench_pages *self, uint32_t space, uint32_t slot);
void sws_workbench__page_in(struct workbench_pages *self, uint32_t space, uint32_t slot);

/* Is a page out in the slot, and no longer in the swap cache? */
bool sws_workbench__is_out(const struct workbench_pages *self, uint32_t slot);

/* Whose; of a slot with a page out. */
uint32_t sws_workbench__owner(const struct workbench_pages *self, uint32_t slot);

/* Counts the blocks from slot from to slot to - 1 anew; from 0 on, in order, then done. */
int sws_workbench__begin_index(const struct sws_allocator *allocator, struct workbench_pages *self);
void sws_workbench__index(struct workbench_pages *self, uint32_t from, uint32_t to);
void sws_workbench__end_index(struct workbench_pages *self);

/* The slot of the address space's page number rank, in order of slots; the trees are up to date. */
uint32_t sws_workbench__pick(const struct workbench_pages *self, uint32_t space, uint64_t rank);

int sws_workbench__pages_verify(const struct workbench_pages *self, const char **reason);

/* A trunk: who took its lock last, and how many CPUs' last slots are in it. */
struct workbench_trunk {
	uint64_t when; /* the number of the acquisition, from 1; 0: never */
	uint32_t cpu;
	uint32_t standing;
};

/* What the scans of one call tested. */
struct workbench_trail {
	uint32_t cpu;
	uint32_t n;
	struct sws_slots_range ranges[SWS_SLOTS_TRAIL];
};

struct workbench_cpu {
	uint64_t tested;
	uint64_t pages;
	uint32_t trunk; /* of its last slot */
	bool stands; /* it had one */
};

/* Where everything stands that the measures compare with, and the measures. */
struct workbench_meter {
	struct sws_workbench_measures measures;
	struct workbench_trunk *trunks;
	struct workbench_cpu *cpus;
	struct workbench_trail *trails; /* a ring of the last calls */
	struct sws_slots_range *overlaps; /* room for the ranges that one range meets */
	uint32_t *last_slots; /* handed to kernel threads and to each address space */
	uint64_t acquisitions; /* of all trunks' locks, since ever */
	uint64_t pairs; /* of CPUs whose last slots are in one trunk */
	uint64_t calls; /* on the ring since ever */
	uint64_t lock_window;
	uint64_t span_window;
	uint64_t in_span; /* writes of the window that is open */
	uint32_t least; /* slot of that window */
	uint32_t last;
	uint32_t last_write; /* slot; 0: none */
	uint32_t overlap_calls;
	uint32_t n_cpus;
	uint32_t n_trunks;
	uint32_t trunk_shift;
	bool one_lock; /* of the device: 4.8 */
};

int sws_workbench__meter_new(const struct sws_allocator *allocator,
			     const struct sws_workbench_config *config,
			     struct workbench_meter *self);
void sws_workbench__meter_free(const struct sws_allocator *allocator, struct workbench_meter *self);

void sws_workbench__meter_begin(struct workbench_meter *self);

/* A CPU takes the lock of the slot's trunk. */
void sws_workbench__meter_lock(struct workbench_meter *self, enum sws_workbench_site site,
			       uint32_t cpu, uint32_t slot);

/* A page on this CPU, of this address space, got a slot. */
void sws_workbench__meter_page(struct workbench_meter *self, uint32_t cpu, int32_t mm,
			       uint32_t slot);

/* A call on this CPU tested so many slots. */
void sws_workbench__meter_call(struct workbench_meter *self, uint32_t cpu, uint64_t tested,
			       const struct sws_slots_call *call);

void sws_workbench__meter_round(struct workbench_meter *self);

int sws_workbench__meter_verify(const struct workbench_meter *self, const char **reason);

#endif
