/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clusters/what_if/serve.c - slots for requests. A run that the trace refused serves the next
 * single slots of its CPU, before the caches (caches.h).
 */
#include "clusters/what_if/parts.h"

/* Takes a slot of a run that the trace refused. */
static bool take_surplus(struct surplus *surplus, struct run *run)
{
	struct run *last = NULL;

	if (!surplus->n)
		return false;
	last = &surplus->runs[surplus->n - 1];
	*run = (struct run){ .device = last->device, .slot = last->slot++, .n = 1 };
	surplus->n -= !--last->n;
	return true;
}

/* Obtains a single slot; returns false if there is none. */
bool sws_cluster_what_if__single(struct sws_cluster_what_if *self, const struct request *request,
				 struct run *run)
{
	return take_surplus(&self->surplus[request->cpu], run) ||
	       sws_cluster_caches__single(&self->caches, request->cpu, request->owner, run);
}

/* Runs one call; returns the number of runs. */
static uint32_t allocate(struct sws_cluster_what_if *self, const struct request *request,
			 uint32_t wanted, struct run *runs)
{
	return sws_cluster_caches__allocate(&self->caches, request->cpu, request->owner,
					    request->order, wanted, runs);
}

/*
 * Obtains the runs of a request. Several single slots are one call under rules with slot cache,
 * because the trace's kernel filled its cache so; else one call each.
 */
void sws_cluster_what_if__request(struct sws_cluster_what_if *self, struct request *request,
				  uint32_t wanted)
{
	const bool batch = self->clusters->rules.slot_cache && !self->caches.serve;
	struct run *runs = request->runs;
	uint32_t n = 0;

	if (request->order) {
		n = allocate(self, request, wanted, runs);
	} else {
		while (n < wanted && take_surplus(&self->surplus[request->cpu], &runs[n]))
			n++;
		if (batch && n < wanted)
			n += allocate(self, request, wanted - n, &runs[n]);
		while (!batch && n < wanted && sws_cluster_what_if__single(self, request, &runs[n]))
			n++;
	}
	request->n_runs = n;
}

/* Keeps a run that the trace refused, for the next single slots of this CPU. */
void sws_cluster_what_if__keep(struct sws_cluster_what_if *self, uint32_t cpu,
			       const struct run *run)
{
	struct surplus *surplus = &self->surplus[cpu];

	if (run->n == 1 || surplus->n == WHAT_IF_SURPLUS) {
		sws_cluster_caches__free(&self->caches, run);
		return;
	}
	self->totals.surplus++;
	surplus->runs[surplus->n++] = *run;
}

/* Frees slots. */
void sws_cluster_what_if__return(struct sws_cluster_what_if *self, uint32_t cpu,
				 const struct run *run)
{
	self->totals.freed += run->n;
	sws_cluster_caches__return(&self->caches, cpu, run);
}
