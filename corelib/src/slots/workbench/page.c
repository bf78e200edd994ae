/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * workbench/page.c - what a task does with a page: each step of the header's table, with
 * the locks that it takes.
 */
#include "slots/workbench/parts.h"

static uint64_t tested(const struct sws_slots_work *work)
{
	return work->tested_scan + work->tested_quick + work->tested_cluster;
}

/*
 * Models __remove_mapping, after the write: __delete_from_swap_cache under the trunk's lock, then
 * put_swap_folio. In a round of its own: were it done at once with begin, no CPU could ever find
 * another in the same trunk with a page on its way.
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
 * Models folio_alloc_swap. What a slot costs is uneven: most gets find one in the CPU's cache and
 * test nothing, every 64th makes the call. A state of START says that there was none.
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
 * Models add_to_swap and try_to_unmap. The map byte, with the caches on:
 *
 *      get        c0      in the cache of slots, without a page
 *      duplicate  41      in the swap cache, one page table
 *      finish      1      out: the page table alone
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
 * The page is read into the swap cache and mapped; out of the cache, unless it may keep its slot.
 * Models do_swap_page with should_try_to_free_swap: below half full the slot stays with the page,
 * which need not be written again while it is clean. Above half full, a scan tries to reclaim
 * such slots.
 *
 *      keeps        1 -> 41 -> 40
 *      gives back   1 -> 41 -> 40 -> c0
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
