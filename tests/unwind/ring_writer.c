// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unwind/ring_writer.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/abi/abi_recording.h"
#include "core/base/chunk.h"

#define ENTRY_BYTES_MAX (1u << 20)

void ring_writer_init(struct ring_writer *writer, uint64_t ring_bytes)
{
	writer->memory_bytes = CRIT_STACKS_HEAD_BYTES + ring_bytes;
	writer->fd = memfd_create("stacks", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (writer->fd < 0 || ftruncate(writer->fd, (off_t)writer->memory_bytes) ||
	    fcntl(writer->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))
		abort();
	writer->head =
		mmap(NULL, writer->memory_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, writer->fd, 0);
	if (writer->head == MAP_FAILED)
		abort();
	writer->has_marks = false;
	writer->head->magic = CRIT_STACKS_MAGIC;
	writer->head->ring_bytes = ring_bytes;
	writer->bytes = (unsigned char *)writer->head + CRIT_STACKS_HEAD_BYTES;
}

void ring_writer_fini(struct ring_writer *writer)
{
	(void)munmap(writer->head, writer->memory_bytes);
	close(writer->fd);
}

/* That of its part, unless an entry before it begins there. */
static void mark(struct crit_stacks_head *head, uint64_t at)
{
	const uint64_t part_bytes = head->ring_bytes / CRIT_STACKS_MARKS;
	uint64_t *known = (uint64_t *)&head->marks[at / part_bytes % CRIT_STACKS_MARKS];

	if (!at || *known / part_bytes != at / part_bytes)
		*known = at;
}

void ring_writer_put(struct ring_writer *writer, const void *bytes, size_t byte_count)
{
	const unsigned char *from = bytes;
	const uint64_t at = writer->head->written;

	if (writer->has_marks)
		mark(writer->head, at);
	__atomic_store_n(&writer->head->begun, at + byte_count, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	for (size_t i = 0; i < byte_count; i++)
		writer->bytes[(at + i) & (writer->head->ring_bytes - 1)] = from[i];
	__atomic_store_n(&writer->head->written, at + byte_count, __ATOMIC_RELEASE);
}

/* Head, tail and padding as one entry. */
static void put_entry(struct ring_writer *writer, void *head, size_t head_bytes, const void *tail,
		      size_t tail_bytes)
{
	static unsigned char whole[ENTRY_BYTES_MAX];
	struct crit_stacks_entry *entry = head;
	const size_t byte_count = crit_chunk_padded(head_bytes + tail_bytes);

	if (byte_count > sizeof(whole))
		abort();
	entry->bytes = (uint32_t)byte_count;
	memset(whole, 0, byte_count);
	memcpy(whole, head, head_bytes);
	memcpy(whole + head_bytes, tail, tail_bytes);
	ring_writer_put(writer, whole, byte_count);
}

void ring_writer_put_copy(struct ring_writer *writer, const struct crit_stacks_copy *copy,
			  const void *stack)
{
	struct crit_stacks_copy whole = *copy;

	whole.entry.kind = CRIT_STACKS_COPY;
	put_entry(writer, &whole, sizeof(whole), stack, copy->stack_bytes);
}

/* By the kernel: a sanitizer would see what lies between the variables of frames. */
void ring_writer_put_stack(struct ring_writer *writer, const struct crit_stacks_copy *copy)
{
	static unsigned char stack[ENTRY_BYTES_MAX];
	const struct iovec to = { stack, copy->stack_bytes };
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): the stack as it is */
	const struct iovec from = { (void *)copy->sp, copy->stack_bytes };

	if (copy->stack_bytes > sizeof(stack) ||
	    process_vm_readv(getpid(), &to, 1, &from, 1, 0) != (ssize_t)copy->stack_bytes)
		abort();
	ring_writer_put_copy(writer, copy, stack);
}

void ring_writer_put_maps(struct ring_writer *writer, uint32_t pid, uint64_t time_ns,
			  const char *text, size_t text_bytes)
{
	struct {
		struct crit_stacks_entry entry;
		struct crit_rec_maps maps;
	} head = { .entry = { .kind = CRIT_STACKS_MAPS },
		   .maps = { .pid = pid, .time_ns = time_ns } };

	put_entry(writer, &head, sizeof(head), text, text_bytes);
}

void ring_writer_end(struct ring_writer *writer)
{
	__atomic_store_n(&writer->head->is_over, 1, __ATOMIC_RELEASE);
}
