/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reclaim/writeback.c - the flusher, and the rate of tasks that dirty pages: wb_writeback and
 * balance_dirty_pages. Of 1,600,000 dirtyable pages 160,000 may be dirty before the flusher starts,
 * and at most 320,000 may be dirty:
 *
 *      pages dirty or under writeback   0 ...... 240,000 ... 280,000 ... 320,000
 *      rate of the writer               free       2 x         1 x         0
 *                                       of the disk's measured bandwidth
 *
 * Between the last three points the rate follows a third power, as in bdi_position_ratio.
 */
#include "reclaim/writeback.h"

#include "reclaim/bits.h"
#include "reclaim/disk.h"
#include "reclaim/nfs.h"
#include "reclaim/pages.h"
#include "reclaim/zones.h"

static const uint64_t LONGEST_PAUSE_NS = 200000000;
static const uint64_t SECOND_NS = 1000000000;

int sws_reclaim__ask_flusher(struct sws_reclaim *self, uint64_t pages)
{
	self->flush_asked += pages;
	return sws_reclaim__call(self, ACTOR_FLUSHER);
}

int sws_reclaim__wake_flusher(struct sws_reclaim *self)
{
	if (sws_reclaim__dirty(self) <= sws_reclaim__limits(self).background)
		return SWS_OK;
	return sws_reclaim__call(self, ACTOR_FLUSHER);
}

/* Returns the first dirty page at or after an index; the file's end if no page is dirty. */
static uint32_t next_dirty(const struct file *file, uint32_t index)
{
	return next_bit(file->dirty_bits, file->pages, index);
}

static bool is_dirty(const struct file *file, uint32_t index)
{
	return index < file->pages && file->dirty_bits[index / 64] >> index % 64 & 1;
}

/* Puts the next run of dirty pages under writeback; returns their number, and the first one. */
static uint32_t take_run(struct sws_reclaim *self, uint32_t most, uint32_t *first)
{
	struct file *file = &self->file;
	uint32_t pages = 0;

	if (!file->dirty)
		return 0;
	*first = next_dirty(file, file->cursor);
	if (*first == file->pages)
		*first = next_dirty(file, 0);
	for (; pages < most && is_dirty(file, *first + pages); pages++) {
		const uint32_t frame = file->frames[*first + pages] - 1;

		sws_reclaim__file_clean(self, frame);
		sws_reclaim__start_writeback(self, frame);
	}
	file->cursor = *first + pages;
	self->work += pages;
	return pages;
}

int sws_reclaim__write_run(struct sws_reclaim *self, enum disk_queue queue, uint32_t *pages)
{
	uint32_t first = 0;
	bool joined = false;

	*pages = take_run(self,
			  self->config.nfs ? self->config.write_pages : self->config.request_pages,
			  &first);
	if (!*pages)
		return SWS_OK;
	if (self->config.nfs)
		return sws_reclaim__send(self, first, *pages, false);
	return sws_reclaim__submit(self, queue, place_of_file(first), *pages, &joined);
}

/* Returns 0 .. 2048, where 1024 means the disk's rate. */
static uint64_t position_ratio(uint64_t dirty, uint64_t free_run, uint64_t limit)
{
	const int64_t set_point = (int64_t)(free_run + limit) / 2;
	const int64_t x = (set_point - (int64_t)dirty) * 1024 / ((int64_t)limit - set_point + 1);
	const int64_t ratio = x * x / 1024 * x / 1024 + 1024;

	return ratio < 0 ? 0 : ratio > 2048 ? 2048 : (uint64_t)ratio;
}

uint64_t sws_reclaim__pause_ns(const struct sws_reclaim *self, uint32_t pages, bool *again)
{
	const struct dirty_limits limits = sws_reclaim__limits(self);
	const uint64_t dirty = (uint64_t)sws_reclaim__dirty(self) + sws_reclaim__writeback(self);
	const uint64_t free_run = (limits.background + limits.dirty) / 2;
	uint64_t rate = 0;
	uint64_t pause = 0;

	*again = false;
	if (dirty <= free_run)
		return 0;
	if (dirty < limits.dirty)
		rate = self->bandwidth.rate * position_ratio(dirty, free_run, limits.dirty) / 1024;
	*again = !rate;
	pause = rate ? pages * SECOND_NS / rate : LONGEST_PAUSE_NS;
	return pause < LONGEST_PAUSE_NS ? pause : LONGEST_PAUSE_NS;
}

enum step { LOOK, ROOM };

/* Returns true if too many pages are dirty, pages are too old, or reclaim has requested writes. */
static bool has_work(struct sws_reclaim *self)
{
	struct file *file = &self->file;

	if (!file->dirty) {
		self->flush_asked = 0;
		return false;
	}
	if (time_now(self) - file->dirtied_ns >= self->config.flush_age_ns) {
		file->dirtied_ns = time_now(self);
		self->flush_asked =
			self->flush_asked > file->dirty ? self->flush_asked : file->dirty;
	}
	return self->flush_asked || sws_reclaim__dirty(self) > sws_reclaim__limits(self).background;
}

static int flush(struct actor *actor, void *frame, uint32_t step)
{
	struct sws_reclaim *self = actor->reclaim;
	uint32_t pages = 0;
	int error = SWS_OK;

	(void)frame;
	switch ((enum step)step) {
	case LOOK:
		error = sws_reclaim__commit_many(self);
		if (error)
			return error;
		if (!has_work(self)) {
			engine_go(&actor->thread, LOOK);
			return engine_doze(&actor->thread, self->config.flush_interval_ns,
					   WAIT_WAKE_UP);
		}
		error = sws_reclaim__write_run(self, QUEUE_WRITES, &pages);
		self->flush_asked -= self->flush_asked < pages ? self->flush_asked : pages;
		return error ? error
			     : engine_run(&actor->thread, pages * self->config.costs.submit_ns);
	case ROOM:
		engine_go(&actor->thread, LOOK);
		return sws_reclaim__is_full(self, QUEUE_WRITES)
			       ? engine_sleep(&actor->thread, WAIT_ROOM)
			       : SWS_OK;
	}
	return SWS_ERROR_BROKEN;
}

int sws_reclaim__flusher(struct actor *actor)
{
	return engine_call(&actor->thread, flush, NULL, 0);
}
