// SPDX-License-Identifier: BSD-3-Clause
// The records of a made recording: metadata, kernel records, slots, and the tag words they imply.
#include <stdlib.h>
#include <string.h>

#include "core/base/call.h"
#include "tests/lib/maker_constructs.h"
#include "tests/lib/recording_maker_priv.h"

static void put_one(struct crit_maker *m, enum crit_chunk_kind kind, const void *record,
		    size_t bytes, uint64_t time_ns)
{
	struct crit_chunk_head head = {
		.kind = (uint16_t)kind,
		.first_ns = time_ns,
		.last_ns = time_ns,
	};

	crit_maker_chunk(m, head, record, bytes);
}

void crit_maker_file(struct crit_maker *m, struct crit_rec_file file)
{
	put_one(m, CRIT_C_FILE, &file, sizeof(file), 0);
}

void crit_maker_process(struct crit_maker *m, struct crit_rec_process process)
{
	put_one(m, CRIT_C_PROCESS, &process, sizeof(process), process.time_ns);
}

void crit_maker_rank(struct crit_maker *m, struct crit_rec_rank rank)
{
	put_one(m, CRIT_C_RANK, &rank, sizeof(rank), rank.open_ns);
}

void crit_maker_close(struct crit_maker *m, struct crit_rec_close close)
{
	put_one(m, CRIT_C_CLOSE, &close, sizeof(close), close.close_ns);
}

void crit_maker_gone(struct crit_maker *m, struct crit_rec_gone gone)
{
	put_one(m, CRIT_C_GONE, &gone, sizeof(gone), gone.time_ns);
}

static void put_with_text(struct crit_maker *m, struct crit_chunk_head head, const void *record,
			  size_t bytes, const char *text)
{
	size_t length = bytes + strlen(text);
	unsigned char *payload = malloc(length);

	if (!payload)
		crit_maker_fail("get memory");
	memcpy(payload, record, bytes);
	memcpy(payload + bytes, text, length - bytes);
	crit_maker_chunk(m, head, payload, length);
	free(payload);
}

void crit_maker_maps(struct crit_maker *m, struct crit_rec_maps maps, const char *text)
{
	struct crit_chunk_head head = {
		.kind = CRIT_C_MAPS,
		.first_ns = maps.time_ns,
		.last_ns = maps.time_ns,
	};

	put_with_text(m, head, &maps, sizeof(maps), text);
}

void crit_maker_name(struct crit_maker *m, struct crit_rec_name name)
{
	put_one(m, CRIT_C_NAMES, &name, sizeof(name), 0);
}

void crit_maker_note(struct crit_maker *m, struct crit_rec_note note, const char *text)
{
	struct crit_chunk_head head = {
		.kind = CRIT_C_NOTE,
		.first_ns = note.time_ns,
		.last_ns = note.time_ns,
	};

	put_with_text(m, head, &note, sizeof(note), text);
}

void crit_maker_window(struct crit_maker *m, uint64_t closed_ns)
{
	struct crit_rec_window window = { .closed_ns = closed_ns };

	crit_maker_drain(m); /* critd writes it when its rings are empty */
	put_one(m, CRIT_C_WINDOW, &window, sizeof(window), closed_ns);
}

void crit_maker_foot(struct crit_maker *m, struct crit_rec_foot foot)
{
	crit_maker_drain(m);
	put_one(m, CRIT_C_FOOT, &foot, sizeof(foot), foot.time_ns);
}

static void put_kernel(struct crit_maker *m, enum crit_kernel_kind kind,
		       struct crit_kernel_head *record, size_t bytes)
{
	record->kind = (uint8_t)kind;
	record->size = (uint8_t)bytes;
	if (m->options.tamper_kernel && !m->options.tamper_kernel(m->options.user, record))
		return;
	crit_maker_append(m, 0, record, bytes, record->time_ns);
}

void crit_maker_switch(struct crit_maker *m, struct crit_kernel_switch record)
{
	if (record.prev_tid)
		record.head.flags |= CRIT_KF_PREV_MEMBER;
	if (record.next_tid)
		record.head.flags |= CRIT_KF_NEXT_MEMBER;
	put_kernel(m, CRIT_K_SWITCH, &record.head, sizeof(record));
}

