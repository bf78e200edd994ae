/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reclaim/bandwidth.c - averages samples of a fifth of a second over about three seconds. */
#include "reclaim/bandwidth.h"

static const uint64_t SECOND_NS = 1000000000;

void sws_reclaim__measure(struct sws_reclaim *self, uint32_t pages)
{
	struct bandwidth *bandwidth = &self->bandwidth;
	const uint64_t elapsed = time_now(self) - bandwidth->since;
	const uint64_t over = 3 * SECOND_NS;

	bandwidth->pages += pages;
	if (elapsed < SECOND_NS / 5)
		return;
	/* After more than a second the file was idle; such a sample does not measure the disk. */
	if (elapsed <= SECOND_NS)
		bandwidth->rate =
			(bandwidth->pages * SECOND_NS + bandwidth->rate * (over - elapsed)) / over;
	bandwidth->pages = 0;
	bandwidth->since = time_now(self);
}
