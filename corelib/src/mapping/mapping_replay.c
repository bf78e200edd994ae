/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "swapsim/mapping_replay.h"

#include "core/index_map.h"
#include "mapping/stays.h"

struct sws_mapping_replay {
	struct sws_allocator allocator;
	struct sws_mappings *mappings;
	struct sws_stays stays;
	/* Maps a file's key to its mapping. */
	struct sws_index_map files;
	/* Mappings below this number belong to the swap cache. */
	uint32_t swap_mappings;
	struct sws_mapping_replay_cell cells[SWS_MAPPING_REPLAY_FLOWS][SWS_MAPPING_REPLAY_SITES];
};

static void book(struct sws_mapping_replay *self, enum sws_mapping_replay_flow flow,
		 enum sws_mapping_replay_site site, const struct sws_mapping_work *work)
{
	struct sws_mapping_replay_cell *cell = &self->cells[flow][site];

	cell->calls++;
	cell->work.acquisitions += work->acquisitions;
	cell->work.tree.descents += work->tree.descents;
	cell->work.tree.nodes_touched += work->tree.nodes_touched;
	cell->work.tree.tag_words_touched += work->tree.tag_words_touched;
	cell->work.tree.nodes_allocated += work->tree.nodes_allocated;
	cell->work.tree.nodes_freed += work->tree.nodes_freed;
}

static enum sws_mapping_replay_flow flow_of(const struct sws_stay *stay)
{
	if (!stay->swap)
		return SWS_MAPPING_REPLAY_FILE;
	return stay->written ? SWS_MAPPING_REPLAY_WRITTEN : SWS_MAPPING_REPLAY_UNWRITTEN;
}

static void book_add(struct sws_mapping_replay *self, struct sws_stay *stay)
{
	if (stay->add_unbooked)
		book(self, flow_of(stay), SWS_MAPPING_REPLAY_SITE_ADD, &stay->add);
	stay->add_unbooked = false;
}

/* Opens a stay for a folio without one. */
static int open_stay(struct sws_mapping_replay *self, uint64_t folio, uint32_t mapping,
		     uint64_t index, struct sws_stay **out)
{
	int error = sws_stays__open(&self->stays, folio, mapping, index, out);

	if (!error)
		(*out)->swap = mapping < self->swap_mappings;
	return error;
}

/* Ends a stay, and counts its add. */
static void close_stay(struct sws_mapping_replay *self, struct sws_stay *stay)
{
	book_add(self, stay);
	sws_stays__close(&self->stays, stay);
}

static void contradict(struct sws_mapping_replay *self, enum sws_mapping_replay_site site)
{
	self->cells[SWS_MAPPING_REPLAY_WRITTEN][site].contradicted++;
}

/*
 * Two adds at one place, as a probe at the entry of add_to_swap_cache records them if the first
 * call failed:
 *
 *      add F at 70000      F: stay
 *      add G at 70000      evict: F's add is counted as unwritten; contradicted + 1; G: stay
 *
 * The kernel did not delete F, so the delete here is not counted.
 */

/* Removes a page that must have left without a row in the trace, found at a site. */
static void evict(struct sws_mapping_replay *self, uint32_t mapping, uint64_t index,
		  enum sws_mapping_replay_site site)
{
	struct sws_mapping_work unbooked = { 0 };
	uint64_t present = sws_mapping_lookup(self->mappings, mapping, index);
	struct sws_stay *stay = NULL;

	if (!present || (present & 1))
		return;
	stay = sws_stays__find(&self->stays, present);
	if (stay && stay->mapping == mapping && stay->index == index) {
		if (stay->swap)
			contradict(self, site);
		close_stay(self, stay);
	}
	sws_mapping_delete(self->mappings, mapping, index, 0, &unbooked);
}

static void forget_folio(struct sws_mapping_replay *self, uint64_t folio,
			 enum sws_mapping_replay_site site)
{
	struct sws_stay *stay = sws_stays__find(&self->stays, folio);

	if (stay)
		evict(self, stay->mapping, stay->index, site);
}

static int mapping_of_file(struct sws_mapping_replay *self, uint64_t file, uint32_t *mapping)
{
	int error = SWS_OK;

	if (sws_index_map__find(&self->files, file, mapping))
		return SWS_OK;
	error = sws_mapping_add_file(self->mappings, mapping);
	return error ? error : sws_index_map__put(&self->files, file, *mapping);
}

