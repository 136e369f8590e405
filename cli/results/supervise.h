/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the finisher in a process of its own, and says why there is no report when that dies. */
#ifndef CRIT_SUPERVISE_H
#define CRIT_SUPERVISE_H

#include <stdbool.h>

#include "analysis/schema/results.h"
#include "core/base/err.h"

struct crit_finish {
	int directory_fd; /* of the run */
	int socket_fd; /* to critd; -1: none, finish at once */
	enum crit_active_rule rule;
	bool is_late; /* after the run: a finisher before us may have done it all */
};

/* The rule of CRIT_ACTIVE. */
enum crit_active_rule crit_supervise_rule(void);

/*
 * Writes report and archive of a run, waiting for its end where socket_fd is given.  Nothing is
 * done where a late one finds that another did it, or where another node makes the report.
 * Errors: -errno with a line in err, which may be NULL.
 */
int crit_supervise(const struct crit_finish *finish, struct crit_err *err);

#endif
