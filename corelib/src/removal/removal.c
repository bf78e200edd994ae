/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * removal/removal.c - a list and its holds. The list of removal.h, A1 B1 A2 C1 A3, with all pages
 * in the swap cache and another reference to A2. Batched:
 *
 *                      waiting           due        freed          kept   passed over
 *      queued          A3 C1 A2 B1 A1    -          -              -
 *      hold of A       C1 B1             A1 A3      -              A2     2: C1 B1
 *        settled       C1 B1             -          A1 A3          A2
 *      hold of C       B1                C1         A1 A3          A2     1: B1
 *        settled       B1                -          C1 A1 A3       A2
 *      hold of B       -                 B1         C1 A1 A3       A2     0
 *        settled       -                 -          B1 C1 A1 A3    A2
 *
 * Page by page the same pages take five holds, the third of which removes no page (A2), and are
 * freed as A3 C1 B1 A1. Batched, pages are both queued and made due at a head, which reverses them
 * twice: the slots of A are put in the order in which its pages were queued, A1 before A3.
 */
#include "removal/parts.h"

/* Items have no meaning to the tree: a shadow is odd. */
enum { A_SHADOW = 1 };

static const struct removal_rules rules_of[] = {
	[SWS_REMOVAL_PAGE_BY_PAGE] = { .newest_first = false,
				       .whole_mapping = false,
				       .counts_queued = false },
	[SWS_REMOVAL_BATCHED] = { .newest_first = true,
				  .whole_mapping = true,
				  .counts_queued = true },
};

static void push_head(struct removal_list *list, struct sws_removal_page *page)
{
	page->next = list->head;
	list->head = page;
	if (!list->tail)
		list->tail = page;
}

static void push_tail(struct removal_list *list, struct sws_removal_page *page)
{
	page->next = NULL;
	if (list->tail)
		list->tail->next = page;
	else
		list->head = page;
	list->tail = page;
}

static struct sws_removal_page *pop_head(struct removal_list *list)
{
	struct sws_removal_page *page = list->head;

	list->head = page->next;
	if (!list->head)
		list->tail = NULL;
	page->next = NULL;
	return page;
}

/* Moves all pages of a list to the head of another, in their order. Models list_splice_init. */
static void splice(struct removal_list *list, struct removal_list *onto)
{
	if (!list->head)
		return;
	list->tail->next = onto->head;
	if (!onto->tail)
		onto->tail = list->tail;
	onto->head = list->head;
	*list = (struct removal_list){ 0 };
}

void sws_removal_config_init(struct sws_removal_config *config)
{
	*config = (struct sws_removal_config){
		.mode = SWS_REMOVAL_BATCHED,
		.list_pages = 512,
		.brings_pages = false,
		.allocator = NULL,
	};
}

static bool config_fits(const struct sws_removal_config *config)
{
	return (unsigned int)config->mode <= SWS_REMOVAL_BATCHED && config->list_pages >= 1 &&
	       config->list_pages <= SWS_REMOVAL_LIST_MAX;
}

/* Returns the buckets for the pages of a list: a power of two, twice as many. 3: 8, 32: 64, 500: 1024. */
static uint32_t buckets_of(uint32_t list_pages)
{
	uint32_t buckets = 1;

	while (buckets < 2 * list_pages)
		buckets *= 2;
	return buckets;
}

int sws_removal_new(const struct sws_removal_config *config, struct sws_mappings *mappings,
		    struct sws_removal **out)
{
	struct sws_removal *self = NULL;

	*out = NULL;
	if (!config_fits(config))
		return SWS_ERROR_BAD_CONFIG;
	self = sws_create(config->allocator, sizeof(*self));
	if (!self)
		return SWS_ERROR_NO_MEMORY;
	self->mappings = mappings;
	self->rules = &rules_of[config->mode];
	self->brings_pages = config->brings_pages;
	self->list_pages = config->list_pages;
	self->pages =
		sws_allocate_array(&self->allocator, config->list_pages, sizeof(*self->pages));
	self->buckets_mask = buckets_of(config->list_pages) - 1;
	self->buckets = sws_allocate_zeroed(&self->allocator, (size_t)self->buckets_mask + 1,
					    sizeof(struct sws_removal_page *));
	if (!self->pages || !self->buckets) {
		sws_removal_free(self);
		return SWS_ERROR_NO_MEMORY;
	}
	*out = self;
	return SWS_OK;
}

