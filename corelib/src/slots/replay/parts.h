/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots/replay/parts.h - declarations that the sources of slot_replay.h share.
 *
 * The sources form layers; each file calls those below it:
 *
 *   slot_replay.c   rows: their allowed order
 *   settle.c        a hold, compared with that of the trace        make.c
 *   attempt.c       the possible starts of a hold     reuse.c
 *   paths.c         the paths of a scan to a slot, switched.c: on one CPU
 *   reach.c         how far a scan can have come in its window
 *   log.c           the changes in a window           trial.c      calls.c
 *   slots/follow.h  the device
 */
#ifndef SWAPSIM_SLOT_REPLAY_PARTS_H
#define SWAPSIM_SLOT_REPLAY_PARTS_H

#include "core/index_map.h"
#include "slots/follow.h"
#include "swapsim/slot_replay.h"

/* One row. */
struct replay_row {
	uint64_t seq;
	uint32_t cpu;
	int32_t pid;
	uint8_t op;
	uint32_t n, offset, base, next, lowest, highest;
};

/*
 * A slot was taken or freed, or (offset 0) credit was taken; with the device's limits afterwards.
 */
struct replay_change {
	uint32_t offset;
	uint32_t lowest;
	uint32_t highest;
	uint32_t credit;
};

/* All changes since the oldest open window. */
struct replay_log {
	struct replay_change *changes;
	/* An array of the same capacity: the offsets of a window, sorted on demand. */
	uint32_t *sorted;
	uint64_t room;
	uint64_t n;
};

/*
 * A possible rest of the ration of a scan, and the end of its second lap. The rows contain where a
 * scan stopped, but not the slots that it tested. The scan of paths.c that wraps while lowest moves
 * from 2 to 3 tests slot 2 or not: 15 tests or 14, which leaves 241 in 6.1 or 242. A call carries
 * all possible rations until its slots determine which one is right.
 */
struct replay_ration {
	int32_t left;
	bool scanned_many;
	uint32_t scan_base;
};

enum {
	/* Maximum number of possible rations of a call. */
	REPLAY_RATIONS = 64,
	/* Maximum number of values of lowest in one window, and of highest. */
	REPLAY_LOWS = 256,
	REPLAY_HIGHS = 64,
	/* Maximum number of slots above highest from which a scan may have jumped. */
	REPLAY_JUMPS = 8,
	/* Maximum number of slots that a scan of 5.8 found and lost again. */
	REPLAY_LOST = 4,
	/* Maximum number of paths that are tried for one hold. */
	REPLAY_PATIENCE = 1 << 20,
};

/* A call, from its first row to its last. */
struct replay_call {
	int32_t pid;
	bool open;
	/* True while the lock is dropped. */
	bool window;
	/* True if the call follows the slots of the trace until it ends. */
	bool diverged;
	/* True if the slot at call.offset was tried, and may be tried once more. */
	bool again;
	/* While the entry is not open: the next free entry. */
	uint32_t next_free;
	/* The call at the start of the hold or window, and as the model ends it. */
	struct sws_slots_call call;
	struct sws_slots_call ours;
	struct replay_ration rations[REPLAY_RATIONS];
	uint32_t n_rations;
	/* The device when the window was opened, and the end of the log at that time. */
	struct replay_change since;
	uint64_t since_change;
	/* seq of each alloc row. */
	uint64_t seqs[SWS_SLOTS_BATCH];
	struct sws_slot_replay_mismatch account;
};

/*
 * A hold of the model that can be undone. The device itself is changed and restored: copying it for
 * each hold would copy its map, 1 MB for 4 GB of swap, where a hold changes at most 64 bytes.
 */
struct replay_trial {
	struct slots_snapshot before;
	bool applied;
};

