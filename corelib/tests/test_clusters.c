/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "swapsim/clusters.h"

#include "check.h"

#include <string.h>

enum { SIZE = 16, RULE_SETS = 4, MANY = 2000 };

/* A device with clusters of 16 slots; two CPUs. */
static struct sws_clusters_config config_of(enum sws_cluster_rule_set set,
					    const struct sws_clusters_device *devices, uint32_t n)
{
	struct sws_clusters_config config;

	sws_clusters_config_init(&config);
	CHECK(sws_cluster_rules_init(set, &config.rules) == SWS_OK);
	config.cluster_size = SIZE;
	config.trunk_shift = 6;
	config.cpus = 2;
	config.devices = devices;
	config.n_devices = n;
	return config;
}

static struct sws_clusters *make(enum sws_cluster_rule_set set,
				 const struct sws_clusters_device *devices, uint32_t n)
{
	const struct sws_clusters_config config = config_of(set, devices, n);
	struct sws_clusters *self = NULL;

	CHECK(sws_clusters_new(&config, &self) == SWS_OK);
	return self;
}

static void verify(const struct sws_clusters *self)
{
	const char *reason = NULL;

	CHECK(sws_clusters_verify(self, &reason) == SWS_OK);
}

/* Grants one run; returns its first slot, 0 if it was refused. The device goes to *device. */
static uint32_t grant_in(struct sws_clusters *self, uint32_t cpu, uint32_t order, uint8_t *device)
{
	uint32_t slot = 0;
	uint32_t granted = 0;

	CHECK(sws_clusters_allocate(self, cpu, 0, order, 1, device, &slot, &granted) == SWS_OK);
	verify(self);
	return granted ? slot : 0;
}

static uint32_t grant(struct sws_clusters *self, uint32_t cpu, uint32_t order)
{
	uint8_t device = 0;

	return grant_in(self, cpu, order, &device);
}

static void give_back(struct sws_clusters *self, uint32_t slot, uint32_t n)
{
	CHECK(sws_clusters_free_slots(self, 0, slot, n) == SWS_OK);
	verify(self);
}

static uint32_t list_of(const struct sws_clusters *self, uint32_t cluster)
{
	uint32_t count = 0;
	uint32_t order = 0;

	return sws_clusters_cluster(self, 0, cluster, &count, &order);
}

static void a_config_out_of_range_is_refused(void)
{
	struct sws_clusters_device device = { .slots = 100 };
	const struct sws_clusters_config good = config_of(SWS_CLUSTER_RULES_6_12, &device, 1);
	struct sws_clusters_config config = good;
	/* A caller may have had another one here. */
	struct sws_clusters *self = (struct sws_clusters *)(void *)&config;

	config.cluster_size = 24;
	CHECK(sws_clusters_new(&config, &self) == SWS_ERROR_BAD_CONFIG && !self);
	config.cluster_size = 1024;
	CHECK(sws_clusters_new(&config, &self) == SWS_ERROR_BAD_CONFIG);
	config = good;
	config.cpus = 0;
	CHECK(sws_clusters_new(&config, &self) == SWS_ERROR_BAD_CONFIG);
	config = good;
	config.n_devices = 0;
	CHECK(sws_clusters_new(&config, &self) == SWS_ERROR_BAD_CONFIG);
	config = good;
	config.trunk_shift = 32;
	CHECK(sws_clusters_new(&config, &self) == SWS_ERROR_BAD_CONFIG);
	config = good;
	config.rules.own_by_task = true;
	CHECK(sws_clusters_new(&config, &self) == SWS_ERROR_BAD_CONFIG);
	config.owners = SWS_CLUSTERS_OWNERS_MAX + 1;
	CHECK(sws_clusters_new(&config, &self) == SWS_ERROR_BAD_CONFIG);
	config = good;
	device.slots = 1;
	CHECK(sws_clusters_new(&config, &self) == SWS_ERROR_BAD_CONFIG);
	device.slots = 100;
	device.rotational = true;
	CHECK(sws_clusters_new(&config, &self) == SWS_ERROR_BAD_CONFIG);
}

static void a_call_out_of_range_is_refused(void)
{
	const struct sws_clusters_device device = { .slots = 100 };
	struct sws_clusters *self = make(SWS_CLUSTER_RULES_7_3, &device, 1);
	struct sws_clusters_call call;
	uint32_t list = 0;
	bool first = false;

	CHECK(sws_clusters_call_begin(self, 2, 0, 1, &call) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_clusters_call_begin(self, 0, 10, 1, &call) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_clusters_call_begin(self, 0, 0, 0, &call) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_clusters_worker_begin(self, 1, &call) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_clusters_free_begin(self, 0, 20, 1, false, &list) == SWS_ERROR_NOT_FOUND);
	CHECK(sws_clusters_free_begin(self, 0, 15, 2, false, &list) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_clusters_free_begin(self, 0, 100, 1, false, &list) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_clusters_free_begin(self, 1, 1, 1, false, &list) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_clusters_move(self, 0, 1, SWS_CLUSTER_LISTS) == SWS_ERROR_BAD_ARGUMENT);
	CHECK(sws_clusters_set_cached(self, 0, 1, 1, true) == SWS_ERROR_NOT_FOUND);
	CHECK(sws_clusters_discard_begin(self, 0, 16, &first) == SWS_ERROR_NOT_FOUND);
	CHECK(sws_clusters_discard(self, 1) == SWS_ERROR_BAD_ARGUMENT);
	sws_clusters_free(self);
}

