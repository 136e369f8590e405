// SPDX-License-Identifier: BSD-3-Clause
// The hooks against a stand-in for critd: what ring, counters, head and tag hold afterwards.
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/call.h"
#include "core/base/clock.h"
#include "core/shim/shim_process.h"
#include "core/shim/shim_span.h"
#include "tests/lib/check.h"
#include "tests/shim/fake_critd.h"
#include "tests/shim/wrapper.h"

#pragma GCC diagnostic ignored "-Wframe-larger-than=" /* on purpose: a deep stack */

static struct fake_critd fake;
static struct crit_shm_head *head;
static jmp_buf escape;

static void send(void)
{
	wrap_call(CRIT_MPI_Send, CRIT_CLASS_MPI_MAY_WAIT, NULL);
}

static void receive(void)
{
	wrap_call(CRIT_MPI_Recv, CRIT_CLASS_MPI_WAIT, NULL);
}

static void rank_of(void)
{
	wrap_call(CRIT_MPI_Comm_rank, CRIT_CLASS_MPI, NULL);
}

static void question(void)
{
	wrap_call(CRIT_MPI_Pack_size, CRIT_CLASS_MPI, NULL);
}

static void jump(void)
{
	longjmp(escape, 1);
}

static void pass_ns(int64_t time_ns)
{
	const uint64_t until_ns = crit_shim_now_ns() + (uint64_t)time_ns;

	while (crit_shim_now_ns() < until_ns)
		;
}

static void linger(void)
{
	pass_ns(200000);
}

static struct crit_thread_buffer_head *own_buffer(void)
{
	return fake_critd_buffer(head, 0);
}

static uint64_t tag(void)
{
	return *(volatile uint64_t *)((char *)__builtin_thread_pointer() +
				      fake.registered.tls_offset);
}

/* Is the slot so far from the end what it should be? */
static void check_slot(int from_end, int kind, unsigned int number)
{
	const uint64_t position = own_buffer()->write_pos - (uint64_t)from_end;
	const struct crit_slot *slot = fake_critd_slot(head, 0, position);

	CHECK_INT_EQ(slot->kind, kind);
	if (kind != CRIT_S_CONTINUED)
		CHECK_INT_EQ(slot->call, number);
}

static void drain(void)
{
	own_buffer()->read_pos = own_buffer()->write_pos;
}

static void test_pair(void)
{
	const struct crit_slot *enter, *leave;
	uint64_t position;

	CHECK_CASE("pair");
	send(); /* takes the thread buffer and writes LEVEL */
	CHECK_INT_EQ(fake_critd_slot(head, 0, 0)->kind, CRIT_S_LEVEL);
	CHECK_INT_EQ(fake_critd_slot(head, 0, 0)->call, CRIT_LEVEL_TRACE);
	position = own_buffer()->write_pos;
	errno = 77;
	wrap_call(CRIT_MPI_Recv, CRIT_CLASS_MPI_WAIT, linger);
	CHECK_INT_EQ(errno, 77);
	CHECK_UINT_EQ(own_buffer()->write_pos, position + 2);
	enter = fake_critd_slot(head, 0, position);
	leave = fake_critd_slot(head, 0, position + 1);
	check_slot(2, CRIT_S_ENTER, CRIT_MPI_Recv);
	check_slot(1, CRIT_S_LEAVE, CRIT_MPI_Recv);
	CHECK_INT_GE(leave->time_ns - enter->time_ns, 200000);
	CHECK(enter->site != 0);
	CHECK_INT_EQ(own_buffer()->ns_tid, getpid());
	CHECK_UINT_EQ(CRIT_TAG_FIELD(tag(), CLASS), CRIT_CLASS_USER);
	CHECK_UINT_EQ(CRIT_TAG_FIELD(tag(), SEQUENCE), position + 2);
}

static uint64_t tag_inside;

static void look_at_tag(void)
{
	tag_inside = tag();
}

static void test_tag(void)
{
	CHECK_CASE("tag");
	wrap_call(CRIT_MPI_Barrier, CRIT_CLASS_MPI_WAIT, look_at_tag);
	CHECK_UINT_EQ(CRIT_TAG_FIELD(tag_inside, CALL), CRIT_MPI_Barrier);
	CHECK_UINT_EQ(CRIT_TAG_FIELD(tag_inside, CLASS), CRIT_CLASS_MPI_WAIT);
	CHECK_UINT_EQ(CRIT_TAG_FIELD(tag_inside, BUFFER), 0);
	CHECK_UINT_EQ(CRIT_TAG_FIELD(tag_inside, SEQUENCE), own_buffer()->write_pos - 1);
}