static int mapping_of_row(struct sws_mapping_replay *self, uint64_t file, uint64_t index,
			  uint32_t *mapping)
{
	if (file == SWS_MAPPING_REPLAY_FILE_SWAP)
		return sws_mapping_of_swap(self->mappings, index, mapping);
	return mapping_of_file(self, file, mapping);
}

/* Adds a page and counts the add. */
static int add(struct sws_mapping_replay *self, uint64_t folio, uint64_t file, uint64_t index)
{
	struct sws_mapping_work work = { 0 };
	struct sws_stay *stay = NULL;
	uint32_t mapping = 0;
	int error = mapping_of_row(self, file, index, &mapping);

	if (error)
		return error;
	forget_folio(self, folio, SWS_MAPPING_REPLAY_SITE_ADD);
	evict(self, mapping, index, SWS_MAPPING_REPLAY_SITE_ADD);
	error = open_stay(self, folio, mapping, index, &stay);
	if (error)
		return error;
	error = sws_mapping_add(self->mappings, mapping, index, folio, &work);
	if (error) {
		close_stay(self, stay);
		return error;
	}
	stay->add = work;
	stay->add_unbooked = true;
	if (!stay->swap)
		book_add(self, stay);
	return SWS_OK;
}

/* Adds a page from before the trace without counting it. */
static int adopt(struct sws_mapping_replay *self, uint64_t folio, uint32_t mapping, uint64_t index,
		 enum sws_mapping_replay_site site, struct sws_stay **out)
{
	struct sws_mapping_work unbooked = { 0 };
	int error = SWS_OK;

	forget_folio(self, folio, site);
	evict(self, mapping, index, site);
	error = open_stay(self, folio, mapping, index, out);
	if (error)
		return error;
	error = sws_mapping_add(self->mappings, mapping, index, folio, &unbooked);
	if (error)
		close_stay(self, *out);
	return error;
}

/*
 * Finds the stay that a row refers to; *out remains NULL if the trace does not determine it. A
 * known stay at the row's index is used even if the row has another key for its file, because
 * events name a file by inode, and probes by address.
 */
static int resolve(struct sws_mapping_replay *self, uint64_t folio, uint64_t file, uint64_t index,
		   enum sws_mapping_replay_site site, struct sws_stay **out)
{
	uint32_t mapping = 0;
	int error = SWS_OK;

	*out = sws_stays__find(&self->stays, folio);
	if (file == SWS_MAPPING_REPLAY_FILE_UNKNOWN)
		return SWS_OK;
	if (*out && (*out)->swap == (file == SWS_MAPPING_REPLAY_FILE_SWAP) &&
	    (*out)->index == index)
		return SWS_OK;
	error = mapping_of_row(self, file, index, &mapping);
	return error ? error : adopt(self, folio, mapping, index, site, out);
}

static void book_unresolved(struct sws_mapping_replay *self, enum sws_mapping_replay_site site)
{
	struct sws_mapping_work work = { .acquisitions = 1 };

	self->cells[SWS_MAPPING_REPLAY_FILE][site].unresolved++;
	book(self, SWS_MAPPING_REPLAY_FILE, site, &work);
}

static int writeback(struct sws_mapping_replay *self, uint64_t folio, uint64_t file, uint64_t index,
		     enum sws_mapping_replay_site site)
{
	struct sws_mapping_work work = { 0 };
	struct sws_stay *stay = NULL;
	int error = resolve(self, folio, file, index, site, &stay);

	if (error)
		return error;
	if (!stay) {
		book_unresolved(self, site);
		return SWS_OK;
	}
	stay->written = true;
	book_add(self, stay);
	if (site == SWS_MAPPING_REPLAY_SITE_START)
		error = sws_mapping_start_writeback(self->mappings, stay->mapping, stay->index,
						    false, false, &work);
	else
		error = sws_mapping_end_writeback(self->mappings, stay->mapping, stay->index,
						  &work);
	if (!error)
		book(self, flow_of(stay), site, &work);
	return error;
}