void sws_removal_free(struct sws_removal *self)
{
	if (!self)
		return;
	sws_release(&self->allocator, self->buckets);
	sws_release(&self->allocator, self->pages);
	sws_destroy(self);
}

enum sws_removal_problem sws_removal_check(const struct sws_removal *self,
					   const struct sws_removal_page *page)
{
	const struct sws_mappings *mappings = self->mappings;
	bool entry_fits = false;

	if (page->state != SWS_REMOVAL_ISOLATED)
		return SWS_REMOVAL_TWICE;
	if (!page->locked)
		return SWS_REMOVAL_NOT_LOCKED;
	if (page->mapping == SWS_REMOVAL_NO_MAPPING)
		return SWS_REMOVAL_HAS_NO_MAPPING;
	if (!removal_is_folio(sws_mapping_lookup(mappings, page->mapping, page->index)))
		return SWS_REMOVAL_NOT_IN_TREE;
	entry_fits = sws_mapping_is_swap(mappings, page->mapping)
			     ? page->entry == page->index && page->entry
			     : !page->entry;
	if (!entry_fits)
		return SWS_REMOVAL_WRONG_ENTRY;
	return removal_held(self, page) ? SWS_REMOVAL_TWICE : SWS_REMOVAL_NO_PROBLEM;
}

void sws_removal__hold_page(struct sws_removal *self, struct sws_removal_page *page)
{
	struct sws_removal_page **bucket = removal_bucket(self, page);

	page->same_hash = *bucket;
	*bucket = page;
}

void sws_removal__let_go(struct sws_removal *self, struct sws_removal_page *page)
{
	*removal_link(self, page) = page->same_hash;
}

void sws_removal__push(struct sws_removal *self, struct sws_removal_page *page)
{
	page->state = SWS_REMOVAL_WAITING;
	if (self->rules->newest_first)
		push_head(&self->waiting, page);
	else
		push_tail(&self->waiting, page);
	self->counts.lazyfreed += page->lazyfree && self->rules->counts_queued;
}

int sws_removal_queue(struct sws_removal *self, struct sws_removal_page *page)
{
	if (sws_removal_check(self, page))
		return SWS_ERROR_BAD_ARGUMENT;
	sws_removal__hold_page(self, page);
	sws_removal__push(self, page);
	return SWS_OK;
}

bool sws_removal_next(const struct sws_removal *self, uint32_t *mapping)
{
	if (!self->waiting.head)
		return false;
	*mapping = self->waiting.head->mapping;
	return true;
}

/*
 * Models __remove_mapping, from page_ref_freeze on. Two CPUs and one page, over time; a look-up
 * takes no lock, so the lock alone is not sufficient:
 *
 *      CPU 0, __remove_mapping           CPU 1, find_get_page       references
 *      tree_lock                         finds the page             2
 *                                        page_cache_get_speculative 3
 *      page_ref_freeze(page, 2): no                                 3     failed, kept
 *
 *      tree_lock                         finds the page             2
 *      page_ref_freeze(page, 2)                                     0
 *                                        get_page_unless_zero: no   0     tries again
 *      removed from the tree             finds no page              0     removed
 *
 * Here no other CPU acts within a hold: an earlier one has left its reference in the page, a later
 * one finds no page. The dirty flag has to be tested after the freeze, because a writer may have
 * had the third reference and dropped it: dirty, 2.
 */
static bool remove_page(struct sws_removal *self, struct sws_removal_page *page,
			struct sws_removal_hold *hold)
{
	/* The last test fails only if another one took the page out of its mapping meanwhile. */
	if (page->references != SWS_REMOVAL_REFERENCES || page->dirty ||
	    sws_mapping_remove(self->mappings, page->mapping, page->index, A_SHADOW, &hold->tree)) {
		hold->failed++;
		return false;
	}
	page->mapping = SWS_REMOVAL_NO_MAPPING;
	page->references = 0;
	hold->removed++;
	return true;
}

