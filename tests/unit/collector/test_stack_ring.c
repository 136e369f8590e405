// SPDX-License-Identifier: BSD-3-Clause
// The ring of stacks, read as core/abi/abi_stacks.h says: round its end, too late, too long.
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collector/record/stack_ring.h"
#include "tests/lib/check.h"

#define RING_BYTES 16384u
#define STACK_MAX 2048u

/* Who reads: of the head and the ring it has a mapping of its own. */
static const struct crit_stacks_head *map(const struct crit_stack_ring *ring)
{
	void *head = mmap(NULL, CRIT_STACKS_HEAD_BYTES + RING_BYTES, PROT_READ, MAP_SHARED,
			  crit_stack_ring_fd(ring), 0);

	return head == MAP_FAILED ? NULL : head;
}

static void unmap(const struct crit_stacks_head *head)
{
	(void)munmap((void *)head, CRIT_STACKS_HEAD_BYTES + RING_BYTES);
}

static void copy_out(const struct crit_stacks_head *head, __u64 position, void *ret_bytes,
		     size_t bytes)
{
	const char *data = (const char *)head + CRIT_STACKS_HEAD_BYTES;

	for (size_t i = 0; i < bytes; i++)
		((char *)ret_bytes)[i] = data[(position + i) & (RING_BYTES - 1)];
}

union any_entry {
	struct crit_stacks_entry entry;
	struct crit_stacks_copy copy;
	char bytes[RING_BYTES / 4];
};

/* The entry at position, copied out.  Returns whether it is whole. */
static bool read_entry(const struct crit_stacks_head *head, __u64 position,
		       union any_entry *ret_entry)
{
	copy_out(head, position, ret_entry, sizeof(ret_entry->entry));
	if (ret_entry->entry.bytes <= sizeof(*ret_entry))
		copy_out(head, position, ret_entry, ret_entry->entry.bytes);
	return __atomic_load_n(&head->begun, __ATOMIC_ACQUIRE) - position <= head->ring_bytes;
}

static void put(struct crit_stack_ring *ring, __u32 request, __u32 stack_bytes)
{
	struct {
		struct crit_kernel_stack head;
		char bytes[STACK_MAX];
	} stack = { .head = { .request = request,
			      .pid = 7,
			      .tid = 8,
			      .stack_bytes = stack_bytes,
			      .ip = 1,
			      .sp = 2,
			      .bp = 3 } };

	memset(stack.bytes, (int)request, sizeof(stack.bytes));
	crit_stack_ring_put_copy(ring, &stack.head, 100 + request);
}

static void check_copy(const union any_entry *entry, __u32 request, __u32 stack_bytes)
{
	const struct crit_stacks_copy *copy = &entry->copy;
	bool is_same = true;

	CHECK_UINT_EQ(copy->entry.kind, CRIT_STACKS_COPY);
	CHECK_UINT_EQ(copy->entry.bytes, (sizeof(*copy) + stack_bytes + 7) & ~7ull);
	CHECK_UINT_EQ(copy->request, request);
	CHECK_UINT_EQ(copy->pid, 7);
	CHECK_UINT_EQ(copy->tid, 8);
	CHECK_UINT_EQ(copy->time_ns, 100 + request);
	CHECK_UINT_EQ(copy->ip + copy->sp + copy->bp, 6);
	if (!CHECK_UINT_EQ(copy->stack_bytes, stack_bytes))
		return;
	for (__u32 i = 0; i < stack_bytes; i++)
		is_same = is_same && entry->bytes[sizeof(*copy) + i] == (char)request;
	CHECK(is_same);
}

/* A reader that keeps up meets the end of the ring at every place that there is. */
static void try_wrap(void)
{
	const struct crit_stacks_head *head;
	struct crit_stack_ring *ring = NULL;
	union any_entry entry;
	__u64 position = 0;

	if (!CHECK_INT_EQ(crit_stack_ring_create(RING_BYTES, &ring), 0))
		return;
	head = map(ring);
	CHECK_UINT_EQ(head->magic, CRIT_STACKS_MAGIC);
	CHECK_UINT_EQ(head->ring_bytes, RING_BYTES);
	for (__u32 i = 1; i < 2000; i++) {
		const __u32 stack_bytes = i * 13 % STACK_MAX;

		CHECK_CASE("copy %u", i);
		put(ring, i, stack_bytes);
		CHECK(read_entry(head, position, &entry));
		check_copy(&entry, i, stack_bytes);
		position += entry.entry.bytes;
		if (!CHECK_UINT_EQ(position, head->written))
			break;
	}
	CHECK_UINT_EQ(head->skipped, 0);
	CHECK_UINT_EQ(head->is_over, 0);
	crit_stack_ring_end(ring);
	CHECK_UINT_EQ(head->is_over, 1);
	crit_stack_ring_destroy(ring);
	CHECK_UINT_EQ(head->is_over, 1); /* it stays as long as it is mapped */
	unmap(head);
}

/* Each is the first entry of its part of the ring; the copies have one length. */
static void check_marks(const struct crit_stacks_head *head)
{
	const __u64 part_bytes = RING_BYTES / CRIT_STACKS_MARKS;
	const __u64 bytes = sizeof(struct crit_stacks_copy) + 192;
	unsigned int whole = 0;

	for (__u64 i = 0; i < CRIT_STACKS_MARKS; i++) {
		const __u64 at = head->marks[i];

		CHECK_UINT_EQ(at % bytes, 0);
		CHECK_UINT_EQ(at / part_bytes % CRIT_STACKS_MARKS, at ? i : 0);
		CHECK(!at || (at - bytes) / part_bytes < at / part_bytes);
		whole += head->written - at <= RING_BYTES;
	}
	CHECK_INT_GE(whole, CRIT_STACKS_MARKS - 1);
}

