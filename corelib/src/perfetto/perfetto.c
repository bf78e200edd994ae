/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "swapsim/perfetto.h"

#include "perfetto/wire.h"

/* Numbers of fields, by perfetto's definition of its trace. */
enum {
	BUNDLE_EVENT = 2,
	EVENT_TIMESTAMP = 1,
	EVENT_PID = 2,
	EVENT_GENERIC = 327,
	GENERIC_NAME = 1,
	GENERIC_FIELD = 2,
	FIELD_NAME = 1,
	FIELD_STRING = 3,
	FIELD_SIGNED = 4,
	FIELD_UNSIGNED = 5,
};

/* A declared field. */
struct known_field {
	char *name;
	uint32_t number;
	bool is_signed;
};

/* A declared type of events. */
struct known_event {
	char *name;
	struct known_field *fields;
	size_t count;
	size_t room;
	uint32_t type;
};

struct sws_perfetto {
	struct sws_perfetto_config config;
	struct known_event *events;
	size_t count;
	size_t room;
	char *text;
	size_t text_length;
	size_t text_room;
	uint64_t others;
};

/* --- text --- */

/* The most bytes that a number takes. */
#define NUMBER 24

static int reserve(sws_perfetto *self, size_t more)
{
	if (self->text_room - self->text_length >= more)
		return SWS_OK;
	return sws_reserve(&self->config.allocator, &self->text, &self->text_room,
			   self->text_length + more, 1);
}

static void put(sws_perfetto *self, const void *bytes, size_t length)
{
	memcpy(self->text + self->text_length, bytes, length);
	self->text_length += length;
}

/* Writes at least `least` decimal digits. */
static void put_decimal(sws_perfetto *self, uint64_t value, size_t least)
{
	char digits[NUMBER];
	char *at = digits + sizeof(digits);

	while (value || (size_t)(digits + sizeof(digits) - at) < least) {
		*--at = (char)('0' + value % 10);
		value /= 10;
	}
	put(self, at, (size_t)(digits + sizeof(digits) - at));
}

static void put_hex(sws_perfetto *self, uint64_t value)
{
	unsigned int shift = 60;

	put(self, "0x", 2);
	while (shift && !(value >> shift))
		shift -= 4;
	for (;; shift -= 4) {
		self->text[self->text_length++] = "0123456789abcdef"[value >> shift & 15];
		if (!shift)
			return;
	}
}

static void put_signed(sws_perfetto *self, uint64_t bits)
{
	bool negative = bits >> 63;

	if (negative)
		put(self, "-", 1);
	put_decimal(self, negative ? 0 - bits : bits, 1);
}

/* A quote or a control byte would end the value or the line: it becomes '?'. */
static void put_string(sws_perfetto *self, const struct wire *bytes)
{
	put(self, "\"", 1);
	for (const unsigned char *at = bytes->at; at < bytes->end; at++)
		self->text[self->text_length++] =
			*at < ' ' || *at == '"' || *at == 0x7f ? '?' : (char)*at;
	put(self, "\"", 1);
}

/* --- one event --- */

static bool is_word(const void *name, size_t length)
{
	const unsigned char *at = name;

	for (size_t i = 0; i < length; i++)
		if ((unsigned)(at[i] - '0') > 9 && (unsigned)((at[i] | 0x20) - 'a') > 25 &&
		    at[i] != '_')
			return false;
	return length;
}

/* Writes " name=value"; a value of another kind than a number or a string is dropped. */
static int write_field(sws_perfetto *self, const void *name, size_t length,
		       const struct wire_field *value, bool is_signed)
{
	int error = SWS_OK;

	if (value->kind != WIRE_VARINT && value->kind != WIRE_BYTES)
		return SWS_OK;
	error = reserve(self, length + NUMBER +
				      (value->kind == WIRE_BYTES ? wire_length(&value->bytes) : 0));
	if (error)
		return error;
	put(self, " ", 1);
	put(self, name, length);
	put(self, "=", 1);
	if (value->kind == WIRE_BYTES)
		put_string(self, &value->bytes);
	else if (is_signed)
		put_signed(self, value->value);
	else
		put_hex(self, value->value);
	return SWS_OK;
}

