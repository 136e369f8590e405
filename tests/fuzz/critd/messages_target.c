// SPDX-License-Identifier: BSD-3-Clause
// Feeds arbitrary messages, descriptors and memory of several clients to critd.
#include "tests/fuzz/critd/hostile.h"
#include "tests/fuzz/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	hostile_play(data, size, false);
	return 0;
}