static void the_first_cluster_is_that_of_the_facts(void)
{
	/* 384 MB in clusters of 512: the first slot was 16384 on 6.12 and 1 on 7.3. */
	const struct sws_clusters_device device = { .slots = 98304 };
	static const uint32_t first[RULE_SETS] = { 16384, 16384, 1, 1 };

	for (int set = 0; set < RULE_SETS; set++) {
		struct sws_clusters_config config =
			config_of((enum sws_cluster_rule_set)set, &device, 1);
		struct sws_clusters *self = NULL;

		config.cluster_size = 512;
		config.trunk_shift = 14;
		CHECK(sws_clusters_new(&config, &self) == SWS_OK);
		CHECK(grant(self, 0, 0) == first[set]);
		sws_clusters_free(self);
	}
}

static void clusters_start_column_by_column_or_in_order(void)
{
	/* 4 columns (64 / 16); cluster 0 has the header, 6 ends behind the device. */
	const struct sws_clusters_device device = { .slots = 6 * SIZE + 3 };
	static const uint32_t columns[] = { 4, 1, 5, 2, 3 };
	static const uint32_t ascending[] = { 1, 2, 3, 4, 5 };
	struct sws_clusters *self = make(SWS_CLUSTER_RULES_6_12, &device, 1);
	uint32_t members[8];

	CHECK(sws_clusters_list_members(self, 0, SWS_CLUSTER_LIST_FREE, members, 8) == 5);
	CHECK(!memcmp(members, columns, sizeof(columns)));
	CHECK(sws_clusters_list_members(self, 0, SWS_CLUSTER_LIST_NONFULL, members, 8) == 2);
	CHECK(members[0] == 0 && members[1] == 6);
	sws_clusters_free(self);
	self = make(SWS_CLUSTER_RULES_7_3, &device, 1);
	CHECK(sws_clusters_list_members(self, 0, SWS_CLUSTER_LIST_FREE, members, 8) == 5);
	CHECK(!memcmp(members, ascending, sizeof(ascending)));
	sws_clusters_free(self);
}

static void a_visited_cluster_is_on_nonfull_in_6_12_and_on_frag_in_7_3(void)
{
	const struct sws_clusters_device device = { .slots = 8 * SIZE };
	struct sws_clusters *self = make(SWS_CLUSTER_RULES_6_12, &device, 1);
	uint32_t slot = grant(self, 0, 2);

	CHECK(list_of(self, slot / SIZE) == SWS_CLUSTER_LIST_NONFULL + 2);
	sws_clusters_free(self);
	self = make(SWS_CLUSTER_RULES_7_3, &device, 1);
	slot = grant(self, 0, 2);
	CHECK(list_of(self, slot / SIZE) == SWS_CLUSTER_LIST_FRAG + 2);
	CHECK(grant(self, 0, 2) == slot + 4);
	give_back(self, slot, 4);
	CHECK(list_of(self, slot / SIZE) == SWS_CLUSTER_LIST_NONFULL + 2);
	/* The CPU goes on in it, and leaves it on frag again. */
	CHECK(grant(self, 0, 2) == slot + 8);
	CHECK(list_of(self, slot / SIZE) == SWS_CLUSTER_LIST_FRAG + 2);
	give_back(self, slot + 4, 4);
	give_back(self, slot + 8, 4);
	CHECK(list_of(self, slot / SIZE) == SWS_CLUSTER_LIST_FREE);
	sws_clusters_free(self);
}

static void a_full_cluster_is_on_the_full_list(void)
{
	const struct sws_clusters_device device = { .slots = 8 * SIZE };

	for (int set = 0; set < RULE_SETS; set++) {
		struct sws_clusters *self = make((enum sws_cluster_rule_set)set, &device, 1);
		const uint32_t slot = grant(self, 0, 4);

		CHECK(list_of(self, slot / SIZE) == SWS_CLUSTER_LIST_FULL);
		CHECK(sws_clusters_next(self, 0, 4, 0) == 0);
		give_back(self, slot + 3, 1);
		CHECK(list_of(self, slot / SIZE) == SWS_CLUSTER_LIST_NONFULL + 4);
		sws_clusters_free(self);
	}
}

