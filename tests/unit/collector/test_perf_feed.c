// SPDX-License-Identifier: BSD-3-Clause
// Perf events from hand-made rings: one order of time, all kinds, the ring's end, what is too new.
#include <stdint.h>
#include <linux/perf_event.h>
#include <unistd.h>

#include "collector/source/perf_feed.h"
#include "tests/lib/check.h"

#define RINGS 2u
#define RING_BYTES 4096u
#define TGID 100u
#define RECORDS_MAX 256u
#define HEAD(kind, bits) ((struct perf_event_header){ .type = (kind), .misc = (bits) })

static struct perf_event_mmap_page pages[RINGS];
static __u8 data[RINGS][RING_BYTES] __attribute__((aligned(8)));
static struct crit_perf_ring rings[RINGS];
static struct crit_perf_ring *heap[RINGS];
static uint64_t members[1u << 16];
static struct crit_perf perf;

static union {
	struct crit_kernel_head head;
	struct crit_kernel_switch switched;
	struct crit_kernel_fork forked;
	struct crit_kernel_exec exec;
	struct crit_kernel_exit exited;
	struct crit_kernel_enrol enrol;
} got[RECORDS_MAX];
static uint32_t got_count;

static void take(void *context, const struct crit_kernel_head *record)
{
	CHECK(context == &perf);
	CHECK_UINT_EQ(record->size % 8, 0);
	if (CHECK(got_count < RECORDS_MAX && record->size <= sizeof(got[0])))
		memcpy(&got[got_count++], record, record->size);
}

static void feed(uint64_t until_ns)
{
	got_count = 0;
	crit_perf_feed(&perf, until_ns, take, &perf);
}

/* start: where the rings' positions begin, so that records cross the end of the data. */
static void reset(uint64_t start)
{
	memset(members, 0, sizeof(members));
	for (uint32_t i = 0; i < RINGS; i++) {
		pages[i] = (struct perf_event_mmap_page){ .data_head = start, .data_tail = start };
		rings[i] = (struct crit_perf_ring){ .page = &pages[i],
						    .data = data[i],
						    .bytes = RING_BYTES,
						    .tail = start,
						    .head = start,
						    .cpu = (uint16_t)(i + 5) };
	}
	perf = (struct crit_perf){
		.rings = rings, .heap = heap, .ring_count = RINGS, .members = members
	};
}

static uint64_t words(uint32_t low, uint32_t high)
{
	return (uint64_t)high << 32 | low;
}

/* A record as the kernel lays it out: head, body, then pid and tid, time. */
static void write_record(uint32_t ring, struct perf_event_header head, const uint64_t *body,
			 uint32_t body_words, uint32_t tid, uint64_t time_ns)
{
	const uint64_t tail[2] = { words(TGID, tid), time_ns };
	uint64_t word;

	head.size = (uint16_t)(8 * (body_words + 3));
	for (uint32_t i = 0; i < body_words + 3; i++) {
		if (i == 0)
			memcpy(&word, &head, sizeof(word));
		else
			word = i <= body_words ? body[i - 1] : tail[i - 1 - body_words];
		memcpy(data[ring] + pages[ring].data_head % RING_BYTES, &word, sizeof(word));
		pages[ring].data_head += sizeof(word);
	}
}

static void write_switch(uint32_t ring, uint16_t misc, uint32_t tid, uint64_t time_ns)
{
	write_record(ring, HEAD(PERF_RECORD_SWITCH, misc), NULL, 0, tid, time_ns);
}

static void write_task(uint32_t ring, uint16_t type, uint32_t tgid, uint32_t tid, uint64_t time_ns)
{
	const uint64_t body[] = { words(tgid, TGID), words(tid, TGID), time_ns };

	write_record(ring, HEAD(type, 0), body, 3, TGID, time_ns);
}

static void write_name(uint32_t ring, uint16_t misc, uint32_t tid, const char *name,
		       uint64_t time_ns)
{
	uint64_t body[3] = { words(TGID, tid) };

	memcpy(body + 1, name, strlen(name));
	write_record(ring, HEAD(PERF_RECORD_COMM, misc), body, strlen(name) < 8 ? 2 : 3, tid,
		     time_ns);
}

