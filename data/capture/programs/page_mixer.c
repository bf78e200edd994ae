// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files and anonymous memory mixed: every process maps a set of its own and reads one file that all share, for so many seconds. Of 100
 * visits FILE_PERCENT read a block of the file, the others visit an anonymous page, half of them writing. Four of five visits go to the
 * hot fifth of each set, which moves on every MOVE_S seconds (0: never). A file's block is read twice at a visit, so that its folio has references.
 *
 *   page_mixer PROCESSES MEBIBYTES_EACH FILE FILE_MEBIBYTES FILE_PERCENT MOVE_S SECONDS SEED
 */
#include "program.h"

#define HOT_PARTS 5u

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
	return (long)(now_us() / 1000000);
}

/* One of `size` places: four times of five in the hot fifth, which begins at part `hot`. */
static size_t place(uint64_t *state, size_t size, size_t hot)
{
	size_t part = size / HOT_PARTS;

	if (draw(state) % HOT_PARTS == 0)
		return draw(state) % size;
	return hot % HOT_PARTS * part + draw(state) % part;
}

static int run(void *own, long process)
{
	struct mix *self = own;
	long start = now_s();
	long past = 0;
	unsigned char block[PAGE_BYTES];
	int file = open(self->file, O_RDONLY | O_CLOEXEC);
	volatile uint32_t *words = map_pages(self->pages);

	if (file < 0 || words == MAP_FAILED)
		return failed_at(self->file);
	self->state += (uint64_t)process << 32;
	for (uint64_t visit = 0; past < self->seconds; visit++) {
		size_t hot = self->move_s != 0 ? (size_t)(past / self->move_s) : 0;

		if ((long)(draw(&self->state) % 100) < self->file_percent) {
			off_t at = (off_t)(place(&self->state, self->blocks, hot) * PAGE_BYTES);

			for (int times = 0; times < 2; times++)
				if (pread(file, block, sizeof(block), at) != PAGE_BYTES)
					return failed_at("pread");
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
	if (failed || fsync(file) != 0)
		return failed_at("write");
	return close(file);
}

int main(int argc, char **argv)
{
	struct mix own = { 0 };

	if (argc != 9)
		return usage("PROCESSES MEBIBYTES_EACH FILE FILE_MEBIBYTES FILE_PERCENT MOVE_S "
			     "SECONDS SEED");
	own.pages = pages_of(number(argv[2], 1));
	own.file = argv[3];
	own.blocks = pages_of(number(argv[4], 1));
	own.file_percent = number(argv[5], 0);
	own.move_s = number(argv[6], 0);
	own.seconds = number(argv[7], 1);
	own.state = (uint64_t)number(argv[8], 0);
	if (make_file(own.file, own.blocks) != 0)
		return 1;
	return run_together(number(argv[1], 1), run, &own);
}
