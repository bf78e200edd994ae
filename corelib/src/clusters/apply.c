/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clusters/apply.c - the beginning of a call, and the effects of its points. */
#include "clusters/state.h"

int sws_clusters_call_begin(struct sws_clusters *self, uint32_t cpu, uint32_t order,
			    uint32_t wanted, struct sws_clusters_call *call)
{
	const uint32_t n = UINT32_C(1) << (order & 31);

	if (cpu >= self->cpus || order >= SWS_CLUSTERS_ORDERS || !wanted)
		return SWS_ERROR_BAD_ARGUMENT;
	if (wanted > SWS_CLUSTERS_BATCH)
		wanted = SWS_CLUSTERS_BATCH;
	self->work.calls++;
	self->work.local_lock += self->rules.shared_next;
	if (self->rules.credit_first) {
		const int64_t most = self->available > 0 ? self->available / n : 0;

		self->work.avail_lock++;
		if (wanted > most)
			wanted = (uint32_t)most;
		self->available -= (int64_t)wanted * n;
	}
	*call = (struct sws_clusters_call){
		.point = { .op = SWS_CLUSTER_OPS },
		.cpu = cpu,
		.now_cpu = cpu,
		.wanted = wanted,
		.visiting = CLUSTERS_NONE,
		.full = CLUSTERS_NONE,
		.picked = CLUSTERS_NONE,
		.order = (uint8_t)order,
		.following = CLUSTERS_NO_DEVICE,
	};
	go(call, self->rules.turns_each_call ? FIRST_TURN : OWN_FIRST);
	if (!wanted || n > self->size)
		go(call, DONE);
	return SWS_OK;
}

int sws_clusters_worker_begin(struct sws_clusters *self, uint32_t device,
			      struct sws_clusters_call *call)
{
	if (device >= self->n_devices)
		return SWS_ERROR_BAD_ARGUMENT;
	*call = (struct sws_clusters_call){
		.point = { .op = SWS_CLUSTER_OPS },
		.visiting = CLUSTERS_NONE,
		.full = CLUSTERS_NONE,
		.picked = CLUSTERS_NONE,
		.device = (uint8_t)device,
		.worker = true,
	};
	go(call, FULL);
	return SWS_OK;
}

static void apply_turn(struct sws_clusters *self, struct sws_clusters_call *call,
		       const struct sws_clusters_point *point)
{
	call->device = point->device;
	if (call->point.op != SWS_CLUSTER_TURN || call->point.device != point->device)
		call->following = sws_clusters__following(self, point->device);
	if (self->devices[point->device].listed) {
		sws_clusters__dequeue(self, point->device);
		sws_clusters__enqueue(self, point->device);
	}
	self->work.avail_lock++;
	self->work.si_lock += !self->rules.isolates;
	go(call, FILL);
}

/*
 * Begins a visit. While si->lock is held, the first cluster of nonfull[order] or frag[order] goes
 * to the tail of frag[order] first; one of the free list, or of a larger order, stays where it is.
 */
static void apply_visit(struct sws_clusters *self, struct sws_clusters_call *call,
			const struct sws_clusters_point *point)
{
	struct device *device = &self->devices[point->device];
	const uint32_t index = cluster_of(self, device, point->slot);
	const uint32_t frag = SWS_CLUSTER_LIST_FRAG + (uint32_t)call->order;
	const bool own_order = call->list == SWS_CLUSTER_LIST_NONFULL + (uint32_t)call->order ||
			       call->list == frag;

	if (call->back == FROM_LIST) {
		if (call->most != ANY_NUMBER)
			call->most--;
		call->tried++;
		if (!self->rules.isolates && own_order)
			sws_clusters__append(self, device, index, frag);
	}
	if (!self->rules.isolates || call->back != FROM_LIST)
		self->clusters[index].held++;
	else if (call->picked != index) {
		self->clusters[index].held++;
		if (call->picked != CLUSTERS_NONE)
			self->clusters[call->picked].held--;
	}
	/* With isolates the CPU cannot change until the visit has set its next slot. */
	if (self->rules.isolates)
		call->cpu = call->now_cpu;
	call->picked = CLUSTERS_NONE;
	call->device = point->device;
	call->visiting = index;
	call->start = point->slot;
	call->offset = point->slot;
	call->next = 0;
	call->scanned = false;
	self->work.visits++;
	self->work.visits_of_others +=
		self->clusters[index].cpu && self->clusters[index].cpu != call->cpu + 1;
	self->clusters[index].cpu = (uint16_t)(call->cpu + 1);
	self->work.cluster_lock += !self->rules.isolates || call->back != FROM_LIST;
	go(call, SCAN);
}