/* A call from far below, where all the stack in between is used. */
__attribute__((noinline)) static void send_from_far_below(void)
{
	volatile char filler[1u << 20];

	memset((char *)filler, 0x55, sizeof(filler));
	errno = 77;
	send();
	CHECK_INT_EQ(errno, 77);
	CHECK_INT_EQ(filler[17], 0x55);
}

static void test_nested(void)
{
	const uint64_t position = own_buffer()->write_pos;

	CHECK_CASE("nested");
	wrap_call(CRIT_MPI_Allreduce, CRIT_CLASS_MPI_WAIT, send);
	wrap_call(CRIT_MPI_Allreduce, CRIT_CLASS_MPI_WAIT, send_from_far_below);
	CHECK_UINT_EQ(own_buffer()->write_pos, position + 4);
	check_slot(2, CRIT_S_ENTER, CRIT_MPI_Allreduce);
	check_slot(1, CRIT_S_LEAVE, CRIT_MPI_Allreduce);
}

/* Overwrites what a frame left by longjmp had below, then calls from deeper than that frame was. */
__attribute__((noinline)) static void send_from_below(void)
{
	volatile char filler[4096];

	memset((char *)filler, 0x55, sizeof(filler));
	send();
	CHECK_INT_EQ(filler[17], 0x55);
}

static void test_longjmp(void (*next)(void))
{
	const uint64_t position = own_buffer()->write_pos;

	if (setjmp(escape) == 0)
		wrap_call(CRIT_MPI_Recv, CRIT_CLASS_MPI_WAIT, jump);
	CHECK_UINT_EQ(own_buffer()->write_pos, position + 1);
	next();
	CHECK_UINT_EQ(own_buffer()->write_pos, position + 4);
	check_slot(4, CRIT_S_ENTER, CRIT_MPI_Recv);
	check_slot(3, CRIT_S_LEAVE, CRIT_MPI_Recv);
	check_slot(2, CRIT_S_ENTER, CRIT_MPI_Send);
	check_slot(1, CRIT_S_LEAVE, CRIT_MPI_Send);
}

static void test_poll(void)
{
	uint64_t position = own_buffer()->write_pos;
	const struct crit_slot_poll2 *second;
	const struct crit_slot *first;

	CHECK_CASE("poll");
	for (int i = 0; i < 1000; i++)
		wrap_poll(false);
	CHECK_INT_EQ(own_buffer()->open_call, CRIT_MPI_Iprobe);
	CHECK_INT_GE(own_buffer()->open_count, 1);
	wrap_poll(true);
	CHECK_INT_EQ(own_buffer()->open_call, 0);
	check_slot(2, CRIT_S_POLL, CRIT_MPI_Iprobe);
	check_slot(1, CRIT_S_CONTINUED, 0);
	/* the machine may interrupt a sequence, but no call is lost or counted twice */
	for (uint64_t count = 0; count < 1001; position += 2) {
		first = fake_critd_slot(head, 0, position);
		second = (const void *)fake_critd_slot(head, 0, position + 1);
		if (!CHECK_INT_LT(position, own_buffer()->write_pos))
			return;
		count += second->count;
		CHECK_INT_LE(second->gap_sum_ns, first->arg - first->time_ns);
		CHECK_INT_LE(count, 1001);
	}
	CHECK_UINT_EQ(position, own_buffer()->write_pos);
}

static void test_poll_ends(void)
{
	uint64_t position;

	CHECK_CASE("poll ends at a gap and at another call");
	wrap_poll(false);
	position = own_buffer()->write_pos;
	pass_ns(100000);
	wrap_poll(false);
	CHECK_UINT_EQ(own_buffer()->write_pos, position + 2);
	CHECK_UINT_EQ(own_buffer()->open_count, 1);
	send();
	CHECK_UINT_EQ(own_buffer()->write_pos, position + 6);
	check_slot(4, CRIT_S_POLL, CRIT_MPI_Iprobe);
	check_slot(2, CRIT_S_ENTER, CRIT_MPI_Send);
}

