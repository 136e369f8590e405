/* SPDX-License-Identifier: BSD-3-Clause */
/* The entry libFuzzer calls, which the smoke test calls as well. */
#ifndef CRIT_TESTS_ANALYSE_TARGET_H
#define CRIT_TESTS_ANALYSE_TARGET_H

#include <stddef.h>
#include <stdint.h>

/*
 * Analyses any bytes.  The last byte chooses: bit 0 leave checksums as they are, bit 1 the same
 * bytes as
 * two nodes, bits 2 and 3 the rule.  Errors: aborts when a law is broken.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
