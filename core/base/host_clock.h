/* SPDX-License-Identifier: BSD-3-Clause */
/* From a process's CLOCK_MONOTONIC to the host's: a time namespace moves it. */
#ifndef CRIT_HOST_CLOCK_H
#define CRIT_HOST_CLOCK_H

#include <stdint.h>

/*
 * What to add to this process's CLOCK_MONOTONIC to get the host's; 0 outside time namespaces.
 * Units: ns.  Errors: none; where the kernel knows no time namespaces there is no offset.
 * Cost: reads a file of /proc.
 */
int64_t crit_host_clock_offset_ns(void);

#endif
