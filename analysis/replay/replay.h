/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The replay: all streams of all nodes, merged by (time, node, stream, sequence) and passed to
 * the engine.
 *
 * The sequence in a switch-out's tag says how many slots the thread had written by then, which
 * orders switch and span exactly whatever the two stamps say: slots announced by the tag are
 * applied at once.
 */
#ifndef CRIT_REPLAY_H
#define CRIT_REPLAY_H

#include "analysis/account/engine.h"
#include "analysis/mpi/messages.h"
#include "analysis/model/model.h"
#include "analysis/replay/replay_place.h"

struct crit_replay_share { /* what this process replays where several replay one run */
	void *user;
	bool (*has_node)(void *user, uint32_t node);
	/* Takes what crit_messages_take would.  Errors: -ENOMEM. */
	int (*add_span)(void *user, const struct crit_message_span *span,
			const struct crit_slot *slots, size_t count);
	/* After each event: it was of played_ns, the next one is of next_ns. */
	int (*look)(void *user, uint64_t replayed_ns, uint64_t next_ns);
	/* The replay keeps in it where it is; it never goes back.  Borrowed. */
	struct crit_replay_place *place;
};

/*
 * Plays the recordings of an indexed model into an engine and messages made for it.  Adds to
 * model->losses.  share: NULL where all nodes are replayed here.
 * Errors: -ENOMEM, those of listeners and of share.  Cost: O(log streams) per event, O(1) while one
 * stream stays the earliest.
 */
int crit_replay_run(struct crit_model *model, struct crit_engine *engine,
		    struct crit_messages *messages, const struct crit_analysis_options *options,
		    const struct crit_replay_share *share);

#endif
