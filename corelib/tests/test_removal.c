/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "swapsim/removal.h"

#include "check.h"

enum { FOLIO = 64, SLOTS = 1 << 16 };

/* One reclaimer with its own mappings. */
struct bench {
	struct sws_mappings *mappings;
	struct sws_removal *removal;
	uint32_t file;
	uint32_t callback_file;
};

static int make(struct bench *bench, enum sws_kernel kernel, enum sws_removal_mode mode,
		const struct sws_allocator *allocator)
{
	struct sws_mapping_config mapping;
	struct sws_removal_config removal;
	int error = SWS_OK;

	*bench = (struct bench){ 0 };
	sws_mapping_config_init(&mapping);
	mapping.kernel = kernel;
	mapping.swap_slots = SLOTS;
	mapping.tree_shift = 2;
	mapping.allocator = allocator;
	sws_removal_config_init(&removal);
	removal.mode = mode;
	removal.list_pages = 8;
	removal.allocator = allocator;
	error = sws_mappings_new(&mapping, &bench->mappings);
	if (!error)
		error = sws_mapping_add_file(bench->mappings, &bench->file);
	if (!error)
		error = sws_mapping_add_file(bench->mappings, &bench->callback_file);
	if (!error)
		error = sws_removal_new(&removal, bench->mappings, &bench->removal);
	return error;
}

static void end(struct bench *bench)
{
	sws_removal_free(bench->removal);
	sws_mappings_free(bench->mappings);
}

static void verify(const struct bench *bench)
{
	const char *reason = NULL;

	CHECK(sws_removal_verify(bench->removal, &reason) == SWS_OK);
	CHECK(sws_mappings_verify(bench->mappings, &reason) == SWS_OK);
}

/* Returns a page that reclaim has locked and isolated, and that can be removed. */
static struct sws_removal_page page_at(struct bench *bench, uint32_t mapping, uint64_t index)
{
	struct sws_mapping_work work = { 0 };
	struct sws_removal_page page = {
		.index = index,
		.mapping = mapping,
		.references = SWS_REMOVAL_REFERENCES,
		.locked = true,
		.freepage = mapping == bench->callback_file,
	};

	if (sws_mapping_is_swap(bench->mappings, mapping))
		page.entry = index;
	CHECK(sws_mapping_add(bench->mappings, mapping, index, FOLIO, &work) == SWS_OK);
	return page;
}

static void queue(struct bench *bench, struct sws_removal_page *page)
{
	CHECK(sws_removal_queue(bench->removal, page) == SWS_OK);
	verify(bench);
}

static struct sws_removal_hold hold(struct bench *bench, uint32_t mapping)
{
	struct sws_removal_hold hold = { 0 };
	uint32_t next = 0;

	CHECK(sws_removal_next(bench->removal, &next) && next == mapping);
	CHECK(sws_removal_hold(bench->removal, &hold) == SWS_OK);
	CHECK(hold.mapping == mapping);
	verify(bench);
	return hold;
}

static void settle(struct bench *bench, const struct sws_removal_page *page)
{
	CHECK(sws_removal_due(bench->removal) == page);
	CHECK(sws_removal_settle(bench->removal) == SWS_OK);
	CHECK(page->entry == 0);
	verify(bench);
}

