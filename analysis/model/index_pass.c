// SPDX-License-Identifier: BSD-3-Clause
// Index pass: reads the chunks of each node, then its kernel records.
#include "analysis/model/index_pass.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/model/sched_state.h"
#include "analysis/model/processes.h"
#include "analysis/model/register.h"
#include "analysis/model/roles.h"
#include "analysis/model/index_streams.h"
#include "analysis/model/cpu_masks.h"

#define STAMP_SLOTS 8u /* looked at together when a chunk's first or last stamp is wanted */

static void see_time(struct crit_node *node, uint64_t time_ns)
{
	if (!time_ns || time_ns >= CRIT_TIME_MAX)
		return;
	if (time_ns < node->first_ns)
		node->first_ns = time_ns;
	if (time_ns > node->end_ns)
		node->end_ns = time_ns;
}

static int add_stream(struct crit_model *model, uint32_t index, const struct crit_chunk_ref *ref)
{
	struct crit_node *node = &model->nodes[index];
	uint32_t number = (uint32_t)model->stream_count;
	struct crit_rec_stream record;
	int rc;

	if (!crit_recording_read_struct(node->recording, ref, &record, sizeof(record)) ||
	    crit_map_get(&node->stream_numbers, ref->source) != CRIT_NONE) {
		model->losses.corrupt_chunks++;
		return 0;
	}
	rc = crit_array_grow(&model->streams, &model->stream_capacity, number + 1,
			     sizeof(*model->streams));
	if (!rc)
		rc = crit_map_set(&node->stream_numbers, ref->source, number);
	if (rc)
		return rc;
	model->streams[number] = (struct crit_stream){
		.node = index,
		.pid = record.pid,
		.ns_tid = record.ns_tid,
		.thread = CRIT_NONE,
		.first_ref = CRIT_NONE,
		.last_ref = CRIT_NONE,
		.first_counters = CRIT_NONE,
		.last_counters = CRIT_NONE,
		.claim_ns = crit_model_time(node, record.claim_ns),
		.claim_pos = record.claim_pos,
		.next_slot = record.claim_pos,
	};
	see_time(node, model->streams[number].claim_ns);
	model->stream_count++;
	return 0;
}

static void end_stream(struct crit_model *model, struct crit_node *node, struct crit_stream *stream,
		       const struct crit_chunk_ref *ref)
{
	if (!crit_recording_read_struct(node->recording, ref, &stream->end, sizeof(stream->end))) {
		model->losses.corrupt_chunks++;
		return;
	}
	stream->has_end = true;
	if (stream->end.end_pos != stream->next_slot)
		model->losses.shim_spans++;
	model->losses.shim_spans += stream->end.lost_spans;
	model->losses.counters_lost += stream->end.counters_lost;
	model->losses.folded_ns += stream->end.folded_ns;
	if (stream->end.release_ns)
		see_time(node, crit_model_time(node, stream->end.release_ns));
	if (stream->end.open_call)
		see_time(node, crit_model_time(node, stream->end.open_last_ns));
}

/* Links a chunk to the feed it belongs to. */
static void chain(struct crit_recording *recording, uint32_t *first, uint32_t *last, uint32_t index)
{
	if (*first == CRIT_NONE)
		*first = index;
	else
		recording->refs[*last].next = index;
	*last = index;
}

/*
 * The stamp of the first or last slot of a chunk that has one; details have none, and there may be
 * chunks of nothing else.  A poll span ends with the slot before its second one.
 */
static bool find_stamp(const struct crit_node *node, const struct crit_chunk_ref *ref, bool is_last,
		       uint64_t *ret_stamp_ns)
{
	struct crit_slot slots[STAMP_SLOTS];
	size_t left = ref->length / sizeof(slots[0]);
	size_t from = 0;

	while (left) {
		size_t want = left < STAMP_SLOTS ? left : STAMP_SLOTS;
		size_t at = is_last ? left - want : from;
		size_t i;

		if (crit_recording_read(node->recording, ref, at * sizeof(slots[0]), slots,
					want * sizeof(slots[0])) !=
		    (ssize_t)(want * sizeof(slots[0])))
			return false;
		for (i = 0; i < want; i++) {
			const struct crit_slot *slot = &slots[is_last ? want - 1 - i : i];

			if (!crit_slot_has_stamp(slot->kind))
				continue;
			*ret_stamp_ns = is_last && slot->kind == CRIT_S_POLL ? slot->arg
									     : slot->time_ns;
			return true;
		}
		from += want;
		left -= want;
	}
	return false;
}

/* A stream begins with a LEVEL, which says what the user left out. */
static void read_omitted(struct crit_model *model, const struct crit_node *node,
			 const struct crit_chunk_ref *ref)
{
	struct crit_slot slot;

	if (crit_recording_read_struct(node->recording, ref, &slot, sizeof(slot)) &&
	    slot.kind == CRIT_S_LEVEL)
		model->omitted |= slot.site;
}

