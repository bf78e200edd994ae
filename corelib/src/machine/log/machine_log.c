/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/log/machine_log.c - finds the spans that an event has ended, by comparing the states
 * before and after it.
 *
 * An event belongs to one CPU. It releases any of its locks, and then requests at most one lock,
 * spends time, or sleeps. So only the following can have changed:
 *
 *      others    a CPU that waited for a released lock has it, or its interrupt is taken
 *      itself    locks that it had are another CPU's, free, or acquired again
 *                it has one more lock, or waits
 *
 * If it requested a lock and got it at once, its state is the same as if it had run; but the sites'
 * counts have increased by one more than the other CPUs explain. The same holds for a lock that it
 * released and acquired again at the same moment:
 *
 *      before    CPU 0 holds lock 3 since 190                acquisitions 17
 *      event     at 190: releases it, acquires it again
 *      after     CPU 0 holds lock 3 since 190                acquisitions 18
 */
#include "des/inspect.h"
#include "machine/log/layout.h"

static void report(struct sws_machine_log *self, struct sws_span span)
{
	self->spans[self->n_spans++] = span;
}

static const struct sws_des *des_of(const struct sws_machine_log *self)
{
	return self->machine->engine.des;
}

static uint64_t count_acquisitions(const struct sws_machine_log *self)
{
	uint64_t sum = 0;

	for (uint32_t site = 0; site < SWS_SITES; site++)
		sum += sws_des_site_of(des_of(self), site).acquisitions;
	return sum;
}

static int add_held(struct log_cpu *cpu, struct log_held held)
{
	if (cpu->n_held == LOG_MOST_HELD)
		return SWS_ERROR_BROKEN;
	cpu->held[cpu->n_held++] = held;
	return SWS_OK;
}

static bool is_held(const struct log_cpu *cpu, uint32_t lock)
{
	for (uint32_t i = 0; i < cpu->n_held; i++)
		if (cpu->held[i].lock == lock)
			return true;
	return false;
}

static void begin_wait(struct sws_machine_log *self, uint32_t cpu, uint64_t from, uint32_t lock,
		       uint32_t holder)
{
	struct log_cpu *waiter = &self->cpus[cpu];

	waiter->waits = true;
	waiter->from = from;
	waiter->lock = lock;
	waiter->holder = holder;
	self->n_waiting++;
}

static bool has_waited(const struct sws_machine_log *self, uint32_t n)
{
	return self->cpus[n].waits && !sws_des__look_at_cpu(des_of(self), n).waits;
}

static uint32_t count_waited(const struct sws_machine_log *self)
{
	uint32_t waited = 0;

	for (uint32_t n = 0; n < self->machine->n_actors && self->n_waiting; n++)
		waited += has_waited(self, n);
	return waited;
}

/* Ends the waits that are over; their CPUs have an event at that time. */
static int end_waits(struct sws_machine_log *self, uint32_t waited)
{
	int error = SWS_OK;

	for (uint32_t n = 0; waited && !error; n++) {
		struct log_cpu *cpu = &self->cpus[n];
		const struct des_cpu_look look = sws_des__look_at_cpu(des_of(self), n);

		if (!has_waited(self, n))
			continue;
		waited--;
		cpu->waits = false;
		self->n_waiting--;
		report(self, (struct sws_span){ cpu->from, look.until, SWS_SPAN_WAIT, n, look.site,
						cpu->lock, cpu->holder });
		if (cpu->lock != SWS_LOG_NONE)
			error = add_held(cpu,
					 (struct log_held){ look.until, cpu->lock, look.site });
	}
	return error;
}

/*
 * Returns the lock that a CPU has just acquired. A lock that it held before, since this very
 * moment, looks the same; it is returned only if there is no other.
 */
static uint32_t find_given(struct sws_machine_log *self, uint32_t n, uint32_t site)
{
	struct log_cpu *cpu = &self->cpus[n];
	uint32_t lock = cpu->last[site];

	for (uint32_t tries = 0; tries <= cpu->n_held; tries++) {
		lock = sws_des__given_to(des_of(self), n, tries ? lock + 1 : lock);
		if (lock == DES_NONE || !is_held(cpu, lock))
			break;
	}
	return lock;
}

