/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapping/stays.h"

static const uint32_t NO_ROOM = UINT32_MAX;

int sws_stays__init(struct sws_stays *self, const struct sws_allocator *allocator)
{
	*self = (struct sws_stays){ .allocator = allocator, .first_free = NO_ROOM };
	return sws_index_map__init(&self->folios, allocator);
}

void sws_stays__clear(struct sws_stays *self)
{
	if (!self->allocator)
		return;
	sws_index_map__clear(&self->folios);
	sws_release(self->allocator, self->rooms);
	self->rooms = NULL;
	self->room_count = 0;
}

struct sws_stay *sws_stays__find(const struct sws_stays *self, uint64_t folio)
{
	uint32_t room = 0;

	return sws_index_map__find(&self->folios, folio, &room) ? &self->rooms[room] : NULL;
}

static int grow_rooms(struct sws_stays *self)
{
	size_t first = self->room_count;
	size_t last = 0;
	int error = SWS_ERROR_NO_MEMORY;

	if (first < NO_ROOM / 2)
		error = sws_reserve(self->allocator, &self->rooms, &self->room_count, first + 1,
				    sizeof(*self->rooms));
	if (error)
		return error;
	last = self->room_count - 1;
	for (size_t room = first; room <= last; room++)
		self->rooms[room] = (struct sws_stay){
			.next_free = room < last ? (uint32_t)room + 1 : NO_ROOM,
		};
	self->first_free = (uint32_t)first;
	return SWS_OK;
}

/*
 * Entries, f for free, with first_free before them and next_free after each:
 *
 *      at first     0   [ f1 f2 f3 f4 f5 f6 f7 f- ]      eight at once
 *      open A, B    2   [ A  B  f3 f4 f5 f6 f7 f- ]
 *      close A      0   [ f2 B  f3 f4 f5 f6 f7 f- ]      the entry freed last is used first
 *      open C       2   [ C  B  f3 f4 f5 f6 f7 f- ]
 *
 * If none is free the array doubles and may move, so no pointer to a stay remains valid over an
 * open; the map of folios contains numbers of entries.
 */
int sws_stays__open(struct sws_stays *self, uint64_t folio, uint32_t mapping, uint64_t index,
		    struct sws_stay **out)
{
	uint32_t room = 0;
	int error = self->first_free == NO_ROOM ? grow_rooms(self) : SWS_OK;

	if (error)
		return error;
	room = self->first_free;
	error = sws_index_map__put(&self->folios, folio, room);
	if (error)
		return error;
	*out = &self->rooms[room];
	self->first_free = (*out)->next_free;
	**out = (struct sws_stay){ .folio = folio, .index = index, .mapping = mapping };
	return SWS_OK;
}

/* The new key is added before the old one is removed: without memory the stay does not change. */
int sws_stays__rename(struct sws_stays *self, struct sws_stay *stay, uint64_t folio)
{
	int error = sws_index_map__put(&self->folios, folio, (uint32_t)(stay - self->rooms));

	if (error)
		return error;
	sws_index_map__remove(&self->folios, stay->folio);
	stay->folio = folio;
	return SWS_OK;
}

void sws_stays__close(struct sws_stays *self, struct sws_stay *stay)
{
	sws_index_map__remove(&self->folios, stay->folio);
	stay->folio = 0;
	stay->next_free = self->first_free;
	self->first_free = (uint32_t)(stay - self->rooms);
}
