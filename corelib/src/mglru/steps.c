/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mglru/steps.c - the loop of try_to_shrink_lruvec, compared turn by turn. */
#include "swapsim/mglru.h"

/* The answers of should_abort_scan. */
enum { GOES_ON = 0, STOPS = 1, NOT_ASKED = 2 };

/* No kernel has pages of a higher order; a shift by 64 is undefined. */
enum { ORDER_MAX = 31 };

/* A call between two of its turns. */
struct loop {
	/* Pages that are left to scan, at least and at most; 0 when the loop has ended. */
	uint64_t low;
	uint64_t high;
	/* Pages scanned so far. */
	uint64_t scanned;
	/* A new generation was asked for. */
	bool aged;
	/* The scan size is not modelled. */
	bool unknown;
	/* The loop has ended by the rules. */
	bool ended;
};

static void read_sizes(const struct sws_mglru_size_rows *rows, uint64_t row,
		       struct sws_mglru_sizes *sizes)
{
	sizes->max_seq = rows->max_seq[row];
	for (int type = 0; type < 2; type++) {
		sizes->min_seq[type] = rows->min_seq[type][row];
		for (int gen = 0; gen < SWS_MGLRU_GENS_MAX; gen++)
			sizes->pages[type][gen] = rows->pages[type * SWS_MGLRU_GENS_MAX + gen][row];
	}
}

/* Adds the scan size that follows from one state to the range. */
static void widen(uint64_t size, bool first, struct loop *loop)
{
	loop->low = first || size < loop->low ? size : loop->low;
	loop->high = first || size > loop->high ? size : loop->high;
}

/* Whether reclaim may stop by what it has freed: should_abort_scan but for kswapd's watermarks. */
static bool freed_enough(const struct sws_mglru_rules *rules,
			 const struct sws_mglru_step_rows *rows, uint64_t row)
{
	const uint64_t gap = UINT64_C(2) << rows->order[row];
	const uint64_t wanted = rows->wanted[row] > gap ? rows->wanted[row] : gap;

	return (rows->root[row] != 0 || rules->aborts_cgroups) && rows->freed[row] >= wanted;
}

/* Whether the kernel's answer, after a scan, is one that the rules can give. */
static bool answers(const struct sws_mglru_rules *rules, const struct sws_mglru_step_rows *rows,
		    uint64_t row)
{
	if (rows->stop[row] == NOT_ASKED)
		return false;
	if (freed_enough(rules, rows, row))
		return rows->stop[row] == STOPS;
	return rows->stop[row] == GOES_ON || rows->root[row] != 0 || rules->aborts_cgroups;
}

static uint8_t ranked(bool equal, bool unsure)
{
	if (unsure)
		return SWS_MGLRU_AMBIGUOUS;
	return equal ? SWS_MGLRU_EQUAL : SWS_MGLRU_DIFFERS;
}

static uint64_t batch_of(uint64_t size)
{
	return size < SWS_MGLRU_BATCH ? size : SWS_MGLRU_BATCH;
}

/* The turn of a kernel that computes the size once: what it scans, and whether the loop goes on. */
static uint8_t compare_batch(const struct sws_mglru_rules *rules,
			     const struct sws_mglru_step_rows *rows, uint64_t row,
			     struct loop *loop)
{
	const uint64_t batch = rows->evicted[row] != 0 ? rows->batch[row] : 0;
	const uint64_t low = batch_of(loop->low);
	const uint64_t high = batch_of(loop->high);
	const uint64_t scanned = rows->scanned[row];
	bool equal = batch >= low && batch <= high;

	if (batch != 0 && scanned != 0)
		equal &= answers(rules, rows, row);
	/* A batch below the most is all that is left. */
	if (batch != 0 && batch < SWS_MGLRU_BATCH)
		loop->low = loop->high = batch;
	else if (batch != 0 && loop->low < batch)
		loop->low = batch;
	loop->ended =
		scanned == 0 || rows->stop[row] == STOPS || (rows->root[row] != 0 && loop->aged);
	loop->low = loop->low > scanned ? loop->low - scanned : 0;
	loop->high = loop->high > scanned ? loop->high - scanned : 0;
	return ranked(equal, equal && low != high);
}

