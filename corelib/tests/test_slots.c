/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "swapsim/slots.h"

#include "check.h"

static const enum sws_kernel kernels[] = {
	SWS_KERNEL_4_8, SWS_KERNEL_5_7, SWS_KERNEL_5_7_SCAN_MORE, SWS_KERNEL_5_8, SWS_KERNEL_6_1,
};
enum { KERNELS = sizeof(kernels) / sizeof(kernels[0]) };

static struct sws_slots_config config_of(enum sws_kernel kernel, uint32_t slots)
{
	struct sws_slots_config config;

	sws_slots_config_init(&config);
	config.kernel = kernel;
	config.slots = slots;
	config.trunk_shift = 10;
	config.possible_cpus = 2;
	config.online_cpus = 2;
	return config;
}

static struct sws_slots *make(const struct sws_slots_config *config)
{
	struct sws_slots *slots = NULL;

	CHECK(sws_slots_new(config, &slots) == SWS_OK);
	return slots;
}

static void verify(const struct sws_slots *slots)
{
	const char *reason = NULL;

	CHECK(sws_slots_verify(slots, &reason) == SWS_OK);
}

/* Makes a complete call; verifies the device and that the slots are within it. */
static struct sws_slots_call allocate(struct sws_slots *slots, uint32_t cpu, uint32_t wanted,
				      struct sws_slots_work *work)
{
	struct sws_slots_call call;

	CHECK(sws_slots_allocate(slots, cpu, -1, wanted, &call, work) == SWS_OK);
	verify(slots);
	for (uint32_t i = 0; i < call.given; i++)
		CHECK(call.slots[i] >= 1 &&
		      sws_slots_usage(slots, call.slots[i]) == (SWS_SLOT_CACHED | SWS_SLOT_IDLE));
	return call;
}

/* Takes every slot and maps each once, so that no cached one is left to reclaim. */
static uint32_t fill(struct sws_slots *slots)
{
	uint32_t given = 0;

	for (;;) {
		struct sws_slots_work work = { 0 };
		struct sws_slots_call call;

		CHECK(sws_slots_allocate(slots, 0, -1, 64, &call, &work) == SWS_OK);
		for (uint32_t i = 0; i < call.given; i++) {
			uint8_t usage = 0;

			CHECK(sws_slots_duplicate(slots, call.slots[i], &usage, &work) == SWS_OK);
		}
		given += call.given;
		if (!call.given)
			break;
	}
	verify(slots);
	return given;
}

static void free_slot(struct sws_slots *slots, uint32_t offset)
{
	struct sws_slots_work work = { 0 };

	CHECK(sws_slots_free_entries(slots, &offset, 1, &work) == SWS_OK);
	verify(slots);
}

static void a_config_out_of_range_is_refused(void)
{
	static const uint32_t wrong[] = { 0, 1, UINT32_MAX };
	struct sws_slots_config config = config_of(SWS_KERNEL_6_1, 1024);
	struct sws_slots *slots = NULL;

	for (unsigned int i = 0; i < 3; i++) {
		config.slots = wrong[i];
		CHECK(sws_slots_new(&config, &slots) == SWS_ERROR_BAD_CONFIG);
	}
	config = config_of(SWS_KERNEL_6_1, 1024);
	config.cluster_size = 128;
	CHECK(sws_slots_new(&config, &slots) == SWS_ERROR_BAD_CONFIG);
	config = config_of(SWS_KERNEL_6_1, 1024);
	config.online_cpus = 3;
	CHECK(sws_slots_new(&config, &slots) == SWS_ERROR_BAD_CONFIG);
	config = config_of(SWS_KERNEL_6_1, 1024);
	config.policy = SWS_BASE_READER;
	CHECK(sws_slots_new(&config, &slots) == SWS_ERROR_BAD_CONFIG);
	config = config_of(SWS_KERNEL_6_1, 1024);
	config.initial_bases = (const int64_t[]){ 1, 1024 };
	CHECK(sws_slots_new(&config, &slots) == SWS_ERROR_BAD_CONFIG);
}