static void test_switches(void)
{
	const uint16_t out = PERF_RECORD_MISC_SWITCH_OUT;

	reset(RING_BYTES - 40);
	write_switch(0, 0, 7, 1000);
	write_switch(0, out, 7, 3000);
	write_switch(1, 0, 8, 2000);
	write_switch(1, out | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, 8, 2500);
	write_switch(1, 0, 9, 4000);
	feed(3500);
	if (!CHECK_UINT_EQ(got_count, 4))
		return;
	CHECK_UINT_EQ(got[0].head.time_ns, 1000);
	CHECK_INT_EQ(got[0].head.flags, CRIT_KF_NEXT_MEMBER);
	CHECK_UINT_EQ(got[0].switched.next_tid, 7);
	CHECK_INT_EQ(got[0].head.cpu, 5);
	CHECK_UINT_EQ(got[1].head.time_ns, 2000);
	CHECK_INT_EQ(got[1].head.cpu, 6);
	CHECK_UINT_EQ(got[2].head.time_ns, 2500);
	CHECK_INT_EQ(got[2].head.flags, CRIT_KF_PREV_MEMBER | CRIT_KF_PREEMPTED);
	CHECK_INT_EQ(got[2].head.state, 0);
	CHECK_UINT_EQ(got[3].switched.prev_tid, 7);
	CHECK_INT_EQ(got[3].head.flags, CRIT_KF_PREV_MEMBER);
	CHECK_INT_EQ(got[3].head.state, 1);
	CHECK_UINT_EQ(pages[0].data_tail, pages[0].data_head);
	CHECK_UINT_EQ(pages[1].data_tail, pages[1].data_head - 24);
	feed(4000); /* what was too new comes now */
	CHECK_UINT_EQ(got_count, 1);
	CHECK_UINT_EQ(got[0].switched.next_tid, 9);
	feed(5000);
	CHECK_UINT_EQ(got_count, 0);
}

/* Many rounds through small rings, with all ties and orders. */
static void test_order(void)
{
	uint64_t time_ns = 1, last_ns = 0, total = 0;

	reset(0);
	for (uint32_t round = 0; round < 100; round++) {
		for (uint32_t i = 0; i < 60; i++) {
			write_switch(i * 7 % 3 % RINGS, 0, 7, time_ns);
			time_ns += i % 3;
		}
		feed(time_ns);
		total += got_count;
		for (uint32_t i = 0; i < got_count; i++) {
			CHECK(got[i].head.time_ns >= last_ns);
			last_ns = got[i].head.time_ns;
		}
	}
	CHECK_UINT_EQ(total, 6000);
}

static void test_lives(void)
{
	reset(16);
	write_task(0, PERF_RECORD_FORK, TGID, 101, 1000);
	write_task(1, PERF_RECORD_FORK, 102, 102, 2000);
	write_name(0, 0, 101, "a worker", 3000);
	write_name(1, PERF_RECORD_MISC_COMM_EXEC, 102, "true", 4000);
	write_task(0, PERF_RECORD_EXIT, TGID, 101, 5000);
	feed(9000);
	if (!CHECK_UINT_EQ(got_count, 6))
		return;
	CHECK_INT_EQ(got[0].head.kind, CRIT_K_FORK);
	CHECK_UINT_EQ(got[0].forked.tid, 101);
	CHECK_UINT_EQ(got[0].forked.parent_tid, TGID);
	CHECK_INT_EQ(got[0].head.flags, 0);
	CHECK_INT_EQ(got[1].head.flags, CRIT_KF_NEW_PROCESS);
	CHECK_INT_EQ(got[2].head.kind, CRIT_K_ENROL);
	CHECK_STR_EQ(got[2].enrol.comm, "a worker");
	CHECK_INT_EQ(got[3].head.kind, CRIT_K_EXEC);
	CHECK_UINT_EQ(got[3].exec.tid, 102);
	CHECK_STR_EQ(got[3].exec.comm, "true");
	CHECK_INT_EQ(got[4].head.kind, CRIT_K_EXIT);
	CHECK_UINT_EQ(got[4].exited.tid, 101);
	CHECK_INT_EQ(got[5].head.kind, CRIT_K_SWITCH); /* its last, which no event outlives */
	CHECK_INT_EQ(got[5].head.state, 0x80);
	CHECK(!crit_perf_has(&perf, 101));
	CHECK(crit_perf_has(&perf, 102));
}

/* A thread born while it was enrolled has two sets of events; one goes, and it is born once. */
static void test_twice_enrolled(void)
{
	int fds[RINGS] = { dup(0), -1 };
	struct crit_perf_thread *threads = calloc(1, sizeof(*threads));

	reset(0);
	if (!threads)
		exit(1);
	threads[0].tid = 101;
	threads[0].fds = malloc(sizeof(fds));
	if (!threads[0].fds)
		exit(1);
	memcpy(threads[0].fds, fds, sizeof(fds));
	perf.threads = threads;
	perf.thread_count = 1;
	crit_perf_mark(&perf, 101, true);
	write_task(0, PERF_RECORD_FORK, TGID, 101, 1000);
	feed(2000);
	CHECK_UINT_EQ(got_count, 0);
	CHECK_UINT_EQ(perf.thread_count, 0);
	CHECK(crit_perf_has(&perf, 101));
	CHECK_INT_EQ(close(fds[0]), -1);
	free(threads);
}

static void test_lost(void)
{
	const uint64_t body[] = { 1, 42 };

	reset(0);
	write_record(0, HEAD(PERF_RECORD_LOST, 0), body, 2, 7, 1000);
	write_switch(0, 0, 7, 2000);
	write_record(0, HEAD(99, 0), body, 2, 7, 3000); /* of a kind to come */
	feed(9000);
	CHECK_UINT_EQ(got_count, 1);
	CHECK_UINT_EQ(perf.lost, 42);
}

int main(void)
{
	test_switches();
	test_order();
	test_lives();
	test_twice_enrolled();
	test_lost();
	return check_done();
}
