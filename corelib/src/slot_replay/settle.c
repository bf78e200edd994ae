/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slot_replay/settle.c - a hold of si->lock: ours beside theirs. Each way in which
 * the hold can have begun is an attempt; one that does not fit is taken back.
 */
#include "slot_replay/parts.h"

#include <string.h>

/* How well an attempt fits. */
enum fit {
	FITS_NOT = 0,
	FITS_SLOTS = 1, /* but the base stored */
	FITS_ALL = 2,
};

/* The settling of one hold. */
struct search {
	struct sws_slot_replay *replay;
	struct replay_call *call;
	struct replay_end end;
	struct sws_slots_call best; /* as it stood where the best attempt began */
	enum fit fit;
	bool raced;
	uint64_t ways; /* that were looked at */
	/* What a scan came with: before its base or not, having scanned many, ration left. */
	bool tried[2][2][SWS_SLOTS_RATION + 1];
};

/* Leads a call on to its end, on the map as it is; or to a slot of its own that it would reuse. */
static int run(struct sws_slot_replay *self, uint32_t cpu, struct sws_slots_call *call)
{
	int error = SWS_OK;

	while (!error && call->state < SWS_CALL_DONE && call->state != SWS_CALL_RECLAIM)
		error = sws_slots_call_next(self->device, cpu, call, &self->work);
	return error;
}

int sws_slot_replay__lead(struct sws_slot_replay *self, struct replay_call *call, uint32_t cpu)
{
	int error = SWS_OK;

	call->ours = call->call;
	sws_slot_replay__begin_trial(self, cpu);
	error = sws_slots_call_locked(self->device, cpu, &call->ours, &self->work);
	if (error)
		return error;
	if (call->ours.state == SWS_CALL_SCAN) {
		self->trial.applied = false;
		for (uint32_t i = 0; i < call->n_rations; i++)
			if (call->ours.scan_base != call->call.scan_base)
				call->rations[i].scan_base = call->ours.scan_base;
		call->call = call->ours;
		sws_slot_replay__open_window(self, call);
	} else {
		self->holder = call;
		self->hold_cpu = cpu;
	}
	return SWS_OK;
}

/* May a random draw give this base? */
static bool may_be_drawn(const struct sws_slots *device, uint32_t base)
{
	return base >= device->lowest && base <= device->highest &&
	       (base == device->lowest || base % (UINT32_C(1) << device->trunk_shift) == 0);
}

/* Is a base what the call stores? One that no row told before may be in any trunk. */
static bool base_fits(const struct sws_slot_replay *self, const struct sws_slots_call *ours,
		      uint32_t base)
{
	const struct sws_slots *device = self->device;
	const bool leaves = self->rerandomises && ours->drew;

	if (!self->base_known[self->trial.owner])
		return base == ours->next ||
		       (self->rerandomises &&
			(may_be_drawn(device, base) || device->highest <= device->lowest));
	if (leaves && device->highest > device->lowest)
		return may_be_drawn(device, base);
	return base == ours->base_after;
}

static enum fit fit_of(const struct search *search)
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

static void undo(struct sws_slot_replay *self, struct replay_call *call)
{
	if (self->trial.applied)
		sws_slot_replay__undo_trial(self, &call->ours);
}

/* Leads the hold from where the call stands; the device shows the attempt afterwards. */
static int attempt(struct search *search, const struct sws_slots_call *from, bool raced)
{
	struct sws_slot_replay *self = search->replay;
	enum fit fit = FITS_NOT;
	int error = SWS_OK;

	undo(self, search->call);
	sws_slot_replay__begin_trial(self, self->hold_cpu);
	search->call->ours = *from;
	error = run(self, self->hold_cpu, &search->call->ours);
	if (error)
		return error;
	fit = fit_of(search);
	if (fit > search->fit) {
		search->best = *from;
		search->fit = fit;
		search->raced = raced;
	}
	return SWS_OK;
}

static struct sws_slots_call with_ration(const struct replay_call *call,
					 struct replay_ration ration)
{
	struct sws_slots_call from = call->call;

	from.ration = ration.left;
	from.scanned_many = ration.scanned_many;
	from.scan_base = ration.scan_base;
	return from;
}

