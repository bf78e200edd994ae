/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reclaim/bits.h - a bitmap for the pages of a file and for the slots. */
#ifndef SWAPSIM_RECLAIM_BITS_H
#define SWAPSIM_RECLAIM_BITS_H

#include <stdint.h>

static inline void set_bit(uint64_t *bits, uint32_t index)
{
	bits[index / 64] |= UINT64_C(1) << index % 64;
}

static inline void clear_bit(uint64_t *bits, uint32_t index)
{
	bits[index / 64] &= ~(UINT64_C(1) << index % 64);
}

/* Returns the first of n bits that is set at or after an index; n if no bit is set. */
static inline uint32_t next_bit(const uint64_t *bits, uint32_t n, uint32_t index)
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
