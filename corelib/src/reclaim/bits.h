/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vm/bits.h - a bit for each page of a file, and for each slot. */
#ifndef SWAPSIM_RECLAIM_BITS_H
#define SWAPSIM_RECLAIM_BITS_H

#include <stdint.h>

static inline void vm_set_bit(uint64_t *bits, uint32_t index)
{
	bits[index / 64] |= UINT64_C(1) << index % 64;
}

static inline void vm_clear_bit(uint64_t *bits, uint32_t index)
{
	bits[index / 64] &= ~(UINT64_C(1) << index % 64);
}

/* The first of n bits that is set, from an index on; n if none is. */
static inline uint32_t vm_next_bit(const uint64_t *bits, uint32_t n, uint32_t index)
{
	const uint32_t words = n / 64 + (n % 64 != 0);
	uint32_t word = index / 64;
	uint64_t rest = 0;

	if (index >= n)
		return n;
	rest = bits[word] & UINT64_MAX << index % 64;
	while (!rest && ++word < words)
		rest = bits[word];
	if (!rest)
		return n;
	index = word * 64 + (uint32_t)__builtin_ctzll(rest);
	return index < n ? index : n;
}

#endif