static void read_slot_stamps(struct crit_node *node, struct crit_stream *stream,
			     const struct crit_chunk_ref *ref)
{
	uint64_t stamp_ns;

	if (!stream->first_ns && find_stamp(node, ref, false, &stamp_ns))
		stream->first_ns = crit_model_time(node, stamp_ns);
	if (find_stamp(node, ref, true, &stamp_ns))
		stream->last_ns = crit_model_time(node, stamp_ns);
}

static void take_note(struct crit_model *model, struct crit_node *node,
		      const struct crit_chunk_ref *ref)
{
	struct crit_rec_note note;

	if (!crit_recording_read_struct(node->recording, ref, &note, sizeof(note)))
		return;
	if (note.code == CRIT_NOTE_LEVEL && !node->row.fallback_ns)
		node->row.fallback_ns = crit_model_time(node, note.time_ns);
	if (note.code == CRIT_NOTE_CAP && !node->row.cap_ns)
		node->row.cap_ns = crit_model_time(node, note.time_ns);
	if (note.code == CRIT_NOTE_OUTPUT)
		node->row.output_error = note.value;
	if (note.code == CRIT_NOTE_SAMPLES)
		node->row.sample_error = note.value;
	model->losses.refused_clients += note.code == CRIT_NOTE_REFUSED;
	model->losses.corrupt_chunks += note.code == CRIT_NOTE_CORRUPT;
	if (note.code == CRIT_NOTE_MAPS)
		model->losses.missed_maps += note.value > 0 ? (uint32_t)note.value : 1;
}

/* The last window counts, unless a rank came or opened a new session after it. */
static void take_window(struct crit_node *node, const struct crit_chunk_ref *ref)
{
	struct crit_rec_window window;
	struct crit_rec_close close_record;

	if (ref->kind == CRIT_C_WINDOW &&
	    crit_recording_read_struct(node->recording, ref, &window, sizeof(window))) {
		node->row.has_window = true;
		node->cut_ns = crit_model_time(node, window.closed_ns);
	}
	if (ref->kind == CRIT_C_RANK ||
	    (ref->kind == CRIT_C_CLOSE &&
	     crit_recording_read_struct(node->recording, ref, &close_record,
					sizeof(close_record)) &&
	     close_record.has_reopened)) {
		node->row.has_window = false;
		node->cut_ns = CRIT_TIME_MAX;
	}
}

static void take_foot(struct crit_node *node, const struct crit_chunk_ref *ref)
{
	struct crit_rec_foot foot;

	if (!crit_recording_read_struct(node->recording, ref, &foot, sizeof(foot)))
		return;
	node->row.has_foot = true;
	node->row.critd_cpu_ns = foot.critd_cpu_ns;
	if (foot.kernel_lost > node->recording->kernel_lost)
		node->recording->kernel_lost = foot.kernel_lost;
	if (foot.shim_lost > node->recording->shim_lost)
		node->recording->shim_lost = foot.shim_lost;
	if (foot.no_buffer > node->recording->no_buffer)
		node->recording->no_buffer = foot.no_buffer;
}

static int take_chunk(struct crit_model *model, uint32_t index, uint32_t at, uint32_t *last_kernel)
{
	struct crit_node *node = &model->nodes[index];
	struct crit_chunk_ref *ref = &node->recording->refs[at];
	uint32_t number = crit_map_get(&node->stream_numbers, ref->source);
	struct crit_stream *stream = number == CRIT_NONE ? NULL : &model->streams[number];

	switch (ref->kind) {
	case CRIT_C_KERNEL:
		chain(node->recording, &node->first_kernel_ref, last_kernel, at);
		return 0;
	case CRIT_C_STREAM:
		return add_stream(model, index, ref);
	case CRIT_C_SHIM:
		if (stream) {
			chain(node->recording, &stream->first_ref, &stream->last_ref, at);
			if (ref->position != stream->next_slot)
				model->losses.shim_spans++;
			stream->next_slot = ref->position + ref->length / sizeof(struct crit_slot);
			stream->slot_count += ref->length / sizeof(struct crit_slot);
			if (!stream->first_ns)
				read_omitted(model, node, ref);
			read_slot_stamps(node, stream, ref);
		} else {
			model->losses.shim_spans++; /* nobody said whose they are */
		}
		return 0;
	case CRIT_C_COUNTERS:
		if (stream)
			chain(node->recording, &stream->first_counters, &stream->last_counters, at);
		return 0;
	case CRIT_C_STREAM_END:
		if (stream)
			end_stream(model, node, stream, ref);
		return 0;
	case CRIT_C_NOTE:
		take_note(model, node, ref);
		return 0;
	case CRIT_C_FOOT:
		take_foot(node, ref);
		return 0;
	default:
		take_window(node, ref);
		return 0;
	}
}

