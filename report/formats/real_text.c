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

static const uint64_t least_number = 10000000000000000; /* of 17 digits */

static uint64_t power_of_5(int exponent)
{
	uint64_t power = 1;

	for (uint64_t base = 5; exponent; exponent >>= 1, base *= base)
		if (exponent & 1)
			power *= base;
	return power;
}

/* value * 10^power, which is mantissa * 5^power * 2^(exponent + power), to the nearest, or even. */
static uint64_t scaled(uint64_t mantissa, int exponent, int power)
{
	const unsigned __int128 product = (unsigned __int128)mantissa * power_of_5(power);
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

/* The digits of a value from LEAST on; returns the power of ten of the first. */
static int digits_of(double value, char digits[DIGITS])
{
	int exponent, power;
	const double fraction = frexp(value, &exponent);
	const uint64_t mantissa = (uint64_t)ldexp(fraction, 53);
	uint64_t number;

	/* log10(2): the power is right, or too small by one, and the last place too coarse */
	power = DIGITS - 1 - (int)floor(exponent * 0.30103);
	number = scaled(mantissa, exponent - 53, power);
	if (number <= least_number)
		number = scaled(mantissa, exponent - 53, ++power);
	if (number >= 10 * least_number) {
		number /= 10; /* a power of ten, to the nearest */
		power--;
	}
	for (int i = DIGITS; i-- > 0; number /= 10)
		digits[i] = (char)('0' + number % 10);
	return DIGITS - 1 - power;
}

/* From 0.0001 on without exponent, as %g has it; power: from -9 on. */
static size_t lay_out(const char digits[DIGITS], int power, char *text)
{
	size_t count = DIGITS, whole = power >= 0 ? (size_t)power + 1 : 0;
	char *at = text;

	while (count > 1 && digits[count - 1] == '0')
		count--;
	if (power < -4) {
		*at++ = digits[0];
		if (count > 1)
			*at++ = '.';
		memcpy(at, digits + 1, count - 1);
		at += count - 1;
		memcpy(at, "e-", 2);
		at[2] = (char)('0' - power);
		at[3] = '\0';
		return (size_t)(at + 3 - text);
	}
	if (power >= 0)
		memcpy(at, digits, whole);
	else
		*at++ = '0';
	at += whole;
	*at++ = '.';
	for (int zero = -1; zero > power; zero--)
		*at++ = '0';
	if (count > whole)
		memcpy(at, digits + whole, count - whole);
	else
		*at++ = '0';
	at += count > whole ? count - whole : 0;
	*at = '\0';
	return (size_t)(at - text);
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
	const size_t sign = signbit(value) ? 1 : 0;
	char digits[DIGITS];
	int power;

	text[0] = '-';
	if (value == 0) {
		memcpy(text + sign, "0.0", 4);
		return sign + 3;
	}
	if (!(fabs(value) >= LEAST && fabs(value) < LEAST_TOO_LARGE))
		return write_any(value, text);
	power = digits_of(fabs(value), digits);
	return sign + lay_out(digits, power, text + sign);
}
