/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rtree/slow.h - the effects of a row beyond its leaf; they are rare, so these are function calls.
 */
#ifndef SWAPSIM_RTREE_SLOW_H
#define SWAPSIM_RTREE_SLOW_H

#include "rtree/layout.h"

/* Inserts an item without a leaf: the tree grows, nodes are missing, or its height is 0. */
int sws_rtree__insert_off_leaf(struct sws_forest *self, struct sws_rtree__tree *tree,
			       uint64_t index, uint64_t item, struct sws_rtree_work *work);

/* Settles a leaf that has lost an item: frees empty nodes, then shrinks the tree from its top. */
void sws_rtree__settle(struct sws_forest *self, struct sws_rtree__tree *tree,
		       struct sws_rtree__node *leaf, uint64_t index, struct sws_rtree_work *work);

#endif
