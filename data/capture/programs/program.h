// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the programs of the workloads share: numbers from the command line, the clock, random numbers, processes, and marks.
 */
#ifndef CAPTURE_PROGRAM_H
#define CAPTURE_PROGRAM_H

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE_BYTES     4096u
#define WORDS_PER_PAGE (PAGE_BYTES / (unsigned)sizeof(uint32_t))

static inline long number(const char *text, long lowest)
{
	char *end = NULL;
	long value = strtol(text, &end, 10);

	if (end == text || *end != '\0' || value < lowest) {
		fprintf(stderr, "%s: '%s' is not a number of %ld or more\n",
			program_invocation_short_name, text, lowest);
		exit(2);
	}
	return value;
}

/* Numbers of pages in so many MiB. */
static inline size_t pages_of(long mebibytes)
{
	return (size_t)mebibytes * (1u << 20) / PAGE_BYTES;
}

static inline int usage(const char *arguments)
{
	fprintf(stderr, "usage: %s %s\n", program_invocation_short_name, arguments);
	return 2;
}

/* Says which call failed, and why. */
static inline int failed_at(const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
	return 1;
}

static inline uint64_t now_us(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

/* splitmix64: one 64-bit state, full period, so each process has its own stream from seed and number. */
static inline uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* Anonymous memory of this process, or MAP_FAILED, which is reported. */
static inline void *map_memory(size_t bytes)
{
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		failed_at("mmap");
	return memory;
}

/* A set of pages with its number in the first word of each: one that was only read would be the shared zero page. */
static inline volatile uint32_t *map_pages(size_t pages)
{
	volatile uint32_t *words = map_memory(pages * PAGE_BYTES);

	for (size_t page = 0; words != MAP_FAILED && page < pages; page++)
		words[page * WORDS_PER_PAGE] = (uint32_t)page;
	return words;
}

/* Opens a file that may be there already. */
static inline int open_to_write(const char *name)
{
	int file = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);

	if (file < 0)
		failed_at(name);
	return file;
}

static inline void print_visits(long visits, uint64_t started_us)
{
	printf("%ld visits in %llu usecs\n", visits, (unsigned long long)(now_us() - started_us));
	fflush(stdout);
}

static inline int await_processes(void)
{
	int failed = 0;

	for (int status = 0; wait(&status) > 0;)
		failed |= status != 0;
	return failed;
}

/* Runs processes, each with its number, that start when the last one is there and the gate shuts. */
static inline int run_together(long processes, int (*run)(void *own, long process), void *own)
{
	int failed = 0;
	int gate[2] = { -1, -1 };

	if (pipe(gate) != 0)
		return failed_at("pipe");
	for (long i = 0; i < processes && !failed; i++) {
		pid_t pid = fork();

		if (pid < 0)
			failed = failed_at("fork");
		if (pid == 0) {
			char byte = 0;

			close(gate[1]);
			_exit(read(gate[0], &byte, 1) == 0 ? run(own, i) : 1);
		}
	}
	close(gate[1]);
	return await_processes() | failed;
}

/* The lab's guest has a script here that counts what the kernel does between two marks. */
__attribute__((format(printf, 1, 2))) static inline void mark(const char *format, ...)
{
	static const char script[] = "/capture/mark";
	char command[sizeof(script) + 64];
	int length = snprintf(command, sizeof(command), "%s ", script);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(command + length, sizeof(command) - (size_t)length, format, arguments);
	va_end(arguments);
	if (access(script, X_OK) == 0 && system(command) != 0)
		fprintf(stderr, "%s: %s failed\n", program_invocation_short_name, command);
}

#endif
