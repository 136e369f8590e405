/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread's open poll span. */
#ifndef CRIT_SHIM_POLL_H
#define CRIT_SHIM_POLL_H

#include <stdbool.h>
#include <stdint.h>

struct crit_shim_thread;

#pragma GCC visibility push(hidden)

/* Ends the open poll span with its last failing call, if there is one. */
void crit_poll_flush(struct crit_shim_thread *thread);

/*
 * A thread that polls enters another call.  True: a question, counted as part of the poll span;
 * false: the poll span is written.
 */
bool crit_poll_ask(struct crit_shim_thread *thread, uint32_t what, uint64_t site);

#pragma GCC visibility pop

#endif
