// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Holds sets of swap slots, and tells of each which slots it is and what the kernel's tree nodes
 * come to meanwhile. One set follows from the other; all pages of a set are swapped out:
 *
 *   before       nothing is mapped
 *   sequential   MEBIBYTES are mapped, and each page is written once, in order
 *   fragmented   60 % of the pages are dropped, at random
 *   visited      VISITS went to random pages of those left, 80 % of them to read
 *   sparse       95 % of those left are dropped
 *   few          98 % of those left are dropped
 *   after        nothing is mapped
 *
 *   slot_holder MEBIBYTES VISITS SEED
 *
 * A slot is told once all slots that are in use are those of the set: writeback has ended, and the
 * caches of slots are drained by taking a second swap device, /dev/ram0, on and off. Output, all of
 * it at the end, since a file that grows takes nodes too:
 *
 *   sample SET objects N used N cached N slots N    nodes allocated; slots in use as /proc/swaps
 *                                                   says; pages in the swap cache; slots of the set
 *   extent FIRST COUNT                              slots of the set, in order
 *   (the kernel's own text: who allocated the nodes, behind the line "allocated by")
 */
#include "program.h"

#include <stdbool.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/swap.h>

#define TEXT_BYTES (512u << 10)
#define ATTEMPTS   200
#define ATTEMPT_US 50000
/* After a grace period of RCU the nodes that were freed are free. */
#define SETTLE_US 500000

#define SLAB        "/sys/kernel/slab/radix_tree_node/"
#define TRACES      "/sys/kernel/debug/slab/radix_tree_node/alloc_traces"
#define SPARE       "/dev/ram0"
#define PRESENT_BIT 63
#define SWAPPED_BIT 62
/* A page table entry's swap entry, as /proc/PID/pagemap tells it. */
#define TYPE_BITS   5
#define OFFSET_BITS 50

struct sample {
	const char *set;
	unsigned long objects;
	unsigned long used;
	unsigned long cached;
	size_t n_slots;
	uint64_t *slots;
	char traces[TEXT_BYTES];
};

enum { BEFORE, SEQUENTIAL, FRAGMENTED, VISITED, SPARSE, FEW, AFTER, SETS };

static const char *const names[SETS] = {
	"before", "sequential", "fragmented", "visited", "sparse", "few", "after",
};

/* What is held; pages of the mapping that were dropped are not touched again. */
struct holder {
	size_t pages;
	volatile uint32_t *words;
	size_t n_held;
	size_t *held;
	uint64_t state;
};

static struct sample samples[SETS];
static char text[TEXT_BYTES];

static int read_text(const char *path, char *buffer)
{
	size_t filled = 0;
	ssize_t got = 0;
	int file = open(path, O_RDONLY | O_CLOEXEC);

	if (file < 0)
		return failed_at(path);
	do {
		got = read(file, buffer + filled, TEXT_BYTES - 1 - filled);
		if (got > 0)
			filled += (size_t)got;
	} while (got > 0 && filled < TEXT_BYTES - 1);
	close(file);
	buffer[filled] = '\0';
	if (got == 0)
		return 0;
	fprintf(stderr, "slot_holder: %s is longer than expected, or unreadable\n", path);
	return 1;
}

static int write_text(const char *path, const char *word)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);
	bool written = file >= 0 && write(file, word, strlen(word)) == (ssize_t)strlen(word);

	if (file >= 0)
		close(file);
	return written ? 0 : failed_at(path);
}

/* A counter of /proc/vmstat, with what the CPUs have not added to it yet. */
static int counter(const char *name, unsigned long *value)
{
	char key[64];
	const char *found = NULL;

	if (write_text("/proc/sys/vm/stat_refresh", "1") || read_text("/proc/vmstat", text))
		return 1;
	snprintf(key, sizeof(key), "\n%s ", name);
	found = strstr(text, key);
	if (found == NULL) {
		fprintf(stderr, "slot_holder: /proc/vmstat has no %s\n", name);
		return 1;
	}
	*value = strtoul(found + strlen(key), NULL, 10);
	return 0;
}