struct sws_slot_replay {
	struct sws_allocator allocator;
	struct sws_slots *device;
	/* Not used here. */
	struct sws_slots_work work;
	/* The device's configuration, and the number of CPUs in the rows. */
	uint32_t slots;
	uint32_t cluster_size;
	uint32_t possible_cpus;
	uint32_t cpus;
	bool rerandomises;
	/* For each base: true if a row has contained it. */
	bool *base_known;
	/* The backward links of the device's free list (slots/follow.h). */
	uint32_t *before;
	/* Open calls: the entry by pid, the entries, and the first free entry. */
	struct sws_index_map tasks;
	struct replay_call *calls;
	uint32_t rooms;
	uint32_t first_free;
	/* The number of open windows, and the changes in them. */
	uint64_t windows;
	struct replay_log log;
	/* The call whose hold is under way, and its CPU. */
	struct replay_call *holder;
	uint32_t hold_cpu;
	struct replay_trial trial;
	bool started;
	uint64_t last_seq;
	/* The reason for which the replay is over, and the row at fault. */
	int error;
	uint32_t problem;
	uint64_t problem_seq;
	bool mismatched;
	struct sws_slot_replay_mismatch first;
};

/* The end of a hold: done or fail, and the base stored. */
struct replay_end {
	bool done;
	uint32_t next;
};

/* A path of a scan from one past its start to a slot. */
struct replay_path {
	uint32_t offset;
	/* The number of its tests, and what they took from the ration. */
	uint64_t tests;
	uint64_t spent;
	/* True if it wraps; the slot where it wrapped, and where it continued. */
	bool wraps;
	uint32_t highest;
	uint32_t lowest;
	uint32_t scan_base;
	/* True if the slot found was above highest when the lock was taken. */
	bool jumps;
};

/* How far a scan can have come in a window. */
struct replay_reach {
	const struct replay_call *call;
	uint64_t n_sorted;
	/*
	 * The slot up to which the first lap can have come, and the second lap, or a lap after a
	 * jump; 0 if there can be no such lap.
	 */
	uint32_t first_lap;
	uint32_t second_lap;
	uint32_t highs[REPLAY_HIGHS];
	uint32_t n_highs;
	uint32_t lows[REPLAY_LOWS];
	uint32_t n_lows;
};

/* How well an attempt fits. */
enum replay_fit {
	FITS_NOT = 0,
	/* Everything except the base that is stored. */
	FITS_SLOTS = 1,
	FITS_ALL = 2,
};

/* The search for the explanation of one hold. */
struct replay_search {
	struct sws_slot_replay *replay;
	struct replay_call *call;
	struct replay_end end;
	/*
	 * The call at the start of the best attempt, its fit, and whether it needs concurrent
	 * changes.
	 */
	struct sws_slots_call best;
	enum replay_fit fit;
	bool raced;
	/* The number of paths that were tried. */
	uint64_t paths;
	/*
	 * The state with which a scan arrived: past its base or not, scanned_many or not, the rest
	 * of the ration. The rest of the hold depends only on these, so at most 2 * 2 * 257
	 * attempts are run for a slot, however many paths lead to it.
	 */
	bool tried[2][2][SWS_SLOTS_RATION + 1];
};

/* A function that is called for each path; a result other than 0 ends the walk. */
struct replay_visitor {
	int (*visit)(void *context, const struct replay_path *path);
	void *context;
};

/* Records the row at fault; returns SWS_ERROR_BAD_ARGUMENT. */
static inline int replay_refuse(struct sws_slot_replay *self, enum sws_slot_replay_problem problem,
				uint64_t seq)
{
	self->problem = problem;
	self->problem_seq = seq;
	return SWS_ERROR_BAD_ARGUMENT;
}

/* Records a difference of a call; only the first one is retained. */
static inline void replay_blame(struct replay_call *call, enum sws_slot_replay_fault fault)
{
	if (!call->account.call.fault)
		call->account.call.fault = fault;
}

/* Returns the call with this ration at the start of its hold. */
static inline struct sws_slots_call replay_with_ration(const struct replay_call *call,
						       struct replay_ration ration)
{
	struct sws_slots_call from = call->call;

	from.ration = ration.left;
	from.scanned_many = ration.scanned_many;
	from.scan_base = ration.scan_base;
	return from;
}

/* slots/replay/calls.c */

void sws_slot_replay__start_calls(struct sws_slot_replay *self);

/* Returns the open call of a task; NULL if it has no open call. */
struct replay_call *sws_slot_replay__find_call(const struct sws_slot_replay *self, int32_t pid);

/* Opens a call for a call row; not while a hold is under way, because the entries move. */
int sws_slot_replay__open_call(struct sws_slot_replay *self, const struct replay_row *row,
			       struct replay_call **out);

