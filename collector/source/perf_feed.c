// SPDX-License-Identifier: BSD-3-Clause
//
// Turns what perf events tell into records of the kernel half.
//
// A record of the ring is a head, a body, and what sample_type asks for: pid and tid, time.
// All are words of 8 bytes, so a word never straddles the ring's end.  Of a sample these two come
// first, then its registers, and its stack.
#include "collector/source/perf_feed.h"

#include <linux/perf_event.h>
#include <string.h>

#include "collector/source/perf_clocks.h"
#include "collector/system/procfs.h"
#include "core/base/clock.h"

#define WORD_BYTES 8u
#define TASK_AT 16u /* bytes before a record's end */
#define TIME_AT 8u
#define SAMPLE_TIME_AT 16u /* bytes behind its begin, and so on */
#define REGISTERS_AT 24u
#define STACK_AT (REGISTERS_AT + CRIT_PERF_WORD_COUNT * WORD_BYTES)
#define KEPT_ALL 8u /* threads that run: of more, as many samples are kept as of these */
#define STATE_SLEEPS 1u
#define STATE_DEAD 0x80u

struct sink {
	void (*put)(void *context, const struct crit_kernel_head *record);
	void *context;
};

struct pair { /* of numbers in one word */
	uint32_t first, second;
};

static uint64_t word_at(const struct crit_perf_ring *ring, uint64_t position)
{
	uint64_t word;

	memcpy(&word, ring->data + (position & (ring->bytes - 1)), sizeof(word));
	return word;
}

static struct perf_event_header head_at(const struct crit_perf_ring *ring, uint64_t position)
{
	const uint64_t word = word_at(ring, position);
	struct perf_event_header head;

	memcpy(&head, &word, sizeof(head));
	return head;
}

static struct pair pair_at(const struct crit_perf_ring *ring, uint64_t position)
{
	const uint64_t word = word_at(ring, position);

	return (struct pair){ (uint32_t)word, (uint32_t)(word >> 32) };
}

/* Is there a record, stamped in time? */
static bool look(struct crit_perf_ring *ring, uint64_t until_ns)
{
	struct perf_event_header head;

	if (ring->tail == ring->head)
		return false;
	head = head_at(ring, ring->tail);
	ring->time_ns = crit_clock_bend(word_at(
		ring, ring->tail + (head.type == PERF_RECORD_SAMPLE ? SAMPLE_TIME_AT
								    : head.size - TIME_AT)));
	return ring->time_ns <= until_ns;
}

static struct crit_kernel_head begin(const struct crit_perf_ring *ring, enum crit_kernel_kind kind,
				     size_t size)
{
	return (struct crit_kernel_head){ .kind = (uint16_t)kind,
					  .size = (uint16_t)size,
					  .cpu = ring->cpu,
					  .time_ns = ring->time_ns };
}

static void put_switch(const struct sink *sink, const struct crit_perf_ring *ring, uint32_t tid,
		       uint8_t flags, uint8_t state)
{
	struct crit_kernel_switch record = { .head = begin(ring, CRIT_K_SWITCH, sizeof(record)) };

	record.head.flags = flags;
	record.head.state = state;
	if (flags & CRIT_KF_PREV_MEMBER)
		record.prev_tid = tid;
	else
		record.next_tid = tid;
	sink->put(sink->context, &record.head);
}

static void set_on(struct crit_perf *perf, struct crit_perf_ring *ring, uint32_t tid)
{
	perf->running_count += (tid != 0) - (ring->on_tid != 0);
	ring->on_tid = tid;
}

static void on_switch(struct crit_perf *perf, const struct sink *sink, struct crit_perf_ring *ring,
		      struct perf_event_header head)
{
	const uint32_t tid = pair_at(ring, ring->tail + head.size - TASK_AT).second;

	set_on(perf, ring, head.misc & PERF_RECORD_MISC_SWITCH_OUT ? 0 : tid);
	ring->last_tid = tid;
	ring->switches += !(head.misc & PERF_RECORD_MISC_SWITCH_OUT);
	if (!(head.misc & PERF_RECORD_MISC_SWITCH_OUT))
		put_switch(sink, ring, tid, CRIT_KF_NEXT_MEMBER, 0);
	else if (head.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT)
		put_switch(sink, ring, tid, CRIT_KF_PREV_MEMBER | CRIT_KF_PREEMPTED, 0);
	else
		put_switch(sink, ring, tid, CRIT_KF_PREV_MEMBER, STATE_SLEEPS);
}

/* 0 means the number we know; only inside another pid namespace is there a second one. */
static uint32_t ns_tid_of(const struct crit_perf *perf, uint32_t tgid, uint32_t tid)
{
	struct crit_procfs_task found;

	if (!perf->is_nested || crit_procfs_task(perf->proc_fd, tgid, tid, &found))
		return 0;
	return found.ns_tid;
}

