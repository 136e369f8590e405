/* SPDX-License-Identifier: BSD-3-Clause */
/* States of a run: window closed, report written, members gone, file complete. */
#ifndef CRIT_COLLECTOR_LIFECYCLE_H
#define CRIT_COLLECTOR_LIFECYCLE_H

#include <stdint.h>

#include "collector/loop/server_state.h"

/* Takes the run as far as it can go now; called at every tick, after all rings were drained. */
void crit_lifecycle_step(struct crit_server *server, struct crit_run *run, uint64_t now_ns);

/* Ends the recording, also while members live. */
void crit_lifecycle_end(struct crit_server *server, struct crit_run *run);

/* Is some recording not yet in its file as a whole, or not yet in the list of runs? */
bool crit_lifecycle_is_ending(const struct crit_server *server);

/* The finisher's socket is readable: WRITTEN goes to everybody of the run, or EOF. */
void crit_lifecycle_on_finisher(struct crit_server *server, struct crit_run *run);

/* Stops watching the finisher of a run: its messages wait.  unmute watches all finishers again. */
void crit_lifecycle_mute(struct crit_server *server, struct crit_run *run);
void crit_lifecycle_unmute(struct crit_server *server);

#endif