/* The begin of a poll is told after the call, also where the clock was last read long before it. */
static void test_poll_begins(void)
{
	static const long pauses_ns[] = { 100000, 3000000 };

	CHECK_CASE("poll begins where it is called");
	for (size_t i = 0; i < sizeof(pauses_ns) / sizeof(pauses_ns[0]); i++) {
		uint64_t before_ns, after_ns;

		wrap_poll(false);
		crit_clock_pause_ns(pauses_ns[i]);
		before_ns = crit_clock_ns(CLOCK_MONOTONIC);
		wrap_poll(false);
		after_ns = crit_clock_ns(CLOCK_MONOTONIC);
		CHECK_UINT_EQ(own_buffer()->open_count, 1);
		CHECK_INT_GE(own_buffer()->open_first_ns + 1000, before_ns);
		CHECK_INT_LE(own_buffer()->open_first_ns, own_buffer()->open_last_ns);
		CHECK_INT_LE(own_buffer()->open_last_ns, after_ns + 1000);
	}
}

static uint64_t questions_counted(void)
{
	return fake_critd_counter(head, 0, CRIT_MPI_Pack_size,
				  offsetof(struct crit_counter, polled_count));
}

/* Until nothing interrupts the four polls. */
static void test_poll_question(void)
{
	uint64_t position, questions;

	CHECK_CASE("a question between two polls is part of the span");
	for (int attempt = 0; attempt < 100; attempt++) {
		send(); /* ends what was before */
		position = own_buffer()->write_pos;
		questions = questions_counted();
		for (int i = 0; i < 4; i++) {
			wrap_poll(false);
			question();
		}
		if (own_buffer()->open_count == 4 && own_buffer()->write_pos == position)
			break;
	}
	CHECK_UINT_EQ(own_buffer()->write_pos, position);
	CHECK_UINT_EQ(own_buffer()->open_count, 4);
	CHECK_UINT_EQ(questions_counted(), questions + 4);

	CHECK_CASE("after a gap it has a span of its own");
	pass_ns(100000);
	question();
	CHECK_UINT_EQ(own_buffer()->write_pos, position + 4);
	check_slot(4, CRIT_S_POLL, CRIT_MPI_Iprobe);
	check_slot(2, CRIT_S_ENTER, CRIT_MPI_Pack_size);
	CHECK_UINT_EQ(questions_counted(), questions + 4);
}

static void test_full(void)
{
	const uint64_t lost = own_buffer()->lost_spans;
	uint64_t position;

	CHECK_CASE("full ring");
	drain();
	position = own_buffer()->write_pos;
	for (unsigned int i = 0; i < head->ring_slots; i++)
		send();
	CHECK_UINT_EQ(own_buffer()->write_pos, position + head->ring_slots);
	CHECK_UINT_EQ(own_buffer()->lost_spans, lost + head->ring_slots / 2);
	check_slot(1, CRIT_S_LEAVE, CRIT_MPI_Send);
	wrap_poll(true);
	CHECK_UINT_EQ(own_buffer()->lost_spans, lost + head->ring_slots / 2 + 1);
	drain();
	send();
	CHECK_UINT_EQ(own_buffer()->write_pos, position + head->ring_slots + 2);
}

/* Slots in order, one pair after the other; returns the first number that is not. */
static uint64_t end_of_pairs(uint64_t from, uint64_t to)
{
	uint64_t last_ns = 0;

	for (uint64_t position = from; position < to; position++) {
		const struct crit_slot *slot = fake_critd_slot(head, 0, position);
		const int kind = (position - from) % 2 ? CRIT_S_LEAVE : CRIT_S_ENTER;

		if (slot->kind != kind || slot->time_ns < last_ns)
			return position;
		last_ns = slot->time_ns;
	}
	return to;
}

/* How many places the last laps of the ring have, a lap of lap_slots each. */
static int places_used(uint64_t laps)
{
	const uint64_t last = own_buffer()->write_pos / (head->ring_slots / CRIT_RING_LAPS);
	uint32_t places = 0;

	for (uint64_t lap = last + 1 - laps; lap <= last; lap++)
		places |= 1u << crit_ring_place(own_buffer()->lap_places, lap);
	return __builtin_popcount(places);
}

