/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * des/locks.c - the queues of locks, and of CPUs that interrupt another one.
 *
 * Three CPUs of one socket, transfer 30, each holds the lock for 100:
 *
 *      time     0    100  190       290  380       480
 *      CPU 0    [====]                                   acquires it at once, without a transfer
 *      CPU 1     |~~~~~~~~[=========]                    second: 3 x 30 until it has the lock
 *      CPU 2     |~~~~~~~~~~~~~~~~~~~~~~~[=========]
 *
 * The lock belongs to CPU 1 from 100 on, though its event, and its hold, begin at 190: a CPU that
 * requests it in between waits behind CPU 2. The line of a test-and-set lock is transferred once
 * for each waiter, 2 x 30 and then 30:
 *
 *      requested at 0      queued             test-and-set
 *      CPU 1 waits, holds  190, 190 .. 290    160, 160 .. 260
 *      CPU 2               380, 380 .. 480    290, 290 .. 390
 *
 * With a ticket lock all waiters read the line again after the holder's store, one after the other, and
 * the next holder is on average in the middle: 30 + 30 for one waiter or two, 30 + 2 x 30 for three.
 *
 * A hold is counted from 190, not from 100: the transfer of the line is wait. So the three holds
 * sum to 300 with either lock, and the cost of the lock is in the waits. The kernel's queue is
 * kernel/locking/qspinlock.c (4.2 on).
 */
#include "des/queue.h"

int sws_des_add_locks(struct sws_des *self, enum sws_lock_kind kind, uint32_t n, uint32_t *first)
{
	const uint64_t total = (uint64_t)self->n_locks + n;
	struct lock *locks = NULL;

	if (!n || (unsigned int)kind > SWS_LOCK_TICKET || total > UINT32_MAX / sizeof(*locks))
		return SWS_ERROR_BAD_ARGUMENT;
	locks = sws_resize_array(&self->allocator, self->locks, (size_t)total, sizeof(*locks));
	if (!locks)
		return SWS_ERROR_NO_MEMORY;
	self->locks = locks;
	for (uint32_t i = self->n_locks; i < total; i++)
		locks[i] = (struct lock){
			.kind = kind,
			.holder = NO_CPU,
			.last_holder = NO_CPU,
			.first_waiter = NO_CPU,
			.last_waiter = NO_CPU,
		};
	*first = self->n_locks;
	self->n_locks = (uint32_t)total;
	return SWS_OK;
}

/*
 * With two CPUs per core and eight per socket, 0 and 1 share a core, 0 and 2 a socket; 8 is on
 * another.
 */
static uint64_t travel(const struct sws_des *self, uint32_t from, uint32_t to)
{
	const struct cpu *cpus = self->cpus;

	if (from == NO_CPU || from == to)
		return 0;
	/* A sum, because a processor cannot predict branches on where a waiter is. */
	return self->travel_ns[(cpus[from].core != cpus[to].core) +
			       (cpus[from].socket != cpus[to].socket)];
}

