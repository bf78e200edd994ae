/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots/workbench/meter.c - the measures: each event is compared with the previous positions of
 * CPUs, locks and writes.
 */
#include "slots/workbench/parts.h"

#include <string.h>

int sws_workbench__meter_new(const struct sws_allocator *allocator,
			     const struct sws_workbench_config *config,
			     struct workbench_meter *self)
{
	const struct sws_slots_config *device = &config->cache.device;

	*self = (struct workbench_meter){
		.lock_window = config->lock_window,
		.span_window = config->span_window,
		.overlap_calls = config->overlap_calls,
		.n_cpus = device->online_cpus,
		.n_trunks = ((device->slots - 1) >> device->trunk_shift) + 1,
		.trunk_shift = device->trunk_shift,
		.one_lock = device->kernel == SWS_KERNEL_4_8,
	};
	self->trunks = sws_allocate_zeroed(allocator, self->n_trunks, sizeof(*self->trunks));
	self->cpus = sws_allocate_zeroed(allocator, self->n_cpus, sizeof(*self->cpus));
	self->trails = sws_allocate_zeroed(allocator, self->overlap_calls, sizeof(*self->trails));
	self->overlaps = sws_allocate(allocator, (size_t)self->overlap_calls * SWS_SLOTS_TRAIL *
							 sizeof(*self->overlaps));
	self->last_slots = sws_allocate(allocator, ((size_t)device->address_spaces + 1) *
							   sizeof(*self->last_slots));
	if (!self->trunks || !self->cpus || !self->trails || !self->overlaps || !self->last_slots)
		return SWS_ERROR_NO_MEMORY;
	/* The first slot always begins a run. */
	memset(self->last_slots, 0xff,
	       ((size_t)device->address_spaces + 1) * sizeof(*self->last_slots));
	return SWS_OK;
}

void sws_workbench__meter_free(const struct sws_allocator *allocator, struct workbench_meter *self)
{
	sws_release(allocator, self->last_slots);
	sws_release(allocator, self->overlaps);
	sws_release(allocator, self->trails);
	sws_release(allocator, self->cpus);
	sws_release(allocator, self->trunks);
}

/*
 * Resets the counts but not the positions: a lock without its last owner would not count as moved;
 * and a pair that is together in the first round has to count as a meeting, or pair_rounds would
 * grow without one.
 */
void sws_workbench__meter_begin(struct workbench_meter *self)
{
	self->measures = (struct sws_workbench_measures){ .meetings = self->pairs };
	self->in_span = 0;
	for (uint32_t cpu = 0; cpu < self->n_cpus; cpu++) {
		self->cpus[cpu].tested = 0;
		self->cpus[cpu].pages = 0;
	}
}

/*
 * An acquisition has moved if the previous one of that lock, at any site, was on another CPU: its
 * cache line comes from there. It is also close if so few acquisitions of any trunk are between
 * them that in real time both CPUs could have requested the lock at the same time. With lock_window
 * 2:
 *
 *      acquisition     1   2   3   4   5   6
 *      CPU             0   1   0   0   1   0
 *      trunk           0   0   1   1   1   0
 *      moved               x           x   x
 *      close               x           x            2 - 1 and 5 - 4, but not 6 - 2
 *
 * The number of the acquisition serves as the clock, as the workbench has no other. In 4.8 all
 * slots have the lock of trunk 0.
 */
void sws_workbench__meter_lock(struct workbench_meter *self, enum sws_workbench_site site,
			       uint32_t cpu, uint32_t slot)
{
	struct sws_workbench_locks *locks = &self->measures.locks[site];
	struct workbench_trunk *trunk =
		&self->trunks[self->one_lock ? 0 : slot >> self->trunk_shift];

	self->acquisitions++;
	locks->acquisitions++;
	if (trunk->when && trunk->cpu != cpu) {
		locks->moved++;
		locks->close += self->acquisitions - trunk->when <= self->lock_window;
	}
	trunk->when = self->acquisitions;
	trunk->cpu = cpu;
}

static void leave_trunk(struct workbench_meter *self, struct workbench_cpu *cpu)
{
	if (cpu->stands)
		self->pairs -= --self->trunks[cpu->trunk].standing;
	cpu->stands = false;
}

void sws_workbench__meter_left(struct workbench_meter *self, uint32_t cpu)
{
	leave_trunk(self, &self->cpus[cpu]);
}

/*
 * n CPUs in one trunk are n (n - 1) / 2 pairs. A CPU that arrives forms a pair with each that is
 * there; one that leaves removes as many, not counting itself. CPU 3 goes from trunk 0 to trunk 1:
 *
 *                  CPUs               pairs
 *      before      0: 1 2 3   1: 4      3
 *      leaves      0: 1 2     1: 4      1
 *      arrives     0: 1 2     1: 4 3    2         1 meeting
 */
static void stand_in(struct workbench_meter *self, struct workbench_cpu *cpu, uint32_t trunk)
{
	if (cpu->stands && cpu->trunk == trunk)
		return;
	leave_trunk(self, cpu);
	self->measures.meetings += self->trunks[trunk].standing;
	self->pairs += self->trunks[trunk].standing++;
	cpu->trunk = trunk;
	cpu->stands = true;
}

/*
 * The view of the disk: the writes of all CPUs in one sequence. After slot 9 the writes are 10, 11,
 * 40 and 12: the first two are no seeks, then a seek of 28 slots forward, then one of 29 back. The
 * span of a window is the range of its writes, here 10 to 40: 31 slots.
 */
