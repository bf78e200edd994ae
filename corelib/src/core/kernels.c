/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "swapsim/kernels.h"

#include <stddef.h>

const char *sws_kernel_name(enum sws_kernel kernel)
{
	static const char *const names[] = {
		[SWS_KERNEL_4_8] = "4.8",
		[SWS_KERNEL_5_7] = "5.7",
		[SWS_KERNEL_5_7_SCAN_MORE] = "5.7+scan-more",
		[SWS_KERNEL_5_8] = "5.8",
		[SWS_KERNEL_6_1] = "6.1",
	};

	return (size_t)kernel < sizeof(names) / sizeof(*names) ? names[kernel] : NULL;
}
