/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * des.c - the clock, the heap of events, and the queues of the locks.
 *
 * Three CPUs of one socket, travel 30, each holds the lock for 100:
 *
 *      time     0    100  190       290  380       480
 *      CPU 0    [====]                                   has it at once: the line was nowhere
 *      CPU 1     |~~~~~~~~[=========]                    came second: 3 x 30 until it has it
 *      CPU 2     |~~~~~~~~~~~~~~~~~~~~~~~[=========]
 *
 * The lock is CPU 1's from 100 on, though its event, and its hold, begin at 190:
 * whoever asks in between waits behind CPU 2. Of a test-and-set lock the line goes once for
 * each that pulls at it, over 2 x 30 and then over 30:
 *
 *      asked at 0          queued             test-and-set
 *      CPU 1 waits, holds  190, 190 .. 290    160, 160 .. 260
 *      CPU 2               380, 380 .. 480    290, 290 .. 390
 *
 * A hold is counted from 190, not from 100: the line on its way is wait, so the three
 * holds add up to 300 under either lock, and what the lock costs shows in the waits.
 * The kernel's queue is kernel/locking/qspinlock.c (4.2 on).
 */
#include "des/layout.h"

#define CPUS_MAX          4096U
#define SITES_MAX         65536U
#define HAND_OFF_WAYS_MAX 8U
#define TIME_MAX          (UINT64_C(1) << 62) /* sums of two times stay within 64 bits */

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

int sws_des_add_locks(struct sws_des *self, enum sws_lock_kind kind, uint32_t n, uint32_t *first)
{
	const uint64_t total = (uint64_t)self->n_locks + n;
	struct lock *locks = NULL;

	if (!n || (unsigned int)kind > SWS_LOCK_TEST_AND_SET || total > UINT32_MAX / sizeof(*locks))
		return SWS_ERROR_BAD_ARGUMENT;
	locks = self->allocator.resize(self->allocator.context, self->locks,
				       (size_t)total * sizeof(*locks));
	if (!locks)
		return SWS_ERROR_NO_MEMORY;
	self->locks = locks;
	for (uint32_t i = self->n_locks; i < total; i++)
		locks[i] = (struct lock){
			.kind = kind,
			.holder = NOBODY,
			.last_holder = NOBODY,
			.first_waiter = NOBODY,
			.last_waiter = NOBODY,
		};
	*first = self->n_locks;
	self->n_locks = (uint32_t)total;
	return SWS_OK;
}

uint64_t sws_des_now(const struct sws_des *self)
{
	return self->now;
}

/*
 * Events as (time), 10 was just taken and its CPU, having run, makes the one of 22:
 *
 *      gap         [ -  20 15 30 12 | 25 ]       25 lies below 20: its parent is (5 - 1) / 4
 *      12 rises    [ 12 20 15 30 -  | 25 ]       the least of the four children
 *      22 stays    [ 12 20 15 30 22 | 25 ]       nothing lies below
 *
 * Closing the gap first would sink 25 from the top, and then 22 comes in at the end: two
 * sifts. Of two equal times the one that was made first comes first: a heap alone would not keep
 * that order, and results would depend on how it was filled.
 */

/* An event sinks from the gap at the top to its place; a node's children are 4 n + 1 .. 4 n + 4. */
static void sift_down(struct sws_des *self, struct event event)
{
	struct event *heap = self->heap;
	uint32_t at = 0;

	for (;;) {
		const uint32_t first = 4 * at + 1;
		const uint32_t end = first + 4 < self->n_events ? first + 4 : self->n_events;
		uint32_t least = first;

		if (first >= self->n_events)
			break;
		for (uint32_t child = first + 1; child < end; child++)
			if (before(&heap[child], &heap[least]))
				least = child;
		if (!before(&heap[least], &event))
			break;
		heap[at] = heap[least];
		at = least;
	}
	heap[at] = event;
}

/* An event rises from a place at the heap's end, or from one that it leaves. */
static void insert(struct sws_des *self, uint32_t at, struct event event)
{
	struct event *heap = self->heap;

	for (; at > 0 && before(&event, &heap[(at - 1) / 4]); at = (at - 1) / 4)
		heap[at] = heap[(at - 1) / 4];
	heap[at] = event;
}

