/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of a run whose finisher left none. */
#ifndef CRIT_FINISH_H
#define CRIT_FINISH_H

#include "core/base/err.h"

/*
 * Writes report and archive of a run that is over, in a process of its own.  Nothing is done where
 * a finisher did it meanwhile, or where the report is the business of another node.
 * Errors: -errno with a line in err.
 */
int crit_finish_again(int directory_fd, struct crit_err *err);

#endif
