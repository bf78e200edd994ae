/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots/workbench/page.c - what a task does with a page: the steps of the header's table, with
 * their locks.
 */
#include "slots/workbench/parts.h"

static uint64_t tested(const struct sws_slots_work *work)
{
	return work->tested_scan + work->tested_quick + work->tested_cluster;
}

/*
 * Models __remove_mapping after the write: __delete_from_swap_cache under the trunk's lock, then
 * put_swap_folio. It has its own round: if it followed begin at once, no CPU could ever find
 * another one in the same trunk with a page under writeback.
 */
int sws_workbench__finish_swap_out(struct sws_workbench *self, struct workbench_task *task)
{
	const uint32_t slot = task->in_flight;
	uint8_t usage = 0;
	int error = SWS_OK;

	if (!slot)
		return SWS_OK;
	error = sws_slots_uncache(workbench_device(self), slot, &usage,
				  &workbench_work(self)->device);
	if (error)
		return error;
	sws_workbench__meter_lock(&self->meter, SWS_WORKBENCH_DELETE, task->cpu, slot);
	task->in_flight = 0;
	self->in_flight--;
	if (self->owns_pages)
		sws_workbench__page_out(&self->pages, (uint32_t)task->mm, slot);
	return SWS_OK;
}

/*
 * Models folio_alloc_swap. The cost of a slot varies: most gets find one in the CPU's cache and
 * test no slot, every 64th makes the call. The state START means that there was no call.
 */
static int get_slot(struct sws_workbench *self, const struct workbench_task *task, uint32_t *slot)
{
	struct sws_slot_cache_work *work = workbench_work(self);
	const uint64_t before = tested(&work->device);
	struct sws_slots_call call;
	int error = sws_slot_cache_get(self->cache, task->cpu, task->mm, slot, &call, work);

	if (error || call.state == SWS_CALL_START)
		return error;
	self->effort += tested(&work->device) - before;
	sws_workbench__meter_call(&self->meter, task->cpu, tested(&work->device) - before, &call);
	return SWS_OK;
}

/*
 * Models add_to_swap and try_to_unmap. The map byte while the caches are on:
 *
 *      get        c0      in the slot cache, without a page
 *      duplicate  41      in the swap cache, with one page table reference
 *      finish      1      swapped out: only the page table reference
 */
int sws_workbench__begin_swap_out(struct sws_workbench *self, struct workbench_task *task)
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
	return sws_slots_duplicate(workbench_device(self), slot, &usage,
				   &workbench_work(self)->device);
}

int sws_workbench__let_go(struct sws_workbench *self, uint32_t slot)
{
	uint8_t usage = 0;

	if (self->owns_pages)
		sws_workbench__page_in(&self->pages, sws_workbench__owner(&self->pages, slot),
				       slot);
	return sws_slots_drop(workbench_device(self), slot, &usage, &workbench_work(self)->device);
}

int sws_workbench__give_back(struct sws_workbench *self, uint32_t slot)
{
	return sws_slot_cache_put(self->cache, self->cpu, slot, workbench_work(self));
}

/*
 * The page is read into the swap cache and mapped, and then removed from the swap cache unless it
 * retains its slot. Models do_swap_page with should_try_to_free_swap: below half full the page
 * retains its slot and need not be written again while it is clean. Above half full, scans try to
 * reclaim such slots.
 *
 *      retains      1 -> 41 -> 40
 *      frees        1 -> 41 -> 40 -> c0
 */
static int swap_in_through_cache(struct sws_workbench *self, uint32_t slot, bool may_keep)
{
	struct sws_slots *device = workbench_device(self);
	struct sws_slots_work *work = &workbench_work(self)->device;
	uint8_t usage = 0;
	int error = sws_slots_cache(device, slot, &usage, work);

	if (error)
		return error;
	sws_workbench__meter_lock(&self->meter, SWS_WORKBENCH_ADD, self->cpu, slot);
	error = sws_workbench__let_go(self, slot);
	if (error || (may_keep && !sws_slots_swap_full(device)))
		return error;
	error = sws_slots_uncache(device, slot, &usage, work);
	if (error)
		return error;
	sws_workbench__meter_lock(&self->meter, SWS_WORKBENCH_DELETE, self->cpu, slot);
	return sws_workbench__give_back(self, slot);
}

int sws_workbench__swap_in(struct sws_workbench *self, uint32_t slot, bool may_keep)
{
	int error = SWS_OK;

	self->meter.measures.pages_in++;
	if (self->asynchronous)
		return swap_in_through_cache(self, slot, may_keep);
	error = sws_workbench__let_go(self, slot);
	return error ? error : sws_workbench__give_back(self, slot);
}
