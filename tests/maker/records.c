// SPDX-License-Identifier: BSD-3-Clause
// Records: metadata, kernel records, slots, and the tag words that they imply.
#include <stdlib.h>
#include <string.h>

#include "core/base/call.h"
#include "tests/maker/inside.h"

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

#define PUT_ONE(name, kind, time_ns)                                                               \
	void crit_maker_##name(struct crit_maker *m, struct crit_rec_##name record)                \
	{                                                                                          \
		put_one(m, CRIT_C_##kind, &record, sizeof(record), time_ns);                       \
	}
PUT_ONE(file, FILE, 0)
PUT_ONE(process, PROCESS, record.time_ns)
PUT_ONE(rank, RANK, record.open_ns)
PUT_ONE(close, CLOSE, record.close_ns)
PUT_ONE(gone, GONE, record.time_ns)
PUT_ONE(clock, CLOCK, record.time_ns)
PUT_ONE(name, NAMES, 0)

static void put_with_text(struct crit_maker *m, enum crit_chunk_kind kind, uint64_t time_ns,
			  const void *record, size_t bytes, const char *text)
{
	size_t length = bytes + strlen(text);
	unsigned char *payload = malloc(length);

	if (!payload)
		crit_maker_fail("get memory");
	memcpy(payload, record, bytes);
	memcpy(payload + bytes, text, length - bytes);
	put_one(m, kind, payload, length, time_ns);
	free(payload);
}

void crit_maker_maps(struct crit_maker *m, struct crit_rec_maps maps, const char *text)
{
	put_with_text(m, CRIT_C_MAPS, maps.time_ns, &maps, sizeof(maps), text);
}

void crit_maker_note(struct crit_maker *m, struct crit_rec_note note, const char *text)
{
	put_with_text(m, CRIT_C_NOTE, note.time_ns, &note, sizeof(note), text);
}

void crit_maker_path_file(struct crit_maker *m, uint32_t file, const char *name)
{
	const struct crit_rec_path_file record = { file, (uint32_t)strlen(name) };

	put_with_text(m, CRIT_C_PATH_FILES, 0, &record, sizeof(record), name);
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

/* Writes the head as versions 1 and 2 have it. */
static void make_old(struct crit_kernel_head *record)
{
	struct crit_kernel_head_2 head = { .kind = (uint8_t)record->kind,
					   .size = (uint8_t)record->size,
					   .cpu = record->cpu,
					   .flags = record->flags,
					   .state = record->state,
					   .time_ns = record->time_ns };

	memcpy(record, &head, sizeof(head));
}

/* Of threads that records lately told of, wherever; with their stamps, or 1 ns before. */
static void put_samples(struct crit_maker *m, const struct crit_kernel_head *record)
{
	struct maker_samples *samples = &m->samples;
	struct crit_random *random = &samples->random;
	const struct crit_kernel_switch *switched = (const void *)record;
	const struct crit_kernel_enrol *enrolled = (const void *)record;
	uint32_t tid = 0;

	if (!m->options.samples || samples->is_putting)
		return;
	if (record->kind == CRIT_K_SWITCH)
		tid = switched->next_tid ? switched->next_tid : switched->prev_tid;
	else if (record->kind == CRIT_K_ENROL)
		tid = enrolled->tid;
	if (tid)
		samples->tids[samples->next++ % MAKER_SAMPLED_MAX] = tid;
	samples->is_putting = true;
	while (crit_random_is(random, 40)) {
		struct crit_kernel_sample sample = {
			.head = { .time_ns = record->time_ns - crit_random_below(random, 2),
				  .cpu = record->cpu,
				  .flags = (uint8_t)crit_random_below(random, 256) },
			.tid = samples->tids[crit_random_below(random, MAKER_SAMPLED_MAX)],
			.ip = crit_random_below(random, 20),
			.period_ns = (uint32_t)crit_random_below(random, 1ull << 32),
			.keep = (uint16_t)crit_random_below(random, 65536)
		};

		crit_maker_sample(m, sample);
	}
	samples->is_putting = false;
}

void crit_maker_kernel(struct crit_maker *m, struct crit_kernel_head *record, size_t bytes)
{
	put_samples(m, record);
	record->size = (uint16_t)bytes;
	if (m->options.tamper_kernel && !m->options.tamper_kernel(m->options.user, record))
		return;
	if (m->options.version && m->options.version < 3)
		make_old(record);
	crit_maker_append(m, 0, record, bytes, record->time_ns);
}

static void put_kernel(struct crit_maker *m, enum crit_kernel_kind kind,
		       struct crit_kernel_head *record, size_t bytes)
{
	record->kind = (uint16_t)kind;
	crit_maker_kernel(m, record, bytes);
}

void crit_maker_switch(struct crit_maker *m, struct crit_kernel_switch record)
{
	if (record.prev_tid)
		record.head.flags |= CRIT_KF_PREV_MEMBER;
	if (record.next_tid)
		record.head.flags |= CRIT_KF_NEXT_MEMBER;
	put_kernel(m, CRIT_K_SWITCH, &record.head, sizeof(record));
}

void crit_maker_preempted(struct crit_maker *m, struct crit_kernel_preempted record)
{
	record.switched.head.flags |= record.switched.prev_tid ? CRIT_KF_PREV_MEMBER
							       : CRIT_KF_NEXT_MEMBER;
	put_kernel(m, CRIT_K_SWITCH, &record.switched.head, sizeof(record));
}

#define PUT_KERNEL(name, type, kind)                                                               \
	void crit_maker_##name(struct crit_maker *m, struct crit_kernel_##type record)             \
	{                                                                                          \
		put_kernel(m, CRIT_K_##kind, &record.head, sizeof(record));                        \
	}
PUT_KERNEL(outside, outside, OUTSIDE)
PUT_KERNEL(yields, yields, YIELDS)
PUT_KERNEL(ran, ran, RAN)
PUT_KERNEL(wake, wake, WAKE)
PUT_KERNEL(wake_new, wake, WAKE_NEW)
PUT_KERNEL(fork, fork, FORK)
PUT_KERNEL(exec, exec, EXEC)
PUT_KERNEL(exit, exit, EXIT)
PUT_KERNEL(enrol, enrol, ENROL)
PUT_KERNEL(sample, sample, SAMPLE)

static struct maker_source *find_stream(const struct crit_maker *m, uint32_t stream)
{
	if (!stream || stream >= m->source_count)
		crit_maker_fail("find the stream");
	return &m->sources[stream];
}

/* The region in force. */
static uint32_t region_now(const struct maker_source *s)
{
	return s->depth ? s->regions[s->depth - 1] : 0;
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
	struct maker_source *s = find_stream(m, stream);
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

static void put_slot(struct crit_maker *m, uint32_t stream, struct crit_slot slot, uint64_t time_ns)
{
	struct maker_source *s = find_stream(m, stream);

	if (m->options.tamper_slot && !m->options.tamper_slot(m->options.user, stream, &slot)) {
		s->position++; /* written, so the tags know of it, but lost on its way */
		return;
	}
	m->slot_count++;
	crit_maker_append(m, stream, &slot, sizeof(slot), time_ns);
}

void crit_maker_slot(struct crit_maker *m, uint32_t stream, struct crit_slot slot)
{
	put_slot(m, stream, slot, slot.time_ns);
}

/* Bytes of a slot without a stamp. */
static void put_plain(struct crit_maker *m, uint32_t stream, const void *bytes)
{
	struct crit_slot slot;

	memcpy(&slot, bytes, sizeof(slot));
	put_slot(m, stream, slot, find_stream(m, stream)->last_ns);
}

void crit_maker_detail(struct crit_maker *m, uint32_t stream, struct crit_slot_detail detail)
{
	detail.kind = CRIT_S_DETAIL;
	detail.slots = 1;
	put_plain(m, stream, &detail);
}

void crit_maker_comm(struct crit_maker *m, uint32_t stream, struct crit_slot_comm comm)
{
	comm.kind = CRIT_S_COMM;
	comm.slots = 1;
	put_plain(m, stream, &comm);
}

void crit_maker_construct(struct crit_maker *m, uint32_t stream, uint64_t time_ns,
			  struct crit_maker_construct construct)
{
	struct maker_source *s = find_stream(m, stream);

	if (s->depth == MAKER_DEPTH_MAX)
		crit_maker_fail("nest spans that deep");
	s->calls[s->depth] = construct.call;
	s->regions[s->depth++] = construct.region;
	crit_maker_slot(m, stream,
			(struct crit_slot){ .time_ns = time_ns,
					    .kind = CRIT_S_ENTER,
					    .slots = 1,
					    .call = (uint16_t)construct.call,
					    .region = construct.region,
					    .site = construct.site,
					    .arg = construct.arg });
}

void crit_maker_worker(struct crit_maker *m, uint32_t stream, uint64_t time_ns)
{
	find_stream(m, stream)->is_worker = true;
	crit_maker_slot(
		m, stream,
		(struct crit_slot){ .time_ns = time_ns, .kind = CRIT_S_WORKER, .slots = 1 });
}

void crit_maker_release(struct crit_maker *m, uint32_t stream, uint64_t time_ns, uint32_t call,
			uint64_t lock)
{
	crit_maker_slot(m, stream,
			(struct crit_slot){ .time_ns = time_ns,
					    .kind = CRIT_S_RELEASE,
					    .slots = 1,
					    .call = (uint16_t)call,
					    .region = region_now(find_stream(m, stream)),
					    .arg = lock });
}

void crit_maker_region(struct crit_maker *m, uint32_t stream, struct crit_slot_region region,
		       const char *name)
{
	struct crit_slot_text text = { .kind = CRIT_S_CONTINUED };
	size_t left = name ? strlen(name) : 0;

	region.kind = CRIT_S_REGION;
	region.name_bytes = (uint32_t)left;
	region.slots = (uint8_t)(1 + (left + CRIT_REGION_TEXT_BYTES - 1) / CRIT_REGION_TEXT_BYTES);
	put_plain(m, stream, &region);
	while (left) {
		char bytes[CRIT_REGION_TEXT_BYTES] = { 0 };
		size_t length = left < sizeof(bytes) ? left : sizeof(bytes);

		memcpy(bytes, name, length);
		memcpy(text.head, bytes, sizeof(text.head));
		memcpy(text.tail, bytes + sizeof(text.head), sizeof(text.tail));
		put_plain(m, stream, &text);
		name += length;
		left -= length;
	}
}

void crit_maker_enter_at(struct crit_maker *m, uint32_t stream, uint64_t time_ns, uint32_t call,
			 uint64_t site)
{
	crit_maker_construct(
		m, stream, time_ns,
		(struct crit_maker_construct){ call, region_now(find_stream(m, stream)), site, 0 });
}

void crit_maker_enter(struct crit_maker *m, uint32_t stream, uint64_t time_ns, uint32_t call)
{
	crit_maker_enter_at(m, stream, time_ns, call, 0x400000 + call);
}

void crit_maker_leave(struct crit_maker *m, uint32_t stream, uint64_t time_ns, uint32_t call)
{
	struct maker_source *s = find_stream(m, stream);

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
	struct maker_source *s = find_stream(m, stream);

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

	(void)find_stream(m, stream);
	crit_maker_chunk(m, head, counters, count * sizeof(*counters));
}

static uint64_t tag_of(const struct maker_source *s, uint32_t call, enum crit_span_class class)
{
	return crit_tag_pack(s->position, region_now(s), call, class, s->stream.buffer);
}

uint64_t crit_maker_tag(const struct crit_maker *m, uint32_t stream)
{
	const struct maker_source *s = find_stream(m, stream);
	uint32_t call = s->depth ? s->calls[s->depth - 1] : 0;

	if (!call && s->is_worker)
		return tag_of(s, 0, CRIT_CLASS_OMP_IDLE);
	return tag_of(s, call, call ? crit_call_class(call) : CRIT_CLASS_USER);
}

uint64_t crit_maker_poll_tag(const struct crit_maker *m, uint32_t stream, uint32_t call)
{
	return tag_of(find_stream(m, stream), call, CRIT_CLASS_MPI_POLL);
}

uint64_t crit_maker_kernel_count(const struct crit_maker *m)
{
	return m->sources[0].position;
}

uint64_t crit_maker_slot_count(const struct crit_maker *m)
{
	return m->slot_count;
}
