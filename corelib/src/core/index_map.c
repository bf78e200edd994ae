/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/index_map.h"

enum { FIRST_SLOTS = 64 };

/*
 * Keys are addresses and small numbers; the multiplication spreads both over the high bits. By
 * their own low bits all struct pages, of 64 bytes each, would have slot 0 of 64 as their home.
 */
static uint64_t home_of(const struct sws_index_map *self, uint64_t key)
{
	return ((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & self->mask;
}

/* Returns the key's slot, or the empty slot that ends its probe. */
static uint64_t probe(const struct sws_index_map *self, uint64_t key)
{
	uint64_t slot = home_of(self, key);

	while (self->keys[slot] && self->keys[slot] != key)
		slot = (slot + 1) & self->mask;
	return slot;
}

static int allocate_slots(struct sws_index_map *self, uint64_t slots)
{
	self->keys = sws_allocate_zeroed(self->allocator, slots, sizeof(*self->keys));
	self->indexes = sws_allocate_zeroed(self->allocator, slots, sizeof(*self->indexes));
	self->mask = slots - 1;
	if (self->keys && self->indexes)
		return SWS_OK;
	sws_index_map__clear(self);
	return SWS_ERROR_NO_MEMORY;
}

int sws_index_map__init(struct sws_index_map *self, const struct sws_allocator *allocator)
{
	*self = (struct sws_index_map){ .allocator = allocator };
	return allocate_slots(self, FIRST_SLOTS);
}

void sws_index_map__clear(struct sws_index_map *self)
{
	if (!self->allocator)
		return;
	sws_release(self->allocator, self->keys);
	sws_release(self->allocator, self->indexes);
	self->keys = NULL;
	self->indexes = NULL;
}

bool sws_index_map__find(const struct sws_index_map *self, uint64_t key, uint32_t *index)
{
	uint64_t slot = probe(self, key);

	if (!self->keys[slot])
		return false;
	*index = self->indexes[slot];
	return true;
}

/*
 * At the 33rd key 64 slots become 128; all keys are inserted again, as their home depends on the
 * mask.
 */
static int double_slots(struct sws_index_map *self)
{
	struct sws_index_map old = *self;
	int error = allocate_slots(self, 2 * (old.mask + 1));

	if (error) {
		*self = old;
		return error;
	}
	for (uint64_t slot = 0; slot <= old.mask; slot++) {
		uint64_t place = 0;

		if (!old.keys[slot])
			continue;
		place = probe(self, old.keys[slot]);
		self->keys[place] = old.keys[slot];
		self->indexes[place] = old.indexes[slot];
	}
	sws_index_map__clear(&old);
	return SWS_OK;
}

int sws_index_map__put(struct sws_index_map *self, uint64_t key, uint32_t index)
{
	uint64_t slot = 0;
	int error = SWS_OK;

	if (2 * (self->count + 1) > self->mask + 1)
		error = double_slots(self);
	if (error)
		return error;
	slot = probe(self, key);
	self->keys[slot] = key;
	self->indexes[slot] = index;
	self->count++;
	return SWS_OK;
}

/*
 * Eight slots; A and B have their home at 5, C at 6, D at 0. A is removed:
 *
 *      slot           0  1  2  3  4  5  6  7
 *      before         D  .  .  .  .  A  B  C
 *      hole at 5      D  .  .  .  .  -  B  C      B from 6: its home is 5, so it moves
 *      hole at 6      D  .  .  .  .  B  -  C      C from 7: its home is 6, so it moves
 *      hole at 7      D  .  .  .  .  B  C  -      D from 0: at its home, it stays
 *      after          D  .  .  .  .  B  C  .      slot 1 is empty: the end
 *
 * Only emptying slot 5 would lose B, whose probe starts there and ends at an empty slot. D must not
 * move to 7 either: its probe starts at 0. Distances are cyclic: D is 0 from its home and 1 from
 * the hole, and 0 < 1 means that the hole is before its home.
 */
void sws_index_map__remove(struct sws_index_map *self, uint64_t key)
{
	uint64_t hole = probe(self, key);

	if (!self->keys[hole])
		return;
	self->count--;
	for (uint64_t slot = (hole + 1) & self->mask; self->keys[slot];
	     slot = (slot + 1) & self->mask) {
		uint64_t home = home_of(self, self->keys[slot]);

		/* An entry moves back only if the hole is between its home and its slot. */
		if (((slot - home) & self->mask) < ((slot - hole) & self->mask))
			continue;
		self->keys[hole] = self->keys[slot];
		self->indexes[hole] = self->indexes[slot];
		hole = slot;
	}
	self->keys[hole] = 0;
}
