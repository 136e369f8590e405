/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One run on several analysis processes (transport.h), each of which replays some of its nodes.
 *
 * What a thread is attributed depends on all nodes: rounds.h says how the processes exchange state
 * changes and integrals.  Account and replay know of that by interfaces alone, a sink of steps, a
 * share of the nodes, and where there is a trace a queue of events and a sink of messages; in the
 * end process 0 holds the sums of all.  NULL stands for one process that does everything: then
 * there are no such interfaces, and nobody to agree with.
 */
#ifndef CRIT_CLUSTER_H
#define CRIT_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct crit_cluster;
struct crit_emitter;
struct crit_emitter_queue;
struct crit_engine;
struct crit_listener;
struct crit_message_sink;
struct crit_messages;
struct crit_replay_share;
struct crit_samples;
struct crit_thread_ends;
struct crit_step_sink;
struct crit_trace_sink;
struct crit_transport;

/*
 * Ownership: the caller destroys it; analysis processes are borrowed.  Errors: NULL when out of
 * memory.
 */
struct crit_cluster *crit_cluster_create(const struct crit_transport *transport);
void crit_cluster_destroy(struct crit_cluster *cluster);

/*
 * For the engine, the replay, the tracer and for messages; NULL of NULL.  They may be handed out
 * before begin, and work from then on.
 */
const struct crit_step_sink *crit_cluster_steps(const struct crit_cluster *cluster);
const struct crit_replay_share *crit_cluster_share(const struct crit_cluster *cluster);
struct crit_emitter_queue *crit_cluster_queue(struct crit_cluster *cluster);
const struct crit_message_sink *crit_cluster_messages(const struct crit_cluster *cluster);

/*
 * Process 0's sink and listener are to be told of all nodes, as gathering.h has it, while others
 * replay them: all processes call it together before they ask for the above.
 * Errors: those of crit_gathering_begin.
 */
int crit_cluster_gather(struct crit_cluster *cluster, const struct crit_trace_sink *sink,
			const struct crit_listener *listener);

/* Whom this process tells in their place.  NULL: nothing is gathered, or nobody is to be told. */
const struct crit_trace_sink *crit_cluster_sink(const struct crit_cluster *cluster);
const struct crit_listener *crit_cluster_listener(struct crit_cluster *cluster);

/*
 * What it serves is made, which it borrows until it is destroyed.  emitter: NULL where nobody
 * listens.  Errors: -ENOMEM.
 */
int crit_cluster_begin(struct crit_cluster *cluster, struct crit_engine *engine,
		       struct crit_samples *samples, struct crit_thread_ends *ends,
		       struct crit_messages *messages, struct crit_emitter *emitter);

/*
 * The replay is over, with rc: holds the rounds that are left, then brings the sums of all to
 * process 0.  Errors: rc, that of another process, -ENOMEM, -EPROTO, the transport's.
 */
int crit_cluster_end(struct crit_cluster *cluster, int rc);

/* Is this the process that has the results? */
bool crit_cluster_leads(const struct crit_cluster *cluster);

/* As crit_transport_agree and crit_transport_broadcast. */
int crit_cluster_agree(const struct crit_cluster *cluster, uint64_t sum, int rc);
int crit_cluster_broadcast(const struct crit_cluster *cluster, uint64_t *values, size_t count);

#endif