/* Writes "<...>-pid [cpu] time: name:". */
static int write_head(sws_perfetto *self, uint64_t time, uint64_t pid, uint16_t cpu,
		      const void *name, size_t length)
{
	int error = reserve(self, length + 5 * NUMBER);

	if (error)
		return error;
	put(self, "<...>-", 6);
	put_decimal(self, pid, 1);
	put(self, " [", 2);
	put_decimal(self, cpu, 3);
	put(self, "] ", 2);
	if (self->config.whole_clock) {
		put_decimal(self, time, 1);
	} else {
		put_decimal(self, time / 1000000000, 1);
		put(self, ".", 1);
		put_decimal(self, time % 1000000000, 9);
	}
	put(self, ": ", 2);
	put(self, name, length);
	put(self, ":", 1);
	return SWS_OK;
}

static int end_line(sws_perfetto *self)
{
	int error = reserve(self, 1);

	if (!error)
		put(self, "\n", 1);
	return error;
}

/* A field of a generic event: { name=1, one of string=3 signed=4 unsigned=5 }. */
static int write_generic_field(sws_perfetto *self, struct wire message)
{
	struct wire name = wire_of("", 0);
	struct wire_field value = { .kind = WIRE_FIXED32 };
	struct wire_field field = { .number = 0 };

	while (wire_next(&message, &field)) {
		if (field.number == FIELD_NAME && field.kind == WIRE_BYTES)
			name = field.bytes;
		else if ((field.number == FIELD_STRING && field.kind == WIRE_BYTES) ||
			 ((field.number == FIELD_SIGNED || field.number == FIELD_UNSIGNED) &&
			  field.kind == WIRE_VARINT))
			value = field;
	}
	if (message.bad || !is_word(name.at, wire_length(&name)))
		return SWS_ERROR_BAD_ARGUMENT;
	if (wire_length(&name) > 8 && memcmp(name.at, "__probe_", 8) == 0)
		return SWS_OK;
	return write_field(self, name.at, wire_length(&name), &value, value.number == FIELD_SIGNED);
}

static int write_generic(sws_perfetto *self, struct wire message)
{
	struct wire_field field = { .number = 0 };
	int error = SWS_OK;

	while (!error && wire_next(&message, &field))
		if (field.number == GENERIC_FIELD && field.kind == WIRE_BYTES)
			error = write_generic_field(self, field.bytes);
	return message.bad ? SWS_ERROR_BAD_ARGUMENT : error;
}

static int generic_name(struct wire message, struct wire *name)
{
	struct wire_field field = { .number = 0 };

	*name = wire_of("", 0);
	while (wire_next(&message, &field)) {
		if (field.number == GENERIC_NAME && field.kind == WIRE_BYTES) {
			*name = field.bytes;
			break;
		}
	}
	return is_word(name->at, wire_length(name)) ? SWS_OK : SWS_ERROR_BAD_ARGUMENT;
}

static int write_known(sws_perfetto *self, const struct known_event *known, struct wire message)
{
	struct wire_field field = { .number = 0 };
	int error = SWS_OK;

	while (!error && wire_next(&message, &field)) {
		for (size_t i = 0; i < known->count; i++) {
			const struct known_field *of = &known->fields[i];

			if (of->number != field.number)
				continue;
			error = write_field(self, of->name, strlen(of->name), &field,
					    of->is_signed);
			break;
		}
	}
	return message.bad ? SWS_ERROR_BAD_ARGUMENT : error;
}

static const struct known_event *find_known(const sws_perfetto *self, uint32_t type)
{
	for (size_t i = 0; i < self->count; i++)
		if (self->events[i].type == type)
			return &self->events[i];
	return NULL;
}

static int write_event(sws_perfetto *self, struct wire message, uint16_t cpu)
{
	struct wire_field field = { .number = 0 };
	struct wire_field body = { .number = 0 };
	const struct known_event *known = NULL;
	struct wire name;
	uint64_t time = 0;
	uint64_t pid = 0;
	int error = SWS_OK;

	while (wire_next(&message, &field)) {
		if (field.kind == WIRE_BYTES)
			body = field;
		else if (field.number == EVENT_TIMESTAMP)
			time = field.value;
		else if (field.number == EVENT_PID)
			pid = field.value;
	}
	if (message.bad)
		return SWS_ERROR_BAD_ARGUMENT;
	known = find_known(self, body.number);
	if (body.number != EVENT_GENERIC && !known) {
		self->others++;
		return SWS_OK;
	}
	if (known)
		name = wire_of(known->name, strlen(known->name));
	else
		error = generic_name(body.bytes, &name);
	if (!error)
		error = write_head(self, time, pid, cpu, name.at, wire_length(&name));
	if (!error)
		error = known ? write_known(self, known, body.bytes)
			      : write_generic(self, body.bytes);
	return error ? error : end_line(self);
}

