// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a file without flushing it, and lets the lab's module redirty_cost count the instructions of reclaim for its pages.
 *
 *   redirty_cost FILE MEBIBYTES
 *
 * One line per mode of the module: its name, and the ticks of each list of 32 pages. The modes take turns twice, so that the
 * order cannot matter; the file's pages are dirty throughout, or the module fails. At the end the file is flushed, and its clean
 * pages are dropped. Two more lines have the ticks of 32 pages at a time that are written to the file, and of 32 anonymous
 * pages that are touched for the first time.
 */
#include "program.h"

#define BLOCK_BYTES (1 << 20)
#define BLOCK_LISTS (BLOCK_BYTES / 4096 / 32)
#define TURNS       2

static const char *const modes[] = { "loop", "skipped", "written", "redirtied", "file-system" };

static unsigned long long ticks(void)
{
	return __builtin_ia32_rdtsc();
}

/* Prints the ticks of 32 pages, as often as they occurred. */
static void print_ticks(unsigned long long each, int lists)
{
	while (lists-- > 0)
		printf(" %llu", each);
}

static int write_file(const char *name, long mebibytes)
{
	static char block[BLOCK_BYTES];
	int file = open(name, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0644);

	if (file < 0) {
		failed_at("open");
		return -1;
	}
	printf("copied:");
	while (mebibytes-- > 0) {
		unsigned long long begin = ticks();

		if (write(file, block, sizeof(block)) != (ssize_t)sizeof(block)) {
			failed_at("write");
			close(file);
			return -1;
		}
		print_ticks((ticks() - begin) / BLOCK_LISTS, BLOCK_LISTS);
	}
	printf("\n");
	return file;
}

static int touch_pages(long mebibytes)
{
	size_t bytes = (size_t)mebibytes * BLOCK_BYTES;
	char *memory = map_memory(bytes);

	if (memory == MAP_FAILED)
		return 1;
	printf("touched:");
	for (size_t list = 0; list < bytes; list += 32 * 4096) {
		unsigned long long begin = ticks();

		for (size_t page = list; page < list + 32 * 4096; page += 4096)
			memory[page] = 1;
		print_ticks(ticks() - begin, 1);
	}
	printf("\n");
	munmap(memory, bytes);
	return 0;
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

	if (mebibytes < 1)
		return usage("FILE MEBIBYTES");
	file = write_file(argv[1], mebibytes);
	if (file < 0)
		return 1;
	for (int turn = 0; turn < TURNS && !failed; turn++) {
		for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]) && !failed; i++)
			failed = count(modes[i], file);
	}
	if (!failed && fsync(file) != 0)
		failed = failed_at("fsync");
	failed = failed || count("dropped", file) || touch_pages(mebibytes);
	close(file);
	return failed;
}