/* Fills the device by single slots of CPU 0, then frees every slot whose number is even. */
static void make_holes(struct sws_clusters *self, uint32_t slots)
{
	while (grant(self, 0, 0))
		;
	CHECK(sws_clusters_in_use(self, 0) == slots - 1);
	for (uint32_t slot = 2; slot < slots; slot += 2)
		give_back(self, slot, 1);
}

static void a_large_order_is_refused_on_a_device_with_holes(void)
{
	const struct sws_clusters_device device = { .slots = 8 * SIZE };

	for (int set = 0; set < RULE_SETS; set++) {
		struct sws_clusters *self = make((enum sws_cluster_rule_set)set, &device, 1);

		make_holes(self, device.slots);
		CHECK(grant(self, 0, 1) == 0);
		CHECK(grant(self, 0, 0));
		sws_clusters_free(self);
	}
}

static void large_orders_from_free_clusters_only_fail_where_a_nonfull_one_would_do(void)
{
	const struct sws_clusters_device device = { .slots = 4 * SIZE };

	for (int set = 0; set < RULE_SETS; set++) {
		struct sws_clusters *self = make((enum sws_cluster_rule_set)set, &device, 1);
		uint32_t slot = 0;
		uint32_t last = 0;

		/* All clusters but the header's get order 2; two runs of one are freed. */
		while ((slot = grant(self, 0, 2)))
			last = slot;
		give_back(self, last, 4);
		give_back(self, last - 4, 4);
		CHECK((grant(self, 1, 2) != 0) == (set != SWS_CLUSTER_RULES_6_11));
		sws_clusters_free(self);
	}
}

static void nonfull_comes_before_free_where_the_rules_say_so(void)
{
	const struct sws_clusters_device device = { .slots = 8 * SIZE };
	const struct sws_clusters_device discards = { .slots = 8 * SIZE, .discard = true };

	for (int set = 0; set < RULE_SETS; set++)
		for (int with = 0; with < 2; with++) {
			struct sws_clusters *self =
				make((enum sws_cluster_rule_set)set, with ? &discards : &device, 1);
			const uint32_t slot = grant(self, 0, 2);
			const bool nonfull = set >= SWS_CLUSTER_RULES_6_12_NONFULL_FIRST && !with;

			CHECK(grant(self, 0, 2) == slot + 4);
			give_back(self, slot, 4);
			CHECK((grant(self, 1, 2) == slot) == nonfull);
			sws_clusters_free(self);
		}
}

static void single_slots_steal_from_larger_orders(void)
{
	const struct sws_clusters_device device = { .slots = 4 * SIZE };

	for (int set = 0; set < RULE_SETS; set++) {
		struct sws_clusters *self = make((enum sws_cluster_rule_set)set, &device, 1);
		uint32_t slot = 0;
		uint32_t last = 0;

		while ((slot = grant(self, 0, 3)))
			last = slot;
		give_back(self, last, 8);
		for (uint32_t i = 0; i < SIZE - 1; i++)
			CHECK(grant(self, 0, 0) < SIZE);
		/* The header's cluster is full now. */
		CHECK(grant(self, 0, 0) / SIZE == last / SIZE);
		sws_clusters_free(self);
	}
}

static void equal_devices_are_used_in_turn(void)
{
	const struct sws_clusters_device devices[] = { { .slots = 64, .priority = 1 },
						       { .slots = 64, .priority = 1 },
						       { .slots = 64, .priority = 2 } };
	struct sws_clusters *self = make(SWS_CLUSTER_RULES_6_12, devices, 2);
	uint8_t device = 0;

	CHECK(grant_in(self, 0, 0, &device) && device == 0);
	CHECK(grant_in(self, 0, 0, &device) && device == 1);
	CHECK(grant_in(self, 0, 0, &device) && device == 0);
	sws_clusters_free(self);
	/* 7.3 stays on a device until it needs a new cluster. */
	self = make(SWS_CLUSTER_RULES_7_3, devices, 2);
	for (int i = 0; i < SIZE - 1; i++)
		CHECK(grant_in(self, 0, 0, &device) && device == 0);
	CHECK(grant_in(self, 0, 0, &device) && device == 1);
	sws_clusters_free(self);
	self = make(SWS_CLUSTER_RULES_6_12, devices, 3);
	for (int i = 0; i < 63; i++)
		CHECK(grant_in(self, 0, 0, &device) && device == 2);
	CHECK(grant_in(self, 0, 0, &device) && device == 0);
	CHECK(sws_clusters_free_slots(self, 2, 1, 1) == SWS_OK);
	CHECK(grant_in(self, 0, 0, &device) && device == 2);
	sws_clusters_free(self);
}