/* Who comes too late is told so, at the first entry that is not there as a whole any more. */
static void try_overrun(void)
{
	const __u32 bytes = sizeof(struct crit_stacks_copy) + 192;
	const struct crit_stacks_head *head;
	struct crit_stack_ring *ring = NULL;
	union any_entry entry;

	if (!CHECK_INT_EQ(crit_stack_ring_create(RING_BYTES, &ring), 0))
		return;
	head = map(ring);
	for (__u32 i = 0; i < 100; i++)
		put(ring, i, 192);
	for (__u32 i = 0; i < 100; i++) {
		CHECK_CASE("copy %u", i);
		if (!CHECK_INT_EQ(read_entry(head, i * bytes, &entry),
				  (100 - i) * bytes <= RING_BYTES))
			break;
		if ((100 - i) * bytes <= RING_BYTES)
			check_copy(&entry, i, 192);
	}
	check_marks(head);
	unmap(head);
	crit_stack_ring_destroy(ring);
}

static void try_maps(void)
{
	static const char text[] = "00400000-00401000 r-xp 00000000 00:00 1 /program\n";
	static char long_text[RING_BYTES];
	const struct crit_rec_maps record = { .pid = 7, .time_ns = 5 };
	const size_t bytes = sizeof(text) - 1;
	const struct crit_stacks_head *head;
	struct crit_stack_ring *ring = NULL;
	union any_entry entry;
	__u64 position;

	CHECK_CASE("maps");
	if (!CHECK_INT_EQ(crit_stack_ring_create(RING_BYTES, &ring), 0))
		return;
	head = map(ring);
	put(ring, 1, 1000);
	position = head->written;
	crit_stack_ring_put_maps(ring, &record, text, bytes);
	CHECK(read_entry(head, position, &entry));
	CHECK_UINT_EQ(entry.entry.kind, CRIT_STACKS_MAPS);
	CHECK_UINT_EQ(entry.entry.bytes,
		      (sizeof(entry.entry) + sizeof(record) + bytes + 7) & ~7ull);
	CHECK(memcmp(&entry.entry + 1, &record, sizeof(record)) == 0);
	CHECK(memcmp(entry.bytes + sizeof(entry.entry) + sizeof(record), text, bytes + 1) == 0);
	position = head->written;
	crit_stack_ring_put_maps(ring, &record, long_text, RING_BYTES / 4 - 23);
	CHECK_UINT_EQ(head->skipped, 1);
	CHECK_UINT_EQ(head->written, position);
	crit_stack_ring_put_maps(ring, &record, long_text, RING_BYTES / 4 - 24);
	CHECK_UINT_EQ(head->skipped, 1);
	CHECK_UINT_EQ(head->written, position + RING_BYTES / 4);
	unmap(head);
	crit_stack_ring_destroy(ring);
}

/* Nobody else can write it, nor take away what is mapped. */
static void try_seals(void)
{
	struct crit_stack_ring *ring = NULL;
	void *at;
	int fd;

	CHECK_CASE("seals");
	if (!CHECK_INT_EQ(crit_stack_ring_create(RING_BYTES, &ring), 0))
		return;
	fd = crit_stack_ring_fd(ring);
	at = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(at == MAP_FAILED && errno == EPERM);
	CHECK(pwrite(fd, "x", 1, 0) < 0 && errno == EPERM);
	CHECK(ftruncate(fd, 0) < 0 && errno == EPERM);
	CHECK(ftruncate(fd, 1 << 20) < 0 && errno == EPERM);
	CHECK(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) < 0);
	crit_stack_ring_destroy(ring);
	crit_stack_ring_destroy(NULL);
}

static char state_of(pid_t pid)
{
	char path[32], state = 0;
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	if (file && fscanf(file, "%*d %*s %c", &state) != 1)
		state = 0;
	if (file)
		(void)fclose(file);
	return state;
}

/* Who sleeps until the end is woken by it, also in a process that can only read the ring. */
static void try_end(void)
{
	static const struct timespec patience = { .tv_sec = 20 };
	const struct timespec pause = { .tv_nsec = 1000000 };
	struct crit_stack_ring *ring = NULL;
	int status = -1;
	pid_t pid;

	if (!CHECK_INT_EQ(crit_stack_ring_create(RING_BYTES, &ring), 0))
		return;
	pid = fork();
	if (pid == 0) {
		const struct crit_stacks_head *head = map(ring);

		if (!head || syscall(SYS_futex, &head->is_over, FUTEX_WAIT, 0, &patience, NULL, 0))
			_exit(1);
		_exit(0);
	}
	while (pid > 0 && !strchr("SZ", state_of(pid))) /* not there yet */
		(void)nanosleep(&pause, NULL);
	crit_stack_ring_end(ring);
	CHECK_INT_EQ(waitpid(pid, &status, 0), pid);
	CHECK_INT_EQ(status, 0);
	crit_stack_ring_destroy(ring);
}

int main(void)
{
	try_end();
	try_wrap();
	try_overrun();
	try_maps();
	try_seals();
	return check_done();
}