/* The turn of a kernel that computes the size each time, and asks whether to stop below it. */
static uint8_t compare_scan(const struct sws_mglru_rules *rules,
			    const struct sws_mglru_step_rows *rows, uint64_t row, struct loop *loop)
{
	const bool evicted = rows->evicted[row] != 0;
	const bool asked = rows->stop[row] != NOT_ASKED;
	bool unsure = (loop->low == 0) != (loop->high == 0);
	bool equal = unsure || evicted == (loop->high != 0);

	loop->scanned += rows->scanned[row];
	if (evicted && rows->scanned[row] != 0) {
		const bool goes_on = loop->scanned < loop->high;

		unsure |= goes_on != (loop->scanned < loop->low);
		equal &= (unsure || asked == goes_on) && (!asked || answers(rules, rows, row));
	} else {
		equal &= !asked;
	}
	loop->ended = !asked || rows->stop[row] == STOPS;
	return ranked(equal, equal && unsure);
}

static void step_row(const struct sws_mglru_rules *rules, const struct sws_mglru_step_rows *rows,
		     uint64_t row, struct loop *loop, struct sws_mglru_stepped *stepped)
{
	const struct sws_mglru_size_rows *const states[2] = { &rows->before, &rows->acts };
	const int32_t swappiness = rows->swappiness[row];
	const bool begins = row == 0 || rows->call[row] != rows->call[row - 1];
	const bool online = rows->online[row] != 0;
	const bool acted = rows->aged[row] != 0 || rows->evicted[row] != 0;
	bool ages[2];

	if (begins)
		*loop = (struct loop){ .unknown = rows->shielded[row] != 0 };
	for (int at = 0; at < 2; at++) {
		struct sws_mglru_sizes sizes;
		uint64_t size = 0;

		read_sizes(states[at], row, &sizes);
		size = sws_mglru_scan_size(rules, &sizes, swappiness, rows->priority[row], online);
		ages[at] = sws_mglru_ages(rules, &sizes, swappiness, rows->priority[row]);
		if (!rules->sizes_once) {
			ages[at] &= online || size == 0;
			/* A new generation ends the loop. */
			size = ages[at] ? 0 : size;
		}
		if (begins || !rules->sizes_once)
			widen(size, at == 0, loop);
	}
	*stepped =
		(struct sws_mglru_stepped){ .ages = ages[0], .low = loop->low, .high = loop->high };
	if (loop->unknown)
		return;
	if (loop->ended || (loop->high == 0 && rules->sizes_once)) {
		stepped->size_equal = ranked(!acted, false);
		return;
	}
	/* Where nothing was done though it could have been, the size is what differs. */
	if (acted || !rules->sizes_once)
		stepped->age_equal = ranked(ages[0] == (rows->aged[row] != 0), ages[0] != ages[1]);
	loop->aged |= rows->aged[row] != 0;
	stepped->size_equal = rules->sizes_once ? compare_batch(rules, rows, row, loop)
						: compare_scan(rules, rows, row, loop);
}

static bool possible(const struct sws_mglru_step_rows *rows, uint64_t row)
{
	const struct sws_mglru_size_rows *const states[2] = { &rows->before, &rows->acts };
	bool found = rows->swappiness[row] >= 0 && rows->swappiness[row] <= SWS_MGLRU_ANON_ONLY &&
		     rows->priority[row] <= SWS_MGLRU_PRIORITY_MAX && rows->order[row] <= ORDER_MAX;

	for (int at = 0; at < 2; at++)
		for (int type = 0; type < 2; type++) {
			const uint64_t left =
				states[at]->max_seq[row] - states[at]->min_seq[type][row] + 1;

			found &= left >= SWS_MGLRU_GENS_MIN && left <= SWS_MGLRU_GENS_MAX;
		}
	return found;
}

int sws_mglru_steps(const struct sws_mglru_rules *rules, uint64_t n,
		    const struct sws_mglru_step_rows *rows, struct sws_mglru_stepped *stepped,
		    uint64_t *row)
{
	struct loop loop = { 0 };

	for (*row = 0; *row < n; (*row)++) {
		if (!possible(rows, *row))
			return SWS_ERROR_BAD_ARGUMENT;
		step_row(rules, rows, *row, &loop, &stepped[*row]);
	}
	return SWS_OK;
}
