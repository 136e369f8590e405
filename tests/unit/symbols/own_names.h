/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of code in this process, as if a recording of it had its memory maps. */
#ifndef CRIT_TEST_OWN_NAMES_H
#define CRIT_TEST_OWN_NAMES_H

#include "analysis/symbols/symbols.h"

#define OWN_PID 100u /* in the recording, of node 0 */

/* As in /proc/self/maps when it was asked for first. */
const char *own_maps(void);

/* Ownership: crit_symbols_destroy. */
struct crit_symbols *own_names(struct crit_elf_reader *reader);

#endif
