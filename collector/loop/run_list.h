/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of the runs' directories, which a job's epilog goes through. */
#ifndef CRIT_COLLECTOR_RUN_LIST_H
#define CRIT_COLLECTOR_RUN_LIST_H

#include "collector/loop/server_state.h"

/* Opens the list that the options name, if any.  Errors: -errno, the reason in err. */
int crit_run_list_open(struct crit_server *server, struct crit_err *err);

/* Adds job, "" for none, and directory of a run, once per run. */
void crit_run_list_add(struct crit_server *server, struct crit_run *run, const char *job);

/* Tries again for a run that is due: an epilog holds the lock for milliseconds. */
void crit_run_list_retry(struct crit_server *server, struct crit_run *run);

#endif
