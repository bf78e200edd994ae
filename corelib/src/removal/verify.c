/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * removal/verify.c - the invariants. A page by the list that it is on:
 *
 *      list        state      locked   in its tree   references   entry
 *      waiting     waiting    yes      yes           any          its slot, 0 of a file
 *      due_slots   due        no       no            0            its slot
 *      due_files   due        no       no            0            0
 *      freed       freed      no       no            0            0
 *      kept        kept       no       yes           any          its slot, 0 of a file
 */
#include "removal/parts.h"

static bool in_tree(const struct sws_removal *self, const struct sws_removal_page *page)
{
	return removal_is_folio(sws_mapping_lookup(self->mappings, page->mapping, page->index));
}

static bool is_gone(const struct sws_removal_page *page)
{
	return page->mapping == SWS_REMOVAL_NO_MAPPING && !page->references && !page->locked;
}

/* Returns the fault of a page on this list; NULL if it has none. */
static const char *wrong_with(const struct sws_removal *self, const struct removal_list *list,
			      const struct sws_removal_page *page)
{
	if ((list == &self->waiting || list == &self->kept) && removal_held(self, page) != page)
		return "a page is queued or kept by two records, or is not found";
	if (list == &self->waiting)
		return page->state == SWS_REMOVAL_WAITING && page->locked && in_tree(self, page)
			       ? NULL
			       : "a queued page is not locked or not in its mapping";
	if (list == &self->kept)
		return page->state == SWS_REMOVAL_KEPT && !page->locked && in_tree(self, page)
			       ? NULL
			       : "a kept page is locked or not in its mapping";
	if (!is_gone(page))
		return "a removed page is locked, referenced or in a mapping";
	if (list == &self->freed)
		return page->state == SWS_REMOVAL_FREED && !page->entry
			       ? NULL
			       : "a freed page still has its slot";
	return (page->entry != 0) == (list == &self->due_slots) ? NULL
								: "a page is due on the wrong list";
}

static const char *wrong_on(const struct sws_removal *self, const struct removal_list *list,
			    uint64_t *pages)
{
	const struct sws_removal_page *last = NULL;

	for (const struct sws_removal_page *page = list->head; page; page = page->next) {
		/* It is settled, but leaves the list of due pages only together with all others. */
		const bool settled = page->state == SWS_REMOVAL_FREED && list != &self->freed;
		const char *wrong = settled ? NULL : wrong_with(self, list, page);

		if (wrong)
			return wrong;
		last = page;
		++*pages;
	}
	return last == list->tail ? NULL : "the tail of a list is not its last page";
}

int sws_removal_verify(const struct sws_removal *self, const char **reason)
{
	const struct removal_list *lists[] = { &self->waiting, &self->due_slots, &self->due_files,
					       &self->freed, &self->kept };
	uint64_t pages[] = { 0, 0, 0, 0, 0 };
	uint64_t held = 0;

	for (int i = 0; i < 5; i++) {
		*reason = wrong_on(self, lists[i], &pages[i]);
		if (*reason)
			return SWS_ERROR_BROKEN;
	}
	for (uint32_t bucket = 0; bucket <= self->buckets_mask; bucket++)
		for (const struct sws_removal_page *page = self->buckets[bucket]; page;
		     page = page->same_hash)
			held++;
	if (held != pages[0] + pages[4])
		*reason = "a page is held that is neither queued nor kept";
	if (!self->due != !(pages[1] + pages[2]))
		*reason = "pages are due, but there is no next one";
	return *reason ? SWS_ERROR_BROKEN : SWS_OK;
}
