/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens files in directories that others may write to, and writes to files of others. */
#ifndef CRIT_REGULAR_H
#define CRIT_REGULAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "core/base/err.h"

/*
 * Opens a regular file for reading; a FIFO or a device in its place is not opened, or, where
 * it comes there meanwhile, not waited for.  flags: more for open(2), say O_NOFOLLOW.  Returns the
 * descriptor.  Errors: -EPROTO: no regular file; else as of open(2); the reason in err (may be
 * NULL) names the path.
 */
int crit_regular_open(const char *path, int flags, struct crit_err *err);

/* The same as a stream, fclose() by the caller.  Errors: NULL, the reason in err. */
FILE *crit_regular_stream(const char *path, struct crit_err *err);

/*
 * May length bytes be written at the end of fd, or where it stands, if that is behind?  Beyond
 * RLIMIT_FSIZE a write is a signal that ends the program.  Changes errno.
 */
bool crit_regular_may_grow(int fd, size_t length);

#endif
