/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clusters/call.c - from one point of a call to the next: the states that show nothing. */
#include "clusters/state.h"

/* Returns whether the search that runs has a result. */
static bool found(const struct sws_clusters_call *call)
{
	return call->granted > call->before;
}

/* Begins a visit of a cluster from a slot on; afterwards the call continues at back. */
static void visit(struct sws_clusters_call *call, uint32_t slot, enum state back)
{
	call->back = (uint8_t)back;
	set_point(call, SWS_CLUSTER_VISIT, slot, 0);
}

/* Visits the CPU's own cluster in a device, if it may; else continues at back. */
static void visit_own(struct sws_clusters *self, struct sws_clusters_call *call, uint32_t device,
		      enum state back)
{
	uint32_t slot = sws_clusters__own(self, call, device);
	uint32_t index = 0;

	go(call, back);
	if (!slot)
		return;
	index = cluster_of(self, &self->devices[device], slot);
	if (self->rules.checks_own) {
		if (!sws_clusters__usable(self, index, call->order)) {
			self->work.cluster_lock++;
			return;
		}
		if (!self->clusters[index].count)
			slot = slot_of(self, &self->devices[device], index);
	}
	call->device = (uint8_t)device;
	call->list = SWS_CLUSTER_LIST_NONE;
	visit(call, slot, back);
}

/* With turns_each_call this state is only that of a call that starts over after discards. */
static void own_first(struct sws_clusters *self, struct sws_clusters_call *call)
{
	const uint32_t device = sws_clusters__own_device(self, call);

	call->cpu = call->now_cpu;
	call->before = 0;
	if (self->rules.turns_each_call || device == CLUSTERS_NO_DEVICE ||
	    self->devices[device].config.rotational)
		go(call, FIRST_TURN);
	else
		visit_own(self, call, device, FIRST_TURN);
}

/*
 * Models the loop over swap_avail_head: the device after this one is remembered before this one goes
 * behind its equals. If that one is not listed any more, the loop starts over.
 */
static void turn(struct sws_clusters *self, struct sws_clusters_call *call)
{
	uint8_t device = call->following;

	if (call->granted) {
		go(call, DONE);
		return;
	}
	call->turns = call->state == FIRST_TURN ? 1 : call->turns + 1;
	if (call->state == FIRST_TURN ||
	    (device != CLUSTERS_NO_DEVICE && !self->devices[device].listed))
		device = sws_clusters__device_at(self, 0);
	/* Equal devices follow one another without end; only a user's function refuses them all. */
	if (device == CLUSTERS_NO_DEVICE || (self->choose && call->turns > self->n_devices)) {
		go(call, TURNS_OVER);
		return;
	}
	call->following = sws_clusters__following(self, device);
	call->device = device;
	call->list = 0;
	set_point(call, SWS_CLUSTER_TURN, 0, 0);
}

/*
 * Models: cluster_alloc_swap, whose loop runs one search for each run. While the call waited for
 * si->lock the device may have become full: then the next one is tried, also for a large order.
 */
static void fill(const struct sws_clusters *self, struct sws_clusters_call *call)
{
	const struct sws_clusters_device *config = &self->devices[call->device].config;
	const bool gone = !self->rules.isolates && !self->devices[call->device].listed;
	const bool refuses =
		call->order && (config->file || (config->rotational && !self->rules.global_next));

	if (gone && !call->granted) {
		go(call, TURN);
	} else if (!refuses && call->granted < call->wanted) {
		call->before = call->granted;
		go(call, SEARCH);
	} else {
		go(call, TURNS_OVER);
	}
}

static void search(struct sws_clusters *self, struct sws_clusters_call *call)
{
	call->cpu = call->now_cpu;
	call->next = 0;
	call->tried = 0;
	call->step = FREE_FIRST;
	call->asked = 0;
	call->times = 0;
	call->choice = SWS_CLUSTER_CHOICES;
	if (self->rules.turns_each_call || !self->rules.shared_next ||
	    self->devices[call->device].config.rotational)
		visit_own(self, call, call->device, OWN);
	else
		go(call, OWN);
}

static void from_list(struct sws_clusters_call *call, uint32_t list, uint32_t most)
{
	call->list = (uint8_t)list;
	call->most = (uint8_t)most;
	go(call, FROM_LIST);
}

/* Begins one of the steps after the lists: discards, and the lists of larger orders. */
static void late_step(struct sws_clusters *self, struct sws_clusters_call *call, uint32_t step)
{
	const uint32_t stolen = step - STEAL;

	if (step == DISCARDS) {
		call->discarded = false;
		if (self->rules.discards_in_device)
			go(call, DISCARD);
	} else if (!call->order) {
		const uint32_t list = stolen % 2 ? SWS_CLUSTER_LIST_NONFULL : SWS_CLUSTER_LIST_FRAG;

		from_list(call, list + 1 + stolen / 2, ANY_NUMBER);
	}
}

