/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "swapsim/kernels.h"

#include "check.h"
#include "swapsim/machine.h"

#include <string.h>

/* Returns the number of kernels, up to the first without a name. */
static int count_kernels(void)
{
	int n = 0;

	while (sws_kernel_name((enum sws_kernel)n))
		n++;
	return n;
}

static void each_kernel_has_a_name_of_its_own(void)
{
	const int n = count_kernels();

	CHECK(n > 0);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < i; j++)
			CHECK(strcmp(sws_kernel_name((enum sws_kernel)i),
				     sws_kernel_name((enum sws_kernel)j)) != 0);
	CHECK(strcmp(sws_kernel_name(SWS_KERNEL_5_7_SCAN_MORE), "5.7+scan-more") == 0);
	CHECK(!sws_kernel_name((enum sws_kernel)n));
	CHECK(!sws_kernel_name((enum sws_kernel)4096));
}

/* A machine consists of mappings and slots, so it cannot support more kernels than slots do. */
static void a_mechanism_makes_what_it_knows_and_refuses_the_rest(void)
{
	const int n = count_kernels();

	for (int i = 0; i <= n; i++) {
		const enum sws_kernel kernel = (enum sws_kernel)i;
		struct sws_mapping_config mapping;
		struct sws_slots_config slots;
		struct sws_mappings *mappings = NULL;
		struct sws_slots *device = NULL;

		sws_mapping_config_init(&mapping);
		sws_slots_config_init(&slots);
		mapping.kernel = kernel;
		slots.kernel = kernel;
		CHECK((sws_mappings_new(&mapping, &mappings) == SWS_OK) ==
		      sws_mapping_knows(kernel));
		CHECK((sws_slots_new(&slots, &device) == SWS_OK) == sws_slots_knows(kernel));
		CHECK(!sws_machine_knows(kernel) || sws_slots_knows(kernel));
		CHECK(!sws_mapping_knows(kernel) || i < n);
		CHECK(!sws_slots_knows(kernel) || i < n);
		sws_mappings_free(mappings);
		sws_slots_free(device);
	}
}

int main(void)
{
	RUN(each_kernel_has_a_name_of_its_own);
	RUN(a_mechanism_makes_what_it_knows_and_refuses_the_rest);
	return 0;
}
