// SPDX-License-Identifier: BSD-3-Clause
// Collects chunks per source, numbers and seals them, and yields the bytes of a recording.
#include "tests/maker/maker.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/chunk.h"
#include "tests/maker/inside.h"

void crit_maker_fail(const char *what)
{
	fprintf(stderr, "recording maker: cannot %s\n", what);
	exit(1);
}

void *crit_maker_grow(void *array, size_t *capacity, size_t wanted, size_t item_bytes)
{
	size_t room = *capacity ? *capacity : 16;

	if (wanted <= *capacity)
		return array;
	while (room < wanted)
		room *= 2;
	array = realloc(array, room * item_bytes);
	if (!array)
		crit_maker_fail("get memory");
	*capacity = room;
	return array;
}

struct crit_maker *crit_maker_create(const struct crit_maker_options *options)
{
	struct crit_maker *m = calloc(1, sizeof(*m));

	if (!m)
		crit_maker_fail("get memory");
	if (options)
		m->options = *options;
	m->samples.random.state = m->options.samples;
	if (!m->options.chunk_bytes || m->options.chunk_bytes > CRIT_CHUNK_PAYLOAD_MAX)
		m->options.chunk_bytes = 65536;
	(void)crit_maker_add_source(m); /* 0: the kernel */
	return m;
}

void crit_maker_destroy(struct crit_maker *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->chunk_count; i++)
		free(m->chunks[i].payload);
	for (size_t i = 0; i < m->source_count; i++)
		free(m->sources[i].bytes);
	free(m->chunks);
	free(m->sources);
	free(m);
}

static void write_chunk(struct crit_maker *m, struct crit_chunk_head *head, const void *payload,
			size_t length)
{
	static const char zeros[8];
	size_t padding = crit_chunk_padded(length) - length;

	head->chunk = m->next_chunk++;
	crit_chunk_seal(head, payload, length);
	if (fwrite(head, sizeof(*head), 1, m->options.out) != 1 ||
	    fwrite(payload, 1, length, m->options.out) != length ||
	    fwrite(zeros, 1, padding, m->options.out) != padding)
		crit_maker_fail("write a chunk");
}

/* Puts a chunk behind all others, without looking at open ones. */
static void put(struct crit_maker *m, const struct crit_chunk_head *head, const void *payload,
		size_t length)
{
	struct crit_chunk_head copy = *head;
	struct maker_chunk *chunk;

	if (!copy.version)
		copy.version = m->options.version;
	if (head->kind == CRIT_C_KERNEL || head->kind == CRIT_C_SHIM) {
		copy.lost += m->sources[head->source].lost;
		m->sources[head->source].lost = 0;
	}
	if (m->options.out) {
		write_chunk(m, &copy, payload, length);
		return;
	}
	m->chunks =
		crit_maker_grow(m->chunks, &m->chunk_room, m->chunk_count + 1, sizeof(*m->chunks));
	chunk = &m->chunks[m->chunk_count];
	chunk->head = copy;
	chunk->head.chunk = m->next_chunk++;
	chunk->length = length;
	chunk->payload = calloc(1, crit_chunk_padded(length) + 1);
	if (!chunk->payload)
		crit_maker_fail("get memory");
	memcpy(chunk->payload, payload, length);
	m->chunk_count++;
}

static void close_source(struct crit_maker *m, uint32_t source)
{
	struct maker_source *s = &m->sources[source];
	struct crit_chunk_head head = {
		.kind = source ? CRIT_C_SHIM : CRIT_C_KERNEL,
		.source = source,
		.first_ns = s->first_ns,
		.last_ns = s->last_ns,
		.position = s->first_position,
	};

	if (!s->length)
		return;
	put(m, &head, s->bytes, s->length);
	s->length = 0;
}

void crit_maker_chunk(struct crit_maker *m, struct crit_chunk_head head, const void *payload,
		      size_t length)
{
	if (head.source >= m->source_count || length > CRIT_CHUNK_PAYLOAD_MAX)
		crit_maker_fail("place a chunk");
	close_source(m, head.source);
	put(m, &head, payload, length);
}