/* Begins the next step of a search by the rules. */
static void step(struct sws_clusters *self, struct sws_clusters_call *call)
{
	const struct sws_cluster_rules *rules = &self->rules;
	const uint32_t step = found(call) ? STEPS : call->step++;
	const bool free_first = !rules->nonfull_first || self->devices[call->device].config.discard;
	const bool free_only = rules->large_from_free_only && call->order;
	const bool partial = !free_only && (UINT32_C(1) << call->order) < self->size;

	if (step >= STEPS) {
		go(call, SEARCHED);
	} else if (step == FREE_FIRST || step == FREE_LATE) {
		if (free_first == (step == FREE_FIRST))
			from_list(call, SWS_CLUSTER_LIST_FREE, 1);
	} else if (step == FULL_EARLY || step == FULL_LATE) {
		if (!free_only && rules->full_before_frag == (step == FULL_LATE) &&
		    sws_clusters__full(self))
			go(call, FULL);
	} else if (step == NONFULL) {
		if (partial)
			from_list(call, SWS_CLUSTER_LIST_NONFULL + (uint32_t)call->order,
				  ANY_NUMBER);
	} else if (step == FRAG) {
		if (partial)
			from_list(call, SWS_CLUSTER_LIST_FRAG + (uint32_t)call->order,
				  rules->frag_all ? ANY_NUMBER : 1);
	} else {
		late_step(self, call, step);
	}
}

static void from_partial(const struct sws_clusters *self, struct sws_clusters_call *call,
			 uint32_t list)
{
	/* The lists of an order of complete clusters have none that fits. */
	if ((UINT32_C(1) << call->order) < self->size)
		from_list(call, list + call->order, 1);
}

/* Begins the step of a search that the user's function chooses: one cluster at a time. */
static void chosen_step(struct sws_clusters *self, struct sws_clusters_call *call)
{
	switch (sws_clusters__choose(self, call)) {
	case SWS_CLUSTER_CHOOSE_FREE:
		from_list(call, SWS_CLUSTER_LIST_FREE, 1);
		break;
	case SWS_CLUSTER_CHOOSE_NONFULL:
		from_partial(self, call, SWS_CLUSTER_LIST_NONFULL);
		break;
	case SWS_CLUSTER_CHOOSE_FRAG:
		from_partial(self, call, SWS_CLUSTER_LIST_FRAG);
		break;
	case SWS_CLUSTER_CHOOSE_FULL:
		go(call, FULL);
		break;
	case SWS_CLUSTER_CHOOSE_LARGER:
		call->step = DISCARDS;
		break;
	default:
		go(call, SEARCHED);
	}
}

/* Asks a list for a cluster (isolates). Models: isolate_lock_cluster. */
static void pick(const struct sws_clusters *self, struct sws_clusters_call *call)
{
	const struct device *device = &self->devices[call->device];
	const uint32_t index = sws_clusters__first(self, device, call->list, self->rules.trylock);
	const bool waits = index != CLUSTERS_NONE && self->clusters[index].held;

	set_point(call, waits ? SWS_CLUSTER_BUSY : SWS_CLUSTER_PICK,
		  waits ? slot_of(self, device, index) : 0, 0);
}

/* Visits the next cluster of a list, unless the list, its limit or the search is at an end. */
static void visit_list(struct sws_clusters *self, struct sws_clusters_call *call)
{
	const struct device *device = &self->devices[call->device];
	const struct cluster_list *list = &device->lists[call->list];
	const uint32_t first = sws_clusters__first(self, device, call->list, false);
	const bool bounded = call->step == FRAG + 1 && self->rules.frag_all;

	if (found(call) || !call->most || (bounded && call->tried >= list->length))
		go(call, STEP);
	else if (self->rules.isolates)
		pick(self, call);
	else if (first == CLUSTERS_NONE)
		go(call, STEP);
	else
		visit(call, slot_of(self, device, first), FROM_LIST);
}

static void set_picked(const struct sws_clusters *self, struct sws_clusters_call *call)
{
	const bool none = call->picked == CLUSTERS_NONE;

	set_point(call, SWS_CLUSTER_PICKED,
		  none ? 0 : slot_of(self, &self->devices[call->device], call->picked),
		  none ? 0U : 1U);
}

void sws_clusters__leave(struct sws_clusters *self, struct sws_clusters_call *call)
{
	self->clusters[call->visiting].held--;
	if (self->rules.isolates)
		sws_clusters__set_own(self, call, call->device, call->next);
	call->visiting = CLUSTERS_NONE;
	go(call, (enum state)call->back);
}

