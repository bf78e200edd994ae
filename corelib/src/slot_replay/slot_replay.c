/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "slot_replay/parts.h"

#include <string.h>

static const uint32_t NO_ROOM = UINT32_MAX;

enum { FIRST_ROOMS = 16 };

/* One row. */
struct row {
	uint64_t seq;
	uint32_t cpu;
	int32_t pid;
	uint8_t op;
	uint32_t n, offset, base, next, lowest, highest;
};

int sws_slot_replay__refuse(struct sws_slot_replay *self, enum sws_slot_replay_problem problem,
			    uint64_t seq)
{
	self->problem = problem;
	self->problem_seq = seq;
	return SWS_ERROR_BAD_ARGUMENT;
}

/* A key is never 0. */
static uint64_t key_of(int32_t pid)
{
	return (uint64_t)(uint32_t)pid + 1;
}

static struct replay_call *find_call(const struct sws_slot_replay *self, int32_t pid)
{
	uint32_t room = 0;

	if (self->holder && self->holder->pid == pid)
		return self->holder;
	return sws_index_map__find(&self->tasks, key_of(pid), &room) ? &self->calls[room] : NULL;
}

/* Rooms move, so no hold may be under way. */
static int grow_rooms(struct sws_slot_replay *self)
{
	const uint32_t rooms = self->rooms ? 2 * self->rooms : FIRST_ROOMS;
	struct replay_call *calls = NULL;

	if (rooms >= NO_ROOM / 2)
		return SWS_ERROR_NO_MEMORY;
	calls = self->allocator.resize(self->allocator.context, self->calls,
				       rooms * sizeof(*calls));
	if (!calls)
		return SWS_ERROR_NO_MEMORY;
	self->calls = calls;
	for (uint32_t room = self->rooms; room < rooms; room++) {
		calls[room].open = false;
		calls[room].window = false;
		calls[room].next_free = room + 1 < rooms ? room + 1 : NO_ROOM;
	}
	self->first_free = self->rooms;
	self->rooms = rooms;
	return SWS_OK;
}

static int open_call(struct sws_slot_replay *self, const struct row *row, struct replay_call **out)
{
	struct replay_call *call = NULL;
	int error = self->first_free == NO_ROOM ? grow_rooms(self) : SWS_OK;

	if (!error)
		error = sws_index_map__put(&self->tasks, key_of(row->pid), self->first_free);
	if (error)
		return error;
	call = &self->calls[self->first_free];
	self->first_free = call->next_free;
	call->pid = row->pid;
	call->open = true;
	call->window = false;
	call->diverged = false;
	call->again = false;
	/* Its scan's base is known when the scan begins. */
	call->rations[0] = (struct replay_ration){ .left = SWS_SLOTS_RATION };
	call->n_rations = 1;
	call->account.call = (struct sws_slot_replay_call){
		.seq = row->seq,
		.pid = row->pid,
		.cpu = row->cpu,
		.wanted = row->n,
	};
	call->account.n_ours = 0;
	call->account.n_theirs = 0;
	call->account.next = 0;
	call->account.next_row = 0;
	call->account.reuse = 0;
	call->account.ration = SWS_SLOTS_RATION;
	*out = call;
	return SWS_OK;
}

/* A wrong base is a mismatch of its call: no slot of it counts as matched. */
static void judge_base(struct sws_slot_replay_call *call)
{
	if (call->fault != SWS_SLOT_REPLAY_BASE_BEFORE && call->fault != SWS_SLOT_REPLAY_BASE_AFTER)
		return;
	call->exact = 0;
	call->raced = 0;
}

/* The call is over: its verdict is written, its room free. */
static void close_call(struct sws_slot_replay *self, struct replay_call *call,
		       struct sws_slot_replay_call *judged, uint64_t *n_judged)
{
	call->account.call.slots = call->account.n_theirs;
	judge_base(&call->account.call);
	judged[(*n_judged)++] = call->account.call;
	if (call->account.call.fault && !self->mismatched) {
		self->mismatched = true;
		self->first = call->account;
	}
	sws_index_map__remove(&self->tasks, key_of(call->pid));
	call->open = false;
	call->next_free = self->first_free;
	self->first_free = (uint32_t)(call - self->calls);
}

