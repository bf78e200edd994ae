// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * More than memory holds, by several numbers of tasks, one after another: in a turn of N tasks each of N processes writes its
 * N-th of MEBIBYTES once, in order, 4 KiB at a time; anonymous memory, as usemem does, or a file that is there already, by
 * buffered writes, as pwrite-single-rewrite-async does. Nothing is read, and nobody gives memory back before all have written.
 *
 *   reclaim_turns memory|FILE MEBIBYTES TASKS...
 *
 * One line a turn: tasks, bytes, microseconds, and microseconds of them that the tasks spent in the kernel.
 */
#include "program.h"

#include <sys/resource.h>

struct target {
	const char *name;
	long pages;
};

static uint64_t system_us(void)
{
	struct rusage used;

	getrusage(RUSAGE_CHILDREN, &used);
	return (uint64_t)used.ru_stime.tv_sec * 1000000 + (uint64_t)used.ru_stime.tv_usec;
}

static int write_memory(long pages)
{
	char *memory = map_memory((size_t)pages * PAGE_BYTES);

	if (memory == MAP_FAILED)
		return 1;
	for (long page = 0; page < pages; page++)
		memset(memory + page * PAGE_BYTES, (int)(page % 255) + 1, PAGE_BYTES);
	return 0;
}

static int write_file(const char *name, long first, long pages)
{
	int failed = 0;
	char block[PAGE_BYTES];
	int file = open_to_write(name);

	if (file < 0)
		return 1;
	memset(block, (int)(first % 255) + 1, sizeof(block));
	for (long page = first; page < first + pages && !failed; page++) {
		if (pwrite(file, block, sizeof(block), page * PAGE_BYTES) != PAGE_BYTES)
			failed = failed_at("pwrite");
	}
	close(file);
	return failed;
}

static int write_share(const struct target *target, long task, long tasks)
{
	long pages = target->pages / tasks;

	if (strcmp(target->name, "memory") == 0)
		return write_memory(pages);
	return write_file(target->name, task * pages, pages);
}

/* A meeting of all tasks: each waits until the last one has come, and the meeting is over when its pipe has no writer. */
static void meet(const int *meeting)
{
	char byte = 0;

	close(meeting[1]);
	while (read(meeting[0], &byte, 1) > 0) {
	}
}

static int run_tasks(const struct target *target, long tasks)
{
	int failed = 0;
	int start[2] = { -1, -1 };
	int written[2] = { -1, -1 };

	if (pipe(start) != 0 || pipe(written) != 0)
		return failed_at("pipe");
	for (long task = 0; task < tasks; task++) {
		pid_t pid = fork();

		if (pid < 0) {
			failed = failed_at("fork");
			break;
		}
		if (pid == 0) {
			meet(start);
			failed = write_share(target, task, tasks);
			meet(written);
			_exit(failed);
		}
	}
	for (int end = 0; end < 2; end++) {
		close(start[end]);
		close(written[end]);
	}
	return await_processes() | failed;
}

static int take_turn(const struct target *target, long tasks)
{
	int failed = 0;
	uint64_t started_us = 0;
	uint64_t before_us = 0;

	mark("begin %ld", tasks);
	started_us = now_us();
	before_us = system_us();
	failed = run_tasks(target, tasks);
	printf("%ld tasks: %ld bytes / %llu usecs, %llu of them in the kernel\n", tasks,
	       target->pages / tasks * tasks * PAGE_BYTES,
	       (unsigned long long)(now_us() - started_us),
	       (unsigned long long)(system_us() - before_us));
	fflush(stdout);
	mark("end %ld", tasks);
	return failed;
}

int main(int argc, char **argv)
{
	int failed = 0;
	struct target target = { 0 };

	if (argc < 4)
		return usage("memory|FILE MEBIBYTES TASKS...");
	target.name = argv[1];
	target.pages = (long)pages_of(number(argv[2], 1));
	for (int i = 3; i < argc; i++)
		number(argv[i], 1);
	/* A file is written once before its first turn, so that turns rewrite it. */
	if (strcmp(target.name, "memory") != 0)
		failed = write_file(target.name, 0, target.pages);
	for (int i = 3; i < argc && !failed; i++)
		failed = take_turn(&target, number(argv[i], 1));
	return failed;
}
