// SPDX-License-Identifier: BSD-3-Clause
// Replay: merges planned events, kernel records and shim events by time, and applies them.
#include "analysis/replay/replay.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/account/engine_spans.h"
#include "analysis/recording/kernel_feed.h"
#include "analysis/model/sched_state.h"
#include "analysis/replay/cpu_wait.h"
#include "analysis/replay/prefetch.h"
#include "analysis/replay/turns.h"
#include "analysis/replay/thread_edges.h"
#include "analysis/account/occupants.h"
#include "analysis/model/planned_events.h"
#include "analysis/recording/shim_feed.h"
#include "core/base/call.h"

#define TAG_EARLY_NS                                                                               \
	CRIT_REORDER_NS /* a slot stamped this much after its tag was read is impossible */
#define PROGRESS_EVENTS 65536u

struct replay {
	struct crit_model *model;
	struct crit_engine *engine;
	struct crit_messages *messages;
	const struct crit_analysis_options *options;
	struct crit_turns turns;
	const struct crit_replay_share *share; /* NULL: all nodes are replayed here */
	struct crit_planned_events *planned;
	struct crit_thread_edges *edges; /* NULL: nobody wants any */
	struct crit_kernel_feed *kernels; /* by node */
	struct crit_sched_state *sched_states;
	struct crit_shim_feed *shims; /* by stream */
	struct crit_slot *buffers, *next_buffer; /* of all shims, and those for the next one */
	uint32_t *stream_of; /* by thread: the stream that speaks for it now */
	uint64_t total_bytes;
	uint64_t events;
	uint32_t planned_count; /* of what planned events did */
};

static bool has_node(const struct replay *line, uint32_t node)
{
	return !line->share || line->share->has_node(line->share->user, node);
}

/* What a span did is known when it ends: it began with the last event before. */
static int apply_details(struct replay *line, const struct crit_shim_feed *feed, uint64_t time_ns)
{
	struct crit_message_span span = { .thread = feed->thread,
					  .call = feed->event.call,
					  .enter_ns = feed->applied_ns,
					  .leave_ns = time_ns };

	if (line->share)
		return line->share->add_span(line->share->user, &span, feed->details,
					     feed->detail_count);
	return crit_messages_take(line->messages, &span, feed->details, feed->detail_count);
}

static void emit(const struct replay *line, enum crit_event_kind kind, uint32_t thread,
		 const struct crit_span_event *event, uint64_t time_ns)
{
	crit_listeners_emit(&line->engine->listeners, kind,
			    &(struct crit_event){ .time_ns = time_ns,
						  .arg = event->arg,
						  .thread = thread,
						  .call = event->call });
}

/* Errors: -ENOMEM. */
static inline int apply_span(struct replay *line, uint32_t index, uint64_t time_ns)
{
	struct crit_shim_feed *feed = &line->shims[index];
	const struct crit_span_event *event = &feed->event;
	uint32_t thread = feed->thread;
	uint32_t slots = (uint32_t)(event->next_slot - feed->applied);
	int rc = 0;

	if (slots) {
		feed->slots_before = feed->last_slots;
		feed->last_slots = slots;
		feed->applied = event->next_slot;
	}
	line->stream_of[thread] = index;
	/* before a poll span, those of its leave; before another enter, those of a lost leave */
	if (feed->detail_count && event->kind >= CRIT_SPAN_ENTER && !feed->has_pending)
		rc = apply_details(line, feed, time_ns);
	if (event->kind >= CRIT_SPAN_ENTER)
		feed->applied_ns = time_ns;
	if (event->kind == CRIT_SPAN_ENTER) {
		struct crit_bucket_key key = { .site = event->site,
					       .thread = thread,
					       .region = event->region,
					       .call = event->call,
					       .span_class = event->span_class };

		crit_engine_enter(line->engine, thread, &key, event->arg, event->polled, time_ns);
	} else if (event->kind == CRIT_SPAN_LEAVE) {
		crit_engine_leave(line->engine, thread, event->call, time_ns);
	} else if (event->kind == CRIT_SPAN_WORKER) {
		crit_engine_set_base(line->engine, thread, CRIT_CLASS_OMP_IDLE, time_ns);
	} else if (event->kind == CRIT_SPAN_RELEASE && event->call >= CRIT_CALL_OMP_FIRST) {
		emit(line, CRIT_EVENT_RELEASE, thread, event, time_ns);
	} else if (event->kind == CRIT_SPAN_TASK) {
		emit(line, CRIT_EVENT_TASK, thread, event, time_ns);
	}
	return rc;
}

