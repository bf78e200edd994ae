// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A large copy, as dd with bs=1M and conv=fdatasync: a file is written in pieces of 1 MiB, from its start to its end, and then
 * synced to its disk, COPIES times. The first copy creates what is not there; none is truncated.
 *
 *   file_copier FILE MEBIBYTES COPIES
 *
 * One line a copy: bytes in microseconds, the sync included.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PIECE_BYTES (1 << 20)

static uint64_t now_us(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

static long positive(const char *text)
{
	char *end = NULL;
	long value = strtol(text, &end, 10);

	if (end == text || *end != '\0' || value <= 0) {
		fprintf(stderr, "file_copier: '%s' is not a positive number\n", text);
		exit(2);
	}
	return value;
}

static int copy(int file, long pieces, int value)
{
	static unsigned char piece[PIECE_BYTES];

	memset(piece, value, sizeof(piece));
	for (long i = 0; i < pieces; i++) {
		if (pwrite(file, piece, sizeof(piece), i * PIECE_BYTES) != PIECE_BYTES) {
			perror("file_copier: pwrite");
			return 1;
		}
	}
	if (fdatasync(file) != 0) {
		perror("file_copier: fdatasync");
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	int failed = 0;
	int file = -1;
	long pieces = 0;
	long copies = 0;

	if (argc != 4) {
		fprintf(stderr, "usage: file_copier FILE MEBIBYTES COPIES\n");
		return 2;
	}
	pieces = positive(argv[2]);
	copies = positive(argv[3]);
	file = open(argv[1], O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	if (file < 0) {
		fprintf(stderr, "file_copier: cannot open '%s': %s\n", argv[1], strerror(errno));
		return 1;
	}
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