/* The call row beside ours; from here on the row's base and limits hold. */
static void compare_start(struct sws_slot_replay *self, struct replay_call *call,
			  const struct row *row)
{
	const uint32_t owner = sws_slots_base_owner(self->device, row->cpu, -1);

	if (!self->base_known[owner])
		sws_slots_set_base(self->device, owner, row->base);
	self->base_known[owner] = true;
	call->account.base = (uint32_t)sws_slots_base(self->device, owner);
	call->account.base_row = row->base;
	call->account.lowest = sws_slots_lowest(self->device);
	call->account.lowest_row = row->lowest;
	call->account.highest = sws_slots_highest(self->device);
	call->account.highest_row = row->highest;
	call->account.free_clusters = sws_slots_free_clusters(self->device);
	if (row->base != call->account.base) {
		replay_blame(call, SWS_SLOT_REPLAY_BASE_BEFORE);
		sws_slots_set_base(self->device, owner, row->base);
	}
	if (row->lowest != call->account.lowest || row->highest != call->account.highest) {
		replay_blame(call, SWS_SLOT_REPLAY_LIMITS);
		sws_slot_replay__follow_limits(self, row->lowest, row->highest);
	}
}

static int begin(struct sws_slot_replay *self, const struct row *row)
{
	const uint32_t max = self->device->max;
	struct replay_change credit_taken;
	struct replay_call *call = NULL;
	int error = SWS_OK;

	if (find_call(self, row->pid))
		return sws_slot_replay__refuse(self, SWS_SLOT_REPLAY_SECOND_CALL, row->seq);
	if (row->base < 1 || row->base > max + 1)
		return sws_slot_replay__refuse(self, SWS_SLOT_REPLAY_BAD_BASE, row->seq);
	if (row->lowest > max || row->highest >= max)
		return sws_slot_replay__refuse(self, SWS_SLOT_REPLAY_BAD_LIMITS, row->seq);
	if (row->n < 1 || row->n > SWS_SLOTS_BATCH || row->n > sws_slots_credit(self->device))
		return sws_slot_replay__refuse(self, SWS_SLOT_REPLAY_BAD_WANTED, row->seq);
	error = open_call(self, row, &call);
	if (error)
		return error;
	compare_start(self, call, row);
	error = sws_slots_call_begin(self->device, -1, row->n, &call->call, &self->work);
	if (error)
		return error;
	credit_taken = sws_slot_replay__now(self, 0);
	error = sws_slot_replay__log(self, &credit_taken);
	return error ? error : sws_slot_replay__lead(self, call, row->cpu);
}

static int take_alloc(struct sws_slot_replay *self, struct replay_call *call, const struct row *row)
{
	const uint32_t n = call->account.n_theirs;

	if (row->offset < 1 || row->offset >= self->device->max)
		return sws_slot_replay__refuse(self, SWS_SLOT_REPLAY_BAD_OFFSET, row->seq);
	if (n == call->account.call.wanted)
		return sws_slot_replay__refuse(self, SWS_SLOT_REPLAY_TOO_MANY, row->seq);
	call->account.theirs[n] = row->offset;
	call->seqs[n] = row->seq;
	call->account.n_theirs++;
	if (call->diverged)
		return sws_slot_replay__force(self, call, row->cpu, n);
	/* Behind a window, the first row says that the lock is held again. */
	if (!self->holder) {
		self->holder = call;
		self->hold_cpu = row->cpu;
	}
	return SWS_OK;
}

/* A call that does not follow ours gives back the credit that it has left. */
static void follow_credit(struct sws_slot_replay *self, const struct replay_call *call)
{
	self->device->credit += call->account.call.wanted - call->account.n_theirs;
}

static void follow_base(struct sws_slot_replay *self, const struct row *row)
{
	const uint32_t owner = sws_slots_base_owner(self->device, row->cpu, -1);

	sws_slots_set_base(self->device, owner, row->next);
	self->base_known[owner] = true;
}

