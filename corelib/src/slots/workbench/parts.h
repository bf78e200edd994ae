/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * workbench/parts.h - what the sources of slot_workbench.h share. In layers; a file
 * calls those below it:
 *
 *   run.c      rounds, and the next step of a task          make.c
 *   rows.c     the requests of a trace
 *   phases.c   phases begin and end; thinning, the index
 *   page.c     what a task does with a page
 *   pages.c    which pages are out      meter.c   the measures
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
	/* Packed; NULL for one address space. Of a slot without a page out: anything. */
	uint8_t *owners;
	/* Pages out, of each address space and of all. */
	uint64_t *counts;
	uint64_t out;
	/* A tree of blocks + 1 for each address space; NULL until the first churn. */
	uint32_t *trees;
	uint32_t slots;
	uint32_t spaces;
	uint32_t blocks;
	uint32_t block_shift;
	/* Log2 of the bits of an owner. */
	uint32_t bits_shift;
	/* The trees are up to date. */
	bool indexed;
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
	/* The number of the acquisition, from 1; 0: never. */
	uint64_t when;
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
	/* Of its last slot, if it had one since a task was there. */
	uint32_t trunk;
	bool stands;
};

/* Where everything stands that the measures compare with, and the measures. */
struct workbench_meter {
	struct sws_workbench_measures measures;
	struct workbench_trunk *trunks;
	struct workbench_cpu *cpus;
	/* A ring of the last calls, and how many were put there since ever. */
	struct workbench_trail *trails;
	uint64_t calls;
	/* Room for the ranges that one range meets. */
	struct sws_slots_range *overlaps;
	/* Handed to kernel threads and to each address space. */
	uint32_t *last_slots;
	/* Of all trunks' locks, since ever. */
	uint64_t acquisitions;
	/* Of CPUs whose last slots are in one trunk. */
	uint64_t pairs;
	uint64_t lock_window;
	/* The window of writes that is open: how many are in it, and between which slots. */
	uint64_t span_window;
	uint64_t in_span;
	uint32_t least;
	uint32_t last;
	/* A slot; 0: none. */
	uint32_t last_write;
	uint32_t overlap_calls;
	uint32_t n_cpus;
	uint32_t n_trunks;
	uint32_t trunk_shift;
	/* Of the device, not one a trunk: 4.8. */
	bool one_lock;
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

/* The last task of this CPU went to another one. */
void sws_workbench__meter_left(struct workbench_meter *self, uint32_t cpu);

/* A call on this CPU tested so many slots. */
void sws_workbench__meter_call(struct workbench_meter *self, uint32_t cpu, uint64_t tested,
			       const struct sws_slots_call *call);

void sws_workbench__meter_round(struct workbench_meter *self);

int sws_workbench__meter_verify(const struct workbench_meter *self, const char **reason);

enum {
	/* What a step of a task, and a slot looked at for its page, count as effort. */
	WORKBENCH_STEP_EFFORT = 256,
	WORKBENCH_SLOT_EFFORT = 8,
	/* Slots looked at between two looks at the effort. */
	WORKBENCH_SLOTS_AT_ONCE = 4096,
};

enum workbench_phase { REST, FILL, THIN, INDEX, CHURN, REPLAY };

struct workbench_task {
	uint32_t cpu;
	int32_t mm;
	/* The slot whose page is being written, in the swap cache; 0: none. */
	uint32_t in_flight;
	/* Of a replay: the next row, and the first one past the task's. */
	uint64_t row;
	uint64_t end;
	/* Where its slots begin in the workbench's got, and how many swap-outs it has done. */
	uint64_t first_slot;
	uint32_t n_got;
	struct sws_generator generator;
};

struct sws_workbench {
	struct sws_allocator allocator;
	struct sws_slot_cache *cache;
	struct workbench_meter meter;
	struct workbench_pages pages;
	struct workbench_task *tasks;
	uint32_t n_tasks;
	/* Of each online CPU. */
	uint32_t *tasks_on;
	uint32_t n_cpus;
	uint64_t pages_a_cpu;
	struct sws_generator change_generator;
	/* Of the tasks in this round, and how far it is. */
	uint32_t *order;
	uint32_t position;
	/* Of each address space. */
	uint32_t *first_task;
	struct sws_generator order_generator;
	struct sws_generator thin_generator;
	/* Of the step under way. */
	uint32_t cpu;
	enum workbench_phase phase;
	uint64_t effort;
	/* Pages. */
	uint64_t in_flight;
	/* Each task has an address space, and there are not too many. */
	bool owns_pages;
	bool asynchronous;
	bool has_clusters;
	bool clears_shadows;
	/* A fill: to so many pages out, or to the last free cluster; the device is full. */
	uint64_t goal;
	bool clusters_alone;
	bool full;
	/* A thinning: pages to be taken yet, among so many that the cursor has not passed. */
	uint64_t need;
	uint64_t ahead;
	uint32_t cursor;
	/* A churn: rounds left. */
	uint64_t rounds;
	/*
	 * A replay: its rows, the slot of each swap-out, the rows left, those still to be
	 * skipped before the counts begin, and whether one was done in this round.
	 */
	struct sws_workbench_rows rows;
	uint32_t *got;
	uint64_t rows_left;
	uint64_t rows_skipped;
	bool advanced;
};

static inline struct sws_slots *workbench_device(const struct sws_workbench *self)
{
	return sws_slot_cache_device(self->cache);
}

static inline struct sws_slot_cache_work *workbench_work(struct sws_workbench *self)
{
	return &self->meter.measures.work;
}

/* workbench/page.c: steps of a task, each on the CPU self->cpu unless it is the task's. */

/* A page gets a slot, enters the swap cache and is unmapped; its write is under way. */
int sws_workbench__begin_swap_out(struct sws_workbench *self, struct workbench_task *task);

/* The page was written: it leaves the swap cache, and its memory is free. */
int sws_workbench__finish_swap_out(struct sws_workbench *self, struct workbench_task *task);

/* Models do_swap_page. */
int sws_workbench__swap_in(struct sws_workbench *self, uint32_t slot, bool may_keep);

/* The last page table lets go of the slot; and the slot goes to the return cache. */
int sws_workbench__let_go(struct sws_workbench *self, uint32_t slot);
int sws_workbench__give_back(struct sws_workbench *self, uint32_t slot);

/* workbench/phases.c */

/* Writes all pages that are on their way; then the phase begins, or none is under way. */
int sws_workbench__begin_phase(struct sws_workbench *self, enum workbench_phase phase);
int sws_workbench__end_phase(struct sws_workbench *self);

/* Takes each page out with the chance that leaves, in the end, exactly as many as asked for. */
int sws_workbench__thin_some(struct sws_workbench *self);
void sws_workbench__index_some(struct sws_workbench *self);

/* workbench/rows.c: begins the next row of a task, unless that waits for another's. */
int sws_workbench__begin_row(struct sws_workbench *self, struct workbench_task *task);

#endif
