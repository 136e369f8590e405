/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gathering: what a sink and a listener want to be told goes from all processes to those of process
 * 0, in the order in which one process would tell it.
 *
 * Each process tells of its nodes' threads and notes with each call the place of the record it came
 * with (replay.h).  As a merge takes the earliest source, calls of all processes merged by these
 * places are in the order of a replay of all nodes.
 *
 * Told are threads, spans, states, blocks, samples and edges; of what was earned nothing, of a
 * sample its address and CPU time, of a worker's leave that it is idle.
 */
#ifndef CRIT_GATHERING_H
#define CRIT_GATHERING_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/cluster/transport.h"
#include "analysis/replay/replay_place.h"
#include "analysis/schema/event.h"
#include "analysis/schema/trace.h"

struct crit_gathering_source;

struct crit_gathering { /* zeroed: nobody is told */
	const struct crit_transport *transport;
	const struct crit_trace_sink *sink; /* of process 0: who is told in the end */
	const struct crit_listener *listener;
	struct crit_trace_sink own; /* takes what this process tells */
	uint64_t edges; /* bits by enum crit_edge_kind: wanted */
	struct crit_replay_place place; /* of what this process tells now */
	struct crit_exchange_buffer told; /* by this process, not yet sent */
	struct crit_gathering_source *sources; /* by process, of process 0 */
};

/*
 * All processes call it together; process 0 names who is to be told, NULL nobody.
 * Ownership: all is borrowed until fini, which is due also after an error.
 * Errors: -ENOMEM, those of crit_transport_broadcast.
 */
int crit_gathering_begin(struct crit_gathering *gathering, const struct crit_transport *transport,
			 const struct crit_trace_sink *sink, const struct crit_listener *listener);
void crit_gathering_fini(struct crit_gathering *gathering);

/* Is anybody told? */
static inline bool crit_gathering_is_on(const struct crit_gathering *gathering)
{
	return gathering->transport != NULL;
}

/* An edge that this process tells now.  Errors: -ENOMEM. */
int crit_gathering_put_edge(struct crit_gathering *gathering, const struct crit_edge *edge);

/* The listener of process 0, without a detour.  Errors: those of the listener. */
int crit_gathering_tell_edge(const struct crit_gathering *gathering, const struct crit_edge *edge);

/*
 * Moves what this process has told to what process 0 gets; it tells nothing more that comes before
 * bound.  Errors: -ENOMEM.
 */
int crit_gathering_pack(struct crit_gathering *gathering, const struct crit_replay_place *bound,
			struct crit_exchange_buffer *to);

/* On process 0: what another process has packed lies from at on.  Errors: -ENOMEM, -EPROTO. */
int crit_gathering_take(struct crit_gathering *gathering, uint32_t process,
			const struct crit_exchange_buffer *from, size_t at);

/*
 * On process 0, which tells nothing more that comes before bound: tells what comes before all such
 * bounds.  Errors: those of sink and listener, -EPROTO.
 */
int crit_gathering_tell(struct crit_gathering *gathering, const struct crit_replay_place *bound);

#endif