static int end(struct sws_slot_replay *self, struct replay_call *call, const struct row *row,
	       struct sws_slot_replay_call *judged, uint64_t *n_judged)
{
	const bool done = row->op == SWS_SLOT_REPLAY_DONE;
	int error = SWS_OK;

	if (done && row->n != call->account.n_theirs)
		return sws_slot_replay__refuse(self, SWS_SLOT_REPLAY_BAD_GIVEN, row->seq);
	if (done && (row->next < 1 || row->next > self->device->max + 1))
		return sws_slot_replay__refuse(self, SWS_SLOT_REPLAY_BAD_BASE, row->seq);
	if (!call->diverged) {
		self->holder = call;
		self->hold_cpu = row->cpu;
		error = sws_slot_replay__settle(
			self, (struct replay_end){ .done = done, .next = row->next });
	}
	if (error)
		return error;
	if (call->diverged)
		follow_credit(self, call);
	if (done)
		follow_base(self, row);
	call->account.next_row = row->next;
	close_call(self, call, judged, n_judged);
	return SWS_OK;
}

static int free_slots(struct sws_slot_replay *self, const struct row *row)
{
	const uint32_t max = self->device->max;
	int error = SWS_OK;

	if (!row->n)
		return sws_slot_replay__refuse(self, SWS_SLOT_REPLAY_BAD_FREED, row->seq);
	if (row->offset < 1 || row->offset >= max || row->n > max - row->offset)
		return sws_slot_replay__refuse(self, SWS_SLOT_REPLAY_BAD_OFFSET, row->seq);
	for (uint32_t i = 0; !error && i < row->n; i++) {
		const uint32_t offset = row->offset + i;
		struct replay_change change;

		if (sws_slots_free_entries(self->device, &offset, 1, &self->work) != SWS_OK)
			return sws_slot_replay__refuse(self, SWS_SLOT_REPLAY_NOT_IN_USE, row->seq);
		change = sws_slot_replay__now(self, offset);
		error = sws_slot_replay__log(self, &change);
	}
	return error;
}

/* Above half full, when all the credit is counted that the rows may not show? */
static bool may_be_full(const struct sws_slot_replay *self, const struct replay_call *call)
{
	const uint64_t credit = sws_slot_replay__least_credit(self, call);
	const uint64_t unseen = (uint64_t)SWS_SLOTS_BATCH * self->cpus;

	return credit < unseen || 2 * (credit - unseen) < slots_pages(self->device);
}

/* What a call may have left after a reuse. */
struct outcome {
	struct replay_call *call;
	struct replay_ration had;
};

static int add_outcome(void *context, const struct replay_way *way)
{
	const struct outcome *outcome = context;

	sws_slot_replay__add_ration(outcome->call, sws_slot_replay__spent(outcome->had, way));
	return SWS_OK;
}

/* The slot of a reuse: can the scan have stopped there, and with what left of its ration? */
static bool explain_reuse(struct sws_slot_replay *self, struct replay_call *call, uint32_t offset)
{
	struct outcome outcome = { .call = call };
	const struct replay_visitor visitor = { .visit = add_outcome, .context = &outcome };
	struct replay_ration rations[REPLAY_RATIONS];
	struct replay_reach reach;
	const uint32_t n_rations = call->n_rations;

	if (call->again && offset == call->call.offset)
		return true;
	sws_slot_replay__reach(self, call, &reach);
	if (!sws_slot_replay__was_used(self, &reach, offset))
		return false;
	memcpy(rations, call->rations, sizeof(rations));
	call->n_rations = 0;
	for (uint32_t i = 0; i < n_rations; i++) {
		outcome.had = rations[i];
		sws_slot_replay__each_way(self, &reach, rations[i].scan_base, offset, &visitor);
	}
	if (call->n_rations)
		return true;
	memcpy(call->rations, rations, sizeof(rations));
	call->n_rations = n_rations;
	return false;
}

