/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/fill.c - before the first event: memory is full up to the high watermark,
 * what it does not hold is on the devices. All of it goes on a part at a time, for no
 * call may last long: even to touch the memory of all frames once would.
 *
 *      fragmented:  slots are taken, by all CPUs in turn, until no cluster is free;
 *                   then all but those that are needed are freed again, at random.
 *                   The bases are left where each CPU's last cluster ended.
 */
#include "machine/parts.h"

static uint32_t resident(const struct sws_machine *self, const struct node *node)
{
	const uint32_t room = self->config.memory_max ? self->config.memory_max
						      : self->config.frames - self->watermark_high;

	return node->n_ptes < room ? node->n_ptes : room;
}

uint64_t sws_machine__swapped(const struct sws_machine *self, uint32_t device)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < self->config.nodes; i++)
		if (self->nodes[i].device == device)
			sum += self->nodes[i].n_ptes - resident(self, &self->nodes[i]);
	return sum;
}

/* One chosen of those left, so that exactly the wanted number is chosen in the end. */
static bool choose(struct sws_machine *self, uint64_t *left, uint64_t *wanted)
{
	const bool chosen = sws_generator_below(&self->fill_generator, *left) < *wanted;

	--*left;
	*wanted -= chosen;
	return chosen;
}

void sws_machine__put_into_memory(struct sws_machine *self, struct node *node, uint32_t pte,
				  enum machine_list list)
{
	const uint32_t index = node->free_pages[--node->n_free];
	struct page *page = &self->pages[index];

	page->used = true;
	page->dirty = true;
	page->referenced = self->rules->keeps_first;
	page->pte = pte;
	self->charged++;
	if (pte != MACHINE_NONE) {
		self->pte_states[pte] = PTE_RESIDENT;
		self->pte_values[pte] = index;
	}
	sws_machine__list_add(self, node, list, index);
}

/* As reclaim keeps the lists. */
static void put_in_balance(struct sws_machine *self, struct node *node, uint32_t pte)
{
	const struct list *lists = node->lists;
	const bool short_of_inactive =
		lists[LIST_INACTIVE].count * MACHINE_INACTIVE_RATIO < lists[LIST_ACTIVE].count;

	sws_machine__put_into_memory(self, node, pte,
				     short_of_inactive ? LIST_INACTIVE : LIST_ACTIVE);
}

static void make_frames(struct sws_machine *self)
{
	for (uint32_t i = 0; i < MACHINE_PART && self->fill_at < self->n_pages; i++) {
		const uint32_t n = self->fill_at / self->config.frames;
		struct node *node = &self->nodes[n];

		self->pages[self->fill_at++] = (struct page){ .previous = MACHINE_NONE,
							      .next = MACHINE_NONE,
							      .pte = MACHINE_NONE,
							      .node = (uint16_t)n };
		node->free_pages[node->n_free] = (n + 1) * self->config.frames - 1 - node->n_free;
		node->n_free++;
	}
	if (self->fill_at < self->n_pages)
		return;
	self->fill_at = 0;
	self->phase = PHASE_PTES;
}

/* Behind the walkers' addresses are those of writers that end, or of streams. */
static enum pte_state first_state(const struct sws_machine *self, uint32_t pte)
{
	if (pte < self->n_ptes)
		return PTE_SWAPPED;
	return self->config.streams ? PTE_ABSENT : PTE_NONE;
}

static void make_ptes(struct sws_machine *self)
{
	const uint32_t end = sws_machine__all_ptes(self);

	for (uint32_t i = 0; i < MACHINE_PART && self->fill_pte < end; i++, self->fill_pte++) {
		self->pte_states[self->fill_pte] = (uint8_t)first_state(self, self->fill_pte);
		self->pte_values[self->fill_pte] = 0;
	}
	if (self->fill_pte < end)
		return;
	self->fill_pte = 0;
	self->phase = self->config.drop_percent ? PHASE_WRITE : PHASE_PAGES;
}

static void begin_device(struct sws_machine *self)
{
	self->phase = PHASE_TAKE;
	self->fill_at = 0;
	self->fill_keep = sws_machine__swapped(self, self->fill_device);
}

/* Writers that end begin with nothing. */
static bool takes_writers_page(const struct sws_machine *self, const struct node *node)
{
	return node->has_writers && !self->config.accesses && node->n_free > self->watermark_high &&
	       (!self->config.memory_max || self->charged < self->config.memory_max);
}

static void fill_with_writers(struct sws_machine *self)
{
	uint32_t pages = 0;

	while (pages < MACHINE_PART && self->fill_at < self->config.nodes) {
		struct node *node = &self->nodes[self->fill_at];

		if (takes_writers_page(self, node)) {
			put_in_balance(self, node, MACHINE_NONE);
			pages++;
		} else {
			self->fill_at++;
		}
	}
	if (self->fill_at == self->config.nodes)
		begin_device(self);
}

