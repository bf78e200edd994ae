// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A file rewriter, as pwrite-single-rewrite-async: 4 KiB buffered writes over the whole file, from its
 * start to its end, PASSES times; no truncation, no sync. The first pass creates what is not there.
 *
 *   file_rewriter FILE MEBIBYTES PASSES
 *
 * One line: bytes in microseconds.
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

#define BLOCK_BYTES 4096

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
		fprintf(stderr, "file_rewriter: '%s' is not a positive number\n", text);
		exit(2);
	}
	return value;
}

static int write_pass(int file, long blocks, int value)
{
	unsigned char block[BLOCK_BYTES];

	memset(block, value, sizeof(block));
	for (long i = 0; i < blocks; i++) {
		if (pwrite(file, block, sizeof(block), i * BLOCK_BYTES) != BLOCK_BYTES) {
			perror("file_rewriter: pwrite");
			return 1;
		}
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

	if (argc != 4) {
		fprintf(stderr, "usage: file_rewriter FILE MEBIBYTES PASSES\n");
		return 2;
	}
	blocks = positive(argv[2]) * ((1 << 20) / BLOCK_BYTES);
	passes = positive(argv[3]);
	file = open(argv[1], O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	if (file < 0) {
		fprintf(stderr, "file_rewriter: cannot open '%s': %s\n", argv[1], strerror(errno));
		return 1;
	}
	started_us = now_us();
	for (long pass = 0; pass < passes && !failed; pass++)
		failed = write_pass(file, blocks, (int)(pass + 1));
	printf("%ld bytes in %llu usecs\n", blocks * passes * BLOCK_BYTES,
	       (unsigned long long)(now_us() - started_us));
	close(file);
	return failed;
}
