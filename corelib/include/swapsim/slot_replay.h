/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slot_replay.h - leads the slot events of a real kernel through slots.h and says
 * of each slot whether the model hands out the very same.
 *
 * The events were written while si->lock was held, in lock order. So the rows of
 * one task between two drops of the lock stand together, and what other tasks did
 * while its scan ran without the lock stands between its own rows:
 *
 *      task 7:  call ........................ alloc alloc done
 *      task 8:        call alloc done   free
 *              |hold|<--- window: 7 scans --->|---- hold -----|
 *                    the log keeps what changed
 *
 * A hold is led when its last row is there: the slots that slots.h hands out are
 * set beside those of the rows, and so is the base that it stores. After a window
 * the scan is made on the map as it is at the hold:
 *
 *   the same slots         exact
 *   others                 raced, if the scan can have stopped at the row's slot:
 *                          it was free when handed out, and each slot before it was
 *                          taken at some moment of the window; from there the rest
 *                          of the hold must be the same again
 *   else                   a mismatch; the replay goes on with the trace's slots
 *
 * With one CPU there is nobody to race with: others run only where the ration of
 * the scan ends. A slot that is explained by such changes of task is exact.
 *
 * How many slots a scan tested decides how far it may go on with the lock held. A
 * scan that wraps reads lowest and highest as it comes by; if they moved in its
 * window, each value is tried.
 *
 * Above half full the rows tell which slot was tried for reuse. Which slots the
 * cache alone holds they do not tell, so all slots in use look alike here, and a
 * reuse is checked for what can be known: the scan could stop there, the slot was in
 * use, and the device above half full, give or take the credit of calls that the
 * rows do not show yet or no longer: 64 for each CPU.
 *
 * A random base is read from the trace and checked for range and alignment. A base
 * that no row told yet is taken from the first that does.
 *
 * Locks: those of slots.h. Kept: all of slots.h for an SSD from 5.8 on. Dropped:
 * earlier kernels, whose first cluster no row tells; rotational devices; policies
 * but the shared base and those of one base a CPU; huge pages; and a reuse after an
 * alloc of the same call, where a scan reads past the end of an all but full device
 * (it counts as a mismatch).
 */
#ifndef SWAPSIM_SLOT_REPLAY_H
#define SWAPSIM_SLOT_REPLAY_H

#include "swapsim/core.h"
#include "swapsim/slots.h"

/* ffi: begin */

/* What a row says; the fields that an op has not are 0. */
enum sws_slot_replay_op {
	SWS_SLOT_REPLAY_CALL = 0,  /* n wanted, base, lowest, highest */
	SWS_SLOT_REPLAY_ALLOC = 1, /* offset */
	SWS_SLOT_REPLAY_DONE = 2,  /* n given, next: the base stored */
	SWS_SLOT_REPLAY_FAIL = 3,
	SWS_SLOT_REPLAY_FREE = 4,  /* offset, n */
	SWS_SLOT_REPLAY_REUSE = 5, /* offset, n: was it freed? */
};

/* Why a row cannot be replayed. */
enum sws_slot_replay_problem {
	SWS_SLOT_REPLAY_NO_PROBLEM = 0,
	SWS_SLOT_REPLAY_BAD_ORDER = 1,   /* seq does not grow */
	SWS_SLOT_REPLAY_BAD_OP = 2,
	SWS_SLOT_REPLAY_BAD_CPU = 3,
	SWS_SLOT_REPLAY_BAD_START = 4,   /* the first row is no call on an empty device */
	SWS_SLOT_REPLAY_BAD_OFFSET = 5,  /* slot 0, or past the end */
	SWS_SLOT_REPLAY_BAD_BASE = 6,    /* 0, or past the end */
	SWS_SLOT_REPLAY_BAD_LIMITS = 7,  /* lowest or highest past the end */
	SWS_SLOT_REPLAY_BAD_WANTED = 8,  /* none, more than 64, or more than are free */
	SWS_SLOT_REPLAY_BAD_FREED = 9,   /* n is 0 */
	SWS_SLOT_REPLAY_BAD_REUSED = 10, /* n is neither 0 nor 1 */
	SWS_SLOT_REPLAY_BAD_GIVEN = 11,  /* n is not the number of alloc rows */
	SWS_SLOT_REPLAY_SECOND_CALL = 12,
	SWS_SLOT_REPLAY_NO_CALL = 13,
	SWS_SLOT_REPLAY_TOO_MANY = 14,   /* more slots than the call wants */
	SWS_SLOT_REPLAY_TWICE = 15,      /* the slot handed out is in use */
	SWS_SLOT_REPLAY_NOT_IN_USE = 16, /* the slot freed was never handed out */
};

