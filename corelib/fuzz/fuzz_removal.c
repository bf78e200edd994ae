/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_removal.c - pages of any kind, queued, removed, settled and taken in any order, and complete
 * lists of them as columns.
 */
#include "input.h"

#include "swapsim/removal.h"

enum { PAGES = 16, ROWS = 32, LISTS = 4, SLOTS = 1 << 12, FOLIO = 64 };

struct bench {
	struct input *input;
	struct sws_mappings *mappings;
	struct sws_removal *removal;
	/* Each is with its owner, on a list, or due. */
	struct sws_removal_page pages[PAGES];
};

static int make(struct bench *self, const struct sws_allocator *allocator)
{
	struct sws_mapping_config mapping;
	struct sws_removal_config removal;
	uint32_t file = 0;
	int error = SWS_OK;

	sws_mapping_config_init(&mapping);
	mapping.kernel = (enum sws_kernel)input_below(self->input, 6);
	mapping.swap_slots = input_or64(self->input, SLOTS);
	mapping.swap_writeback_tags = input_bit(self->input);
	mapping.trunk_shift = input_or(self->input, 8);
	mapping.tree_shift = input_or(self->input, 2);
	mapping.allocator = allocator;
	sws_removal_config_init(&removal);
	removal.mode = (enum sws_removal_mode)input_below(self->input, 3);
	removal.list_pages = input_or(self->input, 8);
	removal.brings_pages = input_bit(self->input);
	removal.allocator = allocator;
	error = sws_mappings_new(&mapping, &self->mappings);
	if (!error)
		error = sws_mapping_add_file(self->mappings, &file);
	if (!error)
		error = sws_removal_new(&removal, self->mappings, &self->removal);
	return error;
}

/* Draws a new page that its owner has: of any mapping, present or not, removable or not. */
static void draw_page(struct bench *self, struct sws_removal_page *page)
{
	struct sws_mapping_work work = { 0 };
	const uint32_t mappings = sws_mapping_count(self->mappings);
	const uint32_t mapping = input_or(self->input, input_below(self->input, mappings));
	const uint64_t index = input_or64(self->input, input_below(self->input, SLOTS));

	if (page->state == SWS_REMOVAL_WAITING || page->state == SWS_REMOVAL_DUE)
		return;
	if (input_bit(self->input) && mapping < mappings)
		(void)sws_mapping_add(self->mappings, mapping, index, FOLIO, &work);
	*page = (struct sws_removal_page){
		.index = index,
		.entry = input_or64(
			self->input,
			mapping < mappings && sws_mapping_is_swap(self->mappings, mapping) ? index
											   : 0),
		.mapping = mapping,
		.references = input_or(self->input, SWS_REMOVAL_REFERENCES),
		.locked = !input_bit(self->input),
		.dirty = input_bit(self->input),
		.freepage = input_bit(self->input),
		.lazyfree = input_bit(self->input),
	};
}

static void act(struct bench *self)
{
	struct sws_removal_page *page = &self->pages[input_below(self->input, PAGES)];
	struct sws_removal_hold hold = { 0 };

	switch (input_byte(self->input) % 8) {
	case 0:
		(void)sws_removal_hold(self->removal, &hold);
		break;
	case 1:
		(void)sws_removal_settle(self->removal);
		break;
	case 2:
		page = sws_removal_take_freed(self->removal);
		MUST(!page || page->state == SWS_REMOVAL_ISOLATED);
		break;
	case 3:
		page = sws_removal_take_kept(self->removal);
		MUST(!page || page->state == SWS_REMOVAL_ISOLATED);
		break;
	default:
		if (page->state == SWS_REMOVAL_ISOLATED)
			draw_page(self, page);
		(void)sws_removal_queue(self->removal, page);
	}
}

static void remove_lists(struct bench *self)
{
	uint32_t file[ROWS], references[ROWS];
	uint64_t index[ROWS], ends[LISTS];
	uint8_t bits[4][ROWS];
	uint8_t removed[ROWS];
	uint32_t place[ROWS];
	struct sws_removal_hold holds[ROWS];
	const struct sws_removal_rows rows = {
		.file = file,
		.index = index,
		.references = references,
		.locked = bits[0],
		.dirty = bits[1],
		.freepage = bits[2],
		.lazyfree = bits[3],
	};
	struct sws_removal_results results = { .removed = removed, .place = place, .holds = holds };

	for (uint32_t row = 0; row < ROWS; row++) {
		file[row] = input_or(self->input, row % 2 ? 0 : SWS_REMOVAL_FILE_SWAP);
		index[row] = input_or64(self->input, row + 1);
		references[row] = input_or(self->input, SWS_REMOVAL_REFERENCES);
		for (uint32_t bit = 0; bit < 4; bit++)
			bits[bit][row] = input_bit(self->input) ^ !bit;
	}
	for (uint32_t list = 0; list < LISTS; list++)
		ends[list] = input_bit(self->input) ? input_below(self->input, ROWS + 1)
						    : (list + 1) * (ROWS / LISTS);
	if (sws_removal_lists(self->removal, &rows, LISTS, ends, &results) == SWS_OK)
		MUST(results.n_holds <= ROWS);
}

static void run(struct bench *self)
{
	const char *reason = NULL;

	remove_lists(self);
	while (self->input->left) {
		act(self);
		MUST(sws_removal_verify(self->removal, &reason) == SWS_OK);
	}
	/* Refused, if pages are left on the lists. */
	remove_lists(self);
	MUST(sws_removal_verify(self->removal, &reason) == SWS_OK);
	MUST(sws_mappings_verify(self->mappings, &reason) == SWS_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { .bytes = data, .left = size };
	struct scarce memory = scarce_memory(&input);
	struct sws_allocator seam = scarce_seam(&memory);
	struct bench bench = { .input = &input };

	if (make(&bench, &seam) == SWS_OK)
		run(&bench);
	sws_removal_free(bench.removal);
	sws_mappings_free(bench.mappings);
	MUST(memory.held == 0);
	return 0;
}
