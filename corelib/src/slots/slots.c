/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slots/slots.c - creation and inspection of a device, and the rules of each kernel. */
#include "slots/clusters.h"

static const struct slots_rules rows[] = {
	{
		SWS_KERNEL_4_8,
		.one_slot_a_call = true,
		.checks_the_base = true,
		.random_shared_start = true,
		.stores_each_slot = true,
	},
	{
		SWS_KERNEL_5_7,
		.cluster_locks = true,
		.column_order = true,
		.random_shared_start = true,
		.stores_each_slot = true,
	},
	{
		SWS_KERNEL_5_7_SCAN_MORE,
		.cluster_locks = true,
		.column_order = true,
		.random_shared_start = true,
		.stores_each_slot = true,
		.scans_for_more = true,
	},
	{
		SWS_KERNEL_5_8,
		.cluster_locks = true,
		.column_order = true,
		.scans_for_more = true,
	},
	{
		SWS_KERNEL_6_1,
		.cluster_locks = true,
		.column_order = true,
		.scans_for_more = true,
		.spends_before_test = true,
	},
};

/* Returns the row of a kernel, NULL for an unknown kernel. */
static const struct slots_rules *rules_of(enum sws_kernel kernel)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].kernel == kernel)
			return &rows[i];
	return NULL;
}

bool sws_slots_knows(enum sws_kernel kernel)
{
	return rules_of(kernel);
}

void sws_slots_config_init(struct sws_slots_config *config)
{
	*config = (struct sws_slots_config){
		.kernel = SWS_KERNEL_6_1,
		.slots = UINT32_C(1) << 20,
		.cluster_size = 256,
		.trunk_shift = 14,
		.possible_cpus = 1,
		.online_cpus = 1,
		.policy = SWS_BASE_PERCPU_RERANDOMISE,
		.seed = 1,
	};
}

static bool reader_fits(const struct sws_base_ops *reader)
{
	return (unsigned int)reader->base_of <= SWS_BASE_OF_MM &&
	       (unsigned int)reader->initial <= SWS_BASE_OF_KERNEL && reader->store;
}

static bool config_fits(const struct sws_slots_config *config)
{
	return sws_slots_knows(config->kernel) && config->slots >= 2 &&
	       config->slots <= SWS_SLOTS_MAX &&
	       (config->cluster_size == 256 || config->cluster_size == 512) &&
	       config->trunk_shift >= 1 && config->trunk_shift <= SWS_SLOTS_TRUNK_SHIFT_MAX &&
	       config->possible_cpus >= 1 && config->possible_cpus <= SWS_SLOTS_CPUS_MAX &&
	       config->online_cpus >= 1 && config->online_cpus <= config->possible_cpus &&
	       config->address_spaces <= SWS_SLOTS_SPACES_MAX &&
	       (unsigned int)config->policy <= SWS_BASE_READER &&
	       (config->policy != SWS_BASE_READER || reader_fits(&config->reader));
}

/* A rotational device only has the shared base, whatever the policy is. */
static uint32_t count_bases(const struct sws_slots_config *config, const struct sws_base_ops *ops)
{
	if (config->rotational || ops->base_of == SWS_BASE_OF_DEVICE)
		return 1;
	if (ops->base_of == SWS_BASE_OF_CPU)
		return config->possible_cpus;
	return config->possible_cpus + config->address_spaces;
}

static int start_bases(struct sws_slots *self, const struct sws_slots_config *config,
		       uint32_t shared_start)
{
	const struct sws_base_device device = {
		.highest = self->highest,
		.trunk_size = INT64_C(1) << self->trunk_shift,
		.possible_cpus = config->possible_cpus,
		.online_cpus = config->online_cpus,
		.shared_start = shared_start,
	};

	if (!config->initial_bases) {
		sws_base_start(config->rotational ? SWS_BASE_OF_KERNEL : self->ops->initial,
			       &device, self->generators, self->bases, self->n_bases);
		return SWS_OK;
	}
	for (uint32_t i = 0; i < self->n_bases; i++) {
		if (config->initial_bases[i] < 1 || config->initial_bases[i] > device.highest)
			return SWS_ERROR_BAD_CONFIG;
		self->bases[i] = config->initial_bases[i];
	}
	return SWS_OK;
}

