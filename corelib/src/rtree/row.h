/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rtree/row.h - a batch call and one row of it. in_order.h and dealt.h process rows each in their
 * own way, inline, with the operation as a constant, so that each of the five hot loops contains
 * its own operation only. Only batch.c includes them.
 */
#ifndef SWAPSIM_RTREE_ROW_H
#define SWAPSIM_RTREE_ROW_H

#include "rtree/steps.h"

enum operation { INSERT, LOOKUP, DELETE, TAG_SET, TAG_CLEAR };

struct batch {
	struct sws_forest *forest;
	size_t count;
	const uint32_t *trees;
	const uint64_t *indexes;
	/* The items of an insert. */
	const uint64_t *items;
	/* The tag of a call on a tag. */
	uint32_t tag;
	/* Results of lookup and delete, else NULL. */
	uint64_t *words;
	/* Results of the other operations. */
	int8_t *bytes;
	/* True if an insert has failed; the rows after it are not tried. */
	bool out_of_nodes;
};

/* Returns the result of one row; a status is widened to a word. */
SWS_RTREE__STEP uint64_t apply(struct batch *self, enum operation operation,
			       struct sws_rtree__tree *tree, struct sws_rtree__node *leaf,
			       uint64_t index, uint64_t item)
{
	struct sws_forest *forest = self->forest;
	int status = SWS_OK;

	switch (operation) {
	case INSERT:
		if (self->out_of_nodes)
			return (uint64_t)SWS_ERROR_NO_MEMORY;
		status = sws_rtree__insert(forest, tree, leaf, index, item, NULL);
		if (status == SWS_ERROR_NO_MEMORY)
			self->out_of_nodes = true;
		break;
	case LOOKUP:
		return sws_rtree__item(forest, tree, leaf, index);
	case DELETE:
		return sws_rtree__delete(forest, tree, leaf, index, NULL);
	case TAG_SET:
		status = sws_rtree__tag_set(forest, tree, leaf, index, self->tag);
		break;
	case TAG_CLEAR:
		status = sws_rtree__tag_clear(forest, tree, leaf, index, self->tag, NULL);
		break;
	}
	return (uint64_t)status;
}

SWS_RTREE__STEP void write_result(struct batch *self, enum operation operation, size_t row,
				  uint64_t result)
{
	if (operation == LOOKUP || operation == DELETE)
		self->words[row] = result;
	else
		self->bytes[row] = (int8_t)result;
}

#endif
