/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clusters/choose.c - the next step of a search, chosen by the user's function. Each choice is one
 * cluster of one list, so that the function sees the lists that the visit before it left.
 */
#include "clusters/state.h"

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

static void visit_partial(const struct sws_clusters *self, struct sws_clusters_call *call,
			  uint32_t list)
{
	/* The lists of an order of complete clusters have none that fits. */
	if ((UINT32_C(1) << call->order) < self->size)
		sws_clusters__from_list(call, list + call->order, 1);
}

void sws_clusters__choose(struct sws_clusters *self, struct sws_clusters_call *call)
{
	const uint32_t most = 2 * self->devices[call->device].n_clusters + CHOICES_MORE;
	const enum sws_cluster_choice choice =
		call->asked < most ? ask(self, call, most) : SWS_CLUSTER_CHOICES;

	call->times = call->choice == choice ? call->times + 1 : 1;
	call->choice = (uint8_t)choice;
	call->asked++;
	switch (choice) {
	case SWS_CLUSTER_CHOOSE_FREE:
		sws_clusters__from_list(call, SWS_CLUSTER_LIST_FREE, 1);
		break;
	case SWS_CLUSTER_CHOOSE_NONFULL:
		visit_partial(self, call, SWS_CLUSTER_LIST_NONFULL);
		break;
	case SWS_CLUSTER_CHOOSE_FRAG:
		visit_partial(self, call, SWS_CLUSTER_LIST_FRAG);
		break;
	case SWS_CLUSTER_CHOOSE_FULL:
		go(call, FULL);
		break;
	case SWS_CLUSTER_CHOOSE_LARGER:
		call->step = DISCARDS;
		break;
	case SWS_CLUSTER_CHOOSE_END:
		go(call, SEARCHED);
		break;
	default:
		self->work.bad_choices++;
		go(call, SEARCHED);
	}
}