static void push(struct sws_des *self, uint32_t cpu, uint64_t time)
{
	const struct event event = { time, self->sequence++, cpu };

	self->cpus[cpu].state = CPU_PENDING;
	self->cpus[cpu].until = time;
	/*
	 * Mostly the CPU whose event was just taken makes the next one, so the gap that it left
	 * at the top is kept open for it: one sift instead of two.
	 */
	if (self->top_taken) {
		self->top_taken = false;
		sift_down(self, event);
		return;
	}
	insert(self, self->n_events++, event);
}

/* The gap of an event that was taken is filled, or closed by the heap's last one. */
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
	*cpu = self->heap[0].cpu;
	self->cpus[*cpu].state = CPU_IDLE;
	return true;
}

static bool is_idle(const struct sws_des *self, uint32_t cpu)
{
	return cpu < self->config.cpus && self->cpus[cpu].state == CPU_IDLE;
}

/*
 * A CPU does something again: what it let pass since its last event was idleness. An
 * event's time is in the account from when the event is made, so a CPU that goes on at
 * its event let nothing pass; one that made none, as a sleeper, did.
 */
static struct cpu *resume(struct sws_des *self, uint32_t number)
{
	struct cpu *cpu = &self->cpus[number];

	cpu->account.idle_ns += self->now - cpu->until;
	cpu->until = self->now;
	return cpu;
}

int sws_des_run(struct sws_des *self, uint32_t cpu, uint64_t ns)
{
	struct cpu *runner = NULL;

	if (!is_idle(self, cpu) || ns > TIME_MAX || self->now > TIME_MAX)
		return SWS_ERROR_BAD_ARGUMENT;
	runner = resume(self, cpu);
	if (runner->held)
		runner->account.hold_ns += ns;
	else
		runner->account.run_ns += ns;
	push(self, cpu, self->now + ns);
	return SWS_OK;
}

/*
 * An event that is moved to the front rises from where it lay. The gap at the top is closed
 * first: what lies in it was taken, and is no event.
 */
int sws_des_hasten(struct sws_des *self, uint32_t number)
{
	struct cpu *cpu = NULL;
	uint32_t at = 0;

	if (number >= self->config.cpus || self->cpus[number].state != CPU_PENDING ||
	    self->cpus[number].held)
		return SWS_ERROR_BAD_ARGUMENT;
	cpu = &self->cpus[number];
	/* Its event is there: a new place behind those that were made since would be a delay. */
	if (cpu->until == self->now)
		return SWS_OK;
	close_gap(self);
	cpu->account.run_ns -= cpu->until - self->now;
	while (self->heap[at].cpu != number)
		at++;
	insert(self, at, (struct event){ self->now, self->sequence++, number });
	cpu->until = self->now;
	return SWS_OK;
}

/* Two CPUs a core, eight a socket: from 0 to 1 same core, to 2 same socket, to 8 another. */
static uint64_t travel(const struct sws_des *self, uint32_t from, uint32_t to)
{
	const struct sws_des_config *config = &self->config;

	if (from == NOBODY || from == to)
		return 0;
	if (from / config->cpus_per_core == to / config->cpus_per_core)
		return config->travel_same_core_ns;
	if (from / config->cpus_per_socket == to / config->cpus_per_socket)
		return config->travel_same_socket_ns;
	return config->travel_other_socket_ns;
}

