/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rtree/slow.h - what a row does beyond its leaf; rare, so a call of its own.
 */
#ifndef SWAPSIM_RTREE_SLOW_H
#define SWAPSIM_RTREE_SLOW_H

#include "rtree/layout.h"

/* An insert that found no leaf: the tree grows, or nodes are missing, or its height is 0. */
int sws_rtree__insert_off_leaf(struct sws_forest *self, struct sws_rtree__tree *tree,
			       uint64_t index, uint64_t item, struct sws_rtree_work *work);

/* An item has left its leaf: frees the nodes left empty, then shrinks the tree from its top. */
void sws_rtree__settle(struct sws_forest *self, struct sws_rtree__tree *tree,
		       struct sws_rtree__node *leaf, uint64_t index, struct sws_rtree_work *work);

#endif
