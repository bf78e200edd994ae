/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slot_replay.h - replays the slot events of a real kernel through slots.h and compares each slot
 * that the kernel allocated with the slot that the model allocates.
 *
 * The events were recorded under si->lock, in lock order. So the rows of one task between two drops
 * of the lock are contiguous, and the changes by other tasks while its scan ran without the lock
 * are between its rows:
 *
 *      task 7:  call ........................ alloc alloc done
 *      task 8:        call alloc done   free
 *              |hold|<--- window: 7 scans --->|---- hold -----|
 *                    the log records the changes
 *
 * A hold is replayed when its last row has been read: the slots that slots.h allocates are compared
 * with those of the rows, and so is the base that it stores. After a window the scan runs on the
 * map of the moment of the hold:
 *
 *   the same slots         exact
 *   other slots            explained by a concurrent change ("raced") if the scan can have
 *                          stopped at the row's slot: the slot was free when it was allocated, and
 *                          each slot before it was in use at some moment of the window; the rest
 *                          of the hold must then be the same
 *   otherwise              a mismatch; the replay continues with the slots of the trace
 *
 * With one CPU other tasks run only where the ration of the scan ends. A slot that such task
 * switches explain is exact.
 *
 * The number of slots that a scan tested limits the quick scan after it. A scan that wraps reads
 * lowest and highest when it wraps; if they changed in its window, each value is tried.
 *
 * When more than half of the device is in use, the rows contain the slots that were tried for
 * reuse. They do not contain which slots only the cache holds, so the model treats all slots in use
 * alike, and checks of a reuse what can be known: the scan could stop there, the slot was in use,
 * and the device was above half full, with a margin for the credit of calls that the rows do not
 * show yet or no longer: 64 for each CPU.
 *
 * A random base is read from the trace and checked for range and alignment. A base that no row has
 * contained so far is taken from the first row that does.
 *
 * Locks: those of slots.h. Modelled: all of slots.h for an SSD from 5.8 on. Left out: earlier
 * kernels, because no row contains their first cluster; rotational devices; policies other than the
 * shared base and one base per CPU; huge pages; a reuse after an allocation in the same call, where
 * a scan reads past the end of an almost full device (it counts as a mismatch).
 */
#ifndef SWAPSIM_SLOT_REPLAY_H
#define SWAPSIM_SLOT_REPLAY_H

#include "swapsim/core.h"
#include "swapsim/slots.h"

/* ffi: begin */

/* The operations of rows; fields that an operation does not use are 0. */
enum sws_slot_replay_op {
	/* A call begins: n is the number wanted; base, lowest, highest. */
	SWS_SLOT_REPLAY_CALL = 0,
	/* A slot is allocated: offset. */
	SWS_SLOT_REPLAY_ALLOC = 1,
	/* A call ends: n is the number allocated, next the base stored. */
	SWS_SLOT_REPLAY_DONE = 2,
	/* A call ends without a slot. */
	SWS_SLOT_REPLAY_FAIL = 3,
	/* n slots from offset on are freed. */
	SWS_SLOT_REPLAY_FREE = 4,
	/* The slot at offset is tried for reuse; n is 1 if it was freed. */
	SWS_SLOT_REPLAY_REUSE = 5,
};

