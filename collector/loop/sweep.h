/* SPDX-License-Identifier: BSD-3-Clause */
/* Removes what collectors that were killed left in the directory of sockets. */
#ifndef CRIT_COLLECTOR_SWEEP_H
#define CRIT_COLLECTOR_SWEEP_H

/*
 * Removes sockets of this node beside socket_path on which nobody listens, and their locks; never
 * one in use: only under its lock, and after a refused connect.  Looks at a bounded number.
 * Errors: none; what cannot be removed stays.
 */
void crit_sweep(const char *socket_path);

#endif
