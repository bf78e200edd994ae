/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * workbench/slot_workbench.c - phases, rounds, and what a task does with a page in its step.
 */
#include "workbench/parts.h"

/* Streams of the run's seed that no base of the device draws from. */
#define STREAM_OF_TASKS (UINT64_C(1) << 32)
#define STREAM_OF_ORDER (UINT64_C(2) << 32)
#define STREAM_OF_THIN  (UINT64_C(3) << 32)

enum {
	STEP_EFFORT = 256,
	SLOT_EFFORT = 8, /* of a slot looked at for its page */
	SLOTS_AT_ONCE = 4096, /* looked at between two looks at the effort */
};

enum workbench_phase { REST, FILL, THIN, INDEX, CHURN, REPLAY };

struct workbench_task {
	uint32_t cpu;
	int32_t mm;
	uint32_t in_flight; /* slot whose page is being written, in the swap cache; 0: none */
	uint64_t row;       /* of a replay: the next one, */
	uint64_t end;       /* the first one past the task's, */
	uint64_t first_slot; /* where its slots begin in self->got, */
	uint32_t n_got;      /* and how many swap-outs it has done */
	struct sws_generator generator;
};

struct sws_workbench {
	struct sws_allocator allocator;
	struct sws_slot_cache *cache;
	struct workbench_meter meter;
	struct workbench_pages pages;
	struct workbench_task *tasks;
	uint32_t *order; /* of the tasks in this round */
	uint32_t *first_task; /* of each address space */
	struct sws_generator order_generator;
	struct sws_generator thin_generator;
	struct sws_workbench_rows rows;
	uint32_t *got; /* of a replay: the slot of each swap-out, NOTHING without one */
	enum workbench_phase phase;
	uint64_t goal;   /* pages out */
	uint64_t rounds; /* left */
	uint64_t rows_left;
	uint64_t rows_skipped; /* still, before the counts begin */
	uint64_t in_flight; /* pages */
	uint64_t need;   /* pages still to be thinned out, */
	uint64_t ahead;  /* among so many that the cursor has not passed */
	uint64_t effort;
	uint32_t cursor;
	uint32_t position; /* in the round */
	uint32_t n_tasks;
	uint32_t cpu; /* of the step under way */
	bool owns_pages; /* each task has an address space, and there are not too many */
	bool asynchronous;
	bool has_clusters;
	bool clears_shadows;
	bool clusters_alone; /* the fill ends with the last free cluster */
	bool full;
	bool advanced; /* a row was done in this round */
};

/* In self->got: the device was full, or the page is in again. */
static const uint32_t NOTHING = UINT32_MAX;

void sws_workbench_config_init(struct sws_workbench_config *config)
{
	*config = (struct sws_workbench_config){
		.overlap_calls = 64,
		.lock_window = 64,
		.span_window = 1024,
	};
	sws_slot_cache_config_init(&config->cache);
}

static bool task_fits(const struct sws_workbench_config *config,
		      const struct sws_workbench_task *task)
{
	return task->cpu < config->cache.device.online_cpus && task->mm >= -1 &&
	       task->mm < (int64_t)config->cache.device.address_spaces;
}

static bool config_fits(const struct sws_workbench_config *config)
{
	if (config->n_tasks > SWS_WORKBENCH_TASKS_MAX || (config->tasks && !config->n_tasks) ||
	    config->overlap_calls < 1 || config->overlap_calls > SWS_WORKBENCH_CALLS_MAX ||
	    config->span_window < 1)
		return false;
	for (uint32_t i = 0; config->tasks && i < config->n_tasks; i++)
		if (!task_fits(config, &config->tasks[i]))
			return false;
	return true;
}

static void observe_reclaimed(void *context, uint32_t offset)
{
	struct sws_workbench *self = context;

	sws_workbench__meter_lock(&self->meter, SWS_WORKBENCH_DELETE, self->cpu, offset);
}

static void observe_freed(void *context, uint32_t offset)
{
	struct sws_workbench *self = context;

	if (self->clears_shadows)
		sws_workbench__meter_lock(&self->meter, SWS_WORKBENCH_FREE, self->cpu, offset);
}

