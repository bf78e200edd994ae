/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernels.h - the list of kernels for all mechanisms.
 *
 * A mechanism has one row of rules for each kernel in which it differs, and one implementation that
 * follows any row. The header of the mechanism describes the rows:
 *
 *   kernel          mapping.h   slots.h   slot_replay.h   machine.h
 *   4.8                x           x                          x
 *   5.7                            x                          x
 *   5.7+scan-more                  x                          x
 *   5.8                x           x            x             x
 *   6.1                x           x            x             x
 *
 * Each mechanism has a function such as sws_slots_knows that returns whether it has a kernel, so
 * that no caller needs its own list. To add a kernel, add an enumerator here in order of age, its
 * name in core/kernels.c, and a row in each mechanism that differs there.
 */
#ifndef SWAPSIM_KERNELS_H
#define SWAPSIM_KERNELS_H

/* ffi: begin */

/* The kernels in order of age. The numbers may change between versions; store the names. */
enum sws_kernel {
	SWS_KERNEL_4_8,
	SWS_KERNEL_5_7,
	/* 5.7 with commit ed43af10975e, the base of V1 of patch D. */
	SWS_KERNEL_5_7_SCAN_MORE,
	SWS_KERNEL_5_8,
	SWS_KERNEL_6_1,
};

/* Returns the name of a kernel in tables and configurations, such as "5.8"; NULL past the last. */
const char *sws_kernel_name(enum sws_kernel kernel);

/* ffi: end */

#endif
