/* SPDX-License-Identifier: GPL-2.0-or-later */
/* des/des.c - the clock and the heap of events. */
#include "des/layout.h"

#define SITES_MAX         65536U
#define HAND_OFF_WAYS_MAX 8U

void sws_des_config_init(struct sws_des_config *config)
{
	*config = (struct sws_des_config){
		.cpus = 1,
		.cpus_per_core = 1,
		.cpus_per_socket = 1,
		.sites = 1,
		.travel_same_core_ns = 5,
		.travel_same_socket_ns = 30,
		.travel_other_socket_ns = 90,
		.hand_off_ways = 3,
	};
}

static bool config_fits(const struct sws_des_config *config)
{
	return config->cpus >= 1 && config->cpus <= CPUS_MAX && config->cpus_per_core >= 1 &&
	       config->cpus_per_socket >= 1 &&
	       config->cpus_per_socket % config->cpus_per_core == 0 && config->sites >= 1 &&
	       config->sites <= SITES_MAX && config->travel_same_core_ns < TIME_MAX / CPUS_MAX &&
	       config->travel_same_socket_ns < TIME_MAX / CPUS_MAX &&
	       config->travel_other_socket_ns < TIME_MAX / CPUS_MAX &&
	       config->irq_save_ns < TIME_MAX / CPUS_MAX && config->hand_off_ways >= 1 &&
	       config->hand_off_ways <= HAND_OFF_WAYS_MAX;
}

int sws_des_new(const struct sws_des_config *config, struct sws_des **out)
{
	const struct sws_allocator *allocator =
		config->allocator ? config->allocator : &sws_libc_allocator;
	struct sws_des *self = NULL;
	int error = SWS_ERROR_NO_MEMORY;

	*out = NULL;
	if (!config_fits(config))
		return SWS_ERROR_BAD_CONFIG;
	self = sws_allocate_zeroed(allocator, 1, sizeof(*self));
	if (!self)
		return SWS_ERROR_NO_MEMORY;
	self->allocator = *allocator;
	self->config = *config;
	self->cpus = sws_allocate_zeroed(allocator, config->cpus, sizeof(*self->cpus));
	self->sites = sws_allocate_zeroed(allocator, config->sites, sizeof(*self->sites));
	self->heap = sws_allocate_zeroed(allocator, config->cpus, sizeof(*self->heap));
	if (!self->cpus || !self->sites || !self->heap)
		goto out;
	for (uint32_t cpu = 0; cpu < config->cpus; cpu++) {
		self->cpus[cpu].first_caller = NO_CPU;
		self->cpus[cpu].last_caller = NO_CPU;
		self->cpus[cpu].core = cpu / config->cpus_per_core;
		self->cpus[cpu].socket = cpu / config->cpus_per_socket;
	}
	error = SWS_OK;
	*out = self;
	self = NULL;
out:
	sws_des_free(self);
	return error;
}

void sws_des_free(struct sws_des *self)
{
	struct sws_allocator allocator;

	if (!self)
		return;
	allocator = self->allocator;
	sws_release(&allocator, self->heap);
	sws_release(&allocator, self->sites);
	sws_release(&allocator, self->locks);
	sws_release(&allocator, self->cpus);
	sws_release(&allocator, self);
}

uint64_t sws_des_now(const struct sws_des *self)
{
	return self->now;
}

/*
 * Events as (time); 10 was just taken and its CPU has created the event of 22:
 *
 *      gap         [ -  20 15 30 12 | 25 ]       25 is below 20: its parent is (5 - 1) / 4
 *      12 rises    [ 12 20 15 30 -  | 25 ]       the least of the four children
 *      22 stays    [ 12 20 15 30 22 | 25 ]       it has no children
 *
 * Closing the gap first would sink 25 from the top and then insert 22 at the end: two sifts. Of two
 * equal times the one created first comes first; a heap alone would not preserve that order, and
 * results would depend on the order of insertion.
 */

