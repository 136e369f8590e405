/* SPDX-License-Identifier: BSD-3-Clause */
/* The code the kernel maps into every process, which is no file: as one. */
#ifndef CRIT_VDSO_H
#define CRIT_VDSO_H

#include <stdint.h>

#define CRIT_VDSO_NAME "[vdso]" /* in /proc/PID/maps */

/*
 * Opens a copy of this process's own vDSO, if its mapping has as many bytes: a process of another
 * kernel, or of 32 bits, has another one.  Ownership: the caller closes the descriptor.
 * Errors: -ENOENT: there is none of that size; -errno.
 */
int crit_vdso_open(uint64_t mapped_bytes);

#endif
