/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reclaim/client.c - memcached and its client. An operation draws an item, then whether it is a
 * set, and touches the pages of the item in order, reading or writing.
 *
 * All operations that begin before the next event of another actor are one event, up to
 * BATCH_PAGES:
 *
 *      client   | op op op op op op |           the touches of six operations at the first event
 *      kswapd   ....................| shrinks    no touch falls between two steps of kswapd
 *
 * A touch that misses ends the batch: time passes up to that touch, then the fault begins.
 */
#include "reclaim/disk.h"
#include "reclaim/pages.h"
#include "reclaim/reclaim.h"

enum step { BEGIN, START, SERVE, FAULT, PHASE_OVER, DROP, NEXT_ROUND };

struct serving {
	/* The end of the serving; 0 before it begins. */
	uint64_t until;
	/* The current item, if begins is false, and its next page. */
	uint32_t item;
	uint32_t page;
	bool begun;
	bool writes;
	/* The next page or entry to be dropped. */
	uint32_t dropped;
};

static void draw(struct actor *actor, struct serving *my)
{
	const struct sws_reclaim_config *config = &actor->reclaim->config;
	struct sws_generator *generator = &actor->thread.generator;

	my->begun = true;
	my->page = 0;
	if (!my->until) {
		my->writes = true;
		return;
	}
	my->item = (uint32_t)sws_generator_below(generator, config->items);
	my->writes = sws_generator_below(generator, 100) < config->set_percent;
}

/* Touches pages of the item until one misses; returns true if all are present. */
static bool touch(struct sws_reclaim *self, struct serving *my)
{
	const uint32_t needed = PTE_PRESENT | (my->writes ? PTE_WRITABLE : 0);
	uint32_t *entry = &self->ptes[my->item * self->config.item_pages];

	for (; my->page < self->config.item_pages; my->page++) {
		if ((entry[my->page] & needed) != needed)
			return false;
		entry[my->page] |= PTE_YOUNG;
	}
	return true;
}

static bool is_done(const struct sws_reclaim *self, const struct serving *my, uint64_t at)
{
	return my->until ? at >= my->until : my->item == self->config.items;
}

/* Runs operations until the event of another actor, a miss, or the end of the serving. */
static int serve(struct actor *actor, struct serving *my)
{
	struct sws_reclaim *self = actor->reclaim;
	uint64_t horizon = UINT64_MAX;
	uint64_t at = time_now(self);
	uint32_t n = 0;

	sws_des_peek(self->engine.des, &horizon);
	engine_go(&actor->thread, SERVE);
	do {
		if (!my->begun && is_done(self, my, at)) {
			engine_go(&actor->thread, PHASE_OVER);
			break;
		}
		if (!my->begun)
			draw(actor, my);
		if (!touch(self, my)) {
			engine_go(&actor->thread, FAULT);
			break;
		}
		my->begun = false;
		if (my->until)
			self->counts.ops++;
		else
			my->item++;
		at += self->config.costs.op_ns;
		self->work += self->config.item_pages;
	} while (at < horizon && ++n < BATCH_PAGES);
	/* The operations need no CPU: the server sleeps for most of them. */
	return engine_run(&actor->thread, at - time_now(self));
}

static int begin_writing(struct sws_reclaim *self)
{
	self->writes_file = self->file.pages > 0;
	return self->writes_file ? sws_reclaim__call(self, ACTOR_WRITER) : SWS_OK;
}

static int begin_round(struct actor *actor, struct serving *my)
{
	struct sws_reclaim *self = actor->reclaim;
	struct sws_reclaim_round *round = &self->rounds[self->round];

	*my = (struct serving){ 0 };
	self->file.pages = self->file_pages[self->round];
	self->file.cursor = 0;
	round->begin_ns = time_now(self);
	sws_reclaim__count_round(self, round);
	return engine_await(&actor->thread, self->config.gap_ns);
}

/*
 * Ends the filling, which starts the serving and, without a rule of its own, the writer; or ends the
 * serving. A writer that still looks for memory in use then writes no file.
 */
static int end_phase(struct actor *actor, struct serving *my)
{
	struct sws_reclaim *self = actor->reclaim;

	if (!my->until) {
		my->until = time_now(self) + self->config.serve_ns;
		self->rounds[self->round].serve_ns = time_now(self);
		engine_go(&actor->thread, SERVE);
		return self->config.start_used_pages ? SWS_OK : begin_writing(self);
	}
	if (self->writer_looks) {
		self->writer_looks = self->writes_file = false;
		return sws_reclaim__call(self, ACTOR_WRITER);
	}
	if (!self->writes_file)
		return SWS_OK;
	engine_go(&actor->thread, PHASE_OVER);
	return engine_sleep(&actor->thread, WAIT_WAKE_UP);
}

/* Drops the pages of the file first, then those of the pool, BATCH_PAGES at a time. */
static int drop(struct actor *actor, struct serving *my)
{
	struct sws_reclaim *self = actor->reclaim;
	const uint32_t all = self->file.pages + self->n_ptes;
	uint32_t n = 0;

	for (; n < BATCH_PAGES && my->dropped < all; n++, my->dropped++)
		if (my->dropped < self->file.pages)
			sws_reclaim__drop_file_page(self, my->dropped);
		else
			sws_reclaim__drop_entry(self, my->dropped - self->file.pages);
	self->work += n;
	if (my->dropped < all)
		engine_go(&actor->thread, DROP);
	return engine_run(&actor->thread, n * self->config.costs.drop_ns);
}

static int end_round(struct actor *actor)
{
	struct sws_reclaim *self = actor->reclaim;
	struct sws_reclaim_round *round = &self->rounds[self->round];

	round->end_ns = time_now(self);
	sws_reclaim__count_round(self, round);
	self->file.pages = 0;
	if (++self->round < self->config.rounds) {
		engine_go(&actor->thread, BEGIN);
		return SWS_OK;
	}
	self->over = true;
	return engine_sleep(&actor->thread, WAIT_WAKE_UP);
}

static int run_client(struct actor *actor, void *frame, uint32_t step)
{
	struct serving *my = frame;

	switch ((enum step)step) {
	case BEGIN:
		return begin_round(actor, my);
	case START:
		return actor->reclaim->config.start_used_pages ? begin_writing(actor->reclaim)
							       : SWS_OK;
	case SERVE:
		return serve(actor, my);
	case FAULT:
		engine_go(&actor->thread, SERVE);
		return sws_reclaim__fault(
			actor, my->item * actor->reclaim->config.item_pages + my->page, my->writes);
	case PHASE_OVER:
		return end_phase(actor, my);
	case DROP:
		return drop(actor, my);
	case NEXT_ROUND:
		return end_round(actor);
	}
	return SWS_ERROR_BROKEN;
}

int sws_reclaim__client(struct actor *actor)
{
	const struct serving frame = { 0 };

	return engine_call(&actor->thread, run_client, &frame, sizeof(frame));
}