/* Ends a call: writes its verdict and frees its entry. */
void sws_slot_replay__close_call(struct sws_slot_replay *self, struct replay_call *call,
				 struct sws_slot_replay_call *judged, uint64_t *n_judged);

/* slots/replay/trial.c */

/* Records the state that a locked part on this CPU may change. */
void sws_slot_replay__begin_trial(struct sws_slot_replay *self, uint32_t cpu);

/* Undoes the current trial, if there is one, in which the call was given its slots. */
void sws_slot_replay__undo_trial(struct sws_slot_replay *self, const struct sws_slots_call *call);

/* Runs a call on the current map to its end, or to a slot that it would try for reuse. */
int sws_slot_replay__run(struct sws_slot_replay *self, uint32_t cpu, struct sws_slots_call *call);

/* slots/replay/log.c */

/* Opens or closes the window of a call, which drops the lock or holds it again. */
void sws_slot_replay__open_window(struct sws_slot_replay *self, struct replay_call *call);
void sws_slot_replay__close_window(struct sws_slot_replay *self, struct replay_call *call);

/* Appends a change to the log if a window is open. */
int sws_slot_replay__log(struct sws_slot_replay *self, const struct replay_change *change);

/* Returns a log entry with the current limits of the device. */
struct replay_change sws_slot_replay__now(const struct sws_slot_replay *self, uint32_t offset);

/* Returns the minimum credit in the window of a call. */
uint32_t sws_slot_replay__least_credit(const struct sws_slot_replay *self,
				       const struct replay_call *call);

/* slots/replay/reach.c */

/* Computes how far the scan of a call can have come in its window. */
void sws_slot_replay__reach(struct sws_slot_replay *self, const struct replay_call *call,
			    struct replay_reach *reach);

/* Returns true if a slot was in use at some moment of the window. */
bool sws_slot_replay__was_used(const struct sws_slot_replay *self, const struct replay_reach *reach,
			       uint32_t offset);

/* Returns true if a scan up to this base can end without a slot. */
bool sws_slot_replay__exhausts(const struct sws_slot_replay *self, const struct replay_reach *reach,
			       uint32_t scan_base);

/* slots/replay/paths.c */

/* Visits the paths by which a scan can have come to a slot; returns the visitor's last result. */
int sws_slot_replay__each_path(const struct sws_slot_replay *self, const struct replay_reach *reach,
			       uint32_t scan_base, uint32_t offset,
			       const struct replay_visitor *visitor);

/* Returns the rest of a ration after a path. */
struct replay_ration sws_slot_replay__spent(struct replay_ration ration,
					    const struct replay_path *path);

/* slots/replay/switched.c */

/* Returns true if task switches at the ends of the ration alone explain a path. */
bool sws_slot_replay__switched(const struct sws_slot_replay *self, const struct replay_reach *reach,
			       const struct replay_path *path, int32_t ration);

/* slots/replay/reuse.c */

/*
 * Returns true if the scan can have tried this slot for reuse; stores the possible rests of its
 * ration in the call.
 */
bool sws_slot_replay__explains_reuse(struct sws_slot_replay *self, struct replay_call *call,
				     uint32_t offset);

/* slots/replay/attempt.c */

/* Returns the fit of the hold in the current trial. */
enum replay_fit sws_slot_replay__fit(const struct replay_search *search);

/* Finds the attempt with the best fit; if none fits, ours is the one without concurrent changes. */
int sws_slot_replay__find_attempt(struct replay_search *search);

/* slots/replay/settle.c */

/* Begins a locked part of a call on a CPU; it holds the lock, or drops it at once. */
int sws_slot_replay__begin_part(struct sws_slot_replay *self, struct replay_call *call,
				uint32_t cpu);

/* Compares the finished hold of self->holder with that of the model. */
int sws_slot_replay__settle(struct sws_slot_replay *self, struct replay_end end);

/* Makes self->holder follow the trace, because another row interrupts its hold. */
int sws_slot_replay__cut(struct sws_slot_replay *self);

/* Takes the slots of a diverged call from index on; each has to be free. */
int sws_slot_replay__force(struct sws_slot_replay *self, struct replay_call *call, uint32_t cpu,
			   uint32_t from);

#endif
