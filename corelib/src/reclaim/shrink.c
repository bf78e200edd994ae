/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vm/shrink.c - shrink_inactive_list and shrink_page_list: up to 32 pages from the tail of an
 * inactive list, one by one; then all that were not freed go back, in the order in which they
 * were taken, and only then the rules say what follows from what was met.
 *
 *      tail  9 3 7 ...     9 file, clean      freed
 *                          3 file, dirty      marked, kept: to the head
 *                          7 anon, touched    to the head of the active list
 *
 * A page's tests are stall.h's up to whether it is written; the rest is here: was it touched,
 * is there a slot, what came of the write. The procedure stops in the middle of the list where
 * a sleep is part of a page's tests, where the queue has no room for another write, or where a
 * task asks a server for a page: nfs_release_page waits for the commit, kswapd never does.
 */
#include "reclaim/disk.h"
#include "reclaim/lists.h"
#include "reclaim/nfs.h"
#include "reclaim/pages.h"
#include "reclaim/reclaim.h"

/* What becomes of a page, besides a list that it goes back to. */
enum { FREED = VM_FREE };

/* Where a page stands when the list has to stop. */
enum stop { NO_STOP, STOP_ASLEEP, STOP_FOR_ROOM, STOP_FOR_COMMIT };

static uint16_t bits_of(const struct sws_reclaim *vm, const struct page *page)
{
	const bool file = vm_is(page, VM_FILE);
	const bool congested = vm->config.nfs ? vm->server.congested : vm->disk.congested;

	return (uint16_t)((file && vm->config.nfs ? sws_reclaim__ask_nfs(vm, page) : 0) |
			  (file ? SWS_STALL_PAGE_FILE : 0) |
			  (vm_is(page, VM_DIRTY) ? SWS_STALL_PAGE_DIRTY : 0) |
			  (vm_is(page, VM_RECLAIM) ? SWS_STALL_PAGE_RECLAIM | SWS_STALL_PAGE_MARKED
						   : 0) |
			  (vm_is(page, VM_WRITEBACK)
				   ? SWS_STALL_PAGE_WRITEBACK | SWS_STALL_PAGE_UNDER_WRITEBACK
				   : 0) |
			  (file && congested ? SWS_STALL_PAGE_DEVICE_CONGESTED : 0));
}

static enum vm_place inactive(const struct page *page)
{
	return vm_is(page, VM_FILE) ? VM_INACTIVE_FILE : VM_INACTIVE_ANON;
}

static enum vm_place active(const struct page *page)
{
	return vm_is(page, VM_FILE) ? VM_ACTIVE_FILE : VM_ACTIVE_ANON;
}

static void keep(struct actor *actor)
{
	struct scan *scan = &actor->scan;

	scan->fates[scan->at] = (uint8_t)inactive(&actor->vm->pages[scan->pages[scan->at]]);
}

/* A page that becomes active gives its slot back when these are scarce. */
static void activate(struct actor *actor)
{
	struct scan *scan = &actor->scan;
	struct sws_reclaim *vm = actor->vm;
	const uint32_t frame = scan->pages[scan->at];
	const struct page *page = &vm->pages[frame];

	if (page->slot && vm_is(page, VM_MAPPED) && !vm_is(page, VM_WRITEBACK) &&
	    sws_reclaim__swap_is_full(vm))
		sws_reclaim__leave_swap(vm, frame);
	scan->fates[scan->at] = (uint8_t)active(page);
}

static int left(struct actor *actor)
{
	struct scan *scan = &actor->scan;

	if (scan->stall.marks)
		vm_set(&actor->vm->pages[scan->pages[scan->at]], VM_RECLAIM);
	return sws_stall_left(&scan->stall);
}

/* __remove_mapping, and the page is free: in mmotm perhaps while it is written. */
static void free_page(struct actor *actor, uint32_t frame)
{
	struct sws_reclaim *vm = actor->vm;

	sws_reclaim__forget(vm, frame);
	if (vm_is(&vm->pages[frame], VM_WRITEBACK)) {
		vm->counts.freed_under_writeback++;
		sws_reclaim__end_writeback(vm, frame);
	}
	sws_reclaim__frame_give(vm, frame);
	actor->scan.fates[actor->scan.at] = FREED;
	actor->scan.reclaimed++;
	actor->scan.ns += vm->config.costs.remove_ns;
}

