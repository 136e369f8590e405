// SPDX-License-Identifier: BSD-3-Clause
// What plain.c loads by itself.
#include "tests/unit/symbols/places/probe.h"

int run_plugin(void);

int run_plugin(void)
{
	int count = probe("plugin"); // MARK plugin

	return count + 1;
}
