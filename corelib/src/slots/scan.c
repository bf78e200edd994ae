/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots/scan.c - the walks of a call over the map: the quick scan under the lock, and the scan and
 * the search of an HDD without it.
 *
 *      slot   1 ... lowest ......... base ............. highest ... max
 *                   |--- 2: up to the base --|--- 1: from one past it --|
 *
 * A test takes one from the ration of 256. The test that makes it negative reschedules the CPU and
 * sets it to 256 again, so that 257 tests are between two reschedules. One computation handles a
 * complete walk:
 *
 *      10 left, 300 tests:  the 11th reschedules, 289 tests remain; the 257th of these
 *                           reschedules again, and the last 32 leave 224
 */
#include "slots/scan.h"

/* Returns 0x80 for a map byte without a reference (free, or held by the cache only), else less. */
static uint8_t unreferenced(uint8_t usage)
{
	return (uint8_t)((usage & SWS_SLOT_COUNT) - 1) & 0x80;
}

/* Returns the first slot in from .. to - 1 without a reference, or to. */
static uint32_t find_unreferenced(const uint8_t *map, uint32_t from, uint32_t to)
{
	enum { BLOCK = 64 };

	/*
	 * Complete blocks are tested without a branch, so that the compiler can vectorize the loop.
	 */
	for (; from < to && to - from >= BLOCK; from += BLOCK) {
		const uint8_t *block = map + from;
		uint8_t any = 0;

		for (unsigned int i = 0; i < BLOCK; i++)
			any |= unreferenced(block[i]);
		if (any)
			break;
	}
	while (from < to && !unreferenced(map[from]))
		from++;
	return from;
}

/* Records that slots from .. to - 1 were tested. */
static void leave_trail(struct sws_slots_call *call, uint32_t from, uint32_t to)
{
	struct sws_slots_range *last = call->n_trail ? &call->trail[call->n_trail - 1] : NULL;

	if (from >= to)
		return;
	if (last && from >= last->from && from <= last->to) {
		if (to > last->to)
			last->to = to;
	} else if (call->n_trail < SWS_SLOTS_TRAIL) {
		call->trail[call->n_trail++] = (struct sws_slots_range){ from, to };
	}
}

uint64_t sws_slots__spend(struct sws_slots_call *call, uint64_t n)
{
	const uint64_t left = (uint64_t)call->ration;

	if (n <= left) {
		call->ration -= (int32_t)n;
		return 0;
	}
	n -= left + 1;
	call->ration = SWS_SLOTS_RATION - (int32_t)(n % (SWS_SLOTS_RATION + 1));
	return 1 + n / (SWS_SLOTS_RATION + 1);
}

/*
 * Models the loop with the lock held in scan_swap_map_slots:
 *
 *      for (; offset <= scan_limit && --latency_ration > 0; offset++)
 *
 * It starts at the slot just taken, which it tests again, and it tests the base, which the scan
 * does not. In 6.1 with the free slots 20, 120 and 500, the base 15, no cluster free, and 64
 * wanted:
 *
 *      scan      tests 16 to 20            5 tests      256 -> 251
 *      20 is taken                                            250
 *      quick     tests 20 to 120         101 tests            149
 *      120 is taken                                           148
 *      quick     tests 120 to 266        147 tests, the ration is spent: done, 2 slots
 *      stored    268
 *
 * So a call may end while free slots remain. The scan of the next call starts one past its base, at
 * 269: it reaches 267, where this scan ended, in its second lap only, and never reaches 268.
 */
bool sws_slots__quick_scan(struct sws_slots *self, struct sws_slots_call *call,
			   struct sws_slots_work *work)
{
	const uint32_t from = call->offset;
	const uint64_t limit =
		(uint64_t)(from < call->scan_base ? call->scan_base : self->highest) + 1;
	const uint64_t ration = call->ration > 1 ? (uint64_t)call->ration - 1 : 0;
	const uint64_t reach = from < limit ? limit - from : 0;
	const uint32_t tested = (uint32_t)(reach < ration ? reach : ration);
	const uint32_t found = slots_find_free(self->map, from, from + tested);