uint32_t crit_maker_add_source(struct crit_maker *m)
{
	m->sources = crit_maker_grow(m->sources, &m->source_room, m->source_count + 1,
				     sizeof(*m->sources));
	memset(&m->sources[m->source_count], 0, sizeof(*m->sources));
	return (uint32_t)m->source_count++;
}

void crit_maker_append(struct crit_maker *m, uint32_t source, const void *record, size_t bytes,
		       uint64_t time_ns)
{
	struct maker_source *s = &m->sources[source];

	if (s->length && s->length + bytes > m->options.chunk_bytes)
		close_source(m, source);
	if (!s->length) {
		s->first_position = s->position;
		s->first_ns = s->last_ns = time_ns;
	}
	if (time_ns < s->first_ns)
		s->first_ns = time_ns;
	if (time_ns > s->last_ns)
		s->last_ns = time_ns;
	s->bytes = crit_maker_grow(s->bytes, &s->room, s->length + bytes, 1);
	memcpy(s->bytes + s->length, record, bytes);
	s->length += bytes;
	s->position++;
}

void crit_maker_lose(struct crit_maker *m, uint32_t source, uint64_t count)
{
	close_source(m, source);
	m->sources[source].lost += count;
}

void crit_maker_drain(struct crit_maker *m)
{
	for (uint32_t source = 0; source < m->source_count; source++)
		close_source(m, source);
}

size_t crit_maker_chunk_count(struct crit_maker *m)
{
	crit_maker_drain(m);
	return m->chunk_count;
}

enum crit_chunk_kind crit_maker_chunk_kind(struct crit_maker *m, size_t index)
{
	return index < m->chunk_count ? (enum crit_chunk_kind)m->chunks[index].head.kind
				      : CRIT_C_NONE;
}

void crit_maker_renumber(struct crit_maker *m)
{
	for (size_t i = 0; i < m->chunk_count; i++)
		m->chunks[i].head.chunk = i;
	m->next_chunk = m->chunk_count;
}

void crit_maker_drop_chunk(struct crit_maker *m, size_t index, bool is_renumbered)
{
	crit_maker_drain(m);
	if (index >= m->chunk_count)
		crit_maker_fail("drop a chunk that is not there");
	free(m->chunks[index].payload);
	memmove(&m->chunks[index], &m->chunks[index + 1],
		(m->chunk_count - index - 1) * sizeof(*m->chunks));
	m->chunk_count--;
	if (is_renumbered)
		crit_maker_renumber(m);
}

unsigned char *crit_maker_bytes(struct crit_maker *m, size_t *ret_length)
{
	unsigned char *bytes, *at;
	size_t length = 0;

	crit_maker_drain(m);
	for (size_t i = 0; i < m->chunk_count; i++)
		length += sizeof(struct crit_chunk_head) + crit_chunk_padded(m->chunks[i].length);
	bytes = at = malloc(length + 1);
	if (!bytes)
		crit_maker_fail("get memory");
	for (size_t i = 0; i < m->chunk_count; i++) {
		struct maker_chunk *chunk = &m->chunks[i];

		crit_chunk_seal(&chunk->head, chunk->payload, chunk->length);
		memcpy(at, &chunk->head, sizeof(chunk->head));
		at += sizeof(chunk->head);
		memcpy(at, chunk->payload, crit_chunk_padded(chunk->length));
		at += crit_chunk_padded(chunk->length);
	}
	*ret_length = length;
	return bytes;
}

int crit_maker_memfd_of(const void *bytes, size_t length)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);

	if (fd < 0 || write(fd, bytes, length) != (ssize_t)length)
		crit_maker_fail("fill a memfd");
	return fd;
}

int crit_maker_memfd(struct crit_maker *m)
{
	size_t length;
	unsigned char *bytes = crit_maker_bytes(m, &length);
	int fd = crit_maker_memfd_of(bytes, length);

	free(bytes);
	return fd;
}

void crit_maker_write(struct crit_maker *m, const char *path)
{
	size_t length;
	unsigned char *bytes = crit_maker_bytes(m, &length);
	FILE *file = fopen(path, "wb");

	if (!file || fwrite(bytes, 1, length, file) != length || fclose(file) != 0)
		crit_maker_fail("write the recording");
	free(bytes);
}
