/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/rules.c - a row for each kernel. The origin of each rule, and its version:
 *
 *      keeps_tags         patch A removed the tags from the swap cache    up to 4.8
 *      cluster_locks      the lock of struct swap_cluster_info            4.11
 *      slot_cache         mm/swap_slots.c                                 4.11
 *      skips_cache        do_swap_page, SWP_SYNCHRONOUS_IO                4.15
 *      charge_lock        lrucare of mem_cgroup_commit_charge             up to 5.7
 *      starts_active      new anonymous pages on the active list          up to 5.8
 *      records            swap tracking a part of memory control          5.8
 *      keeps_first        page_check_references, anonymous pages too      5.9
 *      shadows            workingset detection of anonymous pages         5.9
 *      reuses_exclusive   PageAnonExclusive                               5.19
 *      prepares           the race of machine/swap_in.c                   6.1.y
 */
#include "machine/rules.h"

#include "swapsim/machine.h"

static const struct machine_rules rows[] = {
	{
		SWS_KERNEL_4_8,
		.mapping = SWS_KERNEL_4_8,
		.keeps_tags = true,
		.starts_active = true,
		.pagevec = 14,
	},
	{
		SWS_KERNEL_5_7,
		.mapping = SWS_KERNEL_5_8,
		.cluster_locks = true,
		.slot_cache = true,
		.charge_lock = true,
		.skips_cache = true,
		.starts_active = true,
		.pagevec = MACHINE_PAGEVEC,
	},
	{
		SWS_KERNEL_5_7_SCAN_MORE,
		.mapping = SWS_KERNEL_5_8,
		.cluster_locks = true,
		.slot_cache = true,
		.charge_lock = true,
		.skips_cache = true,
		.starts_active = true,
		.pagevec = MACHINE_PAGEVEC,
	},
	{
		SWS_KERNEL_5_8,
		.mapping = SWS_KERNEL_5_8,
		.cluster_locks = true,
		.slot_cache = true,
		.skips_cache = true,
		.records = true,
		.starts_active = true,
		.pagevec = MACHINE_PAGEVEC,
	},
	{
		SWS_KERNEL_6_1,
		.mapping = SWS_KERNEL_6_1,
		.cluster_locks = true,
		.slot_cache = true,
		.skips_cache = true,
		.shadows = true,
		.prepares = true,
		.keeps_first = true,
		.reuses_exclusive = true,
		.looks_at_counts = true,
		.pagevec = MACHINE_PAGEVEC,
	},
};

const struct machine_rules *sws_machine__rules_of(enum sws_kernel kernel)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].kernel == kernel)
			return &rows[i];
	return NULL;
}

bool sws_machine_knows(enum sws_kernel kernel)
{
	return sws_machine__rules_of(kernel);
}
