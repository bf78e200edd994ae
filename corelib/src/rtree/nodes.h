/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rtree/nodes.h - where nodes come from and go to.
 *
 *      slab  [ head | used | used | used | fresh fresh fresh fresh ]
 *                      |      ^
 *                 give v      | take
 *                   free nodes, all zero, linked by parent
 *
 * An operation first reserves the most nodes that it may need, the one place
 * where memory can run out; then it takes them, and cannot fail midway.
 */
#ifndef SWAPSIM_RTREE_NODES_H
#define SWAPSIM_RTREE_NODES_H

#include "rtree/layout.h"

/* Sets the bytes of a node and the first slab's size by the forest's shift. */
void sws_forest__init_nodes(struct sws_forest *self);

/* Frees all slabs. */
void sws_forest__free_nodes(struct sws_forest *self);

/* Sees to it that the next count nodes can be taken. SWS_OK or SWS_ERROR_NO_MEMORY. */
int sws_forest__reserve(struct sws_forest *self, uint64_t count);

/* Takes a zeroed node that was reserved. */
struct sws_rtree__node *sws_forest__take(struct sws_forest *self, struct sws_rtree__tree *tree);

/* Gives back a node whose slots and tag words are all zero. */
void sws_forest__give(struct sws_forest *self, struct sws_rtree__tree *tree,
		      struct sws_rtree__node *node);

#endif
