/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slot_replay/attempt.c - a hold of si->lock: each way in which it can have begun is an
 * attempt; one that does not fit is taken back. In order, until one fits:
 *
 *      as it stands         the scan on the map of now, with each ration that it may have
 *      switches             (one CPU) as below, but only on ways that changes of task explain
 *      theirs               the scan stopped at the first slot of the rows
 *      conflict             it stopped in a cluster that became free meanwhile, and was given
 *                           the first slot of the list's head instead
 *
 * The order is the verdict: what fits as it stands, or by switches, is exact, so a race is
 * believed last. Conflict comes at the end for its cost: its rows do not say where the scan was,
 * so every slot that it can have reached in a cluster on the list, but the head's, is a place to
 * try.
 */
#include "slots/replay/parts.h"

#include <string.h>

/*
 * Is a base what the call stores? One that no row told before may be in any trunk.
 *
 * A random base is the kernel's draw, not ours: only its range can be checked. Lowest 100, highest
 * 65535, trunks of 16384, a call that goes from base 16383 to next 16384: 100, 16384, 32768 or
 * 49152 fit. From base 16384 to next 16385 only 16385 does.
 */
static bool base_fits(const struct sws_slot_replay *self, const struct sws_slots_call *ours,
		      uint32_t base)
{
	const struct sws_slots *device = self->device;
	const bool leaves = self->rerandomises && ours->drew;

	if (!self->base_known[self->trial.before.owner])
		return base == ours->next ||
		       (self->rerandomises &&
			(sws_slots__may_be_drawn(device, base) ||
			 sws_slots_highest(device) <= sws_slots_lowest(device)));
	if (leaves && sws_slots_highest(device) > sws_slots_lowest(device))
		return sws_slots__may_be_drawn(device, base);
	return base == ours->base_after;
}

enum replay_fit sws_slot_replay__fit(const struct replay_search *search)
{
	const struct replay_call *call = search->call;
	const struct sws_slots_call *ours = &call->ours;
	const uint32_t given = call->account.n_theirs;

	if (ours->state != (search->end.done ? SWS_CALL_DONE : SWS_CALL_NO_PAGE) ||
	    ours->given != given ||
	    memcmp(ours->slots, call->account.theirs, given * sizeof(*ours->slots)) != 0)
		return FITS_NOT;
	if (search->end.done && !base_fits(search->replay, ours, search->end.next))
		return FITS_SLOTS;
	return FITS_ALL;
}

static void undo(struct replay_search *search)
{
	sws_slot_replay__undo_trial(search->replay, &search->call->ours);
}

/* Leads the hold from where the call stands; the device shows the attempt afterwards. */
static int attempt(struct replay_search *search, const struct sws_slots_call *from, bool raced)
{
	struct sws_slot_replay *self = search->replay;
	enum replay_fit fit = FITS_NOT;
	int error = SWS_OK;

	undo(search);
	sws_slot_replay__begin_trial(self, self->hold_cpu);
	search->call->ours = *from;
	error = sws_slot_replay__run(self, self->hold_cpu, &search->call->ours);
	if (error)
		return error;
	fit = sws_slot_replay__fit(search);
	if (fit > search->fit) {
		search->best = *from;
		search->fit = fit;
		search->raced = raced;
	}
	return SWS_OK;
}

/* The hold as it is if nothing came in between. */
static int attempt_as_it_stands(struct replay_search *search)
{
	const struct replay_call *call = search->call;
	int error = SWS_OK;

	for (uint32_t i = 0; !error && search->fit < FITS_ALL && i < call->n_rations; i++) {
		const struct sws_slots_call from = replay_with_ration(call, call->rations[i]);

		error = attempt(search, &from, false);
	}
	return error;
}

/* The attempts of a scan that stopped at a slot. */
struct arrival {
	struct replay_search *search;
	const struct replay_reach *reach;
	struct replay_ration had;
	bool switches; /* only what changes of task explain */
};

enum { ENOUGH = 1 };

