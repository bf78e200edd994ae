/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ftrace/value.h - conversion of a value's text to a number; inline, for the inner loop of a row.
 *
 * The _prefix functions read digits up to another character and return NULL for anything unusual;
 * the functions on spans decide about a complete value.
 */
#ifndef SWAPSIM_FTRACE_VALUE_H
#define SWAPSIM_FTRACE_VALUE_H

#include "swapsim/ftrace.h"

#include "ftrace/span.h"

enum ftrace_verdict {
	FTRACE_FITS,
	/* It is not of this type. */
	FTRACE_MISFIT,
	/* It is of this type, but too large. */
	FTRACE_OUT_OF_RANGE,
};

/* The evidence of a first row for the type of its column, as bits. */
enum ftrace_evidence {
	FTRACE_SAYS_DECIMAL = 1,
	FTRACE_SAYS_POINTER = 2,
	/* 0, or 16 digits that may be a pointer. */
	FTRACE_SAYS_EITHER = 4,
	FTRACE_SAYS_OTHER = 8,
};

static inline bool ftrace_is_digit(char c)
{
	return (unsigned int)(c - '0') < 10;
}

/* Returns the value of a hexadecimal digit, or 16 and above. */
static inline unsigned int ftrace_nibble(char c)
{
	unsigned int digit = (unsigned int)(unsigned char)c - '0';
	unsigned int letter = ((unsigned int)(unsigned char)c | 0x20) - 'a';

	if (digit < 10)
		return digit;
	return letter < 6 ? letter + 10 : 16;
}

/*
 * The prefix functions are loops on purpose: the processor predicts where digits end and continues,
 * while arithmetic that computes the end would delay it.
 */

/* Reads 1 to 18 decimal digits; returns the byte after them, or NULL. */
static inline const char *ftrace_digits_prefix(const char *at, const char *end, uint64_t *value)
{
	const char *first = at;
	uint64_t sum = 0;

	for (; at < end && ftrace_is_digit(*at); at++)
		sum = sum * 10 + (uint64_t)(*at - '0');
	*value = sum;
	return at > first && at - first <= 18 ? at : NULL;
}

/* Reads 1 to 18 decimal digits, '-' allowed; returns the byte after them, or NULL. */
static inline const char *ftrace_decimal_prefix(const char *at, const char *end, int64_t *value)
{
	bool negative = at < end && *at == '-';
	uint64_t sum = 0;

	at = ftrace_digits_prefix(at + negative, end, &sum);
	if (at)
		*value = negative ? -(int64_t)sum : (int64_t)sum;
	return at;
}

#define FTRACE_ONES UINT64_C(0x0101010101010101)

/* Returns eight bytes as a number in little-endian order. */
static inline uint64_t ftrace_load8(const char *at)
{
	const unsigned char *byte = (const unsigned char *)at;

	return (uint64_t)byte[0] | (uint64_t)byte[1] << 8 | (uint64_t)byte[2] << 16 |
	       (uint64_t)byte[3] << 24 | (uint64_t)byte[4] << 32 | (uint64_t)byte[5] << 40 |
	       (uint64_t)byte[6] << 48 | (uint64_t)byte[7] << 56;
}

/*
 * Converts eight lower-case hexadecimal digits at once, as the kernel prints them; returns false
 * for any other byte. 0x30 to 0x39 are digits, 0x61 to 0x66 letters; bit 6 distinguishes them.
 *
 *      byte        letter   low   high as required     low + 6 + 3 if letter     digit
 *      '7'  0x37        0     7   0x30, yes            13                        7
 *      ':'  0x3a        0    10   0x30, yes            16: bit 4, bad
 *      'c'  0x63        1     3   0x60, yes            12                        3 + 9
 *      'g'  0x67        1     7   0x60, yes            16: bit 4, bad
 *      '`'  0x60        1     0   0x60, yes             9, but there is no letter 0: bad
 *      'C'  0x43        1     3   0x60, no: bad                                  by the loop
 *
 * Then neighbours are joined; "0123cdef" is 0 1 2 3 c d e f from the lowest byte on: low << 4 | low
 * >> 8 has 01 in byte 0, 23 in byte 2, cd in 4 and ef in 6.
 */
static inline bool ftrace_eight_nibbles(const char *at, uint64_t *value)
{
	uint64_t text = ftrace_load8(at);
	uint64_t letters = text >> 6 & FTRACE_ONES;
	uint64_t low = text & FTRACE_ONES * 0x0f;
	uint64_t bad = (text & FTRACE_ONES * 0xf0) ^ (FTRACE_ONES * 0x30 + letters * 0x30);

	/* Above 9 a digit's nibble reaches bit 4, above f a letter's; there is no letter 0. */
	bad |= (low + FTRACE_ONES * 6 + letters * 3) & FTRACE_ONES * 0x10;
	bad |= letters & ~((low + FTRACE_ONES * 0x0f) >> 4);
	if (bad)
		return false;
	low += letters * 9;
	low = (low << 4 | low >> 8) & UINT64_C(0x00ff00ff00ff00ff);
	*value =
		(low & 0xff) << 24 | (low >> 16 & 0xff) << 16 | (low >> 32 & 0xff) << 8 | low >> 48;
	return true;
}