/*
 * pageout. A file page whose block is not allocated is dirtied again at once; the count of
 * pages that reclaim has written grows all the same.
 */
static int write_page(struct actor *actor, uint32_t frame, bool *new_request)
{
	struct sws_reclaim *vm = actor->vm;
	struct page *page = &vm->pages[frame];
	const bool file = vm_is(page, VM_FILE);
	uint64_t at = 0;
	bool joined = true;
	int error = SWS_OK;

	actor->scan.ns += vm->config.costs.submit_ns;
	if (file)
		vm->counts.reclaim_writes_file++;
	else
		vm->counts.swapped_out++;
	if (file && vm->config.delays_allocation && !vm->config.nfs)
		return SWS_OK;
	if (file)
		sws_reclaim__file_clean(vm, frame);
	else
		vm_clear(page, VM_DIRTY);
	at = file ? vm_place_of_file(page->index) : vm_place_of_slot(vm, page->slot);
	vm_set(page, VM_RECLAIM);
	sws_reclaim__start_writeback(vm, frame);
	if (file && vm->config.nfs)
		return sws_reclaim__send(vm, page->index, 1, true);
	error = sws_reclaim__submit(vm, VM_WRITES, at, 1, &joined);
	*new_request = !joined;
	return error;
}

/* The dirty test. A write takes its time, so the page is kept. */
static int test_dirty(struct actor *actor, uint32_t frame, bool used, enum stop *stop)
{
	struct scan *scan = &actor->scan;
	struct sws_reclaim *vm = actor->vm;
	struct page *page = &vm->pages[frame];
	bool new_request = false;
	int error = sws_stall_dirty(&scan->stall);

	keep(actor);
	if (error)
		return error;
	if (scan->stall.state != SWS_STALL_STATE_PAGEOUT) {
		vm->counts.reclaim_immediate += scan->stall.fate == SWS_STALL_FATE_NOT_WRITTEN;
		if (scan->stall.activates)
			activate(actor);
		if (scan->stall.marks)
			vm_set(page, VM_RECLAIM);
		return SWS_OK;
	}
	if (!used)
		error = write_page(actor, frame, &new_request);
	if (new_request && sws_reclaim__is_full(vm, VM_WRITES))
		*stop = STOP_FOR_ROOM;
	return error ? error : sws_stall_paged_out(&scan->stall, false);
}

/* Clean, and nobody's but its filesystem's: does that let go of it? */
static int release(struct actor *actor, uint32_t frame)
{
	if (vm_is(&actor->vm->pages[frame], VM_FILE) &&
	    vm_is(&actor->vm->pages[frame], VM_WRITEBACK | VM_UNSTABLE))
		activate(actor);
	else
		free_page(actor, frame);
	return left(actor);
}

/* The tests behind the writeback test. */
static int go_on(struct actor *actor, uint32_t frame, enum stop *stop)
{
	struct sws_reclaim *vm = actor->vm;
	struct page *page = &vm->pages[frame];
	const bool used = vm_is(page, VM_FILE) && vm_is(page, VM_REFERENCED);
	int error = SWS_OK;

	vm_clear(page, VM_REFERENCED);
	if (sws_reclaim__was_touched(vm, page) ||
	    (!vm_is(page, VM_FILE) && !page->slot && !sws_reclaim__give_slot(vm, frame))) {
		activate(actor);
		return left(actor);
	}
	if (vm_is(page, VM_MAPPED))
		sws_reclaim__unmap(vm, frame);
	if (vm_is(page, VM_DIRTY))
		return test_dirty(actor, frame, used || vm_is(page, VM_WRITEBACK), stop);
	if (vm_is(page, VM_UNSTABLE) && !actor->scan.kswapd) {
		*stop = STOP_FOR_COMMIT;
		return SWS_OK;
	}
	if (vm_is(page, VM_UNSTABLE))
		error = sws_reclaim__commit(vm);
	return error ? error : release(actor, frame);
}

