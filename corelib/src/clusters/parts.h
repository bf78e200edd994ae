/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clusters/parts.h - shared by the sources of clusters.h: the fields of the devices, and the steps
 * that calls and frees both take. Clusters are counted over all devices.
 */
#ifndef SWAPSIM_CLUSTERS_PARTS_H
#define SWAPSIM_CLUSTERS_PARTS_H

#include "swapsim/clusters.h"

#define CLUSTERS_NONE      UINT32_MAX
#define CLUSTERS_NO_DEVICE UINT8_MAX

/* A slot: free, in use, in use by the swap cache only, never allocated. */
enum { SLOT_FREE = 0, SLOT_USED = 1, SLOT_CACHED = 2, SLOT_BAD = 3 };

/* A cluster. */
struct cluster {
	/* The neighbours on its list. */
	uint32_t prev;
	uint32_t next;
	/* The number of the last row of a trace that changed the cluster (cluster_replay.h). */
	uint32_t stamp;
	/* Slots in use, bad ones included. */
	uint16_t count;
	uint8_t order;
	/* enum sws_cluster_list; a cluster that is being discarded keeps its flag. */
	uint8_t list;
	/* Calls that hold the cluster lock: one, or more if rows contradict each other. */
	uint16_t held;
	/* 1 + the CPU of the last visit; 0 before the first. */
	uint16_t cpu;
	/* False if the cluster is on no list although list says so: it is being discarded. */
	bool linked;
};

_Static_assert(sizeof(struct cluster) == 24, "clusters.h says how much memory a cluster takes");

struct cluster_list {
	uint32_t head;
	uint32_t tail;
	uint32_t length;
};

struct device {
	struct sws_clusters_device config;
	struct cluster_list lists[SWS_CLUSTER_LISTS];
	uint8_t *map;
	/* Its first cluster, counted over all devices, and the number of its clusters. */
	uint32_t first;
	uint32_t n_clusters;
	uint32_t in_use;
	/* With global_next, of a rotational device. */
	uint32_t next[SWS_CLUSTERS_ORDERS];
	/* True if the device is not full, so that it is in turn[]. */
	bool listed;
};

struct sws_clusters {
	struct sws_allocator allocator;
	struct sws_cluster_rules rules;
	/* The user's function, or NULL. */
	int64_t (*choose)(int64_t order, int64_t asked, int64_t most, int64_t last, int64_t times,
			  int64_t free, int64_t nonfull, int64_t frag, int64_t larger, int64_t full,
			  int64_t swap_full);
	struct device *devices;
	struct cluster *clusters;
	/* One byte for each slot of all clusters. */
	uint8_t *map;
	/* The next slots of owners: [owner][order], or [owner][order][device]. */
	uint32_t *own;
	/* The device of the last one: [owner][order]. */
	uint8_t *own_device;
	/* The highest priority of a device. */
	int32_t top;
	/* The devices that are not full, by priority, then in turn. */
	uint8_t turn[SWS_CLUSTERS_DEVICES_MAX];
	uint32_t n_turn;
	uint32_t n_devices;
	uint32_t n_clusters;
	uint32_t cpus;
	/* Owners of current clusters: the CPUs, or with own_by_task those of the configuration. */
	uint32_t owners;
	uint32_t size;
	uint32_t shift;
	/* Bytes of the map that are SLOT_CACHED. */
	uint32_t n_cached;
	uint64_t total;
	int64_t available;
	/* 1 or 0: whether swap is full as a trace says; -1: as the counter says. */
	int hint;
	/* Number of times that the hint differed from the counter. */
	uint64_t hinted;
	struct sws_clusters_work work;
};

/* Returns the cluster of a slot, counted over all devices. */
static inline uint32_t cluster_of(const struct sws_clusters *self, const struct device *device,
				  uint32_t slot)
{
	return device->first + (slot >> self->shift);
}

/* Returns the first slot of a cluster of a device. */
static inline uint32_t slot_of(const struct sws_clusters *self, const struct device *device,
			       uint32_t cluster)
{
	return (cluster - device->first) << self->shift;
}

/* Returns a list without its order, which is what the kernel's flag says. */
static inline uint32_t list_kind(uint32_t list)
{
	if (list >= SWS_CLUSTER_LISTS)
		return SWS_CLUSTER_LIST_NONE;
	if (list >= SWS_CLUSTER_LIST_FRAG)
		return SWS_CLUSTER_LIST_FRAG;
	return list >= SWS_CLUSTER_LIST_NONFULL ? SWS_CLUSTER_LIST_NONFULL : list;
}

static inline bool has_point(const struct sws_clusters_call *call)
{
	return call->point.op != SWS_CLUSTER_OPS;
}

/* lists.c */
void sws_clusters__unlink(struct sws_clusters *self, struct device *device, uint32_t cluster);
void sws_clusters__append(struct sws_clusters *self, struct device *device, uint32_t cluster,
			  uint32_t list);
uint32_t sws_clusters__first(const struct sws_clusters *self, const struct device *device,
			     uint32_t list, bool skips_held);
uint32_t sws_clusters__target(const struct sws_clusters *self, const struct device *device,
			      uint32_t cluster);
bool sws_clusters__usable(const struct sws_clusters *self, uint32_t cluster, uint32_t order);

/* choose.c */
enum sws_cluster_choice sws_clusters__choose(struct sws_clusters *self,
					     struct sws_clusters_call *call);

/* turns.c */
bool sws_clusters__full(struct sws_clusters *self);
void sws_clusters__enqueue(struct sws_clusters *self, uint32_t device);
void sws_clusters__dequeue(struct sws_clusters *self, uint32_t device);
uint8_t sws_clusters__device_at(const struct sws_clusters *self, uint32_t place);
uint8_t sws_clusters__following(const struct sws_clusters *self, uint32_t device);
uint32_t sws_clusters__own(const struct sws_clusters *self, const struct sws_clusters_call *call,
			   uint32_t device);
uint8_t sws_clusters__own_device(const struct sws_clusters *self,
				 const struct sws_clusters_call *call);
void sws_clusters__set_own(struct sws_clusters *self, const struct sws_clusters_call *call,
			   uint32_t device, uint32_t slot);

/* visit.c */
void sws_clusters__scan(struct sws_clusters *self, struct sws_clusters_call *call);
void sws_clusters__relock(struct sws_clusters *self, struct sws_clusters_call *call);
void sws_clusters__take(struct sws_clusters *self, struct sws_clusters_call *call,
			const struct sws_clusters_point *point);

#endif
