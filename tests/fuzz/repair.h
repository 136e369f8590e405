/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes whole chunks out of any bytes, so that a fuzzer gets past checksums to what lies behind. */
#ifndef CRIT_TESTS_REPAIR_H
#define CRIT_TESTS_REPAIR_H

#include <stddef.h>

/*
 * Walks the bytes as a chain of chunks and rights magic, version, length and checksum of each;
 * kinds,
 * sources, stamps and payloads stay as they are.
 */
void crit_repair(unsigned char *bytes, size_t length);

#endif