static void a_swap_file_refuses_large_orders(void)
{
	const struct sws_clusters_device device = { .slots = 8 * SIZE, .file = true };

	for (int set = 0; set < RULE_SETS; set++) {
		struct sws_clusters *self = make((enum sws_cluster_rule_set)set, &device, 1);
		struct sws_clusters_work work;

		CHECK(!grant(self, 0, 2) && grant(self, 0, 0));
		sws_clusters_work(self, &work);
		CHECK(work.refused[2] == 1 && work.granted[0] == 1 && work.visits == 1);
		sws_clusters_free(self);
	}
}

static void a_rotational_device_has_one_next_slot_for_all_cpus(void)
{
	const struct sws_clusters_device device = { .slots = 8 * SIZE, .rotational = true };
	struct sws_clusters *self = make(SWS_CLUSTER_RULES_7_3, &device, 1);

	CHECK(grant(self, 0, 0) == 1 && grant(self, 1, 0) == 2 && grant(self, 0, 0) == 3);
	CHECK(sws_clusters_next(self, 0, 0, 0) == 4 && sws_clusters_next(self, 1, 0, 0) == 4);
	sws_clusters_free(self);
}

static void an_empty_cluster_is_discarded_before_its_next_use(void)
{
	const struct sws_clusters_device device = { .slots = 4 * SIZE, .discard = true };

	for (int set = 0; set < RULE_SETS; set++) {
		struct sws_clusters *self = make((enum sws_cluster_rule_set)set, &device, 1);
		uint32_t slots[3];
		struct sws_clusters_work work;

		for (int i = 0; i < 3; i++)
			slots[i] = grant(self, 0, 4);
		give_back(self, slots[1], SIZE);
		give_back(self, slots[0], SIZE);
		CHECK(list_of(self, slots[1] / SIZE) == SWS_CLUSTER_LIST_DISCARD);
		CHECK(sws_clusters_list_length(self, 0, SWS_CLUSTER_LIST_DISCARD) == 2);
		if (set == SWS_CLUSTER_RULES_7_3) {
			/* Only a call for a single slot discards by itself, when it has no other. */
			CHECK(!grant(self, 0, 4));
			for (int i = 0; i < SIZE - 1; i++)
				CHECK(grant(self, 0, 0) < SIZE);
			CHECK(grant(self, 0, 0) == slots[1]);
		} else {
			CHECK(grant(self, 0, 4) == slots[1]);
		}
		sws_clusters_work(self, &work);
		CHECK(work.discards == 2);
		sws_clusters_free(self);
	}
}

static void a_call_discards_where_the_priority_is_highest(void)
{
	const struct sws_clusters_device devices[] = {
		{ .slots = 4 * SIZE, .priority = 1, .discard = true },
		{ .slots = 4 * SIZE, .priority = 2, .discard = true },
	};
	struct sws_clusters *self = make(SWS_CLUSTER_RULES_7_3, devices, 2);
	uint8_t device = 0;

	while (grant_in(self, 0, 0, &device))
		;
	for (uint32_t i = 0; i < 2; i++)
		CHECK(sws_clusters_free_slots(self, i, 3 * SIZE, SIZE) == SWS_OK);
	CHECK(grant_in(self, 0, 0, &device) == 3 * SIZE && device == 1);
	sws_clusters_free(self);
}

static void a_worker_discards_all_clusters_of_a_device(void)
{
	const struct sws_clusters_device device = { .slots = 4 * SIZE, .discard = true };
	struct sws_clusters *self = make(SWS_CLUSTER_RULES_7_3, &device, 1);

	give_back(self, grant(self, 0, 4), SIZE);
	CHECK(sws_clusters_list_length(self, 0, SWS_CLUSTER_LIST_FREE) == 2);
	CHECK(sws_clusters_discard(self, 0) == SWS_OK);
	verify(self);
	CHECK(sws_clusters_list_length(self, 0, SWS_CLUSTER_LIST_FREE) == 3);
	sws_clusters_free(self);
}

static void a_full_cluster_is_reclaimed_before_a_refusal(void)
{
	const struct sws_clusters_device device = { .slots = 4 * SIZE };

	for (int set = 0; set < RULE_SETS; set++) {
		struct sws_clusters *self = make((enum sws_cluster_rule_set)set, &device, 1);
		uint32_t head = 0;

		while (grant(self, 0, 2))
			;
		CHECK(sws_clusters_list_members(self, 0, SWS_CLUSTER_LIST_FULL, &head, 1) == 1);
		CHECK(sws_clusters_set_cached(self, 0, head * SIZE + 4, 4, true) == SWS_OK);
		verify(self);
		/*
		 * 6.12 then visits nonfull[2]; with nonfull first, that list comes again only at the
		 * next call. Large orders from free clusters only reclaim nothing.
		 */
		if (set == SWS_CLUSTER_RULES_6_12)
			CHECK(grant(self, 0, 2) == head * SIZE + 4);
		else
			CHECK(!grant(self, 0, 2));
		CHECK((list_of(self, head) == SWS_CLUSTER_LIST_FULL) ==
		      (set <= SWS_CLUSTER_RULES_6_12));
		sws_clusters_free(self);
	}
}