/* After the scan of a visit: the move of the cluster, or the return with si->lock held. */
static void set_leave(struct sws_clusters *self, struct sws_clusters_call *call)
{
	const struct device *device = &self->devices[call->device];
	uint32_t target = 0;

	if (!self->rules.isolates) {
		set_point(call, SWS_CLUSTER_VISITED, call->next, 0);
		return;
	}
	target = sws_clusters__target(self, device, call->visiting);
	if (target == SWS_CLUSTER_LIST_NONE) {
		sws_clusters__leave(self, call);
		return;
	}
	set_point(call, SWS_CLUSTER_MOVE, slot_of(self, device, call->visiting), 0);
	call->point.list = (uint8_t)target;
}

/* Scans the visited cluster; without a fitting range the visit is over. */
static void scan(struct sws_clusters *self, struct sws_clusters_call *call)
{
	if (call->state == AFTER_WINDOW)
		sws_clusters__relock(self, call);
	go(call, SCAN);
	if (!has_point(call))
		sws_clusters__scan(self, call);
	if (!has_point(call)) {
		call->next = 0;
		go(call, LEAVE);
	}
}

/* After reclaim of a full cluster that was isolated: back to a list, unless a free moved it. */
static void set_full_move(const struct sws_clusters *self, struct sws_clusters_call *call)
{
	const struct device *device = &self->devices[call->device];

	if (self->clusters[call->full].list != SWS_CLUSTER_LIST_NONE) {
		go(call, call->left ? FULL_PICK : FULL_DONE);
		return;
	}
	set_point(call, SWS_CLUSTER_MOVE, slot_of(self, device, call->full), 0);
	call->point.list = (uint8_t)sws_clusters__target(self, device, call->full);
}

static void turns_over(const struct sws_clusters *self, struct sws_clusters_call *call)
{
	const bool again = !call->granted && !call->order && !self->rules.discards_in_device;

	go(call, again ? DISCARD_ANY : DONE);
}

/* Runs a state within a device: a visit, a list, reclaim or discard. */
static void run_inner(struct sws_clusters *self, struct sws_clusters_call *call)
{
	switch ((enum state)call->state) {
	case FROM_LIST:
		visit_list(self, call);
		break;
	case PICKED:
	case FULL_PICKED:
		set_picked(self, call);
		break;
	case PICKED_VISIT:
		visit(call, slot_of(self, &self->devices[call->device], call->picked), FROM_LIST);
		break;
	case SCAN:
	case AFTER_WINDOW:
		scan(self, call);
		break;
	case LEAVE:
		set_leave(self, call);
		break;
	case FULL:
		set_point(call, SWS_CLUSTER_FULL, 0, call->worker);
		break;
	case FULL_PICK:
		call->list = SWS_CLUSTER_LIST_FULL;
		pick(self, call);
		break;
	case FULL_MOVE:
		set_full_move(self, call);
		break;
	case FULL_DONE:
		set_point(call, SWS_CLUSTER_FULL_DONE, 0, 0);
		break;
	case DISCARD:
		sws_clusters__next_discard(self, call);
		break;
	default:
		set_point(call, self->rules.isolates ? SWS_CLUSTER_MOVE : SWS_CLUSTER_DISCARDED,
			  call->offset, 0);
		call->point.list = SWS_CLUSTER_LIST_FREE;
	}
}

/* Runs the present state; a state that shows nothing only sets the next one. */
static void run_state(struct sws_clusters *self, struct sws_clusters_call *call)
{
	switch ((enum state)call->state) {
	case OWN_FIRST:
		own_first(self, call);
		break;
	case FIRST_TURN:
	case TURN:
		turn(self, call);
		break;
	case FILL:
		fill(self, call);
		break;
	case SEARCH:
		search(self, call);
		break;
	case OWN:
		self->work.misses += !found(call);
		go(call, found(call) ? SEARCHED : STEP);
		break;
	case STEP:
		if (self->choose && call->step < DISCARDS && !found(call))
			chosen_step(self, call);
		else
			step(self, call);
		break;
	case SEARCHED:
		if (!self->rules.isolates)
			sws_clusters__set_own(self, call, call->device, call->next);
		go(call, found(call) ? FILL : call->order ? TURNS_OVER : TURN);
		break;
	case TURNS_OVER:
		turns_over(self, call);
		break;
	case DISCARD_ANY:
		sws_clusters__discard_any(self, call);
		break;
	case DONE:
	case OVER:
		call->list = 0;
		call->device = 0;
		set_point(call, SWS_CLUSTER_DONE, 0, call->granted);
		break;
	default:
		run_inner(self, call);
	}
}

void sws_clusters_call_next(struct sws_clusters *self, struct sws_clusters_call *call)
{
	call->point.op = SWS_CLUSTER_OPS;
	while (!has_point(call))
		run_state(self, call);
}
