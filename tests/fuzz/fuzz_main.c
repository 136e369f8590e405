// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer brings main(); this file pulls its entry out of the library.
#include "tests/fuzz/target.h"

int (*const crit_fuzz_entry)(const uint8_t *data, size_t size);
int (*const crit_fuzz_entry)(const uint8_t *data, size_t size) = LLVMFuzzerTestOneInput;
