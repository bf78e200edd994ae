/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reclaim/shrink.c - shrink_inactive_list and shrink_page_list: up to 32 pages from the tail of an
 * inactive list, one by one. Pages that were not freed then return in the order in which they were
 * isolated; after that the rules decide about flags and throttles.
 *
 *      tail  9 3 7 ...     9 file, clean      freed
 *                          3 file, dirty      marked, returned to the head
 *                          7 anon, touched    to the head of the active list
 *
 * stall.h decides the tests of a page up to its write; the rest is here: the reference test, the
 * allocation of a slot, the result of the write. The procedure stops within the list where a page's
 * tests include a sleep, where the queue has no room for a write, or where a task requests the
 * commit of a page: nfs_release_page waits for it, except in kswapd.
 */
#include "reclaim/disk.h"
#include "reclaim/lists.h"
#include "reclaim/nfs.h"
#include "reclaim/pages.h"
#include "reclaim/reclaim.h"

/* The result of a page that does not return to a list. */
enum { FREED = PLACE_FREE };

/* The reason for a stop within the list. */
enum stop { NO_STOP, STOP_ASLEEP, STOP_FOR_ROOM, STOP_FOR_COMMIT };

static enum page_place inactive(const struct page *page)
{
	return page_is(page, PAGE_FILE) ? LRU_INACTIVE_FILE : LRU_INACTIVE_ANON;
}

static enum page_place active(const struct page *page)
{
	return page_is(page, PAGE_FILE) ? LRU_ACTIVE_FILE : LRU_ACTIVE_ANON;
}

static void keep(struct actor *actor)
{
	struct scan *scan = &actor->scan;

	scan->outcomes[scan->at] = (uint8_t)inactive(&actor->reclaim->pages[scan->pages[scan->at]]);
}

/* Activates the current page, which gives up its slot when free slots are scarce. */
static void activate(struct actor *actor)
{
	struct scan *scan = &actor->scan;
	struct sws_reclaim *self = actor->reclaim;
	const uint32_t frame = scan->pages[scan->at];
	const struct page *page = &self->pages[frame];

	if (page->slot && page_is(page, PAGE_MAPPED) && !page_is(page, PAGE_WRITEBACK) &&
	    sws_reclaim__swap_is_full(self))
		sws_reclaim__leave_swap(self, frame);
	scan->outcomes[scan->at] = (uint8_t)active(page);
}

static int left(struct actor *actor)
{
	struct scan *scan = &actor->scan;

	if (scan->stall.marks)
		page_set(&actor->reclaim->pages[scan->pages[scan->at]], PAGE_RECLAIM);
	return sws_stall_left(&scan->stall);
}

/* __remove_mapping and free the page; in mmotm the page may still be under writeback. */
static void free_page(struct actor *actor, uint32_t frame)
{
	struct sws_reclaim *self = actor->reclaim;

	sws_reclaim__remove_mapping(self, frame);
	if (page_is(&self->pages[frame], PAGE_WRITEBACK)) {
		self->counts.freed_under_writeback++;
		sws_reclaim__end_writeback(self, frame);
	}
	sws_reclaim__frame_give(self, frame);
	actor->scan.outcomes[actor->scan.at] = FREED;
	actor->scan.reclaimed++;
	actor->scan.ns += self->config.costs.remove_ns;
}

/*
 * pageout. A file page whose block is not allocated is dirtied again at once and loses its mark; it
 * still counts as written by reclaim.
 */
static int write_page(struct actor *actor, uint32_t frame, bool *new_request)
{
	struct sws_reclaim *self = actor->reclaim;
	struct page *page = &self->pages[frame];
	const bool file = page_is(page, PAGE_FILE);
	const bool redirties = file && self->config.delays_allocation && !self->config.nfs;
	uint64_t at = 0;
	bool joined = true;
	int error = SWS_OK;

	actor->scan.ns += redirties ? self->config.costs.redirty_ns : self->config.costs.submit_ns;
	if (file)
		self->counts.reclaim_writes_file++;
	else
		self->counts.swapped_out++;
	if (redirties) {
		page_clear(page, PAGE_RECLAIM);
		return SWS_OK;
	}
	if (file)
		sws_reclaim__file_clean(self, frame);
	else
		page_clear(page, PAGE_DIRTY);
	at = file ? place_of_file(page->index) : place_of_slot(self, page->slot);
	page_set(page, PAGE_RECLAIM);
	sws_reclaim__start_writeback(self, frame);
	if (file && self->config.nfs)
		return sws_reclaim__send(self, page->index, 1, true);
	error = sws_reclaim__submit(self, QUEUE_WRITES, at, 1, &joined);
	*new_request = !joined;
	return error;
}

