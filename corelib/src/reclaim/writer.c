/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vm/writer.c - dd with conv=fdatasync: writes its file page by page, is throttled after each
 * 32, then gives all that is dirty still to the queue itself and waits for the last write; of
 * a server also for its commit.
 */
#include "reclaim/disk.h"
#include "reclaim/lists.h"
#include "reclaim/nfs.h"
#include "reclaim/pages.h"
#include "reclaim/reclaim.h"
#include "reclaim/tasks.h"
#include "reclaim/writeback.h"
#include "reclaim/zones.h"

enum step { WAIT, BEGIN, FILL, GOT, BALANCE, PAUSED, SYNC, ROOM, WRITTEN };

struct writing {
	uint64_t since;
	uint32_t index;
	/* Dirtied since it looked at how many are dirty. */
	uint32_t batch;
};

static void add(struct sws_reclaim *vm, struct writing *my, uint32_t frame)
{
	sws_reclaim__file_add(vm, my->index++, frame);
	sws_reclaim__list_add(vm, frame, VM_INACTIVE_FILE);
	my->batch++;
	vm->work++;
}

/* As many pages as there are to be had at once; the one that is not is asked for. */
static int fill(struct actor *actor, struct writing *my)
{
	struct sws_reclaim *vm = actor->vm;
	const uint32_t before = my->batch;
	uint32_t frame = VM_NONE;

	while (my->batch < VM_DIRTY_BATCH && my->index < vm->file.pages) {
		frame = sws_reclaim__take_fast(vm, true);
		if (frame == VM_NONE)
			break;
		add(vm, my, frame);
	}
	if (my->batch > before) {
		engine_go(&actor->thread, my->batch < VM_DIRTY_BATCH && my->index < vm->file.pages
						  ? FILL
						  : BALANCE);
		return engine_run(&actor->thread, (my->batch - before) * vm->config.costs.copy_ns);
	}
	return sws_reclaim__allocate(actor, true);
}

static int take_page(struct actor *actor, struct writing *my)
{
	if (actor->thread.result == VM_NONE)
		return engine_sleep(&actor->thread, SLEEP_TO_BE_WOKEN);
	add(actor->vm, my, actor->thread.result);
	engine_go(&actor->thread, my->batch < VM_DIRTY_BATCH ? FILL : BALANCE);
	if (my->index == actor->vm->file.pages)
		engine_go(&actor->thread, BALANCE);
	return engine_run(&actor->thread, actor->vm->config.costs.copy_ns);
}

static int balance(struct actor *actor, struct writing *my)
{
	struct sws_reclaim *vm = actor->vm;
	bool again = false;
	const uint64_t pause = sws_reclaim__pause_ns(vm, my->batch, &again);
	int error = sws_reclaim__wake_flusher(vm);

	if (!again)
		my->batch = 0;
	engine_go(&actor->thread, again ? BALANCE : PAUSED);
	vm->counts.throttled_ns += pause;
	return error || !pause ? error : engine_await(&actor->thread, pause);
}

/* fdatasync: what is dirty is given to the queue, then what is written is waited for. */
static int sync_file(struct actor *actor)
{
	struct sws_reclaim *vm = actor->vm;
	uint32_t pages = 0;
	int error = sws_reclaim__write_run(vm, VM_SYNC_WRITES, &pages);

	if (error)
		return error;
	if (pages)
		return engine_run(&actor->thread, pages * vm->config.costs.submit_ns);
	if (vm->file.writeback || vm->file.unstable) {
		error = vm->file.writeback ? SWS_OK : sws_reclaim__commit(vm);
		if (error)
			return error;
		engine_go(&actor->thread, SYNC);
		return engine_sleep(&actor->thread, SLEEP_SYNC);
	}
	engine_go(&actor->thread, WRITTEN);
	return SWS_OK;
}

static int write_file(struct actor *actor, void *frame, uint32_t step)
{
	struct writing *my = frame;
	struct sws_reclaim *vm = actor->vm;

	switch ((enum step)step) {
	case WAIT:
		return vm->config.write_delay_ns
			       ? engine_await(&actor->thread, vm->config.write_delay_ns)
			       : SWS_OK;
	case BEGIN:
		*my = (struct writing){ .since = vm_now(vm) };
		return SWS_OK;
	case FILL:
		return fill(actor, my);
	case GOT:
		return take_page(actor, my);
	case BALANCE:
		return balance(actor, my);
	case PAUSED:
		engine_go(&actor->thread, my->index < vm->file.pages ? FILL : SYNC);
		return SWS_OK;
	case SYNC:
		return sync_file(actor);
	case ROOM:
		engine_go(&actor->thread, SYNC);
		return sws_reclaim__is_full(vm, VM_SYNC_WRITES)
			       ? engine_sleep(&actor->thread, SLEEP_SYNC_ROOM)
			       : SWS_OK;
	case WRITTEN:
		vm->rounds[vm->round].io_ns = vm_now(vm) - my->since;
		vm->writes_file = false;
		engine_leave(&actor->thread);
		return sws_reclaim__call(vm, VM_CLIENT);
	}
	return SWS_ERROR_BROKEN;
}

/* Woken by the client when there is a file to write. */
static int live(struct actor *actor, void *frame, uint32_t step)
{
	const struct writing writing = { 0 };

	(void)frame;
	if (!step)
		return engine_sleep(&actor->thread, SLEEP_TO_BE_WOKEN);
	engine_go(&actor->thread, 0);
	return engine_call(&actor->thread, write_file, &writing, sizeof(writing));
}

int sws_reclaim__writer(struct actor *actor)
{
	return engine_call(&actor->thread, live, NULL, 0);
}
