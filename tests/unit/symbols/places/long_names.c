// SPDX-License-Identifier: BSD-3-Clause
// Compiled without debug data, which would have the short names.
#include "tests/unit/symbols/places/long_names.h"

/* NOLINTBEGIN(bugprone-macro-parentheses): text in a row, and names */
#define TEN(text) text text text text text text text text text text
#define LONG(number, digit)                                                                        \
	static int long_##number(int value) __asm__(TEN(TEN(TEN("long_names"))) digit);            \
	static int __attribute__((noinline, noclone, used)) long_##number(int value)               \
	{                                                                                          \
		return value * number + 1;                                                         \
	}
/* NOLINTEND(bugprone-macro-parentheses) */

LONG(1, "1")
LONG(2, "2")
LONG(3, "3")
LONG(4, "4")
LONG(5, "5")
LONG(6, "6")

int (*const long_ones[LONG_ONES])(int) = { long_1, long_2, long_3, long_4, long_5, long_6 };