static void clusters_are_handed_out_a_trunk_apart(void)
{
	struct sws_slots_config config = config_of(SWS_KERNEL_6_1, 65536);
	struct sws_slots_work work = { 0 };
	struct sws_slots *slots = NULL;

	config.trunk_shift = 14;
	slots = make(&config);
	/* Column 0 of 64: the header's cluster 0 is not free, so 64, 128, 192, then column 1. */
	CHECK(allocate(slots, 0, 64, &work).slots[0] == 64 * 256);
	CHECK(allocate(slots, 1, 64, &work).slots[0] == 128 * 256);
	for (int i = 0; i < 3; i++)
		allocate(slots, 0, 64, &work);
	CHECK(allocate(slots, 0, 64, &work).slots[0] == 192 * 256);
	for (int i = 0; i < 3; i++)
		allocate(slots, 0, 64, &work);
	CHECK(allocate(slots, 0, 1, &work).slots[0] == 256);
	CHECK(work.tested_scan == 0 && work.tested_quick == 0);
	CHECK(work.si_lock == work.calls);
	sws_slots_free(slots);
}

static void a_fragmented_call_takes_what_its_kernel_takes(void)
{
	static const uint32_t given[KERNELS] = { 1, 1, 5, 5, 5 };

	for (unsigned int k = 0; k < KERNELS; k++) {
		struct sws_slots_config config = config_of(kernels[k], 2048);
		struct sws_slots_work work = { 0 };
		struct sws_slots *slots = NULL;
		struct sws_slots_call call;

		config.policy = SWS_BASE_SHARED;
		config.initial_bases = (const int64_t[]){ 1000 };
		slots = make(&config);
		CHECK(fill(slots) == 2047);
		CHECK(sws_slots_set_base(slots, 0, 1000) == SWS_OK);
		for (uint32_t offset = 1010; offset < 1060; offset += 10)
			free_slot(slots, offset);
		call = allocate(slots, 0, 64, &work);
		CHECK(call.given == given[k] && call.slots[0] == 1010);
		sws_slots_free(slots);
	}
}

static void the_base_itself_is_tested_in_4_8_alone(void)
{
	for (unsigned int k = 0; k < KERNELS; k++) {
		struct sws_slots_config config = config_of(kernels[k], 2048);
		struct sws_slots_work work = { 0 };
		struct sws_slots *slots = NULL;

		config.policy = SWS_BASE_SHARED;
		slots = make(&config);
		fill(slots);
		free_slot(slots, 1000);
		free_slot(slots, 500);
		CHECK(sws_slots_set_base(slots, 0, 1000) == SWS_OK);
		CHECK(allocate(slots, 0, 1, &work).slots[0] ==
		      (kernels[k] == SWS_KERNEL_4_8 ? 1000 : 500));
		sws_slots_free(slots);
	}
}

static void the_base_is_one_past_where_the_scan_stands(void)
{
	struct sws_slots_config config = config_of(SWS_KERNEL_6_1, 2048);
	struct sws_slots_work work = { 0 };
	struct sws_slots *slots = NULL;
	struct sws_slots_call call;

	config.policy = SWS_BASE_SHARED;
	slots = make(&config);
	fill(slots);
	CHECK(sws_slots_set_base(slots, 0, 600) == SWS_OK);
	free_slot(slots, 700);
	free_slot(slots, 2000);
	call = allocate(slots, 0, 64, &work);
	/*
	 * 601 .. 700 are 100 tests of the 256, one more is spent on continuing; then the slot just
	 * taken and 153 more are tested under the lock, until the ration is spent.
	 */
	CHECK(call.given == 1 && call.slots[0] == 700);
	CHECK(work.tested_scan == 100 && work.tested_quick == 154 && work.si_lock == 2);
	CHECK(call.offset == 700 + 154 && call.base_after == 700 + 154 + 1);
	CHECK(sws_slots_base(slots, 0) == call.base_after);
	sws_slots_free(slots);
}

static void a_scan_of_many_slots_takes_one(void)
{
	struct sws_slots_config config = config_of(SWS_KERNEL_6_1, 2048);
	struct sws_slots_work work = { 0 };
	struct sws_slots *slots = NULL;
	struct sws_slots_call call;

	config.policy = SWS_BASE_SHARED;
	slots = make(&config);
	fill(slots);
	CHECK(sws_slots_set_base(slots, 0, 100) == SWS_OK);
	free_slot(slots, 700);
	free_slot(slots, 701);
	call = allocate(slots, 0, 64, &work);
	CHECK(call.given == 1 && call.scanned_many && work.rescheduled == 2);
	CHECK(call.base_after == 701);
	sws_slots_free(slots);
}