static void on_fork(struct crit_perf *perf, const struct sink *sink,
		    const struct crit_perf_ring *ring)
{
	/* the child's, the parent's */
	const struct pair tgids = pair_at(ring, ring->tail + WORD_BYTES);
	const struct pair tids = pair_at(ring, ring->tail + 2 * WORD_BYTES);
	struct crit_kernel_fork record = {
		.head = begin(ring, CRIT_K_FORK, sizeof(record)),
		.parent_tid = tids.second,
		.parent_tgid = tgids.second,
		.tid = tids.first,
		.tgid = tgids.first,
	};

	if (perf->clocks) /* of another with that number, whose end was lost */
		crit_perf_clocks_drop(perf->clocks, record.tid);
	if (crit_perf_has(perf, record.tid)) { /* enrolled by hand while it was being born */
		crit_perf_drop(perf, record.tid);
		return;
	}
	crit_perf_mark(perf, record.tid, true);
	record.ns_tid = ns_tid_of(perf, record.tgid, record.tid);
	if (record.tgid != record.parent_tgid)
		record.head.flags = CRIT_KF_NEW_PROCESS;
	sink->put(sink->context, &record.head);
}

/* The events of a thread end before its last switch, which is therefore told of here. */
static void on_exit(struct crit_perf *perf, const struct sink *sink, struct crit_perf_ring *ring)
{
	struct crit_kernel_exit record = {
		.head = begin(ring, CRIT_K_EXIT, sizeof(record)),
		.tgid = pair_at(ring, ring->tail + WORD_BYTES).first,
		.tid = pair_at(ring, ring->tail + 2 * WORD_BYTES).first,
	};

	crit_perf_mark(perf, record.tid, false);
	if (perf->clocks)
		crit_perf_clocks_drop(perf->clocks, record.tid);
	if (ring->on_tid == record.tid)
		set_on(perf, ring, 0);
	if (ring->last_tid == record.tid)
		ring->last_tid = 0;
	sink->put(sink->context, &record.head);
	put_switch(sink, ring, record.tid, CRIT_KF_PREV_MEMBER, STATE_DEAD);
}

/* A new name: by exec, or one that the thread gave itself. */
static void on_comm(const struct crit_perf *perf, const struct sink *sink,
		    const struct crit_perf_ring *ring, struct perf_event_header head)
{
	const struct pair task = pair_at(ring, ring->tail + WORD_BYTES); /* tgid, tid */
	const uint64_t words[2] = { word_at(ring, ring->tail + 2 * WORD_BYTES),
				    head.size > 3 * WORD_BYTES + TASK_AT
					    ? word_at(ring, ring->tail + 3 * WORD_BYTES)
					    : 0 };
	struct crit_kernel_exec exec = { .head = begin(ring, CRIT_K_EXEC, sizeof(exec)),
					 .tid = task.second,
					 .old_tid = task.second,
					 .tgid = task.first };
	struct crit_kernel_enrol enrol = { .head = begin(ring, CRIT_K_ENROL, sizeof(enrol)),
					   .tid = task.second,
					   .tgid = task.first };

	if (head.misc & PERF_RECORD_MISC_COMM_EXEC) {
		exec.ns_tid = ns_tid_of(perf, task.first, task.second);
		memcpy(exec.comm, words, sizeof(exec.comm));
		sink->put(sink->context, &exec.head);
	} else {
		enrol.ns_tid = ns_tid_of(perf, task.first, task.second);
		memcpy(enrol.comm, words, sizeof(enrol.comm));
		sink->put(sink->context, &enrol.head);
	}
}

/* Of this probability times 65536 every sample is; source: Marsaglia, Xorshift RNGs, 2003. */
static bool is_kept(struct crit_perf *perf, uint32_t keep)
{
	perf->random_state ^= perf->random_state << 13;
	perf->random_state ^= perf->random_state >> 7;
	perf->random_state ^= perf->random_state << 17;
	return (perf->random_state & 65535) < keep;
}

static uint64_t register_at(const struct crit_perf_ring *ring, enum crit_perf_word word)
{
	return word_at(ring, ring->tail + REGISTERS_AT + word * WORD_BYTES);
}

/* Copies the stack of a sample, if it has one.  Returns its number, or 0. */
static uint32_t put_stack(struct crit_perf *perf, const struct sink *sink,
			  const struct crit_perf_ring *ring, struct perf_event_header head)
{
	const uint64_t room =
		head.size > STACK_AT + 2 * WORD_BYTES ? word_at(ring, ring->tail + STACK_AT) : 0;
	struct crit_kernel_stack *stack = &perf->stack.head;
	uint64_t bytes;

	if (room == 0 || room > head.size - STACK_AT - 2 * WORD_BYTES)
		return 0;
	bytes = word_at(ring, ring->tail + STACK_AT + WORD_BYTES + room);
	if (bytes == 0 || bytes > room || bytes > CRIT_STACK_BYTES_MAX)
		return 0;
	for (uint64_t at = 0; at < bytes; at += WORD_BYTES) {
		const uint64_t word = word_at(ring, ring->tail + STACK_AT + WORD_BYTES + at);

		memcpy(perf->stack.bytes + at, &word, sizeof(word));
	}
	perf->stack_count += perf->stack_count != UINT32_MAX;
	*stack = (struct crit_kernel_stack){
		.head = begin(ring, CRIT_K_STACK, sizeof(*stack) + bytes),
		.tid = pair_at(ring, ring->tail + WORD_BYTES).second,
		.request = perf->stack_count,
		.pid = pair_at(ring, ring->tail + WORD_BYTES).first,
		.stack_bytes = (uint32_t)bytes,
		.bp = register_at(ring, CRIT_PERF_BP),
		.sp = register_at(ring, CRIT_PERF_SP),
		.ip = register_at(ring, CRIT_PERF_IP),
	};
#if defined(__aarch64__)
	stack->lr = register_at(ring, CRIT_PERF_LR);
#endif
	sink->put(sink->context, &stack->head);
	return stack->request;
}