/* The scan came to a slot on one of its ways. */
static int attempt_way(void *context, const struct replay_way *way)
{
	const struct arrival *arrival = context;
	struct replay_search *search = arrival->search;
	struct sws_slot_replay *self = search->replay;
	const struct replay_ration left = sws_slot_replay__spent(arrival->had, way);
	struct sws_slots_call from = replay_with_ration(search->call, left);
	bool *tried = &search->tried[way->offset < left.scan_base][left.scanned_many][left.left];
	int error = SWS_OK;

	if (++search->ways > REPLAY_PATIENCE)
		return ENOUGH;
	if (*tried)
		return SWS_OK;
	undo(search);
	if (arrival->switches &&
	    !sws_slot_replay__switched(self, arrival->reach, way, arrival->had.left))
		return SWS_OK;
	*tried = true;
	from.offset = way->offset;
	from.state = SWS_CALL_CHECK;
	error = attempt(search, &from, !arrival->switches);
	return !error && search->fit == FITS_ALL ? ENOUGH : error;
}

/* The scan stopped at a slot. */
static int attempt_found(struct replay_search *search, const struct replay_reach *reach,
			 uint32_t offset, bool switches)
{
	struct arrival arrival = { .search = search, .reach = reach, .switches = switches };
	const struct replay_visitor visitor = { .visit = attempt_way, .context = &arrival };
	int result = SWS_OK;

	for (uint32_t i = 0; !result && i < search->call->n_rations; i++) {
		arrival.had = search->call->rations[i];
		result = sws_slot_replay__each_way(search->replay, reach, arrival.had.scan_base,
						   offset, &visitor);
	}
	return result == ENOUGH ? SWS_OK : result;
}

/* The slot found lay in a free cluster from the middle of the list: this CPU's next came instead. */
static int attempt_conflict(struct replay_search *search, const struct replay_reach *reach,
			    bool switches)
{
	struct sws_slot_replay *self = search->replay;
	const uint32_t reached =
		reach->first_lap > reach->second_lap ? reach->first_lap : reach->second_lap;
	int error = SWS_OK;

	undo(search);
	/*
	 * The head is never in conflict, so there must be one behind it.
	 */
	if (sws_slots_free_clusters(self->device) < 2)
		return SWS_OK;
	memset(search->tried, 0, sizeof(search->tried));
	for (uint32_t first = 0; first < self->slots && first <= reached;
	     first += self->cluster_size) {
		undo(search);
		if (!sws_slots__is_listed_behind(self->device, first))
			continue;
		for (uint32_t i = 0; i < self->cluster_size; i++) {
			error = attempt_found(search, reach, first + i, switches);
			if (error || search->fit == FITS_ALL || search->ways > REPLAY_PATIENCE)
				return error;
		}
	}
	return SWS_OK;
}

/* What a window may have led to. */
static int attempt_window(struct replay_search *search, bool switches)
{
	struct sws_slot_replay *self = search->replay;
	struct replay_call *call = search->call;
	struct sws_slots_call from = call->call;
	struct replay_reach reach;
	int error = SWS_OK;

	undo(search);
	sws_slot_replay__reach(self, call, &reach);
	if (!search->end.done && !call->account.n_theirs) {
		from.state = SWS_CALL_EXHAUSTED;
		return sws_slot_replay__exhausts(self, &reach, call->call.scan_base)
			       ? attempt(search, &from, true)
			       : SWS_OK;
	}
	if (!call->account.n_theirs)
		return SWS_OK;
	memset(search->tried, 0, sizeof(search->tried));
	error = attempt_found(search, &reach, call->account.theirs[0], switches);
	if (!error && search->fit < FITS_ALL)
		error = attempt_conflict(search, &reach, switches);
	return error;
}

int sws_slot_replay__find_attempt(struct replay_search *search)
{
	struct sws_slot_replay *self = search->replay;
	struct replay_call *call = search->call;
	const bool window = call->window;
	int error = SWS_OK;

	error = attempt_as_it_stands(search);
	if (!error && search->fit < FITS_ALL && window && self->cpus == 1)
		error = attempt_window(search, true);
	if (!error && search->fit < FITS_ALL && window)
		error = attempt_window(search, false);
	if (error || search->fit == FITS_ALL)
		return error;
	if (search->fit == FITS_NOT)
		search->best = replay_with_ration(call, call->rations[0]);
	return attempt(search, &search->best, search->raced);
}
