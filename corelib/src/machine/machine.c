/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine/machine.c - creation and run of a machine. */
#include "machine/build.h"

int sws_machine_new(const struct sws_machine_config *config, struct sws_machine **out)
{
	struct sws_machine *self = NULL;
	const char *reason = NULL;
	uint32_t row = 0;
	int error = SWS_OK;

	*out = NULL;
	if (!sws_machine__config_fits(config))
		return SWS_ERROR_BAD_CONFIG;
	error = sws_machine_check_requests(config, &row, &reason);
	if (error)
		return error;
	self = sws_create(config->allocator, sizeof(*self));
	if (!self)
		return SWS_ERROR_NO_MEMORY;
	self->config = *config;
	error = sws_machine__assemble(self);
	if (error)
		sws_machine_free(self);
	else
		*out = self;
	return error;
}

void sws_machine_free(struct sws_machine *self)
{
	if (!self)
		return;
	for (uint32_t n = 0; n < self->n_actors && self->cpus; n++) {
		sws_removal_free(self->cpus[n].aside.removal);
		sws_release(&self->allocator, self->cpus[n].aside.pages);
	}
	for (uint32_t n = 0; n < self->config.devices && self->devices; n++) {
		sws_slots_free(self->devices[n].slots);
		sws_mappings_free(self->devices[n].mappings);
		sws_release(&self->allocator, self->devices[n].last_in_trunk);
		sws_release(&self->allocator, self->devices[n].line_holds);
		sws_release(&self->allocator, self->devices[n].channels);
		sws_release(&self->allocator, self->devices[n].requests);
	}
	for (uint32_t n = 0; n < self->config.nodes && self->nodes; n++)
		sws_release(&self->allocator, self->nodes[n].free_pages);
	sws_des_free(self->engine.des);
	sws_release(&self->allocator, self->nodes);
	sws_release(&self->allocator, self->devices);
	sws_release(&self->allocator, self->actors);
	sws_release(&self->allocator, self->slot_cpus);
	sws_release(&self->allocator, self->cpus);
	sws_release(&self->allocator, self->pages);
	sws_release(&self->allocator, self->pte_values);
	sws_release(&self->allocator, self->pte_states);
	sws_destroy(self);
}

/* A call returns after so many tests of slots and bases, as scans and policies may test many. */
enum { LOOKS_OF_A_CALL = 1 << 22 };

/*
 * The end of a run. One loop serves both kinds of runs: the goal that the caller does not use is
 * unreachable. The goals are tested between two events, so the last event is the first one at or
 * after until_ns, however a run is split into calls.
 */
struct goal {
	uint64_t until_ns;
	uint64_t requests;
	uint32_t longest;
	enum sws_machine_life life;
};

static bool is_reached(const struct sws_machine *self, const struct goal *goal)
{
	return machine_now(self) >= goal->until_ns || self->requests_done >= goal->requests ||
	       self->longest_ended >= goal->longest || self->life >= goal->life;
}

static int run(struct sws_machine *self, const struct goal *goal, uint64_t max_events, bool *more,
	       uint64_t *events)
{
	const uint64_t looks = self->looks + LOOKS_OF_A_CALL;
	uint32_t cpu = 0;
	int error = SWS_OK;

	*more = true;
	for (; max_events && self->looks < looks && !error; max_events--, ++*events) {
		if (self->fill.phase != PHASE_RUN) {
			error = sws_machine__fill(self);
			continue;
		}
		if (is_reached(self, goal) || !sws_des_next(self->engine.des, &cpu)) {
			*more = false;
			return SWS_OK;
		}
		self->events++;
		error = sws_engine__resume(&self->actors[cpu].thread);
	}
	return error;
}

int sws_machine_run(struct sws_machine *self, uint64_t until_ns, uint64_t max_events, bool *more,
		    uint64_t *events)
{
	const struct goal goal = { until_ns, UINT64_MAX, UINT32_MAX, SWS_LIVES };

	return run(self, &goal, max_events, more, events);
}

int sws_machine_run_streams(struct sws_machine *self, uint64_t requests, uint32_t longest,
			    uint64_t max_events, bool *more, uint64_t *events)
{
	const struct goal goal = { UINT64_MAX, requests, longest, SWS_LIVES };

	return run(self, &goal, max_events, more, events);
}

int sws_machine_run_life(struct sws_machine *self, enum sws_machine_life until, uint64_t max_events,
			 bool *more, uint64_t *events)
{
	const struct goal goal = { UINT64_MAX, UINT64_MAX, UINT32_MAX, until };

	return run(self, &goal, max_events, more, events);
}
