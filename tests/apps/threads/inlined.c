// SPDX-License-Identifier: BSD-3-Clause
// Two functions that are inlined into one caller have 40 and 60 % of its time.
// usage: inlined ROUNDS
#include <stdlib.h>

#include "tests/apps/clocked.h"

#define MS 1000000ll
#define INLINED __attribute__((always_inline)) static inline

static struct clocked forty_clock, sixty_clock;

INLINED void forty(void)
{
	CLOCKED_WORK(&forty_clock, 4 * MS);
}

INLINED void sixty(void)
{
	CLOCKED_WORK(&sixty_clock, 6 * MS);
}

__attribute__((noinline)) static void take_round(void)
{
	forty(); // CALL
	sixty(); // CALL
}

int main(int argc, char **argv)
{
	for (long left = argc > 1 ? strtol(argv[1], NULL, 10) : 0; left > 0; left--)
		take_round();
	clocked_tell("forty", &forty_clock, NULL, NULL, 1);
	clocked_tell("sixty", &sixty_clock, NULL, NULL, 1);
	return 0;
}
