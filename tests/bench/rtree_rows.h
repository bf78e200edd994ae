/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rtree_rows.h - the harness of both sides of the radix tree's benchmark: rows from a file, five
 * operations over all of them, nanoseconds per row.
 *
 * A program includes it and defines operate_begin, the five operate_* and operate_end. The file
 * contains, in the machine's byte order: u64 rows, u64 trees, u64 rounds, then rows x u64 index,
 * then rows x u32 tree.
 */
#ifndef SWAPSIM_BENCH_RTREE_ROWS_H
#define SWAPSIM_BENCH_RTREE_ROWS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Creates the trees. */
static void operate_begin(uint64_t trees);

/* The operations on a row; each returns a value that depends on its result. */
static inline uint64_t operate_insert(uint32_t tree, uint64_t index, uint64_t item);
static inline uint64_t operate_tag_set(uint32_t tree, uint64_t index);
static inline uint64_t operate_lookup(uint32_t tree, uint64_t index);
static inline uint64_t operate_tag_clear(uint32_t tree, uint64_t index);
static inline uint64_t operate_delete(uint32_t tree, uint64_t index);

/* Called after a round, outside of the measured time. */
static void operate_end(void);

static double now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Items look like aligned pointers, because the kernel's tree reserves the low two bits. */
static inline uint64_t item_of(uint64_t row)
{
	return (row + 1) << 2;
}

static void *read_or_exit(FILE *file, size_t count, size_t size)
{
	void *block = malloc(count * size);

	if (!block || fread(block, size, count, file) != count) {
		fprintf(stderr, "cannot read the file of rows\n");
		exit(2);
	}
	return block;
}

enum { INSERT, TAG_SET, LOOKUP, TAG_CLEAR, DELETE, OPERATIONS };

#define TIME(operation, call)                                                                      \
	do {                                                                                       \
		double start = now_ns();                                                           \
		for (uint64_t row = 0; row < rows; row++)                                          \
			sum += (call);                                                             \
		spent[operation] += now_ns() - start;                                              \
	} while (0)

int main(int argc, char **argv)
{
	static const char *const names[] = { "insert", "tag_set", "lookup", "tag_clear", "delete" };
	FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
	double spent[OPERATIONS] = { 0 };
	uint64_t *head, *indexes, rows, sum = 0;
	uint32_t *trees;

	if (!file) {
		fprintf(stderr, "usage: %s FILE_OF_ROWS\n", argv[0]);
		return 2;
	}
	head = read_or_exit(file, 3, sizeof(*head));
	rows = head[0];
	indexes = read_or_exit(file, rows, sizeof(*indexes));
	trees = read_or_exit(file, rows, sizeof(*trees));
	fclose(file);
	operate_begin(head[1]);
	for (uint64_t round = 0; round < head[2]; round++) {
		TIME(INSERT, operate_insert(trees[row], indexes[row], item_of(row)));
		TIME(TAG_SET, operate_tag_set(trees[row], indexes[row]));
		TIME(LOOKUP, operate_lookup(trees[row], indexes[row]));
		TIME(TAG_CLEAR, operate_tag_clear(trees[row], indexes[row]));
		TIME(DELETE, operate_delete(trees[row], indexes[row]));
		operate_end();
	}
	for (int operation = 0; operation < OPERATIONS; operation++)
		printf("%s %.3f\n", names[operation], spent[operation] / (double)(rows * head[2]));
	/* Both sides have to print the same sum, which shows that they did the same work. */
	printf("sum %llu\n", (unsigned long long)sum);
	free(trees);
	free(indexes);
	free(head);
	return 0;
}

#endif
