/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/alloc.c - allocation of a page for a task, which reclaims for itself if there is none.
 *
 *      free pages of the zone      0 ....... min ....... low ....... high
 *      a CPU refills from them                |------------------------->
 *      and wakes kswapd                       |---------|
 *      the task reclaims itself    |----------|
 *
 * If memory is shared, the task also tries the other nodes after its own: first for one above low,
 * then for one above min; the kswapds are woken when no node is above low.
 *
 * Reclaimed pages go to the CPU's free pages, so the task usually finds a page there. If no page
 * could be reclaimed, it sleeps until a writeback ends.
 *
 * A node of 16384 frames has min 128, low 160, high 192. Three CPUs have no page left:
 *
 *      CPU 0              CPU 1              CPU 2                        n_free   kswapd
 *                                                                          165      asleep
 *      165 > low: takes 31                                                134
 *      134 < low: wakes kswapd                                            134      awake
 *                         134 > min: takes 31                             103
 *                                            103: reclaims, 32 pages      103
 *                                            takes one of those, 31 left  103
 *
 * A refill is not stopped half way, so n_free falls below min by up to one refill for each CPU that
 * tested it before. The pages that CPU 2 reclaimed do not pass through the zone.
 */
#include "machine/pages.h"
#include "machine/reclaim.h"

/* Returns true if the memory cgroup is at its limit. */
static bool is_full(const struct sws_machine *self)
{
	return self->config.memory_max && self->charged >= self->config.memory_max;
}

/*
 * Returns the first node, the actor's own before others, with more free pages than a watermark;
 * NULL if there is none.
 */
static struct node *node_above(const struct actor *actor, uint32_t watermark)
{
	const struct sws_machine *self = actor->machine;
	const uint32_t own = (uint32_t)(actor->node - self->nodes);
	const uint32_t reach = self->config.shares_memory ? self->config.nodes : 1;

	for (uint32_t i = 0; i < reach; i++) {
		struct node *node = &self->nodes[(own + i) % self->config.nodes];

		if (node->n_free > watermark)
			return node;
	}
	return NULL;
}

static int wake_kswapd(struct sws_machine *self, const struct node *node)
{
	if (node->kswapd == MACHINE_NONE || node->n_free >= self->watermark_low)
		return SWS_OK;
	return engine_wake(&self->actors[node->kswapd].thread);
}

/* Models wake_all_kswapds: nodes that share memory run short together. */
static int wake_kswapds(struct actor *actor)
{
	struct sws_machine *self = actor->machine;
	int error = SWS_OK;

	if (!self->config.shares_memory)
		return wake_kswapd(self, actor->node);
	if (node_above(actor, self->watermark_low))
		return SWS_OK;
	for (uint32_t n = 0; n < self->config.nodes && !error; n++)
		error = wake_kswapd(self, &self->nodes[n]);
	return error;
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
	struct node *node = NULL;
	int error = SWS_OK;

	if (is_full(self))
		return reclaim(actor);
	if (actor->cpu->free.n)
		return take(actor);
	node = node_above(actor, self->watermark_low);
	if (!node)
		node = node_above(actor, self->watermark_min);
	if (node)
		return sws_machine__get_free(actor, node);
	error = wake_kswapds(actor);
	return error ? error : reclaim(actor);
}

/* Handles a reclaim without progress: sleeps until a writeback ends, or else gives up. */
static int wait_for_pages(struct actor *actor)
{
	if (actor->device->n_writes)
		return engine_sleep(&actor->thread, SLEEP_FOR_WRITEBACK);
	actor->machine->stuck = true;
	return engine_sleep(&actor->thread, SLEEP_TO_BE_WOKEN);
}

/*
 * A task does not give up while it could get a page without reclaim, because others may have freed
 * some in the meantime. In a full cgroup it cannot, however much memory is free.
 */
static bool may_try_again(const struct actor *actor)
{
	const struct sws_machine *self = actor->machine;
	const bool progress = actor->thread.result;

	return progress ||
	       (!is_full(self) && (actor->cpu->free.n || node_above(actor, self->watermark_min)));
}

static int alloc_page(struct actor *actor, void *frame, uint32_t step)
{
	(void)frame;
	switch ((enum step)step) {
	case TAKE:
		return find_page(actor);
	/* The zone may be empty by the time its lock is acquired: TAKE tests again. */
	case REFILLED:
		engine_go(&actor->thread, TAKE);
		return wake_kswapds(actor);
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