static void what_is_taken_while_the_lock_is_dropped_is_passed_over(void)
{
	struct sws_slots_config config = config_of(SWS_KERNEL_6_1, 2048);
	struct sws_slots_work work = { 0 };
	struct sws_slots_call first;
	struct sws_slots *slots = NULL;
	uint8_t usage = 0;

	config.policy = SWS_BASE_SHARED;
	slots = make(&config);
	fill(slots);
	free_slot(slots, 700);
	free_slot(slots, 900);
	CHECK(sws_slots_set_base(slots, 0, 600) == SWS_OK);
	CHECK(sws_slots_call_begin(slots, -1, 1, &first, &work) == SWS_OK);
	CHECK(sws_slots_call_locked(slots, 0, &first, &work) == SWS_OK);
	CHECK(first.state == SWS_CALL_SCAN);
	CHECK(sws_slots_call_unlocked(slots, &first, &work) == SWS_OK);
	CHECK(first.state == SWS_CALL_CHECK && first.offset == 700);
	CHECK(allocate(slots, 1, 1, &work).slots[0] == 700);
	CHECK(sws_slots_duplicate(slots, 700, &usage, &work) == SWS_OK);
	CHECK(sws_slots_call_locked(slots, 0, &first, &work) == SWS_OK);
	CHECK(first.state == SWS_CALL_SCAN && first.given == 0);
	CHECK(sws_slots_call_unlocked(slots, &first, &work) == SWS_OK);
	CHECK(sws_slots_call_locked(slots, 0, &first, &work) == SWS_OK);
	CHECK(first.state == SWS_CALL_DONE && first.slots[0] == 900);
	CHECK(sws_slots_call_locked(slots, 0, &first, &work) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_slots_call_unlocked(slots, &first, &work) == SWS_ERROR_BAD_ARGUMENT);
	verify(slots);
	sws_slots_free(slots);
}

static void a_free_cluster_in_the_middle_of_the_list_is_not_begun(void)
{
	struct sws_slots_config config = config_of(SWS_KERNEL_6_1, 2048);
	struct sws_slots_work work = { 0 };
	struct sws_slots_call call;
	struct sws_slots *slots = NULL;

	config.policy = SWS_BASE_SHARED;
	slots = make(&config);
	fill(slots);
	free_slot(slots, 510);
	CHECK(sws_slots_set_base(slots, 0, 520) == SWS_OK);
	CHECK(sws_slots_call_begin(slots, -1, 1, &call, &work) == SWS_OK);
	CHECK(sws_slots_call_locked(slots, 0, &call, &work) == SWS_OK);
	/* While the lock is dropped, cluster 5 is freed, then cluster 3. */
	for (uint32_t offset = 1280; offset < 1536; offset++)
		free_slot(slots, offset);
	for (uint32_t offset = 768; offset < 1024; offset++)
		free_slot(slots, offset);
	CHECK(sws_slots_call_unlocked(slots, &call, &work) == SWS_OK);
	CHECK(call.offset == 768);
	CHECK(sws_slots_call_locked(slots, 0, &call, &work) == SWS_OK);
	CHECK(call.given == 1 && call.slots[0] == 1280);
	verify(slots);
	sws_slots_free(slots);
}

static void above_half_full_a_cached_slot_is_tried(void)
{
	struct sws_slots_config config = config_of(SWS_KERNEL_6_1, 2048);
	struct sws_slots_work work = { 0 };
	struct sws_slots_call call;
	struct sws_slots *slots = NULL;
	uint8_t usage = 0;

	config.policy = SWS_BASE_SHARED;
	slots = make(&config);
	fill(slots);
	CHECK(sws_slots_drop(slots, 700, &usage, &work) == SWS_OK);
	CHECK(usage == SWS_SLOT_CACHED);
	free_slot(slots, 900);
	CHECK(sws_slots_set_base(slots, 0, 600) == SWS_OK);
	call = allocate(slots, 0, 1, &work);
	CHECK(work.reclaims == 1 && call.slots[0] == 700);
	/* Below half full it is skipped. */
	CHECK(sws_slots_duplicate(slots, 700, &usage, &work) == SWS_OK);
	CHECK(sws_slots_drop(slots, 700, &usage, &work) == SWS_OK);
	for (uint32_t offset = 1000; offset < 2040; offset++)
		free_slot(slots, offset);
	CHECK(!sws_slots_swap_full(slots));
	CHECK(sws_slots_set_base(slots, 0, 600) == SWS_OK);
	work = (struct sws_slots_work){ 0 };
	CHECK(sws_slots_call_begin(slots, -1, 1, &call, &work) == SWS_OK);
	CHECK(sws_slots_call_locked(slots, 1, &call, &work) == SWS_OK);
	CHECK(work.reclaims == 0);
	sws_slots_free(slots);
}

