/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the reason why a run has no report where its user looks. */
#ifndef CRIT_NO_REPORT_H
#define CRIT_NO_REPORT_H

#include <limits.h>

/*
 * The name that an open directory has now: it may have been renamed, and one that was removed ends
 * in " (deleted)".  Answers otherwise where /proc does not tell.
 */
const char *crit_directory_name(int directory_fd, const char *otherwise, char ret_name[PATH_MAX]);

/*
 * Writes NO-REPORT.txt into the directory: the reason, and what to do.  Where it cannot be written,
 * the log has the reason.
 */
void crit_no_report_write(int directory_fd, const char *reason);

/* A line about the directory into the log that crit doctor shows. */
void crit_directory_log(int directory_fd, const char *text);

#endif