/* Where many threads run, some samples of each tell as much as all: the rest would fill disks. */
static void on_sample(struct crit_perf *perf, const struct sink *sink,
		      const struct crit_perf_ring *ring, struct perf_event_header head)
{
	const uint32_t cpu = (uint32_t)(ring - perf->rings) - perf->ring_count;
	const uint32_t running = perf->running_count;
	const uint32_t kept = running > KEPT_ALL ? 65536 * KEPT_ALL / running : 65536;
	const uint64_t keep = (uint64_t)kept * crit_perf_clocks_share(perf->clocks, cpu) / 65536;
	struct crit_kernel_sample record = {
		.head = begin(ring, CRIT_K_SAMPLE, sizeof(record)),
		.tid = pair_at(ring, ring->tail + WORD_BYTES).second,
		.keep = keep ? (uint16_t)keep : 1,
	};

	if (head.size < STACK_AT || register_at(ring, CRIT_PERF_ABI) == 0 || !is_kept(perf, kept))
		return;
	record.period_ns = crit_perf_clocks_period_ns(perf->clocks, record.tid, cpu);
	if (record.period_ns == 0) /* its thread has ended by now */
		return;
	record.ip = register_at(ring, CRIT_PERF_IP);
	record.request = put_stack(perf, sink, ring, head);
	sink->put(sink->context, &record.head);
}

static void take(struct crit_perf *perf, const struct sink *sink, struct crit_perf_ring *ring)
{
	const struct perf_event_header head = head_at(ring, ring->tail);

	switch (head.type) {
	case PERF_RECORD_SWITCH:
		on_switch(perf, sink, ring, head);
		break;
	case PERF_RECORD_SAMPLE:
		on_sample(perf, sink, ring, head);
		break;
	case PERF_RECORD_FORK:
		on_fork(perf, sink, ring);
		break;
	case PERF_RECORD_EXIT:
		on_exit(perf, sink, ring);
		break;
	case PERF_RECORD_COMM:
		on_comm(perf, sink, ring, head);
		break;
	case PERF_RECORD_LOST: /* whose event noticed, and how many */
		*(ring->has_samples ? &perf->lost_samples : &perf->lost) +=
			word_at(ring, ring->tail + 2 * WORD_BYTES);
		break;
	default:
		break;
	}
	ring->tail += head.size;
}

/* Puts the ring at place where its stamp belongs, the oldest on top. */
static void sift(struct crit_perf *perf, uint32_t count, uint32_t place)
{
	struct crit_perf_ring *ring = perf->heap[place];

	for (;;) {
		uint32_t child = 2 * place + 1;

		if (child + 1 < count &&
		    perf->heap[child + 1]->time_ns < perf->heap[child]->time_ns)
			child++;
		if (child >= count || ring->time_ns <= perf->heap[child]->time_ns)
			break;
		perf->heap[place] = perf->heap[child];
		place = child;
	}
	perf->heap[place] = ring;
}

void crit_perf_feed(struct crit_perf *perf, uint64_t until_ns,
		    void (*put)(void *context, const struct crit_kernel_head *record),
		    void *context)
{
	const struct sink sink = { put, context };
	const uint32_t ring_count = perf->ring_count * (perf->clocks ? 2 : 1);
	uint32_t count = 0;

	for (uint32_t i = 0; i < ring_count; i++) {
		struct crit_perf_ring *ring = &perf->rings[i];

		ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
		if (look(ring, until_ns))
			perf->heap[count++] = ring;
	}
	for (uint32_t i = count / 2; i > 0; i--)
		sift(perf, count, i - 1);
	while (count > 0) {
		take(perf, &sink, perf->heap[0]);
		if (!look(perf->heap[0], until_ns))
			perf->heap[0] = perf->heap[--count];
		if (count > 0)
			sift(perf, count, 0);
	}
	for (uint32_t i = 0; i < ring_count; i++)
		__atomic_store_n(&perf->rings[i].page->data_tail, perf->rings[i].tail,
				 __ATOMIC_RELEASE);
	for (uint32_t i = 0; perf->clocks && i < perf->ring_count; i++) {
		crit_perf_clocks_count(perf->clocks, i, perf->rings[i].switches);
		perf->rings[i].switches = 0;
		if (perf->rings[i].last_tid)
			crit_perf_sample(perf, perf->rings[i].last_tid, i, until_ns);
	}
}
