/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_mapping.c - any step of a page of any mapping, with files that are added meanwhile. The target
 * remembers what is at a few places, and what each step may answer there.
 */
#include "input.h"

#include "swapsim/mapping.h"

enum { PLACES = 8, FILES_MAX = 64, SLOTS = 1 << 12 };

struct place {
	uint32_t mapping;
	uint64_t index;
	/* The folio; 0 if there is none, or a shadow. */
	uint64_t folio;
};

struct bench {
	struct input *input;
	struct sws_mapping_config config;
	struct sws_mappings *mappings;
	struct place places[PLACES];
};

static bool is_folio(uint64_t item)
{
	return item && !(item & 1);
}

static int make(struct bench *self, const struct sws_allocator *allocator)
{
	struct sws_mapping_config *config = &self->config;

	sws_mapping_config_init(config);
	config->kernel = (enum sws_kernel)input_below(self->input, 6);
	config->swap_slots = input_or64(self->input, SLOTS);
	config->swap_writeback_tags = input_bit(self->input);
	config->trunk_shift = input_or(self->input, 8);
	config->tree_shift = input_or(self->input, 2);
	config->allocator = allocator;
	return sws_mappings_new(config, &self->mappings);
}

/* Returns whether a mapping exists and, of swap, has the index. */
static bool covers(const struct bench *self, const struct place *place)
{
	uint32_t holder = 0;

	if (!sws_mapping_is_swap(self->mappings, place->mapping))
		return place->mapping < sws_mapping_count(self->mappings);
	return sws_mapping_of_swap(self->mappings, place->index, &holder) == SWS_OK &&
	       holder == place->mapping;
}

/* Goes to another place, with the page that may be there. */
static void draw_place(struct bench *self, struct place *place)
{
	const uint32_t mappings = sws_mapping_count(self->mappings);

	place->index = input_or64(self->input, input_below(self->input, SLOTS));
	place->mapping = input_or(self->input, input_below(self->input, mappings));
	if (input_bit(self->input))
		(void)sws_mapping_of_swap(self->mappings, place->index, &place->mapping);
	place->folio = sws_mapping_lookup(self->mappings, place->mapping, place->index);
	place->folio = is_folio(place->folio) ? place->folio : 0;
	for (uint32_t other = 0; other < PLACES; other++)
		if (&self->places[other] != place &&
		    self->places[other].mapping == place->mapping &&
		    self->places[other].index == place->index)
			self->places[other] = (struct place){ .mapping = UINT32_MAX };
}

/* Adds or moves a page; only a page may be where it is moved, and only none where it is added. */
static void put(struct bench *self, struct place *place, bool moves)
{
	const uint64_t folio = input_or64(self->input, 64);
	struct sws_mapping_work work = { 0 };
	int expected = moves          ? place->folio ? SWS_OK : SWS_ERROR_NOT_FOUND
		       : place->folio ? SWS_ERROR_EXISTS
				      : SWS_OK;
	int error = SWS_OK;

	if (!is_folio(folio) || (!moves && !covers(self, place)))
		expected = SWS_ERROR_BAD_ARGUMENT;
	error = moves ? sws_mapping_move(self->mappings, place->mapping, place->index, folio, &work)
		      : sws_mapping_add(self->mappings, place->mapping, place->index, folio, &work);
	MUST(error == expected || (error == SWS_ERROR_NO_MEMORY && !expected));
	place->folio = error ? place->folio : folio;
}

static void take_out(struct bench *self, struct place *place, bool reclaims)
{
	const uint64_t shadow = input_or64(self->input, input_bit(self->input));
	const int expected = shadow && !(shadow & 1) ? SWS_ERROR_BAD_ARGUMENT
			     : place->folio          ? SWS_OK
						     : SWS_ERROR_NOT_FOUND;
	struct sws_mapping_work work = { 0 };
	int error = SWS_OK;

	error = reclaims ? sws_mapping_remove(self->mappings, place->mapping, place->index, shadow,
					      &work.tree)
			 : sws_mapping_delete(self->mappings, place->mapping, place->index, shadow,
					      &work);
	MUST(error == expected);
	place->folio = error ? place->folio : 0;
}

/* Changes tags; a page has to be there, and of a file to be dirtied. */
static void tag(struct bench *self, const struct place *place, uint8_t operation)
{
	struct sws_mapping_work work = { 0 };
	const int expected = place->folio ? SWS_OK : SWS_ERROR_NOT_FOUND;
	const bool swap = sws_mapping_is_swap(self->mappings, place->mapping);
	int error = SWS_OK;

	if (operation % 3 == 0) {
		error = sws_mapping_dirty(self->mappings, place->mapping, place->index, &work);
		MUST(error == (swap ? SWS_ERROR_BAD_ARGUMENT : expected));
	} else if (operation % 3 == 1) {
		error = sws_mapping_start_writeback(self->mappings, place->mapping, place->index,
						    input_bit(self->input), input_bit(self->input),
						    &work);
		MUST(error == expected);
	} else {
		error = sws_mapping_end_writeback(self->mappings, place->mapping, place->index,
						  &work);
		MUST(error == expected);
	}
}

static void act(struct bench *self)
{
	const uint8_t operation = input_byte(self->input);
	struct place *place = &self->places[operation % PLACES];
	struct sws_mapping_work work = { 0 };
	uint32_t file = 0;

	switch (operation / PLACES % 8) {
	case 0:
		draw_place(self, place);
		break;
	case 1:
	case 2:
		put(self, place, operation / PLACES % 8 == 2);
		break;
	case 3:
	case 4:
		take_out(self, place, operation / PLACES % 8 == 4);
		break;
	case 5:
		(void)sws_mapping_clear_shadow(self->mappings, place->mapping, place->index, &work);
		break;
	case 6:
		if (sws_mapping_count(self->mappings) < FILES_MAX)
			(void)sws_mapping_add_file(self->mappings, &file);
		break;
	default:
		tag(self, place, input_byte(self->input));
	}
}

static void verify(const struct bench *self)
{
	const char *reason = NULL;

	for (uint32_t at = 0; at < PLACES; at++) {
		const struct place *place = &self->places[at];
		const uint64_t item =
			sws_mapping_lookup(self->mappings, place->mapping, place->index);

		MUST(is_folio(item) ? item == place->folio : !place->folio);
	}
	MUST(sws_mappings_verify(self->mappings, &reason) == SWS_OK);
}

static void run(struct bench *self)
{
	for (uint32_t at = 0; at < PLACES; at++)
		self->places[at].mapping = UINT32_MAX;
	while (self->input->left) {
		act(self);
		if (sws_mapping_count(self->mappings) <= FILES_MAX)
			verify(self);
	}
	verify(self);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { .bytes = data, .left = size };
	struct scarce memory = scarce_memory(&input);
	struct sws_allocator seam = scarce_seam(&memory);
	struct bench bench = { .input = &input };

	if (make(&bench, &seam) == SWS_OK)
		run(&bench);
	sws_mappings_free(bench.mappings);
	MUST(memory.held == 0);
	return 0;
}
