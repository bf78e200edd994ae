// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A file rewriter, as pwrite-single-rewrite-async: 4 KiB buffered writes over the whole file, from its
 * start to its end, PASSES times; no truncation, no sync. The first pass creates what is not there.
 *
 *   file_rewriter FILE MEBIBYTES PASSES
 *
 * One line: bytes in microseconds.
 */
#include "program.h"

#define BLOCK_BYTES 4096

static int write_pass(int file, long blocks, int value)
{
	unsigned char block[BLOCK_BYTES];

	memset(block, value, sizeof(block));
	for (long i = 0; i < blocks; i++) {
		if (pwrite(file, block, sizeof(block), i * BLOCK_BYTES) != BLOCK_BYTES)
			return failed_at("pwrite");
	}
	return 0;
}

int main(int argc, char **argv)
{
	int failed = 0;
	int file = -1;
	long blocks = 0;
	long passes = 0;
	uint64_t started_us = 0;

	if (argc != 4)
		return usage("FILE MEBIBYTES PASSES");
	blocks = number(argv[2], 1) * ((1 << 20) / BLOCK_BYTES);
	passes = number(argv[3], 1);
	file = open_to_write(argv[1]);
	if (file < 0)
		return 1;
	started_us = now_us();
	for (long pass = 0; pass < passes && !failed; pass++)
		failed = write_pass(file, blocks, (int)(pass + 1));
	printf("%ld bytes in %llu usecs\n", blocks * passes * BLOCK_BYTES,
	       (unsigned long long)(now_us() - started_us));
	close(file);
	return failed;
}
