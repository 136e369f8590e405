// SPDX-License-Identifier: BSD-3-Clause
// One thread per recording: numbers, seals and appends chunks; cuts back to the last whole one.
#include "collector/record/writer.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collector/system/now.h"
#include "collector/system/scheduling.h"
#include "core/base/chunk.h"

#define RETRY_NS 500000000ull
#define KEPT_BYTES (4 << 20) /* of free memory, by the allocator */
#define STACK_BYTES (128 << 10) /* of a thread: nothing large is on it */

static int write_all(int fd, const void *data, size_t bytes)
{
	const uint8_t *at = data;

	while (bytes > 0) {
		ssize_t done = write(fd, at, bytes);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done < 0 ? -errno : -EIO;
		at += done;
		bytes -= (size_t)done;
	}
	return 0;
}

/* Index into carry_lost, or -1 for chunks that hold no records. */
static int carry_index(uint16_t kind)
{
	return kind == CRIT_C_KERNEL ? 0 : kind == CRIT_C_SHIM ? 1 : -1;
}

static void count_unwritten(struct crit_sink *sink, const struct crit_buffer *buffer)
{
	int index = carry_index(buffer->head.kind);

	if (index >= 0)
		__atomic_add_fetch(index == 0 ? &sink->unwritten_kernel : &sink->unwritten_shim,
				   buffer->record_count, __ATOMIC_RELAXED);
}

static void drop_chunk(struct crit_sink *sink, const struct crit_buffer *buffer)
{
	int index = carry_index(buffer->head.kind);

	__atomic_add_fetch(&sink->write_errors, 1, __ATOMIC_RELAXED);
	count_unwritten(sink, buffer);
	if (index >= 0)
		sink->carry_lost[index] += buffer->record_count + buffer->head.lost;
}

static int append(struct crit_sink *sink, struct crit_buffer *buffer)
{
	size_t padded = crit_chunk_padded(buffer->head.length);
	int index = carry_index(buffer->head.kind);
	int rc;

	memset(buffer->payload + buffer->head.length, 0, padded - buffer->head.length);
	buffer->head.chunk = sink->chunk_count;
	if (index >= 0)
		buffer->head.lost += sink->carry_lost[index];
	crit_chunk_seal(&buffer->head, buffer->payload, buffer->head.length);
	rc = write_all(sink->fd, &buffer->head, sizeof(buffer->head) + padded);
	if (rc) {
		if (index >= 0)
			buffer->head.lost -= sink->carry_lost[index];
		return rc;
	}
	sink->chunk_count++;
	sink->good_bytes += (off_t)(sizeof(buffer->head) + padded);
	if (index >= 0)
		sink->carry_lost[index] = 0;
	return 0;
}

static void write_chunk(struct crit_sink *sink, struct crit_buffer *buffer)
{
	int rc = __atomic_load_n(&sink->last_error, __ATOMIC_RELAXED);

	if (rc && crit_now_ns() < sink->retry_ns) {
		drop_chunk(sink, buffer);
		return;
	}
	rc = append(sink, buffer);
	__atomic_store_n(&sink->last_error, rc, __ATOMIC_RELAXED);
	if (!rc)
		return;
	__atomic_store_n(&sink->worst_error, rc, __ATOMIC_RELAXED);
	/* half a chunk would hide all that follow */
	(void)!ftruncate(sink->fd, sink->good_bytes);
	sink->retry_ns = crit_now_ns() + RETRY_NS;
	drop_chunk(sink, buffer);
}

static void destroy_sink(struct crit_sink *sink)
{
	(void)pthread_cond_destroy(&sink->is_filled);
	(void)pthread_mutex_destroy(&sink->mutex);
	free(sink->last);
	free(sink);
}

static struct crit_buffer *take_buffer(struct crit_sink *sink)
{
	struct crit_buffer *buffer;

	(void)pthread_mutex_lock(&sink->mutex);
	while (!sink->first)
		(void)pthread_cond_wait(&sink->is_filled, &sink->mutex);
	buffer = sink->first;
	sink->first = buffer->next;
	if (!sink->first)
		sink->end = &sink->first;
	(void)pthread_mutex_unlock(&sink->mutex);
	return buffer;
}

static void count_out(struct crit_writer *writer)
{
	(void)pthread_mutex_lock(&writer->mutex);
	if (--writer->thread_count == 0)
		(void)pthread_cond_signal(&writer->is_empty);
	(void)pthread_mutex_unlock(&writer->mutex);
}

static void count_queued(struct crit_sink *sink, int64_t bytes)
{
	__atomic_add_fetch(&sink->queued_bytes, (uint64_t)bytes, __ATOMIC_RELAXED);
	__atomic_add_fetch(&sink->writer->queued_bytes, (uint64_t)bytes, __ATOMIC_RELAXED);
}

/*
 * What a sink's queue may hold: half of what all queues leave free.  So a hung file system takes a
 * third of the memory at most, n of them n / (n + 2), and another run's queue always has room.
 * Chunks that describe have room of their own: without them the others mean nothing.
 */
static size_t find_limit(const struct crit_sink *sink, bool describes)
{
	const uint64_t queued = __atomic_load_n(&sink->writer->queued_bytes, __ATOMIC_RELAXED);
	const size_t room =
		queued < CRIT_WRITER_QUEUE_BYTES ? CRIT_WRITER_QUEUE_BYTES - (size_t)queued : 0;
	const size_t limit = room / 2 < CRIT_SINK_QUEUE_BYTES ? room / 2 : CRIT_SINK_QUEUE_BYTES;
	const size_t extra = room / 8 < CRIT_SINK_EXTRA_BYTES ? room / 8 : CRIT_SINK_EXTRA_BYTES;

	return describes ? limit + extra : limit;
}

