/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots/workbench/pages.c - the swapped-out pages by address space: a few bits per slot for the
 * owner, and a Fenwick tree per address space for the number of its pages.
 */
#include "slots/workbench/parts.h"

#include <string.h>

/* Blocks are as small as these bounds allow: at most 16 MB for all trees. */
#define TREE_ENTRIES_MAX (UINT64_C(1) << 22)
#define BLOCK_SHIFT_MIN  6U

static uint32_t blocks_of(uint32_t slots, uint32_t block_shift)
{
	return (uint32_t)(((uint64_t)slots - 1) >> block_shift) + 1;
}

int sws_workbench__pages_new(const struct sws_allocator *allocator, const struct sws_slots *device,
			     uint32_t slots, uint32_t spaces, struct workbench_pages *self)
{
	*self = (struct workbench_pages){ .device = device, .slots = slots, .spaces = spaces };
	while (self->bits_shift < 3 && spaces > UINT32_C(1) << (1U << self->bits_shift))
		self->bits_shift++;
	self->block_shift = BLOCK_SHIFT_MIN;
	while ((uint64_t)spaces * blocks_of(slots, self->block_shift) > TREE_ENTRIES_MAX)
		self->block_shift++;
	self->blocks = blocks_of(slots, self->block_shift);
	self->counts = sws_allocate_zeroed(allocator, spaces, sizeof(*self->counts));
	if (!self->counts)
		return SWS_ERROR_NO_MEMORY;
	if (spaces == 1)
		return SWS_OK;
	self->owners =
		sws_allocate_zeroed(allocator, ((size_t)slots >> (3 - self->bits_shift)) + 1, 1);
	return self->owners ? SWS_OK : SWS_ERROR_NO_MEMORY;
}

void sws_workbench__pages_free(const struct sws_allocator *allocator, struct workbench_pages *self)
{
	sws_release(allocator, self->trees);
	sws_release(allocator, self->owners);
	sws_release(allocator, self->counts);
}

bool sws_workbench__is_out(const struct workbench_pages *self, uint32_t slot)
{
	return sws_slots_usage(self->device, slot) == 1;
}

/*
 * Returns the first bit of a slot's owner within its byte. With 5 to 16 address spaces an owner has
 * 4 bits (bits_shift 2), and two share a byte:
 *
 *      slot          8       9      10      11
 *      byte        | 4             | 5             |        slot >> (3 - 2)
 *      bit           0       4       0       4              (slot & 1) << 2
 */
static uint32_t bit_of(const struct workbench_pages *self, uint32_t slot)
{
	const uint32_t in_byte = slot & ((UINT32_C(8) >> self->bits_shift) - 1);

	return in_byte << self->bits_shift;
}

static uint32_t mask_of(const struct workbench_pages *self)
{
	return (UINT32_C(1) << (1U << self->bits_shift)) - 1;
}

uint32_t sws_workbench__owner(const struct workbench_pages *self, uint32_t slot)
{
	if (!self->owners)
		return 0;
	return (uint32_t)self->owners[slot >> (3 - self->bits_shift)] >> bit_of(self, slot) &
	       mask_of(self);
}

static void set_owner(struct workbench_pages *self, uint32_t slot, uint32_t space)
{
	uint8_t *byte = NULL;

	if (!self->owners)
		return;
	byte = &self->owners[slot >> (3 - self->bits_shift)];
	*byte = (uint8_t)((*byte & ~(mask_of(self) << bit_of(self, slot))) |
			  space << bit_of(self, slot));
}

static uint32_t *tree_of(const struct workbench_pages *self, uint32_t space)
{
	return self->trees + (size_t)space * (self->blocks + 1);
}

/*
 * Adds to the count of a block in all entries that contain it; to subtract 1, change is 2^32 - 1.
 *
 * In a Fenwick tree of 8 blocks, entry e counts as many blocks as the value of its lowest bit, the
 * last of them block e - 1:
 *
 *      entry    1     2     3     4     5     6     7     8
 *      blocks   0    0-1    2    0-3    4    4-5    6    0-7
 *
 * A page in block 2 is counted in the entries 3, 4 and 8: 3 + 1, 4 + 4.
 */
static void count(const struct workbench_pages *self, uint32_t space, uint32_t slot,
		  uint32_t change)
{
	uint32_t *tree = tree_of(self, space);

	for (uint32_t entry = (slot >> self->block_shift) + 1; entry <= self->blocks;
	     entry += entry & -entry)
		tree[entry] += change;
}

void sws_workbench__page_out(struct workbench_pages *self, uint32_t space, uint32_t slot)
{
	set_owner(self, slot, space);
	self->counts[space]++;
	self->out++;
	if (self->indexed)
		count(self, space, slot, 1);
}