/* Ends the holds of locks that the CPU no longer has, or has acquired again: the given one. */
static void end_holds(struct sws_machine_log *self, uint32_t n, uint32_t given)
{
	struct log_cpu *cpu = &self->cpus[n];
	uint32_t kept = 0;

	for (uint32_t i = 0; i < cpu->n_held; i++) {
		const struct log_held held = cpu->held[i];

		if (held.lock != given &&
		    sws_des__look_at_lock(des_of(self), held.lock).holder == n)
			cpu->held[kept++] = held;
		else
			report(self, (struct sws_span){ held.since, machine_now(self->machine),
							SWS_SPAN_HOLD, n, held.site, held.lock,
							SWS_LOG_NONE });
	}
	cpu->n_held = kept;
}

static int take_given(struct sws_machine_log *self, uint32_t n, uint32_t lock)
{
	struct log_cpu *cpu = &self->cpus[n];
	const struct des_cpu_look look = sws_des__look_at_cpu(des_of(self), n);

	report(self, (struct sws_span){ machine_now(self->machine), look.until, SWS_SPAN_WAIT, n,
					look.site, lock, SWS_LOG_NONE });
	if (lock == SWS_LOG_NONE)
		return SWS_OK;
	cpu->last[look.site] = lock;
	return add_held(cpu, (struct log_held){ look.until, lock, look.site });
}

static int note_wait(struct sws_machine_log *self, uint32_t n, uint32_t site)
{
	struct log_cpu *cpu = &self->cpus[n];
	const uint64_t now = machine_now(self->machine);
	uint32_t lock = SWS_LOG_NONE;

	if (site == SWS_SITE_FLUSH) {
		begin_wait(self, n, now, SWS_LOG_NONE, sws_des__called_by(des_of(self), n));
		return SWS_OK;
	}
	lock = sws_des__queue_of(des_of(self), n, cpu->last[site]);
	if (lock == DES_NONE)
		return SWS_ERROR_BROKEN;
	cpu->last[site] = lock;
	begin_wait(self, n, now, lock, sws_des__look_at_lock(des_of(self), lock).holder);
	return SWS_OK;
}

/*
 * Reports the spans that an event of a CPU has ended: holds first, then the waits that they ended.
 */
static int look_behind(struct sws_machine_log *self, uint32_t n)
{
	const uint64_t before = self->acquisitions;
	const uint32_t waited = count_waited(self);
	const struct des_cpu_look look = sws_des__look_at_cpu(des_of(self), n);
	uint32_t given = SWS_LOG_NONE;
	bool was_given = false;
	int error = SWS_OK;

	self->acquisitions = count_acquisitions(self);
	was_given = self->acquisitions - before > waited;
	if (was_given && look.site != SWS_SITE_FLUSH) {
		given = find_given(self, n, look.site);
		if (given == DES_NONE)
			return SWS_ERROR_BROKEN;
	}
	end_holds(self, n, given);
	error = end_waits(self, waited);
	if (!error && was_given)
		error = take_given(self, n, given);
	if (!error && look.waits)
		error = note_wait(self, n, look.site);
	if (!error && self->cpus[n].n_held != look.held)
		error = SWS_ERROR_BROKEN;
	return error;
}

static int take_event(struct sws_machine_log *self, uint32_t n)
{
	struct engine_thread *thread = &self->machine->actors[n].thread;
	struct log_cpu *cpu = &self->cpus[n];
	const uint64_t awaited_ns = thread->awaited_ns;
	int error = SWS_OK;

	if (cpu->sleeps)
		report(self,
		       (struct sws_span){ cpu->from, machine_now(self->machine), SWS_SPAN_SLEEP, n,
					  SWS_LOG_NONE, SWS_LOG_NONE, SWS_LOG_NONE });
	self->machine->events++;
	error = sws_engine__resume(thread);
	cpu->sleeps = thread->asleep || thread->awaited_ns != awaited_ns;
	if (cpu->sleeps)
		cpu->from = machine_now(self->machine);
	return error ? error : look_behind(self, n);
}