/*
 * Nothing is replayed beyond the cut; a trace shows when MPI_Finalize returned.  Errors: -ENOMEM.
 */
static int look_beyond_cut(const struct replay *line, struct crit_shim_feed *feed)
{
	struct crit_listeners *listeners = &line->engine->listeners;
	const struct crit_span_event *event = &feed->event;
	bool is_left = false;
	int rc = 1;

	while (rc == 1 && listeners->counts[CRIT_EVENT_FINALIZE_LEAVE] && !is_left &&
	       event->call == CRIT_MPI_Finalize &&
	       (event->kind == CRIT_SPAN_ENTER || event->kind == CRIT_SPAN_LEAVE)) {
		is_left = event->kind == CRIT_SPAN_LEAVE;
		crit_listeners_emit(listeners,
				    is_left ? CRIT_EVENT_FINALIZE_LEAVE : CRIT_EVENT_FINALIZE_ENTER,
				    &(struct crit_event){ .time_ns = event->time_ns,
							  .arg = event->site,
							  .thread = feed->thread,
							  .call = event->call });
		rc = is_left ? 0 : crit_shim_feed_next(feed);
	}
	return rc < 0 ? rc : 0;
}

/* Fetches a stream's next event and gives it its place in the merge.  Errors: -ENOMEM. */
static inline int move_stream(struct replay *line, uint32_t index)
{
	struct crit_shim_feed *feed = &line->shims[index];
	int rc = crit_shim_feed_next(feed);

	if (rc < 0)
		return rc;
	if (rc && feed->event.time_ns <= line->model->nodes[line->turns.rows[index].node].cut_ns) {
		crit_merge_delay(&line->turns.streams, index, feed->event.time_ns);
		return 0;
	}
	if (rc)
		rc = look_beyond_cut(line, feed);
	feed->has_event = false;
	crit_shim_feed_fini(feed);
	crit_merge_remove(&line->turns.streams, index);
	return rc;
}

/* The tag says more slots were written than are applied: they came before this switch. */
static int catch_up(struct replay *line, uint32_t index, uint64_t target, uint64_t time_ns)
{
	struct crit_shim_feed *feed = &line->shims[index];

	while (feed->has_event && feed->applied < target) {
		int rc;

		if (feed->event.time_ns > time_ns + TAG_EARLY_NS)
			break;
		rc = apply_span(line, index, time_ns);
		if (!rc)
			rc = move_stream(line, index);
		if (rc)
			return rc;
	}
	if (feed->applied < target && (feed->has_event || feed->source.stream->has_end))
		line->model->losses.tag_disagreements++;
	return 0;
}

/* A thread without a buffer: its tag at the switch-out is all that is known of its spans. */
static void apply_tag_only(struct replay *line, uint32_t thread, uint64_t tag, uint64_t time_ns)
{
	struct crit_bucket_key key = { .thread = thread,
				       .region = CRIT_TAG_FIELD(tag, REGION),
				       .call = (uint16_t)CRIT_TAG_FIELD(tag, CALL),
				       .span_class = (uint8_t)CRIT_TAG_FIELD(tag, CLASS) };
	const struct crit_thread_account *account = &line->engine->accounts[thread];
	const struct crit_bucket_key *now = &account->bucket->key;

	line->model->threads[thread].is_tag_only = true;
	if (!key.call || key.span_class >= CRIT_CLASS_COUNT ||
	    (key.call < CRIT_CALL_OMP_FIRST && key.span_class <= CRIT_CLASS_USER)) {
		crit_engine_clear_spans(line->engine, thread, time_ns);
		crit_engine_set_base(line->engine, thread,
				     key.span_class == CRIT_CLASS_OMP_IDLE ? CRIT_CLASS_OMP_IDLE
									   : CRIT_CLASS_USER,
				     time_ns);
		return;
	}
	if (account->depth && now->call == key.call && now->span_class == key.span_class &&
	    now->region == key.region)
		return;
	crit_engine_clear_spans(line->engine, thread, time_ns);
	crit_engine_enter(line->engine, thread, &key, 0, 0, time_ns);
}

