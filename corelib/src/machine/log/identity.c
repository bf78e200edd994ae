/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/log/identity.c - the identity of a lock number: locks are numbered in the order in which
 * machine/build.c added them.
 *
 *      avail | alloc of each CPU | free of each CPU | lru, zone of each node
 *            | si, record, trees ..., clusters ... of each device
 */
#include "machine/log/layout.h"

static const char *const names[] = {
	[SWS_LOCK_CLASS_SWAP_AVAIL] = "swap_avail_lock",
	[SWS_LOCK_CLASS_ALLOC] = "alloc_lock",
	[SWS_LOCK_CLASS_FREE] = "free_lock",
	[SWS_LOCK_CLASS_LRU] = "lru_lock",
	[SWS_LOCK_CLASS_ZONE] = "zone_lock",
	[SWS_LOCK_CLASS_SI] = "si_lock",
	[SWS_LOCK_CLASS_RECORD] = "record_lock",
	[SWS_LOCK_CLASS_TREE] = "tree_lock",
	[SWS_LOCK_CLASS_CLUSTER] = "cluster_lock",
};

const char *sws_lock_class_name(uint32_t lock_class)
{
	return lock_class < sizeof(names) / sizeof(*names) ? names[lock_class] : NULL;
}

/* Returns true if a lock is one of n locks from `first` on, and its place among them. */
static bool lies_in(uint32_t lock, uint32_t first, uint32_t n, uint32_t *place)
{
	*place = lock - first;
	return lock >= first && *place < n;
}

static bool of_machine(const struct sws_machine *machine, uint32_t lock,
		       struct sws_lock_identity *identity)
{
	identity->part = 0;
	identity->lock_class = SWS_LOCK_CLASS_SWAP_AVAIL;
	if (lies_in(lock, machine->avail_lock, 1, &identity->owner))
		return true;
	identity->lock_class = SWS_LOCK_CLASS_ALLOC;
	if (lies_in(lock, machine->first_mutex, machine->n_slot_cpus, &identity->owner))
		return true;
	identity->lock_class = SWS_LOCK_CLASS_FREE;
	return lies_in(lock, machine->first_return_lock, machine->n_slot_cpus, &identity->owner);
}

static bool of_node(const struct node *node, uint32_t lock, struct sws_lock_identity *identity)
{
	identity->part = 0;
	identity->lock_class = lock == node->lru_lock ? SWS_LOCK_CLASS_LRU : SWS_LOCK_CLASS_ZONE;
	return lock == node->lru_lock || lock == node->zone_lock;
}

static bool of_device(const struct sws_machine *machine, const struct device *device, uint32_t lock,
		      struct sws_lock_identity *identity)
{
	const struct sws_slots_config *config = &machine->config.device;
	const uint32_t clusters = (config->slots - 1) / config->cluster_size + 1;

	identity->lock_class = SWS_LOCK_CLASS_SI;
	if (lies_in(lock, device->si_lock, 1, &identity->part))
		return true;
	identity->lock_class = SWS_LOCK_CLASS_RECORD;
	if (machine->rules->records && lies_in(lock, device->record_lock, 1, &identity->part))
		return true;
	identity->lock_class = SWS_LOCK_CLASS_TREE;
	if (lies_in(lock, device->first_tree_lock, sws_mapping_count(device->mappings),
		    &identity->part))
		return true;
	identity->lock_class = SWS_LOCK_CLASS_CLUSTER;
	return device->first_cluster_lock != MACHINE_NONE &&
	       lies_in(lock, device->first_cluster_lock, clusters, &identity->part);
}

int sws_machine_log_lock(const struct sws_machine_log *self, uint32_t lock,
			 struct sws_lock_identity *identity)
{
	const struct sws_machine *machine = self->machine;

	if (of_machine(machine, lock, identity))
		return SWS_OK;
	for (identity->owner = 0; identity->owner < machine->config.nodes; identity->owner++)
		if (of_node(&machine->nodes[identity->owner], lock, identity))
			return SWS_OK;
	for (identity->owner = 0; identity->owner < machine->config.devices; identity->owner++)
		if (of_device(machine, &machine->devices[identity->owner], lock, identity))
			return SWS_OK;
	return SWS_ERROR_NOT_FOUND;
}