uint32_t sws_machine_log_room(const struct sws_machine_log *self)
{
	return self->machine->n_actors + LOG_MOST_HELD + 2;
}

int sws_machine_log_run(struct sws_machine_log *self, uint64_t until_ns, uint64_t max_events,
			struct sws_span *spans, uint32_t room, uint32_t *n, bool *more)
{
	uint32_t cpu = 0;
	int error = SWS_OK;

	if (room < sws_machine_log_room(self))
		return SWS_ERROR_BAD_ARGUMENT;
	self->spans = spans;
	self->n_spans = 0;
	*more = true;
	for (; max_events && self->n_spans <= room - sws_machine_log_room(self) && !error;
	     max_events--) {
		if (machine_now(self->machine) >= until_ns ||
		    !sws_des_next(self->machine->engine.des, &cpu)) {
			*more = false;
			break;
		}
		error = take_event(self, cpu);
	}
	*n = self->n_spans;
	return error;
}

uint32_t sws_machine_log_cached(const struct sws_machine_log *self)
{
	uint32_t cached = 0;

	for (uint32_t page = 0; page < self->machine->n_pages; page++)
		cached += self->machine->pages[page].slot != 0;
	return cached;
}

/* Reads the state of a CPU when the log begins: its locks, its wait, or its sleep. */
static int find_state(struct sws_machine_log *self)
{
	const uint32_t n_locks = sws_des__count_locks(des_of(self));
	int error = SWS_OK;

	for (uint32_t lock = 0; lock < n_locks && !error; lock++) {
		const struct des_lock_look look = sws_des__look_at_lock(des_of(self), lock);

		if (look.holder != DES_NONE)
			error = add_held(&self->cpus[look.holder],
					 (struct log_held){ look.since, lock, look.site });
		for (uint32_t cpu = sws_des__next_waiter(des_of(self), lock, DES_NONE);
		     cpu != DES_NONE; cpu = sws_des__next_waiter(des_of(self), lock, cpu))
			begin_wait(self, cpu, sws_des__look_at_cpu(des_of(self), cpu).until, lock,
				   look.holder);
	}
	for (uint32_t n = 0; n < self->machine->n_actors; n++) {
		const struct engine_thread *thread = &self->machine->actors[n].thread;

		for (uint32_t cpu = sws_des__next_caller(des_of(self), n, DES_NONE);
		     cpu != DES_NONE; cpu = sws_des__next_caller(des_of(self), n, cpu))
			begin_wait(self, cpu, sws_des__look_at_cpu(des_of(self), cpu).until,
				   SWS_LOG_NONE, n);
		if (thread->asleep && !thread->dozes) {
			self->cpus[n].sleeps = true;
			self->cpus[n].from = sws_des__look_at_cpu(des_of(self), n).until;
		}
	}
	return error;
}

int sws_machine_log_new(struct sws_machine *machine, struct sws_machine_log **out)
{
	struct sws_machine_log *self = NULL;
	int error = SWS_ERROR_NO_MEMORY;

	*out = NULL;
	if (machine->fill.phase != PHASE_RUN)
		return SWS_ERROR_BAD_ARGUMENT;
	self = sws_allocate_zeroed(&machine->allocator, 1, sizeof(*self));
	if (!self)
		return SWS_ERROR_NO_MEMORY;
	self->allocator = machine->allocator;
	self->machine = machine;
	self->cpus = sws_allocate_zeroed(&self->allocator, machine->n_actors, sizeof(*self->cpus));
	if (!self->cpus)
		goto out;
	self->acquisitions = count_acquisitions(self);
	error = find_state(self);
	if (error)
		goto out;
	*out = self;
	self = NULL;
out:
	sws_machine_log_free(self);
	return error;
}

void sws_machine_log_free(struct sws_machine_log *self)
{
	struct sws_allocator allocator;

	if (!self)
		return;
	allocator = self->allocator;
	sws_release(&allocator, self->cpus);
	sws_release(&allocator, self);
}
