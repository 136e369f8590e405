// SPDX-License-Identifier: BSD-3-Clause
// The kernel's own numbers: the array is made of its headers when crit is built.
#include "analysis/symbols/system_calls.h"

#include <stddef.h>

#include "analysis/schema/block_results.h"

const char *crit_system_call_name(int number)
{
	static const char *const names[] = {
#include "system_calls.inc"
	};

	_Static_assert(sizeof(names) / sizeof(names[0]) <= CRIT_BLOCK_STOPPED, "no call's number");

	if (number == CRIT_BLOCK_STOPPED)
		return "a stop by signal or debugger";
	return number >= 0 && (size_t)number < sizeof(names) / sizeof(names[0]) ? names[number]
										: NULL;
}
