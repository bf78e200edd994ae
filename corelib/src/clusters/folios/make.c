/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clusters/folios/make.c - memory and its device, and what can be read from them. */
#include "clusters/folios/parts.h"

const char *sws_cluster_folios_step_name(uint32_t step)
{
	static const char *const names[] = { "access", "drop", "out" };

	return step < SWS_CLUSTER_FOLIOS_STEPS ? names[step] : NULL;
}

const char *sws_cluster_folios_problem_text(uint32_t problem)
{
	static const char *const texts[] = {
		"nothing is wrong",
		"its process is unknown",
		"its CPU is unknown",
		"its step is unknown",
		"its order is one that no cluster of the device can hold",
		"its pages are none, or not those of a process",
	};

	return problem < SWS_CLUSTER_FOLIOS_PROBLEMS ? texts[problem] : NULL;
}

void sws_cluster_folios_config_init(struct sws_cluster_folios_config *config)
{
	*config = (struct sws_cluster_folios_config){ .processes = 1 };
	sws_clusters_config_init(&config->clusters);
}

static bool valid(const struct sws_cluster_folios_config *config)
{
	return config->clusters.n_devices == 1 && config->processes &&
	       config->processes <= SWS_CLUSTER_FOLIOS_PROCESSES_MAX && config->pages &&
	       config->pages <= SWS_CLUSTER_FOLIOS_PAGES_MAX &&
	       config->swap_in_orders < 1U << (SWS_CLUSTERS_ORDERS - 1);
}

static int start(struct sws_cluster_folios *self, const struct sws_cluster_folios_config *config)
{
	const size_t pages = (size_t)config->processes * config->pages;
	const bool caches = config->clusters.rules.slot_cache;

	self->processes = config->processes;
	self->pages = config->pages;
	self->swap_in_orders = config->swap_in_orders;
	self->slots = sws_allocate_zeroed(&self->allocator, pages, sizeof(*self->slots));
	self->states = sws_allocate_zeroed(&self->allocator, pages, sizeof(*self->states));
	if (!self->slots || !self->states)
		return SWS_ERROR_NO_MEMORY;
	return sws_cluster_caches__init(&self->caches, &self->allocator, self->clusters, caches,
					caches && !config->no_return_cache);
}

int sws_cluster_folios_new(const struct sws_cluster_folios_config *config,
			   struct sws_cluster_folios **out)
{
	const struct sws_allocator *allocator = config->clusters.allocator;
	struct sws_cluster_folios *self = NULL;
	struct sws_clusters *clusters = NULL;
	int error = valid(config) ? sws_clusters_new(&config->clusters, &clusters)
				  : SWS_ERROR_BAD_CONFIG;

	*out = NULL;
	if (error)
		goto out;
	if (!allocator)
		allocator = &sws_libc_allocator;
	error = SWS_ERROR_NO_MEMORY;
	self = sws_allocate_zeroed(allocator, 1, sizeof(*self));
	if (!self)
		goto out;
	self->allocator = *allocator;
	self->clusters = clusters;
	clusters = NULL;
	error = start(self, config);
	if (error)
		goto out;
	*out = self;
	self = NULL;
out:
	sws_cluster_folios_free(self);
	sws_clusters_free(clusters);
	return error;
}

void sws_cluster_folios_free(struct sws_cluster_folios *self)
{
	struct sws_allocator allocator = { 0 };

	if (!self)
		return;
	allocator = self->allocator;
	sws_cluster_caches__clear(&self->caches);
	sws_clusters_free(self->clusters);
	sws_release(&allocator, self->slots);
	sws_release(&allocator, self->states);
	sws_release(&allocator, self);
}

uint32_t sws_cluster_folios_problem(const struct sws_cluster_folios *self, uint64_t *row)
{
	*row = self->totals.rows;
	return self->problem;
}

void sws_cluster_folios_totals(const struct sws_cluster_folios *self,
			       struct sws_cluster_folios_totals *out)
{
	*out = self->totals;
}

const struct sws_clusters *sws_cluster_folios_clusters(const struct sws_cluster_folios *self)
{
	return self->clusters;
}

uint32_t sws_cluster_folios_slot(const struct sws_cluster_folios *self, uint32_t process,
				 uint32_t page, uint32_t *order)
{
	const size_t at = (size_t)process * self->pages + page;

	*order = UINT32_MAX;
	if (process >= self->processes || page >= self->pages)
		return 0;
	if (self->states[at] >= PAGE_RESIDENT)
		*order = (uint32_t)self->states[at] - PAGE_RESIDENT;
	return self->states[at] == PAGE_SWAPPED ? self->slots[at] : 0;
}

uint64_t sws_cluster_folios_cached(const struct sws_cluster_folios *self)
{
	return sws_cluster_caches__held(&self->caches);
}

/* Marks the slot of each page that is swapped out; returns false for one that two pages have. */
static bool mark(const struct sws_cluster_folios *self, uint8_t *seen, uint64_t *n)
{
	const size_t pages = (size_t)self->processes * self->pages;

	for (size_t at = 0; at < pages; at++) {
		if (self->states[at] != PAGE_SWAPPED)
			continue;
		if (!sws_clusters_used(self->clusters, 0, self->slots[at]) ||
		    seen[self->slots[at]]++)
			return false;
		(*n)++;
	}
	return true;
}

/* Every slot in use is that of one page, or is in a cache. */
int sws_cluster_folios_verify(const struct sws_cluster_folios *self, const char **reason)
{
	const size_t slots = self->clusters->devices[0].config.slots;
	uint8_t *seen = NULL;
	uint64_t n = 0;
	int error = sws_clusters_verify(self->clusters, reason);

	if (error)
		goto out;
	*reason = "out of memory";
	error = SWS_ERROR_NO_MEMORY;
	seen = sws_allocate_zeroed(&self->allocator, slots, sizeof(*seen));
	if (!seen)
		goto out;
	error = SWS_ERROR_BROKEN;
	*reason = "two pages have one slot, or a page has a free one";
	if (!mark(self, seen, &n))
		goto out;
	*reason = "a slot in use belongs to no page";
	if (n + sws_cluster_folios_cached(self) == sws_clusters_in_use(self->clusters, 0))
		error = SWS_OK;
out:
	sws_release(&self->allocator, seen);
	return error;
}
