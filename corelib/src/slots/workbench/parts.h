/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots/workbench/parts.h - declarations that the sources of slot_workbench.h share. The sources
 * form layers; each file calls those below it:
 *
 *   run.c      rounds, and the next step of a task          make.c
 *   rows.c     the requests of a trace
 *   phases.c   begin and end of phases; thinning, the index
 *   page.c     what a task does with a page
 *   pages.c    the swapped-out pages     meter.c   the measures
 */
#ifndef SWAPSIM_SLOT_WORKBENCH_PARTS_H
#define SWAPSIM_SLOT_WORKBENCH_PARTS_H

#include "swapsim/slot_workbench.h"

/*
 * The address space of each swapped-out page, stored so that any of its pages can be picked with
 * the same probability. The owner of a slot takes 0, 1, 2, 4 or 8 bits; the counts of owners per
 * block are a Fenwick tree for each address space.
 */
struct workbench_pages {
	const struct sws_slots *device;
	/*
	 * Packed owners; NULL for one address space. The value of a slot without a page is
	 * undefined.
	 */
	uint8_t *owners;
	/* Swapped-out pages of each address space, and of all. */
	uint64_t *counts;
	uint64_t out;
	/* A tree of blocks + 1 entries for each address space; NULL until the first churn. */
	uint32_t *trees;
	uint32_t slots;
	uint32_t spaces;
	uint32_t blocks;
	uint32_t block_shift;
	/* Log2 of the bits of an owner. */
	uint32_t bits_shift;
	/* True if the trees are up to date. */
	bool indexed;
};

int sws_workbench__pages_new(const struct sws_allocator *allocator, const struct sws_slots *device,
			     uint32_t slots, uint32_t spaces, struct workbench_pages *self);
void sws_workbench__pages_free(const struct sws_allocator *allocator, struct workbench_pages *self);

/*
 * Records that a page of an address space is out in a slot, whose map byte is 1; or no longer out.
 */
void sws_workbench__page_out(struct workbench_pages *self, uint32_t space, uint32_t slot);
void sws_workbench__page_in(struct workbench_pages *self, uint32_t space, uint32_t slot);

/* Returns true if a page is out in the slot and no longer in the swap cache. */
bool sws_workbench__is_out(const struct workbench_pages *self, uint32_t slot);

/* Returns the address space of a slot with a page out. */
uint32_t sws_workbench__owner(const struct workbench_pages *self, uint32_t slot);

/* Recounts the blocks of slots from .. to - 1; to be called in order from 0 on, then ended. */
int sws_workbench__begin_index(const struct sws_allocator *allocator, struct workbench_pages *self);
void sws_workbench__index(struct workbench_pages *self, uint32_t from, uint32_t to);
void sws_workbench__end_index(struct workbench_pages *self);

/* Returns the slot of an address space's page by rank, in slot order; the trees are up to date. */
uint32_t sws_workbench__pick(const struct workbench_pages *self, uint32_t space, uint64_t rank);

int sws_workbench__pages_verify(const struct workbench_pages *self, const char **reason);

/* A trunk: the last acquisition of its lock, and the number of CPUs whose last slot is in it. */
struct workbench_trunk {
	/* The number of the acquisition, from 1; 0 for never. */
	uint64_t when;
	uint32_t cpu;
	uint32_t standing;
};

_Static_assert(sizeof(struct workbench_trunk) == 16,
	       "slot_workbench.h says how much memory a trunk takes");

/* The slots that the scans of one call tested. */
struct workbench_trail {
	uint32_t cpu;
	uint32_t n;
	struct sws_slots_range ranges[SWS_SLOTS_TRAIL];
};

struct workbench_cpu {
	uint64_t tested;
	uint64_t pages;
	/* The trunk of its last slot, if it got one since a task is there. */
	uint32_t trunk;
	bool stands;
};

/* The positions that the measures compare with, and the measures. */
struct workbench_meter {
	struct sws_workbench_measures measures;
	struct workbench_trunk *trunks;
	struct workbench_cpu *cpus;
	/* A ring buffer of the last calls, and the number of all calls. */
	struct workbench_trail *trails;
	uint64_t calls;
	/* Buffer for the ranges that overlap with one range. */
	struct sws_slots_range *overlaps;
	/* The last slot of kernel threads and of each address space. */
	uint32_t *last_slots;
	/* Acquisitions of all trunk locks, since the beginning. */
	uint64_t acquisitions;
	/* Pairs of CPUs whose last slots are in one trunk. */
	uint64_t pairs;
	uint64_t lock_window;
	/* The current window of writes: the number of writes, and the lowest and highest slot. */
	uint64_t span_window;
	uint64_t in_span;
	uint32_t least;
	uint32_t last;
	/* The last slot written; 0 for no write. */
	uint32_t last_write;
	uint32_t overlap_calls;
	uint32_t n_cpus;
	uint32_t n_trunks;
	uint32_t trunk_shift;
	/* True for 4.8, whose device has one lock instead of one per trunk. */
	bool one_lock;
};

