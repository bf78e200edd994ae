/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clusters/choose.c - the next step of a search, chosen by the user's function, which sees the lists
 * as the visit before it left them.
 */
#include "clusters/parts.h"

/* Choices of a search beyond two for each cluster of the device. */
#define CHOICES_MORE 64U

/* Returns the clusters on the lists of larger orders. */
static uint32_t of_larger_orders(const struct device *device)
{
	uint32_t n = 0;

	for (uint32_t order = 1; order < SWS_CLUSTERS_ORDERS; order++)
		n += device->lists[SWS_CLUSTER_LIST_NONFULL + order].length +
		     device->lists[SWS_CLUSTER_LIST_FRAG + order].length;
	return n;
}

/* Asks the function; SWS_CLUSTER_CHOICES is an answer that is no choice. */
static enum sws_cluster_choice ask(struct sws_clusters *self, const struct sws_clusters_call *call,
				   uint32_t most)
{
	const struct cluster_list *lists = self->devices[call->device].lists;
	const uint32_t order = call->order;
	const bool partial = (UINT32_C(1) << order) < self->size;
	const bool first = call->choice == SWS_CLUSTER_CHOICES;
	const int64_t answer =
		self->choose(order, call->asked, most, first ? -1 : (int64_t)call->choice,
			     call->times, lists[SWS_CLUSTER_LIST_FREE].length,
			     partial ? lists[SWS_CLUSTER_LIST_NONFULL + order].length : 0,
			     partial ? lists[SWS_CLUSTER_LIST_FRAG + order].length : 0,
			     order ? 0 : of_larger_orders(&self->devices[call->device]),
			     lists[SWS_CLUSTER_LIST_FULL].length, sws_clusters__full(self));

	return answer >= 0 && answer < SWS_CLUSTER_CHOICES ? (enum sws_cluster_choice)answer
							   : SWS_CLUSTER_CHOICES;
}

/* Returns the next choice; SWS_CLUSTER_CHOICES ends a search that takes too many. */
enum sws_cluster_choice sws_clusters__choose(struct sws_clusters *self,
					     struct sws_clusters_call *call)
{
	const uint32_t most = 2 * self->devices[call->device].n_clusters + CHOICES_MORE;
	const enum sws_cluster_choice choice =
		call->asked < most ? ask(self, call, most) : SWS_CLUSTER_CHOICES;

	call->times = call->choice == choice ? call->times + 1 : 1;
	call->choice = (uint8_t)choice;
	call->asked++;
	self->work.bad_choices += choice == SWS_CLUSTER_CHOICES;
	return choice;
}
