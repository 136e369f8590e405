/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The second pass: all streams of all nodes merged by (time, node, stream, sequence) and fed to
 * the engine.
 *
 * The sequence in a switch-out's tag says how many slots the thread had written by then, which
 * orders switch and span exactly whatever the two stamps say: slots announced by the tag are
 * applied at once.
 */
#ifndef CRIT_TIMELINE_H
#define CRIT_TIMELINE_H

#include "analysis/account/engine.h"
#include "analysis/mpi/messages.h"
#include "analysis/model/model.h"

/*
 * Plays the recordings of a surveyed model into an engine and messages made for it.  Adds to
 * model->losses.
 * Errors: -ENOMEM.  Cost: O(log streams) per event, O(1) while one stream stays the earliest.
 */
int crit_timeline_play(struct crit_model *model, struct crit_engine *engine,
		       struct crit_messages *messages, const struct crit_analysis_options *options);

#endif
