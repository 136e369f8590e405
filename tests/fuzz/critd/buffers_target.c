// SPDX-License-Identifier: BSD-3-Clause
// Feeds arbitrary shared memory, which changes between ticks, to critd: that of a registered rank.
#include "tests/fuzz/critd/hostile.h"
#include "tests/fuzz/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	hostile_play(data, size, true);
	return 0;
}
