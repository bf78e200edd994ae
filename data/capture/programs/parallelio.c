// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The parallelio test of mmtests, small: a server of values fills four fifths of the memory that is available, and while it
 * answers a file is written beside it, in turns of other sizes.
 *
 *   parallelio FILE SECONDS SIZES...
 *
 * A size is a multiple of the fifth that the server leaves: 0 0.5 1.67 2.84 are the mail's 0, 715, 2385 and 4055 MB.
 *
 *      fill the pool, answer once a value | begin: answer at random for SECONDS            | end
 *                                         |        write FILE, 1 MiB at a time, fdatasync ......... remove it
 *
 * A value is 16 KiB. A third of the requests set one anew, the others get one and hold it against what was set; between two
 * requests the server sleeps, as one that waits for its client. It goes on, uncounted, while the file outlasts the turn. Its
 * dice are those of the environment's "round".
 *
 * One line a turn: size, bytes, microseconds of the file; gets, sets, microseconds of the server.
 */
#include "program.h"

#include <signal.h>
#include <sys/prctl.h>

#define VALUE_BYTES  16384
#define LINE_BYTES   64
#define WORDS_A_LINE (LINE_BYTES / sizeof(uint64_t))
#define LINES        (VALUE_BYTES / LINE_BYTES)
#define BLOCK_BYTES  (1 << 20)
#define PAUSE_NS     400000

struct answers {
	uint64_t gets;
	uint64_t sets;
	uint64_t usecs;
};

struct server {
	uint64_t *pool;
	uint64_t *stamps; /* of each value: what it was set to last */
	long values;
	uint64_t dice;
	struct answers answers;
};

static double fraction(const char *text)
{
	char *end = NULL;
	double value = strtod(text, &end);

	if (end == text || *end != '\0' || !(value >= 0)) {
		fprintf(stderr, "parallelio: '%s' is not a number of at least 0\n", text);
		exit(2);
	}
	return value;
}

static long available_bytes(void)
{
	char line[128];
	long kibibytes = 0;
	FILE *told = fopen("/proc/meminfo", "re");

	while (told && fgets(line, sizeof(line), told)) {
		if (sscanf(line, "MemAvailable: %ld kB", &kibibytes) == 1)
			break;
	}
	if (told)
		fclose(told);
	return kibibytes * 1024;
}

static uint64_t roll(struct server *server)
{
	server->dice ^= server->dice << 13;
	server->dice ^= server->dice >> 7;
	server->dice ^= server->dice << 17;
	return server->dice;
}

static void set(struct server *server, long value)
{
	uint64_t *words = server->pool + value * (VALUE_BYTES / 8);
	uint64_t stamp = roll(server);

	server->stamps[value] = stamp;
	for (uint64_t line = 0; line < LINES; line++)
		words[line * WORDS_A_LINE] = stamp + line;
}

static void get(const struct server *server, long value)
{
	const uint64_t *words = server->pool + value * (VALUE_BYTES / 8);

	for (uint64_t line = 0; line < LINES; line++) {
		if (words[line * WORDS_A_LINE] != server->stamps[value] + line) {
			fprintf(stderr, "parallelio: value %ld is not what was set\n", value);
			_exit(1);
		}
	}
}

static void answer(struct server *server)
{
	long value = (long)(roll(server) % (uint64_t)server->values);

	if (roll(server) % 3 == 0) {
		set(server, value);
		server->answers.sets++;
	} else {
		get(server, value);
		server->answers.gets++;
	}
}

static int open_server(struct server *server, long pool_bytes)
{
	const char *round = getenv("round");

	server->values = pool_bytes / VALUE_BYTES;
	server->dice = 0x9e3779b97f4a7c15u * (round ? strtoull(round, NULL, 10) + 1 : 1);
	server->pool = map_memory((size_t)server->values * VALUE_BYTES);
	server->stamps = calloc((size_t)server->values, sizeof(*server->stamps));
	if (server->pool == MAP_FAILED || !server->stamps)
		return failed_at("memory");
	return 0;
}

