/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * removal/lists.c - lists in columns. Each list is read into a buffer and checked completely; then
 * it passes through the same functions that a caller with its own pages uses.
 */
#include "removal/parts.h"

/* Any even word stands for a page that was missing in its tree. */
enum { A_FOLIO = 2 };

/* Returns the mapping of a row: NO_MAPPING if it has none, or an unknown one. */
static uint32_t mapping_of_row(const struct sws_removal *self, uint32_t file, uint64_t index)
{
	uint32_t mapping = SWS_REMOVAL_NO_MAPPING;

	if (file == SWS_REMOVAL_FILE_SWAP)
		sws_mapping_of_swap(self->mappings, index, &mapping);
	else if (file != SWS_REMOVAL_FILE_NONE)
		sws_mapping_of_file(self->mappings, file, &mapping);
	return mapping;
}

static int read_page(struct sws_removal *self, const struct sws_removal_rows *rows, uint64_t row,
		     struct sws_removal_page *page)
{
	const uint64_t index = rows->index[row];
	const uint32_t file = rows->file[row];
	struct sws_mapping_work unbooked = { 0 };

	*page = (struct sws_removal_page){
		.index = index,
		.entry = file == SWS_REMOVAL_FILE_SWAP ? index : 0,
		.mapping = mapping_of_row(self, file, index),
		.references = rows->references[row],
		.locked = rows->locked[row],
		.dirty = rows->dirty[row],
		.freepage = rows->freepage[row],
		.lazyfree = rows->lazyfree[row],
	};
	if (!self->brings_pages || page->mapping == SWS_REMOVAL_NO_MAPPING ||
	    removal_is_folio(sws_mapping_lookup(self->mappings, page->mapping, index)))
		return SWS_OK;
	return sws_mapping_add(self->mappings, page->mapping, index, A_FOLIO, &unbooked);
}

/* Checks one page of a list; the pages before it are held. */
static enum sws_removal_problem check_page(struct sws_removal *self, struct sws_removal_page *page,
					   uint32_t file)
{
	const enum sws_removal_problem problem = sws_removal_check(self, page);

	/* A slot past the end of the device has a mapping in name only. */
	if (problem == SWS_REMOVAL_HAS_NO_MAPPING && file == SWS_REMOVAL_FILE_SWAP)
		return SWS_REMOVAL_NOT_IN_TREE;
	if (!problem)
		sws_removal__hold_page(self, page);
	return problem;
}

static enum sws_removal_problem check_length(const struct sws_removal *self, uint64_t begin,
					     uint64_t end)
{
	if (self->waiting.head || self->due || self->freed.head || self->kept.head)
		return SWS_REMOVAL_NOT_EMPTY;
	if (end <= begin)
		return SWS_REMOVAL_EMPTY_LIST;
	return end - begin > self->list_pages ? SWS_REMOVAL_LIST_TOO_LONG : SWS_REMOVAL_NO_PROBLEM;
}

/* Reads and checks rows begin .. end - 1; removes no page. */
static int read_list(struct sws_removal *self, const struct sws_removal_rows *rows, uint64_t begin,
		     uint64_t end, struct sws_removal_results *results)
{
	uint64_t place = 0;
	int error = SWS_OK;

	results->row = begin;
	results->problem = check_length(self, begin, end);
	if (results->problem)
		return SWS_ERROR_BAD_ARGUMENT;
	for (; !error && place < end - begin; place++) {
		struct sws_removal_page *page = &self->pages[place];

		results->row = begin + place;
		error = read_page(self, rows, results->row, page);
		if (!error)
			results->problem = check_page(self, page, rows->file[results->row]);
		if (results->problem)
			error = SWS_ERROR_BAD_ARGUMENT;
	}
	/* The row at fault is not held. */
	for (uint64_t before = 0; error && before + 1 < place; before++)
		sws_removal__let_go(self, &self->pages[before]);
	return error;
}

/* Runs the holds of the current list. */
static void remove_list(struct sws_removal *self, uint32_t pages, uint64_t list,
			struct sws_removal_results *results)
{
	/*
	 * The complete list was checked, so queueing cannot fail half way and leave pages on no
	 * list.
	 */
	for (uint32_t place = 0; place < pages; place++)
		sws_removal__push(self, &self->pages[place]);
	while (self->waiting.head) {
		struct sws_removal_hold *hold = &results->holds[results->n_holds++];

		sws_removal_hold(self, hold);
		hold->list = list;
		while (self->due)
			sws_removal_settle(self);
	}
}

/*
 * Reads the lists of freed and of kept pages from their heads. For A1 B1 A2 C1 A3 with a third
 * reference to A2 (removal/removal.c), batched, the freed pages are B1 C1 A1 A3 and the kept one is
 * A2:
 *
 *      row       A1   B1   A2   C1   A3
 *      removed   1    1    0    1    1
 *      place     2    0    0    1    3
 */
static void write_results(struct sws_removal *self, uint64_t begin,
			  struct sws_removal_results *results)
{
	struct sws_removal_page *page = NULL;

	for (uint32_t place = 0; (page = sws_removal_take_freed(self)); place++) {
		results->removed[begin + (uint64_t)(page - self->pages)] = true;
		if (results->place)
			results->place[begin + (uint64_t)(page - self->pages)] = place;
	}
	for (uint32_t place = 0; (page = sws_removal_take_kept(self)); place++) {
		results->removed[begin + (uint64_t)(page - self->pages)] = false;
		if (results->place)
			results->place[begin + (uint64_t)(page - self->pages)] = place;
	}
}

int sws_removal_lists(struct sws_removal *self, const struct sws_removal_rows *rows,
		      uint64_t n_lists, const uint64_t *ends, struct sws_removal_results *results)
{
	uint64_t begin = 0;
	int error = SWS_OK;

	results->n_holds = 0;
	results->problem = SWS_REMOVAL_NO_PROBLEM;
	for (uint64_t list = 0; list < n_lists; list++) {
		results->list = list;
		error = read_list(self, rows, begin, ends[list], results);
		if (error)
			return error;
		remove_list(self, (uint32_t)(ends[list] - begin), list, results);
		write_results(self, begin, results);
		begin = ends[list];
	}
	return SWS_OK;
}
