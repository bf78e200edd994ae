/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_stall_replay.c - any columns of pages and of lists, with any rules; the flags come with the
 * rows, with the lists, or are carried over by node.
 */
#include "input.h"

#include "swapsim/stall_replay.h"

enum { ROWS = 64, LISTS = 8, NODES = 3, SETS = 12 };

struct columns {
	uint16_t page[ROWS];
	uint8_t step[ROWS];
	uint32_t base_pages[ROWS];
	uint8_t row_flags[ROWS];
	uint64_t ends[LISTS];
	uint8_t caller[LISTS];
	uint8_t priority[LISTS];
	uint8_t file[LISTS];
	uint32_t taken[LISTS];
	uint8_t flags[LISTS];
	uint32_t node[LISTS];
	uint8_t clears[LISTS];
	uint8_t node_flags[NODES];
};

static void draw_columns(struct columns *self, struct input *input)
{
	uint64_t end = 0;

	for (uint32_t row = 0; row < ROWS; row++) {
		self->page[row] = (uint16_t)input_below(input, SWS_STALL_PAGE_BITS + 2);
		self->step[row] = (uint8_t)input_or(input, SWS_STALL_STEP_FREED);
		self->base_pages[row] = input_or(input, 1);
		self->row_flags[row] = (uint8_t)input_below(input, 9);
	}
	for (uint32_t list = 0; list < LISTS; list++) {
		end += input_below(input, ROWS / LISTS) + 1;
		/* A list may end before it begins, but never after the rows. */
		self->ends[list] = input_below(input, 64) == 63 ? input_below(input, ROWS) : end;
		self->caller[list] = (uint8_t)input_below(input, SWS_STALL_CALLER_BITS + 2);
		self->priority[list] = (uint8_t)input_or(input, 12);
		self->file[list] = input_bit(input);
		self->taken[list] = input_or(input, 32);
		self->flags[list] = (uint8_t)input_below(input, 9);
		self->node[list] = input_below(input, NODES + 1);
		self->clears[list] = (uint8_t)input_below(input, 17);
	}
	for (uint32_t node = 0; node < NODES; node++)
		self->node_flags[node] = (uint8_t)input_below(input, 9);
}

static void replay_columns(struct sws_stall_replay *replay, struct columns *columns,
			   struct input *input)
{
	const bool by_node = input_bit(input);
	const struct sws_stall_rows rows = {
		.page = columns->page,
		.step = columns->step,
		.base_pages = input_bit(input) ? columns->base_pages : NULL,
		.flags = input_bit(input) ? columns->row_flags : NULL,
	};
	const struct sws_stall_lists lists = {
		.ends = columns->ends,
		.caller = columns->caller,
		.priority = columns->priority,
		.file = columns->file,
		.taken = columns->taken,
		.flags = by_node ? NULL : columns->flags,
		.node = columns->node,
		.clears = input_bit(input) ? columns->clears : NULL,
		.node_flags = columns->node_flags,
		.n_nodes = NODES,
	};
	struct sws_stall_result of_lists[LISTS];
	uint8_t branches[ROWS];
	struct sws_stall_results results = { .lists = of_lists, .branches = branches };
	const int error = sws_stall_replay_lists(replay, &rows, LISTS, &lists, &results);

	MUST((error == SWS_ERROR_BAD_ARGUMENT) == (results.problem != SWS_STALL_NO_PROBLEM));
}

/* One replay per set is reused: creating it takes a thousand times as long as its lists. */
static struct sws_stall_replay *kept_replay(enum sws_stall_set set)
{
	static struct sws_stall_replay *kept[SETS];
	struct sws_stall_replay_config config;

	sws_stall_replay_config_init(&config);
	config.set = set;
	if ((uint32_t)set < SETS && !kept[set])
		(void)sws_stall_replay_new(&config, &kept[set]);
	return (uint32_t)set < SETS ? kept[set] : NULL;
}

/* Creates a replay with little memory: it frees all that it got. */
static void make_and_free(enum sws_stall_set set, struct scarce *memory)
{
	struct sws_allocator seam = scarce_seam(memory);
	struct sws_stall_replay_config config;
	struct sws_stall_replay *replay = NULL;

	sws_stall_replay_config_init(&config);
	config.set = set;
	config.allocator = &seam;
	(void)sws_stall_replay_new(&config, &replay);
	sws_stall_replay_free(replay);
	MUST(memory->held == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { .bytes = data, .left = size };
	struct scarce memory = scarce_memory(&input);
	const enum sws_stall_set set =
		(enum sws_stall_set)input_or(&input, input_below(&input, SETS));
	struct sws_stall_replay *replay = kept_replay(set);
	struct columns columns;

	if (memory.fail_at || !replay)
		make_and_free(set, &memory);
	draw_columns(&columns, &input);
	if (replay)
		replay_columns(replay, &columns, &input);
	return 0;
}