static int reuse(struct sws_slot_replay *self, struct replay_call *call, const struct row *row)
{
	int error = SWS_OK;

	if (row->offset < 1 || row->offset >= self->device->max)
		return sws_slot_replay__refuse(self, SWS_SLOT_REPLAY_BAD_OFFSET, row->seq);
	if (row->n > 1)
		return sws_slot_replay__refuse(self, SWS_SLOT_REPLAY_BAD_REUSED, row->seq);
	if (call->diverged)
		return SWS_OK;
	if (!explain_reuse(self, call, row->offset) || !may_be_full(self, call)) {
		if (!call->account.call.fault)
			call->account.reuse = row->offset;
		replay_blame(call, SWS_SLOT_REPLAY_REUSE_FAULT);
	}
	sws_slot_replay__close_window(self, call);
	call->call.offset = row->offset;
	call->call.ration = call->rations[0].left;
	call->call.scanned_many = call->rations[0].scanned_many;
	call->call.scan_base = call->rations[0].scan_base;
	call->call.state = SWS_CALL_RECLAIM;
	error = sws_slots_call_reclaimed(&call->call, row->n == 1);
	if (!error)
		error = sws_slot_replay__lead(self, call, row->cpu);
	/* Freed, but still in use: it waits to be given back, and may be tried once more. */
	call->again = row->n == 1 && call->window;
	return error;
}

/* Does a row go on with the hold that is under way? */
static bool goes_on(const struct sws_slot_replay *self, const struct row *row)
{
	return row->pid == self->holder->pid && row->cpu == self->hold_cpu &&
	       (row->op == SWS_SLOT_REPLAY_ALLOC || row->op == SWS_SLOT_REPLAY_DONE ||
		row->op == SWS_SLOT_REPLAY_FAIL);
}

static int check_row(struct sws_slot_replay *self, const struct row *row)
{
	const uint32_t max = self->device->max;

	if (self->started && row->seq <= self->last_seq)
		return sws_slot_replay__refuse(self, SWS_SLOT_REPLAY_BAD_ORDER, row->seq);
	if (row->op > SWS_SLOT_REPLAY_REUSE)
		return sws_slot_replay__refuse(self, SWS_SLOT_REPLAY_BAD_OP, row->seq);
	if (row->cpu >= self->device->possible_cpus)
		return sws_slot_replay__refuse(self, SWS_SLOT_REPLAY_BAD_CPU, row->seq);
	if (!self->started &&
	    (row->op != SWS_SLOT_REPLAY_CALL || row->lowest != 1 || row->highest != max - 1))
		return sws_slot_replay__refuse(self, SWS_SLOT_REPLAY_BAD_START, row->seq);
	self->started = true;
	self->last_seq = row->seq;
	return SWS_OK;
}

static int feed_row(struct sws_slot_replay *self, const struct row *row,
		    struct sws_slot_replay_call *judged, uint64_t *n_judged)
{
	struct replay_call *call = NULL;
	int error = check_row(self, row);

	if (!error && self->holder && !goes_on(self, row))
		error = sws_slot_replay__cut(self);
	if (error)
		return error;
	if (row->op == SWS_SLOT_REPLAY_CALL)
		return begin(self, row);
	if (row->op == SWS_SLOT_REPLAY_FREE)
		return free_slots(self, row);
	call = find_call(self, row->pid);
	if (!call)
		return sws_slot_replay__refuse(self, SWS_SLOT_REPLAY_NO_CALL, row->seq);
	if (row->op == SWS_SLOT_REPLAY_ALLOC)
		return take_alloc(self, call, row);
	if (row->op == SWS_SLOT_REPLAY_REUSE)
		return reuse(self, call, row);
	return end(self, call, row, judged, n_judged);
}

int sws_slot_replay_feed(struct sws_slot_replay *self, const struct sws_slot_replay_rows *rows,
			 uint64_t count, struct sws_slot_replay_call *judged, uint64_t *n_judged)
{
	int error = self->error;

	*n_judged = 0;
	for (uint64_t i = 0; !error && i < count; i++) {
		const struct row row = {
			.seq = rows->seq[i],
			.cpu = rows->cpu[i],
			.pid = rows->pid[i],
			.op = rows->op[i],
			.n = rows->n[i],
			.offset = rows->offset[i],
			.base = rows->base[i],
			.next = rows->next[i],
			.lowest = rows->lowest[i],
			.highest = rows->highest[i],
		};

		error = feed_row(self, &row, judged, n_judged);
	}
	self->error = error;
	return error;
}