static int apply_tag(struct replay *line, uint32_t thread, const struct crit_kernel_switch *record)
{
	uint64_t sequence = CRIT_TAG_FIELD(record->prev_tag, SEQUENCE);
	uint32_t stream = line->stream_of[thread];
	struct crit_shim_feed *feed;
	int32_t ahead;

	if (record->head.flags & CRIT_KF_TAG_STALE) {
		if (record->head.flags & CRIT_KF_HAS_TAG &&
		    line->model->threads[thread].belief != CRIT_STATE_NONE)
			line->model->losses.tag_stale++; /* at its end it always is */
		return 0;
	}
	if (!record->prev_tag)
		return 0;
	if (stream == CRIT_NONE) {
		if (!line->model->threads[thread].has_stream)
			apply_tag_only(line, thread, record->prev_tag, record->head.time_ns);
		return 0;
	}
	feed = &line->shims[stream];
	ahead = (int32_t)((uint32_t)(sequence - feed->applied) << 8) >> 8; /* 24 bits, signed */
	if (ahead > 0)
		return catch_up(line, stream, feed->applied + (uint32_t)ahead,
				record->head.time_ns);
	/* told of later: a record just written, an open poll span, a span held back */
	if ((uint32_t)-ahead > feed->last_slots + feed->slots_before)
		line->model->losses.tag_disagreements++;
	return 0;
}

static int apply_transition(struct replay *line, const struct crit_transition *change,
			    const union crit_kernel_record *record)
{
	struct crit_thread_account *account = &line->engine->accounts[change->thread];
	uint64_t time_ns = record->head.time_ns;
	int rc = 0;

	if (account->is_over)
		return 0;
	if (change->flags & CRIT_T_SAMPLED)
		return crit_listeners_tell_sample(&line->engine->listeners, change->thread,
						  &record->sample);
	if (change->flags & CRIT_T_SWITCHED_OUT)
		rc = apply_tag(line, change->thread, &record->switched);
	if (change->flags & CRIT_T_SWITCHED_OUT && change->state == CRIT_STATE_BLOCKED)
		crit_listeners_tell_block(&line->engine->listeners, change->thread, time_ns,
					  crit_kernel_record_call(record));
	if (change->flags & CRIT_T_EXEC) {
		crit_engine_clear_spans(line->engine, change->thread, time_ns);
		crit_engine_set_base(line->engine, change->thread, CRIT_CLASS_USER, time_ns);
		line->stream_of[change->thread] = CRIT_NONE;
	}
	if (change->flags & CRIT_T_DIED) {
		account->is_over = true;
		crit_engine_set_state(line->engine, change->thread, CRIT_STATE_NONE, time_ns);
	} else if (account->state != change->state) {
		crit_engine_set_state(line->engine, change->thread, change->state, time_ns);
	}
	return rc;
}

