/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of a report in a directory, put into place once all are whole. */
#ifndef CRIT_REPORT_FILES_H
#define CRIT_REPORT_FILES_H

#include "core/base/err.h"
#include "report/tables/summary.h"

#define CRIT_NO_REPORT_NAME "NO-REPORT.txt" /* says why there is none; the next report removes it */

/*
 * Writes report.txt, report.json and the tables (*.csv) into directory, each to NAME.tmp first
 * and renamed when all are whole, report.json last.  Errors: -errno with a line in err; no file is
 * then left half-written, and no report.json beside tables of another report.
 */
int crit_report_files_write(int directory_fd, const char *directory,
			    const struct crit_summary *summary, struct crit_err *err);

/* The same into a directory by its name, made where it is not there.  Errors: the same. */
int crit_report_files_write_into(const char *directory, const struct crit_summary *summary,
				 struct crit_err *err);

#endif
