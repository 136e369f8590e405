/* SPDX-License-Identifier: BSD-3-Clause */
/* A reason for humans, carried beside a -errno from who failed to the program that prints. */
#ifndef CRIT_ERR_H
#define CRIT_ERR_H

#define CRIT_ERR_BYTES 256

struct crit_err {
	char text[CRIT_ERR_BYTES]; /* what was tried, on what, why, what to do next; no newline */
};

/*
 * Fills err (which may be NULL) and returns code, so that a failing path reads
 * "return crit_err_set(err, -EPROTO, ...)".  Range: code is a negative errno.
 */
int crit_err_set(struct crit_err *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
