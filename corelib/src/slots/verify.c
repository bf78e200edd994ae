/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "slots/parts.h"

static int broken(const char **reason, const char *sentence)
{
	*reason = sentence;
	return SWS_ERROR_BROKEN;
}

static int verify_map(const struct sws_slots *self, const char **reason)
{
	uint32_t in_use = 0;

	if (self->map[self->max])
		return broken(reason, "the byte past the end is not zero");
	if (self->map[0] != SWS_SLOT_BAD)
		return broken(reason, "the header's slot is not marked bad");
	for (uint32_t offset = 1; offset < self->max; offset++) {
		in_use += self->map[offset] != 0;
		if (!self->map[offset] && (offset < self->lowest || offset > self->highest))
			return broken(reason, "a free slot lies outside of lowest .. highest");
	}
	if (in_use != self->in_use)
		return broken(reason, "in_use is not the number of slots in use");
	if (self->credit > slots_pages(self) - in_use)
		return broken(reason, "there is more credit than free slots");
	return SWS_OK;
}

/*
 * Counts the slots that count as in use for a cluster, including those that the device lacks. With
 * 1000 slots, cluster 3 has the offsets 768 to 1023, of which 1000 to 1023 count as in use.
 */
static uint32_t count_cluster(const struct sws_slots *self, uint32_t index)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < self->cluster_size; i++) {
		const uint64_t offset = (uint64_t)index * self->cluster_size + i;

		count += offset >= self->max || self->map[offset] != 0;
	}
	return count;
}

static int verify_clusters(const struct sws_slots *self, const char **reason)
{
	uint32_t n_free = 0;

	for (uint32_t index = 0; index < self->n_clusters; index++) {
		const struct slots_cluster *cluster = &self->clusters[index];

		if (cluster->count != count_cluster(self, index))
			return broken(reason, "a cluster's count is not its slots in use");
		if (cluster->free != (cluster->count == 0))
			return broken(reason,
				      "an empty cluster is not marked free, or a used one is");
		n_free += cluster->free;
	}
	if (n_free != self->n_free_clusters)
		return broken(reason, "the number of free clusters is wrong");
	return SWS_OK;
}

/*
 * A list with a cycle never ends; the walk detects it one step after the number of free clusters.
 */
static int verify_free_list(const struct sws_slots *self, const char **reason)
{
	uint32_t length = 0;
	uint32_t last = SLOTS_NO_CLUSTER;

	for (uint32_t index = self->free_head; index != SLOTS_NO_CLUSTER;
	     index = self->clusters[index].next) {
		if (index >= self->n_clusters || !self->clusters[index].free)
			return broken(reason, "the free list contains a cluster that is not free");
		if (++length > self->n_free_clusters)
			return broken(reason,
				      "the free list is longer than the free clusters are many");
		last = index;
	}
	if (length != self->n_free_clusters || last != self->free_tail)
		return broken(reason,
			      "the free list does not end with its tail after all free clusters");
	return SWS_OK;
}

static int verify_bases(const struct sws_slots *self, const char **reason)
{
	for (uint32_t i = 0; i < self->n_bases; i++)
		if (self->bases[i] < 1 || self->bases[i] > (int64_t)self->max + 1)
			return broken(reason, "a base lies outside of the device");
	return SWS_OK;
}

int sws_slots_verify(const struct sws_slots *self, const char **reason)
{
	int error = verify_map(self, reason);

	if (!error)
		error = verify_bases(self, reason);
	if (!error && self->clusters)
		error = verify_clusters(self, reason);
	if (!error && self->clusters)
		error = verify_free_list(self, reason);
	return error;
}
