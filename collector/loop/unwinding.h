/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Has the stacks of a run's samples unwound by its finisher: hands that the ring of copies, and
 * takes its call paths into the recording.
 */
#ifndef CRIT_COLLECTOR_UNWINDING_H
#define CRIT_COLLECTOR_UNWINDING_H

#include "collector/loop/server_state.h"

/*
 * Gives a run that is about to record a ring, whose descriptor goes over the finisher's socket, and
 * its budget; neither where stacks are not wanted or cannot be had.
 */
void crit_unwinding_begin(const struct crit_server *server, struct crit_run *run, int finisher_fd,
			  uint32_t budget);

/* What the finisher sent.  Range: bytes of any content. */
void crit_unwinding_take(struct crit_server *server, struct crit_run *run, const void *message,
			 size_t bytes);

/* No more stacks come. */
void crit_unwinding_end(const struct crit_server *server, struct crit_run *run, uint64_t now_ns);

/* Have all call paths come that are waited for?  Then notes what is missing. */
bool crit_unwinding_is_over(const struct crit_server *server, struct crit_run *run,
			    uint64_t now_ns);

#endif
