/* SPDX-License-Identifier: BSD-3-Clause */
/* Gathers records of one source into chunks of at most 256 KiB. */
#ifndef CRIT_COLLECTOR_BATCH_H
#define CRIT_COLLECTOR_BATCH_H

#include <stdint.h>

#include "collector/record/writer.h"

#define CRIT_BATCH_BYTES (256u << 10)
#define CRIT_BATCH_AGE_NS 100000000ull /* a chunk leaves at least this often */

struct crit_batch {
	struct crit_buffer *buffer; /* NULL: nothing gathered */
	uint64_t born_ns; /* when the buffer was begun */
	uint64_t lost; /* since the last chunk of this source */
	uint64_t position; /* number of the next record */
	uint32_t source;
	uint32_t last_bytes; /* of the last chunk: the next one starts with as much room */
	uint16_t kind;
};

void crit_batch_init(struct crit_batch *batch, uint16_t kind, uint32_t source);

/* As crit_batch_room, where there may be none yet. */
void *crit_batch_make_room(struct crit_batch *batch, size_t bytes, uint64_t now_ns);

/*
 * Room for bytes more at the batch's end, or NULL when it must be flushed first or memory is short.
 * Range: bytes at most CRIT_BATCH_BYTES, a multiple of 8.  Cost: a compare, but for the first one.
 */
static inline void *crit_batch_room(struct crit_batch *batch, size_t bytes, uint64_t now_ns)
{
	struct crit_buffer *buffer = batch->buffer;
	size_t end = buffer ? buffer->head.length + bytes : SIZE_MAX;

	if (end <= CRIT_BATCH_BYTES && end <= buffer->room_bytes)
		return buffer->payload + buffer->head.length;
	return crit_batch_make_room(batch, bytes, now_ns);
}

/* Bytes that fit where the last room is. */
static inline size_t crit_batch_left(const struct crit_batch *batch)
{
	const size_t room = batch->buffer->room_bytes < CRIT_BATCH_BYTES ? batch->buffer->room_bytes
									 : CRIT_BATCH_BYTES;

	return room - batch->buffer->head.length;
}

/* Counts what was put into the room: so many records, of bytes in all, with their stamps. */
static inline void crit_batch_take(struct crit_batch *batch, size_t bytes, uint32_t records,
				   uint64_t first_ns, uint64_t last_ns)
{
	struct crit_chunk_head *head = &batch->buffer->head;

	head->length += (uint32_t)bytes;
	batch->buffer->record_count += records;
	batch->position += records;
	if (head->first_ns == 0 || first_ns < head->first_ns)
		head->first_ns = first_ns;
	if (last_ns > head->last_ns)
		head->last_ns = last_ns;
}

static inline int crit_batch_is_old(const struct crit_batch *batch, uint64_t now_ns)
{
	return batch->buffer && now_ns >= batch->born_ns + CRIT_BATCH_AGE_NS;
}

/*
 * Hands the gathered chunk to the writer.  Returns the bytes it takes in the file, 0 when nothing
 * was gathered, or -ENOBUFS: its records are counted as lost before the next chunk.
 */
long crit_batch_flush(struct crit_batch *batch, struct crit_sink *sink);

/* Throws away what was gathered. */
void crit_batch_fini(struct crit_batch *batch);

#endif
