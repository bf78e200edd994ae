/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_slot_replay.c - the rows of a device that runs as the model does, some of them altered or
 * exchanged, fed in chunks to a replay. Unaltered rows must all match.
 */
#include "input.h"

#include "swapsim/slot_replay.h"

enum {
	CALLS = 24,
	ROWS = 2000,
	CPUS = 3,
	CHUNK = 100,
};

struct row {
	uint64_t seq;
	uint16_t cpu;
	int32_t pid;
	uint8_t op;
	uint32_t n;
	uint32_t offset;
	uint32_t base;
	uint32_t next;
	uint32_t lowest;
	uint32_t highest;
};

/* Rows after the first ROWS are overwritten and do not count: a recording that ends early. */
struct trace {
	uint32_t count;
	struct row rows[ROWS + 1];
};

/* The rows of a chunk as columns. */
struct columns {
	uint64_t seq[CHUNK];
	uint16_t cpu[CHUNK];
	int32_t pid[CHUNK];
	uint8_t op[CHUNK];
	uint32_t n[CHUNK];
	uint32_t offset[CHUNK];
	uint32_t base[CHUNK];
	uint32_t next[CHUNK];
	uint32_t lowest[CHUNK];
	uint32_t highest[CHUNK];
};

static struct row *add_row(struct trace *self, uint16_t cpu, enum sws_slot_replay_op op)
{
	struct row *row = &self->rows[self->count];

	*row = (struct row){
		.seq = 2 * (uint64_t)self->count,
		.cpu = cpu,
		.pid = 100 + cpu,
		.op = (uint8_t)op,
	};
	self->count += self->count < ROWS;
	return row;
}

/* The call is at a slot that the cache may hold; it has a reference, so it stays. */
static void add_reuse(struct trace *self, uint16_t cpu, struct sws_slots_call *call)
{
	add_row(self, cpu, SWS_SLOT_REPLAY_REUSE)->offset = call->offset;
	MUST(sws_slots_call_reclaimed(call, false) == SWS_OK);
}

static void add_call(struct trace *self, struct sws_slots *device, uint16_t cpu, uint32_t wanted)
{
	struct sws_slots_work work = { 0 };
	struct sws_slots_call call;
	const uint32_t owner = sws_slots_base_owner(device, cpu, -1);
	const uint32_t credit = sws_slots_credit(device);
	struct row *row = NULL;
	uint32_t written = 0;

	/* The kernel writes no row for a call without credit. */
	if (!credit)
		return;
	row = add_row(self, cpu, SWS_SLOT_REPLAY_CALL);
	row->n = wanted < credit ? wanted : credit;
	row->base = (uint32_t)sws_slots_base(device, owner);
	row->lowest = sws_slots_lowest(device);
	row->highest = sws_slots_highest(device);
	MUST(sws_slots_call_begin(device, -1, row->n, &call, &work) == SWS_OK);
	while (call.state < SWS_CALL_DONE) {
		if (call.state == SWS_CALL_RECLAIM)
			add_reuse(self, cpu, &call);
		else
			MUST(sws_slots_call_next(device, cpu, &call, &work) == SWS_OK);
		while (written < call.given)
			add_row(self, cpu, SWS_SLOT_REPLAY_ALLOC)->offset = call.slots[written++];
	}
	row = add_row(self, cpu, call.given ? SWS_SLOT_REPLAY_DONE : SWS_SLOT_REPLAY_FAIL);
	row->n = call.given;
	row->next = call.given ? call.base_after : 0;
}

static void add_free(struct trace *self, struct sws_slots *device, uint16_t cpu, uint32_t offset)
{
	struct sws_slots_work work = { 0 };
	struct row *row = NULL;

	if (sws_slots_free_entries(device, &offset, 1, &work) != SWS_OK)
		return;
	row = add_row(self, cpu, SWS_SLOT_REPLAY_FREE);
	row->offset = offset;
	row->n = 1;
}

/* Writes the rows of the model by itself: no other task runs while the lock is dropped. */
static void write_trace(struct trace *self, const struct sws_slots_config *config,
			struct input *input)
{
	struct sws_slots *device = NULL;

	self->count = 0;
	MUST(sws_slots_new(config, &device) == SWS_OK);
	add_call(self, device, 0, input_below(input, SWS_SLOTS_BATCH) + 1);
	for (uint32_t call = 1; call < CALLS; call++) {
		const uint8_t head = input_byte(input);
		const uint16_t cpu = (uint16_t)(head % config->online_cpus);

		if (head & 64)
			add_free(self, device, cpu, input_below(input, config->slots));
		else
			add_call(self, device, cpu, input_below(input, SWS_SLOTS_BATCH) + 1);
	}
	sws_slots_free(device);
}

