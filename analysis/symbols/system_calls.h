/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of system calls. */
#ifndef CRIT_SYSTEM_CALLS_H
#define CRIT_SYSTEM_CALLS_H

/*
 * The call of this number on this machine, or what stands in the place of one for
 * CRIT_BLOCK_STOPPED; NULL: there is none that the headers know.  Static.
 */
const char *crit_system_call_name(int number);

#endif