static int index_chunks(struct crit_model *model, uint32_t index)
{
	struct crit_node *node = &model->nodes[index];
	size_t first_stream = model->stream_count;
	uint64_t spans_before = model->losses.shim_spans;
	uint32_t last_kernel = CRIT_NONE;
	int rc = 0;

	node->first_kernel_ref = CRIT_NONE;
	for (size_t i = 0; i < node->recording->ref_count && !rc; i++)
		rc = take_chunk(model, index, (uint32_t)i, &last_kernel);
	for (size_t i = first_stream; i < model->stream_count; i++) {
		see_time(node, model->streams[i].first_ns);
		see_time(node, model->streams[i].last_ns);
	}
	/* critd's own count and the threads' must not add up: they tell of the same spans */
	if (node->recording->shim_lost > model->losses.shim_spans - spans_before)
		model->losses.shim_spans = spans_before + node->recording->shim_lost;
	node->row.lost_spans = model->losses.shim_spans - spans_before;
	node->row.lost_kernel_records = node->recording->kernel_lost;
	if (node->row.cap_ns && node->row.cap_ns < node->cut_ns)
		node->cut_ns = node->row.cap_ns;
	see_time(node, node->cut_ns); /* who lives then lives until then */
	model->losses.kernel_records += node->recording->kernel_lost;
	model->losses.no_buffer_threads += node->recording->no_buffer;
	model->losses.corrupt_chunks += node->recording->corrupt_chunks;
	model->losses.truncated_bytes += node->recording->truncated_bytes;
	model->losses.missing_chunks += node->recording->missing_chunks;
	model->losses.unknown_chunks += node->recording->unknown_chunks;
	return rc;
}

/* After the cut only names are still of interest. */
static void name_only(struct crit_model *model, const struct crit_sched_state *sched_state,
		      const struct crit_kernel_exit *record)
{
	uint32_t index;

	if (record->head.kind != CRIT_K_EXIT || !record->comm[0])
		return;
	index = crit_sched_state_find(sched_state, record->tid);
	if (index == CRIT_NONE || model->threads[index].has_exit_name)
		return;
	memcpy(model->threads[index].name, record->comm, CRIT_COMM_BYTES);
	model->threads[index].has_exit_name = true;
}

static int index_records(struct crit_model *model, uint32_t index,
			 struct crit_sched_state *sched_state, struct crit_kernel_feed *feed)
{
	struct crit_node *node = &model->nodes[index];
	const union crit_kernel_record *record;

	while ((record = crit_kernel_feed_front(feed))) {
		if (record->head.time_ns > node->cut_ns) {
			name_only(model, sched_state, &record->exited);
		} else {
			int rc = crit_sched_state_step(sched_state, record);

			if (rc)
				return rc;
			if (record->head.kind == CRIT_K_SAMPLE ||
			    record->head.kind == CRIT_K_CAPTURE) /* it ends nobody's life */
				model->sample_count++;
			else
				see_time(node, record->head.time_ns);
		}
		crit_kernel_feed_pop(feed);
	}
	return 0;
}

static int index_kernel(struct crit_model *model, uint32_t index)
{
	struct crit_node *node = &model->nodes[index];
	struct crit_sched_state sched_state;
	struct crit_kernel_feed feed;
	int rc;

	node->first_thread = (uint32_t)model->thread_count;
	crit_sched_state_init(&sched_state, model, index, true);
	rc = crit_kernel_feed_init(&feed, node->recording, &node->clock, node->first_kernel_ref);
	if (!rc) {
		rc = index_records(model, index, &sched_state, &feed);
		crit_threads_settle_exits(model, sched_state.node);
		model->losses.late_records += feed.late_records;
		model->losses.corrupt_chunks += feed.bad_chunks;
		model->losses.unknown_records += feed.unknown_records;
		model->losses.unmatched_switches += sched_state.unmatched;
		model->losses.wakes_early += sched_state.wakes_early;
		model->losses.crowded_records += sched_state.refused;
		node->row.kernel_record_count = feed.record_count;
		crit_kernel_feed_fini(&feed);
	}
	crit_sched_state_fini(&sched_state);
	return rc;
}

int crit_index_pass(struct crit_model *model)
{
	int rc = 0;

	model->first_exec_ns = CRIT_TIME_MAX;
	for (uint32_t i = 0; i < model->node_count && !rc; i++) {
		model->nodes[i].cut_ns = CRIT_TIME_MAX;
		model->nodes[i].first_ns = CRIT_TIME_MAX;
		rc = index_chunks(model, i);
		if (!rc)
			rc = index_kernel(model, i);
		if (!rc)
			rc = crit_register_clients(model, i);
	}
	if (!rc)
		rc = crit_index_pass_streams(model);
	if (!rc)
		rc = crit_roles_find(model);
	if (!rc)
		rc = crit_cpu_masks_survey(model);
	return rc;
}