/* Runs a call until a point of an op is next; everything before it is applied. */
static void run_to(struct sws_clusters *self, struct sws_clusters_call *call, uint32_t op)
{
	for (;;) {
		sws_clusters_call_next(self, call);
		CHECK(call->point.op != SWS_CLUSTER_DONE || op == SWS_CLUSTER_DONE);
		if (call->point.op == op)
			return;
		sws_clusters_call_apply(self, call, &call->point);
		verify(self);
	}
}

static void a_window_tests_its_range_again(void)
{
	const struct sws_clusters_device device = { .slots = 2 * SIZE };

	for (int set = SWS_CLUSTER_RULES_6_12; set < RULE_SETS; set++)
		for (int freed = 0; freed < 2; freed++) {
			struct sws_clusters *self =
				make((enum sws_cluster_rule_set)set, &device, 1);
			struct sws_clusters_call call;

			/* Cluster 0 is full; of 1 the second run is cached, and the last is free. */
			for (int i = 0; i < 4; i++)
				CHECK(grant(self, 0, 2) >= SIZE);
			for (int i = 0; i < SIZE - 1; i++)
				CHECK(grant(self, 0, 0));
			give_back(self, 28, 4);
			CHECK(sws_clusters_set_cached(self, 0, 20, 4, true) == SWS_OK);
			CHECK(sws_clusters_call_begin(self, 1, 2, 1, &call) == SWS_OK);
			run_to(self, &call, SWS_CLUSTER_WINDOW);
			CHECK(call.point.slot == 20 && call.point.n == 4);
			sws_clusters_call_apply(self, &call, &call.point);
			if (freed)
				give_back(self, 20, 4);
			run_to(self, &call, SWS_CLUSTER_GRANT);
			CHECK(call.point.slot == (freed ? 20 : 28));
			run_to(self, &call, SWS_CLUSTER_DONE);
			sws_clusters_call_apply(self, &call, &call.point);
			verify(self);
			sws_clusters_free(self);
		}
}

static void without_pressure_a_cached_slot_is_in_use(void)
{
	const struct sws_clusters_device device = { .slots = 8 * SIZE };

	for (int set = 0; set < RULE_SETS; set++) {
		struct sws_clusters *self = make((enum sws_cluster_rule_set)set, &device, 1);
		const uint32_t slot = grant(self, 0, 2);

		CHECK(sws_clusters_set_cached(self, 0, slot, 4, true) == SWS_OK);
		verify(self);
		CHECK(grant(self, 0, 2) == slot + 4);
		CHECK(sws_clusters_set_cached(self, 0, slot, 4, false) == SWS_OK);
		verify(self);
		sws_clusters_free(self);
	}
}

static void a_worker_reclaims_the_full_clusters_of_a_device(void)
{
	const struct sws_clusters_device device = { .slots = 4 * SIZE };

	for (int set = SWS_CLUSTER_RULES_6_12; set < RULE_SETS; set++) {
		struct sws_clusters *self = make((enum sws_cluster_rule_set)set, &device, 1);
		struct sws_clusters_work work;
		struct sws_clusters_call call;

		while (grant(self, 0, 0))
			;
		CHECK(sws_clusters_worker_begin(self, 0, &call) == SWS_OK);
		run_to(self, &call, SWS_CLUSTER_DONE);
		sws_clusters_call_apply(self, &call, &call.point);
		sws_clusters_work(self, &work);
		/* 63 slots are in use: 3 clusters, in addition to those that the refused call took. */
		CHECK(work.reclaims >= 3);
		verify(self);
		sws_clusters_free(self);
	}
}

/* A cluster that another call holds is skipped by a pick, or waited for without trylock. */
static void a_pick_skips_a_locked_cluster_or_waits_for_it(void)
{
	const struct sws_clusters_device device = { .slots = 8 * SIZE };

	for (int trylock = 0; trylock < 2; trylock++) {
		struct sws_clusters_config config = config_of(SWS_CLUSTER_RULES_7_3, &device, 1);
		struct sws_clusters_call calls[2];
		struct sws_clusters *self = NULL;

		config.rules.trylock = trylock;
		CHECK(sws_clusters_new(&config, &self) == SWS_OK);
		for (uint32_t i = 0; i < 2; i++) {
			CHECK(sws_clusters_call_begin(self, i, 2, 1, &calls[i]) == SWS_OK);
			do {
				sws_clusters_call_next(self, &calls[i]);
				if (calls[i].point.op == SWS_CLUSTER_PICKED && calls[i].point.n)
					break;
				if (calls[i].point.op == SWS_CLUSTER_BUSY)
					break;
				sws_clusters_call_apply(self, &calls[i], &calls[i].point);
			} while (calls[i].point.op != SWS_CLUSTER_DONE);
		}
		CHECK(calls[0].point.op == SWS_CLUSTER_PICKED && calls[0].point.slot == SIZE);
		CHECK(calls[1].point.op == (trylock ? SWS_CLUSTER_PICKED : SWS_CLUSTER_BUSY));
		CHECK(calls[1].point.slot == (trylock ? 2 * SIZE : SIZE));
		sws_clusters_call_abandon(self, &calls[0]);
		sws_clusters_call_abandon(self, &calls[1]);
		verify(self);
		sws_clusters_free(self);
	}
}