/* The hold as it is if nothing came in between. */
static int attempt_as_it_stands(struct search *search)
{
	const struct replay_call *call = search->call;
	int error = SWS_OK;

	for (uint32_t i = 0; !error && search->fit < FITS_ALL && i < call->n_rations; i++) {
		const struct sws_slots_call from = with_ration(call, call->rations[i]);

		error = attempt(search, &from, false);
	}
	return error;
}

struct replay_ration sws_slot_replay__spent(struct replay_ration ration,
					    const struct replay_way *way)
{
	struct sws_slots_call call = { .ration = ration.left };
	const bool ran_out = sws_slots__spend(&call, way->spent) > 0;

	return (struct replay_ration){
		.left = call.ration,
		.scanned_many = ration.scanned_many || ran_out,
		.scan_base = way->scan_base,
	};
}

void sws_slot_replay__add_ration(struct replay_call *call, struct replay_ration ration)
{
	for (uint32_t i = 0; i < call->n_rations; i++)
		if (call->rations[i].left == ration.left &&
		    call->rations[i].scanned_many == ration.scanned_many &&
		    call->rations[i].scan_base == ration.scan_base)
			return;
	if (call->n_rations < REPLAY_RATIONS)
		call->rations[call->n_rations++] = ration;
}

/* The attempts of a scan that stopped at a slot. */
struct arrival {
	struct search *search;
	const struct replay_reach *reach;
	struct replay_ration had;
	bool switches; /* only what changes of task explain */
};

enum { ENOUGH = 1 };

