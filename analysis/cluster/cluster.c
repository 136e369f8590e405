// SPDX-License-Identifier: BSD-3-Clause
// Hands out the interfaces of the distributed analysis, and does nothing where there is none.
#include "analysis/cluster/cluster.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/cluster/pending.h"
#include "analysis/cluster/reduce.h"
#include "analysis/cluster/rounds.h"

struct crit_cluster {
	struct crit_transport transport;
	struct crit_rounds rounds;
	struct crit_pending pending; /* not begun where nobody listens */
	struct crit_gathering gathering;
};

struct crit_cluster *crit_cluster_create(const struct crit_transport *transport)
{
	struct crit_cluster *cluster = calloc(1, sizeof(*cluster));

	if (!cluster)
		return NULL;
	cluster->transport = *transport;
	crit_pending_init(&cluster->pending, &cluster->transport, &cluster->gathering);
	return cluster;
}

void crit_cluster_destroy(struct crit_cluster *cluster)
{
	if (!cluster)
		return;
	crit_pending_fini(&cluster->pending);
	crit_rounds_fini(&cluster->rounds);
	crit_gathering_fini(&cluster->gathering);
	free(cluster);
}

int crit_cluster_gather(struct crit_cluster *cluster, const struct crit_trace_sink *sink,
			const struct crit_listener *listener)
{
	int rc = crit_gathering_begin(&cluster->gathering, &cluster->transport, sink, listener);

	cluster->transport.spares_first = crit_gathering_is_on(&cluster->gathering);
	return rc;
}

const struct crit_trace_sink *crit_cluster_sink(const struct crit_cluster *cluster)
{
	return cluster && crit_gathering_is_on(&cluster->gathering) ? &cluster->gathering.own
								    : NULL;
}

const struct crit_listener *crit_cluster_listener(struct crit_cluster *cluster)
{
	return crit_cluster_sink(cluster) ? crit_pending_gather(&cluster->pending) : NULL;
}

const struct crit_step_sink *crit_cluster_steps(const struct crit_cluster *cluster)
{
	return cluster ? &cluster->rounds.step_sink : NULL;
}

const struct crit_replay_share *crit_cluster_share(const struct crit_cluster *cluster)
{
	return cluster ? &cluster->rounds.share : NULL;
}

struct crit_emitter_queue *crit_cluster_queue(struct crit_cluster *cluster)
{
	return cluster ? &cluster->pending.queue : NULL;
}

const struct crit_message_sink *crit_cluster_messages(const struct crit_cluster *cluster)
{
	return cluster ? &cluster->pending.message_sink : NULL;
}

int crit_cluster_begin(struct crit_cluster *cluster, struct crit_engine *engine,
		       struct crit_samples *samples, struct crit_thread_ends *ends,
		       struct crit_messages *messages, struct crit_emitter *emitter)
{
	struct crit_pending *pending = NULL;
	int rc;

	if (!cluster)
		return 0;
	if (emitter) {
		pending = &cluster->pending;
		crit_pending_begin(pending, messages->model, emitter, &cluster->rounds.added_steps,
				   &cluster->rounds.place);
	}
	rc = crit_rounds_init(&cluster->rounds, &cluster->transport, engine, samples, messages,
			      pending);
	cluster->rounds.ends = ends;
	return rc;
}

int crit_cluster_end(struct crit_cluster *cluster, int rc)
{
	if (!cluster)
		return rc;
	rc = crit_rounds_end(&cluster->rounds, rc);
	if (!rc)
		rc = crit_reduce(&cluster->rounds);
	cluster->pending.is_over = true;
	return !rc && cluster->pending.count ? -EPROTO : rc; /* events behind the last step */
}

bool crit_cluster_leads(const struct crit_cluster *cluster)
{
	return !cluster || !cluster->transport.rank;
}

int crit_cluster_agree(const struct crit_cluster *cluster, uint64_t sum, int rc)
{
	return cluster ? crit_transport_agree(&cluster->transport, sum, rc) : rc;
}

int crit_cluster_broadcast(const struct crit_cluster *cluster, uint64_t *values, size_t count)
{
	return cluster ? crit_transport_broadcast(&cluster->transport, values, count) : 0;
}
