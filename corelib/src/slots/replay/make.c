/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slots/replay/make.c - creation, inspection and verification of a replay. */
#include "slots/replay/parts.h"

void sws_slot_replay_config_init(struct sws_slot_replay_config *config)
{
	sws_slots_config_init(&config->device);
	config->cpus = 1;
}

static bool config_fits(const struct sws_slot_replay_config *config)
{
	const struct sws_slots_config *device = &config->device;

	return sws_slot_replay_knows(device->kernel) && sws_slot_replay_follows(device->policy) &&
	       !device->rotational && config->cpus >= 1 && config->cpus <= device->possible_cpus;
}

int sws_slot_replay_new(const struct sws_slot_replay_config *config, struct sws_slot_replay **out)
{
	struct sws_slot_replay *self = NULL;
	int error = SWS_OK;

	*out = NULL;
	if (!config_fits(config))
		return SWS_ERROR_BAD_CONFIG;
	self = sws_create(config->device.allocator, sizeof(*self));
	if (!self)
		return SWS_ERROR_NO_MEMORY;
	sws_slot_replay__start_calls(self);
	self->cpus = config->cpus;
	self->slots = config->device.slots;
	self->cluster_size = config->device.cluster_size;
	self->possible_cpus = config->device.possible_cpus;
	self->rerandomises = config->device.policy == SWS_BASE_PERCPU_RERANDOMISE;
	error = sws_slots_new(&config->device, &self->device);
	if (error)
		goto out;
	error = sws_index_map__init(&self->tasks, &self->allocator);
	if (error)
		goto out;
	self->base_known = sws_allocate_zeroed(&self->allocator, sws_slots_bases(self->device),
					       sizeof(*self->base_known));
	self->before = sws_allocate_zeroed(&self->allocator, sws_slots__clusters(self->device),
					   sizeof(*self->before));
	if (!self->base_known || !self->before) {
		error = SWS_ERROR_NO_MEMORY;
		goto out;
	}
	sws_slots__link_back(self->device, self->before);
	*out = self;
	self = NULL;
out:
	sws_slot_replay_free(self);
	return error;
}

void sws_slot_replay_free(struct sws_slot_replay *self)
{
	if (!self)
		return;
	sws_slots_free(self->device);
	sws_index_map__clear(&self->tasks);
	sws_release(&self->allocator, self->base_known);
	sws_release(&self->allocator, self->before);
	sws_release(&self->allocator, self->calls);
	sws_release(&self->allocator, self->log.changes);
	sws_release(&self->allocator, self->log.sorted);
	sws_destroy(self);
}

uint32_t sws_slot_replay_problem(const struct sws_slot_replay *self, uint64_t *seq)
{
	*seq = self->problem_seq;
	return self->problem;
}

bool sws_slot_replay_first_mismatch(const struct sws_slot_replay *self,
				    struct sws_slot_replay_mismatch *out)
{
	if (self->mismatched)
		*out = self->first;
	return self->mismatched;
}

uint64_t sws_slot_replay_open(const struct sws_slot_replay *self)
{
	return self->tasks.count;
}

int sws_slot_replay_verify(const struct sws_slot_replay *self, const char **reason)
{
	uint64_t open = 0;
	uint64_t windows = 0;

	for (uint32_t room = 0; room < self->rooms; room++) {
		const struct replay_call *call = &self->calls[room];

		if (!call->open)
			continue;
		open++;
		windows += call->window;
		if (sws_slot_replay__find_call(self, call->pid) != call) {
			*reason = "an open call is not found by its task";
			return SWS_ERROR_BROKEN;
		}
		if (call->window && call->since_change > self->log.n) {
			*reason = "a window begins after the end of the log";
			return SWS_ERROR_BROKEN;
		}
		if (call->window && call->diverged) {
			*reason = "a call that follows the trace has a window";
			return SWS_ERROR_BROKEN;
		}
	}
	if (open != self->tasks.count || windows != self->windows) {
		*reason = "the counts of open calls and windows are not their numbers";
		return SWS_ERROR_BROKEN;
	}
	if (!sws_slots__is_linked_back(self->device, self->before)) {
		*reason = "the backward links do not match the free list";
		return SWS_ERROR_BROKEN;
	}
	return sws_slots_verify(self->device, reason);
}
