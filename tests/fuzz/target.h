/* SPDX-License-Identifier: BSD-3-Clause */
/* The entry libFuzzer calls, which the smoke tests call as well; each *_target.c defines it. */
#ifndef CRIT_TESTS_TARGET_H
#define CRIT_TESTS_TARGET_H

#include <stddef.h>
#include <stdint.h>

/* Takes any bytes.  Errors: aborts when something does not hold. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
