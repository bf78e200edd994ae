// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Copies text from standard input to standard output, each {type.member} in it replaced by that member's
 * offset in bytes, taken from the running kernel's own type information (BTF). {type.member.member} goes on
 * inside the member; members of unnamed structures and unions are found as in C.
 *
 *   resolve_offsets < probes.with.names > probes.with.numbers
 */
#define _GNU_SOURCE
#include <linux/btf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BTF_PATH      "/sys/kernel/btf/vmlinux"
#define TYPES_AT_MOST 400000
#define NAME_BYTES    128
#define BITS_PER_BYTE 8

struct btf {
	char *image;
	const char *strings;
	uint32_t count;
	const struct btf_type **types; /* by id; 0 is void */
};

static void fail(const char *what, const char *name)
{
	fprintf(stderr, "resolve_offsets: %s: %s\n", what, name);
	exit(1);
}

static char *read_whole(const char *path, size_t *size)
{
	size_t room = 1u << 24;
	char *bytes = malloc(room);
	FILE *file = fopen(path, "rb");

	if (file == NULL || bytes == NULL)
		fail("cannot read", path);
	*size = fread(bytes, 1, room, file);
	if (*size < sizeof(struct btf_header) || *size == room)
		fail("unexpected size", path);
	fclose(file);
	return bytes;
}

/* Each kind is followed by its own number of bytes: the next type starts after them. */
static size_t tail_bytes(const struct btf_type *type)
{
	size_t entries = BTF_INFO_VLEN(type->info);

	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_INT:
		return sizeof(uint32_t);
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return entries * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return entries * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return entries * sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO:
		return entries * sizeof(struct btf_param);
	case BTF_KIND_VAR:
		return sizeof(struct btf_var);
	case BTF_KIND_DATASEC:
		return entries * sizeof(struct btf_var_secinfo);
	case BTF_KIND_DECL_TAG:
		return sizeof(struct btf_decl_tag);
	default:
		return 0;
	}
}

static void load(struct btf *btf)
{
	size_t size = 0;
	const struct btf_header *header = NULL;
	const char *at = NULL;
	const char *end = NULL;

	btf->image = read_whole(BTF_PATH, &size);
	header = (const struct btf_header *)(const void *)btf->image;
	if (header->magic != BTF_MAGIC || header->hdr_len + header->str_off >= size)
		fail("not type information", BTF_PATH);
	btf->strings = btf->image + header->hdr_len + header->str_off;
	btf->types = calloc(TYPES_AT_MOST, sizeof(*btf->types));
	if (btf->types == NULL)
		fail("no memory for", BTF_PATH);
	at = btf->image + header->hdr_len + header->type_off;
	end = at + header->type_len;
	for (btf->count = 1; at < end; btf->count++) {
		if (btf->count == TYPES_AT_MOST)
			fail("too many types in", BTF_PATH);
		btf->types[btf->count] = (const struct btf_type *)(const void *)at;
		at += sizeof(struct btf_type) + tail_bytes(btf->types[btf->count]);
	}
}

static bool is_composite(const struct btf_type *type)
{
	unsigned kind = BTF_INFO_KIND(type->info);

	return kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION;
}

static const struct btf_type *by_name(const struct btf *btf, const char *name)
{
	for (uint32_t id = 1; id < btf->count; id++) {
		const struct btf_type *type = btf->types[id];

		if (is_composite(type) && strcmp(btf->strings + type->name_off, name) == 0)
			return type;
	}
	fail("the kernel has no structure", name);
	return NULL;
}

/* Typedefs and qualifiers stand between a member and its structure. */
static const struct btf_type *underlying(const struct btf *btf, uint32_t id)
{
	for (;;) {
		const struct btf_type *type = btf->types[id];

		if (type == NULL)
			return NULL;
		switch (BTF_INFO_KIND(type->info)) {
		case BTF_KIND_TYPEDEF:
		case BTF_KIND_CONST:
		case BTF_KIND_VOLATILE:
		case BTF_KIND_TYPE_TAG:
			id = type->type;
			break;
		default:
			return type;
		}
	}
}

/* Adds the member's offset to bits and sets inner to its type; looks into unnamed members too. */
static bool find_member(const struct btf *btf, const struct btf_type *outer, const char *name,
			const struct btf_type **inner, uint32_t *bits)
{
	const struct btf_member *members = (const void *)(outer + 1);

	for (unsigned i = 0; i < BTF_INFO_VLEN(outer->info); i++) {
		const struct btf_type *type = underlying(btf, members[i].type);
		uint32_t offset = BTF_INFO_KFLAG(outer->info)
					  ? BTF_MEMBER_BIT_OFFSET(members[i].offset)
					  : members[i].offset;

		if (strcmp(btf->strings + members[i].name_off, name) == 0) {
			*inner = type;
			*bits += offset;
			return true;
		}
		if (*(btf->strings + members[i].name_off) == '\0' && type != NULL &&
		    is_composite(type) && find_member(btf, type, name, inner, bits)) {
			*bits += offset;
			return true;
		}
	}
	return false;
}

static uint32_t offset_of(const struct btf *btf, const char *path)
{
	char copy[NAME_BYTES];
	char *rest = NULL;
	const struct btf_type *type = NULL;
	uint32_t bits = 0;

	snprintf(copy, sizeof(copy), "%s", path);
	type = by_name(btf, strtok_r(copy, ".", &rest));
	for (char *name = strtok_r(NULL, ".", &rest); name != NULL;
	     name = strtok_r(NULL, ".", &rest)) {
		if (type == NULL || !is_composite(type) ||
		    !find_member(btf, type, name, &type, &bits))
			fail("the kernel has no member", path);
	}
	if (bits % BITS_PER_BYTE != 0)
		fail("a bit field has no offset in bytes", path);
	return bits / BITS_PER_BYTE;
}

int main(void)
{
	struct btf btf = { 0 };
	char name[NAME_BYTES];

	load(&btf);
	for (int c = getchar(); c != EOF; c = getchar()) {
		size_t length = 0;

		if (c != '{') {
			putchar(c);
			continue;
		}
		for (c = getchar(); c != '}' && c != EOF && length < sizeof(name) - 1;
		     c = getchar())
			name[length++] = (char)c;
		name[length] = '\0';
		if (c != '}')
			fail("no closing brace after", name);
		printf("%u", offset_of(&btf, name));
	}
	free(btf.types);
	free(btf.image);
	return fflush(stdout) == 0 ? 0 : 1;
}