/* Runs the dirty test. A page whose write is under way returns to the list. */
static int test_dirty(struct actor *actor, uint32_t frame, bool used, enum stop *stop)
{
	struct scan *scan = &actor->scan;
	struct sws_reclaim *self = actor->reclaim;
	struct page *page = &self->pages[frame];
	bool new_request = false;
	int error = sws_stall_dirty(&scan->stall);

	keep(actor);
	if (error)
		return error;
	if (scan->stall.state != SWS_STALL_STATE_PAGEOUT) {
		self->counts.reclaim_immediate +=
			scan->stall.branch == SWS_STALL_BRANCH_NOT_WRITTEN;
		if (scan->stall.activates)
			activate(actor);
		if (scan->stall.marks)
			page_set(page, PAGE_RECLAIM);
		return SWS_OK;
	}
	if (!used)
		error = write_page(actor, frame, &new_request);
	if (new_request && sws_reclaim__is_full(self, QUEUE_WRITES))
		*stop = STOP_FOR_ROOM;
	return error ? error : sws_stall_paged_out(&scan->stall, false);
}

/* Releases a clean page that only its file system refers to, if the file system agrees. */
static int release(struct actor *actor, uint32_t frame)
{
	if (page_is(&actor->reclaim->pages[frame], PAGE_FILE) &&
	    page_is(&actor->reclaim->pages[frame], PAGE_WRITEBACK | PAGE_UNSTABLE))
		activate(actor);
	else
		free_page(actor, frame);
	return left(actor);
}

/*
 * page_check_references: returns true if a page stays because it was touched. A page of a program
 * stays inactive at its first touch unless it is executable.
 */
static bool stays(struct actor *actor, struct page *page, bool again)
{
	const bool file = page_is(page, PAGE_FILE);

	if (!sws_reclaim__was_touched(actor->reclaim, page))
		return false;
	if (file)
		page_set(page, PAGE_REFERENCED);
	if (file && !again && !page_is(page, PAGE_EXECUTABLE))
		keep(actor);
	else
		activate(actor);
	return true;
}

/* Runs the tests after the writeback test. */
static int go_on(struct actor *actor, uint32_t frame, enum stop *stop)
{
	struct sws_reclaim *self = actor->reclaim;
	struct page *page = &self->pages[frame];
	const bool again = page_is(page, PAGE_REFERENCED);
	const bool used = page_is(page, PAGE_FILE) && again;
	int error = SWS_OK;

	page_clear(page, PAGE_REFERENCED);
	if (stays(actor, page, again))
		return left(actor);
	if (!page_is(page, PAGE_FILE) && !page->slot && !sws_reclaim__give_slot(self, frame)) {
		activate(actor);
		return left(actor);
	}
	if (page_is(page, PAGE_MAPPED))
		sws_reclaim__unmap(self, frame);
	if (page_is(page, PAGE_DIRTY))
		return test_dirty(actor, frame, used || page_is(page, PAGE_WRITEBACK), stop);
	if (page_is(page, PAGE_UNSTABLE) && !actor->scan.kswapd) {
		*stop = STOP_FOR_COMMIT;
		return SWS_OK;
	}
	if (page_is(page, PAGE_UNSTABLE))
		error = sws_reclaim__commit(self);
	return error ? error : release(actor, frame);
}

/* Acts on the state that stall.h reports for a page, and returns whether the list stops here. */
static int act_on_state(struct actor *actor, enum stop *stop)
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
			page_set(&actor->reclaim->pages[frame], PAGE_RECLAIM);
	}
	scan->at += *stop != STOP_FOR_COMMIT;
	return error;
}

/* Tests the next page of the list. Locked pages and orphans are skipped. */
static int test_page(struct actor *actor, enum stop *stop)
{
	struct scan *scan = &actor->scan;
	struct sws_reclaim *self = actor->reclaim;
	const struct page *page = &self->pages[scan->pages[scan->at]];
	int error = SWS_OK;

	if (page_is(page, PAGE_READING | PAGE_ORPHAN)) {
		keep(actor);
		scan->at++;
		return SWS_OK;
	}
	scan->scanned += page_is(page, PAGE_MAPPED) || page->slot ? 2 : 1;
	scan->stall.flags = self->zones[zone_of(self, scan->pages[scan->at])].flags;
	error = sws_stall_meet(&scan->stall, sws_reclaim__bits_of(self, page), 1);
	return error ? error : act_on_state(actor, stop);
}

enum step { PAGES, SLEPT, WAITED, COMMITTED, PUT_BACK, OBEY, LEAVE };

struct list_frame {
	/* The scan's reclaimed pages before this list. */
	uint64_t reclaimed;
	uint32_t zone;
};

