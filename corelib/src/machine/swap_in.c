/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/swap_in.c - a page comes in: through the swap cache, in 4.8 and from an asynchronous
 * device, or bypassing it, from a synchronous one:
 *
 *      through   LOOK        ALLOCATE PREPARE ADD RECORD LRU_ADD READ CHARGE MAP       SETTLE
 *      past      HOLD_PLACE  ALLOCATE             RECORD LRU_ADD READ CHARGE MAP CLEAR SETTLE
 *
 * LOOK, HOLD_PLACE and CLEAR are steps of 6.1, RECORD of 5.8, CHARGE of 5.7. In ALLOCATE, reclaim
 * for the page may use other slots; this page's slot is in the frame of the procedure.
 *
 * LRU_ADD is lru_cache_add_anon: to the inactive list, in every kernel. Up to 5.8 activate_page
 * follows when the page is mapped, but has no effect on a page that is still in the CPU's pagevec,
 * as 14 of 15 are. So the first scan, which finds the page touched, activates it: it is scanned
 * twice before it can go out.
 *
 * Slot 300, by its map byte (hexadecimal, slots/usage.c), and the page that takes it:
 *
 *                      past, 6.1                    through, 4.8, a read
 *      (before)        01   an address              01   an address
 *      HOLD_PLACE      41   its place, no page
 *      PREPARE                                      41   its place
 *      ADD                                          41   in the tree
 *      MAP             40                           40   swap cache only
 *      CLEAR           c0   no reference
 *      SETTLE          c0   put; the page is dirty  40   retained; the page is clean
 *
 * A dirty page has no copy on the device. HOLD_PLACE is 6.1.y's "mm/swap: fix race when skipping
 * swapcache". Without it, two threads that fault on one address:
 *
 *      CPU 0                            CPU 1
 *      reads slot 300 into page A
 *                                       reads slot 300 into page B, maps B, frees 300
 *                                       writes to B; B goes out, to slot 300 again
 *      300 looks unchanged: maps A      the write is lost
 *
 * Threads do not share an address here, so the place is never taken; the effect is two more holds
 * of the slot's cluster lock per page, 41 and c0.
 */
#include "machine/device.h"
#include "machine/pages.h"
#include "machine/reclaim.h"
#include "machine/swap_cache.h"
#include "machine/tasks.h"

struct swap_in {
	uint32_t pte;
	bool write;
	bool skips_cache;
	uint32_t slot;
	uint32_t page;
};

enum step {
	LOOK_OR_HOLD_PLACE,
	ALLOCATE,
	PREPARE,
	ADD,
	RECORD,
	LRU_ADD,
	READ,
	CHARGE,
	MAP,
	CLEAR,
	SETTLE,
	LEAVE,
};

static int look_or_hold_place(struct actor *actor, struct swap_in *my)
{
	const struct machine_rules *rules = actor->machine->rules;

	if (my->skips_cache)
		return rules->prepares ? sws_machine__prepare(actor, &my->slot) : SWS_OK;
	return rules->looks_at_counts ? sws_machine__count(actor, my->slot, SWS_SITE_SWAPCOUNT)
				      : SWS_OK;
}

/* Decides, once the page has memory, whether it goes through the swap cache. */
static int prepare(struct actor *actor, struct swap_in *my)
{
	struct page *page = NULL;

	my->page = actor->thread.result;
	page = &actor->machine->pages[my->page];
	page->locked = true;
	if (my->skips_cache) {
		engine_go(&actor->thread, RECORD);
		return SWS_OK;
	}
	page->slot = my->slot;
	return sws_machine__prepare(actor, &my->slot);
}

static int read_in(struct actor *actor, const struct swap_in *my)
{
	struct sws_machine *self = actor->machine;
	struct device *device = actor->device;
	int error = SWS_OK;

	actor->count.pages_in++;
	if (device->interrupt == MACHINE_NONE)
		return engine_run(&actor->thread,
				  sws_machine__transfer(self, &self->nodes[device->node],
							self->config.costs.copy_ns));
	/*
	 * It sleeps before the submission, as io_schedule does, because the completion wakes
	 * sleepers only.
	 */
	error = engine_sleep(&actor->thread, SLEEP_TO_BE_WOKEN);
	return error ? error : sws_machine__submit(self, device, my->page, actor->thread.cpu);
}

static int charge(struct actor *actor, void *subject, uint64_t *ns)
{
	(void)subject;
	*ns = actor->machine->config.costs.lru_page_ns;
	return SWS_OK;
}

static int map_page(struct actor *actor, struct swap_in *my)
{
	struct sws_machine *self = actor->machine;

	self->pte_states[my->pte] = PTE_RESIDENT;
	self->pte_values[my->pte] = my->page;
	self->pages[my->page].pte = my->pte;
	self->pages[my->page].owner = (uint16_t)actor->thread.cpu;
	self->pages[my->page].written = my->write;
	self->pages[my->page].referenced = true;
	return sws_machine__swap_free(actor, &my->slot);
}

/*
 * Decides, once the page is mapped and its slot has one reference less, whether the slot is freed.
 */
static int settle(struct actor *actor, const struct swap_in *my)
{
	struct page *page = &actor->machine->pages[my->page];

	page->locked = false;
	page->dirty = !page->slot;
	if (!page->slot)
		return sws_machine__put_slot(actor, my->slot);
	return my->write || sws_slots_swap_full(actor->device->slots)
		       ? sws_machine__evict(actor, my->page)
		       : SWS_OK;
}

static int swap_in(struct actor *actor, void *frame, uint32_t step)
{
	const struct machine_rules *rules = actor->machine->rules;
	struct swap_in *my = frame;

	switch ((enum step)step) {
	case LOOK_OR_HOLD_PLACE:
		return look_or_hold_place(actor, my);
	case ALLOCATE:
		return sws_machine__alloc_page(actor);
	case PREPARE:
		return prepare(actor, my);
	case ADD:
		return sws_machine__tree_add(actor, &actor->machine->pages[my->page],
					     SWS_SITE_TREE_READ);
	case RECORD:
		return sws_machine__record(actor, SWS_SITE_RECORD_IN);
	case LRU_ADD:
		return sws_machine__lru_add(actor, my->page);
	case READ:
		return read_in(actor, my);
	case CHARGE:
		if (!rules->charge_lock)
			return SWS_OK;
		return sws_engine__under(&actor->thread, actor->node->lru_lock, SWS_SITE_LRU_CHARGE,
					 charge, NULL);
	case MAP:
		return map_page(actor, my);
	case CLEAR:
		return my->skips_cache && rules->prepares ? sws_machine__clear(actor, &my->slot)
							  : SWS_OK;
	case SETTLE:
		return settle(actor, my);
	case LEAVE:
		engine_return(&actor->thread, my->page);
		return SWS_OK;
	}
	return SWS_ERROR_BROKEN;
}

int sws_machine__swap_in(struct actor *actor, uint32_t pte, bool write)
{
	const struct sws_machine *self = actor->machine;
	const struct swap_in frame = {
		.pte = pte,
		.write = write,
		.skips_cache = self->rules->skips_cache && actor->device->interrupt == MACHINE_NONE,
		.slot = self->pte_values[pte],
	};

	return engine_call(&actor->thread, swap_in, &frame, sizeof(frame));
}
