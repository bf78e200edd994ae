/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernels.h - the kernels that mechanisms follow: one list for all of them.
 *
 * A mechanism keeps one row of rules for each kernel in which it works in another
 * way, and one code that runs by any row. What a row says stands in its header:
 *
 *   kernel          mapping.h   slots.h   slot_replay.h   machine.h
 *   4.8                x           x                          x
 *   5.7                            x                          x
 *   5.7+scan-more                  x                          x
 *   5.8                x           x            x             x
 *   6.1                x           x            x             x
 *
 * Each has a function, sws_slots_knows and so on, that tells which these are, so that no
 * caller has a list of its own. To add a kernel: a line here in order of
 * age, its name in core/kernels.c, a row in each mechanism that differs there.
 */
#ifndef SWAPSIM_KERNELS_H
#define SWAPSIM_KERNELS_H

/* ffi: begin */

/* In order of age. The numbers are nobody's but the library's: keep names. */
enum sws_kernel {
	SWS_KERNEL_4_8,
	SWS_KERNEL_5_7,
	/* 5.7 with ed43af10975e, which is what V1 of patch D was made for. */
	SWS_KERNEL_5_7_SCAN_MORE,
	SWS_KERNEL_5_8,
	SWS_KERNEL_6_1,
};

/* A kernel's name, as tables and configs have it: "5.8". NULL past the last. Borrowed, constant. */
const char *sws_kernel_name(enum sws_kernel kernel);

/* ffi: end */

#endif
