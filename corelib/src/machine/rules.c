/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "machine/rules.h"

#include "swapsim/machine.h"

static const struct machine_rules rows[] = {
	{
		SWS_KERNEL_4_8,
		.mapping = SWS_KERNEL_4_8,
		.keeps_tags = true,
		.avail_locks = 2,
		.starts_active = true,
		.pagevec = 14,
	},
	{
		SWS_KERNEL_5_7,
		.mapping = SWS_KERNEL_5_8,
		.avail_locks = 1,
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
		.avail_locks = 1,
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
		.avail_locks = 1,
		.cluster_locks = true,
		.slot_cache = true,
		.skips_cache = true,
		.starts_active = true,
		.pagevec = MACHINE_PAGEVEC,
	},
	{
		SWS_KERNEL_6_1,
		.mapping = SWS_KERNEL_6_1,
		.avail_locks = 1,
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