/* Any calls and frees with any rules: every invariant holds after each. */
static void any_sequence_holds_the_invariants(void)
{
	const struct sws_clusters_device devices[] = {
		{ .slots = 20 * SIZE + 3 },
		{ .slots = 7 * SIZE, .file = true },
		{ .slots = 9 * SIZE, .priority = 5, .discard = true },
	};
	static uint32_t live[MANY][3];
	struct sws_generator random;

	sws_generator_seed(&random, 1, 0);
	for (uint64_t set = 0; set < RULE_SETS; set++) {
		struct sws_clusters *self = make((enum sws_cluster_rule_set)set, devices, 3);
		uint32_t n = 0;

		for (uint32_t i = 0; i < MANY; i++) {
			const uint32_t order = (uint32_t)sws_generator_below(&random, 6);
			uint8_t device = 0;
			uint32_t slot = 0;

			if (n && sws_generator_below(&random, 100) < 45) {
				const uint64_t at = sws_generator_below(&random, n);

				CHECK(sws_clusters_free_slots(self, live[at][0], live[at][1],
							      live[at][2]) == SWS_OK);
				memcpy(live[at], live[--n], sizeof(live[at]));
			} else {
				slot = grant_in(self, i % 2, order > 4 ? 0 : order, &device);
			}
			if (slot) {
				live[n][0] = device;
				live[n][1] = slot;
				live[n++][2] = UINT32_C(1) << (order > 4 ? 0 : order);
			}
			verify(self);
		}
		sws_clusters_free(self);
	}
}

static void names_are_total(void)
{
	CHECK(!strcmp(sws_cluster_op_name(SWS_CLUSTER_FULL_DONE), "full_done"));
	CHECK(!strcmp(sws_cluster_list_name(SWS_CLUSTER_LIST_FRAG + 4), "frag4"));
	CHECK(!strcmp(sws_cluster_choice_name(SWS_CLUSTER_CHOOSE_LARGER), "LARGER"));
	CHECK(!sws_cluster_choice_name(SWS_CLUSTER_CHOICES));
	CHECK(!strcmp(sws_cluster_list_name(SWS_CLUSTER_LIST_NONE), "none"));
	for (uint32_t i = 0; i < SWS_CLUSTER_OPS; i++)
		CHECK(sws_cluster_op_name(i));
	for (uint32_t i = 0; i < SWS_CLUSTER_LISTS; i++)
		CHECK(sws_cluster_list_name(i));
	CHECK(!sws_cluster_op_name(SWS_CLUSTER_OPS) && !sws_cluster_list_name(SWS_CLUSTER_LISTS));
}

/*
 * Three clusters under the rules of 7.3: frag[2] has 1, in which one slot is free, then 2, in which
 * three runs of four are.
 */
static struct sws_clusters *with_two_frag_clusters(struct sws_clusters_config *config)
{
	static const struct sws_clusters_device device = { .slots = 3 * SIZE };
	struct sws_clusters *self = NULL;

	config->devices = &device;
	CHECK(sws_clusters_new(config, &self) == SWS_OK);
	for (uint32_t slot = SIZE; slot < 2 * SIZE; slot += 4)
		CHECK(grant(self, 0, 2) == slot);
	give_back(self, 17, 1);
	CHECK(grant(self, 0, 2) == 2 * SIZE);
	CHECK(list_of(self, 1) == SWS_CLUSTER_LIST_FRAG + 2);
	CHECK(list_of(self, 2) == SWS_CLUSTER_LIST_FRAG + 2);
	return self;
}

static void a_search_tries_one_frag_cluster_or_each_once(void)
{
	struct sws_clusters_config config = config_of(SWS_CLUSTER_RULES_7_3, NULL, 1);
	struct sws_clusters *self = with_two_frag_clusters(&config);
	struct sws_clusters_work before;
	struct sws_clusters_work work;

	CHECK(grant(self, 1, 2) == 0);
	sws_clusters_free(self);
	config.rules.frag_all = true;
	self = with_two_frag_clusters(&config);
	CHECK(grant(self, 1, 2) == 2 * SIZE + 4);
	sws_clusters_free(self);
	/* Each cluster once: 1, then 2, in which one slot is free. */
	self = with_two_frag_clusters(&config);
	for (uint32_t slot = 2 * SIZE + 4; slot < 3 * SIZE; slot += 4)
		CHECK(grant(self, 0, 2) == slot);
	give_back(self, 2 * SIZE + 1, 1);
	CHECK(grant(self, 1, 2) == 0);
	sws_clusters_work(self, &before);
	CHECK(grant(self, 1, 2) == 0);
	sws_clusters_work(self, &work);
	CHECK(work.visits - before.visits == 2);
	sws_clusters_free(self);
}