void sws_slot_replay_config_init(struct sws_slot_replay_config *config)
{
	sws_slots_config_init(&config->device);
	config->cpus = 1;
}

static bool config_fits(const struct sws_slot_replay_config *config)
{
	const struct sws_slots_config *device = &config->device;

	return sws_slot_replay_knows(device->kernel) && sws_slot_replay_follows(device->policy) &&
	       !device->rotational && config->cpus >= 1 && config->cpus <= device->possible_cpus;
}

int sws_slot_replay_new(const struct sws_slot_replay_config *config, struct sws_slot_replay **out)
{
	const struct sws_allocator *allocator =
		config->device.allocator ? config->device.allocator : &sws_libc_allocator;
	struct sws_slot_replay *self = NULL;
	int error = SWS_OK;

	*out = NULL;
	if (!config_fits(config))
		return SWS_ERROR_BAD_CONFIG;
	self = sws_allocate_zeroed(allocator, 1, sizeof(*self));
	if (!self)
		return SWS_ERROR_NO_MEMORY;
	self->allocator = *allocator;
	self->first_free = NO_ROOM;
	self->cpus = config->cpus;
	self->rerandomises = config->device.policy == SWS_BASE_PERCPU_RERANDOMISE;
	error = sws_slots_new(&config->device, &self->device);
	if (error)
		goto out;
	error = sws_index_map__init(&self->tasks, &self->allocator);
	if (error)
		goto out;
	self->base_known = sws_allocate_zeroed(&self->allocator, sws_slots_bases(self->device),
					       sizeof(*self->base_known));
	if (!self->base_known) {
		error = SWS_ERROR_NO_MEMORY;
		goto out;
	}
	*out = self;
	self = NULL;
out:
	sws_slot_replay_free(self);
	return error;
}

void sws_slot_replay_free(struct sws_slot_replay *self)
{
	struct sws_allocator allocator;

	if (!self)
		return;
	allocator = self->allocator;
	sws_slots_free(self->device);
	sws_index_map__clear(&self->tasks);
	sws_release(&allocator, self->base_known);
	sws_release(&allocator, self->calls);
	sws_release(&allocator, self->log.changes);
	sws_release(&allocator, self->log.sorted);
	sws_release(&allocator, self);
}

uint32_t sws_slot_replay_problem(const struct sws_slot_replay *self, uint64_t *seq)
{
	*seq = self->problem_seq;
	return self->problem;
}

bool sws_slot_replay_first_mismatch(const struct sws_slot_replay *self,
				    struct sws_slot_replay_mismatch *out)
{
	if (self->mismatched)
		*out = self->first;
	return self->mismatched;
}

uint64_t sws_slot_replay_open(const struct sws_slot_replay *self)
{
	return self->tasks.count;
}

int sws_slot_replay_verify(const struct sws_slot_replay *self, const char **reason)
{
	uint64_t open = 0;
	uint64_t windows = 0;

	for (uint32_t room = 0; room < self->rooms; room++) {
		const struct replay_call *call = &self->calls[room];

		if (!call->open)
			continue;
		open++;
		windows += call->window;
		if (find_call(self, call->pid) != call) {
			*reason = "an open call is not found by its task";
			return SWS_ERROR_BROKEN;
		}
		if (call->window && call->since_change > self->log.n) {
			*reason = "a window begins behind the end of the log";
			return SWS_ERROR_BROKEN;
		}
		if (call->window && call->diverged) {
			*reason = "a call that follows the trace has a window";
			return SWS_ERROR_BROKEN;
		}
	}
	if (open != self->tasks.count || windows != self->windows) {
		*reason = "the open calls and their windows are not as many as counted";
		return SWS_ERROR_BROKEN;
	}
	return sws_slots_verify(self->device, reason);
}
