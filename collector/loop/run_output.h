/* SPDX-License-Identifier: BSD-3-Clause */
/* The recording file and the finisher of a run, as its first client hands them over. */
#ifndef CRIT_COLLECTOR_RUN_OUTPUT_H
#define CRIT_COLLECTOR_RUN_OUTPUT_H

#include "collector/loop/message_in.h"
#include "collector/loop/server_state.h"

/*
 * The run records from now on.  Ownership: of in's descriptors those it keeps; output is in's
 * message, its texts terminated.  Errors: -EINVAL and what the inspection found; -ENOMEM and
 * -EAGAIN where no thread can be had.
 */
int crit_run_output_take(struct crit_server *server, struct crit_run *run,
			 const struct crit_message_output *output, struct crit_message_in *in,
			 struct crit_err *err);

#endif
