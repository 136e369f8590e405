/* SPDX-License-Identifier: BSD-3-Clause */
/* Instructions of a program or library, as objdump prints them. */
#ifndef CRIT_DISASSEMBLY_H
#define CRIT_DISASSEMBLY_H

#include <stdint.h>
#include <stdio.h>

/*
 * What objdump prints of the addresses from begin to end; NULL, and errno, where it cannot be
 * started, ENOENT where it is not there.  pid: where that of objdump is put, a pid_t.
 * Ownership: crit_disassembly_close waits for it.
 */
FILE *crit_disassembly_open(void *pid, const char *module, uint64_t begin, uint64_t end);
void crit_disassembly_close(void *pid, FILE *in);

#endif
