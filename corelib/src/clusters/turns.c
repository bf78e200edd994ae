/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clusters/turns.c - what all devices share: the counter of free slots, the list of devices that are
 * not full, and the slots where CPUs go on.
 */
#include "clusters/parts.h"

#include <string.h>

/* Models: vm_swap_full. A trace may know better, because other CPUs change the counter (hint). */
bool sws_clusters__full(struct sws_clusters *self)
{
	const bool ours = self->available * 2 < (int64_t)self->total;

	if (self->hint < 0 || (self->hint == 1) == ours)
		return ours;
	self->hinted++;
	return self->hint == 1;
}

/* Adds a device behind the others of its priority. Models: plist_add, and half of plist_requeue. */
void sws_clusters__enqueue(struct sws_clusters *self, uint32_t device)
{
	const int32_t priority = self->devices[device].config.priority;
	uint32_t at = self->n_turn;

	while (at && self->devices[self->turn[at - 1]].config.priority < priority)
		at--;
	memmove(&self->turn[at + 1], &self->turn[at], self->n_turn - at);
	self->turn[at] = (uint8_t)device;
	self->n_turn++;
	self->devices[device].listed = true;
}

void sws_clusters__dequeue(struct sws_clusters *self, uint32_t device)
{
	uint32_t at = 0;

	if (!self->devices[device].listed)
		return;
	while (self->turn[at] != device)
		at++;
	self->n_turn--;
	memmove(&self->turn[at], &self->turn[at + 1], self->n_turn - at);
	self->devices[device].listed = false;
}

/* Returns the device at a place of turn[]; CLUSTERS_NO_DEVICE behind its end. */
uint8_t sws_clusters__device_at(const struct sws_clusters *self, uint32_t place)
{
	return place < self->n_turn ? self->turn[place] : CLUSTERS_NO_DEVICE;
}

/*
 * Returns the device that is searched after another one; CLUSTERS_NO_DEVICE for none. One that is
 * not listed is full, and would be the first of its priority.
 */
uint8_t sws_clusters__following(const struct sws_clusters *self, uint32_t device)
{
	const int32_t priority = self->devices[device].config.priority;
	uint32_t at = 0;

	while (at < self->n_turn && self->turn[at] != device &&
	       (self->devices[device].listed ||
		self->devices[self->turn[at]].config.priority > priority))
		at++;
	return sws_clusters__device_at(self, at + self->devices[device].listed);
}

static size_t cell(uint32_t owner, uint32_t order)
{
	return (size_t)owner * SWS_CLUSTERS_ORDERS + order;
}

/* Returns whose current cluster a call uses that runs on a CPU. */
static uint32_t owner_of(const struct sws_clusters *self, const struct sws_clusters_call *call,
			 uint32_t cpu)
{
	return self->rules.own_by_task ? call->owner : cpu;
}

/* Returns the device whose current cluster a call tries first; CLUSTERS_NO_DEVICE for none. */
uint8_t sws_clusters__own_device(const struct sws_clusters *self,
				 const struct sws_clusters_call *call)
{
	if (!self->rules.shared_next)
		return sws_clusters__device_at(self, 0);
	return self->own_device[cell(owner_of(self, call, call->now_cpu), call->order)];
}

/* Returns the slot where the owner of a call goes on in a device; 0 for none. */
uint32_t sws_clusters__own(const struct sws_clusters *self, const struct sws_clusters_call *call,
			   uint32_t device)
{
	return sws_clusters_next(self, owner_of(self, call, call->cpu), call->order, device);
}

uint32_t sws_clusters_next(const struct sws_clusters *self, uint32_t owner, uint32_t order,
			   uint32_t device)
{
	size_t at = 0;

	if (owner >= self->owners || order >= SWS_CLUSTERS_ORDERS || device >= self->n_devices)
		return 0;
	if (self->devices[device].config.rotational)
		return self->devices[device].next[order];
	at = cell(owner, order);
	if (!self->rules.shared_next)
		return self->own[at * self->n_devices + device];
	return self->own_device[at] == device ? self->own[at] : 0;
}

void sws_clusters__set_own(struct sws_clusters *self, const struct sws_clusters_call *call,
			   uint32_t device, uint32_t slot)
{
	const size_t at = cell(owner_of(self, call, call->cpu), call->order);

	if (self->devices[device].config.rotational) {
		self->devices[device].next[call->order] = slot;
		return;
	}
	self->own_device[at] = (uint8_t)device;
	self->own[self->rules.shared_next ? at : at * self->n_devices + device] = slot;
}