/* A folio without a known stay moves as a file page: its place is not known. */
static int move(struct sws_mapping_replay *self, uint64_t folio, uint64_t old_folio)
{
	struct sws_mapping_work work = { 0 };
	struct sws_stay *stay = sws_stays__find(&self->stays, old_folio);
	int error = SWS_OK;

	if (folio == old_folio)
		return SWS_ERROR_BAD_ARGUMENT;
	if (!stay) {
		book_unresolved(self, SWS_MAPPING_REPLAY_SITE_MOVE);
		return SWS_OK;
	}
	forget_folio(self, folio, SWS_MAPPING_REPLAY_SITE_MOVE);
	error = sws_stays__rename(&self->stays, stay, folio);
	if (error)
		return error;
	error = sws_mapping_move(self->mappings, stay->mapping, stay->index, folio, &work);
	if (!error)
		book(self, flow_of(stay), SWS_MAPPING_REPLAY_SITE_MOVE, &work);
	return error;
}

static int delete_page(struct sws_mapping_replay *self, uint64_t folio, uint64_t file,
		       uint64_t index, uint64_t shadow)
{
	struct sws_mapping_work work = { 0 };
	struct sws_stay *stay = NULL;
	int error = resolve(self, folio, file, index, SWS_MAPPING_REPLAY_SITE_DELETE, &stay);

	if (error)
		return error;
	if (shadow == SWS_MAPPING_REPLAY_SHADOW_UNTOLD)
		shadow = stay->written;
	error = sws_mapping_delete(self->mappings, stay->mapping, stay->index, shadow, &work);
	if (error)
		return error;
	book(self, flow_of(stay), SWS_MAPPING_REPLAY_SITE_DELETE, &work);
	close_stay(self, stay);
	return SWS_OK;
}

static int free_slot(struct sws_mapping_replay *self, uint64_t offset)
{
	struct sws_mapping_work work = { 0 };
	uint32_t mapping = 0;
	int error = sws_mapping_of_swap(self->mappings, offset, &mapping);

	if (!error)
		error = sws_mapping_clear_shadow(self->mappings, mapping, offset, &work);
	/* Earlier kernels than 6.1 do not have this step, hence not this site. */
	if (!error && work.acquisitions)
		book(self, SWS_MAPPING_REPLAY_WRITTEN, SWS_MAPPING_REPLAY_SITE_CLEAR_SHADOW, &work);
	return error;
}

/* The event has no folio; an unknown page gets the folio 2, which is not an address of a page. */
static int dirty_file(struct sws_mapping_replay *self, uint64_t file, uint64_t index)
{
	struct sws_mapping_work work = { 0 };
	struct sws_mapping_work unbooked = { 0 };
	uint32_t mapping = 0;
	int error = mapping_of_file(self, file, &mapping);

	if (error)
		return error;
	if (!sws_mapping_lookup(self->mappings, mapping, index))
		error = sws_mapping_add(self->mappings, mapping, index, 2, &unbooked);
	if (!error)
		error = sws_mapping_dirty(self->mappings, mapping, index, &work);
	if (!error)
		book(self, SWS_MAPPING_REPLAY_FILE, SWS_MAPPING_REPLAY_SITE_DIRTY, &work);
	return error;
}

static bool needs_folio(uint8_t op)
{
	return op != SWS_MAPPING_REPLAY_SLOT_FREE && op != SWS_MAPPING_REPLAY_FILE_DIRTY;
}

static bool needs_file(uint8_t op)
{
	return op == SWS_MAPPING_REPLAY_FILE_ADD || op == SWS_MAPPING_REPLAY_FILE_DELETE ||
	       op == SWS_MAPPING_REPLAY_FILE_DIRTY;
}

