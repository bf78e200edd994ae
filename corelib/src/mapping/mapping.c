/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "swapsim/mapping.h"

/* The differences between the columns of the header's table; the code is shared. */
struct kernel_rules {
	enum sws_kernel kernel;
	/* True if each trunk has a mapping, false if the device has one. */
	bool trunks;
	/* True if the start of writeback sets and clears tags in one descent. */
	bool one_walk_start;
	/* True if removal from the swap cache may leave a shadow. */
	bool shadow_of_swap;
	/* True if a single page at index 0 may leave a shadow. */
	bool shadow_in_root;
};

/*
 * One page at device offset 70000, from add to the freeing of its slot, in otherwise empty trees
 * (height 3); each step as locks taken / descents / tag words:
 *
 *                       add       start     end       delete    clear shadow
 *      4.8              1/1/0     1/3/6     1/1/4     1/1/3     -
 *      5.8              1/1/0     1/1/6     1/1/4     1/1/3     -
 *      6.1              1/1/0     1/1/6     1/1/4     1/1/0     1/1/3
 *      any, no tags     1/1/0     -         -         as above  as above
 *
 * Start sets WRITEBACK in 3 nodes and the root, 4 words, and finds DIRTY and TOWRITE not set at the
 * leaf, one word each. In 6.1 delete leaves a shadow in the slot and touches no tag; the nodes
 * remain until the slot is freed, which then has the cost of 4.8's delete.
 */
static const struct kernel_rules rows[] = {
	{
		SWS_KERNEL_4_8,
		.trunks = false,
		.one_walk_start = false,
		.shadow_of_swap = false,
		.shadow_in_root = false,
	},
	{
		SWS_KERNEL_5_8,
		.trunks = true,
		.one_walk_start = true,
		.shadow_of_swap = false,
		.shadow_in_root = true,
	},
	{
		SWS_KERNEL_6_1,
		.trunks = true,
		.one_walk_start = true,
		.shadow_of_swap = true,
		.shadow_in_root = true,
	},
};

enum { ALL_TAGS = (1u << SWS_RTREE_TAG_COUNT) - 1 };

/* Returns the row of a kernel; NULL for an unknown kernel. */
static const struct kernel_rules *rules_of(enum sws_kernel kernel)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].kernel == kernel)
			return &rows[i];
	return NULL;
}

bool sws_mapping_knows(enum sws_kernel kernel)
{
	return rules_of(kernel);
}

struct sws_mappings {
	struct sws_allocator allocator;
	const struct kernel_rules *rules;
	/* Tree i belongs to mapping i. */
	struct sws_forest *forest;
	uint64_t swap_slots;
	uint32_t trunk_shift;
	/* Mappings below this number belong to the swap cache. */
	uint32_t swap_count;
	bool swap_writeback_tags;
};

static bool is_shadow(uint64_t item)
{
	return item & 1;
}

static bool is_folio(uint64_t item)
{
	return item && !is_shadow(item);
}

void sws_mapping_config_init(struct sws_mapping_config *config)
{
	*config = (struct sws_mapping_config){
		.kernel = SWS_KERNEL_4_8,
		.swap_writeback_tags = true,
		.swap_slots = UINT64_C(1) << 32,
		.trunk_shift = 14,
		.tree_shift = 6,
		.allocator = NULL,
	};
}

static bool config_fits(const struct sws_mapping_config *config)
{
	return sws_mapping_knows(config->kernel) && config->swap_slots >= 1 &&
	       config->swap_slots <= SWS_MAPPING_SLOTS_MAX && config->trunk_shift >= 1 &&
	       config->trunk_shift <= SWS_MAPPING_TRUNK_SHIFT_MAX && config->tree_shift >= 1 &&
	       config->tree_shift <= SWS_RTREE_SHIFT_MAX;
}