static void a_cpu_has_a_cluster_in_each_device_without_shared_next(void)
{
	const struct sws_clusters_device devices[] = { { .slots = 2 * SIZE, .priority = 2 },
						       { .slots = 4 * SIZE, .priority = 1 } };
	struct sws_clusters_config config = config_of(SWS_CLUSTER_RULES_7_3, devices, 1);
	struct sws_clusters *self = NULL;
	struct sws_clusters_work work;
	uint8_t number = 0;
	uint32_t slot = 0;
	uint32_t granted = 0;

	for (int shared = 0; shared < 2; shared++) {
		config.n_devices = 2;
		config.rules.shared_next = shared;
		CHECK(sws_clusters_new(&config, &self) == SWS_OK);
		for (uint32_t i = 0; i < 2 * SIZE; i++)
			CHECK(!sws_clusters_allocate(self, 0, 0, 0, 1, &number, &slot, &granted));
		CHECK(number == 1);
		give_back(self, 3, 1);
		CHECK(!sws_clusters_allocate(self, 0, 0, 0, 1, &number, &slot, &granted));
		/* With one next slot the CPU goes on in the lower device. */
		CHECK(number == shared && (shared || slot == 3));
		sws_clusters_work(self, &work);
		CHECK(work.lower == 1U + (unsigned)shared && work.inversions == (unsigned)shared);
		sws_clusters_free(self);
	}
}

static void an_owner_keeps_its_cluster_on_every_cpu(void)
{
	const struct sws_clusters_device device = { .slots = 5 * SIZE };
	struct sws_clusters_config config = config_of(SWS_CLUSTER_RULES_7_3, &device, 1);
	struct sws_clusters *self = NULL;
	struct sws_clusters_work work;
	uint8_t number = 0;
	uint32_t slot = 0;
	uint32_t granted = 0;

	config.rules.own_by_task = true;
	config.owners = 2;
	CHECK(sws_clusters_new(&config, &self) == SWS_OK);
	CHECK(!sws_clusters_allocate(self, 0, 0, 2, 1, &number, &slot, &granted) && slot == SIZE);
	CHECK(!sws_clusters_allocate(self, 1, 0, 2, 1, &number, &slot, &granted));
	CHECK(slot == SIZE + 4);
	CHECK(!sws_clusters_allocate(self, 0, 1, 2, 1, &number, &slot, &granted));
	CHECK(slot == 2 * SIZE && sws_clusters_next(self, 1, 2, 0) == 2 * SIZE + 4);
	CHECK(sws_clusters_allocate(self, 0, 2, 2, 1, &number, &slot, &granted) ==
	      SWS_ERROR_BAD_ARGUMENT);
	sws_clusters_work(self, &work);
	CHECK(work.visits == 3 && work.visits_of_others == 1);
	sws_clusters_free(self);
}

/* What the functions below were asked last. */
static struct {
	int64_t asked, most, last, times, free, nonfull, frag, larger, full, swap_full;
} question;

static int64_t as_7_3(int64_t order, int64_t asked, int64_t most, int64_t last, int64_t times,
		      int64_t free, int64_t nonfull, int64_t frag, int64_t larger, int64_t full,
		      int64_t swap_full)
{
	CHECK(order == 2);
	question.asked = asked;
	question.most = most;
	question.last = last;
	question.times = times;
	question.free = free;
	question.nonfull = nonfull;
	question.frag = frag;
	question.larger = larger;
	question.full = full;
	question.swap_full = swap_full;
	if (nonfull)
		return SWS_CLUSTER_CHOOSE_NONFULL;
	if (free)
		return SWS_CLUSTER_CHOOSE_FREE;
	return frag && last != SWS_CLUSTER_CHOOSE_FRAG ? SWS_CLUSTER_CHOOSE_FRAG
						       : SWS_CLUSTER_CHOOSE_END;
}

static int64_t endless(int64_t order, int64_t asked, int64_t most, int64_t last, int64_t times,
		       int64_t free, int64_t nonfull, int64_t frag, int64_t larger, int64_t full,
		       int64_t swap_full)
{
	question.asked = asked + 0 * (order + most + last + times + free + nonfull + frag);
	return larger + full + swap_full >= 0 ? SWS_CLUSTER_CHOOSE_FULL : -1;
}