static int feed_row(struct sws_mapping_replay *self, const struct sws_mapping_replay_rows *rows,
		    uint64_t row)
{
	uint64_t folio = rows->folio[row];
	uint64_t index = rows->index[row];
	uint64_t file = rows->file[row];
	uint64_t shadow = rows->shadow[row];
	uint8_t op = rows->op[row];

	if (needs_folio(op) && (!folio || (folio & 1)))
		return SWS_ERROR_BAD_ARGUMENT;
	if (needs_file(op) && file <= SWS_MAPPING_REPLAY_FILE_SWAP)
		return SWS_ERROR_BAD_ARGUMENT;
	switch ((enum sws_mapping_replay_op)op) {
	case SWS_MAPPING_REPLAY_SWAP_ADD:
		return add(self, folio, SWS_MAPPING_REPLAY_FILE_SWAP, index);
	case SWS_MAPPING_REPLAY_SWAP_DELETE:
		return delete_page(self, folio, SWS_MAPPING_REPLAY_FILE_SWAP, index, shadow);
	case SWS_MAPPING_REPLAY_SLOT_FREE:
		return free_slot(self, index);
	case SWS_MAPPING_REPLAY_START:
		return writeback(self, folio, file, index, SWS_MAPPING_REPLAY_SITE_START);
	case SWS_MAPPING_REPLAY_END:
		return writeback(self, folio, file, index, SWS_MAPPING_REPLAY_SITE_END);
	case SWS_MAPPING_REPLAY_FILE_ADD:
		return add(self, folio, file, index);
	case SWS_MAPPING_REPLAY_FILE_DELETE:
		return delete_page(self, folio, file, index, SWS_MAPPING_REPLAY_SHADOW_NONE);
	case SWS_MAPPING_REPLAY_FILE_DIRTY:
		return dirty_file(self, file, index);
	case SWS_MAPPING_REPLAY_MOVE:
		return move(self, folio, index);
	}
	return SWS_ERROR_UNKNOWN_OP;
}

int sws_mapping_replay_new(const struct sws_mapping_config *config, struct sws_mapping_replay **out)
{
	struct sws_mapping_replay *self = sws_create(config->allocator, sizeof(*self));
	int error = SWS_OK;

	*out = NULL;
	if (!self)
		return SWS_ERROR_NO_MEMORY;
	error = sws_mappings_new(config, &self->mappings);
	if (error)
		goto out;
	self->swap_mappings = sws_mapping_count(self->mappings);
	error = sws_stays__init(&self->stays, &self->allocator);
	if (error)
		goto out;
	error = sws_index_map__init(&self->files, &self->allocator);
	if (error)
		goto out;
	*out = self;
	self = NULL;
out:
	sws_mapping_replay_free(self);
	return error;
}

void sws_mapping_replay_free(struct sws_mapping_replay *self)
{
	if (!self)
		return;
	sws_stays__clear(&self->stays);
	sws_index_map__clear(&self->files);
	sws_mappings_free(self->mappings);
	sws_destroy(self);
}

int sws_mapping_replay_feed(struct sws_mapping_replay *self,
			    const struct sws_mapping_replay_rows *rows, uint64_t count,
			    uint64_t *row)
{
	int error = SWS_OK;

	for (*row = 0; *row < count; (*row)++) {
		error = feed_row(self, rows, *row);
		if (error)
			return error;
	}
	return SWS_OK;
}

int sws_mapping_replay_finish(struct sws_mapping_replay *self,
			      struct sws_mapping_replay_cell *cells)
{
	for (size_t room = 0; room < self->stays.room_count; room++)
		if (self->stays.rooms[room].folio)
			book_add(self, &self->stays.rooms[room]);
	for (int flow = 0; flow < SWS_MAPPING_REPLAY_FLOWS; flow++)
		for (int site = 0; site < SWS_MAPPING_REPLAY_SITES; site++)
			*cells++ = self->cells[flow][site];
	return SWS_OK;
}

int sws_mapping_replay_verify(const struct sws_mapping_replay *self, const char **reason)
{
	const struct sws_stays *stays = &self->stays;
	uint64_t open = 0;

	for (size_t room = 0; room < stays->room_count; room++) {
		const struct sws_stay *stay = &stays->rooms[room];

		if (!stay->folio)
			continue;
		open++;
		if (sws_stays__find(stays, stay->folio) != stay) {
			*reason = "a stay is not found by its folio";
			return SWS_ERROR_BROKEN;
		}
		if (sws_mapping_lookup(self->mappings, stay->mapping, stay->index) != stay->folio) {
			*reason = "a stay's folio is not at its place in the tree";
			return SWS_ERROR_BROKEN;
		}
	}
	if (open != stays->folios.count) {
		*reason = "the map of folios holds one that has no stay";
		return SWS_ERROR_BROKEN;
	}
	return sws_mappings_verify(self->mappings, reason);
}
