/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clusters/folios/steps.c - the rows: faults, page-out and drops of pages. */
#include "clusters/folios/parts.h"

/* A row, and the pages of its process. */
struct row {
	uint32_t cpu;
	uint32_t step;
	uint32_t order;
	uint32_t first;
	/* The page behind the last one. */
	uint32_t end;
	uint32_t *slots;
	uint8_t *states;
};

static bool resident(uint8_t state)
{
	return state >= PAGE_RESIDENT;
}

static uint32_t order_of(uint8_t state)
{
	return (uint32_t)state - PAGE_RESIDENT;
}

/* Returns the first page of the aligned window of an order that contains a page. */
static uint32_t window_of(uint32_t page, uint32_t order)
{
	return page & ~((UINT32_C(1) << order) - 1);
}

static void set_states(struct row *row, uint32_t first, uint32_t n, uint8_t state)
{
	for (uint32_t page = first; page < first + n; page++)
		row->states[page] = state;
}

/* Splits the resident folio that contains a page into pages. Models: split_folio. */
static void split(struct row *row, uint32_t page)
{
	const uint32_t order = order_of(row->states[page]);

	set_states(row, window_of(page, order), UINT32_C(1) << order, PAGE_RESIDENT);
}

/* Splits a folio that does not lie completely in the row; returns the order of what is left. */
static uint32_t within(struct row *row, uint32_t page)
{
	const uint32_t order = order_of(row->states[page]);
	const uint32_t first = window_of(page, order);

	if (first >= row->first && first + (UINT32_C(1) << order) <= row->end)
		return order;
	split(row, page);
	return 0;
}

/* Returns whether all pages of a window are empty and within the row. */
static bool all_empty(const struct row *row, uint32_t first, uint32_t n)
{
	if (first < row->first || first + n > row->end)
		return false;
	for (uint32_t page = first; page < first + n; page++)
		if (row->states[page] != PAGE_EMPTY)
			return false;
	return true;
}

/* A fault of an empty page. Models: alloc_anon_folio, with one order enabled. */
static void map(struct sws_cluster_folios *self, struct row *row, uint32_t page)
{
	uint32_t order = row->order;
	uint32_t first = window_of(page, order);

	if (!all_empty(row, first, UINT32_C(1) << order)) {
		order = 0;
		first = page;
	}
	set_states(row, first, UINT32_C(1) << order, (uint8_t)(PAGE_RESIDENT + order));
	self->totals.mapped[order]++;
}

/* Returns whether a window's pages have slots one after the other, aligned like the pages. */
static bool fits(const struct sws_cluster_folios *self, const struct row *row, uint32_t first,
		 uint32_t n)
{
	if (n > self->pages - first || row->slots[first] & (n - 1))
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (row->states[first + i] != PAGE_SWAPPED ||
		    row->slots[first + i] != row->slots[first] + i)
			return false;
	return true;
}

/*
 * Returns the largest order in which a page can be swapped in, at most that of the row, which is the
 * largest that its area has enabled. Models: alloc_swap_folio.
 */
static uint32_t order_in(const struct sws_cluster_folios *self, const struct row *row,
			 uint32_t page)
{
	for (uint32_t order = row->order; order > 0; order--)
		if (self->swap_in_orders >> order & 1 &&
		    fits(self, row, window_of(page, order), UINT32_C(1) << order))
			return order;
	return 0;
}

/* Frees the slots of pages, which are those of one cluster, one after the other. */
static void return_slots(struct sws_cluster_folios *self, const struct row *row, uint32_t page,
			 uint32_t n)
{
	const struct run run = { .slot = row->slots[page], .n = n };

	sws_cluster_caches__return(&self->caches, row->cpu, &run);
}

/*
 * A fault of a page that is swapped out. Models: do_swap_page on a synchronous device. Without
 * caches of returns the slots of a folio are freed at once, else one by one (cluster_swap_free_nr).
 */
static void swap_in(struct sws_cluster_folios *self, struct row *row, uint32_t page)
{
	const uint32_t order = order_in(self, row, page);
	const uint32_t first = window_of(page, order);
	const uint32_t n = UINT32_C(1) << order;
	const uint32_t at_once = self->caches.take_back ? 1 : n;

	self->totals.swapped_in[order]++;
	for (uint32_t i = 0; i < n; i += at_once)
		return_slots(self, row, first + i, at_once);
	set_states(row, first, n, (uint8_t)(PAGE_RESIDENT + order));
}

static void access_pages(struct sws_cluster_folios *self, struct row *row)
{
	for (uint32_t page = row->first; page < row->end; page++) {
		if (row->states[page] == PAGE_EMPTY)
			map(self, row, page);
		else if (row->states[page] == PAGE_SWAPPED)
			swap_in(self, row, page);
	}
}