int sws_workbench__meter_new(const struct sws_allocator *allocator,
			     const struct sws_workbench_config *config,
			     struct workbench_meter *self);
void sws_workbench__meter_free(const struct sws_allocator *allocator, struct workbench_meter *self);

void sws_workbench__meter_begin(struct workbench_meter *self);

/* Counts the acquisition of the slot's trunk lock on a CPU. */
void sws_workbench__meter_lock(struct workbench_meter *self, enum sws_workbench_site site,
			       uint32_t cpu, uint32_t slot);

/* Counts a page of an address space that got a slot on a CPU. */
void sws_workbench__meter_page(struct workbench_meter *self, uint32_t cpu, int32_t mm,
			       uint32_t slot);

/* Records that the last task of a CPU has moved to another one. */
void sws_workbench__meter_left(struct workbench_meter *self, uint32_t cpu);

/* Counts the slots that a call on a CPU tested. */
void sws_workbench__meter_call(struct workbench_meter *self, uint32_t cpu, uint64_t tested,
			       const struct sws_slots_call *call);

void sws_workbench__meter_round(struct workbench_meter *self);

int sws_workbench__meter_verify(const struct workbench_meter *self, const char **reason);

enum {
	/* The effort of a task's step, and of a slot whose page is read. */
	WORKBENCH_STEP_EFFORT = 256,
	WORKBENCH_SLOT_EFFORT = 8,
	/* Slots read between two checks of the effort. */
	WORKBENCH_SLOTS_AT_ONCE = 4096,
};

enum workbench_phase { REST, FILL, THIN, INDEX, CHURN, REPLAY };

struct workbench_task {
	uint32_t cpu;
	int32_t mm;
	/* The slot whose page is being written, in the swap cache; 0 for no slot. */
	uint32_t in_flight;
	/* In a replay: the next row, and one past the task's last row. */
	uint64_t row;
	uint64_t end;
	/*
	 * In a replay: where its slots begin in the workbench's got, and its number of swap-outs so
	 * far.
	 */
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
	/* The number of tasks on each online CPU. */
	uint32_t *tasks_on;
	uint32_t n_cpus;
	uint64_t pages_a_cpu;
	struct sws_generator change_generator;
	/* The order of the tasks in this round, and the current position in it. */
	uint32_t *order;
	uint32_t position;
	/* The first task of each address space. */
	uint32_t *first_task;
	struct sws_generator order_generator;
	struct sws_generator thin_generator;
	/* The CPU of the current step. */
	uint32_t cpu;
	enum workbench_phase phase;
	uint64_t effort;
	/* Pages that are being written. */
	uint64_t in_flight;
	/* True if each task has an address space, and there are not too many. */
	bool owns_pages;
	bool asynchronous;
	bool has_clusters;
	bool clears_shadows;
	/*
	 * A fill: the number of pages out, or the last free cluster, at which it ends; whether the
	 * device is full.
	 */
	uint64_t goal;
	bool clusters_alone;
	bool full;
	/*
	 * A thinning: pages that are still to be freed, among those that the cursor has not passed.
	 */
	uint64_t need;
	uint64_t ahead;
	uint32_t cursor;
	/* A churn: the remaining rounds. */
	uint64_t rounds;
	/*
	 * A replay: its rows, the slot of each swap-out, the remaining rows, the rows still to be
	 * skipped before the counts begin, and whether this round has done a row.
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

/* slots/workbench/page.c: steps of a task, each on the CPU self->cpu unless it is the task's. */

/* Gives a page a slot, adds it to the swap cache and unmaps it; its write is then under way. */
int sws_workbench__begin_swap_out(struct sws_workbench *self, struct workbench_task *task);

/* Ends the write of a page, which leaves the swap cache. */
int sws_workbench__finish_swap_out(struct sws_workbench *self, struct workbench_task *task);

/* Models do_swap_page. */
int sws_workbench__swap_in(struct sws_workbench *self, uint32_t slot, bool may_keep);

/* Drops the last page table reference of a slot, or puts the slot into the return cache. */
int sws_workbench__let_go(struct sws_workbench *self, uint32_t slot);
int sws_workbench__give_back(struct sws_workbench *self, uint32_t slot);

/* slots/workbench/phases.c */

/* Ends all writes under way; then begins the phase, or ends the current one. */
int sws_workbench__begin_phase(struct sws_workbench *self, enum workbench_phase phase);
int sws_workbench__end_phase(struct sws_workbench *self);

/* Frees each page with the probability that leaves exactly the requested number at the end. */
int sws_workbench__thin_some(struct sws_workbench *self);
void sws_workbench__index_some(struct sws_workbench *self);

/* slots/workbench/rows.c: begins the next row of a task unless it waits for another task. */
int sws_workbench__begin_row(struct sws_workbench *self, struct workbench_task *task);

#endif