static int replay_kernel(struct replay *line, uint32_t node)
{
	struct crit_kernel_feed *feed = &line->kernels[node];
	struct crit_sched_state *sched_state = &line->sched_states[node];
	const union crit_kernel_record *record = crit_kernel_feed_front(feed);
	int rc;

	if (line->edges)
		crit_thread_edges_before(line->edges, sched_state, record);
	rc = crit_sched_state_step(sched_state, record);
	if (!rc && crit_occupants_are_told(record))
		crit_occupants_take(line->engine, sched_state, record);
	for (unsigned int i = 0; i < sched_state->out_count && !rc; i++) {
		rc = apply_transition(line, &sched_state->out[i], record);
		if (sched_state->out[i].state == CRIT_STATE_RUNNABLE)
			crit_cpu_wait_apply(line->engine, &sched_state->out[i], record);
	}
	if (line->edges)
		crit_thread_edges_after(line->edges, sched_state, record);
	crit_kernel_feed_pop(feed);
	record = crit_kernel_feed_front(feed);
	if (record && record->head.time_ns <= line->model->nodes[node].cut_ns)
		crit_merge_delay(&line->turns.others, crit_turn_kernel(node), record->head.time_ns);
	else
		crit_merge_remove(&line->turns.others, crit_turn_kernel(node));
	return rc;
}

static void reach(const struct replay *line, const struct crit_replay_place *place)
{
	if (line->share && crit_replay_is_before(line->share->place, place))
		*line->share->place = *place;
}

/* Each of its threads, on whatever node, has a place. */
static void open_window(struct replay *line, uint32_t window, bool is_open, uint64_t time_ns)
{
	uint32_t thread = line->model->windows[window].first_thread;

	for (; thread != CRIT_NONE; thread = line->model->threads[thread].next_in_window) {
		reach(line, &(struct crit_replay_place){ time_ns, 0, ++line->planned_count });
		crit_engine_set_open(line->engine, thread, is_open, time_ns);
	}
}

static void replay_return(struct replay *line, const struct crit_return *noted)
{
	if (line->engine->accounts[noted->thread].state != CRIT_STATE_RUNNABLE)
		return;
	crit_engine_set_yielded(line->engine, noted->thread, noted->running_ns, noted->time_ns);
	if (noted->is_running)
		crit_engine_set_state(line->engine, noted->thread, CRIT_STATE_RUNNING,
				      noted->time_ns);
}

static void replay_planned(struct replay *line)
{
	const struct crit_planned_event *next = crit_planned_events_front(line->planned);
	struct crit_thread_account *account;

	switch (next->kind) {
	case CRIT_AT_BIRTH:
		if (!has_node(line, line->model->threads[next->index].node))
			break;
		crit_engine_set_state(line->engine, next->index, CRIT_STATE_ASSUMED, next->time_ns);
		break;
	case CRIT_AT_OPEN:
	case CRIT_AT_CLOSE:
		open_window(line, next->index, next->kind == CRIT_AT_OPEN, next->time_ns);
		break;
	case CRIT_AT_RETURN:
		replay_return(line, &line->model->returns[next->index]);
		break;
	default:
		account = &line->engine->accounts[next->index];
		if (!account->is_over)
			crit_engine_set_state(line->engine, next->index, CRIT_STATE_NONE,
					      next->time_ns);
		account->is_over = true;
		break;
	}
	crit_planned_events_pop(line->planned);
	line->planned_count++;
	next = crit_planned_events_front(line->planned);
	if (next)
		crit_merge_delay(&line->turns.others, CRIT_TURN_PLANNED, next->time_ns);
	else
		crit_merge_remove(&line->turns.others, CRIT_TURN_PLANNED);
}

static void report_progress(const struct replay *line)
{
	uint64_t done_bytes = 0;

	if (!line->options || !line->options->progress)
		return;
	for (size_t i = 0; i < line->model->node_count; i++)
		done_bytes += line->kernels[i].bytes_read;
	for (size_t i = 0; i < line->model->stream_count; i++)
		done_bytes += line->shims[i].slots_read * sizeof(struct crit_slot);
	line->options->progress(line->options->user, done_bytes, line->total_bytes);
}

