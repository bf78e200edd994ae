// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Copies probes from standard input to standard output with places inside functions as numbers, taken from the running kernel's own
 * code (/proc/kcore, at the addresses of /proc/kallsyms):
 *
 *   FUNCTION+entry           behind the call of ftrace, where it has one: five bytes on, nine where it begins with endbr64
 *   FUNCTION+after:CALLEE:N  behind the N-th call of CALLEE in the function
 *   FUNCTION+before:CALLEE:N at that call
 *
 *   fit_probes [KALLSYMS KCORE]
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME_BYTES     128
#define LINE_BYTES     4096
#define FUNCTION_BYTES 16384
#define SEGMENTS       256
#define CALL           0xe8
#define CALL_BYTES     5u

static const unsigned char endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
/* endbr64 of functions that no code calls by pointer: the kernel overwrites it at boot, with a number in its fourth byte. */
static const unsigned char erased[] = { 0x0f, 0x1f, 0x40 };
static const unsigned char erased_in_6_12[] = { 0x66, 0x0f, 0x1f, 0x00 };
/* What stands where ftrace has no call. */
static const unsigned char no_call[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };

static const char *symbols_path = "/proc/kallsyms";
static const char *core_path = "/proc/kcore";

struct function {
	uint64_t start;
	size_t bytes;
	unsigned char code[FUNCTION_BYTES];
};

static void fail(const char *what, const char *name)
{
	fprintf(stderr, "fit_probes: %s: %s\n", what, name);
	exit(1);
}

/* The address of a function and that of the next symbol; kallsyms is sorted by no promise. */
static uint64_t address_of(const char *name, uint64_t *end)
{
	FILE *symbols = fopen(symbols_path, "r");
	char line[LINE_BYTES] = "";
	char symbol[NAME_BYTES] = "";
	uint64_t address = 0;
	uint64_t found = 0;

	if (symbols == NULL)
		fail("cannot read", symbols_path);
	while (fgets(line, sizeof(line), symbols) != NULL) {
		if (sscanf(line, "%" SCNx64 " %*c %127s", &address, symbol) == 2 &&
		    strcmp(symbol, name) == 0)
			found = address;
	}
	if (found == 0)
		fail("the kernel has no function", name);
	rewind(symbols);
	*end = found + FUNCTION_BYTES;
	while (fgets(line, sizeof(line), symbols) != NULL) {
		if (sscanf(line, "%" SCNx64, &address) == 1 && address > found && address < *end)
			*end = address;
	}
	fclose(symbols);
	return found;
}

static void read_code(struct function *function, const char *name)
{
	int core = open(core_path, O_RDONLY | O_CLOEXEC);
	Elf64_Ehdr header = { 0 };
	Elf64_Phdr segments[SEGMENTS] = { 0 };
	size_t bytes = 0;

	if (core < 0 || read(core, &header, sizeof(header)) != (ssize_t)sizeof(header) ||
	    header.e_phnum > SEGMENTS)
		fail("cannot read", core_path);
	bytes = header.e_phnum * sizeof(*segments);
	if (pread(core, segments, bytes, (off_t)header.e_phoff) != (ssize_t)bytes)
		fail("cannot read", core_path);
	for (int i = 0; i < header.e_phnum; i++) {
		const Elf64_Phdr *segment = &segments[i];
		uint64_t into = function->start - segment->p_vaddr;

		if (function->start < segment->p_vaddr || into >= segment->p_memsz)
			continue;
		if (pread(core, function->code, function->bytes,
			  (off_t)(segment->p_offset + into)) != (ssize_t)function->bytes)
			break;
		close(core);
		return;
	}
	fail("cannot read the code of", name);
}

static void load(struct function *function, const char *name)
{
	uint64_t end = 0;

	function->start = address_of(name, &end);
	function->bytes = (size_t)(end - function->start);
	read_code(function, name);
}

static unsigned entry_of(const struct function *function)
{
	const unsigned char *code = function->code;
	bool marked = memcmp(code, endbr, sizeof(endbr)) == 0 ||
		      memcmp(code, erased, sizeof(erased)) == 0 ||
		      memcmp(code, erased_in_6_12, sizeof(erased_in_6_12)) == 0;

	size_t at = marked ? sizeof(endbr) : 0;
	bool traced = code[at] == CALL || memcmp(code + at, no_call, sizeof(no_call)) == 0;

	return (unsigned)at + (traced ? CALL_BYTES : 0);
}

/* place: CALLEE:N. A call holds its target as a distance from its own end, which is returned. */
static unsigned end_of_call(const struct function *function, const char *place)
{
	char callee[NAME_BYTES] = "";
	unsigned wanted = 0;
	unsigned seen = 0;
	uint64_t end = 0;
	uint64_t target = 0;

	if (sscanf(place, "%127[^:]:%u", callee, &wanted) != 2 || wanted == 0)
		fail("not CALLEE:N", place);
	target = address_of(callee, &end);
	for (unsigned at = 0; at + CALL_BYTES <= function->bytes; at++) {
		int32_t distance = 0;

		memcpy(&distance, function->code + at + 1, sizeof(distance));
		if (function->code[at] == CALL &&
		    function->start + at + CALL_BYTES + (uint64_t)distance == target &&
		    ++seen == wanted)
			return at + CALL_BYTES;
	}
	fail("the function has no such call", place);
	return 0;
}

/* Where a word sets the probe, in bytes from the start of the function. */
static unsigned place_in(const struct function *function, char *place)
{
	if (strcmp(place, "entry") == 0)
		return entry_of(function);
	if (strncmp(place, "after:", strlen("after:")) == 0)
		return end_of_call(function, place + strlen("after:"));
	if (strncmp(place, "before:", strlen("before:")) == 0)
		return end_of_call(function, place + strlen("before:")) - CALL_BYTES;
	fail("no such place", place);
	return 0;
}

/* A probe is a name, FUNCTION+PLACE and its fields; a place in figures stays. */
static void fit(const char *line)
{
	static struct function function;
	char name[NAME_BYTES] = "";
	char called[NAME_BYTES] = "";
	char place[NAME_BYTES] = "";
	int fields = 0;

	if (sscanf(line, "%127s %127[^+ \n]+%127[a-z:_0-9A-Z]%n", called, name, place, &fields) !=
		    3 ||
	    (place[0] >= '0' && place[0] <= '9')) {
		fputs(line, stdout);
		return;
	}
	load(&function, name);
	printf("%s %s+%u%s", called, name, place_in(&function, place), line + fields);
}

int main(int argc, char **argv)
{
	char line[LINE_BYTES] = "";

	if (argc == 3) {
		symbols_path = argv[1];
		core_path = argv[2];
	}
	while (fgets(line, sizeof(line), stdin) != NULL)
		fit(line);
	return fflush(stdout) == 0 ? 0 : 1;
}