/* The reason why a row cannot be replayed. */
enum sws_slot_replay_problem {
	/* No problem. */
	SWS_SLOT_REPLAY_NO_PROBLEM = 0,
	/* seq does not increase. */
	SWS_SLOT_REPLAY_BAD_ORDER = 1,
	/* The operation is unknown. */
	SWS_SLOT_REPLAY_BAD_OP = 2,
	/* The CPU is out of its range. */
	SWS_SLOT_REPLAY_BAD_CPU = 3,
	/* The first row is not a call on an empty device. */
	SWS_SLOT_REPLAY_BAD_START = 4,
	/* The offset is slot 0 or past the end. */
	SWS_SLOT_REPLAY_BAD_OFFSET = 5,
	/* The base is 0 or past the end. */
	SWS_SLOT_REPLAY_BAD_BASE = 6,
	/* lowest or highest is past the end. */
	SWS_SLOT_REPLAY_BAD_LIMITS = 7,
	/* The number wanted is 0, above 64, or above the number of free slots. */
	SWS_SLOT_REPLAY_BAD_WANTED = 8,
	/* n of a free is 0. */
	SWS_SLOT_REPLAY_BAD_FREED = 9,
	/* n of a reuse is neither 0 nor 1. */
	SWS_SLOT_REPLAY_BAD_REUSED = 10,
	/* n of a done row is not the number of its alloc rows. */
	SWS_SLOT_REPLAY_BAD_GIVEN = 11,
	/* The task already has an open call. */
	SWS_SLOT_REPLAY_SECOND_CALL = 12,
	/* The task has no open call. */
	SWS_SLOT_REPLAY_NO_CALL = 13,
	/* More slots are allocated than the call wants. */
	SWS_SLOT_REPLAY_TOO_MANY = 14,
	/* The allocated slot is in use. */
	SWS_SLOT_REPLAY_TWICE = 15,
	/* The freed slot was not allocated. */
	SWS_SLOT_REPLAY_NOT_IN_USE = 16,
};

/* The first difference between a call and the model. */
enum sws_slot_replay_fault {
	/* No difference. */
	SWS_SLOT_REPLAY_MATCHED = 0,
	/* The base of the call row. */
	SWS_SLOT_REPLAY_BASE_BEFORE = 1,
	/* lowest or highest of the call row. */
	SWS_SLOT_REPLAY_LIMITS = 2,
	/* No scan can stop at the slot that was tried for reuse. */
	SWS_SLOT_REPLAY_REUSE_FAULT = 3,
	/* The slots differ, or their number, or their time. */
	SWS_SLOT_REPLAY_SLOTS = 4,
	/* The base that is stored. */
	SWS_SLOT_REPLAY_BASE_AFTER = 5,
};

/* The configuration of a replay. */
struct sws_slot_replay_config {
	/*
	 * The device, with a kernel that sws_slot_replay_knows and a policy that
	 * sws_slot_replay_follows.
	 */
	struct sws_slots_config device;
	/* The number of different CPUs in the rows; default 1. */
	uint32_t cpus;
};

/* A chunk of rows as columns of one length, in trace order. */
struct sws_slot_replay_rows {
	/* The sequence number of the row, which increases. */
	const uint64_t *seq;
	/* The CPU, 0 .. cpus - 1. */
	const uint16_t *cpu;
	/* The task. */
	const int32_t *pid;
	/* enum sws_slot_replay_op */
	const uint8_t *op;
	/* The number; its meaning depends on op. */
	const uint32_t *n;
	/* The slot. */
	const uint32_t *offset;
	/* The base at the call. */
	const uint32_t *base;
	/* The base stored. */
	const uint32_t *next;
	/* lowest_bit at the call. */
	const uint32_t *lowest;
	/* highest_bit at the call. */
	const uint32_t *highest;
};

/* The verdict on a call that has ended. */
struct sws_slot_replay_call {
	/* seq of the call row. */
	uint64_t seq;
	/* The task. */
	int32_t pid;
	/* The CPU of the call row. */
	uint32_t cpu;
	/* Slots wanted. */
	uint32_t wanted;
	/*
	 * Slots allocated. Those that are neither exact nor raced are mismatches; after a wrong
	 * base all are.
	 */
	uint32_t slots;
	/* Slots that are exact. */
	uint32_t exact;
	/* Slots that a concurrent change explains. */
	uint32_t raced;
	/* enum sws_slot_replay_fault */
	uint32_t fault;
};

