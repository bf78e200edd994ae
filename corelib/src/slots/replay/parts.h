/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slot_replay/parts.h - what the sources of slot_replay.h share.
 *
 * In layers; a file calls those below it:
 *
 *   slot_replay.c   rows: which may follow which
 *   settle.c        a hold, ours beside theirs                     make.c
 *   attempt.c       where a hold can have begun       reuse.c
 *   ways.c          how a scan can have come to a slot, switched.c on one CPU
 *   reach.c         how far it can have come in its window
 *   log.c           what changed in a window          trial.c      calls.c
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

/* A slot was taken or freed, or (offset 0) credit was taken; and the device since. */
struct replay_change {
	uint32_t offset;
	uint32_t lowest;
	uint32_t highest;
	uint32_t credit;
};

/* All changes since the oldest window was opened. */
struct replay_log {
	struct replay_change *changes;
	/* Of the same room: a window's offsets in order, made when asked for. */
	uint32_t *sorted;
	uint64_t room;
	uint64_t n;
};

/*
 * What a scan may have left of its ration, and where its second lap ends. The rows tell where a
 * scan stopped, not what it tested on the way. The one of ways.c that wraps, while lowest steps
 * from 2 to 3, tests slot 2 or does not: 15 tests or 14, 241 left in 6.1 or 242. A call carries all
 * that it may have until its slots say which it was.
 */
struct replay_ration {
	int32_t left;
	bool scanned_many;
	uint32_t scan_base;
};

enum {
	/* That a call may have at once. */
	REPLAY_RATIONS = 64,
	/* Values of lowest in one window, and of highest. */
	REPLAY_LOWS = 256,
	REPLAY_HIGHS = 64,
	/* Slots above highest that a scan may have jumped from. */
	REPLAY_JUMPS = 8,
	/* Slots found and lost again, of a scan of 5.8. */
	REPLAY_LOST = 4,
	/* Ways that one hold is worth. */
	REPLAY_PATIENCE = 1 << 20,
};

/* A call, from its first row to its last. */
struct replay_call {
	int32_t pid;
	bool open;
	/* The lock is dropped. */
	bool window;
	/* It follows the trace until it ends. */
	bool diverged;
	/* The slot at call.offset was tried, and may be once more. */
	bool again;
	/* While not open: the next free room. */
	uint32_t next_free;
	/* As it stands where the hold or window begins, and how we end it. */
	struct sws_slots_call call;
	struct sws_slots_call ours;
	struct replay_ration rations[REPLAY_RATIONS];
	uint32_t n_rations;
	/* The device when the window was opened, and the log's end then. */
	struct replay_change since;
	uint64_t since_change;
	/* Of the alloc rows. */
	uint64_t seqs[SWS_SLOTS_BATCH];
	struct sws_slot_replay_mismatch account;
};

/*
 * A hold of the model's, while it can be taken back. The device itself is led on and put back: a
 * copy of it a hold would be a copy of its map, 1 MB for 4 GB of swap, where a hold changes at most
 * 64 bytes of it.
 */
struct replay_trial {
	struct slots_snapshot before;
	bool applied;
};

struct sws_slot_replay {
	struct sws_allocator allocator;
	struct sws_slots *device;
	/* Of no interest here. */
	struct sws_slots_work work;
	/* What the config says of the device, and from how many CPUs the rows come. */
	uint32_t slots;
	uint32_t cluster_size;
	uint32_t possible_cpus;
	uint32_t cpus;
	bool rerandomises;
	/* Of each base: did a row tell it yet? */
	bool *base_known;
	/* The device's free list, backwards (slots/follow.h). */
	uint32_t *before;
	/* Open calls: a room by pid, the rooms, and the first that is free. */
	struct sws_index_map tasks;
	struct replay_call *calls;
	uint32_t rooms;
	uint32_t first_free;
	/* Windows that are open, and what they want to know. */
	uint64_t windows;
	struct replay_log log;
	/* The call whose hold is not settled, on which CPU, and ours of it. */
	struct replay_call *holder;
	uint32_t hold_cpu;
	struct replay_trial trial;
	bool started;
	uint64_t last_seq;
	/* Why the replay is over, and the row at fault. */
	int error;
	uint32_t problem;
	uint64_t problem_seq;
	bool mismatched;
	struct sws_slot_replay_mismatch first;
};

/* How a hold ends: done or fail, and the base stored. */
struct replay_end {
	bool done;
	uint32_t next;
};

/* How a scan came from one past its start to a slot. */
struct replay_way {
	uint32_t offset;
	/* Tests on it, and what they took of the ration. */
	uint64_t tests;
	uint64_t spent;
	/* Where it wrapped, and where it went on. */
	bool wraps;
	uint32_t highest;
	uint32_t lowest;
	uint32_t scan_base;
	/* The slot found was above highest when the lock was taken. */
	bool jumps;
};

/* A window as far as a scan can have come in it. */
struct replay_reach {
	const struct replay_call *call;
	uint64_t n_sorted;
	/*
	 * The slot up to which the first lap can have come, and the second, or one after a
	 * jump; 0 if there can be none.
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
	/* All but the base stored. */
	FITS_SLOTS = 1,
	FITS_ALL = 2,
};

/* The settling of one hold. */
struct replay_search {
	struct sws_slot_replay *replay;
	struct replay_call *call;
	struct replay_end end;
	/* The call as it stood where the best attempt began, how it fits, and if others came between. */
	struct sws_slots_call best;
	enum replay_fit fit;
	bool raced;
	/* How many were looked at. */
	uint64_t ways;
	/*
	 * What a scan came with: before its base or not, having scanned many, ration left. All
	 * that the rest of the hold can depend on, so however many ways lead to a slot, at most
	 * 2 * 2 * 257 attempts are led from it.
	 */
	bool tried[2][2][SWS_SLOTS_RATION + 1];
};