static int make_cache(struct sws_workbench *self, const struct sws_workbench_config *config)
{
	struct sws_slot_cache_config cache = config->cache;

	cache.observer = (struct sws_slot_cache_observer){
		.reclaimed = observe_reclaimed,
		.freed = observe_freed,
		.context = self,
	};
	return sws_slot_cache_new(&cache, &self->cache);
}

static void start_tasks(struct sws_workbench *self, const struct sws_workbench_config *config)
{
	const struct sws_slots_config *device = &config->cache.device;
	const uint32_t spaces = device->address_spaces;

	self->owns_pages = spaces > 0 && spaces <= SWS_WORKBENCH_SPACES_MAX;
	for (uint32_t i = self->n_tasks; i-- > 0;) {
		struct workbench_task *task = &self->tasks[i];

		task->cpu = config->tasks ? config->tasks[i].cpu : i % device->online_cpus;
		task->mm = spaces ? (int32_t)(i % spaces) : -1;
		if (config->tasks)
			task->mm = config->tasks[i].mm;
		self->owns_pages &= task->mm >= 0;
		if (self->owns_pages)
			self->first_task[task->mm] = i;
		self->order[i] = i;
		sws_generator_seed(&task->generator, device->seed, STREAM_OF_TASKS + i);
	}
	sws_generator_seed(&self->order_generator, device->seed, STREAM_OF_ORDER);
	sws_generator_seed(&self->thin_generator, device->seed, STREAM_OF_THIN);
}

static int start(struct sws_workbench *self, const struct sws_workbench_config *config)
{
	const struct sws_slots_config *device = &config->cache.device;
	const struct sws_allocator *allocator = &self->allocator;
	int error = make_cache(self, config);

	if (error)
		return error;
	self->n_tasks = config->n_tasks ? config->n_tasks : device->online_cpus;
	self->tasks = sws_allocate_zeroed(allocator, self->n_tasks, sizeof(*self->tasks));
	self->order = sws_allocate_zeroed(allocator, self->n_tasks, sizeof(*self->order));
	self->first_task =
		sws_allocate_zeroed(allocator, device->address_spaces, sizeof(*self->first_task));
	if (!self->tasks || !self->order || !self->first_task)
		return SWS_ERROR_NO_MEMORY;
	start_tasks(self, config);
	self->position = self->n_tasks;
	error = sws_workbench__meter_new(allocator, config, &self->meter);
	if (!error && self->owns_pages)
		error = sws_workbench__pages_new(allocator, sws_slot_cache_device(self->cache),
						 device->slots, device->address_spaces,
						 &self->pages);
	return error;
}

int sws_workbench_new(const struct sws_workbench_config *config, struct sws_workbench **out)
{
	const struct sws_allocator *allocator = config->cache.device.allocator;
	struct sws_workbench *self = NULL;
	int error = SWS_OK;

	*out = NULL;
	if (!config_fits(config))
		return SWS_ERROR_BAD_CONFIG;
	if (!allocator)
		allocator = &sws_libc_allocator;
	self = sws_allocate_zeroed(allocator, 1, sizeof(*self));
	if (!self)
		return SWS_ERROR_NO_MEMORY;
	self->allocator = *allocator;
	self->asynchronous = config->asynchronous;
	self->has_clusters = !config->cache.device.rotational;
	self->clears_shadows = config->cache.device.kernel == SWS_KERNEL_6_1;
	error = start(self, config);
	if (error)
		goto out;
	*out = self;
	self = NULL;
out:
	sws_workbench_free(self);
	return error;
}

void sws_workbench_free(struct sws_workbench *self)
{
	struct sws_allocator allocator;

	if (!self)
		return;
	allocator = self->allocator;
	sws_release(&allocator, self->got);
	sws_workbench__pages_free(&allocator, &self->pages);
	sws_workbench__meter_free(&allocator, &self->meter);
	sws_release(&allocator, self->first_task);
	sws_release(&allocator, self->order);
	sws_release(&allocator, self->tasks);
	sws_slot_cache_free(self->cache);
	sws_release(&allocator, self);
}

