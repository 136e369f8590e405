// SPDX-License-Identifier: BSD-3-Clause
// A library: says who called, and at its unloading where everything lay.
#include "tests/unit/symbols/places/probe.h"

#include <stdio.h>

int probe(const char *name)
{
	printf("site %s %p\n", name, __builtin_return_address(0));
	return 1;
}

int probe_library(void)
{
	int count = probe("library"); // MARK library

	return count + 1;
}

__attribute__((destructor)) static void print_maps(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4096];

	while (maps && fgets(line, sizeof(line), maps))
		fputs(line, stdout);
	if (maps)
		fclose(maps);
}
