/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/fill.c - before the first event: memory is filled up to the high watermark, all other
 * pages are on the devices. The work is split into parts, because no call may take long: even
 * touching the memory of all frames once would.
 *
 *      fragmented:  slots are allocated, by all CPUs in turn, until no cluster is free;
 *                   then all that are not needed are freed again, at random. The bases
 *                   remain where each CPU's last cluster ended.
 *
 * One walker of 8192 pages, 4096 frames of which 48 stay free, a device of 8192 slots:
 *
 *      phase      calls   result
 *      FRAMES     16      4096 frames free
 *      PTES       32      8192 addresses, all swapped to slot 0, which is not a slot
 *      PAGES      32      4048 chosen at random: 3036 active, 1012 inactive; 48 frames free
 *      WRITERS    1       no writers here
 *      TAKE       66      64 calls of the device for 64 slots, one for 48; if fragmented, more
 *                         of them until no cluster is free; the last call ends the phase
 *      KEEP       ..      4144 slots given to the 4144 addresses without a page
 *      START      1       the first events of the tasks
 */
#include "machine/build.h"
#include "machine/pages.h"

enum {
	/* Actors start within this time. */
	START_NS = 20000,
};

/*
 * Selects one of the remaining items with such a probability that exactly the wanted number is
 * selected in the end (Knuth's selection sampling). Two of four:
 *
 *      left 4, wanted 2    probability 2/4    selected
 *      left 3, wanted 1    probability 1/3    not
 *      left 2, wanted 1    probability 1/2    not
 *      left 1, wanted 1    1                  selected
 *
 * Independent draws would select two on average only, and memory would not be full.
 */
static bool choose(struct sws_machine *self, uint64_t *left, uint64_t *wanted)
{
	const bool chosen = sws_generator_below(&self->fill.generator, *left) < *wanted;

	--*left;
	*wanted -= chosen;
	return chosen;
}

/*
 * Distributes pages as reclaim balances the lists. Up to 5.8 each page that came in passes the
 * inactive list twice, first to be activated and then to leave, so half of a walker's pages there
 * have not been tested yet. A writer's pages are there to leave. From 6.1 on all have not been
 * tested yet.
 */
static void put_in_balance(struct sws_machine *self, struct node *node, uint32_t pte)
{
	const bool balanced = sws_machine__is_balanced(self, node);
	const struct list *inactive = &node->lists[LIST_INACTIVE];

	sws_machine__put_into_memory(self, node, pte, balanced ? LIST_ACTIVE : LIST_INACTIVE);
	if (!balanced && !self->rules->keeps_first)
		self->pages[inactive->first].referenced =
			pte != MACHINE_NONE && inactive->count % 2;
}

void sws_machine__begin_fill(struct sws_machine *self)
{
	sws_generator_seed(&self->fill.generator, self->config.device.seed, UINT64_MAX);
	for (uint32_t n = 0; n < self->config.nodes; n++) {
		self->fill.nodes[n].left = self->nodes[n].n_ptes;
		self->fill.nodes[n].keep = sws_machine__resident(self, &self->nodes[n]);
	}
}

static void make_frames(struct sws_machine *self)
{
	for (uint32_t i = 0; i < MACHINE_PART && self->fill.at < self->n_pages; i++) {
		const uint32_t n = self->fill.at / self->config.frames;
		struct node *node = &self->nodes[n];

		self->pages[self->fill.at++] = (struct page){ .previous = MACHINE_NONE,
							      .next = MACHINE_NONE,
							      .pte = MACHINE_NONE,
							      .owner = MACHINE_NO_CPU,
							      .node = (uint16_t)n };
		/* In reverse order, so that the frames are allocated in ascending order. */
		node->free_pages[node->n_free] = (n + 1) * self->config.frames - 1 - node->n_free;
		node->n_free++;
	}
	if (self->fill.at < self->n_pages)
		return;
	self->fill.at = 0;
	self->fill.phase = PHASE_PTES;
}