static void apply_grant(struct sws_clusters *self, struct sws_clusters_call *call,
			const struct sws_clusters_point *point)
{
	sws_clusters__take(self, call, point);
	if (self->rules.isolates && sws_clusters__target(self, &self->devices[call->device],
							 call->visiting) == SWS_CLUSTER_LIST_NONE)
		sws_clusters__leave(self, call);
	else
		go(call, LEAVE);
}

/*
 * The lock of the cluster that the list would yield is held from now on, so that no other pick gets
 * it; it leaves the list when the trace has confirmed it (apply_picked).
 */
static void apply_pick(struct sws_clusters *self, struct sws_clusters_call *call,
		       const struct sws_clusters_point *point)
{
	const struct device *device = &self->devices[point->device];
	const uint32_t index = sws_clusters__first(self, device, point->list, true);

	if (index != CLUSTERS_NONE)
		self->clusters[index].held++;
	call->picked = index;
	call->device = point->device;
	self->work.picks++;
	self->work.si_lock++;
	go(call, call->state == FULL_PICK ? FULL_PICKED : PICKED);
}

static void apply_picked(struct sws_clusters *self, struct sws_clusters_call *call,
			 const struct sws_clusters_point *point)
{
	struct device *device = &self->devices[point->device];
	const bool full = call->state == FULL_PICKED;

	if (call->picked != CLUSTERS_NONE)
		self->clusters[call->picked].held--;
	call->picked = CLUSTERS_NONE;
	go(call, full ? FULL_DONE : STEP);
	if (!point->n)
		return;
	call->picked = cluster_of(self, device, point->slot);
	sws_clusters__unlink(self, device, call->picked);
	self->work.cluster_lock++;
	if (full) {
		call->full = call->picked;
		call->picked = CLUSTERS_NONE;
		call->left -= call->left > 0;
		self->work.reclaims++;
		go(call, FULL_MOVE);
		return;
	}
	self->clusters[call->picked].held++;
	call->back = (uint8_t)FROM_LIST;
	go(call, PICKED_VISIT);
}

/* Takes the first full cluster for reclaim, which goes to the tail at once. */
void sws_clusters__rotate_full(struct sws_clusters *self, struct sws_clusters_call *call)
{
	struct device *device = &self->devices[call->device];

	call->left -= call->left > 0;
	call->full = device->lists[SWS_CLUSTER_LIST_FULL].head;
	if (call->full == CLUSTERS_NONE)
		return;
	sws_clusters__append(self, device, call->full, SWS_CLUSTER_LIST_FULL);
	self->work.reclaims++;
}

static void apply_full(struct sws_clusters *self, struct sws_clusters_call *call,
		       const struct sws_clusters_point *point)
{
	call->device = point->device;
	call->left = point->n ? self->devices[point->device].in_use >> self->shift : 1;
	go(call, FULL_PICK);
	if (self->rules.isolates)
		return;
	sws_clusters__rotate_full(self, call);
	go(call, FULL_DONE);
}

static void apply_full_done(struct sws_clusters *self, struct sws_clusters_call *call)
{
	while (!self->rules.isolates && call->left &&
	       self->devices[call->device].lists[SWS_CLUSTER_LIST_FULL].length)
		sws_clusters__rotate_full(self, call);
	call->full = CLUSTERS_NONE;
	call->left = 0;
	self->work.si_lock += !self->rules.isolates;
	go(call, call->worker ? DONE : STEP);
}

/* Goes on after a cluster was moved, or was found to be where it belongs. */
static void after_move(struct sws_clusters *self, struct sws_clusters_call *call)
{
	if (call->state == LEAVE)
		sws_clusters__leave(self, call);
	else if (call->state == FULL_MOVE)
		go(call, call->left ? FULL_PICK : FULL_DONE);
	else
		go(call, DISCARD);
}

