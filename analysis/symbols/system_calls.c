// SPDX-License-Identifier: BSD-3-Clause
// The kernel's own numbers: the array is made of its headers when crit is built.
#include "analysis/symbols/system_calls.h"

#include <stddef.h>

const char *crit_system_call_name(int number)
{
	static const char *const names[] = {
#include "system_calls.inc"
	};

	return number >= 0 && (size_t)number < sizeof(names) / sizeof(names[0]) ? names[number]
										: NULL;
}
