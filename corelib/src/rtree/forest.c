/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rtree/layout.h"

void sws_forest_config_init(struct sws_forest_config *config)
{
	*config = (struct sws_forest_config){
		.shift = 6,
		.tree_count = 1,
		.allocator = NULL,
	};
}

static int resize_trees(struct sws_forest *self, uint32_t room)
{
	struct sws_rtree__tree *trees = NULL;

	trees = sws_resize_array(self->allocator, self->trees, room, sizeof(*trees));
	if (!trees)
		return SWS_ERROR_NO_MEMORY;
	self->trees = trees;
	self->tree_room = room;
	return SWS_OK;
}

/* The leaf number is one that no index has, because 0 would stand for the leaf of index 0. */
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
	if (config->shift < 1 || config->shift > SWS_RTREE_SHIFT_MAX) {
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
	sws_forest__init_nodes(self);
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
	sws_forest__free_nodes(self);
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