/* What the rules made of a page that they met: does the list stop here? */
static int follow(struct actor *actor, enum stop *stop)
{
	struct scan *scan = &actor->scan;
	const uint32_t frame = scan->pages[scan->at];
	int error = SWS_OK;

	if (scan->stall.state == SWS_STALL_STATE_ASLEEP) {
		*stop = STOP_ASLEEP;
		return SWS_OK;
	}
	if (scan->stall.state == SWS_STALL_STATE_GOES_ON) {
		error = go_on(actor, frame, stop);
	} else {
		if (scan->stall.activates)
			activate(actor);
		else
			keep(actor);
		if (scan->stall.marks)
			vm_set(&actor->vm->pages[frame], VM_RECLAIM);
	}
	scan->at += *stop != STOP_FOR_COMMIT;
	return error;
}

/* The next page of the list. One that is locked or nobody's is passed over. */
static int meet(struct actor *actor, enum stop *stop)
{
	struct scan *scan = &actor->scan;
	struct sws_reclaim *vm = actor->vm;
	const struct page *page = &vm->pages[scan->pages[scan->at]];
	int error = SWS_OK;

	if (vm_is(page, VM_READING | VM_ORPHAN)) {
		keep(actor);
		scan->at++;
		return SWS_OK;
	}
	scan->scanned += vm_is(page, VM_MAPPED | VM_PROGRAM) || page->slot ? 2 : 1;
	scan->stall.flags = vm->zones[vm_zone_of(vm, scan->pages[scan->at])].flags;
	error = sws_stall_meet(&scan->stall, bits_of(vm, page), 1);
	return error ? error : follow(actor, stop);
}

enum step { PAGES, SLEPT, WAITED, COMMITTED, PUT_BACK, OBEY, LEAVE };

struct list_frame {
	/* Of the scan, before this list. */
	uint64_t reclaimed;
	uint32_t zone;
};

/* Where the list goes on: for most stops after something is waited for. */
static int stop_for(struct actor *actor, enum stop stop)
{
	switch (stop) {
	case NO_STOP:
		engine_go(&actor->thread, PAGES);
		return SWS_OK;
	case STOP_ASLEEP:
		engine_go(&actor->thread, SLEPT);
		return sws_reclaim__sleep(actor, 0, SWS_STALL_SLEEP_CONGESTION_WAIT, 100000);
	case STOP_FOR_ROOM:
		engine_go(&actor->thread, WAITED);
		return engine_sleep(&actor->thread, SLEEP_ROOM);
	case STOP_FOR_COMMIT:
		engine_go(&actor->thread, COMMITTED);
		return sws_reclaim__await_commit(actor);
	}
	return SWS_ERROR_BROKEN;
}

/* Page after page until one stops the list, or the list is over. */
static int do_pages(struct actor *actor)
{
	struct scan *scan = &actor->scan;
	enum stop stop = NO_STOP;
	int error = SWS_OK;

	while (!error && stop == NO_STOP && scan->at < scan->n)
		error = meet(actor, &stop);
	if (error || stop != NO_STOP)
		return error ? error : stop_for(actor, stop);
	engine_go(&actor->thread, PUT_BACK);
	return engine_run(&actor->thread, scan->ns);
}

/* Case 1 has slept; what it cleared is cleared, and the page goes its way. */
static int wake_up(struct actor *actor, uint32_t zone)
{
	struct scan *scan = &actor->scan;
	struct sws_reclaim *vm = actor->vm;
	enum stop stop = NO_STOP;
	int error = SWS_OK;

	scan->stall.flags = vm->zones[zone].flags;
	error = sws_stall_slept(&scan->stall,
				vm_is(&vm->pages[scan->pages[scan->at]], VM_WRITEBACK));
	vm->zones[zone].flags = scan->stall.flags;
	if (!error)
		error = follow(actor, &stop);
	return error ? error : stop_for(actor, stop);
}

/* The page that was in the way of a list. */
static int end_commit_wait(struct actor *actor)
{
	const int error = release(actor, actor->scan.pages[actor->scan.at]);

	actor->scan.at++;
	engine_go(&actor->thread, PAGES);
	return error;
}

