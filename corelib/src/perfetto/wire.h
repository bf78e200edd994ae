/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfetto/wire.h - the fields of an encoded protobuf message, one by one.
 *
 *      08 96 01           field 1, varint: 0x16 + (0x01 << 7) = 150
 *      12 03 66 6f 6f     field 2, length 3: foo
 *
 * A key is number << 3 | kind.
 */
#ifndef SWAPSIM_PERFETTO_WIRE_H
#define SWAPSIM_PERFETTO_WIRE_H

#include "swapsim/core.h"

#include <string.h>

enum wire_kind {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_BYTES = 2,
	WIRE_FIXED32 = 5,
};

/* The rest of a message. */
struct wire {
	const unsigned char *at;
	const unsigned char *end;
	/* True after bytes that are no message. */
	bool bad;
};

/* One field: its number, its kind, and the value of a number or the bytes of WIRE_BYTES. */
struct wire_field {
	uint64_t value;
	struct wire bytes;
	uint32_t number;
	/* enum wire_kind */
	uint32_t kind;
};

static inline struct wire wire_of(const void *bytes, size_t length)
{
	const unsigned char *at = bytes;

	return (struct wire){ at, at + length, false };
}

static inline size_t wire_length(const struct wire *bytes)
{
	return (size_t)(bytes->end - bytes->at);
}

static inline uint64_t wire_varint(struct wire *self)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64 && self->at < self->end; shift += 7) {
		uint64_t byte = *self->at++;

		value |= (byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	self->bad = true;
	return 0;
}

/* Takes so many bytes; none, and bad, if there are fewer. */
static inline struct wire wire_take(struct wire *self, uint64_t length)
{
	struct wire taken = { self->at, self->at, false };

	if (length > wire_length(self)) {
		self->bad = true;
		return taken;
	}
	self->at += length;
	taken.end = self->at;
	return taken;
}

/* Reads the next field; returns false at the end, and for bytes that are no field. */
static inline bool wire_next(struct wire *self, struct wire_field *field)
{
	uint64_t key = 0;

	if (self->at == self->end || self->bad)
		return false;
	key = wire_varint(self);
	field->number = (uint32_t)(key >> 3);
	field->kind = key & 7;
	if (key > UINT32_MAX || !field->number)
		self->bad = true;
	switch (field->kind) {
	case WIRE_VARINT:
		field->value = wire_varint(self);
		break;
	case WIRE_BYTES:
		field->bytes = wire_take(self, wire_varint(self));
		break;
	case WIRE_FIXED64:
		(void)wire_take(self, 8);
		break;
	case WIRE_FIXED32:
		(void)wire_take(self, 4);
		break;
	default:
		self->bad = true;
	}
	return !self->bad;
}

#endif