int sws_mappings_new(const struct sws_mapping_config *config, struct sws_mappings **out)
{
	struct sws_mappings *self = NULL;
	struct sws_forest_config forest;
	int error = SWS_OK;

	*out = NULL;
	if (!config_fits(config))
		return SWS_ERROR_BAD_CONFIG;
	self = sws_create(config->allocator, sizeof(*self));
	if (!self)
		return SWS_ERROR_NO_MEMORY;
	self->rules = rules_of(config->kernel);
	self->swap_slots = config->swap_slots;
	self->trunk_shift = config->trunk_shift;
	self->swap_writeback_tags = config->swap_writeback_tags;
	self->swap_count = self->rules->trunks
				   ? (uint32_t)((config->swap_slots - 1) >> config->trunk_shift) + 1
				   : 1;
	sws_forest_config_init(&forest);
	forest.shift = config->tree_shift;
	forest.tree_count = self->swap_count;
	forest.allocator = &self->allocator;
	error = sws_forest_new(&forest, &self->forest);
	if (error)
		sws_mappings_free(self);
	else
		*out = self;
	return error;
}

void sws_mappings_free(struct sws_mappings *self)
{
	if (!self)
		return;
	sws_forest_free(self->forest);
	sws_destroy(self);
}

/*
 * Offset 70000 is in trunk 70000 >> 14 = 4, which covers 65536 .. 81919. Its index there is still
 * 70000, not 70000 - 65536 = 4464: the kernel uses the complete swp_offset(). So a trunk from 2^18
 * on (1 GB) has a tree of height 4, whose upper nodes have one child each.
 */
int sws_mapping_of_swap(const struct sws_mappings *self, uint64_t offset, uint32_t *mapping)
{
	if (offset >= self->swap_slots)
		return SWS_ERROR_BAD_ARGUMENT;
	*mapping = self->rules->trunks ? (uint32_t)(offset >> self->trunk_shift) : 0;
	return SWS_OK;
}

int sws_mapping_of_file(const struct sws_mappings *self, uint32_t nth, uint32_t *mapping)
{
	if (nth >= sws_mapping_count(self) - self->swap_count)
		return SWS_ERROR_NOT_FOUND;
	*mapping = self->swap_count + nth;
	return SWS_OK;
}

int sws_mapping_add_file(struct sws_mappings *self, uint32_t *mapping)
{
	return sws_forest_add_tree(self->forest, mapping);
}

uint32_t sws_mapping_count(const struct sws_mappings *self)
{
	return sws_forest_tree_count(self->forest);
}

bool sws_mapping_is_swap(const struct sws_mappings *self, uint32_t mapping)
{
	return mapping < self->swap_count;
}

/* mapping_use_writeback_tags */
static bool keeps_writeback_tags(const struct sws_mappings *self, uint32_t mapping)
{
	return !sws_mapping_is_swap(self, mapping) || self->swap_writeback_tags;
}

/* Returns true if the mapping exists and, for swap, covers the index. */
static bool covers(const struct sws_mappings *self, uint32_t mapping, uint64_t index)
{
	uint32_t holder = 0;

	if (!sws_mapping_is_swap(self, mapping))
		return mapping < sws_mapping_count(self);
	return sws_mapping_of_swap(self, index, &holder) == SWS_OK && holder == mapping;
}

int sws_mapping_add(struct sws_mappings *self, uint32_t mapping, uint64_t index, uint64_t folio,
		    struct sws_mapping_work *work)
{
	uint64_t present = 0;

	if (!covers(self, mapping, index) || !is_folio(folio))
		return SWS_ERROR_BAD_ARGUMENT;
	work->acquisitions++;
	/*
	 * The kernel finds a shadow on the descent of the insert, so this look-up costs nothing
	 * there.
	 */
	present = sws_rtree_lookup(self->forest, mapping, index, NULL);
	if (is_shadow(present))
		return sws_rtree_replace(self->forest, mapping, index, folio, &work->tree);
	return sws_rtree_insert(self->forest, mapping, index, folio, &work->tree);
}

int sws_mapping_dirty(struct sws_mappings *self, uint32_t mapping, uint64_t index,
		      struct sws_mapping_work *work)
{
	if (sws_mapping_is_swap(self, mapping))
		return SWS_ERROR_BAD_ARGUMENT;
	if (!is_folio(sws_mapping_lookup(self, mapping, index)))
		return SWS_ERROR_NOT_FOUND;
	work->acquisitions++;
	return sws_rtree_tag_set(self->forest, mapping, index, SWS_RTREE_TAG_DIRTY, &work->tree);
}

