/* SPDX-License-Identifier: BSD-3-Clause */
/* The one clock of a recording, as critd reads it. */
#ifndef CRIT_NOW_H
#define CRIT_NOW_H

#include <stdint.h>

/* Host CLOCK_MONOTONIC, once crit_now_init has asked for the time namespace's offset. */
uint64_t crit_now_ns(void);
void crit_now_init(void);

#endif