static void test_places(void)
{
	const uint64_t lap_slots = head->ring_slots / CRIT_RING_LAPS;
	uint64_t position;

	CHECK_CASE("slots that are read in time take few places");
	drain();
	for (uint64_t i = 0; i < head->ring_slots; i += 2) {
		send();
		if (i % (lap_slots / 2) == 0)
			drain();
	}
	CHECK_INT_LE(places_used(CRIT_RING_LAPS / 2), 3);

	CHECK_CASE("others take more, and all are there");
	drain();
	position = own_buffer()->write_pos;
	for (uint64_t i = 0; i < 5 * lap_slots; i += 2)
		send();
	CHECK_INT_GE(places_used(5), 5);
	CHECK_UINT_EQ(own_buffer()->write_pos, position + 5 * lap_slots);
	CHECK_UINT_EQ(end_of_pairs(position, position + 5 * lap_slots), position + 5 * lap_slots);

	CHECK_CASE("a ring is used to its last slot, part of a lap read");
	own_buffer()->read_pos = position += lap_slots + lap_slots / 2;
	for (uint64_t i = 0; i < head->ring_slots; i += 2)
		send();
	CHECK_UINT_EQ(own_buffer()->write_pos, position + head->ring_slots);
	CHECK_UINT_EQ(end_of_pairs(position, position + head->ring_slots),
		      position + head->ring_slots);
	drain();
}

/* How often critd was called, once it was so often as wanted, or a second later. */
static int hurries(int wanted)
{
	for (int ms = 0; ms < 1000 && fake_critd_count(&fake, CRIT_M_DRAIN) != wanted; ms++)
		pass_ns(1000000);
	return fake_critd_count(&fake, CRIT_M_DRAIN);
}

/* A sixteenth of a ring ahead of critd calls it, once for each position that it has read to. */
static void test_drain_message(void)
{
	int before;

	CHECK_CASE("a sixteenth of a ring");
	fake_critd_catch_up(&fake);
	before = fake_critd_count(&fake, CRIT_M_DRAIN);
	drain();
	send(); /* learns of it */
	for (unsigned int i = 2; i + 2 <= head->ring_slots / 16; i += 2)
		send();
	pass_ns(10000000);
	CHECK_INT_EQ(fake_critd_count(&fake, CRIT_M_DRAIN), before);
	send();
	CHECK_INT_EQ(hurries(before + 1), before + 1);
	for (unsigned int i = 0; i < head->ring_slots; i += 2)
		send();
	drain();
	for (unsigned int i = 0; i <= head->ring_slots / 16; i += 2)
		send();
	CHECK_INT_EQ(hurries(before + 2), before + 2);
	drain();
}

static unsigned long long counted(unsigned int number)
{
	return fake_critd_counter(head, 0, number, offsetof(struct crit_counter, count));
}

static unsigned long long folded(unsigned int number)
{
	return fake_critd_counter(head, 0, number, offsetof(struct crit_counter, folded_count));
}

static void test_profile(void)
{
	uint64_t position;

	CHECK_CASE("profile");
	head->tau_ns = 100000;
	head->level = CRIT_LEVEL_PROFILE;
	rank_of();
	check_slot(1, CRIT_S_LEVEL, CRIT_LEVEL_PROFILE);
	position = own_buffer()->write_pos;
	for (int i = 0; i < 9; i++)
		rank_of();
	CHECK_UINT_EQ(own_buffer()->write_pos, position);
	CHECK_UINT_EQ(counted(CRIT_MPI_Comm_rank), 10);
	wrap_call(CRIT_MPI_Recv, CRIT_CLASS_MPI_WAIT, linger); /* longer than tau */
	CHECK_UINT_EQ(own_buffer()->write_pos, position + 2);
	check_slot(2, CRIT_S_ENTER, CRIT_MPI_Recv);
	check_slot(1, CRIT_S_LEAVE, CRIT_MPI_Recv);
	CHECK_UINT_EQ(own_buffer()->open_call, 0);
}

static void test_fold(void)
{
	uint64_t position;
	unsigned long long recorded;

	CHECK_CASE("fold");
	head->tau_ns = 1000000000;
	rank_of();
	position = own_buffer()->write_pos;
	for (int i = 0; i < 100; i++)
		receive();
	wrap_poll(false);
	wrap_poll(true);
	recorded = (own_buffer()->write_pos - position) / 2;
	CHECK_UINT_EQ(recorded, 0);
	CHECK_UINT_EQ(counted(CRIT_MPI_Recv), 100);
	CHECK_UINT_EQ(folded(CRIT_MPI_Recv), 100);
	CHECK_UINT_EQ(counted(CRIT_MPI_Iprobe), 2);
	CHECK_INT_GT(own_buffer()->folded_ns, 0);
	CHECK_UINT_EQ(own_buffer()->open_call, 0);
	head->tau_ns = 0;
	head->level = CRIT_LEVEL_TRACE;
	send();
	check_slot(3, CRIT_S_LEVEL, CRIT_LEVEL_TRACE);
}