/* Warm, say so, wait for the start, answer for so long, tell the numbers; then answer until killed. */
static int serve(long pool_bytes, uint64_t window_us, int start, int told)
{
	struct server server = { 0 };
	const struct timespec pause = { .tv_sec = 0, .tv_nsec = PAUSE_NS };
	uint64_t started_us = 0;
	char byte = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_TIMERSLACK, 1);
	if (open_server(&server, pool_bytes))
		return 1;
	for (long value = 0; value < server.values; value++)
		set(&server, value);
	for (long i = 0; i < server.values; i++)
		answer(&server);
	if (write(told, &byte, 1) != 1 || read(start, &byte, 1) != 1)
		return 1;
	server.answers = (struct answers){ 0 };
	started_us = now_us();
	while (server.answers.usecs < window_us) {
		answer(&server);
		nanosleep(&pause, NULL);
		server.answers.usecs = now_us() - started_us;
	}
	if (write(told, &server.answers, sizeof(server.answers)) != sizeof(server.answers))
		return 1;
	for (;;) {
		answer(&server);
		nanosleep(&pause, NULL);
	}
}

/* As dd with conv=fdatasync. */
static int write_file(const char *name, long bytes)
{
	static char block[BLOCK_BYTES];
	int failed = 0;
	int file = open(name, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);

	if (file < 0)
		return failed_at("open");
	while (bytes > 0 && !failed) {
		size_t length = bytes < BLOCK_BYTES ? (size_t)bytes : BLOCK_BYTES;

		failed = write(file, block, length) != (ssize_t)length;
		bytes -= (long)length;
	}
	if (failed || fdatasync(file) != 0)
		failed = failed_at("write");
	close(file);
	return failed;
}

static int time_writer(const char *name, long bytes, int told)
{
	uint64_t started_us = now_us();
	uint64_t usecs = 0;

	if (write_file(name, bytes))
		return 1;
	usecs = now_us() - started_us;
	return write(told, &usecs, sizeof(usecs)) != sizeof(usecs);
}

static int take_turn(const char *name, uint64_t window_us, long pool_bytes, const char *size,
		     long file_bytes)
{
	int failed = 1;
	int start[2] = { -1, -1 };
	int served[2] = { -1, -1 };
	int written[2] = { -1, -1 };
	pid_t server = -1;
	pid_t writer = -1;
	char byte = 0;
	uint64_t file_us = 0;
	struct answers answers = { 0 };

	if (pipe2(start, O_CLOEXEC) || pipe2(served, O_CLOEXEC) || pipe2(written, O_CLOEXEC))
		return failed_at("pipe");
	server = fork();
	if (server == 0)
		_exit(serve(pool_bytes, window_us, start[0], served[1]));
	close(served[1]);
	if (server < 0 || read(served[0], &byte, 1) != 1)
		goto out;
	mark("begin %s", size);
	if (write(start[1], &byte, 1) != 1)
		goto out;
	if (file_bytes > 0) {
		writer = fork();
		if (writer == 0)
			_exit(time_writer(name, file_bytes, written[1]));
	}
	close(written[1]);
	if (read(served[0], &answers, sizeof(answers)) != sizeof(answers))
		goto out;
	mark("end %s", size);
	if (file_bytes > 0 && read(written[0], &file_us, sizeof(file_us)) != sizeof(file_us))
		goto out;
	printf("%s of the rest: %ld bytes in %llu usecs, %llu gets and %llu sets in %llu usecs\n",
	       size, file_bytes, (unsigned long long)file_us, (unsigned long long)answers.gets,
	       (unsigned long long)answers.sets, (unsigned long long)answers.usecs);
	fflush(stdout);
	failed = 0;
out:
	if (failed)
		fprintf(stderr, "parallelio: the turn of size %s failed\n", size);
	if (server > 0)
		kill(server, SIGKILL);
	while (wait(NULL) > 0) {
	}
	close(start[0]);
	close(start[1]);
	close(served[0]);
	close(written[0]);
	unlink(name);
	return failed;
}

int main(int argc, char **argv)
{
	int failed = 0;
	uint64_t window_us = 0;
	long available = available_bytes();
	long pool_bytes = available / 5 * 4;
	long rest_bytes = available - pool_bytes;

	if (argc < 4)
		return usage("FILE SECONDS SIZES...");
	window_us = (uint64_t)(fraction(argv[2]) * 1e6);
	for (int i = 3; i < argc; i++)
		fraction(argv[i]);
	printf("pool of %ld bytes, %ld bytes beside it\n", pool_bytes, rest_bytes);
	for (int i = 3; i < argc && !failed; i++) {
		long pages = (long)(fraction(argv[i]) * (double)rest_bytes) / PAGE_BYTES;

		failed = take_turn(argv[1], window_us, pool_bytes, argv[i], pages * PAGE_BYTES);
	}
	return failed;
}
