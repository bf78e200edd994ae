/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * des/inspect.c - a waiting CPU does not store its lock: its place in a queue determines it. Nor
 * does a CPU that acquired a lock at once; that acquisition is the time of the CPU's event.
 *
 *      lock 4     holder 1   since 190   last waiter 2
 *      CPU 1      until 190              given_to(1) = 4
 *      CPU 2      waits since 20         queue_of(2) = 4
 */
#include "des/inspect.h"

#include "des/layout.h"

struct des_cpu_look sws_des__look_at_cpu(const struct sws_des *self, uint32_t number)
{
	const struct cpu *cpu = &self->cpus[number];

	return (struct des_cpu_look){
		.until = cpu->until,
		.site = cpu->site,
		.held = cpu->held,
		.waits = cpu->state == CPU_WAITING,
	};
}

struct des_lock_look sws_des__look_at_lock(const struct sws_des *self, uint32_t number)
{
	const struct lock *lock = &self->locks[number];

	return (struct des_lock_look){
		.since = lock->since,
		.holder = lock->holder,
		.site = lock->site,
	};
}

uint32_t sws_des__count_locks(const struct sws_des *self)
{
	return self->n_locks;
}

uint32_t sws_des__next_waiter(const struct sws_des *self, uint32_t lock, uint32_t after)
{
	return after == DES_NONE ? self->locks[lock].first_waiter : self->cpus[after].next_waiter;
}

uint32_t sws_des__next_caller(const struct sws_des *self, uint32_t cpu, uint32_t after)
{
	return after == DES_NONE ? self->cpus[cpu].first_caller : self->cpus[after].next_waiter;
}

static bool ends_queue(const struct sws_des *self, uint32_t lock, uint32_t cpu)
{
	return self->locks[lock].last_waiter == cpu;
}

static bool is_given(const struct sws_des *self, uint32_t number, uint32_t cpu)
{
	const struct lock *lock = &self->locks[number];

	return lock->holder == cpu && lock->since == self->cpus[cpu].until &&
	       lock->site == self->cpus[cpu].site;
}

/* A CPU usually takes the same lock at the same site again, so the search starts there. */
static uint32_t search(const struct sws_des *self, uint32_t cpu, uint32_t from,
		       bool (*is_it)(const struct sws_des *, uint32_t, uint32_t))
{
	for (uint32_t lock = from; lock < self->n_locks; lock++)
		if (is_it(self, lock, cpu))
			return lock;
	for (uint32_t lock = 0; lock < from && lock < self->n_locks; lock++)
		if (is_it(self, lock, cpu))
			return lock;
	return DES_NONE;
}

uint32_t sws_des__queue_of(const struct sws_des *self, uint32_t cpu, uint32_t from)
{
	return search(self, cpu, from, ends_queue);
}

uint32_t sws_des__given_to(const struct sws_des *self, uint32_t cpu, uint32_t from)
{
	return search(self, cpu, from, is_given);
}

uint32_t sws_des__called_by(const struct sws_des *self, uint32_t cpu)
{
	for (uint32_t other = 0; other < self->config.cpus; other++)
		if (self->cpus[other].last_caller == cpu)
			return other;
	return DES_NONE;
}