void crit_maker_taken(struct crit_maker *m, struct crit_kernel_taken record)
{
	record.switched.head.flags |= record.switched.prev_tid ? CRIT_KF_PREV_MEMBER
							       : CRIT_KF_NEXT_MEMBER;
	put_kernel(m, CRIT_K_SWITCH, &record.switched.head, sizeof(record));
}

void crit_maker_outside(struct crit_maker *m, struct crit_kernel_outside record)
{
	put_kernel(m, CRIT_K_OUTSIDE, &record.head, sizeof(record));
}

void crit_maker_yields(struct crit_maker *m, struct crit_kernel_yields record)
{
	put_kernel(m, CRIT_K_YIELDS, &record.head, sizeof(record));
}

void crit_maker_ran(struct crit_maker *m, struct crit_kernel_ran record)
{
	put_kernel(m, CRIT_K_RAN, &record.head, sizeof(record));
}

void crit_maker_wake(struct crit_maker *m, struct crit_kernel_wake record)
{
	put_kernel(m, CRIT_K_WAKE, &record.head, sizeof(record));
}

void crit_maker_wake_new(struct crit_maker *m, struct crit_kernel_wake record)
{
	put_kernel(m, CRIT_K_WAKE_NEW, &record.head, sizeof(record));
}

void crit_maker_fork(struct crit_maker *m, struct crit_kernel_fork record)
{
	put_kernel(m, CRIT_K_FORK, &record.head, sizeof(record));
}

void crit_maker_exec(struct crit_maker *m, struct crit_kernel_exec record)
{
	put_kernel(m, CRIT_K_EXEC, &record.head, sizeof(record));
}

void crit_maker_exit(struct crit_maker *m, struct crit_kernel_exit record)
{
	put_kernel(m, CRIT_K_EXIT, &record.head, sizeof(record));
}

void crit_maker_enrol(struct crit_maker *m, struct crit_kernel_enrol record)
{
	put_kernel(m, CRIT_K_ENROL, &record.head, sizeof(record));
}

struct maker_source *crit_maker_find_stream(const struct crit_maker *m, uint32_t stream)
{
	if (!stream || stream >= m->source_count)
		crit_maker_fail("find the stream");
	return &m->sources[stream];
}

uint32_t crit_maker_stream(struct crit_maker *m, struct crit_rec_stream stream)
{
	uint32_t number = crit_maker_add_source(m);
	struct crit_chunk_head head = {
		.kind = CRIT_C_STREAM,
		.source = number,
		.first_ns = stream.claim_ns,
		.last_ns = stream.claim_ns,
		.position = stream.claim_pos,
	};

	m->sources[number].stream = stream;
	m->sources[number].position = stream.claim_pos;
	crit_maker_chunk(m, head, &stream, sizeof(stream));
	return number;
}

void crit_maker_stream_end(struct crit_maker *m, uint32_t stream, struct crit_rec_stream_end end)
{
	struct maker_source *s = crit_maker_find_stream(m, stream);
	struct crit_chunk_head head = {
		.kind = CRIT_C_STREAM_END,
		.source = stream,
		.first_ns = end.release_ns,
		.last_ns = end.release_ns,
		.position = s->position,
	};

	end.pid = s->stream.pid;
	end.ns_tid = s->stream.ns_tid;
	if (!end.end_pos)
		end.end_pos = s->position;
	crit_maker_chunk(m, head, &end, sizeof(end));
}

void crit_maker_put_slot(struct crit_maker *m, uint32_t stream, struct crit_slot slot,
			 uint64_t time_ns)
{
	struct maker_source *s = crit_maker_find_stream(m, stream);

	if (m->options.tamper_slot && !m->options.tamper_slot(m->options.user, stream, &slot)) {
		s->position++; /* written, so the tags know of it, but lost on its way */
		return;
	}
	m->slot_count++;
	crit_maker_append(m, stream, &slot, sizeof(slot), time_ns);
}

void crit_maker_slot(struct crit_maker *m, uint32_t stream, struct crit_slot slot)
{
	crit_maker_put_slot(m, stream, slot, slot.time_ns);
}

