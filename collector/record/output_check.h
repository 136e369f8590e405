/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides whether a descriptor a client handed over may be written to.  May wait as long as its
 * file system does.
 */
#ifndef CRIT_COLLECTOR_OUTPUT_CHECK_H
#define CRIT_COLLECTOR_OUTPUT_CHECK_H

#include <stdint.h>

#include "core/base/err.h"

/*
 * Accepts a regular file, owned by uid, with one link, opened O_APPEND for writing, on
 * a file system that keeps what is written (not proc, sysfs, cgroup and such).
 * Errors: -EINVAL with the reason in err.  Ownership: fd is borrowed.
 */
int crit_output_check(int fd, uint32_t uid, struct crit_err *err);

/* Accepts a connected SOCK_SEQPACKET Unix socket.  Errors: -EINVAL. */
int crit_output_check_finisher(int fd, struct crit_err *err);

#endif
