/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "swapsim/core.h"

/*
 * Two generators, each from its authors' description: splitmix64 (Steele, Lea, Flood 2014) turns
 * any seed into well-mixed words, xoshiro256** (Blackman, Vigna 2018) draws from four of them. A
 * state of only zeros would stay zero; four consecutive draws of splitmix64 are never all zero.
 */

static uint64_t splitmix64(uint64_t *state)
{
	uint64_t mixed = *state += UINT64_C(0x9e3779b97f4a7c15);

	mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
	return mixed ^ (mixed >> 31);
}

void sws_generator_seed(struct sws_generator *self, uint64_t seed, uint64_t stream)
{
	/*
	 * The stream is mixed before it is combined with the seed: seed 1, stream 2 differs from
	 * seed 2, stream 1.
	 */
	uint64_t state = seed ^ splitmix64(&stream);

	for (int word = 0; word < 4; word++)
		self->state[word] = splitmix64(&state);
}

static uint64_t rotate_left(uint64_t value, int count)
{
	return (value << count) | (value >> (64 - count));
}

uint64_t sws_generator_next(struct sws_generator *self)
{
	uint64_t *state = self->state;
	uint64_t result = rotate_left(state[1] * 5, 7) * 9;
	uint64_t shifted = state[1] << 17;

	state[2] ^= state[0];
	state[3] ^= state[1];
	state[1] ^= state[2];
	state[0] ^= state[3];
	state[2] ^= shifted;
	state[3] = rotate_left(state[3], 45);
	return result;
}

/*
 * Below 6: 2^64 = 6 * 3074457345618258602 + 4, so threshold is 4 and the draws 0 to 3 are rejected.
 * The others, 4 .. 2^64 - 1, have each remainder equally often; with all draws 0 to 3 would occur
 * once more than 4 and 5. -bound is 2^64 - bound, which has the remainder of 2^64, so that no type
 * for 2^64 is needed.
 */
uint64_t sws_generator_below(struct sws_generator *self, uint64_t bound)
{
	uint64_t threshold = 0;
	uint64_t draw = 0;

	if (bound == 0)
		return 0;
	/* The first 2^64 mod bound values would favour small results, so they are rejected. */
	threshold = -bound % bound;
	do {
		draw = sws_generator_next(self);
	} while (draw < threshold);
	return draw % bound;
}
