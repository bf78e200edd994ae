/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vm/writeback.c - the flusher, and the rate of those who dirty pages: wb_writeback and
 * balance_dirty_pages. Of 1,600,000 pages that can be dirty 160,000 may be in peace, 320,000
 * at most:
 *
 *      pages dirty or under writeback   0 ...... 240,000 ... 280,000 ... 320,000
 *      rate of the writer               free       2 x         1 x        none
 *                                       of the disk's measured bandwidth
 *
 * between the last three by the third power of the way, as bdi_position_ratio has it.
 */
#include "reclaim/writeback.h"

#include "reclaim/bits.h"
#include "reclaim/disk.h"
#include "reclaim/nfs.h"
#include "reclaim/pages.h"
#include "reclaim/zones.h"

static const uint64_t LONGEST_PAUSE_NS = 200000000;
static const uint64_t SECOND_NS = 1000000000;

int sws_reclaim__ask_flusher(struct sws_reclaim *vm, uint64_t pages)
{
	vm->flush_asked += pages;
	return sws_reclaim__call(vm, VM_FLUSHER);
}

int sws_reclaim__wake_flusher(struct sws_reclaim *vm)
{
	if (sws_reclaim__dirty(vm) <= sws_reclaim__limits(vm).background)
		return SWS_OK;
	return sws_reclaim__call(vm, VM_FLUSHER);
}

/* The first dirty page from an index on; the file's end if there is none. */
static uint32_t next_dirty(const struct file *file, uint32_t index)
{
	return vm_next_bit(file->dirty_bits, file->pages, index);
}

static bool is_dirty(const struct file *file, uint32_t index)
{
	return index < file->pages && file->dirty_bits[index / 64] >> index % 64 & 1;
}

int sws_reclaim__write_run(struct sws_reclaim *vm, enum vm_queue queue, uint32_t *pages)
{
	const uint32_t most = vm->config.nfs ? vm->config.write_pages : vm->config.request_pages;
	struct file *file = &vm->file;
	uint32_t first = 0;
	bool joined = false;

	*pages = 0;
	if (!file->dirty)
		return SWS_OK;
	first = next_dirty(file, file->cursor);
	if (first == file->pages)
		first = next_dirty(file, 0);
	for (; *pages < most && is_dirty(file, first + *pages); ++*pages) {
		const uint32_t frame = file->frames[first + *pages] - 1;

		sws_reclaim__file_clean(vm, frame);
		sws_reclaim__start_writeback(vm, frame);
	}
	file->cursor = first + *pages;
	vm->work += *pages;
	if (vm->config.nfs)
		return sws_reclaim__send(vm, first, *pages, false);
	return sws_reclaim__submit(vm, queue, vm_place_of_file(first), *pages, &joined);
}

/* 0 .. 2048, 1024 being the disk's rate. */
static uint64_t position_ratio(uint64_t dirty, uint64_t free_run, uint64_t limit)
{
	const int64_t set_point = (int64_t)(free_run + limit) / 2;
	const int64_t x = (set_point - (int64_t)dirty) * 1024 / ((int64_t)limit - set_point + 1);
	const int64_t ratio = x * x / 1024 * x / 1024 + 1024;

	return ratio < 0 ? 0 : ratio > 2048 ? 2048 : (uint64_t)ratio;
}

uint64_t sws_reclaim__pause_ns(const struct sws_reclaim *vm, uint32_t pages, bool *again)
{
	const struct vm_limits limits = sws_reclaim__limits(vm);
	const uint64_t dirty = (uint64_t)sws_reclaim__dirty(vm) + sws_reclaim__writeback(vm);
	const uint64_t free_run = (limits.background + limits.dirty) / 2;
	uint64_t rate = 0;
	uint64_t pause = 0;

	*again = false;
	if (dirty <= free_run)
		return 0;
	if (dirty < limits.dirty)
		rate = vm->bandwidth.rate * position_ratio(dirty, free_run, limits.dirty) / 1024;
	*again = !rate;
	pause = rate ? pages * SECOND_NS / rate : LONGEST_PAUSE_NS;
	return pause < LONGEST_PAUSE_NS ? pause : LONGEST_PAUSE_NS;
}

enum step { LOOK, ROOM };

/* Too much is dirty, or it is too old, or reclaim wants it written. */
static bool has_work(struct sws_reclaim *vm)
{
	struct file *file = &vm->file;

	if (!file->dirty) {
		vm->flush_asked = 0;
		return false;
	}
	if (vm_now(vm) - file->dirtied_ns >= vm->config.flush_age_ns) {
		file->dirtied_ns = vm_now(vm);
		vm->flush_asked = vm->flush_asked > file->dirty ? vm->flush_asked : file->dirty;
	}
	return vm->flush_asked || sws_reclaim__dirty(vm) > sws_reclaim__limits(vm).background;
}

static int flush(struct actor *actor, void *frame, uint32_t step)
{
	struct sws_reclaim *vm = actor->vm;
	uint32_t pages = 0;
	int error = SWS_OK;

	(void)frame;
	switch ((enum step)step) {
	case LOOK:
		error = sws_reclaim__commit_many(vm);
		if (error)
			return error;
		if (!has_work(vm)) {
			engine_go(&actor->thread, LOOK);
			return engine_doze(&actor->thread, vm->config.flush_interval_ns,
					   SLEEP_TO_BE_WOKEN);
		}
		error = sws_reclaim__write_run(vm, VM_WRITES, &pages);
		vm->flush_asked -= vm->flush_asked < pages ? vm->flush_asked : pages;
		return error ? error
			     : engine_run(&actor->thread, pages * vm->config.costs.submit_ns);
	case ROOM:
		engine_go(&actor->thread, LOOK);
		return sws_reclaim__is_full(vm, VM_WRITES)
			       ? engine_sleep(&actor->thread, SLEEP_ROOM)
			       : SWS_OK;
	}
	return SWS_ERROR_BROKEN;
}

int sws_reclaim__flusher(struct actor *actor)
{
	return engine_call(&actor->thread, flush, NULL, 0);
}