static void *sink_main(void *argument)
{
	struct crit_sink *sink = argument;
	struct crit_writer *writer = sink->writer;
	struct crit_buffer *buffer;

	sink->good_bytes = lseek(sink->fd, 0, SEEK_END); /* here, as asking may hang */
	while (!(buffer = take_buffer(sink))->is_last) {
		crit_scheduling_follow();
		write_chunk(sink, buffer);
		count_queued(sink, -(int64_t)(sizeof(*buffer) + buffer->room_bytes));
		__atomic_add_fetch(&sink->done_count, 1, __ATOMIC_RELEASE);
		free(buffer);
	}
	close(sink->fd);
	destroy_sink(sink);
	count_out(writer);
	return NULL;
}

static int start_thread(struct crit_sink *sink)
{
	struct crit_writer *writer = sink->writer;
	pthread_t thread;
	int rc;

	(void)pthread_mutex_lock(&writer->mutex);
	rc = pthread_create(&thread, &writer->attributes, sink_main, sink);
	writer->thread_count += rc == 0;
	(void)pthread_mutex_unlock(&writer->mutex);
	return -rc;
}

int crit_writer_start(struct crit_writer *writer)
{
	int rc;

	memset(writer, 0, sizeof(*writer));
	/* a chunk's memory goes round: new pages would cost as much as what is copied in */
	(void)mallopt(M_MMAP_THRESHOLD, KEPT_BYTES);
	(void)mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
	(void)mallopt(M_ARENA_MAX, 1); /* else every thread reserves 64 MiB of addresses */
	(void)pthread_mutex_init(&writer->mutex, NULL);
	(void)pthread_cond_init(&writer->is_empty, NULL);
	rc = pthread_attr_init(&writer->attributes);
	if (!rc)
		rc = pthread_attr_setdetachstate(&writer->attributes, PTHREAD_CREATE_DETACHED);
	if (!rc)
		rc = pthread_attr_setstacksize(&writer->attributes, STACK_BYTES);
	return -rc;
}

bool crit_writer_stop(struct crit_writer *writer, unsigned int deadline_ms)
{
	struct timespec until;
	bool is_empty;
	int rc = 0;

	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += deadline_ms / 1000;
	(void)pthread_mutex_lock(&writer->mutex);
	/* threads stuck in a hung file system are left to the end of the process */
	while (writer->thread_count > 0 && rc == 0)
		rc = pthread_cond_timedwait(&writer->is_empty, &writer->mutex, &until);
	is_empty = writer->thread_count == 0;
	(void)pthread_mutex_unlock(&writer->mutex);
	return is_empty;
}

bool crit_sink_is_idle(const struct crit_sink *sink)
{
	return __atomic_load_n(&sink->done_count, __ATOMIC_ACQUIRE) == sink->put_count;
}

bool crit_sink_is_full(const struct crit_sink *sink)
{
	return __atomic_load_n(&sink->queued_bytes, __ATOMIC_RELAXED) > find_limit(sink, false) / 2;
}

struct crit_buffer *crit_buffer_create(size_t room_bytes)
{
	size_t room = crit_chunk_padded(room_bytes);
	struct crit_buffer *buffer = malloc(sizeof(*buffer) + room);

	if (!buffer)
		return NULL;
	memset(buffer, 0, sizeof(*buffer));
	buffer->room_bytes = room;
	return buffer;
}

int crit_sink_create(struct crit_writer *writer, int fd, struct crit_sink **ret_sink)
{
	struct crit_sink *sink = calloc(1, sizeof(*sink));
	int rc;

	if (!sink)
		return -ENOMEM;
	sink->writer = writer;
	sink->fd = fd;
	sink->end = &sink->first;
	(void)pthread_mutex_init(&sink->mutex, NULL);
	(void)pthread_cond_init(&sink->is_filled, NULL);
	sink->last = crit_buffer_create(0);
	rc = sink->last ? start_thread(sink) : -ENOMEM;
	if (rc) {
		destroy_sink(sink);
		return rc;
	}
	sink->last->is_last = true;
	*ret_sink = sink;
	return 0;
}

static void enqueue(struct crit_sink *sink, struct crit_buffer *buffer)
{
	buffer->next = NULL;
	(void)pthread_mutex_lock(&sink->mutex);
	*sink->end = buffer;
	sink->end = &buffer->next;
	(void)pthread_cond_signal(&sink->is_filled);
	(void)pthread_mutex_unlock(&sink->mutex);
}

void crit_writer_close(struct crit_sink *sink)
{
	enqueue(sink, sink->last);
}

int crit_writer_put(struct crit_sink *sink, struct crit_buffer *buffer)
{
	size_t bytes = sizeof(*buffer) + buffer->room_bytes;
	size_t limit = find_limit(sink, carry_index(buffer->head.kind) < 0);

	if (__atomic_load_n(&sink->queued_bytes, __ATOMIC_RELAXED) + bytes > limit) {
		count_unwritten(sink, buffer);
		free(buffer);
		return -ENOBUFS;
	}
	sink->put_count++;
	count_queued(sink, (int64_t)bytes);
	enqueue(sink, buffer);
	return 0;
}
