/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's radix tree, built in user space by its own tools, in the harness of rows. */
#include <linux/radix-tree.h>
#include <urcu.h>

#include "rtree_rows.h"

#define WRITEBACK 1

static struct radix_tree_root *roots;

static void operate_begin(uint64_t trees)
{
	rcu_register_thread();
	radix_tree_init();
	roots = malloc(trees * sizeof(*roots));
	for (uint64_t tree = 0; tree < trees; tree++)
		INIT_RADIX_TREE(&roots[tree], GFP_KERNEL);
}

static inline uint64_t operate_insert(uint32_t tree, uint64_t index, uint64_t item)
{
	return (uint64_t)radix_tree_insert(&roots[tree], index, (void *)item);
}

static inline uint64_t operate_tag_set(uint32_t tree, uint64_t index)
{
	return radix_tree_tag_set(&roots[tree], index, WRITEBACK) != NULL;
}

static inline uint64_t operate_lookup(uint32_t tree, uint64_t index)
{
	return (uint64_t)radix_tree_lookup(&roots[tree], index);
}

static inline uint64_t operate_tag_clear(uint32_t tree, uint64_t index)
{
	return radix_tree_tag_clear(&roots[tree], index, WRITEBACK) != NULL;
}

static inline uint64_t operate_delete(uint32_t tree, uint64_t index)
{
	return (uint64_t)radix_tree_delete(&roots[tree], index);
}

/* Freed nodes go through RCU, whose cost must not fall into the next round. */
static void operate_end(void)
{
	rcu_barrier();
}
