// SPDX-License-Identifier: BSD-3-Clause
// Batches through the writer into a file: order, positions, losses, whole chunks.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collector/record/batch.h"
#include "core/base/chunk.h"
#include "tests/lib/check.h"

#define RECORD_BYTES 32u
#define RECORDS 50000u
#define MANY 8u /* file systems that hang */

static struct crit_sink *start(struct crit_writer *writer, int fd)
{
	struct crit_sink *sink = NULL;

	CHECK_INT_EQ(crit_writer_start(writer), 0);
	if (!CHECK_INT_EQ(crit_sink_create(writer, fd, &sink), 0))
		exit(1);
	return sink;
}

static void wait_idle(const struct crit_sink *sink)
{
	while (!crit_sink_is_idle(sink))
		(void)usleep(1000);
}

static void put(struct crit_batch *batch, struct crit_sink *sink, __u64 number)
{
	__u64 *room = crit_batch_room(batch, RECORD_BYTES, 1);

	if (!room) {
		CHECK_INT_GT(crit_batch_flush(batch, sink), 0);
		room = crit_batch_room(batch, RECORD_BYTES, 1);
	}
	if (!room)
		exit(1);
	memset(room, 0, RECORD_BYTES);
	*room = number;
	crit_batch_take(batch, RECORD_BYTES, 1, 1000 + number, 1000 + number);
}

/* Every chunk is whole, numbered, and goes on where the last one ended. */
static void check_file(int fd, __u64 first_lost)
{
	static char payload[CRIT_CHUNK_PAYLOAD_MAX];
	struct crit_chunk_head head;
	__u64 next = 0, chunks = 0;
	off_t at = 0;

	while (pread(fd, &head, sizeof(head), at) == (ssize_t)sizeof(head)) {
		CHECK(crit_chunk_head_is_sane(&head));
		(void)pread(fd, payload, head.length, at + (off_t)sizeof(head));
		CHECK(crit_chunk_is_whole(&head, payload));
		CHECK_UINT_EQ(head.chunk, chunks);
		CHECK_UINT_EQ(head.position, next);
		CHECK_UINT_EQ(head.lost, chunks == 0 ? first_lost : 0);
		CHECK_UINT_EQ(head.first_ns, 1000 + next);
		next += head.length / RECORD_BYTES;
		CHECK_UINT_EQ(head.last_ns, 1000 + next - 1);
		chunks++;
		at += (off_t)(sizeof(head) + crit_chunk_padded(head.length));
	}
	CHECK_UINT_EQ(next, RECORDS);
	CHECK_INT_GT(chunks, RECORDS * RECORD_BYTES / CRIT_BATCH_BYTES);
	CHECK_INT_EQ(at, lseek(fd, 0, SEEK_END));
}

static void try_file(void)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);
	int output = dup(fd);
	struct crit_writer writer;
	struct crit_sink *sink;
	struct crit_batch batch;

	CHECK_CASE("file");
	sink = start(&writer, output);
	crit_batch_init(&batch, CRIT_C_KERNEL, 0);
	batch.lost = 7;
	CHECK_INT_EQ(crit_batch_flush(&batch, sink), 0);
	for (__u64 i = 0; i < RECORDS; i++)
		put(&batch, sink, i);
	CHECK(!crit_batch_is_old(&batch, 1));
	CHECK(!crit_batch_is_old(&batch, 0)); /* a clock read before the batch was begun */
	CHECK(crit_batch_is_old(&batch, 1 + CRIT_BATCH_AGE_NS));
	CHECK_INT_GT(crit_batch_flush(&batch, sink), 0);
	wait_idle(sink);
	check_file(fd, 7);
	crit_writer_close(sink);
	CHECK(crit_writer_stop(&writer, 1000));
	CHECK_INT_EQ(fcntl(output, F_GETFD), -1);
	close(fd);
}

/* A device that is full for ever: chunks are dropped and counted, nothing blocks. */
static void try_full(void)
{
	struct crit_writer writer;
	struct crit_sink *sink;
	struct crit_batch batch;

	CHECK_CASE("full");
	sink = start(&writer, open("/dev/full", O_WRONLY | O_CLOEXEC));
	crit_batch_init(&batch, CRIT_C_KERNEL, 0);
	for (__u64 i = 0; i < RECORDS; i++)
		put(&batch, sink, i);
	(void)crit_batch_flush(&batch, sink);
	wait_idle(sink);
	CHECK_INT_EQ(sink->last_error, -ENOSPC);
	CHECK_UINT_EQ(sink->unwritten_kernel, RECORDS);
	CHECK_INT_GT(sink->write_errors, 0);
	crit_writer_close(sink);
	CHECK(crit_writer_stop(&writer, 1000));
}