/* The scan came to a slot on one of its ways. */
static int attempt_way(void *context, const struct replay_way *way)
{
	const struct arrival *arrival = context;
	struct search *search = arrival->search;
	struct sws_slot_replay *self = search->replay;
	const struct replay_ration left = sws_slot_replay__spent(arrival->had, way);
	struct sws_slots_call from = with_ration(search->call, left);
	bool *tried = &search->tried[way->offset < left.scan_base][left.scanned_many][left.left];
	int error = SWS_OK;

	if (++search->ways > REPLAY_PATIENCE)
		return ENOUGH;
	if (*tried)
		return SWS_OK;
	undo(self, search->call);
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
static int attempt_found(struct search *search, const struct replay_reach *reach, uint32_t offset,
			 bool switches)
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
static int attempt_conflict(struct search *search, const struct replay_reach *reach, bool switches)
{
	struct sws_slot_replay *self = search->replay;
	const struct sws_slots *device = self->device;
	int error = SWS_OK;

	undo(self, search->call);
	if (device->n_free_clusters < 2)
		return SWS_OK;
	memset(search->tried, 0, sizeof(search->tried));
	for (uint32_t index = 0; index < device->n_clusters; index++) {
		const uint32_t first = index * device->cluster_size;

		undo(self, search->call);
		if (!device->clusters[index].free || index == device->free_head)
			continue;
		for (uint32_t i = 0; i < device->cluster_size; i++) {
			error = attempt_found(search, reach, first + i, switches);
			if (error || search->fit == FITS_ALL || search->ways > REPLAY_PATIENCE)
				return error;
		}
	}
	return SWS_OK;
}

/* What a window may have led to. */
static int attempt_window(struct search *search, bool switches)
{
	struct sws_slot_replay *self = search->replay;
	struct replay_call *call = search->call;
	struct sws_slots_call from = call->call;
	struct replay_reach reach;
	int error = SWS_OK;

	undo(self, call);
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

/* Finds the attempt that fits best; ours stays the one without a race if none does. */
static int find_attempt(struct search *search)
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
		search->best = with_ration(call, call->rations[0]);
	return attempt(search, &search->best, search->raced);
}

/* Writes a hold's slots to the log, with lowest and highest as each left them. */
static int log_slots(struct sws_slot_replay *self, const struct replay_call *call)
{
	struct replay_change change = {
		.lowest = self->trial.device.lowest,
		.highest = self->trial.device.highest,
		.credit = self->device->credit,
	};
	int error = SWS_OK;

	for (uint32_t i = 0; !error && i < call->account.n_theirs; i++) {
		change.offset = call->account.theirs[i];
		change.lowest += change.offset == change.lowest;
		change.highest -= change.offset == change.highest;
		if (i + 1 == call->account.n_theirs) {
			change.lowest = self->device->lowest;
			change.highest = self->device->highest;
		}
		error = sws_slot_replay__log(self, &change);
	}
	return error;
}

/* Where ours and theirs are the same, the first of them raced or not. */
static void count_slots(struct replay_call *call, bool raced)
{
	struct sws_slot_replay_call *verdict = &call->account.call;

	for (uint32_t i = 0; i < call->account.n_theirs && i < call->ours.given; i++) {
		if (call->account.theirs[i] != call->ours.slots[i])
			continue;
		if (raced && !i)
			verdict->raced++;
		else
			verdict->exact++;
	}
}

static void keep_ours(struct replay_call *call)
{
	call->account.n_ours = call->ours.given;
	memcpy(call->account.ours, call->ours.slots, sizeof(call->account.ours));
	call->account.next = call->ours.state == SWS_CALL_DONE ? call->ours.base_after : 0;
	call->account.ration = call->call.ration;
}

int sws_slot_replay__force(struct sws_slot_replay *self, struct replay_call *call, uint32_t cpu,
			   uint32_t from)
{
	int error = SWS_OK;

	for (uint32_t i = from; !error && i < call->account.n_theirs; i++) {
		struct replay_change change;

		if (self->device->map[call->account.theirs[i]])
			return sws_slot_replay__refuse(self, SWS_SLOT_REPLAY_TWICE, call->seqs[i]);
		sws_slot_replay__take(self, cpu, call->account.theirs[i]);
		change = sws_slot_replay__now(self, call->account.theirs[i]);
		error = sws_slot_replay__log(self, &change);
	}
	return error;
}

int sws_slot_replay__cut(struct sws_slot_replay *self)
{
	struct replay_call *call = self->holder;
	int error = SWS_OK;

	self->holder = NULL;
	if (!self->trial.applied) {
		sws_slot_replay__begin_trial(self, self->hold_cpu);
		call->ours = with_ration(call, call->rations[0]);
		error = run(self, self->hold_cpu, &call->ours);
	}
	if (error)
		return error;
	keep_ours(call);
	count_slots(call, false);
	undo(self, call);
	sws_slot_replay__close_window(self, call);
	call->diverged = true;
	replay_blame(call, SWS_SLOT_REPLAY_SLOTS);
	return sws_slot_replay__force(self, call, self->hold_cpu, 0);
}

/* No slot may be handed out twice, whatever ours are. */
static int check_free(struct sws_slot_replay *self, const struct replay_call *call)
{
	const uint32_t *theirs = call->account.theirs;

	for (uint32_t i = 0; i < call->account.n_theirs; i++) {
		bool taken = self->device->map[theirs[i]];

		for (uint32_t j = 0; j < i; j++)
			taken |= theirs[j] == theirs[i];
		if (taken)
			return sws_slot_replay__refuse(self, SWS_SLOT_REPLAY_TWICE, call->seqs[i]);
	}
	return SWS_OK;
}

static int accept(struct search *search)
{
	struct sws_slot_replay *self = search->replay;
	struct replay_call *call = search->call;

	if (search->fit == FITS_SLOTS)
		replay_blame(call, SWS_SLOT_REPLAY_BASE_AFTER);
	keep_ours(call);
	count_slots(call, search->raced);
	for (uint32_t i = 0; i < call->ours.given; i++)
		sws_slot_replay__hold_slot(self, call->ours.slots[i]);
	sws_slot_replay__close_window(self, call);
	self->trial.applied = false;
	return log_slots(self, call);
}

int sws_slot_replay__settle(struct sws_slot_replay *self, struct replay_end end)
{
	struct replay_call *call = self->holder;
	struct search search = { .replay = self, .call = call, .end = end };
	int error = SWS_OK;

	if (self->trial.applied && fit_of(&search) == FITS_ALL) {
		search.fit = FITS_ALL;
	} else {
		undo(self, call);
		error = check_free(self, call);
		if (!error)
			error = find_attempt(&search);
	}
	if (error)
		return error;
	if (search.fit == FITS_NOT)
		return sws_slot_replay__cut(self);
	self->holder = NULL;
	return accept(&search);
}