/* Takes a way; a result other than 0 ends the walk. */
struct replay_visitor {
	int (*visit)(void *context, const struct replay_way *way);
	void *context;
};

/* Notes the row at fault; returns SWS_ERROR_BAD_ARGUMENT. */
static inline int replay_refuse(struct sws_slot_replay *self, enum sws_slot_replay_problem problem,
				uint64_t seq)
{
	self->problem = problem;
	self->problem_seq = seq;
	return SWS_ERROR_BAD_ARGUMENT;
}

/* A call differs: the first difference is kept. */
static inline void replay_blame(struct replay_call *call, enum sws_slot_replay_fault fault)
{
	if (!call->account.call.fault)
		call->account.call.fault = fault;
}

/* A call that comes to its hold with this ration. */
static inline struct sws_slots_call replay_with_ration(const struct replay_call *call,
						       struct replay_ration ration)
{
	struct sws_slots_call from = call->call;

	from.ration = ration.left;
	from.scanned_many = ration.scanned_many;
	from.scan_base = ration.scan_base;
	return from;
}

/* slot_replay/calls.c */

void sws_slot_replay__start_calls(struct sws_slot_replay *self);

/* The open call of a task; NULL if it has none. */
struct replay_call *sws_slot_replay__find_call(const struct sws_slot_replay *self, int32_t pid);

/* Opens one for a call row, while no hold is under way: rooms move. */
int sws_slot_replay__open_call(struct sws_slot_replay *self, const struct replay_row *row,
			       struct replay_call **out);

/* The call is over: its verdict is written, its room free. */
void sws_slot_replay__close_call(struct sws_slot_replay *self, struct replay_call *call,
				 struct sws_slot_replay_call *judged, uint64_t *n_judged);

/* slot_replay/trial.c */

/* Remembers what a locked part on this CPU may change. */
void sws_slot_replay__begin_trial(struct sws_slot_replay *self, uint32_t cpu);

/* Takes back the trial, if there is one; the call was given its slots in it. */
void sws_slot_replay__undo_trial(struct sws_slot_replay *self, const struct sws_slots_call *call);

/* Leads a call to its end, on the map as it is; or to a slot of its own that it would reuse. */
int sws_slot_replay__run(struct sws_slot_replay *self, uint32_t cpu, struct sws_slots_call *call);

/* slot_replay/log.c */

/* Drops the lock for a call, or says that it holds it again. */
void sws_slot_replay__open_window(struct sws_slot_replay *self, struct replay_call *call);
void sws_slot_replay__close_window(struct sws_slot_replay *self, struct replay_call *call);

/* Writes a change to the log, if there is a window that may want it. */
int sws_slot_replay__log(struct sws_slot_replay *self, const struct replay_change *change);

/* The device as it is, for the log. */
struct replay_change sws_slot_replay__now(const struct sws_slot_replay *self, uint32_t offset);

/* The least credit in a call's window. */
uint32_t sws_slot_replay__least_credit(const struct sws_slot_replay *self,
				       const struct replay_call *call);

/* slot_replay/reach.c */

/* How far the scan of a call can have come in its window. */
void sws_slot_replay__reach(struct sws_slot_replay *self, const struct replay_call *call,
			    struct replay_reach *reach);

/* Was a slot in use at some moment of the window? */
bool sws_slot_replay__was_used(const struct sws_slot_replay *self, const struct replay_reach *reach,
			       uint32_t offset);

/* Does a scan up to this base come to nothing? */
bool sws_slot_replay__exhausts(const struct sws_slot_replay *self, const struct replay_reach *reach,
			       uint32_t scan_base);

/* slot_replay/ways.c */

/* Shows the ways on which a scan can have come to a slot; returns what the visitor ended it with. */
int sws_slot_replay__each_way(const struct sws_slot_replay *self, const struct replay_reach *reach,
			      uint32_t scan_base, uint32_t offset,
			      const struct replay_visitor *visitor);

/* What a call has left of a ration when it came on a way. */
struct replay_ration sws_slot_replay__spent(struct replay_ration ration,
					    const struct replay_way *way);

/* slot_replay/switched.c */

/* Is a way explained by changes of task at the ends of the ration alone? */
bool sws_slot_replay__switched(const struct sws_slot_replay *self, const struct replay_reach *reach,
			       const struct replay_way *way, int32_t ration);

/* slot_replay/reuse.c */

/* Can the scan have tried this slot for reuse? Keeps what it may have left of its ration then. */
bool sws_slot_replay__explains_reuse(struct sws_slot_replay *self, struct replay_call *call,
				     uint32_t offset);

/* slot_replay/attempt.c */

/* How well the hold that the trial holds fits. */
enum replay_fit sws_slot_replay__fit(const struct replay_search *search);

/* Finds the attempt that fits best; ours stays the one without a race if none does. */
int sws_slot_replay__find_attempt(struct replay_search *search);

/* slot_replay/settle.c */

/* Begins a locked part of a call on a CPU: it holds the lock, or it drops it at once. */
int sws_slot_replay__lead(struct sws_slot_replay *self, struct replay_call *call, uint32_t cpu);

/* Sets the finished hold of self->holder beside ours. */
int sws_slot_replay__settle(struct sws_slot_replay *self, struct replay_end end);

/* Gives self->holder up to the trace: another row cuts its hold. */
int sws_slot_replay__cut(struct sws_slot_replay *self);

/* Takes the slots of a diverged call from index on; each must be free. */
int sws_slot_replay__force(struct sws_slot_replay *self, struct replay_call *call, uint32_t cpu,
			   uint32_t from);

#endif
