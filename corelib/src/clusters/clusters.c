/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clusters/clusters.c - the making of the devices, and what can be read from them. */
#include "clusters/parts.h"

#include <string.h>

/* Columns at least: the swap_cluster_info of 24 bytes that share a cache line of 64. */
#define COLUMNS_MIN 3U

void sws_clusters_config_init(struct sws_clusters_config *config)
{
	*config = (struct sws_clusters_config){ .cluster_size = SWS_CLUSTERS_SIZE_MAX,
						.trunk_shift = 14,
						.cpus = 1 };
	(void)sws_cluster_rules_init(SWS_CLUSTER_RULES_6_12, &config->rules);
}

static bool is_valid(const struct sws_clusters_config *config)
{
	const uint32_t size = config->cluster_size;
	uint64_t clusters = 0;

	if (size < 4 || size > SWS_CLUSTERS_SIZE_MAX || (size & (size - 1)))
		return false;
	if (!config->cpus || config->cpus > SWS_CLUSTERS_CPUS_MAX || !config->trunk_shift ||
	    config->trunk_shift > SWS_CLUSTERS_TRUNK_SHIFT_MAX)
		return false;
	if (config->rules.own_by_task &&
	    (!config->owners || config->owners > SWS_CLUSTERS_OWNERS_MAX))
		return false;
	if (!config->n_devices || config->n_devices > SWS_CLUSTERS_DEVICES_MAX || !config->devices)
		return false;
	for (uint32_t i = 0; i < config->n_devices; i++) {
		const struct sws_clusters_device *device = &config->devices[i];

		if (device->slots < 2 || device->slots > SWS_CLUSTERS_SLOTS_MAX ||
		    (device->rotational && !config->rules.global_next))
			return false;
		clusters += ((uint64_t)device->slots + size - 1) / size;
	}
	return clusters < CLUSTERS_NONE;
}

static uint32_t log2_of(uint32_t size)
{
	uint32_t shift = 0;

	while (UINT32_C(1) << shift < size)
		shift++;
	return shift;
}

/* Takes the memory of all parts; the caller frees it also after a failure. */
static int take_memory(struct sws_clusters *self)
{
	const struct sws_allocator *allocator = &self->allocator;
	const size_t cells = (size_t)self->owners * SWS_CLUSTERS_ORDERS;
	const size_t per_cell = self->rules.shared_next ? 1 : self->n_devices;

	self->map = sws_allocate_zeroed(allocator, self->n_clusters, self->size);
	self->clusters = sws_allocate_zeroed(allocator, self->n_clusters, sizeof(*self->clusters));
	self->own = sws_allocate_zeroed(allocator, cells * per_cell, sizeof(*self->own));
	self->own_device = sws_allocate_array(allocator, cells, sizeof(*self->own_device));
	if (!self->map || !self->clusters || !self->own || !self->own_device)
		return SWS_ERROR_NO_MEMORY;
	memset(self->own_device, CLUSTERS_NO_DEVICE, cells);
	return SWS_OK;
}

/*
 * Lists the clusters of a device. Models: setup_clusters (columns) and setup_swap_clusters_info.
 *
 *      32 columns (64 MB / 2 MB), 70 clusters:
 *      free list   32 64 | 1 33 65 | 2 34 66 | ... | 31 63        nonfull[0]   0, 69
 *
 * A cluster that has a bad slot is not free: the header's, and the last one of a device that ends
 * within it.
 */
static void start_lists(struct sws_clusters *self, struct device *device, uint32_t trunk_shift)
{
	const uint64_t of_trunk = (UINT64_C(1) << trunk_shift) >> self->shift;
	const uint64_t spread = of_trunk > COLUMNS_MIN ? of_trunk : COLUMNS_MIN;
	const uint64_t columns = self->rules.columns ? spread : 1;

	for (uint32_t list = 0; list < SWS_CLUSTER_LISTS; list++)
		device->lists[list] =
			(struct cluster_list){ .head = CLUSTERS_NONE, .tail = CLUSTERS_NONE };
	for (uint64_t column = 0; column < columns && column < device->n_clusters; column++)
		for (uint64_t i = column; i < device->n_clusters; i += columns) {
			const uint32_t index = device->first + (uint32_t)i;

			sws_clusters__append(self, device, index,
					     self->clusters[index].count ? SWS_CLUSTER_LIST_NONFULL
									 : SWS_CLUSTER_LIST_FREE);
		}
}

/* Marks the header and the slots behind the end as bad. */
static void mark_bad_slots(struct sws_clusters *self, struct device *device)
{
	const uint32_t slots = device->config.slots;
	const uint64_t end = (uint64_t)device->n_clusters << self->shift;
	struct cluster *last = &self->clusters[device->first + device->n_clusters - 1];

	memset(device->map + slots, SLOT_BAD, end - slots);
	last->count = (uint16_t)(end - slots);
	device->map[0] = SLOT_BAD;
	self->clusters[device->first].count++;
}

