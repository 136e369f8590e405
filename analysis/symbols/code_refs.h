/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether code names other code: who begins a parallel region has to give its body's address. */
#ifndef CRIT_CODE_REFS_H
#define CRIT_CODE_REFS_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Is there in the code from begin to end the address target, relative to the next instruction or,
 * in a program that is not moved, absolute?  Elsewhere that is a mere number.  Addresses are those
 * of program headers; end may lie beyond what is loaded.  Of machines other than x86-64, whose code
 * is not read: true.  Cost: O(end - begin), 1 MiB at most.
 */
bool crit_code_refers(Elf *elf, uint64_t begin, uint64_t end, uint64_t target);

#endif
