/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slot_replay/parts.h - what the sources of slot_replay.h share.
 *
 *   slot_replay/slot_replay.c         rows: what may follow what
 *   slot_replay/settle.c  a hold: ours beside theirs
 *   slot_replay/window.c  what changed while a lock was dropped, and where a scan can have stopped
 *   slot_replay/trial.c   the device: a hold taken back, a slot taken by force
 */
#ifndef SWAPSIM_SLOT_REPLAY_PARTS_H
#define SWAPSIM_SLOT_REPLAY_PARTS_H

#include "core/index_map.h"
#include "swapsim/slot_replay.h"

#include "slots/parts.h"

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
	uint32_t *sorted; /* the same room: a window's offsets in order, made when asked for */
	uint64_t room;
	uint64_t n;
};

/* What a scan may have left of its ration, and where its second lap ends. */
struct replay_ration {
	int32_t left;
	bool scanned_many;
	uint32_t scan_base;
};

enum {
	REPLAY_RATIONS = 64, /* that a call may have at once */
	REPLAY_LOWS = 256,    /* values of lowest in one window */
	REPLAY_HIGHS = 64,   /* and of highest */
	REPLAY_JUMPS = 8,    /* slots above highest that a scan may have jumped from */
	REPLAY_LOST = 4,     /* slots found and lost again, of a scan of 5.8 */
	REPLAY_PATIENCE = 1 << 20, /* ways that one hold is worth */
};

struct replay_call {
	int32_t pid;
	bool open;
	bool window;   /* the lock is dropped */
	bool diverged; /* follows the trace until it ends */
	bool again;    /* the slot at call.offset was tried, and may be once more */
	uint32_t next_free; /* while not open: the next free room */
	struct sws_slots_call call; /* as it stands where the hold or window begins */
	struct sws_slots_call ours; /* how we end it */
	struct replay_ration rations[REPLAY_RATIONS];
	uint32_t n_rations;
	struct replay_change since; /* the device when the window was opened, */
	uint64_t since_change;      /* and the log's end */
	uint64_t seqs[SWS_SLOTS_BATCH]; /* of the alloc rows */
	struct sws_slot_replay_mismatch account;
};

/* A device as it was before a hold: what one locked part may change. */
struct replay_trial {
	struct sws_slots device;
	struct slots_cpu_cluster cpu_cluster;
	struct sws_generator generator;
	int64_t base;
	uint32_t cpu;
	uint32_t owner;
	bool applied;
};

struct sws_slot_replay {
	struct sws_allocator allocator;
	struct sws_slots *device;
	struct sws_slots_work work; /* of no interest here */
	uint32_t cpus;
	bool rerandomises;
	bool *base_known; /* did a row tell it yet? */
	struct sws_index_map tasks; /* pid -> room */
	struct replay_call *calls;
	uint32_t rooms;
	uint32_t first_free;
	uint64_t windows;
	struct replay_log log;
	struct replay_call *holder; /* the call whose hold is not settled */
	uint32_t hold_cpu;
	struct replay_trial trial;
	uint64_t last_seq;
	bool started;
	int error; /* the replay is over */
	uint32_t problem;
	uint64_t problem_seq;
	bool mismatched;
	struct sws_slot_replay_mismatch first;
};

/* How a hold ends. */
struct replay_end {
	bool done; /* else fail */
	uint32_t next;
};

/* How a scan came from one past its start to a slot. */
struct replay_way {
	uint32_t offset;
	uint64_t tests;
	uint64_t spent; /* of the ration */
	uint32_t lowest;  /* where it went on when it had wrapped, */
	uint32_t highest; /* and where it wrapped */
	uint32_t scan_base;
	bool wraps;
	bool jumps; /* the slot found was above highest when the lock was taken */
};