/* The addresses after those of the walkers belong to writers that end, or to streams. */
static enum pte_state first_state(const struct sws_machine *self, uint32_t pte)
{
	if (pte < self->n_ptes)
		return PTE_SWAPPED;
	return self->config.streams ? PTE_ABSENT : PTE_NONE;
}

static void make_ptes(struct sws_machine *self)
{
	const uint32_t end = sws_machine__all_ptes(self);

	for (uint32_t i = 0; i < MACHINE_PART && self->fill.pte < end; i++, self->fill.pte++) {
		self->pte_states[self->fill.pte] = (uint8_t)first_state(self, self->fill.pte);
		self->pte_values[self->fill.pte] = 0;
	}
	if (self->fill.pte < end)
		return;
	self->fill.pte = 0;
	self->fill.phase = self->config.drop_percent ? PHASE_WRITE : PHASE_PAGES;
}

static void begin_device(struct sws_machine *self)
{
	self->fill.phase = PHASE_TAKE;
	self->fill.at = 0;
	self->fill.keep = sws_machine__swapped(self, self->fill.device);
}

/* Writers that end start without pages. */
static bool takes_writers_page(const struct sws_machine *self, const struct node *node)
{
	return node->has_writers && !self->config.accesses && node->n_free > self->watermark_high &&
	       (!self->config.memory_max || self->charged < self->config.memory_max);
}

static void fill_with_writers(struct sws_machine *self)
{
	uint32_t pages = 0;

	while (pages < MACHINE_PART && self->fill.at < self->config.nodes) {
		struct node *node = &self->nodes[self->fill.at];

		if (takes_writers_page(self, node)) {
			put_in_balance(self, node, MACHINE_NONE);
			pages++;
		} else {
			self->fill.at++;
		}
	}
	if (self->fill.at == self->config.nodes)
		begin_device(self);
}

/* Returns how many more slots the next call may allocate. */
static uint64_t slots_to_take(const struct sws_machine *self, const struct sws_slots *slots)
{
	const uint64_t in_use = sws_slots_in_use(slots);
	const uint64_t missing = in_use < self->fill.keep ? self->fill.keep - in_use : 0;

	if (missing)
		return missing < SWS_SLOTS_BATCH ? missing : SWS_SLOTS_BATCH;
	return self->config.fragmented && self->fill.keep && sws_slots_free_clusters(slots)
		       ? SWS_SLOTS_BATCH
		       : 0;
}

static void fill_pages(struct sws_machine *self)
{
	const uint32_t walkers = self->config.walkers;

	/* Takes the walkers in turn, because their pages are mixed on the lists. */
	for (uint32_t i = 0; i < MACHINE_PART && self->fill.pte < self->n_ptes;
	     i++, self->fill.pte++) {
		const uint32_t pte =
			self->fill.pte % walkers * self->config.pages + self->fill.pte / walkers;
		const uint32_t n = sws_machine__node_of_pte(self, pte);

		if (choose(self, &self->fill.nodes[n].left, &self->fill.nodes[n].keep))
			put_in_balance(self, &self->nodes[n], pte);
	}
	if (self->fill.pte < self->n_ptes)
		return;
	self->fill.pte = 0;
	self->fill.phase = PHASE_WRITERS;
}

/* Returns the next CPU, in turn, that swaps to the device. */
static struct actor *next_taker(struct sws_machine *self, struct device *device)
{
	for (;;) {
		struct actor *actor = &self->actors[self->fill.at++ % self->n_actors];

		if (actor->mm != MACHINE_NONE && actor->device == device)
			return actor;
	}
}

