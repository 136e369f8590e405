/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pending events: events of the emitter, kept until the integrals of the run reach their time.
 *
 * Stands between the tracer and its sink where several processes analyse one run.  An event waits
 * for the step it came after (rounds.h), since only then the buckets say what was earned.  Process
 * 0 decodes all messages: it sends them with the integrals to those that replay their threads, and
 * each tells its own sink of them, in place of the event that says a span with details has ended.
 *
 * Where process 0 is told of all (gathering.h) edges wait as well: those of this process in their
 * place among its events; those that process 0 finds in a span go the way of its messages.
 */
#ifndef CRIT_PENDING_H
#define CRIT_PENDING_H

#include "analysis/cluster/gathering.h"
#include "analysis/cluster/transport.h"
#include "analysis/replay/emitter.h"
#include "analysis/replay/replay_place.h"
#include "analysis/schema/event.h"
#include "analysis/schema/trace_message.h"

struct crit_pending_event;

struct crit_pending {
	const struct crit_transport *transport;
	const struct crit_model *model;
	struct crit_emitter *emitter;
	struct crit_gathering *gathering; /* one that is not on: nobody gathers */
	const uint64_t *added_steps; /* of this process since the run's begin */
	const struct crit_replay_place *place; /* of the replay */
	struct crit_emitter_queue queue; /* for the emitter */
	struct crit_listener listener; /* for the engine, where edges are gathered */
	struct crit_message_sink message_sink; /* for who decodes messages */
	struct crit_pending_event *events;
	size_t count, capacity, at;
	struct crit_exchange_buffer messages; /* sent by process 0, by span */
	size_t messages_at;
	uint64_t skipped; /* spans whose messages are still to come, and told to nobody */
	struct crit_exchange_buffer
		*answer; /* on process 0: where the messages of the present span go */
	size_t answer_at;
	uint32_t answer_count;
	bool is_over; /* all processes have replayed all */
};

/*
 * Its queue, message sink and listener can be handed out from then on, and used once it has begun.
 * Ownership: borrowed until fini.
 */
void crit_pending_init(struct crit_pending *pending, const struct crit_transport *transport,
		       struct crit_gathering *gathering);

/* Where edges are gathered: who is to listen to them.  Borrowed. */
const struct crit_listener *crit_pending_gather(struct crit_pending *pending);

/* Ownership: likewise. */
void crit_pending_begin(struct crit_pending *pending, const struct crit_model *model,
			struct crit_emitter *emitter, const uint64_t *added_steps,
			const struct crit_replay_place *place);
void crit_pending_fini(struct crit_pending *pending);

/* A span with details ends, whose messages and edges come from process 0.  Errors: -ENOMEM. */
int crit_pending_add_details(struct crit_pending *pending);

/* On process 0: where the messages of the span go that is decoded next.  Errors: -ENOMEM. */
int crit_pending_open_answer(struct crit_pending *pending, struct crit_exchange_buffer *answer);
void crit_pending_close_answer(struct crit_pending *pending);

/* What process 0 has put into an answer.  Errors: -ENOMEM, -EPROTO. */
int crit_pending_take(struct crit_pending *pending, const unsigned char *bytes, size_t size);

/*
 * So many steps are taken, and must: the next one is about to be: tells what came before it.
 * rest: a round is over.  Errors: those of the sink, -ENOMEM, -EPROTO.
 */
int crit_pending_catch_up(struct crit_pending *pending, uint64_t steps, bool must);
int crit_pending_rest(struct crit_pending *pending, uint64_t steps);

/* Nothing that this process tells from here on comes before it. */
struct crit_replay_place crit_pending_bound(const struct crit_pending *pending);

#endif
