/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reclaim/writer.c - dd with conv=fdatasync: writes its file page by page and is throttled after
 * each 32 pages; then it submits all dirty pages itself and waits for the last write, with a server
 * also for its commit. The script that starts it may first look again and again until enough memory
 * is in use; if that is not so when the serving ends, no file is written.
 */
#include "reclaim/disk.h"
#include "reclaim/lists.h"
#include "reclaim/nfs.h"
#include "reclaim/pages.h"
#include "reclaim/reclaim.h"
#include "reclaim/writeback.h"
#include "reclaim/zones.h"

enum step { LOOK, WAIT, BEGIN, FILL, GOT, BALANCE, PAUSED, SYNC, ROOM, WRITTEN };

struct writing {
	uint64_t since;
	uint32_t index;
	/* Pages dirtied since the last call of balance_dirty_pages. */
	uint32_t batch;
};

static void add(struct sws_reclaim *self, struct writing *my, uint32_t frame)
{
	sws_reclaim__file_add(self, my->index++, frame);
	sws_reclaim__list_add(self, frame, LRU_INACTIVE_FILE);
	my->batch++;
	self->work++;
}

/* Dirties as many pages as are free at once, then allocates the next one with reclaim if needed. */
static int fill(struct actor *actor, struct writing *my)
{
	struct sws_reclaim *self = actor->reclaim;
	const uint32_t before = my->batch;
	uint32_t frame = NO_FRAME;

	while (my->batch < DIRTY_BATCH_PAGES && my->index < self->file.pages) {
		frame = sws_reclaim__take_fast(self, true);
		if (frame == NO_FRAME)
			break;
		add(self, my, frame);
	}
	if (my->batch > before) {
		engine_go(&actor->thread,
			  my->batch < DIRTY_BATCH_PAGES && my->index < self->file.pages ? FILL
											: BALANCE);
		return engine_run(&actor->thread,
				  (my->batch - before) * self->config.costs.copy_ns);
	}
	return sws_reclaim__allocate(actor, true);
}

static int take_page(struct actor *actor, struct writing *my)
{
	if (actor->thread.result == NO_FRAME)
		return engine_sleep(&actor->thread, WAIT_WAKE_UP);
	add(actor->reclaim, my, actor->thread.result);
	engine_go(&actor->thread, my->batch < DIRTY_BATCH_PAGES ? FILL : BALANCE);
	if (my->index == actor->reclaim->file.pages)
		engine_go(&actor->thread, BALANCE);
	return engine_run(&actor->thread, actor->reclaim->config.costs.copy_ns);
}

static int balance(struct actor *actor, struct writing *my)
{
	struct sws_reclaim *self = actor->reclaim;
	bool again = false;
	const uint64_t pause = sws_reclaim__pause_ns(self, my->batch, &again);
	int error = sws_reclaim__wake_flusher(self);

	if (!again)
		my->batch = 0;
	engine_go(&actor->thread, again ? BALANCE : PAUSED);
	self->counts.throttled_ns += pause;
	return error || !pause ? error : engine_await(&actor->thread, pause);
}

/* fdatasync: submits the dirty pages, then waits for all writes. */
static int sync_file(struct actor *actor)
{
	struct sws_reclaim *self = actor->reclaim;
	uint32_t pages = 0;
	int error = sws_reclaim__write_run(self, QUEUE_SYNC_WRITES, &pages);

	if (error)
		return error;
	if (pages)
		return engine_run(&actor->thread, pages * self->config.costs.submit_ns);
	if (self->file.writeback || self->file.unstable) {
		error = self->file.writeback ? SWS_OK : sws_reclaim__commit(self);
		if (error)
			return error;
		engine_go(&actor->thread, SYNC);
		return engine_sleep(&actor->thread, WAIT_SYNC);
	}
	engine_go(&actor->thread, WRITTEN);
	return SWS_OK;
}

/* Looks whether enough memory is in use, until the client ends the wait. */
static int look(struct actor *actor)
{
	struct sws_reclaim *self = actor->reclaim;

	if (!self->writes_file) {
		engine_leave(&actor->thread);
		return SWS_OK;
	}
	self->writer_looks = sws_reclaim__used(self) < self->config.start_used_pages;
	if (!self->writer_looks)
		return SWS_OK;
	engine_go(&actor->thread, LOOK);
	return engine_doze(&actor->thread, self->config.start_look_ns, WAIT_WAKE_UP);
}

static int write_file(struct actor *actor, void *frame, uint32_t step)
{
	struct writing *my = frame;
	struct sws_reclaim *self = actor->reclaim;

	switch ((enum step)step) {
	case LOOK:
		return look(actor);
	case WAIT:
		return engine_await(&actor->thread, self->config.write_delay_ns);
	case BEGIN:
		*my = (struct writing){ .since = time_now(self) };
		return SWS_OK;
	case FILL:
		return fill(actor, my);
	case GOT:
		return take_page(actor, my);
	case BALANCE:
		return balance(actor, my);
	case PAUSED:
		engine_go(&actor->thread, my->index < self->file.pages ? FILL : SYNC);
		return SWS_OK;
	case SYNC:
		return sync_file(actor);
	case ROOM:
		engine_go(&actor->thread, SYNC);
		return sws_reclaim__is_full(self, QUEUE_SYNC_WRITES)
			       ? engine_sleep(&actor->thread, WAIT_SYNC_ROOM)
			       : SWS_OK;
	case WRITTEN:
		self->rounds[self->round].io_ns = time_now(self) - my->since;
		self->writes_file = false;
		engine_leave(&actor->thread);
		return sws_reclaim__call(self, ACTOR_CLIENT);
	}
	return SWS_ERROR_BROKEN;
}

/* The client wakes it when there is a file to write. */
static int run_writer(struct actor *actor, void *frame, uint32_t step)
{
	const struct writing writing = { 0 };

	(void)frame;
	if (!step)
		return engine_sleep(&actor->thread, WAIT_WAKE_UP);
	engine_go(&actor->thread, 0);
	return engine_call(&actor->thread, write_file, &writing, sizeof(writing));
}

int sws_reclaim__writer(struct actor *actor)
{
	return engine_call(&actor->thread, run_writer, NULL, 0);
}
