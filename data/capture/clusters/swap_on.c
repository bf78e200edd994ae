// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Switches a swap device on, with what busybox has no options for: discard of clusters as they become free, and a priority.
 *
 *   swap_on DEVICE 0|1 PRIORITY|default
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/swap.h>

#ifndef SWAP_FLAG_DISCARD_PAGES
#define SWAP_FLAG_DISCARD_PAGES 0x40000
#endif

int main(int argc, char **argv)
{
	int flags = 0;

	if (argc != 4) {
		fprintf(stderr, "usage: swap_on DEVICE 0|1 PRIORITY|default\n");
		return 2;
	}
	if (strcmp(argv[2], "1") == 0)
		flags |= SWAP_FLAG_DISCARD | SWAP_FLAG_DISCARD_PAGES;
	if (strcmp(argv[3], "default") != 0)
		flags |= SWAP_FLAG_PREFER | (atoi(argv[3]) & SWAP_FLAG_PRIO_MASK);
	if (swapon(argv[1], flags) != 0) {
		fprintf(stderr, "swap_on: %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	return 0;
}