/* Where a call differs from ours: its first difference. */
enum sws_slot_replay_fault {
	SWS_SLOT_REPLAY_MATCHED = 0,
	SWS_SLOT_REPLAY_BASE_BEFORE = 1, /* the call row's base */
	SWS_SLOT_REPLAY_LIMITS = 2,      /* its lowest or highest */
	SWS_SLOT_REPLAY_REUSE_FAULT = 3, /* no scan stops there to reuse that slot */
	SWS_SLOT_REPLAY_SLOTS = 4,       /* other slots, more, fewer, or at another time */
	SWS_SLOT_REPLAY_BASE_AFTER = 5,  /* the base stored */
};

struct sws_slot_replay_config {
	/* Of a kernel that sws_slot_replay_knows and a policy that it follows. */
	struct sws_slots_config device;
	/* How many different CPUs the rows come from; default 1. */
	uint32_t cpus;
};

/* The columns of a chunk of rows, in trace order; all of one length. */
struct sws_slot_replay_rows {
	const uint64_t *seq;
	const uint16_t *cpu;
	const int32_t *pid;
	/* enum sws_slot_replay_op */
	const uint8_t *op;
	const uint32_t *n;
	const uint32_t *offset;
	const uint32_t *base;
	const uint32_t *next;
	const uint32_t *lowest;
	const uint32_t *highest;
};

/* The verdict on a call that ended. */
struct sws_slot_replay_call {
	/* Of the call row. */
	uint64_t seq;
	int32_t pid;
	uint32_t cpu;
	uint32_t wanted;
	/* Handed out; of these exact, and raced. What is neither mismatched, under a wrong base all. */
	uint32_t slots;
	uint32_t exact;
	uint32_t raced;
	/* enum sws_slot_replay_fault. */
	uint32_t fault;
};

/* The first call that differs, and how the model stood at its call row. */
struct sws_slot_replay_mismatch {
	struct sws_slot_replay_call call;
	uint32_t n_ours;
	uint32_t ours[SWS_SLOTS_BATCH];
	uint32_t n_theirs;
	uint32_t theirs[SWS_SLOTS_BATCH];
	/* Ours, and what the call row says. */
	uint32_t base;
	uint32_t base_row;
	uint32_t lowest;
	uint32_t lowest_row;
	uint32_t highest;
	uint32_t highest_row;
	/* The base stored: ours, and what the done row says; 0 for none. */
	uint32_t next;
	uint32_t next_row;
	uint32_t free_clusters;
	/* Left when the differing hold began. */
	int32_t ration;
	/* The slot tried, of SWS_SLOT_REPLAY_REUSE_FAULT. */
	uint32_t reuse;
};

struct sws_slot_replay;

/* Can slots of this kernel be replayed, and under this policy? */
bool sws_slot_replay_knows(enum sws_kernel kernel);
bool sws_slot_replay_follows(enum sws_base_policy policy);

/*
 * Names, as tables have them: of an op and of a fault; and what is wrong with a row, as a
 * sentence's end. NULL for what is none of the enum. Borrowed, constant.
 */
const char *sws_slot_replay_op_name(enum sws_slot_replay_op op);
const char *sws_slot_replay_fault_name(enum sws_slot_replay_fault fault);
const char *sws_slot_replay_problem_text(enum sws_slot_replay_problem problem);

/* Writes every default. */
void sws_slot_replay_config_init(struct sws_slot_replay_config *config);

/*
 * Makes a replay over an empty device. The caller frees it.
 * Returns as sws_slots_new, and SWS_ERROR_BAD_CONFIG for a kernel, policy or kind
 * of device that it does not replay.
 */
int sws_slot_replay_new(const struct sws_slot_replay_config *config, struct sws_slot_replay **out);

/* Frees the replay and its device; takes NULL. */
void sws_slot_replay_free(struct sws_slot_replay *self);

/*
 * Feeds count rows and writes the verdicts on the calls that ended in them to
 * judged, which has room for count; *n_judged says how many.
 * Complexity: O(1) a row, a scan of the map for each window, and more for one that
 * was raced: O(w log w + device) with w rows in it.
 * Returns SWS_ERROR_BAD_ARGUMENT for a row that cannot be replayed; sws_slot_replay_problem
 * says which and why, and the replay is over. SWS_ERROR_NO_MEMORY likewise.
 */
int sws_slot_replay_feed(struct sws_slot_replay *self, const struct sws_slot_replay_rows *rows,
			 uint64_t count, struct sws_slot_replay_call *judged, uint64_t *n_judged);

/* What was wrong with the trace (enum sws_slot_replay_problem), and in the row of which seq. */
uint32_t sws_slot_replay_problem(const struct sws_slot_replay *self, uint64_t *seq);

/* Copies the first call that differed; false if there is none. */
bool sws_slot_replay_first_mismatch(const struct sws_slot_replay *self,
				    struct sws_slot_replay_mismatch *out);

/* Calls that are still open: their slots are not judged. */
uint64_t sws_slot_replay_open(const struct sws_slot_replay *self);

/* Re-derives every invariant; SWS_ERROR_BROKEN and a reason if one fails. */
int sws_slot_replay_verify(const struct sws_slot_replay *self, const char **reason);

/* ffi: end */

#endif