struct sws_slot_cache *sws_workbench_cache(struct sws_workbench *self)
{
	return self->cache;
}

static struct sws_slots *device_of(struct sws_workbench *self)
{
	return sws_slot_cache_device(self->cache);
}

static struct sws_slot_cache_work *work_of(struct sws_workbench *self)
{
	return &self->meter.measures.work;
}

static uint64_t tested(const struct sws_slots_work *work)
{
	return work->tested_scan + work->tested_quick + work->tested_cluster;
}

/* The page was written: it leaves the swap cache, and its memory is free. */
static int finish_swap_out(struct sws_workbench *self, struct workbench_task *task)
{
	const uint32_t slot = task->in_flight;
	uint8_t usage = 0;
	int error = SWS_OK;

	if (!slot)
		return SWS_OK;
	error = sws_slots_uncache(device_of(self), slot, &usage, &work_of(self)->device);
	if (error)
		return error;
	sws_workbench__meter_lock(&self->meter, SWS_WORKBENCH_DELETE, task->cpu, slot);
	task->in_flight = 0;
	self->in_flight--;
	if (self->owns_pages)
		sws_workbench__page_out(&self->pages, (uint32_t)task->mm, slot);
	return SWS_OK;
}

static int get_slot(struct sws_workbench *self, const struct workbench_task *task, uint32_t *slot)
{
	struct sws_slot_cache_work *work = work_of(self);
	const uint64_t before = tested(&work->device);
	struct sws_slots_call call;
	int error = sws_slot_cache_get(self->cache, task->cpu, task->mm, slot, &call, work);

	if (error || call.state == SWS_CALL_START)
		return error;
	self->effort += tested(&work->device) - before;
	sws_workbench__meter_call(&self->meter, task->cpu, tested(&work->device) - before, &call);
	return SWS_OK;
}

/* A page gets a slot, enters the swap cache and is unmapped; its write is under way. */
static int begin_swap_out(struct sws_workbench *self, struct workbench_task *task)
{
	uint32_t slot = 0;
	uint8_t usage = 0;
	int error = get_slot(self, task, &slot);

	if (error)
		return error;
	self->full = !slot;
	if (!slot) {
		self->meter.measures.without_slot++;
		return SWS_OK;
	}
	sws_workbench__meter_page(&self->meter, task->cpu, task->mm, slot);
	sws_workbench__meter_lock(&self->meter, SWS_WORKBENCH_ADD, task->cpu, slot);
	task->in_flight = slot;
	self->in_flight++;
	return sws_slots_duplicate(device_of(self), slot, &usage, &work_of(self)->device);
}

/* The last page table lets go of the slot. */
static int let_go(struct sws_workbench *self, uint32_t slot)
{
	uint8_t usage = 0;

	if (self->owns_pages)
		sws_workbench__page_in(&self->pages, sws_workbench__owner(&self->pages, slot),
				       slot);
	return sws_slots_drop(device_of(self), slot, &usage, &work_of(self)->device);
}

static int give_back(struct sws_workbench *self, uint32_t slot)
{
	return sws_slot_cache_put(self->cache, self->cpu, slot, work_of(self));
}

/* The page is read into the swap cache and mapped; out of the cache, unless it may keep its slot. */
static int swap_in_through_cache(struct sws_workbench *self, uint32_t slot, bool may_keep)
{
	struct sws_slots *device = device_of(self);
	struct sws_slots_work *work = &work_of(self)->device;
	uint8_t usage = 0;
	int error = sws_slots_cache(device, slot, &usage, work);

	if (error)
		return error;
	sws_workbench__meter_lock(&self->meter, SWS_WORKBENCH_ADD, self->cpu, slot);
	error = let_go(self, slot);
	if (error || (may_keep && !sws_slots_swap_full(device)))
		return error;
	error = sws_slots_uncache(device, slot, &usage, work);
	if (error)
		return error;
	sws_workbench__meter_lock(&self->meter, SWS_WORKBENCH_DELETE, self->cpu, slot);
	return give_back(self, slot);
}