static void test_stopped(void)
{
	const uint64_t position = own_buffer()->write_pos;

	CHECK_CASE("stopped");
	head->is_stopped = 1;
	send();
	wrap_poll(true);
	CHECK_UINT_EQ(own_buffer()->write_pos, position);
	head->is_stopped = 0;
	send();
	CHECK_INT_GE(own_buffer()->write_pos, position + 2);
}

static void *send_in_thread(void *argument)
{
	wrap_poll(false); /* stays open: the end of the thread must write it */
	(void)argument;
	return NULL;
}

static void test_thread_exit(void)
{
	struct crit_thread_buffer_head *buffer = fake_critd_buffer(head, 1);
	pthread_t thread;

	CHECK_CASE("thread exit");
	CHECK_INT_EQ(pthread_create(&thread, NULL, send_in_thread, NULL), 0);
	(void)pthread_join(thread, NULL);
	CHECK_INT_EQ(buffer->state, CRIT_THREAD_BUFFER_RELEASED);
	CHECK_INT_GE(buffer->release_ns, buffer->claim_ns);
	CHECK_UINT_EQ(buffer->write_pos, 3); /* LEVEL, POLL, its second half */
	CHECK_UINT_EQ(buffer->open_call, 0);
	CHECK_UINT_EQ(head->buffers_used, 2);
}

static void test_exhaustion(void)
{
	pthread_t thread;

	CHECK_CASE("no stripe left");
	for (unsigned int i = 2; i < head->buffer_count + 3; i++) {
		CHECK_INT_EQ(pthread_create(&thread, NULL, send_in_thread, NULL), 0);
		(void)pthread_join(thread, NULL);
	}
	CHECK_UINT_EQ(head->buffers_used, head->buffer_count);
	CHECK_UINT_EQ(head->no_buffer, 3);
	/* critd has drained one and gives it back */
	fake_critd_buffer(head, 5)->read_pos = fake_critd_buffer(head, 5)->write_pos;
	fake_critd_buffer(head, 5)->state = CRIT_THREAD_BUFFER_FREE;
	CHECK_INT_EQ(pthread_create(&thread, NULL, send_in_thread, NULL), 0);
	(void)pthread_join(thread, NULL);
	CHECK_UINT_EQ(fake_critd_buffer(head, 5)->claim_pos, 3);
	CHECK_UINT_EQ(fake_critd_buffer(head, 5)->write_pos, 6);
	CHECK_UINT_EQ(head->no_buffer, 3);
}

static void test_fork(void)
{
	const uint64_t position = own_buffer()->write_pos;
	const int parent_memfd = fake.memfd;
	int status = 1;
	pid_t child;

	CHECK_CASE("fork");
	child = fork();
	if (child == 0) {
		const bool was_clean = tag() == 0;

		send(); /* registers anew */
		_exit(was_clean && tag() != 0 ? 0 : 1);
	}
	CHECK_INT_EQ(waitpid(child, &status, 0), child);
	CHECK_INT_EQ(status, 0);
	CHECK_UINT_EQ(own_buffer()->write_pos, position);
	CHECK_INT_EQ(fake_critd_count(&fake, CRIT_M_REGISTER), 2);
	CHECK_INT_EQ(fake.registered.ns_pid, child);
	CHECK(fake.memfd != parent_memfd);
	send();
	CHECK_UINT_EQ(own_buffer()->write_pos, position + 2);
	close(parent_memfd);
}

int main(void)
{
	fake_critd_start(&fake);
	if (!CHECK(crit_shim_start(CRIT_FLAVOUR_OPENMPI)))
		return check_done();
	CHECK(crit_shim_start(CRIT_FLAVOUR_OPENMPI));
	CHECK_INT_EQ(fake_critd_count(&fake, CRIT_M_REGISTER), 1);
	head = fake_critd_map(&fake);
	if (!CHECK(head != NULL))
		return check_done();
	test_pair();
	test_tag();
	test_nested();
	CHECK_CASE("longjmp, then a call from where the abandoned one was made");
	test_longjmp(send);
	CHECK_CASE("longjmp, then a call from deeper");
	test_longjmp(send_from_below);
	CHECK_CASE("longjmp, then a call from far deeper");
	test_longjmp(send_from_far_below);
	test_poll();
	test_poll_ends();
	test_poll_begins();
	test_poll_question();
	test_full();
	test_places();
	test_drain_message();
	test_profile();
	test_fold();
	test_stopped();
	test_thread_exit();
	test_exhaustion();
	test_fork();
	fake_critd_stop(&fake);
	return check_done();
}