/* 4.8: one descent for each tag that changes. */
static int start_by_tag(struct sws_mappings *self, uint32_t mapping, uint64_t index,
			bool page_dirty, bool keep_write, struct sws_rtree_work *work)
{
	int error = sws_rtree_tag_set(self->forest, mapping, index, SWS_RTREE_TAG_WRITEBACK, work);

	if (!error && !page_dirty)
		error = sws_rtree_tag_clear(self->forest, mapping, index, SWS_RTREE_TAG_DIRTY,
					    work);
	if (!error && !keep_write)
		error = sws_rtree_tag_clear(self->forest, mapping, index, SWS_RTREE_TAG_TOWRITE,
					    work);
	return error;
}

int sws_mapping_start_writeback(struct sws_mappings *self, uint32_t mapping, uint64_t index,
				bool page_dirty, bool keep_write, struct sws_mapping_work *work)
{
	uint32_t cleared = (page_dirty ? 0u : 1u << SWS_RTREE_TAG_DIRTY) |
			   (keep_write ? 0u : 1u << SWS_RTREE_TAG_TOWRITE);

	if (!is_folio(sws_mapping_lookup(self, mapping, index)))
		return SWS_ERROR_NOT_FOUND;
	if (!keeps_writeback_tags(self, mapping))
		return SWS_OK;
	work->acquisitions++;
	if (!self->rules->one_walk_start)
		return start_by_tag(self, mapping, index, page_dirty, keep_write, &work->tree);
	return sws_rtree_tag_update(self->forest, mapping, index, 1u << SWS_RTREE_TAG_WRITEBACK,
				    cleared, &work->tree);
}

int sws_mapping_end_writeback(struct sws_mappings *self, uint32_t mapping, uint64_t index,
			      struct sws_mapping_work *work)
{
	if (!is_folio(sws_mapping_lookup(self, mapping, index)))
		return SWS_ERROR_NOT_FOUND;
	if (!keeps_writeback_tags(self, mapping))
		return SWS_OK;
	work->acquisitions++;
	return sws_rtree_tag_clear(self->forest, mapping, index, SWS_RTREE_TAG_WRITEBACK,
				   &work->tree);
}

int sws_mapping_move(struct sws_mappings *self, uint32_t mapping, uint64_t index, uint64_t folio,
		     struct sws_mapping_work *work)
{
	if (!is_folio(folio))
		return SWS_ERROR_BAD_ARGUMENT;
	if (!is_folio(sws_mapping_lookup(self, mapping, index)))
		return SWS_ERROR_NOT_FOUND;
	work->acquisitions++;
	return sws_rtree_replace(self->forest, mapping, index, folio, &work->tree);
}

static void remove_swap_page(struct sws_mappings *self, uint32_t mapping, uint64_t index,
			     uint64_t shadow, struct sws_rtree_work *work)
{
	if (shadow && self->rules->shadow_of_swap)
		sws_rtree_replace(self->forest, mapping, index, shadow, work);
	else
		sws_rtree_delete(self->forest, mapping, index, work);
}

int sws_mapping_delete(struct sws_mappings *self, uint32_t mapping, uint64_t index, uint64_t shadow,
		       struct sws_mapping_work *work)
{
	if (shadow && !is_shadow(shadow))
		return SWS_ERROR_BAD_ARGUMENT;
	if (!is_folio(sws_mapping_lookup(self, mapping, index)))
		return SWS_ERROR_NOT_FOUND;
	work->acquisitions++;
	if (sws_mapping_is_swap(self, mapping))
		remove_swap_page(self, mapping, index, shadow, &work->tree);
	else
		sws_rtree_delete(self->forest, mapping, index, &work->tree);
	return SWS_OK;
}

/*
 * One descent clears the tags; the shadow replaces the page in its slot. A shadow keeps the leaf: a
 * file whose pages were all reclaimed still has the nodes of its tree. In 4.8 a single page at
 * index 0 leaves no shadow, because shadows are counted per node and there is no node.
 */