void sws_workbench__page_in(struct workbench_pages *self, uint32_t space, uint32_t slot)
{
	self->counts[space]--;
	self->out--;
	if (self->indexed)
		count(self, space, slot, UINT32_MAX);
}

int sws_workbench__begin_index(const struct sws_allocator *allocator, struct workbench_pages *self)
{
	const size_t entries = (size_t)self->spaces * (self->blocks + 1);

	if (!self->trees)
		self->trees = sws_allocate(allocator, entries * sizeof(*self->trees));
	if (!self->trees)
		return SWS_ERROR_NO_MEMORY;
	memset(self->trees, 0, entries * sizeof(*self->trees));
	self->indexed = false;
	return SWS_OK;
}

void sws_workbench__index(struct workbench_pages *self, uint32_t from, uint32_t to)
{
	for (uint32_t slot = from; slot < to; slot++)
		if (sws_workbench__is_out(self, slot))
			tree_of(self, sws_workbench__owner(
					      self, slot))[(slot >> self->block_shift) + 1]++;
}

/*
 * Builds the trees from the counts of blocks in one pass: an entry is complete when it is reached,
 * and is added to the next entry above it. With four blocks of 1 2 0 3 pages: 1 into 2 gives 1 3 0
 * 3, then 2 and 3 into 4 give 1 3 0 6. Adding page by page would need log2(blocks) additions for
 * each of millions of pages.
 */
void sws_workbench__end_index(struct workbench_pages *self)
{
	for (uint32_t space = 0; space < self->spaces; space++) {
		uint32_t *tree = tree_of(self, space);

		for (uint32_t entry = 1; entry <= self->blocks; entry++) {
			const uint32_t above = entry + (entry & -entry);

			if (above <= self->blocks)
				tree[above] += tree[entry];
		}
	}
	self->indexed = true;
}

/*
 * Returns the block of the page with this rank, and sets the rank within the block. In the tree
 * above, 1 3 0 6, with rank 3:
 *
 *      step 4     entry 4 has 6, more than 3      stay
 *      step 2     entry 2 has 3                   past block 1, rank 0
 *      step 1     entry 3 has 0                   past block 2, rank 0
 *                 block 3, its page 0
 *
 * A count equal to the rank is passed, because rank 3 is the fourth page.
 */
static uint32_t descend(const struct workbench_pages *self, uint32_t space, uint64_t *rank)
{
	const uint32_t *tree = tree_of(self, space);
	uint32_t block = 0;
	uint32_t step = 1;

	while (step <= self->blocks / 2)
		step *= 2;
	for (; step; step /= 2) {
		if (block + step > self->blocks || tree[block + step] > *rank)
			continue;
		block += step;
		*rank -= tree[block];
	}
	return block;
}

uint32_t sws_workbench__pick(const struct workbench_pages *self, uint32_t space, uint64_t rank)
{
	const uint32_t block = descend(self, space, &rank);
	uint32_t slot = block << self->block_shift;

	for (;; slot++) {
		if (sws_workbench__owner(self, slot) != space || !sws_workbench__is_out(self, slot))
			continue;
		if (rank-- == 0)
			return slot;
	}
}

static int broken(const char **reason, const char *sentence)
{
	*reason = sentence;
	return SWS_ERROR_BROKEN;
}

/* Counts the pages of an address space, and compares the tree's prefix sums with it. */
static uint64_t recount(const struct workbench_pages *self, uint32_t space, bool *agrees)
{
	uint64_t found = 0;

	*agrees = true;
	for (uint32_t block = 0; block < self->blocks; block++) {
		const uint64_t end = ((uint64_t)block + 1) << self->block_shift;
		uint64_t prefix = 0;

		for (uint64_t slot = (uint64_t)block << self->block_shift;
		     slot < end && slot < self->slots; slot++)
			found += sws_workbench__is_out(self, (uint32_t)slot) &&
				 sws_workbench__owner(self, (uint32_t)slot) == space;
		if (!self->indexed)
			continue;
		for (uint32_t entry = block + 1; entry; entry -= entry & -entry)
			prefix += tree_of(self, space)[entry];
		*agrees &= prefix == found;
	}
	return found;
}

int sws_workbench__pages_verify(const struct workbench_pages *self, const char **reason)
{
	uint64_t out = 0;

	for (uint32_t space = 0; space < self->spaces; space++) {
		bool agrees = false;
		const uint64_t found = recount(self, space, &agrees);

		if (found != self->counts[space])
			return broken(reason,
				      "an address space's pages are not those of its slots");
		if (!agrees)
			return broken(reason,
				      "the tree of an address space does not count its pages");
		out += found;
	}
	return out == self->out
		       ? SWS_OK
		       : broken(reason,
				"the number of pages out is not the sum over the address spaces");
}
