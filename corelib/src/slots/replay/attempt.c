/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots/replay/attempt.c - the attempts to explain a hold of si->lock. Each attempt assumes a start
 * of the hold; one that does not fit is undone. They are made in this order until one fits:
 *
 *      as it stands         the scan on the current map, with each possible ration
 *      switches             (one CPU) as the next two, but only by paths that task switches explain
 *      theirs               the scan stopped at the first slot of the rows
 *      conflict             it stopped in a cluster that became free in the meantime, and the
 *                           first slot of the list's head was taken instead
 *
 * The order decides the verdict: a hold that fits as it stands, or by switches, is exact, so a
 * concurrent change is the last explanation. Conflict is last because of its cost: its rows do not
 * contain the scan's position, so every slot that the scan can have reached in a listed cluster,
 * except the head, has to be tried.
 */
#include "slots/replay/parts.h"

#include <string.h>

/*
 * Returns true if the call can store this base. A base that no row has contained so far may be in
 * any trunk.
 *
 * The kernel's random base differs from ours, so only its range can be checked. With lowest 100,
 * highest 65535, trunks of 16384, and a call from base 16383 to next 16384, the bases 100, 16384,
 * 32768 and 49152 fit. From base 16384 to next 16385 only 16385 fits.
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

/*
 * Runs the hold from the given state of the call; the device is in the state of the attempt
 * afterwards.
 */
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

/* Runs the hold as if no change had come in between. */
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

/* The attempts for a scan that stopped at a slot. */
struct arrival {
	struct replay_search *search;
	const struct replay_reach *reach;
	struct replay_ration had;
	bool switches; /* True if only paths that task switches explain are accepted. */
};

enum { ENOUGH = 1 };

/* Runs an attempt for one path of the scan to a slot. */
static int attempt_path(void *context, const struct replay_path *path)
{
	const struct arrival *arrival = context;
	struct replay_search *search = arrival->search;
	struct sws_slot_replay *self = search->replay;
	const struct replay_ration left = sws_slot_replay__spent(arrival->had, path);
	struct sws_slots_call from = replay_with_ration(search->call, left);
	bool *tried = &search->tried[path->offset < left.scan_base][left.scanned_many][left.left];
	int error = SWS_OK;

	if (++search->paths > REPLAY_PATIENCE)
		return ENOUGH;
	if (*tried)
		return SWS_OK;
	undo(search);
	if (arrival->switches &&
	    !sws_slot_replay__switched(self, arrival->reach, path, arrival->had.left))
		return SWS_OK;
	*tried = true;
	from.offset = path->offset;
	from.state = SWS_CALL_CHECK;
	error = attempt(search, &from, !arrival->switches);
	return !error && search->fit == FITS_ALL ? ENOUGH : error;
}

/* Runs the attempts for a scan that stopped at a slot. */
static int attempt_found(struct replay_search *search, const struct replay_reach *reach,
			 uint32_t offset, bool switches)
{
	struct arrival arrival = { .search = search, .reach = reach, .switches = switches };
	const struct replay_visitor visitor = { .visit = attempt_path, .context = &arrival };
	int result = SWS_OK;

	for (uint32_t i = 0; !result && i < search->call->n_rations; i++) {
		arrival.had = search->call->rations[i];
		result = sws_slot_replay__each_path(search->replay, reach, arrival.had.scan_base,
						    offset, &visitor);
	}
	return result == ENOUGH ? SWS_OK : result;
}

/*
 * Runs the attempts for a scan whose slot was in a free cluster from the middle of the list, so
 * that the next slot of this CPU's cluster was taken instead.
 */
static int attempt_conflict(struct replay_search *search, const struct replay_reach *reach,
			    bool switches)
{
	struct sws_slot_replay *self = search->replay;
	const uint32_t reached =
		reach->first_lap > reach->second_lap ? reach->first_lap : reach->second_lap;
	int error = SWS_OK;

	undo(search);
	/* The head is never in conflict, so another cluster has to follow it. */
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
			if (error || search->fit == FITS_ALL || search->paths > REPLAY_PATIENCE)
				return error;
		}
	}
	return SWS_OK;
}

/* Runs the attempts for the possible results of a window. */
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