static void a_function_of_the_user_chooses_the_lists(void)
{
	struct sws_clusters_config config = config_of(SWS_CLUSTER_RULES_7_3, NULL, 1);
	struct sws_clusters *self = NULL;
	struct sws_clusters_work work;

	config.choose = as_7_3;
	self = with_two_frag_clusters(&config);
	CHECK(grant(self, 1, 2) == 0);
	CHECK(question.asked == 1 && question.last == SWS_CLUSTER_CHOOSE_FRAG);
	CHECK(question.times == 1 && question.free == 0 && question.nonfull == 0);
	CHECK(question.frag == 2 && question.larger == 0 && question.full == 0);
	CHECK(question.swap_full == 0 && question.most == 2 * 3 + 64);
	sws_clusters_work(self, &work);
	CHECK(work.bad_choices == 0);
	sws_clusters_free(self);
}

static int64_t none(int64_t order, int64_t asked, int64_t most, int64_t last, int64_t times,
		    int64_t free, int64_t nonfull, int64_t frag, int64_t larger, int64_t full,
		    int64_t swap_full)
{
	question.asked += order + asked + times + free + nonfull + frag + larger + full + swap_full;
	return most > 0 || last ? SWS_CLUSTER_CHOOSE_END : -1;
}

static void a_function_that_refuses_every_device_ends_the_call(void)
{
	const struct sws_clusters_device devices[] = { { .slots = 3 * SIZE }, { .slots = 99 } };
	struct sws_clusters_config config = config_of(SWS_CLUSTER_RULES_7_3, devices, 2);
	struct sws_clusters *self = NULL;
	struct sws_clusters_work work;

	config.choose = none;
	CHECK(sws_clusters_new(&config, &self) == SWS_OK);
	CHECK(grant(self, 0, 0) == 0);
	sws_clusters_work(self, &work);
	CHECK(work.avail_lock == 2 && work.bad_choices == 0 && work.refused[0] == 1);
	sws_clusters_free(self);
}

static void a_search_ends_where_the_function_has_no_end(void)
{
	const struct sws_clusters_device device = { .slots = 3 * SIZE };
	struct sws_clusters_config config = config_of(SWS_CLUSTER_RULES_7_3, &device, 1);
	struct sws_clusters *self = NULL;
	struct sws_clusters_work work;

	config.choose = endless;
	CHECK(sws_clusters_new(&config, &self) == SWS_OK);
	CHECK(grant(self, 0, 2) == 0 && question.asked == 2 * 3 + 63);
	sws_clusters_work(self, &work);
	CHECK(work.bad_choices == 1 && work.refused[2] == 1);
	sws_clusters_free(self);
}

static int with_little_memory(const struct sws_allocator *allocator)
{
	const struct sws_clusters_device device = { .slots = 100 };
	struct sws_clusters_config config = config_of(SWS_CLUSTER_RULES_7_3, &device, 1);
	struct sws_clusters *self = NULL;
	int error = SWS_OK;

	config.allocator = allocator;
	error = sws_clusters_new(&config, &self);
	sws_clusters_free(self);
	return error;
}

static void each_failed_allocation_is_reported(void)
{
	check_each_allocation_failing(with_little_memory);
}

int main(void)
{
	RUN(a_config_out_of_range_is_refused);
	RUN(a_call_out_of_range_is_refused);
	RUN(the_first_cluster_is_that_of_the_facts);
	RUN(clusters_start_column_by_column_or_in_order);
	RUN(a_visited_cluster_is_on_nonfull_in_6_12_and_on_frag_in_7_3);
	RUN(a_full_cluster_is_on_the_full_list);
	RUN(a_large_order_is_refused_on_a_device_with_holes);
	RUN(large_orders_from_free_clusters_only_fail_where_a_nonfull_one_would_do);
	RUN(nonfull_comes_before_free_where_the_rules_say_so);
	RUN(single_slots_steal_from_larger_orders);
	RUN(equal_devices_are_used_in_turn);
	RUN(a_swap_file_refuses_large_orders);
	RUN(a_rotational_device_has_one_next_slot_for_all_cpus);
	RUN(an_empty_cluster_is_discarded_before_its_next_use);
	RUN(a_call_discards_where_the_priority_is_highest);
	RUN(a_worker_discards_all_clusters_of_a_device);
	RUN(a_full_cluster_is_reclaimed_before_a_refusal);
	RUN(without_pressure_a_cached_slot_is_in_use);
	RUN(a_worker_reclaims_the_full_clusters_of_a_device);
	RUN(a_window_tests_its_range_again);
	RUN(a_pick_skips_a_locked_cluster_or_waits_for_it);
	RUN(any_sequence_holds_the_invariants);
	RUN(a_search_tries_one_frag_cluster_or_each_once);
	RUN(a_cpu_has_a_cluster_in_each_device_without_shared_next);
	RUN(an_owner_keeps_its_cluster_on_every_cpu);
	RUN(a_function_of_the_user_chooses_the_lists);
	RUN(a_function_that_refuses_every_device_ends_the_call);
	RUN(a_search_ends_where_the_function_has_no_end);
	RUN(names_are_total);
	RUN(each_failed_allocation_is_reported);
	return 0;
}