static int allocate_parts(struct sws_slots *self, const struct sws_slots_config *config)
{
	const struct sws_allocator *allocator = &self->allocator;

	/*
	 * A quick scan may read one byte past the end, as the kernel's does: zero, as after its
	 * vzalloc.
	 */
	self->map = sws_allocate_zeroed(allocator, (size_t)self->max + 1, 1);
	self->bases = sws_allocate_zeroed(allocator, self->n_bases, sizeof(*self->bases));
	self->generators = sws_allocate_zeroed(allocator, self->n_bases, sizeof(*self->generators));
	self->cpu_clusters =
		sws_allocate_zeroed(allocator, self->possible_cpus, sizeof(*self->cpu_clusters));
	if (!self->map || !self->bases || !self->generators || !self->cpu_clusters)
		return SWS_ERROR_NO_MEMORY;
	if (config->rotational)
		return SWS_OK;
	self->n_clusters = (self->max - 1) / self->cluster_size + 1;
	self->clusters = sws_allocate_zeroed(allocator, self->n_clusters, sizeof(*self->clusters));
	return self->clusters ? SWS_OK : SWS_ERROR_NO_MEMORY;
}

static int start(struct sws_slots *self, const struct sws_slots_config *config)
{
	struct sws_generator generator;
	uint32_t shared_start = 1;
	int error = allocate_parts(self, config);

	if (error)
		return error;
	self->map[0] = SWS_SLOT_BAD;
	self->lowest = 1;
	self->highest = self->max - 1;
	self->credit = slots_pages(self);
	for (uint32_t i = 0; i < self->n_bases; i++)
		sws_generator_seed(&self->generators[i], config->seed, i);
	if (self->rules->random_shared_start && !config->rotational) {
		sws_generator_seed(&generator, config->seed, self->n_bases);
		shared_start += (uint32_t)sws_generator_below(&generator, self->highest);
	}
	error = start_bases(self, config, shared_start);
	if (!error && self->clusters)
		sws_slots__start_clusters(self, shared_start);
	return error;
}

int sws_slots_new(const struct sws_slots_config *config, struct sws_slots **out)
{
	struct sws_slots *self = NULL;
	int error = SWS_OK;

	*out = NULL;
	if (!config_fits(config))
		return SWS_ERROR_BAD_CONFIG;
	self = sws_create(config->allocator, sizeof(*self));
	if (!self)
		return SWS_ERROR_NO_MEMORY;
	self->rules = rules_of(config->kernel);
	self->reader = config->reader;
	self->ops =
		config->policy == SWS_BASE_READER ? &self->reader : sws_base_ops_of(config->policy);
	self->max = config->slots;
	self->cluster_size = config->cluster_size;
	self->trunk_shift = config->trunk_shift;
	self->possible_cpus = config->possible_cpus;
	self->online_cpus = config->online_cpus;
	self->address_spaces = config->address_spaces;
	self->n_bases = count_bases(config, self->ops);
	error = start(self, config);
	if (error)
		sws_slots_free(self);
	else
		*out = self;
	return error;
}

void sws_slots_free(struct sws_slots *self)
{
	if (!self)
		return;
	sws_release(&self->allocator, self->clusters);
	sws_release(&self->allocator, self->cpu_clusters);
	sws_release(&self->allocator, self->generators);
	sws_release(&self->allocator, self->bases);
	sws_release(&self->allocator, self->map);
	sws_destroy(self);
}

uint8_t sws_slots_usage(const struct sws_slots *self, uint32_t offset)
{
	return offset < self->max ? self->map[offset] : SWS_SLOT_BAD;
}

uint32_t sws_slots_lowest(const struct sws_slots *self)
{
	return self->lowest;
}

uint32_t sws_slots_highest(const struct sws_slots *self)
{
	return self->highest;
}

uint32_t sws_slots_in_use(const struct sws_slots *self)
{
	return self->in_use;
}

uint32_t sws_slots_credit(const struct sws_slots *self)
{
	return self->credit;
}

bool sws_slots_swap_full(const struct sws_slots *self)
{
	return (uint64_t)self->credit * 2 < slots_pages(self);
}

uint32_t sws_slots_free_clusters(const struct sws_slots *self)
{
	return self->n_free_clusters;
}

uint32_t sws_slots_bases(const struct sws_slots *self)
{
	return self->n_bases;
}

int64_t sws_slots_base(const struct sws_slots *self, uint32_t owner)
{
	return owner < self->n_bases ? self->bases[owner] : 0;
}

uint32_t sws_slots_base_owner(const struct sws_slots *self, uint32_t cpu, int64_t mm)
{
	if (!self->clusters || self->ops->base_of == SWS_BASE_OF_DEVICE)
		return 0;
	if (self->ops->base_of == SWS_BASE_OF_CPU || mm < 0)
		return cpu;
	return self->possible_cpus + (uint32_t)mm;
}

int sws_slots_set_base(struct sws_slots *self, uint32_t owner, uint32_t base)
{
	if (owner >= self->n_bases || base < 1 || base > self->max + 1)
		return SWS_ERROR_BAD_ARGUMENT;
	self->bases[owner] = base;
	return SWS_OK;
}
