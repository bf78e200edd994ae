/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ftrace/parts.h"
#include "ftrace/value.h"

/*
 * "{shrinker} {objects}: nid: {nid} {}" is split into
 *
 *      literal ""          name shrinker   ends at literal " "
 *      literal " "         name objects    ends at literal ": nid: "
 *      literal ": nid: "   name nid        ends at literal " ", which is the tail
 *      rest                                key=value words follow
 *
 * A value ends where the next literal begins, so a literal after a value must not start with a
 * character that can continue a number.
 */

/* Returns true if a literal after a value cannot be taken for a part of it. */
static bool is_border(struct ftrace_span literal)
{
	return literal.length && ftrace_nibble(literal.start[0]) > 15;
}

/* Splits text->bytes into pieces; BAD_ARGUMENT if it violates the rules of know_text. */
static int cut(const struct ftrace_event *event, struct ftrace_known_text *text)
{
	const char *at = text->bytes;
	const char *end = at + strlen(at);
	const char *open = NULL;

	while ((open = memchr(at, '{', (size_t)(end - at)))) {
		const char *close = memchr(open, '}', (size_t)(end - open));
		struct ftrace_piece *piece = &text->pieces[text->count];

		if (!close || text->rest)
			return SWS_ERROR_BAD_ARGUMENT;
		if (close == open + 1) {
			text->rest = true;
			text->tail = ftrace_between(at, open);
			at = close + 1;
			continue;
		}
		piece->literal = ftrace_between(at, open);
		piece->name = ftrace_between(open + 1, close);
		if (sws_ftrace__known_type(event, piece->name) < 0 ||
		    (text->count && !is_border(piece->literal)))
			return SWS_ERROR_BAD_ARGUMENT;
		text->count++;
		at = close + 1;
	}
	if (!text->rest)
		text->tail = ftrace_between(at, end);
	return text->rest && at < end ? SWS_ERROR_BAD_ARGUMENT : SWS_OK;
}

static int settle_ends(struct ftrace_known_text *text)
{
	for (size_t i = 0; i + 1 < text->count; i++)
		text->pieces[i].ends = FTRACE_ENDS_AT_LITERAL;
	if (!text->count)
		return SWS_ERROR_BAD_ARGUMENT;
	if (text->tail.length && !is_border(text->tail))
		return SWS_ERROR_BAD_ARGUMENT;
	text->pieces[text->count - 1].ends = text->tail.length ? FTRACE_ENDS_AT_LITERAL
					     : text->rest      ? FTRACE_ENDS_AT_SPACE
							       : FTRACE_ENDS_AT_LINE;
	return SWS_OK;
}

int sws_ftrace_know_text(sws_ftrace *self, const char *event_name, const char *text)
{
	const struct sws_allocator *allocator = &self->config.allocator;
	struct ftrace_known_text fresh = { .bytes = NULL };
	struct ftrace_event *event = NULL;
	size_t length = strlen(text);
	size_t room = 0;
	int error = SWS_OK;

	error = sws_ftrace__event_find(self, (struct ftrace_span){ event_name, strlen(event_name) },
				       true, &event);
	if (error)
		goto out;
	error = SWS_ERROR_NO_MEMORY;
	fresh.bytes = sws_allocate(allocator, length + 1);
	fresh.pieces = sws_allocate_zeroed(allocator, length + 1, sizeof(*fresh.pieces));
	if (!fresh.bytes || !fresh.pieces)
		goto out;
	memcpy(fresh.bytes, text, length + 1);
	fresh.tail = ftrace_nothing();
	error = cut(event, &fresh);
	if (!error)
		error = settle_ends(&fresh);
	room = event->texts_count;
	if (!error)
		error = sws_reserve(allocator, &event->texts, &room, event->texts_count + 1,
				    sizeof(*event->texts));
	if (error)
		goto out;
	event->texts[event->texts_count++] = fresh;
	fresh.bytes = NULL;
	fresh.pieces = NULL;
out:
	sws_release(allocator, fresh.bytes);
	sws_release(allocator, fresh.pieces);
	return error;
}