static int replay_next(struct replay *line, const struct crit_turn *turn)
{
	int rc = 0;

	if (turn->is_stream) {
		rc = apply_span(line, turn->index, turn->time_ns);
		if (!rc)
			rc = move_stream(line, turn->index);
	} else if (turn->index == CRIT_TURN_PLANNED) {
		replay_planned(line);
	} else {
		rc = replay_kernel(line, crit_turn_node(turn->index));
	}
	return rc;
}

static void reach_turn(const struct replay *line, const struct crit_turn *turn)
{
	const uint32_t order = crit_turn_order(&line->turns, turn->index, turn->is_stream);

	reach(line,
	      &(struct crit_replay_place){ turn->time_ns, order, order ? 0 : line->planned_count });
}

/* What the others of a shared replay may wait for: how far it is, and how far it goes next. */
static int share_turn(struct replay *line, const struct crit_turn *turn)
{
	struct crit_turn next = { .time_ns = CRIT_TIME_MAX };

	(void)crit_turns_next(&line->turns, &next);
	return line->share->look(line->share->user, turn->time_ns, next.time_ns);
}

static int play(struct replay *line)
{
	const uint32_t stream_count = (uint32_t)line->model->stream_count;
	struct crit_prefetch prefetch = { .turns = &line->turns,
					  .shims = line->shims,
					  .engine = line->engine,
					  .stream_count = stream_count };
	struct crit_turn turn;
	int rc = 0;

	while (!rc && crit_turns_next(&line->turns, &turn)) {
		if (line->share)
			reach_turn(line, &turn);
		rc = replay_next(line, &turn);
		if (turn.is_stream && stream_count >= CRIT_PREFETCH_LEAST)
			crit_prefetch_after(&prefetch, turn.index);
		if (++line->events % PROGRESS_EVENTS == 0)
			report_progress(line);
		if (!rc && line->share)
			rc = share_turn(line, &turn);
		if (line->engine->error)
			rc = line->engine->error;
		else if (!rc)
			rc = line->engine->listeners.error;
	}
	return rc;
}

static int define_region(void *user, const struct crit_stream *stream,
			 const struct crit_slot_region *slot, const char *name, size_t name_bytes)
{
	struct replay *line = user;

	return crit_regions_define(&line->engine->teams.regions,
				   line->model->threads[stream->thread].process, slot, name,
				   name_bytes);
}

static int start_stream(struct replay *line, uint32_t index)
{
	const struct crit_stream *stream = &line->model->streams[index];
	struct crit_shim_feed *feed = &line->shims[index];
	int rc;

	if (stream->thread == CRIT_NONE)
		return 0;
	if (line->stream_of[stream->thread] == CRIT_NONE)
		line->stream_of[stream->thread] = index;
	crit_shim_feed_init(feed, &(struct crit_shim_source){
					  .recording = line->model->nodes[stream->node].recording,
					  .clock = &line->model->nodes[stream->node].clock,
					  .stream = stream,
					  .define_region = define_region,
					  .user = line,
					  .buffer = line->next_buffer,
				  });
	line->next_buffer += crit_shim_feed_buffer_slots(stream);
	rc = crit_shim_feed_next(feed);
	if (rc < 0)
		return rc;
	if (!rc || feed->event.time_ns > line->model->nodes[stream->node].cut_ns) {
		feed->has_event = false;
		crit_shim_feed_fini(feed);
		return 0;
	}
	crit_merge_add(&line->turns.streams, index, feed->event.time_ns);
	return 0;
}

static int start_kernel(struct replay *line, uint32_t node)
{
	const struct crit_node *from = &line->model->nodes[node];
	const union crit_kernel_record *record;
	int rc = crit_kernel_feed_init(&line->kernels[node], from->recording, &from->clock,
				       from->first_kernel_ref);

	crit_sched_state_init(&line->sched_states[node], line->model, node, false);
	if (rc)
		return rc;
	record = crit_kernel_feed_front(&line->kernels[node]);
	if (record && record->head.time_ns <= from->cut_ns)
		crit_merge_add(&line->turns.others, crit_turn_kernel(node), record->head.time_ns);
	return 0;
}