static void references_take_a_slot_from_waiting_to_waiting(void)
{
	struct sws_slots_config config = config_of(SWS_KERNEL_6_1, 2048);
	struct sws_slots *slots = make(&config);
	struct sws_slots_work work = { 0 };
	const uint32_t offset = allocate(slots, 0, 1, &work).slots[0];
	uint8_t usage = 0;

	work = (struct sws_slots_work){ 0 };
	CHECK(sws_slots_uncache(slots, offset, &usage, &work) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_slots_drop(slots, offset, &usage, &work) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_slots_duplicate(slots, offset, &usage, &work) == SWS_OK);
	CHECK(usage == (SWS_SLOT_CACHED | 1));
	CHECK(sws_slots_uncache(slots, offset, &usage, &work) == SWS_OK && usage == 1);
	CHECK(sws_slots_cache(slots, offset, &usage, &work) == SWS_OK);
	CHECK(sws_slots_drop(slots, offset, &usage, &work) == SWS_OK);
	CHECK(usage == SWS_SLOT_CACHED);
	CHECK(sws_slots_uncache(slots, offset, &usage, &work) == SWS_OK);
	CHECK(usage == (SWS_SLOT_CACHED | SWS_SLOT_IDLE));
	CHECK(work.cluster_lock == 5 && work.si_lock == 0);
	CHECK(sws_slots_duplicate(slots, 0, &usage, &work) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_slots_duplicate(slots, 5000, &usage, &work) == SWS_ERROR_BAD_ARGUMENT);
	sws_slots_free(slots);
}

static void a_disk_begins_at_the_first_empty_run_and_goes_on_in_it(void)
{
	for (unsigned int k = 0; k < KERNELS; k++) {
		struct sws_slots_config config = config_of(kernels[k], 4096);
		struct sws_slots_work work = { 0 };
		struct sws_slots *slots = NULL;
		struct sws_slots_call call;
		uint32_t next = 0;

		config.rotational = true;
		slots = make(&config);
		CHECK(sws_slots_bases(slots) == 1 && sws_slots_free_clusters(slots) == 0);
		call = allocate(slots, 0, 64, &work);
		/* The search for the run has spent the ration: two slots, not 64. */
		CHECK(call.slots[0] == 1);
		CHECK(call.given == (kernels[k] == SWS_KERNEL_4_8 ? 1 : 2));
		next = call.slots[call.given - 1] + 1;
		call = allocate(slots, 1, 64, &work);
		CHECK(call.given == (kernels[k] == SWS_KERNEL_4_8 ? 1 : 64));
		CHECK(call.slots[0] == next && work.tested_scan == 256);
		CHECK(work.cluster_lock == 0);
		sws_slots_free(slots);
	}
}

static void a_device_of_any_size_gives_each_slot_once(void)
{
	static const uint32_t sizes[] = { 3, 64, 255, 256, 257, 511, 513, 1000, 2048 };

	for (unsigned int k = 0; k < KERNELS; k++)
		for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			for (int rotational = 0; rotational <= 1; rotational++) {
				struct sws_slots_config config = config_of(kernels[k], sizes[i]);
				struct sws_slots *slots = NULL;

				config.rotational = rotational;
				config.policy = SWS_BASE_SHARED;
				slots = make(&config);
				/*
				 * A base on the only free slot is tested only in 4.8 and on an HDD.
				 */
				CHECK(fill(slots) + 1 >= sizes[i] - 1);
				CHECK(sws_slots_lowest(slots) <= sizes[i]);
				sws_slots_free(slots);
			}
}

static void a_full_device_gives_nothing(void)
{
	struct sws_slots_config config = config_of(SWS_KERNEL_6_1, 2048);
	struct sws_slots *slots = make(&config);
	struct sws_slots_work work = { 0 };
	struct sws_slots_call call;

	CHECK(fill(slots) == 2047);
	CHECK(sws_slots_lowest(slots) == 2048 && sws_slots_highest(slots) == 0);
	call = allocate(slots, 0, 64, &work);
	CHECK(call.given == 0 && call.state == SWS_CALL_NO_PAGE && work.calls == 0);
	sws_slots_free(slots);
}

