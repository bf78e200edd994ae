// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Many small files, each a mapping of its own: makes FILES files of KIBIBYTES each under a directory, then reads files that it
 * draws at random, each from its start to its end. The same seed gives the same reads.
 *
 *   small_files DIRECTORY FILES KIBIBYTES READS SEED
 *
 * One line: reads in microseconds.
 */
#include "program.h"

#include <sys/stat.h>

#define BLOCK_BYTES 1024
#define NAME_BYTES  128

struct files {
	const char *directory;
	uint64_t number;
	long blocks;
};

static int open_file(const struct files *files, uint64_t number, int flags)
{
	char name[NAME_BYTES];
	int file = -1;

	snprintf(name, sizeof(name), "%s/%llu", files->directory, (unsigned long long)number);
	file = open(name, flags | O_CLOEXEC, 0644);
	if (file < 0)
		failed_at(name);
	return file;
}

static int write_file(const struct files *files, uint64_t number)
{
	int failed = 0;
	char block[BLOCK_BYTES] = { 0 };
	int file = open_file(files, number, O_CREAT | O_WRONLY);

	if (file < 0)
		return 1;
	for (long i = 0; i < files->blocks && !failed; i++)
		failed = write(file, block, sizeof(block)) != BLOCK_BYTES;
	close(file);
	return failed;
}

static int read_file(const struct files *files, uint64_t number)
{
	char block[4 * BLOCK_BYTES];
	ssize_t got = 1;
	int file = open_file(files, number, O_RDONLY);

	if (file < 0)
		return 1;
	while (got > 0)
		got = read(file, block, sizeof(block));
	close(file);
	return got != 0;
}

int main(int argc, char **argv)
{
	int failed = 0;
	long reads = 0;
	uint64_t state = 0;
	uint64_t started_us = 0;
	struct files files = { 0 };

	if (argc != 6)
		return usage("DIRECTORY FILES KIBIBYTES READS SEED");
	files.directory = argv[1];
	files.number = (uint64_t)number(argv[2], 1);
	files.blocks = number(argv[3], 1);
	reads = number(argv[4], 1);
	state = (uint64_t)number(argv[5], 1);
	if (mkdir(files.directory, 0755) != 0)
		return failed_at("mkdir");
	for (uint64_t number = 0; number < files.number && !failed; number++)
		failed = write_file(&files, number);
	started_us = now_us();
	for (long i = 0; i < reads && !failed; i++)
		failed = read_file(&files, draw(&state) % files.number);
	printf("%ld reads in %llu usecs\n", reads, (unsigned long long)(now_us() - started_us));
	return failed;
}
