/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ftrace/parts.h"
#include "ftrace/value.h"

/*
 * The slow and complete parser for the text of a line: it separates key=value words from others.
 * ftrace/layout.c makes the same decisions faster, and gives up if it is not sure.
 *
 *      (f+0x0/0x2) folio=0x1f name="a b" nid=0 a=b=c 9x=1
 *
 *      words     (f+0x0/0x2) 9x=1         a key starts with a letter or _
 *      fields    folio: 0x1f   name: a b   nid: 0   a: b=c
 *                the row is not learned: a value in quotes does not end at the next space
 */

static bool is_key(struct ftrace_span key)
{
	for (size_t i = 0; i < key.length; i++) {
		char c = key.start[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';

		if (!letter && (i == 0 || !ftrace_is_digit(c)))
			return false;
	}
	return key.length > 0;
}

static int add_field(struct sws_ftrace *self, struct ftrace_field field)
{
	struct ftrace_scan *scan = &self->scan;
	int error = SWS_OK;

	if (scan->count == self->config.max_fields)
		return sws_ftrace__trouble(self, SWS_FTRACE_CROWDED, field.key, field.value);
	error = sws_reserve(&self->config.allocator, &scan->fields, &scan->room, scan->count + 1,
			    sizeof(*scan->fields));
	if (!error)
		scan->fields[scan->count++] = field;
	return error;
}

static int add_word(struct sws_ftrace *self, struct ftrace_span word)
{
	struct ftrace_scan *scan = &self->scan;
	int error = sws_reserve(&self->config.allocator, &scan->words, &scan->words_room,
				scan->words_length + word.length + 1, 1);

	if (error)
		return error;
	if (scan->has_words)
		scan->words[scan->words_length++] = ' ';
	memcpy(scan->words + scan->words_length, word.start, word.length);
	scan->words_length += word.length;
	scan->has_words = true;
	return SWS_OK;
}

/* Returns the closing quote of a value, as kprobes print strings; NULL if there is none. */
static const char *closing_quote(const char *value, const char *end)
{
	if (value == end || *value != '"')
		return NULL;
	for (const char *at = value + 1; at < end; at++)
		if (*at == '"' && (at + 1 == end || at[1] == ' '))
			return at;
	return NULL;
}

/* Reads the word at `at`; *behind is the byte after it. */
static int read_word(struct sws_ftrace *self, const char *at, const char *end, const char **behind)
{
	const char *stop = memchr(at, ' ', (size_t)(end - at));
	const char *equals = NULL;
	struct ftrace_field field = { .ends = FTRACE_ENDS_AT_SPACE };
	const char *quote = NULL;

	*behind = stop ? stop : end;
	equals = memchr(at, '=', (size_t)(*behind - at));
	if (!equals || !is_key(ftrace_between(at, equals)))
		return add_word(self, ftrace_between(at, *behind));
	field.key = ftrace_between(at, equals);
	field.begin = equals + 1;
	quote = closing_quote(field.begin, end);
	if (quote) {
		*behind = quote + 1;
		self->scan.learnable = false;
		field.value = ftrace_between(field.begin + 1, quote);
	} else {
		field.value = ftrace_between(field.begin, *behind);
	}
	field.end = *behind;
	return add_field(self, field);
}

static int scan_words(struct sws_ftrace *self, const char *at, const char *end)
{
	int error = SWS_OK;

	while (!error && at < end) {
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a line is never NULL */
		if (*at == ' ')
			at++;
		else
			error = read_word(self, at, end, &at);
	}
	return error;
}

static struct ftrace_span trimmed(const char *start, const char *end)
{
	while (start < end && *start == ' ')
		start++;
	while (start < end && end[-1] == ' ')
		end--;
	return ftrace_between(start, end);
}

static const char *find(const char *at, const char *end, struct ftrace_span literal)
{
	for (; (size_t)(end - at) >= literal.length; at++) {
		at = memchr(at, literal.start[0], (size_t)(end - at) - literal.length + 1);
		if (!at)
			return NULL;
		if (ftrace_same(at, literal.start, literal.length))
			return at;
	}
	return NULL;
}

static bool starts_with(const char *at, const char *end, struct ftrace_span literal)
{
	return (size_t)(end - at) >= literal.length &&
	       ftrace_same(at, literal.start, literal.length);
}

static struct ftrace_span next_literal(const struct ftrace_known_text *text, size_t i)
{
	return i + 1 < text->count ? text->pieces[i + 1].literal : text->tail;
}

/* Returns the end of piece i's value, which begins at `at`; NULL if the text does not match. */
static const char *piece_end(const struct ftrace_known_text *text, size_t i, const char *at,
			     const char *end)
{
	const char *space = NULL;

	switch (text->pieces[i].ends) {
	case FTRACE_ENDS_AT_LITERAL:
		return find(at, end, next_literal(text, i));
	case FTRACE_ENDS_AT_SPACE:
		/* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): nor is a part of it */
		space = memchr(at, ' ', (size_t)(end - at));
		return space ? space : end;
	case FTRACE_ENDS_AT_LINE:
		break;
	}
	return end;
}

/*
 * Reads the line by one declared format; *behind is the rest of the line, or NULL for no match.
 *
 *      {shrinker} {objects}: nid: {nid} {}
 *
 *      do_scan+0x0/0x1a0 ffff888100a3b000: nid: 0 freed=12
 *      -----------------                                     shrinker, to the first " "
 *                        ----------------                    objects, to ": nid: "
 *                                               -            nid, to " ", the tail
 *                                                 --------   behind: read word by word
 *
 * "... nid: 0" alone does not match, because the tail's space is missing: formats match completely.
 */
static int scan_known(struct sws_ftrace *self, const struct ftrace_known_text *text, const char *at,
		      const char *end, const char **behind)
{
	int error = SWS_OK;

	*behind = NULL;
	self->scan.count = 0;
	for (size_t i = 0; i < text->count; i++) {
		const struct ftrace_piece *piece = &text->pieces[i];
		struct ftrace_field field = { .key = piece->name, .ends = piece->ends };

		if (!starts_with(at, end, piece->literal))
			return SWS_OK;
		field.begin = at + piece->literal.length;
		field.end = piece_end(text, i, field.begin, end);
		field.stop_length = next_literal(text, i).length;
		if (!field.end)
			return SWS_OK;
		field.value = piece->ends == FTRACE_ENDS_AT_LINE
				      ? trimmed(field.begin, field.end)
				      : ftrace_between(field.begin, field.end);
		error = add_field(self, field);
		if (error)
			return error;
		at = field.end;
	}
	if (!starts_with(at, end, text->tail))
		return SWS_OK;
	at += text->tail.length;
	if (text->rest || at == end)
		*behind = at;
	return SWS_OK;
}

int sws_ftrace__scan(struct sws_ftrace *self, const struct ftrace_event *event, const char *text,
		     const char *end)
{
	const char *behind = NULL;
	int error = SWS_OK;

	self->scan.words_length = 0;
	self->scan.has_words = false;
	self->scan.learnable = true;
	for (size_t i = 0; i < event->texts_count && !behind; i++) {
		error = scan_known(self, &event->texts[i], text, end, &behind);
		if (error)
			return error;
		/*
		 * Another row of this shape may match the first format; only the first one is
		 * unambiguous.
		 */
		self->scan.learnable = i == 0 && behind;
	}
	if (!behind) {
		self->scan.count = 0;
		behind = text;
	}
	return scan_words(self, behind, end);
}

void sws_ftrace__scan_free(struct sws_ftrace *self)
{
	sws_release(&self->config.allocator, self->scan.fields);
	sws_release(&self->config.allocator, self->scan.words);
}
