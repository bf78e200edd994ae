// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sequential anonymous writers, as usemem in vm-scalability's swap-w-seq: every process maps its own
 * share and writes each 8-byte word of it once, in order, with the word's index. Nothing is read.
 *
 *   sequential_writer PROCESSES MEBIBYTES_EACH
 *
 * One line a process: bytes / microseconds = KB/s.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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
		fprintf(stderr, "sequential_writer: '%s' is not a positive number\n", text);
		exit(2);
	}
	return value;
}

static int write_share(size_t bytes)
{
	uint64_t started_us = 0;
	uint64_t elapsed_us = 0;
	volatile uint64_t *words =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (words == MAP_FAILED) {
		perror("sequential_writer: mmap");
		return 1;
	}
	started_us = now_us();
	for (size_t i = 0; i < bytes / sizeof(*words); i++)
		words[i] = i;
	elapsed_us = now_us() - started_us;
	if (elapsed_us == 0)
		elapsed_us = 1;
	printf("%zu bytes / %llu usecs = %llu KB/s\n", bytes, (unsigned long long)elapsed_us,
	       (unsigned long long)(bytes * 1000000 / 1024 / elapsed_us));
	fflush(stdout);
	return 0;
}

int main(int argc, char **argv)
{
	int failed = 0;
	int gate[2] = { -1, -1 };
	long processes = 0;
	size_t bytes = 0;

	if (argc != 3) {
		fprintf(stderr, "usage: sequential_writer PROCESSES MEBIBYTES_EACH\n");
		return 2;
	}
	processes = positive(argv[1]);
	bytes = (size_t)positive(argv[2]) << 20;
	/* All processes start together: they wait until the last one is there and the gate shuts. */
	if (pipe(gate) != 0) {
		perror("sequential_writer: pipe");
		return 1;
	}
	for (long i = 0; i < processes; i++) {
		pid_t pid = fork();

		if (pid < 0) {
			perror("sequential_writer: fork");
			failed = 1;
			break;
		}
		if (pid == 0) {
			char byte = 0;

			close(gate[1]);
			_exit(read(gate[0], &byte, 1) == 0 ? write_share(bytes) : 1);
		}
	}
	close(gate[1]);
	for (int status = 0; wait(&status) > 0;)
		failed |= status != 0;
	return failed;
}
