/* SPDX-License-Identifier: GPL-2.0-or-later */
/* des/verify.c - recomputes each invariant of clock, events and queues from its parts. */
#include "des/layout.h"

static int broken(const char **reason, const char *sentence)
{
	*reason = sentence;
	return SWS_ERROR_BROKEN;
}

/*
 * In the example of locks.c CPU 1 ends at 290: held 100, waited 190, never idle. The time of a
 * pending event is already counted, so the sum equals `until`, not the clock.
 */
static int verify_cpus(const struct sws_des *self, uint64_t *held, const char **reason)
{
	for (uint32_t i = 0; i < self->config.cpus; i++) {
		const struct cpu *cpu = &self->cpus[i];
		const struct sws_des_cpu *account = &cpu->account;

		if (account->run_ns + account->hold_ns + account->wait_ns + account->idle_ns !=
		    cpu->until)
			return broken(reason, "a CPU's times do not add up to its clock");
		if (cpu->state == CPU_PENDING && cpu->until < self->now)
			return broken(reason, "an event is in the past");
		if (cpu->state != CPU_PENDING && cpu->until > self->now)
			return broken(reason, "the clock is behind a CPU that has no event");
		*held += cpu->held;
		for (uint32_t caller = cpu->first_caller; caller != NO_CPU;
		     caller = self->cpus[caller].next_waiter)
			if (!cpu->irqs_off || self->cpus[caller].state != CPU_WAITING)
				return broken(reason,
					      "an interrupt that could be taken is waiting");
	}
	return SWS_OK;
}

/* Sums over all CPUs the locks that they hold or wait for with interrupts off. */
static int verify_irqs_off(const struct sws_des *self, const char **reason)
{
	uint64_t by_cpus = 0;
	uint64_t by_locks = 0;

	for (uint32_t i = 0; i < self->config.cpus; i++)
		by_cpus += self->cpus[i].irqs_off;
	for (uint32_t i = 0; i < self->n_locks; i++) {
		const struct lock *lock = &self->locks[i];

		by_locks += lock->holder != NO_CPU && lock->irq_save;
		for (uint32_t cpu = lock->first_waiter; cpu != NO_CPU;
		     cpu = self->cpus[cpu].next_waiter)
			by_locks += self->cpus[cpu].irq_save;
	}
	return by_cpus == by_locks
		       ? SWS_OK
		       : broken(reason, "the locks with interrupts off are not those of the CPUs");
}

/* The holder has acquired the lock: not later than its event, and not before it went on. */
static int verify_holder(const struct sws_des *self, const struct lock *lock, const char **reason)
{
	const struct cpu *holder = NULL;

	if (lock->holder == NO_CPU)
		return SWS_OK;
	holder = &self->cpus[lock->holder];
	if (!holder->held || lock->since > holder->until)
		return broken(reason, "a lock is held by a CPU that has not acquired it");
	return SWS_OK;
}

/* A CPU that waits is in one queue: that of a lock, or that of a CPU that it interrupts. */
static int verify_waiters(const struct sws_des *self, uint64_t queued, const char **reason)
{
	uint64_t waiting = 0;

	for (uint32_t i = 0; i < self->config.cpus; i++) {
		waiting += self->cpus[i].state == CPU_WAITING;
		for (uint32_t caller = self->cpus[i].first_caller; caller != NO_CPU;
		     caller = self->cpus[caller].next_waiter)
			queued++;
	}
	return waiting == queued ? SWS_OK
				 : broken(reason, "a waiting CPU is in no queue or in two");
}

static int verify_locks(const struct sws_des *self, uint64_t *held, const char **reason)
{
	uint64_t queued = 0;

	for (uint32_t i = 0; i < self->n_locks; i++) {
		const struct lock *lock = &self->locks[i];
		uint32_t waiters = 0;

		*held += lock->holder != NO_CPU;
		for (uint32_t cpu = lock->first_waiter; cpu != NO_CPU && waiters <= lock->waiters;
		     cpu = self->cpus[cpu].next_waiter) {
			waiters++;
			if (self->cpus[cpu].state != CPU_WAITING)
				return broken(reason, "a CPU in a lock's queue does not wait");
		}
		if (waiters != lock->waiters)
			return broken(reason, "the count of a lock's queue is not its length");
		if (waiters && lock->holder == NO_CPU)
			return broken(reason, "a free lock has waiters");
		if (verify_holder(self, lock, reason))
			return SWS_ERROR_BROKEN;
		queued += waiters;
	}
	return verify_waiters(self, queued, reason);
}

static int verify_events(const struct sws_des *self, const char **reason)
{
	uint64_t pending = 0;

	for (uint32_t i = 0; i < self->config.cpus; i++)
		pending += self->cpus[i].state == CPU_PENDING;
	if (pending != self->n_events)
		return broken(reason,
			      "the queue of events has not one of each CPU that is pending");
	for (uint32_t i = 0; i < self->n_events; i++) {
		const struct cpu *cpu = &self->cpus[self->queue[i]];

		if (cpu->state != CPU_PENDING)
			return broken(reason, "an event is of a CPU that is not pending");
		if (i && cpu->until > self->cpus[self->queue[i - 1]].until)
			return broken(reason, "the queue of events is out of order");
	}
	return SWS_OK;
}

int sws_des_verify(const struct sws_des *self, const char **reason)
{
	uint64_t held_by_cpus = 0;
	uint64_t held_locks = 0;
	int error = verify_cpus(self, &held_by_cpus, reason);

	if (!error)
		error = verify_locks(self, &held_locks, reason);
	if (!error)
		error = verify_irqs_off(self, reason);
	if (!error)
		error = verify_events(self, reason);
	if (!error && held_by_cpus != held_locks)
		error = broken(reason, "the locks held are not those of the CPUs");
	return error;
}