/* A removed page needs no atomic unlock, because no other CPU can reach it. */
static void put_aside(struct sws_removal *self, struct sws_removal_page *page)
{
	struct removal_list *due = page->entry ? &self->due_slots : &self->due_files;

	page->locked = false;
	self->counts.lazyfreed += page->lazyfree && !self->rules->counts_queued;
	if (page->entry || page->freepage) {
		page->state = SWS_REMOVAL_DUE;
		push_head(due, page);
	} else {
		page->state = SWS_REMOVAL_FREED;
		push_head(&self->freed, page);
	}
}

static void keep(struct sws_removal *self, struct sws_removal_page *page)
{
	page->locked = false;
	page->state = SWS_REMOVAL_KEPT;
	push_head(&self->kept, page);
}

static void remove_or_keep(struct sws_removal *self, struct sws_removal_page *page,
			   struct sws_removal_hold *hold)
{
	struct sws_removal_page **link = removal_link(self, page);

	if (remove_page(self, page, hold)) {
		*link = page->same_hash;
		put_aside(self, page);
	} else {
		keep(self, page);
	}
}

/*
 * Walks the rest of the list: pages of this mapping leave it, the others wait for their hold. They
 * retain their order, which determines the next mapping. A list of n pages of different mappings is
 * walked n times, n (n - 1) / 2 steps under locks that do not protect the pages passed over: 496
 * for 32 pages. With a single mapping it is one walk and 0 such steps.
 */
static void remove_rest(struct sws_removal *self, struct sws_removal_hold *hold)
{
	struct sws_removal_page *page = self->waiting.head;

	self->waiting = (struct removal_list){ 0 };
	while (page) {
		struct sws_removal_page *next = page->next;

		if (page->mapping == hold->mapping) {
			remove_or_keep(self, page, hold);
		} else {
			push_tail(&self->waiting, page);
			hold->passed_over++;
		}
		page = next;
	}
}

int sws_removal_hold(struct sws_removal *self, struct sws_removal_hold *hold)
{
	if (!self->waiting.head || self->due)
		return SWS_ERROR_BAD_ARGUMENT;
	*hold = (struct sws_removal_hold){ .mapping = self->waiting.head->mapping };
	remove_or_keep(self, pop_head(&self->waiting), hold);
	if (self->rules->whole_mapping)
		remove_rest(self, hold);
	self->due = self->due_slots.head ? self->due_slots.head : self->due_files.head;
	self->counts.holds++;
	self->counts.reclaimed += hold->removed;
	self->counts.failed += hold->failed;
	return SWS_OK;
}

const struct sws_removal_page *sws_removal_due(const struct sws_removal *self)
{
	return self->due;
}

/* With the lock dropped, the slot is freed by the entry that page_private still holds. */
static void finish_page(struct sws_removal *self, struct sws_removal_page *page)
{
	if (page->entry)
		self->counts.slots_freed++;
	else
		self->counts.freepages += page->freepage;
	page->entry = 0;
}

int sws_removal_settle(struct sws_removal *self)
{
	struct sws_removal_page *page = self->due;

	if (!page)
		return SWS_ERROR_BAD_ARGUMENT;
	/* Two lists processed as one, slots A1 A3, then files F2: A1 -> A3, -> F2, -> NULL. */
	self->due = page->next;
	if (page == self->due_slots.tail)
		self->due = self->due_files.head;
	finish_page(self, page);
	page->state = SWS_REMOVAL_FREED;
	/*
	 * Complete lists, slots first: the freed list is F2, A1 A3, and then the pages of earlier
	 * holds.
	 */
	if (!self->due) {
		splice(&self->due_slots, &self->freed);
		splice(&self->due_files, &self->freed);
	}
	return SWS_OK;
}

static struct sws_removal_page *take(struct removal_list *list)
{
	struct sws_removal_page *page = NULL;

	if (!list->head)
		return NULL;
	page = pop_head(list);
	page->state = SWS_REMOVAL_ISOLATED;
	return page;
}

struct sws_removal_page *sws_removal_take_freed(struct sws_removal *self)
{
	/* Before the last due page is settled, the kernel has no freed page either. */
	return self->due ? NULL : take(&self->freed);
}

struct sws_removal_page *sws_removal_take_kept(struct sws_removal *self)
{
	struct sws_removal_page *page = take(&self->kept);

	if (page)
		sws_removal__let_go(self, page);
	return page;
}

struct sws_removal_counts sws_removal_counts(const struct sws_removal *self)
{
	return self->counts;
}