static void start_device(struct sws_clusters *self, const struct sws_clusters_config *config,
			 uint32_t number)
{
	struct device *device = &self->devices[number];

	device->map = self->map + ((size_t)device->first << self->shift);
	for (uint32_t i = 0; i < device->n_clusters; i++)
		self->clusters[device->first + i].list = SWS_CLUSTER_LIST_NONE;
	mark_bad_slots(self, device);
	start_lists(self, device, config->trunk_shift);
	if (device->config.priority > self->top)
		self->top = device->config.priority;
	self->total += device->config.slots - 1;
	sws_clusters__enqueue(self, number);
}

static int start(struct sws_clusters *self, const struct sws_clusters_config *config)
{
	int error = SWS_OK;

	self->rules = config->rules;
	self->choose = config->choose;
	self->cpus = config->cpus;
	self->owners = config->rules.own_by_task ? config->owners : config->cpus;
	self->top = INT32_MIN;
	self->size = config->cluster_size;
	self->shift = log2_of(config->cluster_size);
	self->n_devices = config->n_devices;
	self->hint = -1;
	self->devices =
		sws_allocate_zeroed(&self->allocator, self->n_devices, sizeof(*self->devices));
	if (!self->devices)
		return SWS_ERROR_NO_MEMORY;
	for (uint32_t i = 0; i < self->n_devices; i++) {
		struct device *device = &self->devices[i];

		device->config = config->devices[i];
		device->first = self->n_clusters;
		device->n_clusters = (uint32_t)(((uint64_t)device->config.slots + self->size - 1) >>
						self->shift);
		self->n_clusters += device->n_clusters;
	}
	error = take_memory(self);
	if (error)
		return error;
	for (uint32_t i = 0; i < self->n_devices; i++)
		start_device(self, config, i);
	self->available = (int64_t)self->total;
	self->work = (struct sws_clusters_work){ 0 };
	return SWS_OK;
}

int sws_clusters_new(const struct sws_clusters_config *config, struct sws_clusters **out)
{
	struct sws_clusters *self = NULL;
	int error = SWS_ERROR_BAD_CONFIG;

	*out = NULL;
	if (!is_valid(config))
		goto out;
	error = SWS_ERROR_NO_MEMORY;
	self = sws_create(config->allocator, sizeof(*self));
	if (!self)
		goto out;
	error = start(self, config);
	if (error)
		goto out;
	*out = self;
	self = NULL;
out:
	sws_clusters_free(self);
	return error;
}

void sws_clusters_free(struct sws_clusters *self)
{
	if (!self)
		return;
	sws_release(&self->allocator, self->devices);
	sws_release(&self->allocator, self->map);
	sws_release(&self->allocator, self->clusters);
	sws_release(&self->allocator, self->own);
	sws_release(&self->allocator, self->own_device);
	sws_destroy(self);
}

uint32_t sws_clusters_in_use(const struct sws_clusters *self, uint32_t device)
{
	return device < self->n_devices ? self->devices[device].in_use : 0;
}

int64_t sws_clusters_available(const struct sws_clusters *self)
{
	return self->available;
}

uint32_t sws_clusters_list_length(const struct sws_clusters *self, uint32_t device, uint32_t list)
{
	if (device >= self->n_devices || list >= SWS_CLUSTER_LISTS)
		return 0;
	return self->devices[device].lists[list].length;
}

uint32_t sws_clusters_list_members(const struct sws_clusters *self, uint32_t device, uint32_t list,
				   uint32_t *members, uint32_t room)
{
	uint32_t n = 0;

	if (device >= self->n_devices || list >= SWS_CLUSTER_LISTS)
		return 0;
	for (uint32_t index = self->devices[device].lists[list].head;
	     index != CLUSTERS_NONE && n < room; index = self->clusters[index].next)
		members[n++] = index - self->devices[device].first;
	return n;
}

uint32_t sws_clusters_cluster(const struct sws_clusters *self, uint32_t device, uint32_t number,
			      uint32_t *count, uint32_t *order)
{
	const struct cluster *cluster = NULL;

	*count = 0;
	*order = 0;
	if (device >= self->n_devices || number >= self->devices[device].n_clusters)
		return SWS_CLUSTER_LIST_NONE;
	cluster = &self->clusters[self->devices[device].first + number];
	*count = cluster->count;
	*order = cluster->order;
	return cluster->list;
}

void sws_clusters_work(const struct sws_clusters *self, struct sws_clusters_work *out)
{
	*out = self->work;
}

bool sws_clusters_can_apply(const struct sws_clusters *self, const struct sws_clusters_point *point)
{
	const struct device *device = NULL;

	if (point->device >= self->n_devices)
		return false;
	device = &self->devices[point->device];
	if (point->slot >= device->config.slots || point->list >= SWS_CLUSTER_LISTS)
		return false;
	if (point->op != SWS_CLUSTER_GRANT)
		return true;
	if (!point->n || point->n > device->config.slots - point->slot ||
	    point->slot >> self->shift != (point->slot + point->n - 1) >> self->shift)
		return false;
	for (uint32_t at = 0; at < point->n; at++)
		if (device->map[point->slot + at] != SLOT_FREE)
			return false;
	return true;
}