static int start(struct replay *line)
{
	const struct crit_model *model = line->model;
	const struct crit_planned_event *first;
	int rc = 0;

	line->planned = crit_planned_events_create(model);
	if (!line->planned)
		return -ENOMEM;
	first = crit_planned_events_front(line->planned);
	if (first)
		crit_merge_add(&line->turns.others, CRIT_TURN_PLANNED, first->time_ns);
	for (uint32_t node = 0; node < model->node_count && !rc; node++) {
		if (has_node(line, node))
			rc = start_kernel(line, node);
		line->total_bytes += model->nodes[node].recording->size_bytes;
	}
	for (uint32_t stream = 0; stream < model->stream_count && !rc; stream++)
		if (has_node(line, model->streams[stream].node))
			rc = start_stream(line, stream);
	return rc;
}

static int allocate(struct replay *line)
{
	const struct crit_model *model = line->model;

	line->kernels = calloc(model->node_count, sizeof(*line->kernels));
	line->sched_states = calloc(model->node_count, sizeof(*line->sched_states));
	line->buffers = crit_shim_feed_buffers(model->streams, model->stream_count);
	line->next_buffer = line->buffers;
	line->shims = crit_lines_alloc(model->stream_count + 1, sizeof(*line->shims));
	line->stream_of = calloc(model->thread_count + 1, sizeof(*line->stream_of));
	if (!line->kernels || !line->sched_states || !line->buffers || !line->shims ||
	    !line->stream_of)
		return -ENOMEM;
	for (size_t i = 0; i < model->thread_count; i++)
		line->stream_of[i] = CRIT_NONE;
	return crit_turns_init(&line->turns, model);
}

/* Ends the threads. */
static int finish(const struct replay *line)
{
	struct crit_engine *engine = line->engine;

	for (uint32_t i = 0; i < line->model->thread_count; i++) {
		reach(line, &(struct crit_replay_place){ CRIT_TIME_MAX, i, 0 });
		crit_engine_finish_thread(engine, i);
	}
	crit_engine_advance_to_end(engine);
	return engine->error ? engine->error : engine->listeners.error;
}

static void collect(struct replay *line)
{
	struct crit_model *model = line->model;

	for (size_t i = 0; i < model->stream_count; i++) {
		model->losses.late_records += line->shims[i].late_records;
		model->losses.unbalanced_spans += line->shims[i].unbalanced;
		model->losses.unknown_records += line->shims[i].unknown_records;
		line->messages->losses.details += line->shims[i].details_lost;
		model->nodes[model->streams[i].node].row.slot_count += line->shims[i].slots_read;
	}
	model->losses.unbalanced_spans += line->engine->unbalanced;
}

int crit_replay_run(struct crit_model *model, struct crit_engine *engine,
		    struct crit_messages *messages, const struct crit_analysis_options *options,
		    const struct crit_replay_share *share)
{
	struct replay line = {
		.model = model,
		.engine = engine,
		.messages = messages,
		.options = options,
		.share = share,
	};
	int rc;

	crit_threads_rewind(model);
	rc = allocate(&line);
	if (!rc)
		rc = crit_thread_edges_create(engine, &line.edges);
	if (!rc)
		rc = start(&line);
	if (!rc)
		rc = play(&line);
	if (!rc) {
		rc = finish(&line);
		collect(&line);
	}
	for (size_t i = 0; i < model->node_count && line.kernels && line.sched_states; i++) {
		crit_kernel_feed_fini(&line.kernels[i]);
		crit_sched_state_fini(&line.sched_states[i]);
	}
	for (size_t i = 0; i < model->stream_count && line.shims; i++)
		crit_shim_feed_fini(&line.shims[i]);
	crit_thread_edges_destroy(line.edges);
	crit_planned_events_destroy(line.planned);
	crit_turns_fini(&line.turns);
	free(line.kernels);
	free(line.sched_states);
	free(line.shims);
	free(line.buffers);
	free(line.stream_of);
	return rc;
}
