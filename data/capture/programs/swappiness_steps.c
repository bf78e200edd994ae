// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Changes the swappiness of a running system: each value for SECONDS, one after another. Values up to 200 are written to
 * /proc/sys/vm/swappiness. 201, anonymous pages only, exists for a request to reclaim alone: it is written to the memory.reclaim of the
 * cgroup REQUEST_MEBIBYTES at a time, four times a second. Such a request may fail, as it asks for more than there is.
 *
 *   swappiness_steps SECONDS REQUEST_MEBIBYTES VALUE...
 */
#include "program.h"

#define SWAPPINESS "/proc/sys/vm/swappiness"
#define RECLAIM    "/cgroup/workload/memory.reclaim"
#define HIGHEST    200
#define TEXT_BYTES 64
#define A_SECOND   4

static int put(const char *path, const char *text)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t put = file >= 0 ? write(file, text, strlen(text)) : -1;

	if (file >= 0)
		close(file);
	return put < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
	const struct timespec quarter = { .tv_nsec = 1000000000 / A_SECOND };

	if (argc < 4)
		return usage("SECONDS REQUEST_MEBIBYTES VALUE...");
	for (int i = 3; i < argc; i++) {
		long seconds = number(argv[1], 1);
		long value = number(argv[i], 0);
		char text[TEXT_BYTES];

		snprintf(text, sizeof(text), "%ld", value);
		if (value <= HIGHEST && put(SWAPPINESS, text) != 0) {
			perror("swappiness_steps: " SWAPPINESS);
			return 1;
		}
		snprintf(text, sizeof(text), "%ldM swappiness=max", number(argv[2], 1));
		for (long times = 0; times < seconds * A_SECOND; times++) {
			if (value > HIGHEST)
				(void)put(RECLAIM, text);
			nanosleep(&quarter, NULL);
		}
	}
	return 0;
}
