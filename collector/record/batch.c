// SPDX-License-Identifier: BSD-3-Clause
// Gathers records of one source into chunks.
#include "collector/record/batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/chunk.h"

#define FIRST_ROOM_BYTES 512u

void crit_batch_init(struct crit_batch *batch, uint16_t kind, uint32_t source)
{
	memset(batch, 0, sizeof(*batch));
	batch->kind = kind;
	batch->source = source;
}

/* A slow source gets a small buffer: there may be thousands. */
static int grow(struct crit_batch *batch, size_t wanted)
{
	size_t room = batch->buffer->room_bytes;
	struct crit_buffer *bigger;

	while (room < wanted)
		room *= 2;
	bigger = realloc(batch->buffer, sizeof(*bigger) + room);
	if (!bigger)
		return -ENOMEM;
	bigger->room_bytes = room;
	batch->buffer = bigger;
	return 0;
}

void *crit_batch_make_room(struct crit_batch *batch, size_t bytes, uint64_t now_ns)
{
	size_t used;

	if (!batch->buffer) {
		batch->buffer = crit_buffer_create(batch->last_bytes > FIRST_ROOM_BYTES
							   ? batch->last_bytes
							   : FIRST_ROOM_BYTES);
		if (!batch->buffer)
			return NULL;
		batch->born_ns = now_ns;
	}
	used = batch->buffer->head.length;
	if (used + bytes > CRIT_BATCH_BYTES)
		return NULL;
	if (used + bytes > batch->buffer->room_bytes && grow(batch, used + bytes))
		return NULL;
	return batch->buffer->payload + used;
}

long crit_batch_flush(struct crit_batch *batch, struct crit_sink *sink)
{
	struct crit_buffer *buffer = batch->buffer;
	uint32_t records;
	long bytes;

	if (!buffer)
		return 0;
	batch->buffer = NULL;
	batch->last_bytes = buffer->head.length;
	records = buffer->record_count;
	bytes = (long)(sizeof(buffer->head) + crit_chunk_padded(buffer->head.length));
	buffer->head.kind = batch->kind;
	buffer->head.source = batch->source;
	buffer->head.lost = batch->lost;
	buffer->head.position = batch->position - records;
	if (crit_writer_put(sink, buffer)) {
		batch->lost += records;
		return -ENOBUFS;
	}
	batch->lost = 0;
	return bytes;
}

void crit_batch_fini(struct crit_batch *batch)
{
	free(batch->buffer);
	batch->buffer = NULL;
}
