/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slots/workbench/make.c - creation, inspection and verification of a workbench. */
#include "slots/workbench/parts.h"

/* Streams of the run's seed from which no base of the device draws. */
#define STREAM_OF_TASKS   (UINT64_C(1) << 32)
#define STREAM_OF_ORDER   (UINT64_C(2) << 32)
#define STREAM_OF_THIN    (UINT64_C(3) << 32)
#define STREAM_OF_CHANGES (UINT64_C(4) << 32)

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
		self->tasks_on[task->cpu]++;
		sws_generator_seed(&task->generator, device->seed, STREAM_OF_TASKS + i);
	}
	sws_generator_seed(&self->order_generator, device->seed, STREAM_OF_ORDER);
	sws_generator_seed(&self->thin_generator, device->seed, STREAM_OF_THIN);
	sws_generator_seed(&self->change_generator, device->seed, STREAM_OF_CHANGES);
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
	self->n_cpus = device->online_cpus;
	self->tasks_on = sws_allocate_zeroed(allocator, self->n_cpus, sizeof(*self->tasks_on));
	self->first_task =
		sws_allocate_zeroed(allocator, device->address_spaces, sizeof(*self->first_task));
	if (!self->tasks || !self->order || !self->tasks_on || !self->first_task)
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
	struct sws_workbench *self = NULL;
	int error = SWS_OK;

	*out = NULL;
	if (!config_fits(config))
		return SWS_ERROR_BAD_CONFIG;
	self = sws_create(config->cache.device.allocator, sizeof(*self));
	if (!self)
		return SWS_ERROR_NO_MEMORY;
	self->asynchronous = config->asynchronous;
	self->pages_a_cpu = config->pages_a_cpu;
	self->has_clusters = !config->cache.device.rotational;
	self->clears_shadows = config->cache.device.kernel == SWS_KERNEL_6_1;
	error = start(self, config);
	if (error)
		sws_workbench_free(self);
	else
		*out = self;
	return error;
}

void sws_workbench_free(struct sws_workbench *self)
{
	if (!self)
		return;
	sws_release(&self->allocator, self->got);
	sws_workbench__pages_free(&self->allocator, &self->pages);
	sws_workbench__meter_free(&self->allocator, &self->meter);
	sws_release(&self->allocator, self->first_task);
	sws_release(&self->allocator, self->tasks_on);
	sws_release(&self->allocator, self->order);
	sws_release(&self->allocator, self->tasks);
	sws_slot_cache_free(self->cache);
	sws_destroy(self);
}

struct sws_slot_cache *sws_workbench_cache(struct sws_workbench *self)
{
	return self->cache;
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

uint32_t sws_workbench_last_slot(const struct sws_workbench *self, int64_t mm)
{
	const bool known = mm >= -1 && mm < (int64_t)self->pages.spaces;
	const uint32_t slot = known ? self->meter.last_slots[mm + 1] : 0;

	return slot == UINT32_MAX ? 0 : slot;
}

/* A page under writeback has one page table entry and is in the swap cache. */
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

/* A CPU without tasks is in no trunk. */
static bool places_right(const struct sws_workbench *self)
{
	uint64_t tasks = 0;

	for (uint32_t cpu = 0; cpu < self->n_cpus; cpu++) {
		tasks += self->tasks_on[cpu];
		if (self->meter.cpus[cpu].stands && !self->tasks_on[cpu])
			return false;
	}
	return tasks == self->n_tasks;
}

int sws_workbench_verify(const struct sws_workbench *self, const char **reason)
{
	int error = sws_slot_cache_verify(self->cache, reason);

	if (!error)
		error = sws_workbench__meter_verify(&self->meter, reason);
	if (!error && self->owns_pages)
		error = sws_workbench__pages_verify(&self->pages, reason);
	if (!error && !in_flight_right(self)) {
		*reason = "a page under writeback is not in its slot";
		error = SWS_ERROR_BROKEN;
	}
	if (!error && !places_right(self)) {
		*reason = "a CPU without a task is in a trunk, or a task is on no CPU";
		error = SWS_ERROR_BROKEN;
	}
	return error;
}
