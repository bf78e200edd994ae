/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfetto.h - writes the ftrace events of a perfetto trace as the text that ftrace.h reads.
 *
 * A perfetto trace is a protobuf message. Its packets, process names and counters are few, and the
 * caller reads them by the protobuf library. Events are many: the library makes an object of each
 * event and of each of its fields, which takes 15 times as long as the text of the same events.
 * So the bundles, one per CPU and read of its ring buffer, are read here:
 *
 *      bundle { event { timestamp=1 pid=2  46 { order=1 gfp_flags=3 } } }               declared
 *      bundle { event { timestamp=1 pid=2 327 { name=1 field=2 { name=1 uint=5 } } } }  generic
 *
 *      <...>-162 [001] 12.345678901: swp_add: folio=0xffffea0004000000 entry=0x4000
 *
 * A number that is declared or stored as unsigned is printed as 0x..., a signed one in decimal. A
 * string is printed in quotes. The task's name is not in an event: it is <...>, as in ftrace.
 *
 * Kept: every event whose type is declared, and every generic one. Counted and dropped: events of
 * other types. Dropped: the address of a kprobe (fields __probe_...).
 *
 * Locks: none. An object belongs to one thread at a time.
 */
#ifndef SWAPSIM_PERFETTO_H
#define SWAPSIM_PERFETTO_H

#include "swapsim/core.h"

/* ffi: begin */

/* The configuration of a reader. */
struct sws_perfetto_config {
	/* The allocator of the reader's memory; default that of libc. */
	struct sws_allocator allocator;
	/* True if the clock is no time in ns, so that it is printed without a point; default false. */
	bool whole_clock;
};

/* A reader; only the functions below read it. */
typedef struct sws_perfetto sws_perfetto;

/* Writes every default; it cannot fail. Complexity: O(1). */
void sws_perfetto_config_init(struct sws_perfetto_config *config);

/*
 * Creates a reader. The caller owns *out and frees it by sws_perfetto_free. Complexity: O(1).
 * Returns SWS_OK, SWS_ERROR_BAD_CONFIG without an allocator, or SWS_ERROR_NO_MEMORY.
 */
int sws_perfetto_new(const struct sws_perfetto_config *config, sws_perfetto **out);

/* Frees a reader and its text; accepts NULL. */
void sws_perfetto_free(sws_perfetto *self);

/*
 * Declares the type of an event: the number of its message in an event, and its name, which is
 * copied. A type that is declared again loses its fields. Complexity: O(types). Returns SWS_OK,
 * SWS_ERROR_BAD_ARGUMENT for a name that is no word of letters, digits and underscores, or
 * SWS_ERROR_NO_MEMORY.
 */
int sws_perfetto_know(sws_perfetto *self, uint32_t type, const char *name);

/*
 * Declares a field of the type that was declared last; other fields of it are dropped. Complexity:
 * O(1). Returns the codes of sws_perfetto_know, and SWS_ERROR_BAD_ARGUMENT if there is no type.
 */
int sws_perfetto_know_field(sws_perfetto *self, uint32_t number, const char *name, bool is_signed);

/*
 * Appends the events of a bundle of this CPU to the text. Complexity: O(length). Returns SWS_OK,
 * SWS_ERROR_BAD_ARGUMENT for bytes that are no bundle, or SWS_ERROR_NO_MEMORY; after a failure the
 * text is as before.
 */
int sws_perfetto_read(sws_perfetto *self, const char *bundle, size_t length, uint16_t cpu);

/* Returns the text since the last clear, of complete lines; the reader owns its memory. */
const char *sws_perfetto_text(const sws_perfetto *self, size_t *length);

/* Drops the text; declarations remain. */
void sws_perfetto_clear(sws_perfetto *self);

/* Returns the number of events of types that were not declared. */
uint64_t sws_perfetto_others(const sws_perfetto *self);

/* ffi: end */

#endif