static int take_slots(struct sws_machine *self)
{
	struct device *device = &self->devices[self->fill.device];
	struct sws_slots_work work = { 0 };
	struct sws_slots_call call = { 0 };
	const uint64_t wanted = slots_to_take(self, device->slots);
	struct actor *actor = NULL;
	uint8_t usage = 0;
	int error = SWS_OK;

	if (!wanted) {
		self->fill.phase = PHASE_KEEP;
		self->fill.at = 1;
		self->fill.left = sws_slots_in_use(device->slots);
		return SWS_OK;
	}
	actor = next_taker(self, device);
	error = sws_slots_allocate(device->slots, actor->slot_cpu, actor->mm, (uint32_t)wanted,
				   &call, &work);
	sws_machine__count_looks(self, &(struct sws_slots_work){ 0 }, &work);
	for (uint32_t i = 0; i < call.given && !error; i++) {
		error = sws_slots_duplicate(device->slots, call.slots[i], &usage, &work);
		if (!error)
			error = sws_slots_uncache(device->slots, call.slots[i], &usage, &work);
	}
	return error || call.given ? error : SWS_ERROR_BROKEN;
}

/* Gives the slot to a page of this device that is not in memory. */
static void swap_to(struct sws_machine *self, uint32_t slot)
{
	for (;;) {
		const uint32_t walker = self->fill.pte / self->config.pages;

		if (self->nodes[walker % self->config.nodes].device != self->fill.device)
			self->fill.pte = (walker + 1) * self->config.pages;
		else if (self->pte_states[self->fill.pte] != PTE_SWAPPED)
			self->fill.pte++;
		else
			break;
	}
	self->pte_values[self->fill.pte++] = slot;
}

static int keep_slots(struct sws_machine *self)
{
	struct device *device = &self->devices[self->fill.device];
	struct sws_slots_work work = { 0 };
	uint8_t usage = 0;
	int error = SWS_OK;

	for (uint32_t i = 0; i < MACHINE_PART && self->fill.left && !error; i++) {
		const uint32_t slot = self->fill.at++;

		if (!sws_slots_usage(device->slots, slot))
			continue;
		if (choose(self, &self->fill.left, &self->fill.keep)) {
			swap_to(self, slot);
			continue;
		}
		error = sws_slots_drop(device->slots, slot, &usage, &work);
		if (!error)
			error = sws_slots_free_entries(device->slots, &slot, 1, &work);
	}
	if (error || self->fill.left)
		return error;
	self->fill.pte = 0;
	if (++self->fill.device < self->config.devices)
		begin_device(self);
	else
		self->fill.phase = PHASE_START;
	return SWS_OK;
}

static int start_actors(struct sws_machine *self)
{
	int error = SWS_OK;

	self->fill.phase = PHASE_RUN;
	for (uint32_t i = 0; i < self->n_actors && !error; i++) {
		struct actor *actor = &self->actors[i];

		/*
		 * Kernel threads wait to be woken; a stream may be one that runs. Tasks that
		 * started at the same moment would wait for the same lock all at once, and stay
		 * synchronized.
		 */
		if (actor->mm != MACHINE_NONE || actor->count.kind == SWS_ACTOR_STREAM)
			error = sws_des_run(
				self->engine.des, i,
				sws_generator_below(&actor->thread.generator, START_NS));
	}
	return error;
}

int sws_machine__fill(struct sws_machine *self)
{
	switch (self->fill.phase) {
	case PHASE_FRAMES:
		make_frames(self);
		return SWS_OK;
	case PHASE_PTES:
		make_ptes(self);
		return SWS_OK;
	case PHASE_PAGES:
		fill_pages(self);
		return SWS_OK;
	case PHASE_WRITERS:
		fill_with_writers(self);
		return SWS_OK;
	case PHASE_TAKE:
		return take_slots(self);
	case PHASE_KEEP:
		return keep_slots(self);
	case PHASE_WRITE:
	case PHASE_DROP:
		return sws_machine__fill_and_drop(self);
	case PHASE_START:
		return start_actors(self);
	case PHASE_RUN:
		break;
	}
	return SWS_OK;
}
