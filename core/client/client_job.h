/* SPDX-License-Identifier: BSD-3-Clause */
/* The job of a scheduler that a process belongs to. */
#ifndef CRIT_CLIENT_JOB_H
#define CRIT_CLIENT_JOB_H

#include <stdbool.h>

#include "core/abi/abi_socket.h"

/*
 * The scheduler's job, step and task this process belongs to; false where there is none, and then
 * all is "" and CRIT_TASK_NONE.
 */
bool crit_client_job(struct crit_job *ret_job);

#endif
