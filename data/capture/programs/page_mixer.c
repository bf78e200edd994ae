// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files and anonymous memory mixed: every process maps a set of its own and reads one file that all share, for so many seconds. Of 100
 * visits FILE_PERCENT read a block of the file, the others visit an anonymous page, half of them writing. Four of five visits go to the
 * hot fifth of each set, which moves on every MOVE_S seconds (0: never). A file's block is read twice at a visit, so that its folio has references.
 *
 *   page_mixer PROCESSES MEBIBYTES_EACH FILE FILE_MEBIBYTES FILE_PERCENT MOVE_S SECONDS SEED
 */
#define _GNU_SOURCE
#include <fcntl.h>
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
#define HOT_PARTS      5u

struct mix {
	size_t pages;
	size_t blocks;
	const char *file;
	long file_percent;
	long move_s;
	long seconds;
	uint64_t state;
};

static long now_s(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec;
}

/* splitmix64: one 64-bit state, full period, so each process has its own stream from seed and number. */
static uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static long number(const char *text, long lowest)
{
	char *end = NULL;
	long value = strtol(text, &end, 10);

	if (end == text || *end != '\0' || value < lowest) {
		fprintf(stderr, "page_mixer: '%s' is not a number of %ld or more\n", text, lowest);
		exit(2);
	}
	return value;
}

/* One of `size` places: four times of five in the hot fifth, which begins at part `hot`. */
static size_t place(uint64_t *state, size_t size, size_t hot)
{
	size_t part = size / HOT_PARTS;

	if (draw(state) % HOT_PARTS == 0)
		return draw(state) % size;
	return hot % HOT_PARTS * part + draw(state) % part;
}

static int mix(struct mix *self)
{
	long start = now_s();
	long past = 0;
	unsigned char block[PAGE_BYTES];
	int file = open(self->file, O_RDONLY | O_CLOEXEC);
	volatile uint32_t *words = mmap(NULL, self->pages * PAGE_BYTES, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (file < 0 || words == MAP_FAILED) {
		perror("page_mixer: open or mmap");
		return 1;
	}
	for (size_t page = 0; page < self->pages; page++)
		words[page * WORDS_PER_PAGE] = (uint32_t)page;
	for (uint64_t visit = 0; past < self->seconds; visit++) {
		size_t hot = self->move_s != 0 ? (size_t)(past / self->move_s) : 0;

		if ((long)(draw(&self->state) % 100) < self->file_percent) {
			off_t at = (off_t)(place(&self->state, self->blocks, hot) * PAGE_BYTES);

			for (int times = 0; times < 2; times++)
				if (pread(file, block, sizeof(block), at) != PAGE_BYTES) {
					perror("page_mixer: pread");
					return 1;
				}
		} else {
			size_t page = place(&self->state, self->pages, hot);

			if (draw(&self->state) % 2 != 0)
				words[page * WORDS_PER_PAGE + 1] = (uint32_t)visit;
			else
				(void)words[page * WORDS_PER_PAGE];
		}
		if (visit % 16 == 0)
			past = now_s() - start;
	}
	close(file);
	return 0;
}

static int make_file(const char *name, size_t blocks)
{
	unsigned char block[PAGE_BYTES];
	int file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	int failed = file < 0;

	memset(block, 1, sizeof(block));
	for (size_t i = 0; i < blocks && !failed; i++)
		failed = write(file, block, sizeof(block)) != PAGE_BYTES;
	if (failed || fsync(file) != 0) {
		perror("page_mixer: write");
		return 1;
	}
	return close(file);
}

int main(int argc, char **argv)
{
	int failed = 0;
	long processes = 0;
	uint64_t seed = 0;
	struct mix own = { 0 };

	if (argc != 9) {
		fprintf(stderr, "usage: page_mixer PROCESSES MEBIBYTES_EACH FILE FILE_MEBIBYTES "
				"FILE_PERCENT MOVE_S SECONDS SEED\n");
		return 2;
	}
	processes = number(argv[1], 1);
	own.pages = (size_t)number(argv[2], 1) * (1u << 20) / PAGE_BYTES;
	own.file = argv[3];
	own.blocks = (size_t)number(argv[4], 1) * (1u << 20) / PAGE_BYTES;
	own.file_percent = number(argv[5], 0);
	own.move_s = number(argv[6], 0);
	own.seconds = number(argv[7], 1);
	seed = (uint64_t)number(argv[8], 0);
	if (make_file(own.file, own.blocks) != 0)
		return 1;
	for (long i = 0; i < processes; i++) {
		pid_t pid = fork();

		if (pid < 0) {
			perror("page_mixer: fork");
			failed = 1;
			break;
		}
		if (pid == 0) {
			own.state = seed + ((uint64_t)i << 32);
			_exit(mix(&own));
		}
	}
	for (int status = 0; wait(&status) > 0;)
		failed |= status != 0;
	return failed;
}