/* How many more slots the next call may take. */
static uint64_t slots_to_take(const struct sws_machine *self, const struct sws_slots *slots)
{
	const uint64_t in_use = sws_slots_in_use(slots);
	const uint64_t missing = in_use < self->fill_keep ? self->fill_keep - in_use : 0;

	if (missing)
		return missing < SWS_SLOTS_BATCH ? missing : SWS_SLOTS_BATCH;
	return self->config.fragmented && self->fill_keep && sws_slots_free_clusters(slots)
		       ? SWS_SLOTS_BATCH
		       : 0;
}

static void fill_pages(struct sws_machine *self)
{
	for (uint32_t i = 0; i < MACHINE_PART && self->fill_pte < self->n_ptes;
	     i++, self->fill_pte++) {
		struct node *node =
			&self->nodes[self->fill_pte / self->config.pages % self->config.nodes];

		if (choose(self, &node->fill_left, &node->fill_keep))
			put_in_balance(self, node, self->fill_pte);
	}
	if (self->fill_pte < self->n_ptes)
		return;
	self->fill_pte = 0;
	self->phase = PHASE_WRITERS;
}

/* The next CPU in turn that swaps to the device. */
static struct actor *next_taker(struct sws_machine *self, struct device *device)
{
	for (;;) {
		struct actor *actor = &self->actors[self->fill_at++ % self->n_actors];

		if (actor->mm != MACHINE_NONE && actor->device == device)
			return actor;
	}
}

static int take_slots(struct sws_machine *self)
{
	struct device *device = &self->devices[self->fill_device];
	struct sws_slots_work work = { 0 };
	struct sws_slots_call call = { 0 };
	const uint64_t wanted = slots_to_take(self, device->slots);
	struct actor *actor = NULL;
	uint8_t usage = 0;
	int error = SWS_OK;

	if (!wanted) {
		self->phase = PHASE_KEEP;
		self->fill_at = 1;
		self->fill_left = sws_slots_in_use(device->slots);
		return SWS_OK;
	}
	actor = next_taker(self, device);
	error = sws_slots_allocate(device->slots, actor->cpu, actor->mm, (uint32_t)wanted, &call,
				   &work);
	sws_machine__count_looks(self, &(struct sws_slots_work){ 0 }, &work);
	for (uint32_t i = 0; i < call.given && !error; i++) {
		error = sws_slots_duplicate(device->slots, call.slots[i], &usage, &work);
		if (!error)
			error = sws_slots_uncache(device->slots, call.slots[i], &usage, &work);
	}
	return error || call.given ? error : SWS_ERROR_BROKEN;
}

/* A page of this device that is not in memory gets the slot. */
static void swap_to(struct sws_machine *self, uint32_t slot)
{
	for (;;) {
		const uint32_t walker = self->fill_pte / self->config.pages;

		if (self->nodes[walker % self->config.nodes].device != self->fill_device)
			self->fill_pte = (walker + 1) * self->config.pages;
		else if (self->pte_states[self->fill_pte] != PTE_SWAPPED)
			self->fill_pte++;
		else
			break;
	}
	self->pte_values[self->fill_pte++] = slot;
}

static int keep_slots(struct sws_machine *self)
{
	struct device *device = &self->devices[self->fill_device];
	struct sws_slots_work work = { 0 };
	uint8_t usage = 0;
	int error = SWS_OK;

	for (uint32_t i = 0; i < MACHINE_PART && self->fill_left && !error; i++) {
		const uint32_t slot = self->fill_at++;

		if (!sws_slots_usage(device->slots, slot))
			continue;
		if (choose(self, &self->fill_left, &self->fill_keep)) {
			swap_to(self, slot);
			continue;
		}
		error = sws_slots_drop(device->slots, slot, &usage, &work);
		if (!error)
			error = sws_slots_free_entries(device->slots, &slot, 1, &work);
	}
	if (error || self->fill_left)
		return error;
	self->fill_pte = 0;
	if (++self->fill_device < self->config.devices)
		begin_device(self);
	else
		self->phase = PHASE_START;
	return SWS_OK;
}

static int start_actors(struct sws_machine *self)
{
	int error = SWS_OK;

	self->phase = PHASE_RUN;
	for (uint32_t i = 0; i < self->n_actors && !error; i++) {
		struct actor *actor = &self->actors[i];

		/* Kernel threads wait to be woken; a stream may be one that works. */
		if (actor->mm != MACHINE_NONE || actor->count.kind == SWS_ACTOR_STREAM)
			error = sws_des_run(
				self->des, i,
				sws_generator_below(&actor->generator, MACHINE_START_NS));
	}
	return error;
}

int sws_machine__fill(struct sws_machine *self)
{
	switch (self->phase) {
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
