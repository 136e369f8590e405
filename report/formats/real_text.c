// SPDX-License-Identifier: BSD-3-Clause
// A report has a number in each line; those that 128 bits hold exactly need no printf.
#include "report/formats/real_text.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define DIGITS 17
#define LEAST 1e-9 /* times 10^26 in 128 bits: 2^53 * 5^26 < 2^114 */
#define LEAST_TOO_LARGE 0x1p53
#define MANTISSA_BITS 53 /* with the first one, which a double leaves out */
#define EXPONENT_BIAS 1022 /* of a fraction from 1/2 on */

static const uint64_t least_number = 10000000000000000; /* of 17 digits */

// clang-format off
static const uint64_t powers_of_5[] = {
	1u, 5u, 25u, 125u, 625u, 3125u, 15625u, 78125u,
	390625u, 1953125u, 9765625u, 48828125u, 244140625u,
	1220703125u, 6103515625u, 30517578125u, 152587890625u,
	762939453125u, 3814697265625u, 19073486328125u, 95367431640625u,
	476837158203125u, 2384185791015625u, 11920928955078125u,
	59604644775390625u, 298023223876953125u, 1490116119384765625u,
};
// clang-format on

static const char digit_pairs[] = /* 00 to 99 */
	"00010203040506070809101112131415161718192021222324252627282930313233343536373839"
	"40414243444546474849505152535455565758596061626364656667686970717273747576777879"
	"8081828384858687888990919293949596979899";

/* value * 10^power, which is mantissa * 5^power * 2^(exponent + power), to the nearest, or even. */
static uint64_t scaled(uint64_t mantissa, int exponent, int power)
{
	const unsigned __int128 product = (unsigned __int128)mantissa * powers_of_5[power];
	const int shift = -(exponent + power);
	unsigned __int128 half, rest;
	uint64_t whole;

	if (shift <= 0)
		return (uint64_t)(product << -shift);
	half = (unsigned __int128)1 << (shift - 1);
	rest = product & (2 * half - 1);
	whole = (uint64_t)(product >> shift);
	return whole + (rest > half || (rest == half && whole & 1));
}

/* So many digits.  Returns what lies behind them. */
static inline char *put_digits(char *to, uint64_t number, int count)
{
	char *at = to + count;

	for (; at - to >= 2; number /= 100) {
		at -= 2;
		memcpy(at, &digit_pairs[2 * (number % 100)], 2);
	}
	if (at > to)
		*to = (char)('0' + number);
	return to + count;
}

/* floor(exponent * log10(2)): the power of ten of a number below 2^exponent, or one more. */
static int tens_of(int exponent)
{
	const int scaled_log = exponent * 30103;

	return scaled_log / 100000 - (scaled_log < 0 && scaled_log % 100000 != 0);
}

/* The 17 digits of a value from LEAST on; *ret_power: of ten, of the first. */
static uint64_t digits_of(double value, int *ret_power)
{
	const uint64_t first_one = 1ull << (MANTISSA_BITS - 1);
	uint64_t bits, mantissa, number;
	int exponent, power;

	memcpy(&bits, &value, sizeof(bits));
	mantissa = (bits & (first_one - 1)) | first_one;
	exponent = (int)(bits >> (MANTISSA_BITS - 1)) - EXPONENT_BIAS;
	/* the power is right, or too small by one, and the last place too coarse */
	power = DIGITS - 1 - tens_of(exponent);
	number = scaled(mantissa, exponent - MANTISSA_BITS, power);
	if (number <= least_number)
		number = scaled(mantissa, exponent - MANTISSA_BITS, ++power);
	if (number >= 10 * least_number) {
		number /= 10; /* a power of ten, to the nearest */
		power--;
	}
	*ret_power = DIGITS - 1 - power;
	return number;
}

static inline char *without_zeros(char *end)
{
	while (end[-1] == '0')
		end--;
	return end;
}

/*
 * From 0.0001 on without exponent, as %g has it; power: from -9 on.  All goes where it stays: to
 * copy what was written by pairs waits for the writes.
 */
static char *lay_out(uint64_t number, int power, char *at)
{
	if (power >= 0) {
		const int behind = DIGITS - 1 - power;
		const uint64_t one = powers_of_5[behind] << behind;

		at = put_digits(at, number / one, power + 1);
		*at = '.';
		at = without_zeros(put_digits(at + 1, number % one, behind));
		if (at[-1] == '.')
			*at++ = '0';
		return at;
	}
	if (power >= -4) {
		memcpy(at, "0.000", 5);
		return without_zeros(put_digits(at + 1 - power, number, DIGITS));
	}
	*at = (char)('0' + number / least_number);
	at[1] = '.';
	at = without_zeros(put_digits(at + 2, number % least_number, DIGITS - 1));
	if (at[-1] == '.')
		at--;
	memcpy(at, "e-", 2);
	at[2] = (char)('0' - power);
	return at + 3;
}

/* As jansson mends what printf wrote. */
static size_t write_any(double value, char text[CRIT_REAL_TEXT])
{
	size_t length = (size_t)snprintf(text, CRIT_REAL_TEXT, "%.*g", DIGITS, value);
	char *exponent = memchr(text, 'e', length), *digits;

	if (!exponent) {
		if (!memchr(text, '.', length)) {
			memcpy(text + length, ".0", 3);
			length += 2;
		}
		return length;
	}
	exponent++;
	digits = exponent + 1 + strspn(exponent + 1, "0");
	if (*exponent == '-')
		exponent++;
	memmove(exponent, digits, strlen(digits) + 1);
	return strlen(text);
}

size_t crit_real_text(double value, char text[CRIT_REAL_TEXT])
{
	char *at = text + (signbit(value) ? 1 : 0), *end;
	uint64_t number;
	int power;

	text[0] = '-';
	if (value == 0) {
		memcpy(at, "0.0", 4);
		return (size_t)(at + 3 - text);
	}
	if (!(fabs(value) >= LEAST && fabs(value) < LEAST_TOO_LARGE))
		return write_any(value, text);
	number = digits_of(fabs(value), &power);
	end = lay_out(number, power, at);
	*end = '\0';
	return (size_t)(end - text);
}