/* A window as far as a scan can have come in it. */
struct replay_reach {
	const struct replay_call *call;
	uint64_t n_sorted;
	uint32_t first_lap;  /* the slot up to which the first lap can have come, */
	uint32_t second_lap; /* and the second, or one after a jump; 0 if there can be none */
	uint32_t highs[REPLAY_HIGHS];
	uint32_t n_highs;
	uint32_t lows[REPLAY_LOWS];
	uint32_t n_lows;
};

/* slot_replay/trial.c */

/* Remembers what a locked part on this CPU may change. */
void sws_slot_replay__begin_trial(struct sws_slot_replay *self, uint32_t cpu);

/* Takes back a trial in which the call was given its slots. */
void sws_slot_replay__undo_trial(struct sws_slot_replay *self, const struct sws_slots_call *call);

/* Takes a free slot, wherever it is, as if this CPU had come to it. */
void sws_slot_replay__take(struct sws_slot_replay *self, uint32_t cpu, uint32_t offset);

/* Marks a slot as in use by more than the swap cache: no scan stops at it. */
void sws_slot_replay__hold_slot(struct sws_slot_replay *self, uint32_t offset);

/* Follows lowest and highest of a row if no slot outside of them is free. */
void sws_slot_replay__follow_limits(struct sws_slot_replay *self, uint32_t lowest,
				    uint32_t highest);

/* slot_replay/window.c */

/* Drops the lock for a call, or says that it holds it again. */
void sws_slot_replay__open_window(struct sws_slot_replay *self, struct replay_call *call);
void sws_slot_replay__close_window(struct sws_slot_replay *self, struct replay_call *call);

/* Writes a change to the log, if there is a window that may want it. */
int sws_slot_replay__log(struct sws_slot_replay *self, const struct replay_change *change);

/* The device as it is, for the log. */
struct replay_change sws_slot_replay__now(const struct sws_slot_replay *self, uint32_t offset);

/* How far the scan of a call can have come in its window. */
void sws_slot_replay__reach(struct sws_slot_replay *self, const struct replay_call *call,
			    struct replay_reach *reach);

/* Was a slot in use at some moment of the window? */
bool sws_slot_replay__was_used(const struct sws_slot_replay *self, const struct replay_reach *reach,
			       uint32_t offset);

/* The least credit in a call's window. */
uint32_t sws_slot_replay__least_credit(const struct sws_slot_replay *self,
				       const struct replay_call *call);

/* Does a scan up to this base come to nothing? */
bool sws_slot_replay__exhausts(const struct sws_slot_replay *self, const struct replay_reach *reach,
			       uint32_t scan_base);

/* Takes a way; a result other than 0 ends the walk. */
struct replay_visitor {
	int (*visit)(void *context, const struct replay_way *way);
	void *context;
};

/* Shows the ways on which a scan can have come to a slot; returns what the visitor ended it with. */
int sws_slot_replay__each_way(const struct sws_slot_replay *self, const struct replay_reach *reach,
			      uint32_t scan_base, uint32_t offset,
			      const struct replay_visitor *visitor);

/* Is a way explained by changes of task at the ends of the ration alone? */
bool sws_slot_replay__switched(const struct sws_slot_replay *self, const struct replay_reach *reach,
			       const struct replay_way *way, int32_t ration);

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

/* Adds to what a call may have left, and what is left when it came on a way. */
void sws_slot_replay__add_ration(struct replay_call *call, struct replay_ration ration);
struct replay_ration sws_slot_replay__spent(struct replay_ration ration,
					    const struct replay_way *way);

/* slot_replay/slot_replay.c */

/* Notes the row at fault; returns SWS_ERROR_BAD_ARGUMENT. */
int sws_slot_replay__refuse(struct sws_slot_replay *self, enum sws_slot_replay_problem problem,
			    uint64_t seq);

/* A call differs: the first difference is kept. */
static inline void replay_blame(struct replay_call *call, enum sws_slot_replay_fault fault)
{
	if (!call->account.call.fault)
		call->account.call.fault = fault;
}

#endif
