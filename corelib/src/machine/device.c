/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine/device.c - an asynchronous device: its channels, its queue, its interrupt. */
#include "machine/parts.h"

int sws_machine__submit(struct sws_machine *self, struct device *device, uint32_t page,
			uint32_t reader)
{
	const uint64_t now = machine_now(self);
	const uint32_t capacity = self->n_pages + self->n_actors;
	uint64_t *channel = &device->channels[0];
	struct request *request = NULL;

	for (uint32_t i = 1; i < self->config.channels; i++)
		if (device->channels[i] < *channel)
			channel = &device->channels[i];
	*channel = (*channel > now ? *channel : now) + self->config.costs.channel_ns;
	/* Each page takes as long: who begins first ends first, so the ring is in order. */
	request = &device->requests[(device->first_request + device->n_requests) % capacity];
	*request = (struct request){ *channel, page, reader };
	device->n_requests++;
	device->n_writes += reader == MACHINE_NONE;
	return machine_wake(self, &self->actors[device->interrupt]);
}

static int wake_throttled(struct sws_machine *self, const struct device *device)
{
	int error = SWS_OK;

	for (uint32_t i = 0; i < self->n_actors && !error; i++)
		if (self->actors[i].throttled && self->actors[i].device == device)
			error = machine_wake(self, &self->actors[i]);
	return error;
}

/* Models lru_move_tail: what was written is reclaimed next. */
static int rotate(struct sws_machine *self, struct actor *actor, uint64_t *ns)
{
	struct node *node = &self->nodes[self->pages[actor->pagevec[0]].node];

	for (uint32_t i = 0; i < actor->n_pagevec; i++) {
		if (self->pages[actor->pagevec[i]].list != LIST_INACTIVE)
			continue;
		sws_machine__list_take(self, actor->pagevec[i]);
		sws_machine__list_add_tail(self, node, LIST_INACTIVE, actor->pagevec[i]);
	}
	*ns = (actor->n_pagevec + 1) * self->config.costs.lru_page_ns;
	actor->device->n_writes -= actor->n_pagevec;
	actor->n_pagevec = 0;
	return wake_throttled(self, actor->device);
}

static int rotate_written(struct sws_machine *self, struct actor *actor, uint32_t then)
{
	const struct node *node = &self->nodes[self->pages[actor->pagevec[0]].node];

	machine_go(actor, then);
	return sws_machine__under(actor, node->lru_lock, SWS_SITE_LRU_ROTATE, rotate);
}

static int await_completion(struct sws_machine *self, struct actor *actor)
{
	const struct device *device = actor->device;
	const uint64_t now = machine_now(self);
	uint64_t ns = 0;

	if (!device->n_requests && actor->n_pagevec)
		return rotate_written(self, actor, 0);
	if (!device->n_requests) {
		machine_go(actor, 0);
		machine_sleep(actor);
		return SWS_OK;
	}
	if (device->requests[device->first_request].done_at <= now)
		return SWS_OK;
	ns = device->requests[device->first_request].done_at - now;
	actor->slept_ns += ns;
	return machine_run(self, actor, ns);
}

static int complete(struct sws_machine *self, struct actor *actor)
{
	struct device *device = actor->device;
	const struct request request = device->requests[device->first_request];

	device->first_request = (device->first_request + 1) % (self->n_pages + self->n_actors);
	device->n_requests--;
	actor->page = request.page;
	if (request.reader != MACHINE_NONE) {
		machine_go(actor, 0);
		return machine_wake(self, &self->actors[request.reader]);
	}
	if (!self->keeps_tags)
		return SWS_OK;
	return sws_machine__under_tree(self, actor, self->pages[actor->page].slot,
				       SWS_SITE_TREE_END, sws_machine__tree_end);
}

static int written(struct sws_machine *self, struct actor *actor)
{
	const struct page *page = &self->pages[actor->page];

	if (actor->n_pagevec == self->rules->pagevec ||
	    (actor->n_pagevec && self->pages[actor->pagevec[0]].node != page->node))
		return rotate_written(self, actor, 3);
	self->pages[actor->page].writeback = false;
	actor->pagevec[actor->n_pagevec++] = actor->page;
	machine_go(actor, 0);
	return SWS_OK;
}

/* Models the completion of a bio: end_swap_bio_read, end_swap_bio_write. */
int sws_machine__interrupt(struct sws_machine *self, struct actor *actor, uint32_t step)
{
	switch (step) {
	case 0:
		return await_completion(self, actor);
	case 1:
		return machine_run(self, actor, self->config.costs.interrupt_ns);
	case 2:
		return complete(self, actor);
	default:
		return written(self, actor);
	}
}
