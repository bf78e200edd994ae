/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * corpus.c - runs a target without its fuzzer, with any compiler, on the given files. So each test
 * run repeats the earlier findings.
 */
#include "input.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	ROOM = 1 << 20,
};

static void run_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *bytes = malloc(ROOM);
	size_t size = 0;

	MUST(file && bytes);
	size = fread(bytes, 1, ROOM, file);
	MUST(size < ROOM && !ferror(file) && !fclose(file));
	MUST(LLVMFuzzerTestOneInput(bytes, size) == 0);
	free(bytes);
}

int main(int count, char **paths)
{
	for (int i = 1; i < count; i++)
		run_file(paths[i]);
	return count < 2;
}
