/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes chunks to recordings, each from a thread of its own behind a bounded queue: a full or hung
 * file system stops the writing of its own runs, never draining, never the other runs.
 */
#ifndef CRIT_COLLECTOR_WRITER_H
#define CRIT_COLLECTOR_WRITER_H

#include <stdint.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "core/abi/abi_recording.h"

#define CRIT_SINK_QUEUE_BYTES (64u << 20)
#define CRIT_SINK_EXTRA_BYTES (16u << 20) /* above that, for chunks that describe */
#define CRIT_WRITER_QUEUE_BYTES (192u << 20) /* of all sinks: see find_limit */

struct crit_sink;

/* A chunk on its way: head and room for the payload behind it. */
struct crit_buffer {
	struct crit_buffer *next;
	struct crit_sink *sink;
	size_t room_bytes; /* of payload */
	uint32_t record_count; /* what is lost when the chunk cannot be written */
	bool is_last; /* no chunk: the file is to be closed */
	struct crit_chunk_head head; /* head.length payload bytes are in use */
	uint8_t payload[];
};

/* One recording file.  Written by its own thread, read by others through the atomics. */
struct crit_sink {
	struct crit_writer *writer;
	pthread_mutex_t mutex; /* of first and end */
	pthread_cond_t is_filled;
	struct crit_buffer *first;
	struct crit_buffer **end;
	int fd;
	uint64_t queued_bytes; /* atomic: in the queue now */
	uint64_t put_count; /* chunks handed over, main thread */
	uint64_t done_count; /* atomic: chunks written or dropped */
	uint64_t write_errors; /* atomic: chunks dropped */
	int worst_error; /* atomic: -errno of the latest failed write */
	int last_error; /* atomic: 0 or -errno of the latest write */
	uint64_t unwritten_kernel; /* atomic: records in KERNEL chunks dropped or refused */
	uint64_t unwritten_shim; /* atomic: slots in SHIM chunks dropped or refused */
	uint64_t chunk_count; /* writer only */
	uint64_t carry_lost[2]; /* thread only: lost since the last written KERNEL, SHIM chunk */
	uint64_t retry_ns; /* thread only: no attempt before */
	off_t good_bytes; /* thread only: end of the last whole chunk */
	struct crit_buffer *last; /* what crit_writer_close puts into the queue */
};

/* What the sinks of one critd share. */
struct crit_writer {
	pthread_attr_t attributes;
	pthread_mutex_t mutex;
	pthread_cond_t is_empty;
	uint64_t queued_bytes; /* atomic: in the queues of all sinks */
	uint32_t thread_count; /* one per sink that is not closed yet */
};

int crit_writer_start(struct crit_writer *writer);

/*
 * Lets the queues of closed sinks run empty for at most deadline_ms.  Returns false when a thread
 * is stuck: it still looks at writer.
 */
bool crit_writer_stop(struct crit_writer *writer, unsigned int deadline_ms);

/*
 * Starts the thread that writes to fd.  Ownership: the sink takes fd on success; ret_sink is closed
 * by crit_writer_close.  Errors: -ENOMEM, -EAGAIN where no thread can be had.
 */
int crit_sink_create(struct crit_writer *writer, int fd, struct crit_sink **ret_sink);
bool crit_sink_is_idle(const struct crit_sink *sink);
bool crit_sink_is_full(const struct crit_sink *sink);

struct crit_buffer *crit_buffer_create(size_t room_bytes);

/*
 * Hands a chunk over.  Ownership: takes buffer in any case.  Errors: -ENOBUFS when the queue is
 * full: the chunk is dropped and the caller counts it.  Threads: main only.
 */
int crit_writer_put(struct crit_sink *sink, struct crit_buffer *buffer);

/* Closes the file after all that was put: in the sink's thread, as closing may hang.  Ownership:
 * takes sink.  Threads: main only. */
void crit_writer_close(struct crit_sink *sink);

#endif
