/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ftrace/parts.h"

/*
 * One pass without a branch, so that the compiler can vectorize it. One comparison tests both ends
 * of the range: c - ' ' is 233 for a tab (9), 94 for '~', 95 for DEL (127) and 163 for 0xc3, which
 * starts a letter of UTF-8; values above 94 need a closer test.
 */
bool sws_ftrace__is_odd(const char *bytes, size_t length)
{
	unsigned char odd = 0;

	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)bytes[i];

		odd |= (unsigned char)(((unsigned char)(c - ' ') > '~' - ' ') & (c != '\n'));
	}
	return odd;
}

/*
 * Returns the length of the UTF-8 sequence at `at`, or 0 if there is no valid one. 0xc0 and 0xc1
 * start no sequence: c1 bf would be 0x7f, which is a single byte. In the same way e0 9f bf is
 * 0x7ff, of two bytes; ed a0 80 is U+D800, half of a UTF-16 pair; f4 90 80 80 is U+110000.
 */
static size_t utf8_length(const unsigned char *at, size_t left)
{
	unsigned char c = at[0];
	size_t length = c < 0x80   ? 1
			: c < 0xc2 ? 0
			: c < 0xe0 ? 2
			: c < 0xf0 ? 3
			: c < 0xf5 ? 4
				   : 0;

	if (length > left)
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates, and values above U+10FFFF. */
	if ((c == 0xe0 && at[1] < 0xa0) || (c == 0xed && at[1] > 0x9f) ||
	    (c == 0xf0 && at[1] < 0x90) || (c == 0xf4 && at[1] > 0x8f))
		return 0;
	return length;
}

int sws_ftrace__check_bytes(struct sws_ftrace *self, struct ftrace_span line)
{
	const unsigned char *at = (const unsigned char *)line.start;
	size_t left = line.length;
	size_t length = 0;

	for (size_t i = 0; i < left; i++)
		if ((at[i] < ' ' && at[i] != '\t') || at[i] == 0x7f)
			return sws_ftrace__trouble(self, SWS_FTRACE_BYTES, ftrace_nothing(), line);
	for (; left; at += length, left -= length) {
		length = utf8_length(at, left);
		if (!length)
			return sws_ftrace__trouble(self, SWS_FTRACE_UTF8, ftrace_nothing(), line);
	}
	return SWS_OK;
}
