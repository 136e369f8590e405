// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/symbols/places/stripped.h"

#define FUNCTION(name)                                                                             \
	static volatile int name##_calls;                                                          \
                                                                                                   \
	static __attribute__((noinline)) void name(void)                                           \
	{                                                                                          \
		name##_calls++;                                                                    \
	}

FUNCTION(first)
FUNCTION(second)
FUNCTION(third)

void stripped_codes(const void *codes[STRIPPED_CODES])
{
	codes[0] = (const void *)&first;
	codes[1] = (const void *)&second;
	codes[2] = (const void *)&third;
}