static void count_list(struct actor *actor, const struct list_frame *my)
{
	struct sws_reclaim_zone *count = &actor->vm->zones[my->zone].count;
	const uint64_t reclaimed = actor->scan.reclaimed - my->reclaimed;

	*(actor->scan.kswapd ? &count->reclaimed_kswapd : &count->reclaimed_direct) += reclaimed;
}

static void add_to_pass(struct scan *scan)
{
	const struct sws_stall_counts *of = &scan->stall.counts;

	scan->pass.dirty += of->dirty;
	scan->pass.unqueued_dirty += of->unqueued_dirty;
	scan->pass.congested += of->congested;
	scan->pass.writeback += of->writeback;
	scan->pass.immediate += of->immediate;
	scan->pass.taken += of->taken;
	scan->pass.file_taken += of->file_taken;
}

/* putback_inactive_pages: those that became active count as rotated. */
static int put_back(struct actor *actor, const struct list_frame *my)
{
	struct scan *scan = &actor->scan;
	struct sws_reclaim *vm = actor->vm;

	for (uint32_t i = 0; i < scan->n; i++) {
		const uint32_t frame = scan->pages[i];
		const uint8_t fate = scan->fates[i];

		if (fate == FREED)
			continue;
		if (vm_is(&vm->pages[frame], VM_ORPHAN)) {
			sws_reclaim__let_go(vm, frame);
			continue;
		}
		sws_reclaim__list_add(vm, frame, (enum vm_place)fate);
		vm->lrus[my->zone].recent_rotated[fate / 2] += fate % 2;
	}
	count_list(actor, my);
	add_to_pass(scan);
	scan->n = 0;
	scan->stall.flags = vm->zones[my->zone].flags;
	return sws_stall_end(&scan->stall, &scan->decision);
}

static int shrink_list(struct actor *actor, void *frame, uint32_t step)
{
	const struct list_frame *my = frame;
	int error = SWS_OK;

	switch ((enum step)step) {
	case PAGES:
		return do_pages(actor);
	case SLEPT:
		return wake_up(actor, my->zone);
	case WAITED:
		engine_go(&actor->thread, PAGES);
		return SWS_OK;
	case COMMITTED:
		return end_commit_wait(actor);
	case PUT_BACK:
		error = put_back(actor, my);
		return error ? error : sws_reclaim__obey(actor, my->zone, SWS_STALL_AT_LIST);
	case OBEY:
	case LEAVE:
		engine_leave(&actor->thread);
		return SWS_OK;
	}
	return SWS_ERROR_BROKEN;
}

/* isolate_lru_pages: nothing else is looked at here. */
static void isolate(struct actor *actor, uint32_t zone, enum vm_place place, uint32_t pages)
{
	struct scan *scan = &actor->scan;
	struct sws_reclaim *vm = actor->vm;
	struct zone *its = &vm->zones[zone];

	for (scan->n = 0; scan->n < pages && vm->lrus[zone].lists[place].n; scan->n++) {
		scan->pages[scan->n] = vm->lrus[zone].lists[place].tail;
		sws_reclaim__list_remove(vm, scan->pages[scan->n]);
	}
	scan->at = 0;
	scan->ns = scan->n * vm->config.costs.scan_ns;
	vm->lrus[zone].recent_scanned[place / 2] += scan->n;
	its->pages_scanned += scan->n;
	*(scan->kswapd ? &its->count.scanned_kswapd : &its->count.scanned_direct) += scan->n;
	vm->work += scan->n;
}

int sws_reclaim__shrink_list(struct actor *actor, uint32_t zone, bool file, uint32_t pages)
{
	const struct list_frame frame = { .zone = zone, .reclaimed = actor->scan.reclaimed };
	const struct sws_stall_context context = sws_reclaim__context(actor, zone);
	int error = SWS_OK;

	isolate(actor, zone, file ? VM_INACTIVE_FILE : VM_INACTIVE_ANON, pages);
	if (!actor->scan.n)
		return SWS_OK;
	error = sws_stall_begin(&context, file, actor->scan.n, &actor->scan.stall);
	return error ? error : engine_call(&actor->thread, shrink_list, &frame, sizeof(frame));
}