/* Swaps a page out, if a slot is free. */
static void page_out(struct sws_cluster_folios *self, struct row *row, uint32_t page)
{
	struct run run = { 0 };

	if (!sws_cluster_caches__single(&self->caches, row->cpu, 0, &run)) {
		self->totals.stayed++;
		return;
	}
	self->totals.swapped_out[0]++;
	row->slots[page] = run.slot;
	row->states[page] = PAGE_SWAPPED;
}

/* Swaps a large folio out whole, or splits it and swaps its pages out. */
static void folio_out(struct sws_cluster_folios *self, struct row *row, uint32_t page,
		      uint32_t order)
{
	const uint32_t n = UINT32_C(1) << order;
	struct run run = { 0 };

	if (!sws_cluster_caches__allocate(&self->caches, row->cpu, 0, order, 1, &run)) {
		self->totals.fallbacks[order]++;
		split(row, page);
		for (uint32_t i = 0; i < n; i++)
			page_out(self, row, page + i);
		return;
	}
	self->totals.swapped_out[order]++;
	for (uint32_t i = 0; i < n; i++)
		row->slots[page + i] = run.slot + i;
	set_states(row, page, n, PAGE_SWAPPED);
}

static void out_pages(struct sws_cluster_folios *self, struct row *row)
{
	uint32_t page = row->first;

	while (page < row->end) {
		uint32_t order = 0;

		if (!resident(row->states[page])) {
			page++;
			continue;
		}
		order = within(row, page);
		if (order)
			folio_out(self, row, page, order);
		else
			page_out(self, row, page);
		page += UINT32_C(1) << order;
	}
}

/* Returns how many pages from one on have slots one after the other in one cluster. */
static uint32_t run_at(const struct sws_cluster_folios *self, const struct row *row, uint32_t page)
{
	const uint32_t shift = self->clusters->shift;
	uint32_t n = 1;

	while (page + n < row->end && row->states[page + n] == PAGE_SWAPPED &&
	       row->slots[page + n] == row->slots[page] + n &&
	       (row->slots[page] + n) >> shift == row->slots[page] >> shift)
		n++;
	return n;
}

/* Frees pages and slots. Models: zap_pte_range, free_swap_and_cache_nr. */
static void drop_pages(struct sws_cluster_folios *self, struct row *row)
{
	uint32_t page = row->first;

	while (page < row->end) {
		uint32_t n = 1;

		if (resident(row->states[page])) {
			n = UINT32_C(1) << within(row, page);
		} else if (row->states[page] == PAGE_SWAPPED) {
			n = run_at(self, row, page);
			return_slots(self, row, page, n);
		}
		set_states(row, page, n, PAGE_EMPTY);
		page += n;
	}
}

static enum sws_cluster_folios_problem check_row(const struct sws_cluster_folios *self,
						 uint32_t process, const struct row *row,
						 uint32_t n)
{
	if (process >= self->processes)
		return SWS_CLUSTER_FOLIOS_BAD_PROCESS;
	if (row->cpu >= self->clusters->cpus)
		return SWS_CLUSTER_FOLIOS_BAD_CPU;
	if (row->step >= SWS_CLUSTER_FOLIOS_STEPS)
		return SWS_CLUSTER_FOLIOS_BAD_STEP;
	if (row->order >= SWS_CLUSTERS_ORDERS || UINT32_C(1) << row->order > self->clusters->size)
		return SWS_CLUSTER_FOLIOS_BAD_ORDER;
	if (!n || row->first >= self->pages || n > self->pages - row->first)
		return SWS_CLUSTER_FOLIOS_BAD_PAGES;
	return SWS_CLUSTER_FOLIOS_NO_PROBLEM;
}

int sws_cluster_folios_feed(struct sws_cluster_folios *self,
			    const struct sws_cluster_folios_rows *rows, uint64_t count)
{
	for (uint64_t i = 0; i < count && !self->problem; i++) {
		struct row row = { .cpu = rows->cpu[i],
				   .step = rows->step[i],
				   .order = rows->order[i],
				   .first = rows->page[i] };

		self->problem = check_row(self, rows->process[i], &row, rows->n[i]);
		if (self->problem)
			break;
		row.end = row.first + rows->n[i];
		row.slots = self->slots + (size_t)rows->process[i] * self->pages;
		row.states = self->states + (size_t)rows->process[i] * self->pages;
		if (row.step == SWS_CLUSTER_FOLIOS_ACCESS)
			access_pages(self, &row);
		else if (row.step == SWS_CLUSTER_FOLIOS_OUT)
			out_pages(self, &row);
		else
			drop_pages(self, &row);
		self->totals.rows++;
	}
	return self->problem ? SWS_ERROR_BAD_ARGUMENT : SWS_OK;
}