/* Sinks an event from the gap at the top to its place; the children of n are 4 n + 1 .. 4 n + 4. */
static inline void sift_down(struct sws_des *self, struct event event)
{
	struct event *heap = self->heap;
	uint32_t at = 0;

	for (;;) {
		const uint32_t begin = 4 * at + 1;
		const uint32_t end = begin + 4 < self->n_events ? begin + 4 : self->n_events;
		struct event least = event;
		uint32_t gap = at;

		for (uint32_t child = begin; child < end; child++)
			if (before(&heap[child], &least)) {
				least = heap[child];
				gap = child;
			}
		if (gap == at)
			break;
		heap[at] = least;
		at = gap;
	}
	heap[at] = event;
}

/* Lets an event rise from the end of the heap, or from its previous place. */
static inline void insert(struct sws_des *self, uint32_t at, struct event event)
{
	struct event *heap = self->heap;

	for (; at > 0 && before(&event, &heap[(at - 1) / 4]); at = (at - 1) / 4)
		heap[at] = heap[(at - 1) / 4];
	heap[at] = event;
}

void sws_des__push(struct sws_des *self, uint32_t cpu, uint64_t time)
{
	const struct event event = new_event(self, cpu, time);

	self->cpus[cpu].state = CPU_PENDING;
	self->cpus[cpu].until = time;
	/*
	 * The CPU whose event was just taken usually creates the next one, so the gap at the top is
	 * left open for it: one sift instead of two.
	 */
	if (self->top_taken) {
		self->top_taken = false;
		sift_down(self, event);
		return;
	}
	insert(self, self->n_events++, event);
}

/* Fills the gap of an event that was taken with the last event of the heap. */
static void close_gap(struct sws_des *self)
{
	if (!self->top_taken)
		return;
	self->top_taken = false;
	if (--self->n_events)
		sift_down(self, self->heap[self->n_events]);
}

bool sws_des_peek(const struct sws_des *self, uint64_t *time)
{
	const uint32_t first = self->top_taken ? 1 : 0;
	const uint32_t end = self->n_events < 5 ? self->n_events : 5;

	if (first >= self->n_events)
		return false;
	*time = self->heap[first].time;
	for (uint32_t i = first + 1; i < end; i++)
		if (self->heap[i].time < *time)
			*time = self->heap[i].time;
	return true;
}

bool sws_des_next(struct sws_des *self, uint32_t *cpu)
{
	close_gap(self);
	if (!self->n_events)
		return false;
	self->top_taken = true;
	self->now = self->heap[0].time;
	*cpu = cpu_of(&self->heap[0]);
	self->cpus[*cpu].state = CPU_IDLE;
	return true;
}

int sws_des_run(struct sws_des *self, uint32_t cpu, uint64_t ns)
{
	struct cpu *runner = NULL;

	if (!des_is_idle(self, cpu) || ns > TIME_MAX || self->now > TIME_MAX)
		return SWS_ERROR_BAD_ARGUMENT;
	runner = des_resume(self, cpu);
	if (runner->held)
		runner->account.hold_ns += ns;
	else
		runner->account.run_ns += ns;
	sws_des__push(self, cpu, self->now + ns);
	return SWS_OK;
}

/*
 * Moves an event to the current time; it rises from its place. The gap at the top is closed first,
 * because its content was taken and is not an event.
 */
int sws_des_hasten(struct sws_des *self, uint32_t number)
{
	struct cpu *cpu = NULL;
	uint32_t at = 0;

	if (number >= self->config.cpus || self->cpus[number].state != CPU_PENDING ||
	    self->cpus[number].held)
		return SWS_ERROR_BAD_ARGUMENT;
	cpu = &self->cpus[number];
	/* Its event is due now: a new sequence number would put it behind those created since. */
	if (cpu->until == self->now)
		return SWS_OK;
	close_gap(self);
	cpu->account.run_ns -= cpu->until - self->now;
	while (cpu_of(&self->heap[at]) != number)
		at++;
	insert(self, at, new_event(self, number, self->now));
	cpu->until = self->now;
	return SWS_OK;
}

struct sws_des_site sws_des_site_of(const struct sws_des *self, uint32_t site)
{
	return site < self->config.sites ? self->sites[site] : (struct sws_des_site){ 0 };
}

struct sws_des_cpu sws_des_cpu_of(const struct sws_des *self, uint32_t cpu)
{
	return cpu < self->config.cpus ? self->cpus[cpu].account : (struct sws_des_cpu){ 0 };
}