	if (found < from + tested) {
		call->offset = found;
		call->ration -= (int32_t)(found - from + 1);
		work->tested_quick += found - from + 1;
		leave_trail(call, from, found + 1);
		return true;
	}
	call->offset = from + tested;
	/*
	 * Before the limit, one more is taken from the ration before the loop sees that it is
	 * spent.
	 */
	call->ration -= (int32_t)tested + (reach > tested);
	work->tested_quick += tested;
	leave_trail(call, from, from + tested);
	return false;
}

/*
 * Scans from .. to - 1. Returns true if a test ended the scan, which leaves the call at that slot.
 */
static bool scan_range(struct sws_slots *self, struct sws_slots_call *call, uint32_t from,
		       uint32_t to, struct sws_slots_work *work)
{
	const uint32_t found = sws_slots_swap_full(self) ? find_unreferenced(self->map, from, to)
							 : slots_find_free(self->map, from, to);
	const bool hit = found < to;
	const uint64_t tested = from < to ? (uint64_t)(found - from) + hit : 0;
	const uint64_t run_outs =
		sws_slots__spend(call, self->rules->spends_before_test ? tested : tested - hit);

	leave_trail(call, from, from + (uint32_t)tested);
	call->scanned_many |= run_outs > 0;
	work->rescheduled += run_outs;
	work->tested_scan += tested;
	call->offset = found;
	return hit;
}

/*
 * Scans from one past the offset to the highest slot, then from the lowest slot to below the base.
 *
 * Models the label scan of scan_swap_map_slots: while (++offset <= highest_bit), then while (offset
 * < scan_base). Neither range contains the base itself. If only slot 700 of 1023 is free, and no
 * cluster:
 *
 *      the base 10      tests 11 to 700                          690 tests, found
 *      the base 700     no slot past highest or below lowest       0 tests, exhausted
 *
 * A call from there fails although a slot is free. As it stores no base, the next call from there
 * fails too. In 4.8 the base is tested first (checks_the_base).
 */
static void scan(struct sws_slots *self, struct sws_slots_call *call, struct sws_slots_work *work)
{
	if (scan_range(self, call, call->offset + 1, self->highest + 1, work) ||
	    scan_range(self, call, self->lowest, call->scan_base, work))
		call->state = SWS_CALL_CHECK;
	else
		call->state = SWS_CALL_EXHAUSTED;
}

/*
 * Searches for the first run of a cluster's size without a slot in use, at any position: an HDD has
 * no list of free clusters. Models the loop under "Locate the first empty (unaligned) cluster".
 * With a size of 4 and lowest 1:
 *
 *      slot          1 2 3 4 5 6 7 8
 *      map           . . # . . . . .
 *      last_in_run   4 4 7 7 7 7 7          each slot in use sets it to 4 further
 *                                '-- free and last: the run is 4 to 7, after 7 tests
 *
 * Every slot is tested once; testing each start separately would test most slots 4 times.
 */
static void search(struct sws_slots *self, struct sws_slots_call *call, struct sws_slots_work *work)
{
	const uint32_t from = self->lowest;
	uint64_t last_in_run = (uint64_t)from + self->cluster_size - 1;
	uint32_t offset = from;
	uint64_t tested = 0;

	call->scan_base = from;
	call->offset = from;
	call->search_end = 0;
	for (; last_in_run <= self->highest; offset++) {
		tested++;
		if (self->map[offset]) {
			last_in_run = (uint64_t)offset + self->cluster_size;
		} else if (offset == last_in_run) {
			call->search_end = offset;
			break;
		}
	}
	leave_trail(call, from, from + (uint32_t)tested);
	work->tested_scan += tested;
	work->rescheduled += sws_slots__spend(call, tested - (call->search_end != 0));
	call->state = SWS_CALL_SEARCHED;
}

int sws_slots_call_unlocked(struct sws_slots *self, struct sws_slots_call *call,
			    struct sws_slots_work *work)
{
	if (call->state == SWS_CALL_SCAN)
		scan(self, call, work);
	else if (call->state == SWS_CALL_SEARCH)
		search(self, call, work);
	else
		return SWS_ERROR_BAD_ARGUMENT;
	return SWS_OK;
}
