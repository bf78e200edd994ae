/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reclaim/programs.c - programs and libraries: mapped, clean pages of files on the local disk. Each
 * of two parts is touched window after window, each page once in the part's interval. With 96 pages,
 * windows of 32 and an interval of 30 s:
 *
 *      at 10 s      0 .. 31     all resident: each page is marked as touched
 *      at 20 s     32 .. 63     40 to 47 were reclaimed: one fault reads them, the task waits
 *      at 30 s     64 .. 95
 *      at 40 s      0 .. 31     ...
 *
 * A touch is what filemap_fault and the processor do: it sets the accessed bit, maps a page that was
 * read for another one, or reads the missing pages of the window. The pages of a part whose interval
 * is 0 are touched at each look of reclaim, and no task runs for them.
 */

#include "reclaim/disk.h"
#include "reclaim/lists.h"
#include "reclaim/reclaim.h"
#include "reclaim/zones.h"

/* The shortest time between two windows. */
static const uint64_t TICK_MIN_NS = 1000000;

/* One of the two parts. */
struct part {
	/* The index of its first page. */
	uint32_t first;
	uint32_t pages;
	uint64_t interval_ns;
};

static struct part part_of(const struct sws_reclaim *self, enum actor_kind kind)
{
	const struct sws_reclaim_config *config = &self->config;

	if (kind == ACTOR_PROGRAMS)
		return (struct part){ self->first_program, config->program_pages,
				      config->program_interval_ns };
	return (struct part){ self->first_program + config->program_pages, config->working_pages,
			      config->working_interval_ns };
}

/* Gives a frame to a page of a part; the executable pages are spread evenly over it. */
static void add_page(struct sws_reclaim *self, const struct part *part, uint32_t index,
		     uint32_t frame)
{
	const uint64_t number = index - part->first;
	const uint32_t percent = self->config.executable_percent;
	struct page *page = &self->pages[frame];

	page->index = index;
	page_set(page, PAGE_FILE);
	if ((number + 1) * percent / 100 > number * percent / 100)
		page_set(page, PAGE_EXECUTABLE);
	if (!part->interval_ns)
		page_set(page, PAGE_PROGRAM);
	self->file.frames[index] = frame + 1;
}

static bool fill(struct sws_reclaim *self, enum actor_kind kind)
{
	const struct part part = part_of(self, kind);

	for (uint32_t i = 0; i < part.pages; i++) {
		const uint32_t frame = sws_reclaim__take_fast(self, false);

		if (frame == NO_FRAME)
			return false;
		add_page(self, &part, part.first + i, frame);
		page_set(&self->pages[frame], PAGE_MAPPED | PAGE_TOUCHED);
		sws_reclaim__list_add(self, frame, LRU_ACTIVE_FILE);
	}
	return true;
}

bool sws_reclaim__fill_programs(struct sws_reclaim *self)
{
	return fill(self, ACTOR_PROGRAMS) && fill(self, ACTOR_WORKING);
}

enum step { REST, TOUCH, GOT };

struct programs {
	/* The next page to be touched, and the end of its window. */
	uint32_t at;
	uint32_t end;
	/* True if the next page was read for the fault on it, which has been counted. */
	bool major;
	/* Work of the window whose time has not passed yet. */
	uint64_t ns;
};

/* Waits for the time of the next window. */
static int rest(struct actor *actor, struct programs *my)
{
	const struct sws_reclaim *self = actor->reclaim;
	const struct part part = part_of(self, actor->kind);
	const uint32_t size = self->config.read_around_pages;
	const uint64_t windows = ((uint64_t)part.pages + size - 1) / size;
	const uint32_t all = part.first + part.pages;

	if (!part.pages || !part.interval_ns)
		return engine_sleep(&actor->thread, WAIT_WAKE_UP);
	my->at = my->end && my->end < all ? my->end : part.first;
	my->end = all - my->at < size ? all : my->at + size;
	my->ns = 0;
	return engine_await(&actor->thread, part.interval_ns / windows > TICK_MIN_NS
						    ? part.interval_ns / windows
						    : TICK_MIN_NS);
}

static void touch_page(struct sws_reclaim *self, struct programs *my, struct page *page)
{
	if (!page_is(page, PAGE_MAPPED)) {
		self->counts.minor_faults += !my->major;
		my->ns += self->config.costs.map_ns;
	}
	page_set(page, PAGE_MAPPED | PAGE_TOUCHED);
	my->major = false;
	my->at++;
	self->work++;
}

/* Touches the rest of the window up to a page that is missing or being read. */
static int touch(struct actor *actor, struct programs *my)
{
	struct sws_reclaim *self = actor->reclaim;

	while (my->at < my->end) {
		const uint32_t frame = self->file.frames[my->at];

		if (!frame)
			return sws_reclaim__allocate(actor, false);
		if (page_is(&self->pages[frame - 1], PAGE_READING)) {
			engine_go(&actor->thread, TOUCH);
			return engine_sleep(&actor->thread, WAIT_READ);
		}
		touch_page(self, my, &self->pages[frame - 1]);
	}
	engine_go(&actor->thread, REST);
	return engine_run(&actor->thread, my->ns);
}

static void begin_reading(struct actor *actor, uint32_t index, uint32_t frame)
{
	struct sws_reclaim *self = actor->reclaim;
	const struct part part = part_of(self, actor->kind);

	add_page(self, &part, index, frame);
	page_set(&self->pages[frame], PAGE_READING);
	sws_reclaim__list_add(self, frame, LRU_INACTIVE_FILE);
	self->counts.program_reads++;
}

/* do_sync_mmap_readahead: reads the missing pages of the window, other ones while there is room. */
static int read_window(struct actor *actor, const struct programs *my, uint32_t frame)
{
	struct sws_reclaim *self = actor->reclaim;
	uint32_t run = 0;
	bool joined = false;
	int error = SWS_OK;

	for (uint32_t at = my->at; !error && at < my->end; at++) {
		uint32_t found = NO_FRAME;

		if (at == my->at)
			found = frame;
		else if (!self->file.frames[at])
			found = sws_reclaim__take_low(self);
		if (found != NO_FRAME) {
			begin_reading(actor, at, found);
			run++;
		}
		if (run && (found == NO_FRAME || at + 1 == my->end)) {
			const uint32_t end = found == NO_FRAME ? at : at + 1;

			error = sws_reclaim__submit(self, QUEUE_READS, place_of_file(end - run),
						    run, &joined);
			run = 0;
		}
	}
	return error;
}

static int fault(struct actor *actor, struct programs *my)
{
	struct sws_reclaim *self = actor->reclaim;
	const uint32_t frame = actor->thread.result;
	int error = SWS_OK;

	if (frame == NO_FRAME)
		return engine_sleep(&actor->thread, WAIT_WAKE_UP);
	my->major = true;
	self->counts.major_faults++;
	self->counts.program_faults++;
	error = read_window(actor, my, frame);
	engine_go(&actor->thread, TOUCH);
	return error ? error : engine_run(&actor->thread, self->config.costs.map_ns);
}

static int run_programs(struct actor *actor, void *frame, uint32_t step)
{
	struct programs *my = frame;

	switch ((enum step)step) {
	case REST:
		return rest(actor, my);
	case TOUCH:
		return touch(actor, my);
	case GOT:
		return fault(actor, my);
	}
	return SWS_ERROR_BROKEN;
}

int sws_reclaim__programs(struct actor *actor)
{
	const struct programs frame = { 0 };

	return engine_call(&actor->thread, run_programs, &frame, sizeof(frame));
}