static int await_writeback(void)
{
	unsigned long pages = 1;

	for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
		if (counter("nr_writeback", &pages))
			return 1;
		if (pages == 0)
			return 0;
		usleep(ATTEMPT_US);
	}
	fprintf(stderr, "slot_holder: writeback of %lu pages does not end\n", pages);
	return 1;
}

/* swapoff gives the slots that CPUs keep at hand back, whichever device it takes away. */
static int drain_slot_caches(void)
{
	if (swapon(SPARE, 0) != 0)
		return failed_at("swapon " SPARE);
	if (swapoff(SPARE) != 0)
		return failed_at("swapoff " SPARE);
	return 0;
}

/* Notes the slots of the pages of the mapping; without a sample, only counts those in memory. */
static int locate(const struct holder *holder, struct sample *sample, size_t *n_present)
{
	uint64_t entries[512];
	int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

	if (file < 0)
		return failed_at("/proc/self/pagemap");
	*n_present = 0;
	for (size_t page = 0; page < holder->pages; page += 512) {
		size_t n = holder->pages - page < 512 ? holder->pages - page : 512;
		uint64_t first = (uint64_t)(uintptr_t)holder->words / PAGE_BYTES + page;
		ssize_t bytes = (ssize_t)(n * sizeof(entries[0]));

		if (pread(file, entries, (size_t)bytes, (off_t)(first * sizeof(entries[0]))) !=
		    bytes) {
			close(file);
			return failed_at("/proc/self/pagemap");
		}
		for (size_t i = 0; i < n; i++) {
			*n_present += entries[i] >> PRESENT_BIT & 1;
			if (sample != NULL && (entries[i] >> SWAPPED_BIT & 1) != 0)
				sample->slots[sample->n_slots++] =
					entries[i] >> TYPE_BITS &
					((UINT64_C(1) << OFFSET_BITS) - 1);
		}
	}
	close(file);
	return 0;
}

static int compare_slots(const void *one, const void *other)
{
	uint64_t a = *(const uint64_t *)one;
	uint64_t b = *(const uint64_t *)other;

	return (a > b) - (a < b);
}

static int used_slots(unsigned long *slots)
{
	unsigned long kibibytes = 0;

	/* A line of headings, then one device. */
	if (read_text("/proc/swaps", text))
		return 1;
	if (sscanf(text, "%*[^\n] %*s %*s %*u %lu", &kibibytes) != 1) {
		fprintf(stderr, "slot_holder: /proc/swaps has no device\n");
		return 1;
	}
	*slots = kibibytes / (PAGE_BYTES / 1024);
	return 0;
}

static int take_sample(const struct holder *holder, struct sample *sample)
{
	size_t n_present = 0;

	if (await_writeback() || drain_slot_caches())
		return 1;
	usleep(SETTLE_US);
	/* Until a slab is given back, a CPU's free objects in it count as allocated. */
	if (write_text(SLAB "shrink", "1") || read_text(SLAB "objects", text))
		return 1;
	sample->objects = strtoul(text, NULL, 10);
	if (read_text(TRACES, sample->traces) || used_slots(&sample->used) ||
	    counter("nr_swapcached", &sample->cached))
		return 1;
	if (holder->words != NULL && locate(holder, sample, &n_present))
		return 1;
	qsort(sample->slots, sample->n_slots, sizeof(*sample->slots), compare_slots);
	if (n_present != 0 || sample->used != sample->n_slots) {
		fprintf(stderr,
			"slot_holder: %s: %lu slots in use, %zu of the set, %zu pages in memory\n",
			sample->set, sample->used, sample->n_slots, n_present);
		return 1;
	}
	return 0;
}

static int swap_out(const struct holder *holder)
{
	void *start = (void *)(uintptr_t)holder->words;
	size_t n_present = 1;

	for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
		if (madvise(start, holder->pages * PAGE_BYTES, MADV_PAGEOUT) != 0)
			return failed_at("madvise MADV_PAGEOUT");
		if (locate(holder, NULL, &n_present))
			return 1;
		if (n_present == 0)
			return 0;
		usleep(ATTEMPT_US);
	}
	fprintf(stderr, "slot_holder: %zu pages stay in memory\n", n_present);
	return 1;
}