/* The first call with a difference, and the state of the model at its call row. */
struct sws_slot_replay_mismatch {
	/* The verdict. */
	struct sws_slot_replay_call call;
	/* Number of slots of the model. */
	uint32_t n_ours;
	/* The slots of the model. */
	uint32_t ours[SWS_SLOTS_BATCH];
	/* Number of slots of the trace. */
	uint32_t n_theirs;
	/* The slots of the trace. */
	uint32_t theirs[SWS_SLOTS_BATCH];
	/* The base of the model. */
	uint32_t base;
	/* The base of the call row. */
	uint32_t base_row;
	/* lowest_bit of the model. */
	uint32_t lowest;
	/* lowest_bit of the call row. */
	uint32_t lowest_row;
	/* highest_bit of the model. */
	uint32_t highest;
	/* highest_bit of the call row. */
	uint32_t highest_row;
	/* The base that the model stored; 0 for no store. */
	uint32_t next;
	/* The base of the done row; 0 for no store. */
	uint32_t next_row;
	/* Clusters on the free list of the model. */
	uint32_t free_clusters;
	/* The rest of the ration when the differing hold began. */
	int32_t ration;
	/* For SWS_SLOT_REPLAY_REUSE_FAULT: the slot that was tried. */
	uint32_t reuse;
};

/* A replay; only the functions below read it. */
struct sws_slot_replay;

/* Returns true if slots of a kernel can be replayed. */
bool sws_slot_replay_knows(enum sws_kernel kernel);
/* Returns true if slots under a policy can be replayed. */
bool sws_slot_replay_follows(enum sws_base_policy policy);

/* Returns the name of an operation in tables; NULL for an unknown one. All names are constants. */
const char *sws_slot_replay_op_name(enum sws_slot_replay_op op);
/* Returns the name of a fault in tables; NULL for an unknown one. */
const char *sws_slot_replay_fault_name(enum sws_slot_replay_fault fault);
/* Returns the problem of a row as the end of a sentence; NULL for an unknown problem. */
const char *sws_slot_replay_problem_text(enum sws_slot_replay_problem problem);

/* Writes every default. Complexity: O(1). */
void sws_slot_replay_config_init(struct sws_slot_replay_config *config);

/*
 * Creates a replay of an empty device. The caller owns *out and frees it by sws_slot_replay_free.
 * Complexity: O(slots). Returns the codes of sws_slots_new, and SWS_ERROR_BAD_CONFIG for a kernel,
 * policy or kind of device that cannot be replayed.
 */
int sws_slot_replay_new(const struct sws_slot_replay_config *config, struct sws_slot_replay **out);

/* Frees the replay and its device; accepts NULL. */
void sws_slot_replay_free(struct sws_slot_replay *self);

/*
 * Replays count rows and writes the verdicts on the calls that end in them to judged, which has
 * room for count verdicts; *n_judged is their number. Complexity: O(1) per row, a scan of the map
 * per window, and O(w log w + device) for a window of w rows that the first scan does not explain.
 * Returns SWS_OK; SWS_ERROR_BAD_ARGUMENT for a row that cannot be replayed, after which the replay
 * is over and sws_slot_replay_problem returns the reason; or SWS_ERROR_NO_MEMORY, likewise.
 */
int sws_slot_replay_feed(struct sws_slot_replay *self, const struct sws_slot_replay_rows *rows,
			 uint64_t count, struct sws_slot_replay_call *judged, uint64_t *n_judged);

/* Returns the problem of the trace (enum sws_slot_replay_problem) and the seq of its row. */
uint32_t sws_slot_replay_problem(const struct sws_slot_replay *self, uint64_t *seq);

/* Copies the first call with a difference; returns false if there was no difference. */
bool sws_slot_replay_first_mismatch(const struct sws_slot_replay *self,
				    struct sws_slot_replay_mismatch *out);

/* Returns the number of open calls, whose slots have no verdict yet. */
uint64_t sws_slot_replay_open(const struct sws_slot_replay *self);

/*
 * Recomputes every invariant. Complexity: O(slots). Returns SWS_OK, or SWS_ERROR_BROKEN and the
 * *reason, a constant string.
 */
int sws_slot_replay_verify(const struct sws_slot_replay *self, const char **reason);

/* ffi: end */

#endif