/* The list A1 B1 A2 of the header's example: one mapping of swap, one of a file. */
static void batched_one_hold_removes_all_pages_of_a_mapping(void)
{
	struct bench bench;
	struct sws_removal_hold done;
	struct sws_removal_page a1;
	struct sws_removal_page b1;
	struct sws_removal_page a2;
	uint32_t mapping = 0;

	CHECK(make(&bench, SWS_KERNEL_4_8, SWS_REMOVAL_BATCHED, NULL) == SWS_OK);
	a1 = page_at(&bench, 0, 70);
	b1 = page_at(&bench, bench.file, 3);
	a2 = page_at(&bench, 0, 71);
	queue(&bench, &a1);
	queue(&bench, &b1);
	queue(&bench, &a2);
	done = hold(&bench, 0);
	CHECK(done.removed == 2 && done.failed == 0 && done.passed_over == 1);
	CHECK(done.tree.descents == 2);
	/*
	 * The pages still have their slots when the lock is dropped; these are freed in queueing
	 * order.
	 */
	CHECK(a1.entry == 70 && a2.entry == 71 && !a1.locked && a1.references == 0);
	CHECK(sws_mapping_lookup(bench.mappings, 0, 70) == 0);
	CHECK(sws_removal_hold(bench.removal, &done) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_removal_take_freed(bench.removal) == NULL);
	settle(&bench, &a1);
	settle(&bench, &a2);
	CHECK(sws_removal_settle(bench.removal) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(b1.locked && b1.state == SWS_REMOVAL_WAITING);
	done = hold(&bench, bench.file);
	CHECK(done.removed == 1 && done.passed_over == 0);
	CHECK(!sws_removal_next(bench.removal, &mapping) && !sws_removal_due(bench.removal));
	/* A file page without a callback went to the head at once. */
	CHECK(sws_removal_take_freed(bench.removal) == &b1);
	CHECK(sws_removal_take_freed(bench.removal) == &a1);
	CHECK(sws_removal_take_freed(bench.removal) == &a2);
	CHECK(sws_removal_take_freed(bench.removal) == NULL);
	CHECK(sws_removal_take_kept(bench.removal) == NULL);
	CHECK(sws_removal_counts(bench.removal).holds == 2);
	CHECK(sws_removal_counts(bench.removal).slots_freed == 2);
	CHECK(sws_removal_counts(bench.removal).reclaimed == 3);
	end(&bench);
}

static void page_by_page_each_has_its_own_hold_in_the_order_met(void)
{
	struct bench bench;
	struct sws_removal_page pages[3];

	CHECK(make(&bench, SWS_KERNEL_4_8, SWS_REMOVAL_PAGE_BY_PAGE, NULL) == SWS_OK);
	for (uint32_t i = 0; i < 3; i++) {
		pages[i] = page_at(&bench, 0, 70 + i);
		queue(&bench, &pages[i]);
	}
	for (uint32_t i = 0; i < 3; i++) {
		struct sws_removal_hold done = hold(&bench, 0);

		CHECK(done.removed == 1 && done.passed_over == 0 && done.tree.descents == 1);
		settle(&bench, &pages[i]);
	}
	CHECK(sws_removal_take_freed(bench.removal) == &pages[2]);
	CHECK(sws_removal_counts(bench.removal).holds == 3);
	end(&bench);
}

static void a_page_in_use_or_dirty_is_unlocked_and_given_back(void)
{
	for (int mode = SWS_REMOVAL_PAGE_BY_PAGE; mode <= SWS_REMOVAL_BATCHED; mode++) {
		struct bench bench;
		struct sws_removal_page used;
		struct sws_removal_page dirty;
		struct sws_removal_page *kept = NULL;
		struct sws_removal_hold done = { 0 };
		uint32_t failed = 0;

		CHECK(make(&bench, SWS_KERNEL_6_1, (enum sws_removal_mode)mode, NULL) == SWS_OK);
		used = page_at(&bench, bench.file, 1);
		used.references = 3;
		dirty = page_at(&bench, bench.file, 2);
		dirty.dirty = true;
		queue(&bench, &used);
		queue(&bench, &dirty);
		while (!sws_removal_hold(bench.removal, &done)) {
			failed += done.failed;
			CHECK(done.removed == 0 && done.tree.descents == 0);
			verify(&bench);
		}
		CHECK(failed == 2 && sws_removal_counts(bench.removal).failed == 2);
		CHECK(!used.locked && used.references == 3 && used.mapping == bench.file);
		CHECK(sws_mapping_lookup(bench.mappings, bench.file, 1) == FOLIO);
		CHECK(!sws_removal_take_freed(bench.removal));
		/* Each goes to the head of the kept pages. */
		kept = sws_removal_take_kept(bench.removal);
		CHECK(kept == (mode == SWS_REMOVAL_BATCHED ? &used : &dirty));
		CHECK(kept->state == SWS_REMOVAL_ISOLATED);
		CHECK(sws_removal_take_kept(bench.removal) &&
		      !sws_removal_take_kept(bench.removal));
		end(&bench);
	}
}

static void a_lazily_freed_page_counts_when_queued_once_removals_are_batched(void)
{
	for (int mode = SWS_REMOVAL_PAGE_BY_PAGE; mode <= SWS_REMOVAL_BATCHED; mode++) {
		struct bench bench;
		struct sws_removal_page gone;
		struct sws_removal_page used;
		struct sws_removal_hold done;

		CHECK(make(&bench, SWS_KERNEL_4_8, (enum sws_removal_mode)mode, NULL) == SWS_OK);
		gone = page_at(&bench, 0, 5);
		used = page_at(&bench, 0, 6);
		gone.lazyfree = used.lazyfree = true;
		used.references = 3;
		queue(&bench, &gone);
		queue(&bench, &used);
		CHECK(sws_removal_counts(bench.removal).lazyfreed ==
		      (mode == SWS_REMOVAL_BATCHED ? 2 : 0));
		while (!sws_removal_hold(bench.removal, &done) ||
		       !sws_removal_settle(bench.removal))
			verify(&bench);
		CHECK(sws_removal_counts(bench.removal).lazyfreed ==
		      (mode == SWS_REMOVAL_BATCHED ? 2 : 1));
		end(&bench);
	}
}

static void a_filesystem_hears_of_its_pages_after_the_swap_pages_are_settled(void)
{
	struct bench bench;
	struct sws_removal_page pages[2];
	struct sws_removal_hold done;

	CHECK(make(&bench, SWS_KERNEL_4_8, SWS_REMOVAL_BATCHED, NULL) == SWS_OK);
	for (uint32_t i = 0; i < 2; i++) {
		pages[i] = page_at(&bench, bench.callback_file, i);
		queue(&bench, &pages[i]);
	}
	done = hold(&bench, bench.callback_file);
	CHECK(done.removed == 2);
	settle(&bench, &pages[0]);
	CHECK(sws_removal_take_freed(bench.removal) == NULL);
	settle(&bench, &pages[1]);
	CHECK(sws_removal_take_freed(bench.removal) == &pages[0]);
	CHECK(sws_removal_counts(bench.removal).freepages == 2);
	/* Index 1 had a node and left a shadow; alone at index 0, in 4.8 a page leaves none. */
	CHECK(sws_mapping_lookup(bench.mappings, bench.callback_file, 1) & 1);
	end(&bench);
}

static void a_page_that_cannot_be_removed_is_refused(void)
{
	struct bench bench;
	struct sws_removal_page page;
	struct sws_removal_page wrong;
	struct sws_removal_config config;
	struct sws_removal *removal = NULL;
	struct sws_removal_hold done;

	CHECK(make(&bench, SWS_KERNEL_6_1, SWS_REMOVAL_BATCHED, NULL) == SWS_OK);
	CHECK(sws_removal_hold(bench.removal, &done) == SWS_ERROR_BAD_ARGUMENT);
	page = page_at(&bench, 0, 7);
	wrong = page;
	wrong.locked = false;
	CHECK(sws_removal_check(bench.removal, &wrong) == SWS_REMOVAL_NOT_LOCKED);
	wrong = page;
	wrong.mapping = SWS_REMOVAL_NO_MAPPING;
	CHECK(sws_removal_check(bench.removal, &wrong) == SWS_REMOVAL_HAS_NO_MAPPING);
	wrong = page;
	wrong.mapping = 1;
	CHECK(sws_removal_check(bench.removal, &wrong) == SWS_REMOVAL_NOT_IN_TREE);
	wrong.mapping = 1000;
	CHECK(sws_removal_check(bench.removal, &wrong) == SWS_REMOVAL_NOT_IN_TREE);
	wrong = page;
	wrong.entry = 8;
	CHECK(sws_removal_check(bench.removal, &wrong) == SWS_REMOVAL_WRONG_ENTRY);
	queue(&bench, &page);
	CHECK(sws_removal_check(bench.removal, &page) == SWS_REMOVAL_TWICE);
	CHECK(sws_removal_queue(bench.removal, &page) == SWS_ERROR_BAD_ARGUMENT);
	verify(&bench);
	sws_removal_config_init(&config);
	config.mode = (enum sws_removal_mode)2;
	CHECK(sws_removal_new(&config, bench.mappings, &removal) == SWS_ERROR_BAD_CONFIG);
	sws_removal_config_init(&config);
	config.list_pages = 0;
	CHECK(sws_removal_new(&config, bench.mappings, &removal) == SWS_ERROR_BAD_CONFIG);
	CHECK(!removal);
	sws_removal_free(NULL);
	end(&bench);
}

/* Two records of one page: only one of them can be removed, so the other one must not be queued. */
static void a_page_is_queued_or_kept_by_one_record_only(void)
{
	for (int mode = SWS_REMOVAL_PAGE_BY_PAGE; mode <= SWS_REMOVAL_BATCHED; mode++) {
		struct bench bench;
		struct sws_removal_page page;
		struct sws_removal_page again;
		struct sws_removal_hold done;

		CHECK(make(&bench, SWS_KERNEL_4_8, (enum sws_removal_mode)mode, NULL) == SWS_OK);
		page = page_at(&bench, 0, 7);
		page.references = 3;
		again = page;
		again.references = SWS_REMOVAL_REFERENCES;
		queue(&bench, &page);
		CHECK(sws_removal_check(bench.removal, &again) == SWS_REMOVAL_TWICE);
		CHECK(sws_removal_queue(bench.removal, &again) == SWS_ERROR_BAD_ARGUMENT);
		done = hold(&bench, 0);
		CHECK(done.removed == 0 && done.failed == 1);
		CHECK(sws_removal_queue(bench.removal, &again) == SWS_ERROR_BAD_ARGUMENT);
		CHECK(sws_removal_take_kept(bench.removal) == &page);
		queue(&bench, &again);
		done = hold(&bench, 0);
		CHECK(done.removed == 1 && done.failed == 0);
		end(&bench);
	}
}

/* Another reclaimer, or the owner, may still take a queued page out; then it is not removed again. */
static void a_page_that_left_its_mapping_is_not_counted(void)
{
	struct bench bench;
	struct sws_removal_page page;
	struct sws_removal_hold done = { 0 };
	struct sws_mapping_work work = { 0 };
	const char *reason = NULL;

	CHECK(make(&bench, SWS_KERNEL_4_8, SWS_REMOVAL_BATCHED, NULL) == SWS_OK);
	page = page_at(&bench, 0, 7);
	queue(&bench, &page);
	CHECK(sws_mapping_delete(bench.mappings, 0, 7, 0, &work) == SWS_OK);
	CHECK(sws_removal_verify(bench.removal, &reason) == SWS_ERROR_BROKEN);
	CHECK(sws_removal_hold(bench.removal, &done) == SWS_OK);
	CHECK(done.removed == 0 && done.failed == 1);
	end(&bench);
}

enum { ROWS = 9 };

/* Two lists, of five and of four rows, all of which can be removed. */
struct columns {
	uint32_t file[ROWS];
	uint64_t index[ROWS];
	uint32_t references[ROWS];
	uint8_t locked[ROWS];
	uint8_t clear[ROWS];
	uint8_t removed[ROWS];
	uint32_t place[ROWS];
	struct sws_removal_hold holds[ROWS];
	struct sws_removal_results results;
};

static void fill(struct bench *bench, struct columns *columns)
{
	*columns = (struct columns){ .results = { .removed = columns->removed,
						  .place = columns->place,
						  .holds = columns->holds } };
	for (uint32_t row = 0; row < ROWS; row++) {
		columns->file[row] = row % 2 ? SWS_REMOVAL_FILE_SWAP : 0;
		columns->index[row] = 40 + row;
		columns->references[row] = 2;
		columns->locked[row] = true;
		columns->removed[row] = 9;
		page_at(bench, row % 2 ? 0 : bench->file, 40 + row);
	}
}

static int run(struct bench *bench, struct columns *columns, uint64_t n_lists, const uint64_t *ends)
{
	const struct sws_removal_rows rows = {
		.file = columns->file,
		.index = columns->index,
		.references = columns->references,
		.locked = columns->locked,
		.dirty = columns->clear,
		.freepage = columns->clear,
		.lazyfree = columns->clear,
	};

	return sws_removal_lists(bench->removal, &rows, n_lists, ends, &columns->results);
}

static void lists_as_columns_go_through_the_same_parts(void)
{
	const uint64_t ends[] = { 5, 9 };
	struct bench bench;
	struct columns columns;

	CHECK(make(&bench, SWS_KERNEL_4_8, SWS_REMOVAL_BATCHED, NULL) == SWS_OK);
	fill(&bench, &columns);
	columns.references[2] = 3;
	CHECK(run(&bench, &columns, 2, ends) == SWS_OK);
	verify(&bench);
	/* The file's pages and the swap cache's of each list: two holds per list. */
	CHECK(columns.results.n_holds == 4);
	CHECK(columns.holds[0].mapping == bench.file && columns.holds[0].list == 0);
	CHECK(columns.holds[0].removed == 2 && columns.holds[0].failed == 1);
	CHECK(columns.holds[0].passed_over == 2);
	CHECK(columns.holds[2].mapping == bench.file && columns.holds[2].list == 1);
	CHECK(columns.holds[3].mapping == 0 && columns.holds[3].removed == 2);
	for (uint32_t row = 0; row < ROWS; row++)
		CHECK(columns.removed[row] == (row != 2));
	CHECK(columns.place[2] == 0);
	/* Row 4 is queued last; the swap pages, removed later, are before it. */
	CHECK(columns.place[1] == 0 && columns.place[3] == 1);
	CHECK(columns.place[0] == 2 && columns.place[4] == 3);
	end(&bench);
}

static void a_list_at_fault_is_named_by_its_row_and_left_whole(void)
{
	static const enum sws_removal_problem problems[] = {
		SWS_REMOVAL_TWICE,          SWS_REMOVAL_NOT_LOCKED,    SWS_REMOVAL_HAS_NO_MAPPING,
		SWS_REMOVAL_HAS_NO_MAPPING, SWS_REMOVAL_NOT_IN_TREE,   SWS_REMOVAL_NOT_IN_TREE,
		SWS_REMOVAL_EMPTY_LIST,     SWS_REMOVAL_LIST_TOO_LONG,
	};

	for (int fault = 0; fault < 8; fault++) {
		uint64_t ends[] = { 5, 9 };
		struct bench bench;
		struct columns columns;

		CHECK(make(&bench, SWS_KERNEL_4_8, SWS_REMOVAL_BATCHED, NULL) == SWS_OK);
		fill(&bench, &columns);
		switch (fault) {
		case 0:
			columns.file[8] = columns.file[6];
			columns.index[8] = columns.index[6];
			break;
		case 1:
			columns.locked[8] = false;
			break;
		case 2:
			columns.file[8] = SWS_REMOVAL_FILE_NONE;
			break;
		case 3:
			columns.file[8] = 2;
			break;
		case 4:
			columns.index[8] = 1000;
			break;
		case 5:
			columns.file[8] = SWS_REMOVAL_FILE_SWAP;
			columns.index[8] = SLOTS;
			break;
		case 6:
			ends[1] = 5;
			break;
		default:
			ends[0] = 9;
			break;
		}
		CHECK(run(&bench, &columns, 2, ends) == SWS_ERROR_BAD_ARGUMENT);
		CHECK(columns.results.problem == problems[fault]);
		CHECK(columns.results.row == (fault < 6 ? 8 : fault == 6 ? 5 : 0));
		CHECK(columns.results.list == (fault < 7));
		/* The first list was done, no page of the second. */
		CHECK(sws_removal_counts(bench.removal).reclaimed == (fault < 7 ? 5 : 0));
		CHECK(columns.removed[5] == 9 && columns.removed[8] == 9);
		CHECK(sws_mapping_lookup(bench.mappings, 0, 45) == FOLIO);
		verify(&bench);
		end(&bench);
	}
}

/* Their results would be written past the columns. */
static void lists_are_refused_while_other_pages_are_on_the_lists(void)
{
	const uint64_t end_of_list = 5;
	struct bench bench;
	struct columns columns;
	struct sws_removal_page page;

	CHECK(make(&bench, SWS_KERNEL_4_8, SWS_REMOVAL_BATCHED, NULL) == SWS_OK);
	fill(&bench, &columns);
	page = page_at(&bench, bench.file, 7);
	queue(&bench, &page);
	for (int i = 0; i < 2; i++) {
		CHECK(run(&bench, &columns, 1, &end_of_list) == SWS_ERROR_BAD_ARGUMENT);
		CHECK(columns.results.problem == SWS_REMOVAL_NOT_EMPTY);
		CHECK(columns.results.n_holds == 0);
		if (i == 0)
			(void)hold(&bench, bench.file);
	}
	CHECK(sws_removal_take_freed(bench.removal) == &page);
	CHECK(run(&bench, &columns, 1, &end_of_list) == SWS_OK);
	end(&bench);
}

static int bring_and_remove(const struct sws_allocator *allocator)
{
	struct bench bench = { 0 };
	struct sws_removal_config config;
	struct sws_removal *removal = NULL;
	uint32_t file[32] = { 0 };
	uint64_t index[32] = { 0 };
	uint32_t references[32] = { 0 };
	uint8_t locked[32] = { 0 };
	uint8_t clear[32] = { 0 };
	uint8_t removed[32] = { 0 };
	struct sws_removal_hold holds[32];
	const uint64_t end_of_list = 32;
	struct sws_removal_results results = { .removed = removed, .holds = holds };
	const struct sws_removal_rows rows = { .file = file,
					       .index = index,
					       .references = references,
					       .locked = locked,
					       .dirty = clear,
					       .freepage = clear,
					       .lazyfree = clear };
	int error = make(&bench, SWS_KERNEL_6_1, SWS_REMOVAL_BATCHED, allocator);

	if (error)
		goto out;
	sws_removal_config_init(&config);
	config.brings_pages = true;
	config.allocator = allocator;
	error = sws_removal_new(&config, bench.mappings, &removal);
	for (uint32_t list = 0; !error && list < 20; list++) {
		for (uint32_t row = 0; row < 32; row++) {
			file[row] = row % 4 ? SWS_REMOVAL_FILE_SWAP : 0;
			index[row] = 1 + (list * 977 + row * 1999) % (SLOTS - 1);
			references[row] = 2 + !(row % 7);
			locked[row] = true;
		}
		error = sws_removal_lists(removal, &rows, 1, &end_of_list, &results);
		verify(&bench);
		CHECK(!sws_removal_next(removal, &file[0]) && !sws_removal_take_freed(removal));
	}
	CHECK(error || sws_removal_counts(removal).reclaimed == 20 * 27);
out:
	sws_removal_free(removal);
	end(&bench);
	return error;
}

static void running_out_of_memory_leaks_and_breaks_nothing(void)
{
	check_each_allocation_failing(bring_and_remove);
}

int main(void)
{
	RUN(batched_one_hold_removes_all_pages_of_a_mapping);
	RUN(page_by_page_each_has_its_own_hold_in_the_order_met);
	RUN(a_page_in_use_or_dirty_is_unlocked_and_given_back);
	RUN(a_lazily_freed_page_counts_when_queued_once_removals_are_batched);
	RUN(a_filesystem_hears_of_its_pages_after_the_swap_pages_are_settled);
	RUN(a_page_that_cannot_be_removed_is_refused);
	RUN(a_page_is_queued_or_kept_by_one_record_only);
	RUN(a_page_that_left_its_mapping_is_not_counted);
	RUN(lists_as_columns_go_through_the_same_parts);
	RUN(a_list_at_fault_is_named_by_its_row_and_left_whole);
	RUN(lists_are_refused_while_other_pages_are_on_the_lists);
	RUN(running_out_of_memory_leaks_and_breaks_nothing);
	return 0;
}
