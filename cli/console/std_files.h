/* SPDX-License-Identifier: BSD-3-Clause */
/* stdin, stdout and stderr of a command. */
#ifndef CRIT_STD_FILES_H
#define CRIT_STD_FILES_H

/*
 * Takes the descriptors 0 to 2 that the caller closed, so that no file of crit's own gets one and
 * with it what is printed.  They yield EBADF, as closed ones do, and programs started have them
 * closed.
 */
void crit_std_files_take(void);

/* The exit code of the command, once stdout is flushed; a failure to write it is told here. */
int crit_std_files_end(const char *command, int code);

#endif