/* Waits for the reason of a stop and sets the step where the list continues. */
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
		return engine_sleep(&actor->thread, WAIT_ROOM);
	case STOP_FOR_COMMIT:
		engine_go(&actor->thread, COMMITTED);
		return sws_reclaim__await_commit(actor);
	}
	return SWS_ERROR_BROKEN;
}

/* Tests pages until one stops the list or the list ends. */
static int do_pages(struct actor *actor)
{
	struct scan *scan = &actor->scan;
	enum stop stop = NO_STOP;
	int error = SWS_OK;

	while (!error && stop == NO_STOP && scan->at < scan->n)
		error = test_page(actor, &stop);
	if (error || stop != NO_STOP)
		return error ? error : stop_for(actor, stop);
	engine_go(&actor->thread, PUT_BACK);
	return engine_run(&actor->thread, scan->ns);
}

/* Ends the sleep of case 1, after the flags that it clears, and continues with the page. */
static int wake_up(struct actor *actor, uint32_t zone)
{
	struct scan *scan = &actor->scan;
	struct sws_reclaim *self = actor->reclaim;
	enum stop stop = NO_STOP;
	int error = SWS_OK;

	scan->stall.flags = self->zones[zone].flags;
	error = sws_stall_slept(&scan->stall,
				page_is(&self->pages[scan->pages[scan->at]], PAGE_WRITEBACK));
	self->zones[zone].flags = scan->stall.flags;
	if (!error)
		error = act_on_state(actor, &stop);
	return error ? error : stop_for(actor, stop);
}

/* Ends the wait for the commit of a page. */
static int end_commit_wait(struct actor *actor)
{
	const int error = release(actor, actor->scan.pages[actor->scan.at]);

	actor->scan.at++;
	engine_go(&actor->thread, PAGES);
	return error;
}

static void count_list(struct actor *actor, const struct list_frame *my)
{
	struct sws_reclaim_zone *count = &actor->reclaim->zones[my->zone].count;
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

/* putback_inactive_pages: pages that became active count as rotated. */
static int put_back(struct actor *actor, const struct list_frame *my)
{
	struct scan *scan = &actor->scan;
	struct sws_reclaim *self = actor->reclaim;

	for (uint32_t i = 0; i < scan->n; i++) {
		const uint32_t frame = scan->pages[i];
		const uint8_t outcome = scan->outcomes[i];

		if (outcome == FREED)
			continue;
		if (page_is(&self->pages[frame], PAGE_ORPHAN)) {
			sws_reclaim__return_orphan(self, frame);
			continue;
		}
		sws_reclaim__list_add(self, frame, (enum page_place)outcome);
		self->lrus[my->zone].recent_rotated[outcome / 2] += outcome % 2;
	}
	count_list(actor, my);
	add_to_pass(scan);
	scan->n = 0;
	scan->stall.flags = self->zones[my->zone].flags;
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
		return error ? error : sws_reclaim__carry_out(actor, my->zone, SWS_STALL_AT_LIST);
	case OBEY:
	case LEAVE:
		engine_leave(&actor->thread);
		return SWS_OK;
	}
	return SWS_ERROR_BROKEN;
}

/* isolate_lru_pages: takes pages from the tail without any test. */
static void isolate(struct actor *actor, uint32_t zone, enum page_place place, uint32_t pages)
{
	struct scan *scan = &actor->scan;
	struct sws_reclaim *self = actor->reclaim;
	struct zone *its = &self->zones[zone];

	for (scan->n = 0; scan->n < pages && self->lrus[zone].lists[place].n; scan->n++) {
		scan->pages[scan->n] = self->lrus[zone].lists[place].tail;
		sws_reclaim__list_remove(self, scan->pages[scan->n]);
	}
	scan->at = 0;
	scan->ns = scan->n * self->config.costs.scan_ns;
	self->lrus[zone].recent_scanned[place / 2] += scan->n;
	its->pages_scanned += scan->n;
	*(scan->kswapd ? &its->count.scanned_kswapd : &its->count.scanned_direct) += scan->n;
	self->work += scan->n;
}

int sws_reclaim__shrink_list(struct actor *actor, uint32_t zone, bool file, uint32_t pages)
{
	const struct list_frame frame = {
		.zone = zone,
		.reclaimed = actor->scan.reclaimed,
	};
	const struct sws_stall_context context = sws_reclaim__context(actor, zone);
	int error = SWS_OK;

	isolate(actor, zone, file ? LRU_INACTIVE_FILE : LRU_INACTIVE_ANON, pages);
	if (!actor->scan.n)
		return SWS_OK;
	error = sws_stall_begin(&context, file, actor->scan.n, &actor->scan.stall);
	return error ? error : engine_call(&actor->thread, shrink_list, &frame, sizeof(frame));
}