/* Models do_swap_page. */
static int swap_in(struct sws_workbench *self, uint32_t slot, bool may_keep)
{
	int error = SWS_OK;

	self->meter.measures.pages_in++;
	if (self->asynchronous)
		return swap_in_through_cache(self, slot, may_keep);
	error = let_go(self, slot);
	return error ? error : give_back(self, slot);
}

/* Swaps any page of the task's address space in. */
static int swap_in_any(struct sws_workbench *self, struct workbench_task *task)
{
	const uint64_t pages = self->pages.counts[task->mm];

	if (!pages)
		return SWS_OK;
	self->effort += UINT64_C(1) << self->pages.block_shift;
	return swap_in(self,
		       sws_workbench__pick(&self->pages, (uint32_t)task->mm,
					   sws_generator_below(&task->generator, pages)),
		       true);
}

/* The row's page is swapped in; false in *done if it is not out yet. */
static int swap_in_of_row(struct sws_workbench *self, uint64_t row, bool *done)
{
	struct workbench_task *owner = &self->tasks[self->rows.owner[row]];
	const uint32_t ordinal = self->rows.ordinal[row];
	uint32_t *got = &self->got[owner->first_slot + ordinal];
	const uint32_t slot = *got;
	int error = SWS_OK;

	*done = ordinal < owner->n_got;
	if (!*done || slot == NOTHING)
		return SWS_OK;
	if (!slot)
		return SWS_ERROR_NOT_FOUND;
	*got = 0;
	if (slot == owner->in_flight)
		error = finish_swap_out(self, owner);
	return error ? error : swap_in(self, slot, false);
}

/* Begins the next row of a task, unless it waits for another's. */
static int begin_row(struct sws_workbench *self, struct workbench_task *task)
{
	bool done = true;
	int error = SWS_OK;

	if (task->row == task->end)
		return SWS_OK;
	if (self->rows.owner[task->row] >= 0) {
		error = swap_in_of_row(self, task->row, &done);
	} else {
		error = begin_swap_out(self, task);
		self->got[task->first_slot + task->n_got++] =
			task->in_flight ? task->in_flight : NOTHING;
	}
	if (!error && done) {
		task->row++;
		self->rows_left--;
		self->advanced = true;
		if (self->rows_skipped && --self->rows_skipped == 0)
			sws_workbench_begin_measures(self);
	}
	return error;
}

/* All pages on their way are written. */
static int finish_all(struct sws_workbench *self)
{
	int error = SWS_OK;

	for (uint32_t i = 0; i < self->n_tasks && !error; i++)
		error = finish_swap_out(self, &self->tasks[i]);
	return error;
}

static int end_phase(struct sws_workbench *self)
{
	self->phase = REST;
	return finish_all(self);
}

static int begin_phase(struct sws_workbench *self, enum workbench_phase phase)
{
	const int error = finish_all(self);

	self->phase = error ? REST : phase;
	self->position = self->n_tasks;
	self->full = false;
	return error;
}

int sws_workbench_fill(struct sws_workbench *self, uint64_t pages, bool clusters_alone)
{
	if (!self->owns_pages)
		return SWS_ERROR_BAD_ARGUMENT;
	self->goal = pages;
	self->clusters_alone = clusters_alone && self->has_clusters;
	return begin_phase(self, FILL);
}

int sws_workbench_thin(struct sws_workbench *self, uint64_t pages)
{
	int error = SWS_ERROR_BAD_ARGUMENT;

	if (!self->owns_pages)
		return error;
	error = begin_phase(self, THIN);
	self->cursor = 1;
	self->ahead = self->pages.out;
	self->need = self->pages.out > pages ? self->pages.out - pages : 0;
	return error;
}

int sws_workbench_churn(struct sws_workbench *self, uint64_t rounds)
{
	int error = SWS_ERROR_BAD_ARGUMENT;

	if (!self->owns_pages)
		return error;
	self->rounds = rounds;
	self->cursor = 0;
	error = begin_phase(self, self->pages.indexed ? CHURN : INDEX);
	if (error || self->pages.indexed)
		return error;
	return sws_workbench__begin_index(&self->allocator, &self->pages);
}