int sws_perfetto_read(sws_perfetto *self, const char *bundle, size_t length, uint16_t cpu)
{
	struct wire message = wire_of(bundle, length);
	struct wire_field field = { .number = 0 };
	size_t before = self->text_length;
	uint64_t others = self->others;
	int error = SWS_OK;

	while (!error && wire_next(&message, &field))
		if (field.number == BUNDLE_EVENT && field.kind == WIRE_BYTES)
			error = write_event(self, field.bytes, cpu);
	if (message.bad)
		error = SWS_ERROR_BAD_ARGUMENT;
	if (error) {
		self->text_length = before;
		self->others = others;
	}
	return error;
}

/* --- declarations --- */

static char *copy_of(sws_perfetto *self, const char *name)
{
	size_t length = strlen(name) + 1;
	char *copy = sws_allocate(&self->config.allocator, length);

	return copy ? memcpy(copy, name, length) : NULL;
}

static void drop_fields(sws_perfetto *self, struct known_event *event)
{
	while (event->count)
		sws_release(&self->config.allocator, event->fields[--event->count].name);
}

static void drop_event(sws_perfetto *self, struct known_event *event)
{
	drop_fields(self, event);
	sws_release(&self->config.allocator, event->fields);
	sws_release(&self->config.allocator, event->name);
}

int sws_perfetto_know(sws_perfetto *self, uint32_t type, const char *name)
{
	struct known_event event = { .type = type };
	const struct known_event *known = NULL;
	int error = SWS_OK;

	if (!is_word(name, strlen(name)))
		return SWS_ERROR_BAD_ARGUMENT;
	error = sws_reserve(&self->config.allocator, &self->events, &self->room, self->count + 1,
			    sizeof(*self->events));
	if (error)
		return error;
	event.name = copy_of(self, name);
	if (!event.name)
		return SWS_ERROR_NO_MEMORY;
	/* The declared type is the last one, to which fields are added. */
	known = find_known(self, type);
	if (known) {
		size_t at = (size_t)(known - self->events);

		drop_event(self, &self->events[at]);
		self->events[at] = self->events[--self->count];
	}
	self->events[self->count++] = event;
	return SWS_OK;
}

int sws_perfetto_know_field(sws_perfetto *self, uint32_t number, const char *name, bool is_signed)
{
	struct known_field field = { .number = number, .is_signed = is_signed };
	struct known_event *event = NULL;
	int error = SWS_OK;

	if (!self->count || !is_word(name, strlen(name)))
		return SWS_ERROR_BAD_ARGUMENT;
	event = &self->events[self->count - 1];
	error = sws_reserve(&self->config.allocator, &event->fields, &event->room, event->count + 1,
			    sizeof(*event->fields));
	if (error)
		return error;
	field.name = copy_of(self, name);
	if (!field.name)
		return SWS_ERROR_NO_MEMORY;
	event->fields[event->count++] = field;
	return SWS_OK;
}

/* --- creation and end of a reader --- */

void sws_perfetto_config_init(struct sws_perfetto_config *config)
{
	*config = (struct sws_perfetto_config){ .allocator = sws_libc_allocator };
}

int sws_perfetto_new(const struct sws_perfetto_config *config, sws_perfetto **out)
{
	*out = NULL;
	if (!config->allocator.resize)
		return SWS_ERROR_BAD_CONFIG;
	*out = sws_allocate_zeroed(&config->allocator, 1, sizeof(**out));
	if (!*out)
		return SWS_ERROR_NO_MEMORY;
	(*out)->config = *config;
	return SWS_OK;
}

void sws_perfetto_free(sws_perfetto *self)
{
	struct sws_allocator allocator;

	if (!self)
		return;
	allocator = self->config.allocator;
	for (size_t i = 0; i < self->count; i++)
		drop_event(self, &self->events[i]);
	sws_release(&allocator, self->events);
	sws_release(&allocator, self->text);
	sws_release(&allocator, self);
}

const char *sws_perfetto_text(const sws_perfetto *self, size_t *length)
{
	*length = self->text_length;
	return self->text;
}

void sws_perfetto_clear(sws_perfetto *self)
{
	self->text_length = 0;
}

uint64_t sws_perfetto_others(const sws_perfetto *self)
{
	return self->others;
}
