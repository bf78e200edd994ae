/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine/verify.c - recomputes each invariant of a machine from its parts. */
#include "machine/layout.h"

static int broken(const char **reason, const char *sentence)
{
	*reason = sentence;
	return SWS_ERROR_BROKEN;
}

static int verify_list(const struct sws_machine *self, uint32_t n, enum machine_list number,
		       const char **reason)
{
	const struct list *list = &self->nodes[n].lists[number];
	uint32_t previous = MACHINE_NONE;
	uint32_t count = 0;

	for (uint32_t i = list->first; i != MACHINE_NONE; i = self->pages[i].next, count++) {
		const struct page *page = &self->pages[i];

		/* Detects a cycle. */
		if (count > list->count)
			return broken(reason, "a list of pages is longer than its count");
		if (page->previous != previous || page->list != number || page->node != n)
			return broken(reason, "a page on a list does not refer to it");
		previous = i;
	}
	if (count != list->count || list->last != previous)
		return broken(reason, "the count of a list of pages is not its length");
	return SWS_OK;
}

/*
 * Checks that each page is in one place: free in its zone or on a CPU, on a list, in a pagevec, or
 * held by one actor. A written page that waits for its rotation is on its list, too.
 *
 *      n_free + active + inactive     of each node
 *      + free.n + added.n + in_hand   of each CPU       = frames of all nodes
 *
 * The sum alone would not detect a page that is lost while another one is in two places; the marks
 * do: used pages are counted one by one, and none may be among the free ones.
 */
static int verify_places(const struct sws_machine *self, const char **reason)
{
	uint64_t places = 0;
	uint32_t used = 0;

	for (uint32_t n = 0; n < self->config.nodes; n++) {
		const struct node *node = &self->nodes[n];

		places += node->n_free + node->lists[LIST_ACTIVE].count +
			  node->lists[LIST_INACTIVE].count;
		for (uint32_t i = 0; i < node->n_free; i++)
			if (self->pages[node->free_pages[i]].used)
				return broken(reason, "a free page is in use");
	}
	for (uint32_t i = 0; i < self->n_actors; i++) {
		const struct actor *actor = &self->actors[i];

		places += actor->cpu->free.n + actor->cpu->added.n + actor->in_hand;
		for (uint32_t k = 0; k < actor->cpu->free.n; k++)
			if (self->pages[actor->cpu->free.pages[k]].used)
				return broken(reason, "a free page of a CPU is in use");
	}
	for (uint32_t i = 0; i < self->n_pages; i++)
		used += self->pages[i].used;
	if (used != self->charged)
		return broken(reason,
			      "the number of charged pages is not that of the pages in use");
	if (places != self->n_pages)
		return broken(reason, "a page is in no place or in two places");
	return SWS_OK;
}

static int verify_ptes(const struct sws_machine *self, const char **reason)
{
	for (uint32_t i = 0; i < self->n_ptes + self->n_writer_ptes; i++) {
		const uint32_t node = sws_machine__node_of_pte(self, i);
		const struct device *device = &self->devices[self->nodes[node].device];
		const uint32_t value = self->pte_values[i];

		if (self->pte_states[i] == PTE_NONE)
			continue;
		if (self->pte_states[i] == PTE_SWAPPED) {
			if (!(sws_slots_usage(device->slots, value) & SWS_SLOT_COUNT))
				return broken(reason, "a page that is not in memory has no slot");
		} else if (self->pages[value].pte != i || !self->pages[value].used) {
			return broken(reason, "a page in memory does not refer to its address");
		}
	}
	return SWS_OK;
}

static int verify_streams(const struct sws_machine *self, const char **reason)
{
	const uint32_t end = self->n_ptes + self->config.n_requests;

	for (uint32_t i = self->n_ptes; i < end; i++) {
		const uint32_t value = self->pte_values[i];

		switch (self->pte_states[i]) {
		case PTE_ABSENT:
			break;
		case PTE_AWAITED:
			if (!self->actors[value].thread.asleep)
				return broken(reason, "a stream runs without its page");
			break;
		case PTE_SWAPPED:
			if (!(sws_slots_usage(self->devices[0].slots, value) & SWS_SLOT_COUNT))
				return broken(reason, "a stream's page that is out has no slot");
			break;
		default:
			if (self->pages[value].pte != i || !self->pages[value].used)
				return broken(reason,
					      "a stream's page does not refer to its address");
		}
	}
	return SWS_OK;
}

static int verify_device(const struct sws_machine *self, const struct device *device,
			 const char **reason)
{
	int error = sws_slots_verify(device->slots, reason);

	if (!error)
		error = sws_mappings_verify(device->mappings, reason);
	for (uint32_t i = 1; i < device->n_requests && !error; i++) {
		const uint32_t capacity = self->n_pages + self->n_actors;
		const struct request *before =
			&device->requests[(device->first_request + i - 1) % capacity];
		const struct request *after =
			&device->requests[(device->first_request + i) % capacity];

		if (before->done_at > after->done_at)
			error = broken(reason, "a device's completions are out of order");
	}
	return error;
}

/* Two actors on one slot CPU would mix their slots in one cache. */
static int verify_slot_cpus(const struct sws_machine *self, const char **reason)
{
	const uint32_t of_node = self->n_slot_cpus / self->config.nodes;
	uint32_t taken = 0;

	for (uint32_t i = 0; i < self->n_slot_cpus; i++)
		taken += self->slot_cpus[i].taken;
	if (taken != self->n_actors)
		return broken(reason, "the number of CPUs in use is not that of the actors");
	for (uint32_t i = 0; i < self->n_actors; i++) {
		const struct actor *actor = &self->actors[i];

		if (!self->slot_cpus[actor->slot_cpu].taken ||
		    actor->slot_cpu / of_node != actor->count.node)
			return broken(reason, "an actor is not on a CPU of its node");
	}
	return SWS_OK;
}

int sws_machine_verify(const struct sws_machine *self, const char **reason)
{
	int error = sws_des_verify(self->engine.des, reason);

	if (!error)
		error = verify_slot_cpus(self, reason);
	for (uint32_t n = 0; n < self->config.nodes && !error; n++) {
		error = verify_list(self, n, LIST_ACTIVE, reason);
		if (!error)
			error = verify_list(self, n, LIST_INACTIVE, reason);
	}
	for (uint32_t n = 0; n < self->config.devices && !error; n++)
		error = verify_device(self, &self->devices[n], reason);
	if (error || self->fill.phase != PHASE_RUN)
		return error;
	error = verify_places(self, reason);
	if (!error)
		error = verify_ptes(self, reason);
	if (!error)
		error = verify_streams(self, reason);
	return error;
}
