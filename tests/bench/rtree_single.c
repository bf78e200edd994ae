/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This library's single calls in the harness of rows. */
#include "swapsim/rtree.h"

#include "rtree_rows.h"

static struct sws_forest *forest;

static void operate_begin(uint64_t trees)
{
	struct sws_forest_config config;

	sws_forest_config_init(&config);
	config.tree_count = (uint32_t)trees;
	if (sws_forest_new(&config, &forest))
		exit(2);
}

static inline uint64_t operate_insert(uint32_t tree, uint64_t index, uint64_t item)
{
	return (uint64_t)sws_rtree_insert(forest, tree, index, item, NULL);
}

static inline uint64_t operate_tag_set(uint32_t tree, uint64_t index)
{
	return sws_rtree_tag_set(forest, tree, index, SWS_RTREE_TAG_WRITEBACK, NULL) == SWS_OK;
}

static inline uint64_t operate_lookup(uint32_t tree, uint64_t index)
{
	return sws_rtree_lookup(forest, tree, index, NULL);
}

static inline uint64_t operate_tag_clear(uint32_t tree, uint64_t index)
{
	return sws_rtree_tag_clear(forest, tree, index, SWS_RTREE_TAG_WRITEBACK, NULL) == SWS_OK;
}

static inline uint64_t operate_delete(uint32_t tree, uint64_t index)
{
	return sws_rtree_delete(forest, tree, index, NULL);
}

static void operate_end(void)
{
}
