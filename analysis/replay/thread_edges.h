/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Edges between threads of a node: who wakes whom, and who releases a lock that another acquires.
 *
 * A lock's edge goes to the release that was told last before it was acquired.  Where the runtime
 * tells of a release only after the next thread has the lock (LLVM's does), the thread that held
 * the lock until then is known, and the edge is told with its release: cause_ns is after end_ns.
 */
#ifndef CRIT_THREAD_EDGES_H
#define CRIT_THREAD_EDGES_H

#include "analysis/account/engine.h"
#include "analysis/model/sched_state.h"

#define CRIT_LOCKS_MAX (1u << 20) /* of a run; more have no edges */

struct crit_thread_edges;

/*
 * Begins to listen to an engine that has replayed nothing yet, if some listener of its wants such
 * edges; else *ret_edges is NULL.  Ownership: the caller destroys it, once all is replayed; the
 * engine is borrowed until then.  Errors: -ENOMEM, -ENOSPC.
 */
int crit_thread_edges_create(struct crit_engine *engine, struct crit_thread_edges **ret_edges);
void crit_thread_edges_destroy(struct crit_thread_edges *edges);

/* A kernel record is about to be replayed, and was, by the node's scheduler state. */
void crit_thread_edges_before(struct crit_thread_edges *edges,
			      const struct crit_sched_state *sched_state,
			      const union crit_kernel_record *record);
void crit_thread_edges_after(const struct crit_thread_edges *edges,
			     const struct crit_sched_state *sched_state,
			     const union crit_kernel_record *record);

#endif
