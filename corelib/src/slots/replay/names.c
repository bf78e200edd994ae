/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots/replay/names.c - the supported kernels and policies, and the names of operations, faults
 * and problems.
 */
#include "swapsim/slot_replay.h"

bool sws_slot_replay_knows(enum sws_kernel kernel)
{
	return kernel == SWS_KERNEL_5_8 || kernel == SWS_KERNEL_6_1;
}

bool sws_slot_replay_follows(enum sws_base_policy policy)
{
	return policy == SWS_BASE_SHARED || policy == SWS_BASE_PERCPU ||
	       policy == SWS_BASE_PERCPU_RERANDOMISE;
}

const char *sws_slot_replay_op_name(enum sws_slot_replay_op op)
{
	static const char *const names[] = {
		[SWS_SLOT_REPLAY_CALL] = "call", [SWS_SLOT_REPLAY_ALLOC] = "alloc",
		[SWS_SLOT_REPLAY_DONE] = "done", [SWS_SLOT_REPLAY_FAIL] = "fail",
		[SWS_SLOT_REPLAY_FREE] = "free", [SWS_SLOT_REPLAY_REUSE] = "reuse",
	};

	return (unsigned int)op <= SWS_SLOT_REPLAY_REUSE ? names[op] : NULL;
}

const char *sws_slot_replay_fault_name(enum sws_slot_replay_fault fault)
{
	static const char *const names[] = {
		[SWS_SLOT_REPLAY_MATCHED] = "none",  [SWS_SLOT_REPLAY_BASE_BEFORE] = "base before",
		[SWS_SLOT_REPLAY_LIMITS] = "limits", [SWS_SLOT_REPLAY_REUSE_FAULT] = "reuse",
		[SWS_SLOT_REPLAY_SLOTS] = "slots",   [SWS_SLOT_REPLAY_BASE_AFTER] = "base after",
	};

	return (unsigned int)fault <= SWS_SLOT_REPLAY_BASE_AFTER ? names[fault] : NULL;
}

const char *sws_slot_replay_problem_text(enum sws_slot_replay_problem problem)
{
	switch (problem) {
	case SWS_SLOT_REPLAY_NO_PROBLEM:
		return "its row has no problem";
	case SWS_SLOT_REPLAY_BAD_ORDER:
		return "its seq is not above that of the row before: sort the rows";
	case SWS_SLOT_REPLAY_BAD_OP:
		return "its op is unknown";
	case SWS_SLOT_REPLAY_BAD_CPU:
		return "its cpu is not a CPU of the device";
	case SWS_SLOT_REPLAY_BAD_START:
		return "the first row must be a call on an empty device, lowest 1";
	case SWS_SLOT_REPLAY_BAD_OFFSET:
		return "its offset is slot 0 or past the end of the device";
	case SWS_SLOT_REPLAY_BAD_BASE:
		return "its base is slot 0 or past the end of the device";
	case SWS_SLOT_REPLAY_BAD_LIMITS:
		return "its lowest or highest is past the end of the device";
	case SWS_SLOT_REPLAY_BAD_WANTED:
		return "its call wants no slot, more than 64, or more than are free";
	case SWS_SLOT_REPLAY_BAD_FREED:
		return "it frees no slot";
	case SWS_SLOT_REPLAY_BAD_REUSED:
		return "its n is neither 0 nor 1";
	case SWS_SLOT_REPLAY_BAD_GIVEN:
		return "its n is not the number of the call's alloc rows";
	case SWS_SLOT_REPLAY_SECOND_CALL:
		return "its task has a call open already";
	case SWS_SLOT_REPLAY_NO_CALL:
		return "its task has no call open";
	case SWS_SLOT_REPLAY_TOO_MANY:
		return "its call has already got all the slots that it wants";
	case SWS_SLOT_REPLAY_TWICE:
		return "the slot handed out is in use";
	case SWS_SLOT_REPLAY_NOT_IN_USE:
		return "a slot that it frees was never handed out";
	}
	return NULL;
}
