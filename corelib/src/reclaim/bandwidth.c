/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vm/bandwidth.c - samples of a fifth of a second, each of its own weight in three seconds. */
#include "reclaim/bandwidth.h"

static const uint64_t SECOND_NS = 1000000000;

void sws_reclaim__measure(struct sws_reclaim *vm, uint32_t pages)
{
	struct bandwidth *bandwidth = &vm->bandwidth;
	const uint64_t elapsed = vm_now(vm) - bandwidth->since;
	const uint64_t over = 3 * SECOND_NS;

	bandwidth->pages += pages;
	if (elapsed < SECOND_NS / 5)
		return;
	/* After more than a second nothing was written for long: that tells nothing. */
	if (elapsed <= SECOND_NS)
		bandwidth->rate =
			(bandwidth->pages * SECOND_NS + bandwidth->rate * (over - elapsed)) / over;
	bandwidth->pages = 0;
	bandwidth->since = vm_now(vm);
}
