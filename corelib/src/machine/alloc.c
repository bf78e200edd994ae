/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/alloc.c - a free page for a task, which reclaims for itself when there is none.
 *
 *      free pages of the zone      0 ....... min ....... low ....... high
 *      a CPU refills from them                |------------------------->
 *      and wakes kswapd                       |---------|
 *      the task reclaims itself    |----------|
 *
 * What it reclaims goes to its CPU's free pages, so it mostly finds a page there. If
 * nothing could be reclaimed, it sleeps until a writeback ends.
 */
#include "machine/pages.h"
#include "machine/reclaim.h"

/* Is the memory cgroup at its limit? */
static bool is_full(const struct sws_machine *self)
{
	return self->config.memory_max && self->charged >= self->config.memory_max;
}

static bool zone_has_pages(const struct sws_machine *self, const struct node *node)
{
	return node->n_free > self->watermark_min;
}

static int wake_kswapd(struct sws_machine *self, const struct node *node)
{
	if (node->kswapd == MACHINE_NONE || node->n_free >= self->watermark_low)
		return SWS_OK;
	return engine_wake(&self->actors[node->kswapd].thread);
}

enum step { TAKE, REFILLED, RECLAIMED };

static int take(struct actor *actor)
{
	struct sws_machine *self = actor->machine;
	struct cpu *cpu = actor->cpu;
	const uint32_t page = cpu->free.pages[--cpu->free.n];

	self->charged++;
	self->pages[page].used = true;
	actor->in_hand++;
	engine_return(&actor->thread, page);
	return SWS_OK;
}

static int reclaim(struct actor *actor)
{
	engine_go(&actor->thread, RECLAIMED);
	return sws_machine__shrink(actor);
}

static int find_page(struct actor *actor)
{
	struct sws_machine *self = actor->machine;
	int error = SWS_OK;

	if (is_full(self))
		return reclaim(actor);
	if (actor->cpu->free.n)
		return take(actor);
	if (zone_has_pages(self, actor->node))
		return sws_machine__get_free(actor);
	error = wake_kswapd(self, actor->node);
	return error ? error : reclaim(actor);
}

/* Nothing was reclaimed: a writeback's end may bring a page, else the task gives up. */
static int wait_for_pages(struct actor *actor)
{
	if (actor->device->n_writes)
		return engine_sleep(&actor->thread, SLEEP_FOR_WRITEBACK);
	actor->machine->stuck = true;
	return engine_sleep(&actor->thread, SLEEP_TO_BE_WOKEN);
}

static bool may_try_again(const struct actor *actor)
{
	const struct sws_machine *self = actor->machine;
	const bool progress = actor->thread.result;

	return progress ||
	       (!is_full(self) && (actor->cpu->free.n || zone_has_pages(self, actor->node)));
}

static int alloc_page(struct actor *actor, void *frame, uint32_t step)
{
	(void)frame;
	switch ((enum step)step) {
	case TAKE:
		return find_page(actor);
	case REFILLED:
		engine_go(&actor->thread, TAKE);
		return wake_kswapd(actor->machine, actor->node);
	case RECLAIMED:
		engine_go(&actor->thread, TAKE);
		return may_try_again(actor) ? SWS_OK : wait_for_pages(actor);
	}
	return SWS_ERROR_BROKEN;
}

int sws_machine__alloc_page(struct actor *actor)
{
	return engine_call(&actor->thread, alloc_page, NULL, 0);
}
