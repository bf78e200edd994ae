// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A large copy, as dd with bs=1M and conv=fdatasync: a file is written in pieces of 1 MiB, from its start to its end, and then
 * synced to its disk, COPIES times. The first copy creates what is not there; none is truncated.
 *
 *   file_copier FILE MEBIBYTES COPIES
 *
 * One line a copy: bytes in microseconds, the sync included.
 */
#include "program.h"

#define PIECE_BYTES (1 << 20)

static int copy(int file, long pieces, int value)
{
	static unsigned char piece[PIECE_BYTES];

	memset(piece, value, sizeof(piece));
	for (long i = 0; i < pieces; i++) {
		if (pwrite(file, piece, sizeof(piece), i * PIECE_BYTES) != PIECE_BYTES)
			return failed_at("pwrite");
	}
	if (fdatasync(file) != 0)
		return failed_at("fdatasync");
	return 0;
}

int main(int argc, char **argv)
{
	int failed = 0;
	int file = -1;
	long pieces = 0;
	long copies = 0;

	if (argc != 4)
		return usage("FILE MEBIBYTES COPIES");
	pieces = number(argv[2], 1);
	copies = number(argv[3], 1);
	file = open_to_write(argv[1]);
	if (file < 0)
		return 1;
	for (long i = 0; i < copies && !failed; i++) {
		uint64_t started_us = now_us();

		failed = copy(file, pieces, (int)(i + 1));
		printf("%ld bytes in %llu usecs\n", pieces * PIECE_BYTES,
		       (unsigned long long)(now_us() - started_us));
		fflush(stdout);
	}
	close(file);
	return failed;
}