static int fill(struct holder *holder)
{
	holder->words = map_pages(holder->pages);
	if (holder->words == MAP_FAILED)
		return 1;
	for (size_t page = 0; page < holder->pages; page++)
		holder->held[holder->n_held++] = page;
	return swap_out(holder);
}

/* The page of a slot that is dropped has left writeback, so the slot is freed there and then. */
static int drop(struct holder *holder, unsigned percent)
{
	size_t n_held = 0;

	if (await_writeback())
		return 1;
	for (size_t i = 0; i < holder->n_held; i++) {
		size_t page = holder->held[i];
		void *address = (char *)(uintptr_t)holder->words + page * PAGE_BYTES;

		if (draw(&holder->state) % 100 >= percent)
			holder->held[n_held++] = page;
		else if (madvise(address, PAGE_BYTES, MADV_DONTNEED) != 0)
			return failed_at("madvise MADV_DONTNEED");
	}
	holder->n_held = n_held;
	return 0;
}

static int visit(struct holder *holder, long visits)
{
	for (long i = 0; i < visits; i++) {
		size_t page = holder->held[draw(&holder->state) % holder->n_held];
		volatile uint32_t *word = &holder->words[page * WORDS_PER_PAGE];

		if (draw(&holder->state) % 100 < 80)
			(void)*word;
		else
			*word = (uint32_t)i;
	}
	return swap_out(holder);
}

static int release(struct holder *holder)
{
	if (await_writeback())
		return 1;
	if (munmap((void *)(uintptr_t)holder->words, holder->pages * PAGE_BYTES) != 0)
		return failed_at("munmap");
	holder->words = NULL;
	return 0;
}

static int make(struct holder *holder, int set, long visits)
{
	switch (set) {
	case SEQUENTIAL:
		return fill(holder);
	case FRAGMENTED:
		return drop(holder, 60);
	case VISITED:
		return visit(holder, visits);
	case SPARSE:
		return drop(holder, 95);
	case FEW:
		return drop(holder, 98);
	case AFTER:
		return release(holder);
	default:
		return 0;
	}
}

static int prepare(struct holder *holder)
{
	holder->held = calloc(holder->pages, sizeof(*holder->held));
	if (holder->held == NULL)
		return failed_at("calloc");
	for (int set = 0; set < SETS; set++) {
		samples[set].set = names[set];
		samples[set].slots = calloc(holder->pages, sizeof(*samples[set].slots));
		if (samples[set].slots == NULL)
			return failed_at("calloc");
	}
	if (mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL) != 0)
		return failed_at("mount debugfs");
	if (system("mkswap " SPARE " >/dev/null") != 0) {
		fprintf(stderr, "slot_holder: mkswap " SPARE " failed\n");
		return 1;
	}
	/* Pages of this program itself are no slots of a set. */
	return mlockall(MCL_CURRENT) == 0 ? 0 : failed_at("mlockall");
}

static void tell(const struct sample *sample)
{
	printf("sample %s objects %lu used %lu cached %lu slots %zu\n", sample->set,
	       sample->objects, sample->used, sample->cached, sample->n_slots);
	for (size_t i = 0; i < sample->n_slots;) {
		size_t first = i++;

		while (i < sample->n_slots && sample->slots[i] == sample->slots[i - 1] + 1)
			i++;
		printf("extent %llu %zu\n", (unsigned long long)sample->slots[first], i - first);
	}
	printf("allocated by\n%s\n", sample->traces);
}

int main(int argc, char **argv)
{
	struct holder holder = { 0 };
	long visits = 0;

	if (argc != 4)
		return usage("MEBIBYTES VISITS SEED");
	holder.pages = pages_of(number(argv[1], 1));
	visits = number(argv[2], 1);
	holder.state = (uint64_t)number(argv[3], 0);
	if (prepare(&holder))
		return 1;
	for (int set = 0; set < SETS; set++) {
		if (make(&holder, set, visits) || take_sample(&holder, &samples[set]))
			return 1;
	}
	for (int set = 0; set < SETS; set++)
		tell(&samples[set]);
	return 0;
}
