/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One line on the program's standard error, written only where it can harm nobody: into the file
 * that descriptor 2 was at the first MPI call, with room for it, without a signal or a wait.
 */
#ifndef CRIT_NOTICE_H
#define CRIT_NOTICE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define CRIT_NOTICE_BYTES 512 /* more than any line; below PIPE_BUF, so lines never mix */

struct crit_notice { /* what descriptor 2 was */
	bool is_open;
	mode_t mode;
	dev_t device;
	ino_t inode;
};

/* Remembers what descriptor 2 is now.  Errors: none; closed, nothing will be written. */
void crit_notice_init(struct crit_notice *ret_notice);

/*
 * Writes length bytes, fewer than CRIT_NOTICE_BYTES, in one write.  False: descriptor 2 is another
 * file by now, has no room or no reader, or the file may not grow.  Keeps errno and the signals
 * pending for the calling thread.  Cost: some ten system calls.
 */
bool crit_notice_write(const struct crit_notice *notice, const char *line, size_t length);

#endif
