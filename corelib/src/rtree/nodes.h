/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rtree/nodes.h - allocation and freeing of nodes.
 *
 *      slab  [ head | used | used | used | fresh fresh fresh fresh ]
 *                      |      ^
 *                 give v      | take
 *                   free nodes, all zero, linked by parent
 *
 * An operation first reserves the maximum number of nodes that it may need, which is the only place
 * where memory can run out; then it takes them, and cannot fail midway.
 */
#ifndef SWAPSIM_RTREE_NODES_H
#define SWAPSIM_RTREE_NODES_H

#include "rtree/layout.h"

/* Sets the size of a node and of the first slab from the forest's shift. */
void sws_forest__init_nodes(struct sws_forest *self);

/* Frees all slabs. */
void sws_forest__free_nodes(struct sws_forest *self);

/* Ensures that the next count nodes can be taken. Returns SWS_OK or SWS_ERROR_NO_MEMORY. */
int sws_forest__reserve(struct sws_forest *self, uint64_t count);

/* Takes a zeroed node that was reserved. */
struct sws_rtree__node *sws_forest__take(struct sws_forest *self, struct sws_rtree__tree *tree);

/* Frees a node whose slots and tag words are all zero. */
void sws_forest__give(struct sws_forest *self, struct sws_rtree__tree *tree,
		      struct sws_rtree__node *node);

#endif