static void write_to(struct workbench_meter *self, uint32_t slot)
{
	const uint32_t expected = self->last_write + 1;

	if (slot != expected) {
		self->measures.seeks++;
		self->measures.seek_slots += slot > expected ? slot - expected : expected - slot;
	}
	self->last_write = slot;
	if (!self->in_span || slot < self->least)
		self->least = slot;
	if (!self->in_span || slot > self->last)
		self->last = slot;
	if (++self->in_span < self->span_window)
		return;
	self->measures.spans++;
	self->measures.span_slots += self->last - self->least + 1;
	self->in_span = 0;
}

/*
 * A run is the view of one address space, on any CPU: its pages in adjacent slots. It differs from
 * the view of the disk. Two address spaces alternate, three pages each:
 *
 *      on one CPU, one cluster       512 513 514 515 516 517      6 runs, no seek in between
 *      on two CPUs, a cluster each   512 768 513 769 514 770      2 runs, 5 seeks
 *
 * Kernel threads form one address space, mm -1.
 */
void sws_workbench__meter_page(struct workbench_meter *self, uint32_t cpu, int32_t mm,
			       uint32_t slot)
{
	uint32_t *last_slot = &self->last_slots[mm + 1];
	const uint32_t trunk = slot >> self->trunk_shift;

	self->measures.pages_out++;
	self->cpus[cpu].pages++;
	stand_in(self, &self->cpus[cpu], trunk);
	self->measures.pages_met += self->trunks[trunk].standing > 1;
	self->measures.runs += slot != *last_slot + 1;
	*last_slot = slot;
	write_to(self, slot);
}

/*
 * Inserts a range into a sorted list of ranges that do not touch each other; returns their number.
 *
 *      list      [10 20) [30 40) [60 70)        join [20 35)
 *      first     0: [10 20) ends at 20, where the range begins: they touch
 *      end       2: [60 70) begins after it
 *      list      [10 40) [60 70)                3 - 2 + 1 = 2
 *
 * If no range touches it, end equals first, and memmove makes room instead of closing a gap.
 */
static uint32_t join(struct sws_slots_range *list, uint32_t n, struct sws_slots_range range)
{
	uint32_t first = 0;
	uint32_t end = 0;

	while (first < n && list[first].to < range.from)
		first++;
	for (end = first; end < n && list[end].from <= range.to; end++) {
		if (list[end].from < range.from)
			range.from = list[end].from;
		if (list[end].to > range.to)
			range.to = list[end].to;
	}
	memmove(&list[first + 1], &list[end], (n - end) * sizeof(*list));
	list[first] = range;
	return n - (end - first) + 1;
}

/*
 * Returns the slots of a range that recent calls on other CPUs tested. A slot that three other CPUs
 * tested counts once, so the overlaps are joined before they are counted. Otherwise ten CPUs behind
 * the same full stretch would count each slot nine times per call.
 */
static uint64_t tested_by_others(struct workbench_meter *self, uint32_t cpu,
				 struct sws_slots_range range)
{
	const uint64_t kept = self->calls < self->overlap_calls ? self->calls : self->overlap_calls;
	uint32_t n = 0;
	uint64_t slots = 0;

	for (uint64_t i = 0; i < kept; i++) {
		const struct workbench_trail *trail = &self->trails[i];

		for (uint32_t k = 0; k < trail->n && trail->cpu != cpu; k++) {
			struct sws_slots_range both = trail->ranges[k];

			if (both.from < range.from)
				both.from = range.from;
			if (both.to > range.to)
				both.to = range.to;
			if (both.from < both.to)
				n = join(self->overlaps, n, both);
		}
	}
	for (uint32_t i = 0; i < n; i++)
		slots += self->overlaps[i].to - self->overlaps[i].from;
	return slots;
}

void sws_workbench__meter_call(struct workbench_meter *self, uint32_t cpu, uint64_t tested,
			       const struct sws_slots_call *call)
{
	struct workbench_trail *trail = &self->trails[self->calls % self->overlap_calls];

	self->cpus[cpu].tested += tested;
	for (uint32_t i = 0; i < call->n_trail; i++) {
		self->measures.on_trails += call->trail[i].to - call->trail[i].from;
		self->measures.tested_again += tested_by_others(self, cpu, call->trail[i]);
	}
	trail->cpu = cpu;
	trail->n = call->n_trail;
	memcpy(trail->ranges, call->trail, call->n_trail * sizeof(*call->trail));
	self->calls++;
}

void sws_workbench__meter_round(struct workbench_meter *self)
{
	self->measures.rounds++;
	self->measures.rounds_met += self->pairs > 0;
	self->measures.pair_rounds += self->pairs;
}

static int broken(const char **reason, const char *sentence)
{
	*reason = sentence;
	return SWS_ERROR_BROKEN;
}

int sws_workbench__meter_verify(const struct workbench_meter *self, const char **reason)
{
	uint64_t pairs = 0;
	uint64_t standing = 0;

	for (uint32_t trunk = 0; trunk < self->n_trunks; trunk++) {
		const uint64_t here = self->trunks[trunk].standing;

		pairs += here * (here - (here > 0)) / 2;
		standing += here;
		if (self->trunks[trunk].when > self->acquisitions)
			return broken(reason, "a lock was taken after the last acquisition");
	}
	for (uint32_t cpu = 0; cpu < self->n_cpus; cpu++)
		standing -= self->cpus[cpu].stands;
	if (standing)
		return broken(reason, "the CPUs in trunks are not the CPUs with a slot");
	return pairs == self->pairs
		       ? SWS_OK
		       : broken(reason, "the number of pairs differs from that of the trunks");
}
