/* SPDX-License-Identifier: BSD-3-Clause */
/* The user's directory for sockets, locks and logs. */
#ifndef CRIT_CLIENT_DIRECTORY_H
#define CRIT_CLIENT_DIRECTORY_H

#include <stddef.h>

#include "core/base/err.h"

/*
 * The directory for sockets and logs of ordinary users, made if needed: 0700, ours, no symlink.
 * The first that can be had of $XDG_RUNTIME_DIR/crit, /run/user/<uid>/crit, and then of
 * /tmp/crit-<uid>, /dev/shm/crit-<uid> and /tmp/crit-<uid>-1 to -9, of which one that is there
 * already comes first.
 */
int crit_client_socket_directory(char *ret_path, size_t size, struct crit_err *err);

/*
 * The next of these directories that somebody keeps us from, and who.  at: 0 at first.
 * Errors: -ENOENT: no more.
 */
int crit_client_blocked_directory(size_t *at, struct crit_err *ret_reason);

/*
 * Takes the lock file beside a socket.  Its holder removes it, so a lock won on a file that is no
 * longer in the directory is no lock.  Errors: -EAGAIN while somebody else holds it.
 */
int crit_client_take_lock(const char *path, int *ret_fd);

#endif