void crit_maker_detail(struct crit_maker *m, uint32_t stream, struct crit_slot_detail detail)
{
	struct crit_slot slot;

	detail.kind = CRIT_S_DETAIL;
	detail.slots = 1;
	memcpy(&slot, &detail, sizeof(slot));
	crit_maker_put_slot(m, stream, slot, crit_maker_find_stream(m, stream)->last_ns);
}

void crit_maker_comm(struct crit_maker *m, uint32_t stream, struct crit_slot_comm comm)
{
	struct crit_slot slot;

	comm.kind = CRIT_S_COMM;
	comm.slots = 1;
	memcpy(&slot, &comm, sizeof(slot));
	crit_maker_put_slot(m, stream, slot, crit_maker_find_stream(m, stream)->last_ns);
}

void crit_maker_enter_at(struct crit_maker *m, uint32_t stream, uint64_t time_ns, uint32_t call,
			 uint64_t site)
{
	crit_maker_construct(m, stream, time_ns,
			     (struct crit_maker_construct){
				     call, crit_maker_region_now(crit_maker_find_stream(m, stream)),
				     site, 0 });
}

void crit_maker_leave(struct crit_maker *m, uint32_t stream, uint64_t time_ns, uint32_t call)
{
	struct maker_source *s = crit_maker_find_stream(m, stream);

	if (s->depth)
		s->depth--;
	crit_maker_slot(m, stream,
			(struct crit_slot){ .time_ns = time_ns,
					    .kind = CRIT_S_LEAVE,
					    .slots = 1,
					    .call = (uint16_t)call });
}

void crit_maker_poll(struct crit_maker *m, uint32_t stream, struct crit_maker_poll poll)
{
	struct crit_slot first = {
		.time_ns = poll.first_ns,
		.kind = CRIT_S_POLL,
		.slots = 2,
		.call = (uint16_t)poll.call,
		.region = (uint32_t)poll.count,
		.site = poll.site,
		.arg = poll.last_ns,
	};
	struct crit_slot_poll2 second = {
		.gap_sum_ns = poll.gap_sum_ns,
		.kind = CRIT_S_CONTINUED,
		.count = poll.count,
	};
	struct maker_source *s = crit_maker_find_stream(m, stream);

	if (m->options.tamper_slot && !m->options.tamper_slot(m->options.user, stream, &first)) {
		s->position += 2;
		return;
	}
	m->slot_count += 2;
	/* both halves into one chunk, as critd does but where its ring wraps */
	if (s->length + sizeof(first) + sizeof(second) > m->options.chunk_bytes)
		crit_maker_lose(m, stream, 0);
	crit_maker_append(m, stream, &first, sizeof(first), first.time_ns);
	crit_maker_append(m, stream, &second, sizeof(second), poll.last_ns);
}

void crit_maker_counters(struct crit_maker *m, uint32_t stream, const struct crit_counter *counters,
			 size_t count)
{
	struct crit_chunk_head head = { .kind = CRIT_C_COUNTERS, .source = stream };

	(void)crit_maker_find_stream(m, stream);
	crit_maker_chunk(m, head, counters, count * sizeof(*counters));
}

static uint64_t tag_of(const struct maker_source *s, uint32_t call, enum crit_span_class class)
{
	return crit_tag_pack(s->position, crit_maker_region_now(s), call, class, s->stream.stripe);
}

uint64_t crit_maker_tag(const struct crit_maker *m, uint32_t stream)
{
	const struct maker_source *s = crit_maker_find_stream(m, stream);
	uint32_t call = s->depth ? s->calls[s->depth - 1] : 0;

	if (!call && s->is_worker)
		return tag_of(s, 0, CRIT_CLASS_OMP_IDLE);
	return tag_of(s, call, call ? crit_call_class(call) : CRIT_CLASS_USER);
}

uint64_t crit_maker_poll_tag(const struct crit_maker *m, uint32_t stream, uint32_t call)
{
	return tag_of(crit_maker_find_stream(m, stream), call, CRIT_CLASS_MPI_POLL);
}

uint64_t crit_maker_kernel_count(const struct crit_maker *m)
{
	return m->sources[0].position;
}

uint64_t crit_maker_slot_count(const struct crit_maker *m)
{
	return m->slot_count;
}