static bool rows_in_order(const struct sws_workbench *self, const struct sws_workbench_rows *rows)
{
	for (uint32_t i = 0; i < self->n_tasks; i++)
		if (rows->first[i] > rows->first[i + 1])
			return false;
	return true;
}

/* Does each page that comes in go out at some time? */
static bool owners_known(const struct sws_workbench *self, const struct sws_workbench_rows *rows)
{
	for (uint64_t row = rows->first[0]; row < rows->first[self->n_tasks]; row++) {
		const int32_t owner = rows->owner[row];

		if (owner < -1 || owner >= (int64_t)self->n_tasks)
			return false;
		if (owner >= 0 && rows->ordinal[row] >= self->tasks[owner].n_got)
			return false;
	}
	return true;
}

/* Deals the rows out; in n_got, for a moment, how many pages each task will have swapped out. */
static uint64_t deal_rows(struct sws_workbench *self, const struct sws_workbench_rows *rows)
{
	uint64_t slots = 0;

	for (uint32_t i = 0; i < self->n_tasks; i++) {
		struct workbench_task *task = &self->tasks[i];

		task->row = rows->first[i];
		task->end = rows->first[i + 1];
		task->first_slot = slots;
		task->n_got = 0;
		for (uint64_t row = task->row; row < task->end; row++)
			task->n_got += rows->owner[row] == -1;
		slots += task->n_got;
	}
	return slots;
}

int sws_workbench_replay(struct sws_workbench *self, const struct sws_workbench_rows *rows,
			 uint64_t skipped)
{
	uint64_t slots = 0;
	int error = begin_phase(self, REST);

	if (error)
		return error;
	if (!rows_in_order(self, rows))
		return SWS_ERROR_BAD_ARGUMENT;
	slots = deal_rows(self, rows);
	if (!owners_known(self, rows))
		return SWS_ERROR_BAD_ARGUMENT;
	sws_release(&self->allocator, self->got);
	self->got = sws_allocate_zeroed(&self->allocator, slots, sizeof(*self->got));
	if (!self->got)
		return SWS_ERROR_NO_MEMORY;
	for (uint32_t i = 0; i < self->n_tasks; i++)
		self->tasks[i].n_got = 0;
	self->rows = *rows;
	self->rows_left = rows->first[self->n_tasks] - rows->first[0];
	self->rows_skipped = skipped;
	if (!skipped)
		sws_workbench_begin_measures(self);
	self->advanced = true;
	self->phase = self->rows_left ? REPLAY : REST;
	return SWS_OK;
}

/* Each page out is taken with the chance that leaves, in the end, exactly as many as asked for. */
static int thin_some(struct sws_workbench *self)
{
	int error = SWS_OK;

	for (uint32_t i = 0; i < SLOTS_AT_ONCE && self->need && !error; i++, self->cursor++) {
		const uint32_t slot = self->cursor;
		const struct workbench_task *task = NULL;

		if (!sws_workbench__is_out(&self->pages, slot))
			continue;
		if (sws_generator_below(&self->thin_generator, self->ahead--) >= self->need)
			continue;
		self->need--;
		task = &self->tasks[self->first_task[sws_workbench__owner(&self->pages, slot)]];
		self->cpu = task->cpu;
		error = let_go(self, slot);
		if (!error)
			error = give_back(self, slot);
	}
	self->effort += SLOT_EFFORT * SLOTS_AT_ONCE;
	if (!self->need && !error)
		error = end_phase(self);
	return error;
}

static void index_some(struct sws_workbench *self)
{
	const uint32_t left = self->pages.slots - self->cursor;
	const uint32_t end = self->cursor + (left < SLOTS_AT_ONCE ? left : SLOTS_AT_ONCE);

	sws_workbench__index(&self->pages, self->cursor, end);
	self->cursor = end;
	self->effort += SLOT_EFFORT * SLOTS_AT_ONCE;
	if (end < self->pages.slots)
		return;
	sws_workbench__end_index(&self->pages);
	self->phase = CHURN;
}

