/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/device.c - the queue of an asynchronous device. With two channels and 10 us per page:
 *
 *      now 0 us     pages a, b, c arrive     channels free at 20, 10     ring: a 10, b 10, c 20
 *      now 10 us    interrupt: a, b are completed one after another, then it waits for 20
 *      now 20 us    interrupt: c; the ring is empty, so the written pages are rotated now,
 *                   although they are fewer than a pagevec; sleeping writers are woken
 */
#include "machine/device.h"

#include "machine/pages.h"
#include "machine/swap_cache.h"

/* Each page in memory may be under writeback, and each actor may read one page. */
static uint32_t ring_size(const struct sws_machine *self)
{
	return self->n_pages + self->n_actors;
}

int sws_machine__submit(struct sws_machine *self, struct device *device, uint32_t page,
			uint32_t reader)
{
	const uint64_t now = machine_now(self);
	uint64_t *channel = &device->channels[0];
	struct request *request = NULL;

	for (uint32_t i = 1; i < self->config.channels; i++)
		if (device->channels[i] < *channel)
			channel = &device->channels[i];
	*channel = (*channel > now ? *channel : now) + self->config.costs.channel_ns;
	/*
	 * All pages take the same time, so requests end in the order of their start and the ring is
	 * sorted. If reads were faster than writes, a heap would be needed.
	 */
	request = &device->requests[(device->first_request + device->n_requests) % ring_size(self)];
	*request = (struct request){ *channel, page, reader };
	device->n_requests++;
	device->n_writes += reader == MACHINE_NONE;
	return engine_wake(&self->actors[device->interrupt].thread);
}

bool sws_machine__is_congested(const struct device *device)
{
	return device->n_requests >= MACHINE_QUEUE && device->n_writes;
}

static int wake_writers(struct sws_machine *self, const struct device *device)
{
	int error = SWS_OK;

	for (uint32_t i = 0; i < self->n_actors && !error; i++) {
		struct actor *actor = &self->actors[i];

		if (actor->thread.asleep && actor->thread.sleeps_for == SLEEP_FOR_WRITEBACK &&
		    actor->device == device)
			error = engine_wake(&actor->thread);
	}
	return error;
}

struct interrupt {
	/* The last page that was moved. */
	uint32_t page;
	/* Pages of one node that were written and not yet rotated. */
	uint32_t written[MACHINE_PAGEVEC];
	uint32_t n_written;
};

enum step { AWAIT, SERVE, COMPLETE, WRITTEN };

/*
 * Models lru_move_tail: written pages are reclaimed next. A page that a scan has isolated since the
 * end of its writeback is on no list and is skipped. n_writes decreases here and not at the
 * completion, because those who wait for it need a page at the tail, not one within the list:
 *
 *      inactive, head to tail     .. w1 .. w2 .. w3 .. p      w: written
 *      rotated                    .. .. .. .. p w1 w2 w3      w3 is isolated first
 */
static int rotate(struct actor *actor, void *frame, uint64_t *ns)
{
	struct sws_machine *self = actor->machine;
	struct interrupt *my = frame;
	struct node *node = &self->nodes[self->pages[my->written[0]].node];

	for (uint32_t i = 0; i < my->n_written; i++) {
		if (self->pages[my->written[i]].list != LIST_INACTIVE)
			continue;
		sws_machine__list_take(self, my->written[i]);
		sws_machine__list_add_tail(self, node, LIST_INACTIVE, my->written[i]);
	}
	*ns = (my->n_written + 1) * self->config.costs.lru_page_ns;
	actor->device->n_writes -= my->n_written;
	my->n_written = 0;
	return wake_writers(self, actor->device);
}

static int rotate_written(struct actor *actor, struct interrupt *my, enum step then)
{
	const struct sws_machine *self = actor->machine;
	const struct node *node = &self->nodes[self->pages[my->written[0]].node];

	engine_go(&actor->thread, then);
	return sws_engine__under(&actor->thread, node->lru_lock, SWS_SITE_LRU_ROTATE, rotate, my);
}

static int await_completion(struct actor *actor, struct interrupt *my)
{
	const struct device *device = actor->device;
	const uint64_t now = machine_now(actor->machine);
	uint64_t done_at = 0;

	if (!device->n_requests && my->n_written)
		return rotate_written(actor, my, AWAIT);
	if (!device->n_requests) {
		engine_go(&actor->thread, AWAIT);
		return engine_sleep(&actor->thread, SLEEP_TO_BE_WOKEN);
	}
	done_at = device->requests[device->first_request].done_at;
	return done_at > now ? engine_await(&actor->thread, done_at - now) : SWS_OK;
}

static int complete(struct actor *actor, struct interrupt *my)
{
	struct sws_machine *self = actor->machine;
	struct device *device = actor->device;
	const struct request request = device->requests[device->first_request];

	device->first_request = (device->first_request + 1) % ring_size(self);
	device->n_requests--;
	my->page = request.page;
	if (request.reader != MACHINE_NONE) {
		engine_go(&actor->thread, AWAIT);
		/* The reader unlocks the page itself after mapping it: no lock, no list. */
		return engine_wake(&self->actors[request.reader].thread);
	}
	return sws_machine__tree_end(actor, &self->pages[my->page]);
}

/* Adds the page to those that are rotated together, which all belong to one node. */
static int gather_written(struct actor *actor, struct interrupt *my)
{
	struct sws_machine *self = actor->machine;
	struct page *page = &self->pages[my->page];

	if (my->n_written == self->rules->pagevec ||
	    (my->n_written && self->pages[my->written[0]].node != page->node))
		return rotate_written(actor, my, WRITTEN);
	page->writeback = false;
	my->written[my->n_written++] = my->page;
	engine_go(&actor->thread, AWAIT);
	return SWS_OK;
}

/* Models the completion of a bio: end_swap_bio_read, end_swap_bio_write. */
static int interrupt(struct actor *actor, void *frame, uint32_t step)
{
	struct interrupt *my = frame;

	switch ((enum step)step) {
	case AWAIT:
		return await_completion(actor, my);
	case SERVE:
		return engine_run(&actor->thread, actor->machine->config.costs.interrupt_ns);
	case COMPLETE:
		return complete(actor, my);
	case WRITTEN:
		return gather_written(actor, my);
	}
	return SWS_ERROR_BROKEN;
}

int sws_machine__interrupt(struct actor *actor)
{
	const struct interrupt frame = { 0 };

	return engine_call(&actor->thread, interrupt, &frame, sizeof(frame));
}
