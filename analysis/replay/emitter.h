/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Emits events of threads to a sink, with what each span earned.
 *
 * The engine pays whole segments into buckets.  When a thread's span changes, the segment before
 * has just been paid, so the difference of its bucket since the span was last looked at is what
 * the span earned: one subtraction per change.
 */
#ifndef CRIT_EMITTER_H
#define CRIT_EMITTER_H

#include "analysis/account/bucket.h"
#include "analysis/schema/trace.h"

struct crit_identity;
struct crit_model;

enum crit_emitter_event_kind {
	CRIT_EMIT_BEGIN = 0, /* a thread begins to be told of */
	CRIT_EMIT_INSIDE, /* in a span that began before */
	CRIT_EMIT_ENTER,
	CRIT_EMIT_LEAVE,
	CRIT_EMIT_LOOK, /* at the time outside all spans */
	CRIT_EMIT_MARK,
	CRIT_EMIT_STATE, /* arg: the kernel state; polled: ran_ns, as the sink gets it */
	CRIT_EMIT_BLOCK, /* arg: the system call, 1 more */
	CRIT_EMIT_RELEASE,
	CRIT_EMIT_TASK,
	CRIT_EMIT_SAMPLE, /* arg: its address; polled: its CPU time */
	CRIT_EMIT_SETUP, /* what begins or ends a rank's part: polled is its begin, arg its site */
	CRIT_EMIT_END,
	CRIT_EMIT_COUNT
};

/* An event of a thread, and all of the engine's that may have changed when it is emitted. */
struct crit_emitter_event {
	uint64_t time_ns;
	struct crit_bucket *bucket; /* entered, or of the time outside all spans */
	uint64_t arg; /* of the span; RELEASE: the lock; TASK: its number */
	uint64_t polled;
	uint32_t thread;
	uint32_t depth; /* of open spans from now on */
	uint16_t call; /* TASK: the note */
	uint8_t span_class;
	uint8_t kind; /* enum crit_emitter_event_kind */
	/* by kernel state: of the span that was the innermost, since it became that */
	uint64_t earned_ns[CRIT_STATE_COUNT];
};

struct crit_emitter_queue {
	void *user;
	/* The event is emitted later, by crit_emitter_emit.  Errors: -ENOMEM. */
	int (*put)(void *user, const struct crit_emitter_event *event);
};

struct crit_emitter;

/*
 * queue: where events wait until the engine's buckets say what was earned; NULL: they do at once.
 * Ownership: model, identity, sink and queue are borrowed until fini, also after an error.
 * Errors: -ENOMEM.
 */
int crit_emitter_init(struct crit_emitter *emitter, const struct crit_model *model,
		      const struct crit_identity *identity, const struct crit_trace_sink *sink,
		      const struct crit_emitter_queue *queue);
void crit_emitter_fini(struct crit_emitter *emitter);

/* Tells the sink that it begins.  run: as its begin() has it.  Errors: those of the sink. */
int crit_emitter_begin(struct crit_emitter *emitter, const struct crit_results *run);

/* Emits an event at once, or when the run's integrals are those of its time. */
void crit_emitter_post(struct crit_emitter *emitter, const struct crit_emitter_event *event);

/* A struct crit_listener's soon. */
void crit_emitter_soon(const struct crit_emitter *emitter, uint32_t thread, bool is_near);

/* Tells the sink.  Errors: those of the sink, -ENOMEM, -EPROTO. */
int crit_emitter_emit(struct crit_emitter *emitter, const struct crit_emitter_event *event);

/*
 * For who decodes messages (crit_message_sink): a message is told before the engine takes the
 * leave; nothing is told outside a thread's part or after end_ns.  Errors: those of the sink.
 */
int crit_emitter_message(void *emitter, uint32_t thread, uint64_t time_ns,
			 const struct crit_trace_message *message);
int crit_emitter_communicator(void *emitter, const struct crit_trace_communicator *communicator);

/* The same of a thread that others tell of, as it is.  Errors: those of the sink. */
int crit_emitter_pass_message(struct crit_emitter *emitter, uint32_t thread, uint64_t time_ns,
			      const struct crit_trace_message *message);

/*
 * A sample; where there is a queue the sink gets its address and CPU time alone.  Errors: those of
 * the sink.
 */
int crit_emitter_sample(struct crit_emitter *emitter, uint32_t thread, uint64_t time_ns,
			const struct crit_trace_sample *sample);

/* Tells the sink that all is told.  Errors: the first of the sink's, -ENOMEM. */
int crit_emitter_end(struct crit_emitter *emitter, const struct crit_results *results,
		     bool are_messages_whole);

#endif