/* A file system that hangs: what the queue refuses is told at the run's end too. */
static void try_queue(void)
{
	struct crit_writer writer;
	struct crit_sink *sink;
	struct crit_batch batch;

	CHECK_CASE("queue");
	sink = start(&writer, memfd_create("recording", MFD_CLOEXEC));
	for (int kind = CRIT_C_KERNEL; kind <= CRIT_C_SHIM; kind++) {
		crit_batch_init(&batch, (__u16)kind, 0);
		put(&batch, sink, 0);
		put(&batch, sink, 1);
		sink->queued_bytes = CRIT_SINK_QUEUE_BYTES;
		CHECK_INT_EQ(crit_batch_flush(&batch, sink), -ENOBUFS);
		sink->queued_bytes = 0;
		CHECK_UINT_EQ(batch.lost, 2);
		crit_batch_fini(&batch);
	}
	CHECK_UINT_EQ(sink->unwritten_kernel, 2);
	CHECK_UINT_EQ(sink->unwritten_shim, 2);
	crit_writer_close(sink);
	CHECK(crit_writer_stop(&writer, 1000));
}

/* A pipe that nobody reads hangs like a file system: one run's writing waits, another's goes on. */
static void try_hung(void)
{
	static char bytes[CRIT_BATCH_BYTES];
	struct crit_sink *hung, *other = NULL;
	struct crit_writer writer;
	struct crit_batch batch;
	int ends[2];

	CHECK_CASE("hung");
	if (pipe2(ends, O_CLOEXEC))
		exit(1);
	hung = start(&writer, ends[1]);
	CHECK_INT_EQ(crit_sink_create(&writer, memfd_create("other", MFD_CLOEXEC), &other), 0);
	crit_batch_init(&batch, CRIT_C_KERNEL, 0);
	for (__u64 i = 0; i < 3 * CRIT_BATCH_BYTES / RECORD_BYTES; i++)
		put(&batch, hung, i);
	crit_batch_fini(&batch);
	crit_batch_init(&batch, CRIT_C_KERNEL, 0);
	put(&batch, other, 0);
	CHECK_INT_GT(crit_batch_flush(&batch, other), 0);
	wait_idle(other); /* else for ever */
	CHECK_UINT_EQ(other->done_count, 1);
	CHECK(!crit_sink_is_idle(hung));
	crit_writer_close(other);
	CHECK(!crit_writer_stop(&writer, 0));
	(void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
	while (!crit_sink_is_idle(hung))
		(void)!read(ends[0], bytes, sizeof(bytes));
	crit_writer_close(hung);
	CHECK(crit_writer_stop(&writer, 1000));
	close(ends[0]);
}

/* Puts chunks of 64 KiB until the queue refuses.  Returns how many. */
static __u32 fill(struct crit_sink *sink, __u16 kind)
{
	struct crit_buffer *buffer;
	__u32 count = 0;

	for (;; count++) {
		buffer = crit_buffer_create((1 << 16) - sizeof(*buffer));
		if (!buffer)
			exit(1);
		buffer->head.kind = kind;
		if (crit_writer_put(sink, buffer))
			return count;
	}
}

/* All queues together have a bound, and each has room whatever the others hold. */
static void try_many_hung(void)
{
	struct crit_sink *sinks[MANY];
	struct crit_writer writer;
	int ends[MANY][2];
	__u32 sum = 0;

	CHECK_CASE("many hung");
	(void)signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < MANY; i++) {
		const __u32 left = (CRIT_WRITER_QUEUE_BYTES >> 16) - sum;
		__u32 count = 0;

		if (pipe2(ends[i], O_CLOEXEC))
			exit(1);
		/* full, so that not even the first chunk is written */
		(void)fcntl(ends[i][1], F_SETFL, O_NONBLOCK);
		while (write(ends[i][1], &count, sizeof(count)) > 0)
			;
		(void)fcntl(ends[i][1], F_SETFL, 0);
		if (i == 0)
			sinks[i] = start(&writer, ends[i][1]);
		else
			CHECK_INT_EQ(crit_sink_create(&writer, ends[i][1], &sinks[i]), 0);
		count = fill(sinks[i], CRIT_C_KERNEL);
		CHECK(crit_sink_is_full(sinks[i]));
		CHECK_UINT_EQ(count,
			      (left + 1) /
				      3); /* of which the last went in: q <= (left - (q - 1)) / 2 */
		sum += count;
		count = fill(sinks[i], CRIT_C_NOTE);
		CHECK_INT_GT(count, 0);
		sum += count;
	}
	CHECK_INT_LE(sum, CRIT_WRITER_QUEUE_BYTES >> 16);
	for (size_t i = 0; i < MANY; i++) {
		close(ends[i][0]);
		crit_writer_close(sinks[i]);
	}
	CHECK(crit_writer_stop(&writer, 5000));
	CHECK_UINT_EQ(writer.queued_bytes, 0);
}

int main(void)
{
	try_file();
	try_queue();
	try_full();
	try_hung();
	try_many_hung();
	return check_done();
}
