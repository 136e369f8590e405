/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the code of golden.S lies in its file. */
#ifndef CRIT_TESTS_GOLDEN_H
#define CRIT_TESTS_GOLDEN_H

#define GOLDEN_TEXT 0x1000
#define GOLDEN_START 0x1000
#define GOLDEN_START_CALLED 0x1040 /* what is called there returns to it */
#define GOLDEN_CALLS 0x1100
#define GOLDEN_CALLS_CALLED 0x1140
#define GOLDEN_LEAF 0x1200
#define GOLDEN_POPS 0x1300
#define GOLDEN_POPS_POPPED 0x1340 /* behind its pop of rbp */
#define GOLDEN_ALIGNS 0x1400
#define GOLDEN_ALIGNS_CALLED 0x1440
#define GOLDEN_LARGE 0x1500
#define GOLDEN_LARGE_CALLED 0x1540
#define GOLDEN_RESTORES 0x1600
#define GOLDEN_PLT 0x1800
#define GOLDEN_PLT_ENTRY 0x1810

#define GOLDEN_LARGE_BYTES (48 << 10)

/* Above the stack pointer when a signal's handler has returned: registers in struct ucontext_t. */
#define GOLDEN_SAVED_BP 120
#define GOLDEN_SAVED_SP 160
#define GOLDEN_SAVED_PC 168

#endif
