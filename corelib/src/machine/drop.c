/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/drop.c - before the first event: the walkers write all of their pages, one walker after
 * another, under the limit of their memory cgroup, and then drop a random part, each on its own
 * CPU.
 *
 *      written:  | walker 0 ......... | walker 1 ... | memory: the last pages of the last walker |
 *      dropped:  | #.##..#..#.##..... | .#..#..##... | ..#.#.##..                                |
 *
 * The slots, the bases and the contents of the slot caches result from the device's own calls. The
 * remaining pages are compacted, because walkers draw from them only.
 */
#include "machine/build.h"
#include "machine/pages.h"

#include <string.h>

static struct actor *walker_of(struct sws_machine *self, uint32_t pte)
{
	return sws_machine__task(self, pte / self->config.pages);
}

/* Gets a slot for a page from the CPU's cache, which holds one slot if caches are off. */
static int take_slot(struct sws_machine *self, struct actor *actor, uint32_t *slot)
{
	struct slots_cpu_cache *cache = machine_slots_of(actor);
	struct sws_slots *device = actor->device->slots;
	const uint32_t wanted = self->caches_slots ? SWS_SLOT_CACHE_SIZE : 1;
	struct sws_slots_work work = { 0 };
	struct sws_slots_call call = { 0 };
	uint8_t usage = 0;
	int error = SWS_OK;

	if (!cache->n_ready) {
		error = sws_slots_allocate(device, actor->slot_cpu, actor->mm, wanted, &call,
					   &work);
		sws_machine__count_looks(self, &(struct sws_slots_work){ 0 }, &work);
		slots_cpu_cache_fill(cache, &call);
	}
	*slot = slots_cpu_cache_take(cache);
	if (error || !*slot)
		return error ? error : SWS_ERROR_BROKEN;
	error = sws_slots_duplicate(device, *slot, &usage, &work);
	return error ? error : sws_slots_uncache(device, *slot, &usage, &work);
}

static void give_back_page(struct sws_machine *self, struct node *node, uint32_t index)
{
	sws_machine__list_take(self, index);
	sws_machine__forget_page(self, index);
	node->free_pages[node->n_free++] = index;
}

/*
 * Swaps out the page that was written first. No list has been scanned so far, so the list is a
 * queue: pages are added at its head, and the oldest one is at its tail.
 */
static int swap_out_oldest(struct sws_machine *self, struct actor *actor)
{
	struct node *node = actor->node;
	const uint32_t index = node->lists[LIST_INACTIVE].count ? node->lists[LIST_INACTIVE].last
								: node->lists[LIST_ACTIVE].last;
	const uint32_t pte = self->pages[index].pte;
	uint32_t slot = 0;
	const int error = take_slot(self, actor, &slot);

	if (error)
		return error;
	self->pte_states[pte] = PTE_SWAPPED;
	self->pte_values[pte] = slot;
	give_back_page(self, node, index);
	return SWS_OK;
}

static int write_pages(struct sws_machine *self)
{
	int error = SWS_OK;

	for (uint32_t i = 0; i < MACHINE_PART && self->fill.pte < self->n_ptes && !error;
	     i++, self->fill.pte++) {
		struct actor *actor = walker_of(self, self->fill.pte);

		if (self->charged == self->config.memory_max)
			error = swap_out_oldest(self, actor);
		if (!error)
			sws_machine__put_into_memory(self, actor->node, self->fill.pte,
						     self->rules->starts_active ? LIST_ACTIVE
										: LIST_INACTIVE);
	}
	if (error || self->fill.pte < self->n_ptes)
		return error;
	self->fill.pte = 0;
	self->fill.phase = PHASE_DROP;
	return SWS_OK;
}

/* Models free_swap_and_cache up to the flush of the return cache. */
static int give_back_slot(struct sws_machine *self, struct actor *actor, uint32_t slot)
{
	struct slots_cpu_cache *cache = machine_slots_of(actor);
	struct sws_slots *device = actor->device->slots;
	struct sws_slots_work work = { 0 };
	const uint32_t *returned = NULL;
	uint32_t n = 0;
	uint8_t usage = 0;
	int error = sws_slots_drop(device, slot, &usage, &work);

	if (error)
		return error;
	if (!self->caches_slots)
		return sws_slots_free_entries(device, &slot, 1, &work);
	if (slots_cpu_cache_is_full(cache)) {
		n = slots_cpu_cache_hand_over(cache, &returned);
		error = sws_slots_free_entries(device, returned, n, &work);
	}
	slots_cpu_cache_put(cache, slot);
	return error;
}

static int drop(struct sws_machine *self, struct actor *actor, uint32_t pte)
{
	const uint32_t value = self->pte_values[pte];

	if (self->pte_states[pte] == PTE_SWAPPED)
		return give_back_slot(self, actor, value);
	give_back_page(self, actor->node, value);
	return SWS_OK;
}

/*
 * Moves a remaining page down to the first free address, in place, as that address is never above
 * the current one. Addresses 1, 3 and 4 are dropped; R: in memory, S: in a slot:
 *
 *      before         R S S R R S
 *      0 remains      R                 mm_ptes 1
 *      2 remains      R S               mm_ptes 2
 *      5 remains      R S S             mm_ptes 3
 *      the rest       R S S - - -       never drawn
 */
static void keep(struct sws_machine *self, struct actor *actor, uint32_t pte)
{
	const uint32_t to = actor->mm_first_pte + actor->mm_ptes++;

	self->pte_states[to] = self->pte_states[pte];
	self->pte_values[to] = self->pte_values[pte];
	if (self->pte_states[to] == PTE_RESIDENT)
		self->pages[self->pte_values[to]].pte = to;
}

static int drop_pages(struct sws_machine *self)
{
	int error = SWS_OK;

	for (uint32_t i = 0; i < MACHINE_PART && self->fill.pte < self->n_ptes && !error;
	     i++, self->fill.pte++) {
		/* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a config has at least one page */
		const uint32_t at = self->fill.pte % self->config.pages;
		struct actor *actor = walker_of(self, self->fill.pte);

		if (!at)
			actor->mm_ptes = 0;
		/* The last page remains if no other page does. */
		if (sws_generator_below(&self->fill.generator, 100) < self->config.drop_percent &&
		    (actor->mm_ptes || at + 1 < self->config.pages))
			error = drop(self, actor, self->fill.pte);
		else
			keep(self, actor, self->fill.pte);
		if (at + 1 == self->config.pages)
			memset(&self->pte_states[actor->mm_first_pte + actor->mm_ptes], PTE_NONE,
			       self->config.pages - actor->mm_ptes);
	}
	if (!error && self->fill.pte == self->n_ptes)
		self->fill.phase = PHASE_START;
	return error;
}

int sws_machine__fill_and_drop(struct sws_machine *self)
{
	return self->fill.phase == PHASE_WRITE ? write_pages(self) : drop_pages(self);
}