/*
 * Converts six decimal digits at once, the microseconds of a time; returns false for any other
 * byte. Reads eight bytes. "263993: " shifted by two bytes is 0 0 2 6 3 9 9 3 from the lowest byte
 * on; neighbours are joined to 00 26 39 93, and these to 0026 and 3993.
 */
static inline bool ftrace_six_digits(const char *at, uint64_t *value)
{
	uint64_t digits = (ftrace_load8(at) << 16) ^ FTRACE_ONES * 0x30 << 16;

	if ((digits | (digits + FTRACE_ONES * 6)) & FTRACE_ONES * 0xf0)
		return false;
	digits = (digits * 10 + (digits >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
	digits = (digits * 100 + (digits >> 16)) & UINT64_C(0x0000ffff0000ffff);
	*value = (digits & 0xffff) * 10000 + (digits >> 32);
	return true;
}

/* Reads 1 to 16 hexadecimal digits; returns the byte after them, or NULL. */
static inline const char *ftrace_hex_prefix(const char *at, const char *end, uint64_t *value)
{
	const char *first = at;
	uint64_t sum = 0;
	uint64_t more = 0;
	unsigned int nibble = 0;

	if (end - at >= 8 && ftrace_eight_nibbles(at, &sum)) {
		at += 8;
		if (end - at >= 8 && ftrace_eight_nibbles(at, &more)) {
			sum = sum << 32 | more;
			at += 8;
		}
	}
	for (; at < end && (nibble = ftrace_nibble(*at)) < 16; at++)
		sum = sum << 4 | nibble;
	*value = sum;
	return at > first && at - first <= 16 ? at : NULL;
}

/* Reads 0x... or the 16 digits of %p; returns the byte after them, or NULL. */
static inline const char *ftrace_pointer_prefix(const char *at, const char *end, uint64_t *value)
{
	const char *first = at;

	if (end - at > 2 && at[0] == '0' && at[1] == 'x')
		return ftrace_hex_prefix(at + 2, end, value);
	at = ftrace_hex_prefix(at, end, value);
	return at && at - first == 16 ? at : NULL;
}

/* Converts decimal digits to a number of at most limit. */
static inline enum ftrace_verdict ftrace_digits(struct ftrace_span text, uint64_t limit,
						uint64_t *value)
{
	uint64_t sum = 0;
	bool over = false;

	if (!text.length)
		return FTRACE_MISFIT;
	for (size_t i = 0; i < text.length; i++) {
		unsigned int digit = (unsigned int)(text.start[i] - '0');

		if (digit > 9)
			return FTRACE_MISFIT;
		over = over || sum > (limit - digit) / 10;
		sum = sum * 10 + digit;
	}
	*value = sum;
	return over ? FTRACE_OUT_OF_RANGE : FTRACE_FITS;
}

static inline enum ftrace_verdict ftrace_decimal(struct ftrace_span text, int64_t *value)
{
	bool negative = text.length && text.start[0] == '-';
	struct ftrace_span digits = { text.start + negative, text.length - negative };
	uint64_t sum = 0;
	/* The most negative number's magnitude is one more than the largest number. */
	enum ftrace_verdict verdict = ftrace_digits(digits, (uint64_t)INT64_MAX + negative, &sum);

	*value = negative ? (int64_t)(0 - sum) : (int64_t)sum;
	return verdict;
}

static inline enum ftrace_verdict ftrace_hex(struct ftrace_span text, uint64_t *value)
{
	uint64_t sum = 0;
	bool over = false;

	for (size_t i = 0; i < text.length; i++) {
		unsigned int nibble = ftrace_nibble(text.start[i]);

		if (nibble > 15)
			return FTRACE_MISFIT;
		over = over || sum >> 60;
		sum = sum << 4 | nibble;
	}
	*value = sum;
	if (over)
		return FTRACE_OUT_OF_RANGE;
	return text.length ? FTRACE_FITS : FTRACE_MISFIT;
}

static inline bool ftrace_is_0x(struct ftrace_span text)
{
	return text.length > 2 && text.start[0] == '0' && text.start[1] == 'x';
}

static inline enum ftrace_verdict ftrace_pointer(struct ftrace_span text, uint64_t *value)
{
	if (ftrace_is_0x(text))
		return ftrace_hex((struct ftrace_span){ text.start + 2, text.length - 2 }, value);
	/* %#lx prints zero without 0x. */
	if (text.length == 16 || (text.length == 1 && text.start[0] == '0'))
		return ftrace_hex(text, value);
	return FTRACE_MISFIT;
}

/*
 * Reads an integer of 64 bits in either notation: a column stores the bits, signed or unsigned.
 *
 *      text                    INT64             UINT64
 *      37                      37                37
 *      0x25                    37                37
 *      -2                      -2                0xfffffffffffffffe
 *      0xfffffffffffffffe      -2                0xfffffffffffffffe
 *      18446744073709551614    -2                0xfffffffffffffffe
 *      kswapd0                 invalid           invalid
 *
 * Some texts are valid in both notations and are read in that of their column: the digits of a %p
 * may all be decimal.
 */
static inline enum ftrace_verdict ftrace_any_decimal(struct ftrace_span text, uint64_t *bits)
{
	int64_t number = 0;
	enum ftrace_verdict verdict = FTRACE_FITS;

	if (!text.length || text.start[0] != '-')
		return ftrace_digits(text, UINT64_MAX, bits);
	verdict = ftrace_decimal(text, &number);
	*bits = (uint64_t)number;
	return verdict;
}

static inline enum ftrace_verdict ftrace_signed(struct ftrace_span text, uint64_t *bits)
{
	enum ftrace_verdict verdict = ftrace_any_decimal(text, bits);

	return verdict == FTRACE_MISFIT ? ftrace_pointer(text, bits) : verdict;
}

static inline enum ftrace_verdict ftrace_unsigned(struct ftrace_span text, uint64_t *bits)
{
	enum ftrace_verdict verdict = ftrace_pointer(text, bits);

	return verdict == FTRACE_MISFIT ? ftrace_any_decimal(text, bits) : verdict;
}

/* Reads hexadecimal digits, with or without 0x; decimal ones would look the same. */
static inline enum ftrace_verdict ftrace_bare_hex(struct ftrace_span text, uint64_t *bits)
{
	return ftrace_is_0x(text) ? ftrace_pointer(text, bits) : ftrace_hex(text, bits);
}

static inline bool ftrace_is(struct ftrace_span text, const char *word)
{
	size_t length = strlen(word);

	return text.length == length && memcmp(text.start, word, length) == 0;
}

/* Returns true for the text that the kernel prints for an unreadable number or a null pointer. */
static inline bool ftrace_is_null(struct ftrace_span text)
{
	return text.length && text.start[0] == '(' &&
	       (ftrace_is(text, "(fault)") || ftrace_is(text, "(null)") ||
		ftrace_is(text, "(nil)") || ftrace_is(text, "(efault)") ||
		ftrace_is(text, "(____ptrval____)"));
}

/*
 * The evidence of one value, and the result of ftrace_judge for the first rows of a column:
 *
 *      value                evidence       first rows       type
 *      -2  37               decimal        0 and 37         INT64
 *      0x1f                 pointer        0 and 0x1f       UINT64: the 0 is that of %#lx
 *      0                    either         0 alone          INT64
 *      1234567890123456     either         37 and 0x1f      UINT64: integers both
 *      0000000012345678     pointer        1f alone         STRING: hexadecimal is declared
 *      1f  kswapd0          other          (null) alone     STRING: the type is unknown
 */
static inline unsigned int ftrace_weigh(struct ftrace_span text)
{
	uint64_t bits = 0;
	int64_t number = 0;
	enum ftrace_verdict as_decimal = ftrace_decimal(text, &number);
	bool decimal = as_decimal != FTRACE_MISFIT;
	bool pointer = ftrace_pointer(text, &bits) != FTRACE_MISFIT;

	if (ftrace_is_null(text))
		return 0;
	/* An address printed by :u64, 18446744071562067968. */
	if (as_decimal == FTRACE_OUT_OF_RANGE && text.start[0] != '-')
		return FTRACE_SAYS_POINTER;
	/* A pointer of 16 decimal digits is rare, except a hashed one with leading zeros. */
	if (decimal && pointer && (text.length == 1 || text.start[0] != '0'))
		return FTRACE_SAYS_EITHER;
	if (pointer)
		return FTRACE_SAYS_POINTER;
	return decimal ? FTRACE_SAYS_DECIMAL : FTRACE_SAYS_OTHER;
}

/* Returns the type that agrees with all evidence of a column's first rows. */
static inline int ftrace_judge(unsigned int evidence)
{
	if (!evidence || evidence & FTRACE_SAYS_OTHER)
		return SWS_FTRACE_STRING;
	return evidence & FTRACE_SAYS_POINTER ? SWS_FTRACE_UINT64 : SWS_FTRACE_INT64;
}

#endif
