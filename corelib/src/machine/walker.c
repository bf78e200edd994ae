/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/walker.c - reads and writes at random or in sweeps; after a number of accesses the walker
 * stops.
 */
#include "machine/swap_cache.h"
#include "machine/tasks.h"

/* Accesses that are drawn in one event. */
enum { DRAWS = 64 };

struct walker {
	/* The address and the kind of the last access. */
	uint32_t pte;
	bool write;
	/* The page at that address. */
	uint32_t page;
};

enum step { LOOK_AROUND, FAULT, SWAP_IN, ARRIVED, LEAVE_CACHE };

static bool is_done(const struct actor *actor)
{
	const uint32_t accesses = actor->machine->config.accesses;

	return accesses && actor->count.accesses == accesses;
}

/* Accesses a resident page. Returns true if the page has to leave the swap cache for that. */
static bool hit(struct actor *actor, struct walker *my)
{
	struct sws_machine *self = actor->machine;
	struct page *page = NULL;

	my->page = self->pte_values[my->pte];
	page = &self->pages[my->page];
	actor->count.accesses++;
	page->referenced = true;
	page->written |= my->write;
	if (self->rules->reuses_exclusive) {
		page->dirty |= my->write;
		return false;
	}
	return my->write && sws_machine__may_evict(self, my->page);
}

/*
 * Chooses the next access. A sweep's position is the number of accesses done, so that a page that is
 * on its way out is tried again:
 *
 *      mm_ptes 5, accesses done 13      page 13 % 5 = 3 of the third sweep
 */
static void draw(struct actor *actor, struct walker *my)
{
	struct sws_generator *generator = &actor->thread.generator;
	const uint64_t at = actor->machine->config.sweeps
				    ? actor->count.accesses % actor->mm_ptes
				    : sws_generator_below(generator, actor->mm_ptes);

	my->pte = actor->mm_first_pte + (uint32_t)at;
	my->write = sws_generator_below(generator, 100) >= actor->machine->config.read_percent;
}

/*
 * Draws pages and accesses the resident ones, up to the first that is not. 64 accesses are one
 * event of 64 x access_ns: the state that they see is at most that old, some microseconds, and a
 * walker that mostly hits needs a 64th of the events.
 */
static int look_around(struct actor *actor, struct walker *my)
{
	const struct sws_machine *self = actor->machine;
	enum step next = LOOK_AROUND;
	uint64_t ns = 0;

	for (int draws = 0; draws < DRAWS && next == LOOK_AROUND && !is_done(actor); draws++) {
		draw(actor, my);
		ns += self->config.costs.access_ns;
		if (self->pte_states[my->pte] == PTE_SWAPPED)
			next = FAULT;
		else if (self->pte_states[my->pte] == PTE_RESIDENT && hit(actor, my))
			next = LEAVE_CACHE;
	}
	engine_go(&actor->thread, next);
	return engine_work(&actor->thread, ns);
}

/*
 * The page may have left in the meantime, or have come back at another address, because the time of
 * the draws has passed since hit():
 *
 *      walker                            kswapd
 *      hit: page 900, slot 300
 *      time of the draws passes          isolates 900, locks it, unmaps it
 *      LEAVE_CACHE: locked, skipped      swaps it out
 */
static int leave_cache(struct actor *actor, const struct walker *my)
{
	const struct sws_machine *self = actor->machine;

	return sws_machine__may_evict(self, my->page) && self->pages[my->page].pte == my->pte
		       ? sws_machine__evict(actor, my->page)
		       : SWS_OK;
}

static int walker(struct actor *actor, void *frame, uint32_t step)
{
	struct engine_thread *thread = &actor->thread;
	struct walker *my = frame;

	switch ((enum step)step) {
	case LOOK_AROUND:
		return is_done(actor) ? engine_sleep(thread, SLEEP_TO_BE_WOKEN)
				      : look_around(actor, my);
	case FAULT:
		return engine_work(thread, actor->machine->config.costs.fault_ns);
	case SWAP_IN:
		return sws_machine__swap_in(actor, my->pte, my->write);
	case ARRIVED:
		actor->count.accesses++;
		engine_go(thread, LOOK_AROUND);
		return SWS_OK;
	case LEAVE_CACHE:
		engine_go(thread, LOOK_AROUND);
		return leave_cache(actor, my);
	}
	return SWS_ERROR_BROKEN;
}

int sws_machine__walker(struct actor *actor)
{
	const struct walker frame = { 0 };

	return engine_call(&actor->thread, walker, &frame, sizeof(frame));
}
