// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sequential anonymous writers, as usemem in vm-scalability's swap-w-seq: every process maps its own
 * share and writes each 8-byte word of it once, in order, with the word's index. Nothing is read.
 *
 *   sequential_writer PROCESSES MEBIBYTES_EACH
 *
 * One line a process: bytes / microseconds = KB/s.
 */
#include "program.h"

static int run(void *own, long process)
{
	size_t bytes = *(size_t *)own;
	volatile uint64_t *words = map_memory(bytes);
	uint64_t started_us = now_us();
	uint64_t elapsed_us = 0;

	(void)process;
	if (words == MAP_FAILED)
		return 1;
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
	size_t bytes = 0;

	if (argc != 3)
		return usage("PROCESSES MEBIBYTES_EACH");
	bytes = (size_t)number(argv[2], 1) << 20;
	return run_together(number(argv[1], 1), run, &bytes);
}
