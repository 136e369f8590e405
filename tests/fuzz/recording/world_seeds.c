// SPDX-License-Identifier: BSD-3-Clause
// Runs on several nodes.
#include "tests/fuzz/seeds.h"
#include "tests/fuzz/recording/worlds.h"

struct input crit_fuzz_seed(size_t number)
{
	return number < WORLDS ? world_make(number) : (struct input){ NULL, 0 };
}
