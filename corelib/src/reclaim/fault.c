/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vm/fault.c - a touch that missed: do_anonymous_page, do_swap_page, do_wp_page.
 *
 *      never touched      a fresh page, active
 *      mapped, a write    its slot is given back
 *      in the swap cache  mapped as it is, once it is read
 *      swapped out        read with those of its cluster that are out, too: slots 8 to 15 for
 *                         slot 11; they stay in the swap cache, inactive, until asked for
 */
#include "reclaim/disk.h"
#include "reclaim/lists.h"
#include "reclaim/pages.h"
#include "reclaim/reclaim.h"
#include "reclaim/tasks.h"
#include "reclaim/zones.h"

enum step { LOOK, FRESH, READ };

struct fault {
	uint32_t index;
	bool writes;
	/* It was read: the fault has been counted. */
	bool major;
};

static int finish(struct actor *actor, const struct fault *my)
{
	struct sws_reclaim *vm = actor->vm;

	vm->counts.minor_faults += !my->major;
	engine_leave(&actor->thread);
	return engine_run(&actor->thread, vm->config.costs.map_ns);
}

/* It is in the swap cache, unless it is still being read: then it is waited for. */
static int map_cached(struct actor *actor, const struct fault *my, uint32_t slot)
{
	struct sws_reclaim *vm = actor->vm;
	const uint32_t frame = vm->swap.frames[slot] - 1;

	if (vm_is(&vm->pages[frame], VM_READING)) {
		engine_go(&actor->thread, LOOK);
		return engine_sleep(&actor->thread, SLEEP_READ);
	}
	sws_reclaim__map(vm, my->index, frame, my->writes);
	if (vm->pages[frame].slot && !vm_is(&vm->pages[frame], VM_WRITEBACK) &&
	    sws_reclaim__swap_is_full(vm))
		sws_reclaim__leave_swap(vm, frame);
	return finish(actor, my);
}

static int look(struct actor *actor, const struct fault *my)
{
	struct sws_reclaim *vm = actor->vm;
	const uint32_t entry = vm->ptes[my->index];

	if (entry & VM_PTE_PRESENT) {
		sws_reclaim__write_to(vm, entry & VM_PTE_FRAME);
		return finish(actor, my);
	}
	if (entry && vm->swap.frames[entry])
		return map_cached(actor, my, entry);
	if (entry)
		engine_go(&actor->thread, READ);
	return sws_reclaim__allocate(actor, false);
}

static int map_fresh(struct actor *actor, const struct fault *my)
{
	struct sws_reclaim *vm = actor->vm;
	const uint32_t frame = actor->thread.result;

	if (frame == VM_NONE)
		return engine_sleep(&actor->thread, SLEEP_TO_BE_WOKEN);
	sws_reclaim__map(vm, my->index, frame, true);
	sws_reclaim__list_add(vm, frame, VM_ACTIVE_ANON);
	vm->counts.minor_faults++;
	engine_leave(&actor->thread);
	return engine_run(&actor->thread, vm->config.costs.fault_ns);
}

/* A page for a slot, on its way in. */
static void begin_reading(struct sws_reclaim *vm, uint32_t slot, uint32_t frame)
{
	struct page *page = &vm->pages[frame];

	page->index = vm->swap.owners[slot] - 1;
	page->slot = slot;
	vm_set(page, VM_READING);
	vm->swap.frames[slot] = frame + 1;
	sws_reclaim__list_add(vm, frame, VM_INACTIVE_ANON);
	vm->counts.swapped_in++;
	vm->work++;
}

/* Is there a page to be read at a slot, which nobody has in memory? */
static bool is_out(const struct swap *swap, uint32_t slot)
{
	return slot && slot < swap->pages && swap->owners[slot] && swap->owners[slot] != VM_NONE &&
	       !swap->frames[slot];
}

/* swapin_readahead: slots of one cluster that lie behind one another make one request. */
static int read_cluster(struct actor *actor, uint32_t slot, uint32_t frame)
{
	struct sws_reclaim *vm = actor->vm;
	const uint32_t mask = (1u << vm->config.readahead_shift) - 1;
	uint32_t run = 0;
	bool joined = false;
	int error = SWS_OK;

	for (uint32_t at = slot & ~mask; !error && at <= (slot | mask); at++) {
		uint32_t found = VM_NONE;

		if (at == slot)
			found = frame;
		else if (is_out(&vm->swap, at))
			found = sws_reclaim__take_low(vm);
		if (found != VM_NONE) {
			begin_reading(vm, at, found);
			run++;
		}
		if (run && (found == VM_NONE || at == (slot | mask))) {
			const uint32_t end = found == VM_NONE ? at : at + 1;

			error = sws_reclaim__submit(vm, VM_READS, vm_place_of_slot(vm, end - run),
						    run, &joined);
			run = 0;
		}
	}
	return error;
}

static int read_page(struct actor *actor, struct fault *my)
{
	struct sws_reclaim *vm = actor->vm;
	const uint32_t frame = actor->thread.result;
	int error = SWS_OK;

	if (frame == VM_NONE)
		return engine_sleep(&actor->thread, SLEEP_TO_BE_WOKEN);
	my->major = true;
	vm->counts.major_faults++;
	error = read_cluster(actor, vm->ptes[my->index], frame);
	engine_go(&actor->thread, LOOK);
	return error ? error : engine_run(&actor->thread, vm->config.costs.map_ns);
}

static int fault(struct actor *actor, void *frame, uint32_t step)
{
	struct fault *my = frame;

	switch ((enum step)step) {
	case LOOK:
		return look(actor, my);
	case FRESH:
		return map_fresh(actor, my);
	case READ:
		return read_page(actor, my);
	}
	return SWS_ERROR_BROKEN;
}

int sws_reclaim__fault(struct actor *actor, uint32_t index, bool writes)
{
	const struct fault frame = { .index = index, .writes = writes };

	return engine_call(&actor->thread, fault, &frame, sizeof(frame));
}