static void what_is_not_in_use_cannot_be_freed(void)
{
	struct sws_slots_config config = config_of(SWS_KERNEL_6_1, 2048);
	struct sws_slots *slots = make(&config);
	struct sws_slots_work work = { 0 };
	uint32_t offset = 0;

	CHECK(sws_slots_free_entries(slots, &offset, 1, &work) == SWS_ERROR_BAD_ARGUMENT);
	offset = 2048;
	CHECK(sws_slots_free_entries(slots, &offset, 1, &work) == SWS_ERROR_BAD_ARGUMENT);
	offset = 5;
	CHECK(sws_slots_free_entries(slots, &offset, 1, &work) == SWS_ERROR_NOT_FOUND);
	CHECK(work.freed == 0);
	sws_slots_free(slots);
}

static int64_t nonsense(int64_t cpu, int64_t mm, int64_t base, int64_t next, int64_t lowest,
			int64_t highest, int64_t trunk_size, int64_t draw, const int64_t *bases,
			int64_t n_bases, int64_t *looked_at)
{
	(void)cpu;
	(void)mm;
	(void)base;
	(void)next;
	(void)lowest;
	(void)highest;
	(void)trunk_size;
	(void)draw;
	*looked_at += n_bases;
	return -bases[0];
}

static void an_answer_outside_of_the_device_is_counted_and_not_followed(void)
{
	struct sws_slots_config config = config_of(SWS_KERNEL_6_1, 2048);
	struct sws_slots_work work = { 0 };
	struct sws_slots *slots = NULL;
	struct sws_slots_call call;

	config.policy = SWS_BASE_READER;
	config.reader = (struct sws_base_ops){ SWS_BASE_OF_CPU, SWS_BASE_FIRST, nonsense };
	slots = make(&config);
	call = allocate(slots, 1, 64, &work);
	CHECK(work.nonsense == 1 && work.stores == 1 && work.looked_at == 2);
	CHECK(call.base_after == call.next && sws_slots_base(slots, 1) == call.next);
	sws_slots_free(slots);
}

static void a_base_past_the_end_leads_to_the_lowest_slot(void)
{
	struct sws_slots_config config = config_of(SWS_KERNEL_5_8, 300);
	struct sws_slots_work work = { 0 };
	struct sws_slots_call call;
	struct sws_slots *slots = NULL;

	config.policy = SWS_BASE_SHARED;
	slots = make(&config);
	fill(slots);
	free_slot(slots, 4);
	free_slot(slots, 250);
	CHECK(sws_slots_set_base(slots, 0, 302) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_slots_set_base(slots, 0, 301) == SWS_OK);
	call = allocate(slots, 0, 64, &work);
	CHECK(call.given == 2 && call.slots[0] == 4 && call.slots[1] == 250);
	sws_slots_free(slots);
}

static int make_and_use(const struct sws_allocator *allocator)
{
	struct sws_slots_config config = config_of(SWS_KERNEL_6_1, 2048);
	struct sws_slots *slots = NULL;
	int error = SWS_OK;

	config.allocator = allocator;
	error = sws_slots_new(&config, &slots);
	CHECK(!error == !!slots);
	sws_slots_free(slots);
	return error;
}

static void a_failing_allocation_leaves_nothing_behind(void)
{
	check_each_allocation_failing(make_and_use);
}

int main(void)
{
	RUN(a_config_out_of_range_is_refused);
	RUN(clusters_are_handed_out_a_trunk_apart);
	RUN(a_fragmented_call_takes_what_its_kernel_takes);
	RUN(the_base_itself_is_tested_in_4_8_alone);
	RUN(the_base_is_one_past_where_the_scan_stands);
	RUN(a_scan_of_many_slots_takes_one);
	RUN(what_is_taken_while_the_lock_is_dropped_is_passed_over);
	RUN(a_free_cluster_in_the_middle_of_the_list_is_not_begun);
	RUN(above_half_full_a_cached_slot_is_tried);
	RUN(references_take_a_slot_from_waiting_to_waiting);
	RUN(a_disk_begins_at_the_first_empty_run_and_goes_on_in_it);
	RUN(a_device_of_any_size_gives_each_slot_once);
	RUN(a_full_device_gives_nothing);
	RUN(what_is_not_in_use_cannot_be_freed);
	RUN(an_answer_outside_of_the_device_is_counted_and_not_followed);
	RUN(a_base_past_the_end_leads_to_the_lowest_slot);
	RUN(a_failing_allocation_leaves_nothing_behind);
	return 0;
}