static uint64_t longer(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Ends the wait of a CPU at a time. */
static void end_wait(struct sws_des *self, uint32_t cpu, uint64_t at)
{
	struct cpu *waiter = &self->cpus[cpu];
	struct sws_des_site *site = &self->sites[waiter->site];
	const uint64_t waited = at - waiter->until;

	site->acquisitions++;
	site->wait_ns += waited;
	site->longest_wait_ns = longer(site->longest_wait_ns, waited);
	waiter->account.wait_ns += waited;
	des_push(self, cpu, at);
}

/* Gives the lock to a CPU, whose event follows after all transfers of the line. */
static void grant(struct sws_des *self, struct lock *lock, uint32_t cpu, uint32_t transfers)
{
	struct cpu *winner = &self->cpus[cpu];
	const uint64_t at = self->now + travel(self, lock->last_holder, cpu) * transfers +
			    (winner->irq_save ? self->config.irq_save_ns : 0);

	self->sites[winner->site].moved += lock->last_holder != NO_CPU && lock->last_holder != cpu;
	winner->held++;
	winner->crowded |= lock->waiters > 0;
	lock->holder = cpu;
	lock->site = winner->site;
	lock->irq_save = winner->irq_save;
	lock->since = at;
	end_wait(self, cpu, at);
}

static bool holds(const struct lock *lock, uint32_t cpu)
{
	return lock->holder == cpu;
}

int sws_des_lock(struct sws_des *self, uint32_t cpu, uint32_t number, uint32_t site, bool irq_save)
{
	struct lock *lock = NULL;
	struct cpu *asking = NULL;

	if (!des_is_idle(self, cpu) || number >= self->n_locks || site >= self->config.sites ||
	    self->now > TIME_MAX || holds(&self->locks[number], cpu))
		return SWS_ERROR_BAD_ARGUMENT;
	lock = &self->locks[number];
	asking = des_resume(self, cpu);
	asking->site = site;
	asking->irq_save = irq_save;
	asking->irqs_off += irq_save;
	if (lock->holder == NO_CPU) {
		grant(self, lock, cpu, 1);
		return SWS_OK;
	}
	self->sites[site].contended++;
	asking->state = CPU_WAITING;
	asking->next_waiter = NO_CPU;
	if (lock->first_waiter == NO_CPU)
		lock->first_waiter = cpu;
	else
		self->cpus[lock->last_waiter].next_waiter = cpu;
	lock->last_waiter = cpu;
	lock->waiters++;
	return SWS_OK;
}

/*
 * Returns the waiter that the line reaches first; of several the one that arrived first. So a
 * test-and-set lock is unfair: with CPUs 0 and 1 on one socket, CPU 2 of another socket, which
 * arrived first, sees the lock go 0 -> 1 -> 0 for as long as these two request it again in time.
 */
static uint32_t nearest_waiter(const struct sws_des *self, const struct lock *lock,
			       uint32_t *predecessor)
{
	uint32_t nearest = lock->first_waiter;
	uint32_t previous = NO_CPU;

	*predecessor = NO_CPU;
	for (uint32_t cpu = lock->first_waiter; cpu != NO_CPU;
	     previous = cpu, cpu = self->cpus[cpu].next_waiter)
		if (travel(self, lock->last_holder, cpu) <
		    travel(self, lock->last_holder, nearest)) {
			nearest = cpu;
			*predecessor = previous;
		}
	return nearest;
}

/* Returns how often the line is transferred until the next holder has the lock. */
static uint32_t hand_over_transfers(const struct sws_des *self, const struct lock *lock)
{
	switch (lock->kind) {
	case SWS_LOCK_TEST_AND_SET:
		return lock->waiters;
	case SWS_LOCK_TICKET:
		return 1 + (lock->waiters + 1) / 2;
	case SWS_LOCK_QUEUED:
		break;
	}
	return self->config.hand_off_ways;
}

/*
 * CPU 0 releases the lock; the nearest waiter is taken from the middle of the queue:
 *
 *      first > 5 > 1 > 7 < last         winner 1, predecessor 5
 *      first > 5 > 7 < last             3 transfers: one for each waiter, including the winner
 */
static void hand_over(struct sws_des *self, struct lock *lock)
{
	const uint32_t transfers = hand_over_transfers(self, lock);
	uint32_t predecessor = NO_CPU;
	uint32_t winner = lock->first_waiter;
	uint32_t next = NO_CPU;

	if (lock->kind == SWS_LOCK_TEST_AND_SET)
		winner = nearest_waiter(self, lock, &predecessor);
	next = self->cpus[winner].next_waiter;
	if (predecessor == NO_CPU)
		lock->first_waiter = next;
	else
		self->cpus[predecessor].next_waiter = next;
	if (lock->last_waiter == winner)
		lock->last_waiter = predecessor;
	lock->waiters--;
	grant(self, lock, winner, transfers);
}

/* Wakes the CPUs that wait until this one has interrupts on. */
static void take_interrupts(struct sws_des *self, uint32_t cpu)
{
	struct cpu *target = &self->cpus[cpu];

	for (uint32_t caller = target->first_caller; caller != NO_CPU;
	     caller = self->cpus[caller].next_waiter)
		end_wait(self, caller, self->now);
	target->first_caller = NO_CPU;
	target->last_caller = NO_CPU;
	target->irqs_on_again++;
}

int sws_des_unlock(struct sws_des *self, uint32_t cpu, uint32_t number)
{
	struct lock *lock = NULL;
	struct sws_des_site *site = NULL;
	bool irq_save = false;

	if (!des_is_idle(self, cpu) || number >= self->n_locks || self->now > TIME_MAX ||
	    !holds(&self->locks[number], cpu))
		return SWS_ERROR_BAD_ARGUMENT;
	lock = &self->locks[number];
	irq_save = lock->irq_save;
	if (!--des_resume(self, cpu)->held)
		self->cpus[cpu].crowded = false;
	site = &self->sites[lock->site];
	site->hold_ns += self->now - lock->since;
	site->longest_hold_ns = longer(site->longest_hold_ns, self->now - lock->since);
	lock->last_holder = cpu;
	lock->holder = NO_CPU;
	if (lock->first_waiter != NO_CPU)
		hand_over(self, lock);
	if (irq_save && !--self->cpus[cpu].irqs_off)
		take_interrupts(self, cpu);
	return SWS_OK;
}

uint64_t sws_des_interrupts_on(const struct sws_des *self, uint32_t cpu)
{
	return cpu < self->config.cpus ? self->cpus[cpu].irqs_on_again : 0;
}

/*
 * CPU 1 waits for a lock with interrupts off, CPUs 0 and 2 interrupt it meanwhile:
 *
 *      CPU 0      interrupt(1) |~~~~~~~~~~~~~~~~~~~~| continues
 *      CPU 1      lock |~~~~~~~~~~~[=====hold======]unlock
 *      CPU 2            interrupt(1)     |~~~~~~~~~~| continues, after CPU 0
 *
 * CPU 1 may request its next lock at once: in between it has taken both interrupts.
 */
int sws_des_interrupt(struct sws_des *self, uint32_t cpu, uint32_t other, uint64_t sent,
		      uint32_t site)
{
	struct cpu *target = NULL;

	if (!des_is_idle(self, cpu) || other >= self->config.cpus || other == cpu ||
	    self->cpus[cpu].irqs_off || site >= self->config.sites || self->now > TIME_MAX)
		return SWS_ERROR_BAD_ARGUMENT;
	target = &self->cpus[other];
	des_resume(self, cpu)->site = site;
	if (!target->irqs_off || target->irqs_on_again != sent) {
		end_wait(self, cpu, self->now);
		return SWS_OK;
	}
	self->sites[site].contended++;
	self->cpus[cpu].state = CPU_WAITING;
	self->cpus[cpu].next_waiter = NO_CPU;
	if (target->first_caller == NO_CPU)
		target->first_caller = cpu;
	else
		self->cpus[target->last_caller].next_waiter = cpu;
	target->last_caller = cpu;
	return SWS_OK;
}
