/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clusters/names.c - the names of operations and lists in tables. */
#include "swapsim/clusters.h"

const char *sws_cluster_op_name(uint32_t op)
{
	static const char *const names[SWS_CLUSTER_OPS] = {
		[SWS_CLUSTER_CALL] = "call",           [SWS_CLUSTER_VISIT] = "visit",
		[SWS_CLUSTER_GRANT] = "grant",         [SWS_CLUSTER_DONE] = "done",
		[SWS_CLUSTER_FREE] = "free",           [SWS_CLUSTER_TRY] = "try",
		[SWS_CLUSTER_FULL] = "full",           [SWS_CLUSTER_FULL_DONE] = "full_done",
		[SWS_CLUSTER_WINDOW] = "window",       [SWS_CLUSTER_RELOCK] = "relock",
		[SWS_CLUSTER_PICK] = "pick",           [SWS_CLUSTER_PICKED] = "picked",
		[SWS_CLUSTER_MOVE] = "move",           [SWS_CLUSTER_DISCARD] = "discard",
		[SWS_CLUSTER_DISCARDED] = "discarded", [SWS_CLUSTER_TURN] = "turn",
		[SWS_CLUSTER_VISITED] = "visited",     [SWS_CLUSTER_BUSY] = "busy",
	};

	return op < SWS_CLUSTER_OPS ? names[op] : NULL;
}

const char *sws_cluster_list_name(uint32_t list)
{
	static const char *const names[SWS_CLUSTER_LISTS] = {
		"free",     "full",     "discard",  "nonfull0", "nonfull1", "nonfull2",
		"nonfull3", "nonfull4", "nonfull5", "nonfull6", "nonfull7", "nonfull8",
		"nonfull9", "frag0",    "frag1",    "frag2",    "frag3",    "frag4",
		"frag5",    "frag6",    "frag7",    "frag8",    "frag9",
	};

	if (list == SWS_CLUSTER_LIST_NONE)
		return "none";
	return list < SWS_CLUSTER_LISTS ? names[list] : NULL;
}
