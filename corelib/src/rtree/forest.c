/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rtree/node.h"

#include <string.h>

#define CACHE_LINE 64

/* Slabs double from here: small forests stay small, large ones ask seldom. */
#define FIRST_SLAB_NODES   16
#define LARGEST_SLAB_NODES 1024

/* The head of a slab; its nodes follow from the next cache line on. */
struct sws_rtree__slab {
	struct sws_rtree__slab *next;
};

void sws_forest_config_init(struct sws_forest_config *config)
{
	*config = (struct sws_forest_config){
		.shift = 6,
		.tree_count = 1,
		.sort_threshold = 4096,
		.allocator = NULL,
	};
}

static int resize_trees(struct sws_forest *self, uint32_t room)
{
	const struct sws_allocator *allocator = self->allocator;
	struct sws_rtree__tree *trees = NULL;

	trees = allocator->resize(allocator->context, self->trees, room * sizeof(*trees));
	if (!trees)
		return SWS_ERROR_NO_MEMORY;
	self->trees = trees;
	self->tree_room = room;
	return SWS_OK;
}

static void append_empty_tree(struct sws_forest *self)
{
	self->trees[self->tree_count++] =
		(struct sws_rtree__tree){ .leaf_number = SWS_RTREE__NO_LEAF };
}

int sws_forest_new(const struct sws_forest_config *config, struct sws_forest **out)
{
	const struct sws_allocator *allocator =
		config->allocator ? config->allocator : &sws_libc_allocator;
	struct sws_forest *self = NULL;
	int error = SWS_OK;

	*out = NULL;
	if (config->shift < 1 || config->shift > 6) {
		error = SWS_ERROR_BAD_CONFIG;
		goto out;
	}
	self = sws_allocate_zeroed(allocator, 1, sizeof(*self));
	if (!self) {
		error = SWS_ERROR_NO_MEMORY;
		goto out;
	}
	self->allocator = allocator;
	self->shift = config->shift;
	self->mask = (UINT32_C(1) << config->shift) - 1;
	self->node_bytes = sizeof(struct sws_rtree__node) + (sizeof(uint64_t) << config->shift);
	self->node_bytes = (self->node_bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
	self->slab_nodes = FIRST_SLAB_NODES;
	self->sort_threshold = config->sort_threshold;
	if (config->tree_count) {
		error = resize_trees(self, config->tree_count);
		if (error)
			goto out;
	}
	while (self->tree_count < config->tree_count)
		append_empty_tree(self);
	*out = self;
	self = NULL;
out:
	sws_forest_free(self);
	return error;
}

void sws_forest_free(struct sws_forest *self)
{
	if (!self)
		return;
	while (self->slabs) {
		struct sws_rtree__slab *slab = self->slabs;

		self->slabs = slab->next;
		sws_release(self->allocator, slab);
	}
	sws_release(self->allocator, self->trees);
	sws_release(self->allocator, self);
}

int sws_forest_add_tree(struct sws_forest *self, uint32_t *tree)
{
	int error = SWS_OK;

	if (self->tree_count == UINT32_MAX) {
		error = SWS_ERROR_NO_MEMORY;
		goto out;
	}
	if (self->tree_count == self->tree_room) {
		uint64_t room = 2 * (uint64_t)self->tree_room + 8;

		error = resize_trees(self, room < UINT32_MAX ? (uint32_t)room : UINT32_MAX);
		if (error)
			goto out;
	}
	*tree = self->tree_count;
	append_empty_tree(self);
out:
	return error;
}

uint32_t sws_forest_tree_count(const struct sws_forest *self)
{
	return self->tree_count;
}

uint64_t sws_forest_node_count(const struct sws_forest *self)
{
	return self->node_count;
}

size_t sws_forest_node_bytes(const struct sws_forest *self)
{
	return self->node_bytes;
}

static void push_free(struct sws_forest *self, struct sws_rtree__node *node)
{
	node->parent = self->free_nodes;
	self->free_nodes = node;
	self->free_count++;
}

/* Zeroed when first used, not when the slab is made: then it is in the cache once. */
static struct sws_rtree__node *take_fresh(struct sws_forest *self)
{
	void *node = self->fresh;

	memset(node, 0, self->node_bytes);
	self->fresh += self->node_bytes;
	self->fresh_count--;
	return node;
}

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
