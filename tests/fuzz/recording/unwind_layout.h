/* SPDX-License-Identifier: BSD-3-Clause */
/* What the inputs of the unwinder's target are: a program or a text of maps, then this. */
#ifndef CRIT_TESTS_UNWIND_LAYOUT_H
#define CRIT_TESTS_UNWIND_LAYOUT_H

#include <stdint.h>

#define LAYOUT_BASE 0x550000000000ull /* where the program is */
#define LAYOUT_SPAN_BYTES (8u << 10)

struct layout_tail {
	uint64_t pc;
	uint64_t sp;
	uint64_t bp;
	unsigned char stack[512];
	uint64_t choice; /* its last byte */
};

#endif