static void apply_move(struct sws_clusters *self, struct sws_clusters_call *call,
		       const struct sws_clusters_point *point)
{
	struct device *device = &self->devices[point->device];

	sws_clusters__append(self, device, cluster_of(self, device, point->slot), point->list);
	self->work.si_lock++;
	after_move(self, call);
}

static void apply_discard(struct sws_clusters *self, struct sws_clusters_call *call,
			  const struct sws_clusters_point *point)
{
	bool first = false;

	if (point->op == SWS_CLUSTER_DISCARD) {
		(void)sws_clusters_discard_begin(self, point->device, point->slot, &first);
		call->discarded = true;
		call->offset = point->slot;
		go(call, DISCARDED);
		return;
	}
	(void)sws_clusters_move(self, point->device, point->slot, SWS_CLUSTER_LIST_FREE);
	self->work.si_lock++;
	self->work.cluster_lock++;
	go(call, DISCARD);
}

/* Ends a call: the credit that it did not use goes back. */
static void apply_done(struct sws_clusters *self, struct sws_clusters_call *call)
{
	const uint32_t rest = call->wanted - call->granted;

	if (!call->worker && self->rules.credit_first)
		self->available += (int64_t)rest << call->order;
	if (!call->worker && rest)
		self->work.refused[call->order] += rest;
	go(call, OVER);
}

/*
 * Refuses a point: the own cluster is not visited, the visit ends without a grant, or the cluster
 * is not moved.
 */
static void refuse(struct sws_clusters *self, struct sws_clusters_call *call)
{
	if (call->point.op == SWS_CLUSTER_VISIT)
		go(call, (enum state)call->back);
	else if (call->point.op == SWS_CLUSTER_GRANT)
		go(call, LEAVE);
	else if (call->point.op == SWS_CLUSTER_MOVE)
		after_move(self, call);
}

void sws_clusters_call_apply(struct sws_clusters *self, struct sws_clusters_call *call,
			     const struct sws_clusters_point *point)
{
	if (!point) {
		refuse(self, call);
		call->point.op = SWS_CLUSTER_OPS;
		return;
	}
	switch ((enum sws_cluster_op)point->op) {
	case SWS_CLUSTER_TURN:
		apply_turn(self, call, point);
		break;
	case SWS_CLUSTER_VISIT:
		apply_visit(self, call, point);
		break;
	case SWS_CLUSTER_VISITED:
		sws_clusters__leave(self, call);
		break;
	case SWS_CLUSTER_GRANT:
		apply_grant(self, call, point);
		break;
	case SWS_CLUSTER_WINDOW:
		self->clusters[call->visiting].held--;
		self->work.si_lock += !self->rules.isolates;
		self->work.cluster_lock++;
		go(call, AFTER_WINDOW);
		break;
	case SWS_CLUSTER_PICK:
		apply_pick(self, call, point);
		break;
	case SWS_CLUSTER_PICKED:
		apply_picked(self, call, point);
		break;
	case SWS_CLUSTER_MOVE:
		apply_move(self, call, point);
		break;
	case SWS_CLUSTER_FULL:
		apply_full(self, call, point);
		break;
	case SWS_CLUSTER_FULL_DONE:
		apply_full_done(self, call);
		break;
	case SWS_CLUSTER_DISCARD:
	case SWS_CLUSTER_DISCARDED:
		apply_discard(self, call, point);
		break;
	case SWS_CLUSTER_DONE:
		apply_done(self, call);
		break;
	default:
		break;
	}
	call->point.op = SWS_CLUSTER_OPS;
}

/* Releases the cluster locks that a call holds. */
void sws_clusters__release(struct sws_clusters *self, struct sws_clusters_call *call)
{
	if (call->visiting != CLUSTERS_NONE && call->state != AFTER_WINDOW)
		self->clusters[call->visiting].held--;
	if (call->picked != CLUSTERS_NONE)
		self->clusters[call->picked].held--;
	call->visiting = CLUSTERS_NONE;
	call->picked = CLUSTERS_NONE;
}

void sws_clusters_call_abandon(struct sws_clusters *self, struct sws_clusters_call *call)
{
	sws_clusters__release(self, call);
	if (call->state != OVER)
		apply_done(self, call);
}
