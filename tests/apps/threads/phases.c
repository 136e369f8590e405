// SPDX-License-Identifier: BSD-3-Clause
// Phases in every awkward way; without crit none of it does anything.
#include <stdio.h>

#include "core/crit.h"

int main(void)
{
	char name[] = "kept";

	crit_region_end();
	crit_region_begin("outer");
	for (int i = 0; i < 3; i++) {
		crit_region_begin(name);
		name[0] = 'x'; /* read at once; from the second time on it is another */
		crit_region_end();
	}
	crit_region_begin("outer");
	crit_region_begin((const char *)0);
	crit_region_end();
	crit_region_end();
	crit_region_begin("left open");
	crit_region_begin("");
	crit_region_begin("name of more than a hundred and twenty bytes: "
			  "0123456789012345678901234567890123456789012345678901234567890123456789"
			  "0123456789");
	puts("done");
	return 0;
}
