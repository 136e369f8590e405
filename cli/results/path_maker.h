/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes call paths of the stacks that critd hands out, while the finisher waits for the end. */
#ifndef CRIT_PATH_MAKER_H
#define CRIT_PATH_MAKER_H

/*
 * Takes STACKS off the finisher's socket, and starts a process that reads critd's ring of stacks
 * and answers there, until critd says that no more come, or hangs up.  It ends with the caller;
 * whatever it dies of, the caller does not.  Errors: none; without it there are no call paths.
 */
void crit_path_maker_start(int socket_fd);

#endif
