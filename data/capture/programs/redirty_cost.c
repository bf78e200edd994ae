// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a file without flushing it, and lets the lab's module redirty_cost count the instructions of reclaim for its pages.
 *
 *   redirty_cost FILE MEBIBYTES
 *
 * One line per mode of the module: its name, and the ticks of each list of 32 pages. The modes take turns twice, so that the
 * order cannot matter; the file's pages are dirty throughout, or the module fails.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_BYTES (1 << 20)
#define TURNS       2

static const char *const modes[] = { "loop", "skipped", "written", "redirtied", "file-system" };

static int write_file(const char *name, long mebibytes)
{
	static char block[BLOCK_BYTES];
	int file = open(name, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0644);

	if (file < 0) {
		perror("redirty_cost: open");
		return -1;
	}
	while (mebibytes-- > 0) {
		if (write(file, block, sizeof(block)) != (ssize_t)sizeof(block)) {
			perror("redirty_cost: write");
			close(file);
			return -1;
		}
	}
	return file;
}

static int count(const char *mode, int file)
{
	char request[32];
	char line[32];
	FILE *counted = NULL;
	int length = snprintf(request, sizeof(request), "%s %d", mode, file);
	int counter = open("/proc/redirty_cost", O_RDWR | O_CLOEXEC);

	if (counter < 0 || write(counter, request, (size_t)length) != length ||
	    !(counted = fdopen(counter, "r"))) {
		fprintf(stderr, "redirty_cost: mode %s: ", mode);
		perror("the module");
		return 1;
	}
	printf("%s:", mode);
	while (fgets(line, sizeof(line), counted)) {
		line[strcspn(line, "\n")] = '\0';
		printf(" %s", line);
	}
	printf("\n");
	fclose(counted);
	return 0;
}

int main(int argc, char **argv)
{
	int file = -1;
	int failed = 0;
	long mebibytes = argc == 3 ? strtol(argv[2], NULL, 10) : 0;

	if (mebibytes < 1) {
		fprintf(stderr, "usage: redirty_cost FILE MEBIBYTES\n");
		return 2;
	}
	file = write_file(argv[1], mebibytes);
	if (file < 0)
		return 1;
	for (int turn = 0; turn < TURNS && !failed; turn++) {
		for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]) && !failed; i++)
			failed = count(modes[i], file);
	}
	close(file);
	return failed;
}
