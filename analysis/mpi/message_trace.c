// SPDX-License-Identifier: BSD-3-Clause
// Turns details of spans into message events for a sink.
#include "analysis/mpi/message_trace.h"

#include <errno.h>
#include <stdlib.h>

#define UNKNOWN_PER_KNOWN 64u /* members of a communicator */

static enum crit_trace_communicator_kind kind_of(enum crit_communicator_kind kind)
{
	switch (kind) {
	case CRIT_COMMUNICATOR_WORLD:
		return CRIT_TRACE_COMM_WORLD;
	case CRIT_COMMUNICATOR_SELF:
		return CRIT_TRACE_COMM_SELF;
	case CRIT_COMMUNICATOR_INTER:
		return CRIT_TRACE_COMM_INTER;
	default:
		return CRIT_TRACE_COMM_INTRA;
	}
}

/* Is it one that others may know?  Without ranks there are none. */
static bool is_common(const struct crit_message_trace *trace, uint32_t index)
{
	return index != CRIT_NONE && trace->communicators->model->rank_count &&
	       trace->communicators->rows[index].kind != CRIT_COMMUNICATOR_FOREIGN;
}

static bool has_peer(enum crit_trace_message_kind kind)
{
	return kind == CRIT_TRACE_SEND || kind == CRIT_TRACE_ISEND || kind == CRIT_TRACE_RECV ||
	       kind == CRIT_TRACE_IRECV;
}

static uint32_t root_of(int32_t peer)
{
	if (peer == CRIT_PEER_ROOT)
		return CRIT_TRACE_ROOT_SELF;
	if (peer == CRIT_PEER_NULL)
		return CRIT_TRACE_ROOT_GROUP;
	return peer < 0 ? CRIT_TRACE_NONE : (uint32_t)peer;
}

static uint64_t known(uint64_t bytes)
{
	return bytes == CRIT_BYTES_UNKNOWN ? 0 : bytes;
}

void crit_message_trace_emit(struct crit_message_trace *trace, enum crit_trace_message_kind kind,
			     const struct crit_message_event *event)
{
	struct crit_trace_message told = { .kind = kind,
					   .call = event->call,
					   .tag = (uint32_t)event->what.tag,
					   .bytes = known(event->what.bytes),
					   .received_bytes = known(event->received_bytes),
					   .request = event->request };

	told.communicator =
		crit_communicators_view(trace->communicators, event->process, event->what.comm)
			.index;
	if ((has_peer(kind) && (event->what.peer < 0 || event->what.tag < 0)) ||
	    !is_common(trace, told.communicator)) {
		trace->untold++; /* and so is all else of its request */
		return;
	}
	trace->untold += has_peer(kind) && event->what.bytes == CRIT_BYTES_UNKNOWN;
	told.peer = has_peer(kind) ? (uint32_t)event->what.peer : root_of(event->what.peer);
	if (!trace->error)
		trace->error = trace->sink->message(trace->sink->user, event->thread,
						    event->time_ns, &told);
}

/*
 * The rows of a side's ranks in order, none where so few are known that its size may be nonsense:
 * work is bounded by the recording then.  NULL when out of memory.
 */
static uint32_t *members_of(struct crit_message_trace *trace, uint32_t index, uint32_t side,
			    const uint32_t *rank_rows, uint32_t *ret_count)
{
	const struct crit_communicators *all = trace->communicators;
	const struct crit_communicator *row = &all->rows[index];
	uint32_t size = is_common(trace, index) ? row->size[side] : 0, i;
	uint32_t *rows;

	if (size > all->model->rank_count || size / UNKNOWN_PER_KNOWN > row->known[side]) {
		trace->untold++;
		size = 0;
	}
	rows = calloc(size + 1ull, sizeof(*rows));
	for (i = 0; rows && i < size; i++) {
		uint32_t member = crit_communicators_member(all, index, side, i);
		uint32_t rank = member == CRIT_NONE ? CRIT_NONE : all->members[member].rank;

		rows[i] = rank == CRIT_NONE ? CRIT_TRACE_NONE : rank_rows[rank];
	}
	*ret_count = size;
	return rows;
}

static int tell_communicator(struct crit_message_trace *trace, uint32_t index,
			     const uint32_t *rank_rows)
{
	const struct crit_communicator *row = &trace->communicators->rows[index];
	char name[CRIT_COMMUNICATOR_BYTES];
	struct crit_trace_communicator told = {
		.kind = kind_of(row->kind),
		.world = row->world,
		.parent = row->parent == CRIT_NONE ? CRIT_TRACE_NONE : row->parent,
		.name = name,
	};
	uint32_t *local = members_of(trace, index, 0, rank_rows, &told.member_count);
	uint32_t *remote = members_of(trace, index, 1, rank_rows, &told.remote_member_count);
	int rc = local && remote ? 0 : -ENOMEM;

	crit_communicators_name(trace->communicators, index, name, sizeof(name));
	told.members = local;
	told.remote_members = remote;
	if (!rc)
		rc = trace->sink->communicator(trace->sink->user, &told);
	free(local);
	free(remote);
	return rc;
}

int crit_message_trace_finish(struct crit_message_trace *trace, const uint32_t *rank_rows)
{
	bool is_wanted = trace->sink && trace->communicators->model->rank_count;
	int rc = 0;

	for (size_t i = 0; is_wanted && i < trace->communicators->count && !rc; i++)
		rc = tell_communicator(trace, (uint32_t)i, rank_rows);
	return rc;
}