static void shuffle(struct sws_workbench *self)
{
	for (uint32_t left = self->n_tasks; left > 1; left--) {
		const uint64_t other = sws_generator_below(&self->order_generator, left);
		const uint32_t task = self->order[other];

		self->order[other] = self->order[left - 1];
		self->order[left - 1] = task;
	}
}

static bool is_over(const struct sws_workbench *self)
{
	switch (self->phase) {
	case FILL:
		return self->full || self->pages.out + self->in_flight >= self->goal ||
		       (self->clusters_alone &&
			!sws_slots_free_clusters(sws_slot_cache_device(self->cache)));
	case CHURN:
		return !self->rounds;
	case REPLAY:
		return !self->rows_left;
	default:
		return false;
	}
}

/* A step ends the swap-out that is under way, or begins what is next. */
static int step(struct sws_workbench *self)
{
	struct workbench_task *task = &self->tasks[self->order[self->position++]];
	int error = SWS_OK;

	self->cpu = task->cpu;
	self->effort += STEP_EFFORT;
	if (task->in_flight) {
		error = finish_swap_out(self, task);
		self->advanced = true;
	} else if (self->phase == REPLAY) {
		return begin_row(self, task);
	} else {
		error = begin_swap_out(self, task);
	}
	if (self->phase == CHURN && !task->in_flight && !error)
		error = swap_in_any(self, task);
	return error;
}

/* One step of one task; the last of a round ends it. */
static int step_in_round(struct sws_workbench *self)
{
	int error = SWS_OK;

	if (is_over(self))
		return end_phase(self);
	if (self->position == self->n_tasks) {
		if (self->phase == REPLAY && !self->advanced)
			return SWS_ERROR_OUT_OF_ORDER;
		self->advanced = false;
		self->position = 0;
		shuffle(self);
	}
	error = step(self);
	if (error || self->position < self->n_tasks)
		return error;
	sws_workbench__meter_round(&self->meter);
	self->rounds -= self->phase == CHURN;
	return SWS_OK;
}

int sws_workbench_run(struct sws_workbench *self, uint64_t effort, bool *over)
{
	const uint64_t limit = self->effort + effort;
	int error = SWS_OK;

	while (self->phase != REST && self->effort < limit && !error) {
		if (self->phase == THIN)
			error = thin_some(self);
		else if (self->phase == INDEX)
			index_some(self);
		else
			error = step_in_round(self);
	}
	if (error)
		self->phase = REST;
	*over = self->phase == REST;
	return error;
}

void sws_workbench_begin_measures(struct sws_workbench *self)
{
	sws_workbench__meter_begin(&self->meter);
}

void sws_workbench_measures(const struct sws_workbench *self, struct sws_workbench_measures *out)
{
	*out = self->meter.measures;
}

void sws_workbench_cpus(const struct sws_workbench *self, uint64_t *tested_slots, uint64_t *pages)
{
	for (uint32_t cpu = 0; cpu < self->meter.n_cpus; cpu++) {
		tested_slots[cpu] = self->meter.cpus[cpu].tested;
		pages[cpu] = self->meter.cpus[cpu].pages;
	}
}

/* A page that is being written has one page table entry and the cache. */
static bool in_flight_right(const struct sws_workbench *self)
{
	const struct sws_slots *device = sws_slot_cache_device(self->cache);
	uint64_t in_flight = 0;

	for (uint32_t i = 0; i < self->n_tasks; i++) {
		const uint32_t slot = self->tasks[i].in_flight;

		in_flight += slot != 0;
		if (slot && sws_slots_usage(device, slot) != (SWS_SLOT_CACHED | 1))
			return false;
	}
	return in_flight == self->in_flight;
}

int sws_workbench_verify(const struct sws_workbench *self, const char **reason)
{
	int error = sws_slot_cache_verify(self->cache, reason);

	if (!error)
		error = sws_workbench__meter_verify(&self->meter, reason);
	if (!error && self->owns_pages)
		error = sws_workbench__pages_verify(&self->pages, reason);
	if (!error && !in_flight_right(self)) {
		*reason = "a page on its way is not in its slot";
		error = SWS_ERROR_BROKEN;
	}
	return error;
}
