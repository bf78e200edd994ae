/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rtree/layout.h"

#include <string.h>

#define CACHE_LINE 64

/*
 * The size of slabs doubles from here on: small forests stay small, large ones allocate seldom. At
 * shift 6:
 *
 *      slab         1       2       3    ...    7       8
 *      nodes       16      32      64         1024    1024
 *      bytes      9288   18504   36936      589896  589896    64 to align, 8 for the header
 */
#define FIRST_SLAB_NODES   16
#define LARGEST_SLAB_NODES 1024

/* The header of a slab; its nodes start at the next cache line. */
struct sws_rtree__slab {
	struct sws_rtree__slab *next;
};

void sws_forest__init_nodes(struct sws_forest *self)
{
	size_t bytes = sizeof(struct sws_rtree__node) + (sizeof(uint64_t) << self->shift);

	self->node_bytes = (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
	self->slab_nodes = FIRST_SLAB_NODES;
}

void sws_forest__free_nodes(struct sws_forest *self)
{
	while (self->slabs) {
		struct sws_rtree__slab *slab = self->slabs;

		self->slabs = slab->next;
		sws_release(self->allocator, slab);
	}
}

static void push_free(struct sws_forest *self, struct sws_rtree__node *node)
{
	node->parent = self->free_nodes;
	self->free_nodes = node;
	self->free_count++;
}

/*
 * A node is zeroed when it is first used, not with its slab, so that it is brought into the cache
 * once.
 */
static struct sws_rtree__node *take_fresh(struct sws_forest *self)
{
	void *node = self->fresh;

	memset(node, 0, self->node_bytes);
	self->fresh += self->node_bytes;
	self->fresh_count--;
	return node;
}

/*
 * A slab is allocated while the last one still has a few fresh nodes. As there is only one pointer
 * to fresh nodes, these become free nodes:
 *
 *      2 fresh, 1 free, 4 wanted:  0 fresh, 3 free, then a slab:  32 fresh, 3 free
 *
 * The kernel preloads for the same purpose (radix_tree_maybe_preload, 4.8): nodes are available
 * before the lock is taken, and an insert does not fail under it.
 */
int sws_forest__reserve(struct sws_forest *self, uint64_t count)
{
	uint64_t nodes = self->slab_nodes > count ? self->slab_nodes : count;
	struct sws_rtree__slab *slab = NULL;
	size_t bytes = sizeof(*slab) + CACHE_LINE + nodes * self->node_bytes;

	if (self->free_count + self->fresh_count >= count)
		return SWS_OK;
	slab = sws_allocate(self->allocator, bytes);
	if (!slab)
		return SWS_ERROR_NO_MEMORY;
	while (self->fresh_count)
		push_free(self, take_fresh(self));
	slab->next = self->slabs;
	self->slabs = slab;
	self->fresh = (unsigned char *)slab + sizeof(*slab);
	self->fresh += -(uintptr_t)self->fresh % CACHE_LINE;
	self->fresh_count = nodes;
	self->made_count += nodes;
	if (self->slab_nodes < LARGEST_SLAB_NODES)
		self->slab_nodes *= 2;
	return SWS_OK;
}

struct sws_rtree__node *sws_forest__take(struct sws_forest *self, struct sws_rtree__tree *tree)
{
	struct sws_rtree__node *node = self->free_nodes;

	if (node) {
		self->free_nodes = node->parent;
		self->free_count--;
		node->parent = NULL;
	} else {
		node = take_fresh(self);
	}
	self->node_count++;
	tree->node_count++;
	return node;
}

void sws_forest__give(struct sws_forest *self, struct sws_rtree__tree *tree,
		      struct sws_rtree__node *node)
{
	if (tree->leaf == node) {
		tree->leaf = NULL;
		tree->leaf_number = SWS_RTREE__NO_LEAF;
	}
	node->count = 0;
	push_free(self, node);
	self->node_count--;
	tree->node_count--;
}