static void remove_file_page(struct sws_mappings *self, uint32_t mapping, uint64_t index,
			     uint64_t shadow, struct sws_rtree_work *work)
{
	const bool in_root = sws_rtree_height(self->forest, mapping) == 0;

	if (!shadow || (in_root && !self->rules->shadow_in_root)) {
		sws_rtree_delete(self->forest, mapping, index, work);
		return;
	}
	sws_rtree_tag_update(self->forest, mapping, index, 0, ALL_TAGS, work);
	sws_rtree_replace(self->forest, mapping, index, shadow, NULL);
}

int sws_mapping_remove(struct sws_mappings *self, uint32_t mapping, uint64_t index, uint64_t shadow,
		       struct sws_rtree_work *work)
{
	if (shadow && !is_shadow(shadow))
		return SWS_ERROR_BAD_ARGUMENT;
	if (!is_folio(sws_mapping_lookup(self, mapping, index)))
		return SWS_ERROR_NOT_FOUND;
	if (sws_mapping_is_swap(self, mapping))
		remove_swap_page(self, mapping, index, shadow, work);
	else
		remove_file_page(self, mapping, index, shadow, work);
	return SWS_OK;
}

int sws_mapping_clear_shadow(struct sws_mappings *self, uint32_t mapping, uint64_t index,
			     struct sws_mapping_work *work)
{
	if (!sws_mapping_is_swap(self, mapping) || !covers(self, mapping, index))
		return SWS_ERROR_BAD_ARGUMENT;
	if (!self->rules->shadow_of_swap)
		return SWS_OK;
	work->acquisitions++;
	/* A walk that finds no shadow counts as well. */
	if (!is_shadow(sws_mapping_lookup(self, mapping, index)))
		sws_rtree_lookup(self->forest, mapping, index, &work->tree);
	else
		sws_rtree_delete(self->forest, mapping, index, &work->tree);
	return SWS_OK;
}

uint64_t sws_mapping_lookup(const struct sws_mappings *self, uint32_t mapping, uint64_t index)
{
	return sws_rtree_lookup(self->forest, mapping, index, NULL);
}

bool sws_mapping_tagged(const struct sws_mappings *self, uint32_t mapping, enum sws_rtree_tag tag)
{
	return sws_rtree_tagged(self->forest, mapping, tag);
}

uint64_t sws_mapping_nodes(const struct sws_mappings *self, uint32_t mapping)
{
	return sws_rtree_node_count(self->forest, mapping);
}

/* Returns what is wrong with an item of a mapping; NULL if nothing is. */
static const char *wrong_item(const struct sws_mappings *self, uint32_t mapping, uint64_t index,
			      uint64_t item)
{
	if (!covers(self, mapping, index))
		return "a slot is in the mapping of another trunk";
	if (is_shadow(item) && sws_mapping_is_swap(self, mapping) && !self->rules->shadow_of_swap)
		return "there is a shadow in the swap cache of a kernel that leaves none";
	return NULL;
}

/* Walks over the items of a mapping. */
static const char *wrong_with(const struct sws_mappings *self, uint32_t mapping)
{
	const char *wrong = NULL;
	uint64_t index = 0;
	uint64_t item = 0;

	do {
		item = sws_rtree_next(self->forest, mapping, &index);
		if (item)
			wrong = wrong_item(self, mapping, index, item);
	} while (item && !wrong && ++index);
	return wrong;
}

int sws_mappings_verify(const struct sws_mappings *self, const char **reason)
{
	for (uint32_t mapping = 0; mapping < sws_mapping_count(self); mapping++) {
		*reason = wrong_with(self, mapping);
		if (*reason)
			return SWS_ERROR_BROKEN;
	}
	for (uint32_t mapping = 0; mapping < self->swap_count; mapping++) {
		/* Swap's set_page_dirty only sets the page flag. */
		if (sws_mapping_tagged(self, mapping, SWS_RTREE_TAG_DIRTY)) {
			*reason = "a page in the swap cache has the tag DIRTY";
			return SWS_ERROR_BROKEN;
		}
		if (!self->swap_writeback_tags &&
		    sws_mapping_tagged(self, mapping, SWS_RTREE_TAG_WRITEBACK)) {
			*reason = "a page has the tag WRITEBACK in a mapping that keeps none";
			return SWS_ERROR_BROKEN;
		}
	}
	return sws_forest_verify(self->forest, reason);
}