static void alter(struct trace *self, struct input *input)
{
	struct row *row = &self->rows[input_below(input, self->count)];
	struct row *other = &self->rows[input_below(input, self->count)];
	const struct row kept = *row;
	uint32_t *const fields[] = { &row->n,    &row->offset, &row->base,
				     &row->next, &row->lowest, &row->highest };
	const uint8_t how = input_byte(input);

	switch (how % 8) {
	case 0:
		row->seq = input_number(input);
		break;
	case 1:
		row->cpu = (uint16_t)input_number(input);
		break;
	case 2:
		row->pid = (int32_t)input_number32(input);
		break;
	case 3:
		row->op = (uint8_t)input_below(input, 8);
		break;
	case 4:
		/*
		 * Rows of another task come in between, in the window of a call that dropped the
		 * lock.
		 */
		*row = *other;
		*other = kept;
		row->seq = other->seq;
		other->seq = kept.seq;
		break;
	default:
		*fields[how / 8 % 6] = input_or(input, *fields[how / 8 % 6] + 1);
	}
}

static void split(const struct row *rows, uint64_t count, struct columns *columns)
{
	for (uint64_t i = 0; i < count; i++) {
		columns->seq[i] = rows[i].seq;
		columns->cpu[i] = rows[i].cpu;
		columns->pid[i] = rows[i].pid;
		columns->op[i] = rows[i].op;
		columns->n[i] = rows[i].n;
		columns->offset[i] = rows[i].offset;
		columns->base[i] = rows[i].base;
		columns->next[i] = rows[i].next;
		columns->lowest[i] = rows[i].lowest;
		columns->highest[i] = rows[i].highest;
	}
}

static int feed_chunk(struct sws_slot_replay *replay, const struct row *rows, uint64_t count,
		      bool altered)
{
	struct columns columns;
	struct sws_slot_replay_call judged[CHUNK];
	const struct sws_slot_replay_rows fed = {
		.seq = columns.seq,
		.cpu = columns.cpu,
		.pid = columns.pid,
		.op = columns.op,
		.n = columns.n,
		.offset = columns.offset,
		.base = columns.base,
		.next = columns.next,
		.lowest = columns.lowest,
		.highest = columns.highest,
	};
	const char *reason = NULL;
	uint64_t n_judged = 0;
	uint64_t seq = 0;
	int error = SWS_OK;

	split(rows, count, &columns);
	error = sws_slot_replay_feed(replay, &fed, count, judged, &n_judged);
	MUST(n_judged <= count);
	MUST((error == SWS_ERROR_BAD_ARGUMENT) == !!sws_slot_replay_problem(replay, &seq));
	MUST(error || sws_slot_replay_verify(replay, &reason) == SWS_OK);
	MUST(altered || error != SWS_ERROR_BAD_ARGUMENT);
	for (uint64_t call = 0; call < n_judged; call++)
		MUST(altered || judged[call].fault == SWS_SLOT_REPLAY_MATCHED);
	return error;
}

static void feed(struct sws_slot_replay *replay, const struct trace *trace, bool altered)
{
	struct sws_slot_replay_mismatch mismatch;
	int error = SWS_OK;

	for (uint32_t at = 0; at < trace->count && !error; at += CHUNK)
		error = feed_chunk(replay, trace->rows + at,
				   trace->count - at < CHUNK ? trace->count - at : CHUNK, altered);
	MUST(altered || !sws_slot_replay_first_mismatch(replay, &mismatch));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct trace trace;
	struct input input = { .bytes = data, .left = size };
	struct scarce memory = scarce_memory(&input);
	struct sws_allocator seam = scarce_seam(&memory);
	struct sws_slot_replay_config config;
	struct sws_slot_replay *replay = NULL;
	const enum sws_kernel kernel = (enum sws_kernel)input_or(&input, SWS_KERNEL_6_1);
	bool altered = kernel != SWS_KERNEL_6_1;

	sws_slot_replay_config_init(&config);
	config.device.slots = input_below(&input, 2000) + 2;
	config.device.trunk_shift = input_below(&input, 12) + 1;
	config.device.possible_cpus = CPUS;
	config.device.online_cpus = input_below(&input, CPUS) + 1;
	config.device.policy = (enum sws_base_policy)input_below(&input, 3);
	config.device.seed = input_number(&input);
	config.cpus = CPUS;
	write_trace(&trace, &config.device, &input);
	for (; input.left; altered = true)
		alter(&trace, &input);
	config.device.kernel = kernel;
	config.device.allocator = &seam;
	if (sws_slot_replay_new(&config, &replay) == SWS_OK)
		feed(replay, &trace, altered);
	sws_slot_replay_free(replay);
	MUST(memory.held == 0);
	return 0;
}