static uint64_t longer(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The lock goes to a CPU, whose event comes once the line has gone all its ways. */
static void grant(struct sws_des *self, struct lock *lock, uint32_t cpu, uint32_t ways)
{
	struct cpu *winner = &self->cpus[cpu];
	struct sws_des_site *site = &self->sites[winner->site];
	const uint64_t at = self->now + travel(self, lock->last_holder, cpu) * ways +
			    (winner->irq_save ? self->config.irq_save_ns : 0);
	const uint64_t waited = at - winner->until;

	site->acquisitions++;
	site->moved += lock->last_holder != NOBODY && lock->last_holder != cpu;
	site->wait_ns += waited;
	site->longest_wait_ns = longer(site->longest_wait_ns, waited);
	winner->account.wait_ns += waited;
	winner->held++;
	lock->holder = cpu;
	lock->site = winner->site;
	lock->since = at;
	push(self, cpu, at);
}

static bool holds(const struct lock *lock, uint32_t cpu)
{
	return lock->holder == cpu;
}

int sws_des_lock(struct sws_des *self, uint32_t cpu, uint32_t number, uint32_t site, bool irq_save)
{
	struct lock *lock = NULL;
	struct cpu *asking = NULL;

	if (!is_idle(self, cpu) || number >= self->n_locks || site >= self->config.sites ||
	    self->now > TIME_MAX || holds(&self->locks[number], cpu))
		return SWS_ERROR_BAD_ARGUMENT;
	lock = &self->locks[number];
	asking = resume(self, cpu);
	asking->site = site;
	asking->irq_save = irq_save;
	if (lock->holder == NOBODY) {
		grant(self, lock, cpu, 1);
		return SWS_OK;
	}
	self->sites[site].contended++;
	asking->state = CPU_WAITING;
	asking->next_waiter = NOBODY;
	if (lock->first_waiter == NOBODY)
		lock->first_waiter = cpu;
	else
		self->cpus[lock->last_waiter].next_waiter = cpu;
	lock->last_waiter = cpu;
	lock->waiters++;
	return SWS_OK;
}

/*
 * The waiter that the line reaches first; of several the one that came first. So a
 * test-and-set lock is unfair: with two sockets, CPUs 0 and 1 on one of them, CPU 2, which
 * came first, sees the lock go 0 -> 1 -> 0 for as long as these two ask again in time.
 */
static uint32_t nearest_waiter(const struct sws_des *self, const struct lock *lock,
			       uint32_t *predecessor)
{
	uint32_t nearest = lock->first_waiter;
	uint32_t previous = NOBODY;

	*predecessor = NOBODY;
	for (uint32_t cpu = lock->first_waiter; cpu != NOBODY;
	     previous = cpu, cpu = self->cpus[cpu].next_waiter)
		if (travel(self, lock->last_holder, cpu) <
		    travel(self, lock->last_holder, nearest)) {
			nearest = cpu;
			*predecessor = previous;
		}
	return nearest;
}

/*
 * CPU 0 gives back, the nearest waiter is taken out of the middle of the queue:
 *
 *      first > 5 > 1 > 7 < last         winner 1, predecessor 5
 *      first > 5 > 7 < last             ways 3: all who waited pull, the winner with them
 */
static void hand_over(struct sws_des *self, struct lock *lock)
{
	const uint32_t ways =
		lock->kind == SWS_LOCK_QUEUED ? self->config.hand_off_ways : lock->waiters;
	uint32_t predecessor = NOBODY;
	uint32_t winner = lock->first_waiter;
	uint32_t next = NOBODY;

	if (lock->kind == SWS_LOCK_TEST_AND_SET)
		winner = nearest_waiter(self, lock, &predecessor);
	next = self->cpus[winner].next_waiter;
	if (predecessor == NOBODY)
		lock->first_waiter = next;
	else
		self->cpus[predecessor].next_waiter = next;
	if (lock->last_waiter == winner)
		lock->last_waiter = predecessor;
	lock->waiters--;
	grant(self, lock, winner, ways);
}

int sws_des_unlock(struct sws_des *self, uint32_t cpu, uint32_t number)
{
	struct lock *lock = NULL;
	struct sws_des_site *site = NULL;

	if (!is_idle(self, cpu) || number >= self->n_locks || !holds(&self->locks[number], cpu))
		return SWS_ERROR_BAD_ARGUMENT;
	lock = &self->locks[number];
	resume(self, cpu)->held--;
	site = &self->sites[lock->site];
	site->hold_ns += self->now - lock->since;
	site->longest_hold_ns = longer(site->longest_hold_ns, self->now - lock->since);
	lock->last_holder = cpu;
	lock->holder = NOBODY;
	if (lock->first_waiter != NOBODY)
		hand_over(self, lock);
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
