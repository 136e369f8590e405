// SPDX-License-Identifier: BSD-3-Clause
// Details, communicators and twins against a stand-in for critd: what the ring holds afterwards.
#include <pthread.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/call.h"
#include "core/shim/shim_comm.h"
#include "core/shim/shim_detail.h"
#include "core/shim/shim_process.h"
#include "core/shim/shim_span.h"
#include "core/shim/shim_thread.h"
#include "tests/lib/check.h"
#include "tests/shim/fake_critd.h"
#include "tests/shim/wrapper.h"

#define SEND CRIT_SHIM_WHAT(CRIT_MPI_Send, CRIT_CLASS_MPI_MAY_WAIT)
#define ISEND CRIT_SHIM_WHAT(CRIT_MPI_Isend, CRIT_CLASS_MPI)
#define BARRIER CRIT_SHIM_WHAT(CRIT_MPI_Barrier, CRIT_CLASS_MPI_WAIT)
#define TEST CRIT_SHIM_WHAT(CRIT_MPI_Test, CRIT_CLASS_MPI_POLL)
#define HANDLE 0x1000u

static struct fake_critd fake;
static struct crit_shm_head *head;
static unsigned int role_seen;

static struct crit_thread_buffer_head *own_buffer(void)
{
	return fake_critd_buffer(head, 0);
}

static void drain(void)
{
	own_buffer()->read_pos = own_buffer()->write_pos;
}

/* The slot so far from the end. */
static const void *slot_at(int from_end)
{
	return fake_critd_slot(head, 0, own_buffer()->write_pos - (uint64_t)from_end);
}

static int kind_at(int from_end)
{
	return ((const struct crit_slot *)slot_at(from_end))->kind;
}

static void tell_two(void)
{
	crit_shim_detail(CRIT_D_SEND, HANDLE, 3, 4, 50, 0);
	crit_shim_detail(CRIT_D_ISEND, 0, 6, CRIT_PEER_ANY, 7, 0x77);
}

static void tell_barrier(void)
{
	crit_shim_collective(CRIT_D_COLL, HANDLE, CRIT_PEER_ANY,
			     &(struct crit_shim_sizes){ 11, 22 }, 0);
}

static void tell_ibarrier(void)
{
	crit_shim_collective(CRIT_D_ICOLL, HANDLE, 1, &(struct crit_shim_sizes){ 11, 22 }, 0x99);
}

static void define(void)
{
	crit_shim_comm_define(HANDLE, &(struct crit_shim_comm){ .hash = 5, .rank = 1, .size = 2 });
}

/* A wrapper as the generator writes it; the body stands for the call and for its details. */
WRAPPER static void call(uint32_t what, void (*body)(void))
{
	const unsigned int role = crit_shim_enter_detailed(what, FRAME, SITE);

	role_seen = role;
	if (body)
		body();
	if (role & CRIT_SHIM_OUTER)
		crit_shim_leave();
}

WRAPPER static void poll_call(bool is_done)
{
	const unsigned int role = crit_shim_poll_enter_detailed(TEST, FRAME, SITE);

	if (role & CRIT_SHIM_TRACE && is_done)
		crit_shim_detail(CRIT_D_DONE, 0, 1, 2, 3, 4);
	if (role & CRIT_SHIM_OUTER)
		crit_shim_poll_leave(is_done);
}

static uint64_t position_before;

static void tell_and_look(void)
{
	tell_two();
	CHECK_UINT_EQ(own_buffer()->write_pos, position_before + 1);
}

static void test_span(void)
{
	const struct crit_slot_detail *first, *second;
	const struct crit_slot_comm *comm;

	CHECK_CASE("details lie before the LEAVE and come with it");
	call(SEND, NULL);
	define(); /* outside spans: at once */
	CHECK_INT_EQ(kind_at(1), CRIT_S_COMM);
	comm = slot_at(1);
	CHECK_UINT_EQ(comm->hash, 5);
	CHECK_UINT_EQ(comm->comm, 3);
	CHECK_UINT_EQ(comm->nth, 0);
	CHECK_UINT_EQ(comm->rank, 1);
	CHECK_UINT_EQ(comm->size, 2);
	position_before = own_buffer()->write_pos;
	call(SEND, tell_and_look);
	CHECK_UINT_EQ(role_seen, CRIT_SHIM_OUTER | CRIT_SHIM_CALLER | CRIT_SHIM_TRACE);
	CHECK_UINT_EQ(own_buffer()->write_pos, position_before + 4);
	CHECK_INT_EQ(kind_at(4), CRIT_S_ENTER);
	CHECK_INT_EQ(kind_at(1), CRIT_S_LEAVE);
	first = slot_at(3);
	second = slot_at(2);
	CHECK_INT_EQ(first->kind, CRIT_S_DETAIL);
	CHECK_INT_EQ(first->detail, CRIT_D_SEND);
	CHECK_UINT_EQ(first->comm, 3);
	CHECK_INT_EQ(first->peer, 3);
	CHECK_INT_EQ(first->tag, 4);
	CHECK_UINT_EQ(first->bytes, 50);
	CHECK_UINT_EQ(first->request, 0);
	CHECK_UINT_EQ(second->comm, 0);
	CHECK_INT_EQ(second->tag, CRIT_PEER_ANY);
	CHECK_UINT_EQ(second->request, 0x77);
	CHECK_UINT_EQ(((const struct crit_slot *)slot_at(1))->arg, 0);
}

static void test_collective(void)
{
	const struct crit_slot_detail *detail;

	CHECK_CASE("collectives are counted by communicator");
	call(BARRIER, tell_barrier);
	detail = slot_at(2);
	CHECK_INT_EQ(detail->detail, CRIT_D_COLL);
	CHECK_INT_EQ(detail->tag, 0);
	CHECK_UINT_EQ(detail->bytes, 11);
	CHECK_UINT_EQ(detail->request, 22);
	call(ISEND, tell_ibarrier);
	detail = slot_at(3);
	CHECK_INT_EQ(detail->detail, CRIT_D_ICOLL);
	CHECK_INT_EQ(detail->tag, 1);
	CHECK_UINT_EQ(detail->request, 0x99);
	detail = slot_at(2);
	CHECK_INT_EQ(detail->detail, CRIT_D_RECEIVED);
	CHECK_UINT_EQ(detail->bytes, 22);
}

static void call_nested(void)
{
	call(SEND, NULL);
	CHECK_UINT_EQ(role_seen, CRIT_SHIM_NESTED);
}

static unsigned int twin_role, again_role, other_role;

/* The C functions a Fortran wrapper's library calls. */
static void call_as_fortran(void)
{
	call(BARRIER, NULL);
	other_role = role_seen;
	call(SEND, tell_two);
	twin_role = role_seen;
	call(SEND, NULL);
	again_role = role_seen;
}

static void fail_send(void)
{
	crit_shim_failed(CRIT_MPI_Isend, 7); /* a call inside of another one: not the user's */
	crit_shim_failed(CRIT_MPI_Send, 15);
}

static void test_failed(void)
{
	const struct crit_slot_detail *detail;

	CHECK_CASE("the call that returned an error");
	position_before = own_buffer()->write_pos;
	call(SEND, fail_send);
	crit_shim_failed(CRIT_MPI_Send, 15); /* outside of spans */
	CHECK_UINT_EQ(own_buffer()->write_pos, position_before + 3);
	detail = slot_at(2);
	CHECK_INT_EQ(detail->kind, CRIT_S_DETAIL);
	CHECK_INT_EQ(detail->detail, CRIT_D_FAILED);
	CHECK_INT_EQ(detail->tag, 15);
}

static void test_twin(void)
{
	CHECK_CASE("nested calls have no details, but the C function under a Fortran wrapper");
	call(BARRIER, call_nested);
	position_before = own_buffer()->write_pos;
	call(SEND | CRIT_SHIM_FORTRAN, call_as_fortran);
	CHECK_UINT_EQ(other_role, CRIT_SHIM_NESTED);
	CHECK_UINT_EQ(twin_role, CRIT_SHIM_CALLER | CRIT_SHIM_TRACE);
	CHECK_UINT_EQ(again_role, CRIT_SHIM_NESTED);
	CHECK_UINT_EQ(own_buffer()->write_pos, position_before + 4);
	CHECK_INT_EQ(kind_at(2), CRIT_S_DETAIL);
}

static void test_poll(void)
{
	const struct crit_slot_detail *detail;

	CHECK_CASE("a poll that succeeds tells before its record");
	position_before = own_buffer()->write_pos;
	for (int i = 0; i < 10; i++)
		poll_call(false);
	poll_call(true);
	CHECK_INT_EQ(kind_at(2), CRIT_S_POLL);
	detail = slot_at(3);
	CHECK_INT_EQ(detail->kind, CRIT_S_DETAIL);
	CHECK_INT_EQ(detail->detail, CRIT_D_DONE);
	CHECK_UINT_EQ(detail->request, 4);
	/* where the machine interrupts, a sequence takes more than one record, of two slots each */
	CHECK_UINT_EQ((own_buffer()->write_pos - position_before) % 2, 1);
}

static void test_full(void)
{
	uint64_t lost;

	CHECK_CASE("details without room are counted, never the span's end");
	drain();
	position_before = own_buffer()->write_pos;
	for (unsigned int i = 0; i < head->ring_slots / 2 - 2; i++)
		call(SEND, NULL);
	own_buffer()->read_pos++; /* room for five: with the next span for one detail */
	lost = own_buffer()->lost_spans;
	call(SEND, NULL);
	call(SEND, tell_two);
	CHECK_UINT_EQ(own_buffer()->lost_spans, lost);
	CHECK_UINT_EQ(own_buffer()->write_pos, position_before + head->ring_slots + 1);
	CHECK_INT_EQ(kind_at(1), CRIT_S_LEAVE);
	CHECK_UINT_EQ(((const struct crit_slot *)slot_at(1))->arg, 1);
	CHECK_INT_EQ(kind_at(2), CRIT_S_DETAIL);
	call(SEND, tell_two);
	CHECK_UINT_EQ(own_buffer()->lost_spans, lost + 1);
}

static void test_full_poll(void)
{
	const struct crit_slot_poll2 *second;

	CHECK_CASE("a poll's too");
	own_buffer()->read_pos += 2;
	poll_call(true);
	CHECK_INT_EQ(kind_at(2), CRIT_S_POLL);
	second = slot_at(1);
	CHECK_UINT_EQ(second->details_lost, 1);
}

static void test_late_comm(void)
{
	const struct crit_slot_comm *comm;
	const struct crit_slot_detail *detail;

	CHECK_CASE("a communicator that found no room is told at its next use");
	define(); /* the ring is full; the handle is used again */
	drain();
	call(SEND, tell_two);
	CHECK_INT_EQ(kind_at(4), CRIT_S_COMM);
	comm = slot_at(4);
	detail = slot_at(3);
	CHECK_UINT_EQ(comm->comm, 4);
	CHECK_UINT_EQ(comm->nth, 1);
	CHECK_UINT_EQ(detail->comm, 4);
	crit_shim_comm_free(HANDLE);
	comm = slot_at(1);
	CHECK_UINT_EQ(comm->flags, CRIT_COMM_IS_FREED);
	CHECK_UINT_EQ(comm->comm, 4);
	call(SEND, tell_two);
	CHECK_UINT_EQ(((const struct crit_slot_detail *)slot_at(3))->comm, 0);
	CHECK(crit_shim_comm_find(HANDLE) == NULL);
}

static void linger(void)
{
	const uint64_t until_ns = crit_shim_now_ns() + 200000;

	while (crit_shim_now_ns() < until_ns)
		;
	tell_barrier(); /* after MPI's function, as wrappers do */
}

static void test_profile(void)
{
	const struct crit_slot_detail *detail;
	uint64_t position;

	CHECK_CASE("level profile");
	define();
	head->tau_ns = 1000000000;
	head->level = CRIT_LEVEL_PROFILE;
	call(ISEND, tell_two);
	CHECK_UINT_EQ(role_seen, CRIT_SHIM_OUTER | CRIT_SHIM_CALLER);
	position = own_buffer()->write_pos;
	call(ISEND, tell_two);
	CHECK_UINT_EQ(own_buffer()->write_pos, position);
	CHECK_UINT_EQ(fake_critd_counter(head, 0, CRIT_MPI_Isend,
					 offsetof(struct crit_counter, bytes)),
		      2 * 57);
	call(BARRIER, tell_barrier); /* folded, but counted by the communicator */
	CHECK_UINT_EQ(own_buffer()->write_pos, position);
	CHECK_UINT_EQ(fake_critd_counter(head, 0, CRIT_MPI_Barrier,
					 offsetof(struct crit_counter, bytes)),
		      11 + 22);
	head->tau_ns = 1000;
	call(ISEND, NULL);
	position = own_buffer()->write_pos;
	call(BARRIER, linger);
	CHECK_UINT_EQ(own_buffer()->write_pos, position + 3);
	CHECK_INT_EQ(kind_at(3), CRIT_S_ENTER);
	detail = slot_at(2);
	CHECK_INT_EQ(detail->detail, CRIT_D_COLL);
	CHECK_INT_EQ(detail->tag, 1);
	call(BARRIER, define); /* a span that makes a communicator is not folded */
	CHECK_UINT_EQ(own_buffer()->write_pos, position + 7);
	CHECK_INT_EQ(kind_at(4), CRIT_S_ENTER);
	CHECK_INT_EQ(kind_at(3), CRIT_S_COMM); /* the end of what had the handle before */
	CHECK_INT_EQ(kind_at(2), CRIT_S_COMM);
	CHECK_INT_EQ(kind_at(1), CRIT_S_LEAVE);
	CHECK_UINT_EQ(own_buffer()->open_call, 0);
	head->tau_ns = 0;
	head->level = CRIT_LEVEL_TRACE;
}

#define SCRATCH_BYTES (3u << 20)

static void *find_scratch(void *unused)
{
	(void)unused;
	return crit_shim_scratch(SCRATCH_BYTES);
}

static void test_scratch(void)
{
	pthread_t thread;
	void *other = NULL;

	CHECK_CASE("scratch memory");
	call(SEND, NULL);
	CHECK(crit_shim_scratch(1) != NULL);
	CHECK(crit_shim_scratch(1) == crit_shim_scratch(100));
	CHECK(crit_shim_scratch(CRIT_SHIM_SCRATCH_MAX + 1) == NULL);
	memset(crit_shim_scratch(SCRATCH_BYTES), 1, SCRATCH_BYTES);
	CHECK(crit_shim_scratch(1) == crit_shim_scratch(SCRATCH_BYTES));
	CHECK_INT_EQ(pthread_create(&thread, NULL, find_scratch, NULL), 0);
	(void)pthread_join(thread, &other);
	CHECK(other != crit_shim_scratch(1));
}

static const struct crit_slot_comm *made(uint64_t handle, uint64_t parent, bool is_of_all)
{
	crit_shim_comm_define(handle, &(struct crit_shim_comm){ .hash = 8,
								.parent = parent,
								.is_of_all = is_of_all });
	return slot_at(1);
}

/* Names do not depend on what other threads make of other communicators meanwhile. */
static void test_names(void)
{
	struct crit_slot_comm first, second, of_first, of_second, again, some;

	CHECK_CASE("names");
	drain();
	first = *made(0x10, 0, false);
	second = *made(0x20, 0, false);
	CHECK_UINT_EQ(first.hash, second.hash);
	CHECK_UINT_EQ(second.nth, first.nth + 1);
	of_second = *made(0x30, 0x20, true);
	of_first = *made(0x40, 0x10, true);
	CHECK(of_first.hash != of_second.hash);
	CHECK_UINT_EQ(of_first.nth, 0);
	CHECK_UINT_EQ(of_second.nth, 0);
	CHECK_INT_EQ(of_first.parent, (int)first.comm);
	(void)made(0, 0x10, true); /* this process is not in it */
	again = *made(0x50, 0x10, true);
	CHECK_UINT_EQ(again.hash, of_first.hash);
	CHECK_UINT_EQ(again.nth, 2);
	some = *made(0x60, 0x10, false);
	CHECK_UINT_EQ(some.hash, first.hash);
	CHECK_UINT_EQ(some.nth, second.nth + 1);
}

static void test_many(void)
{
	unsigned int known = 0;

	CHECK_CASE("more communicators than there is room for");
	for (uint64_t handle = 1; handle <= 6000; handle++)
		crit_shim_comm_define(handle << 16, &(struct crit_shim_comm){ .hash = 6 });
	for (uint64_t handle = 1; handle <= 6000; handle++)
		known += crit_shim_comm_find(handle << 16) != NULL;
	CHECK_INT_GE(known, 3000);
	CHECK_INT_LE(known, 4096);
	for (uint64_t handle = 1; handle <= 6000; handle++)
		crit_shim_comm_free(handle << 16);
	define();
	CHECK(crit_shim_comm_find(HANDLE) != NULL);
}

/* The child's own recording must say what its communicators are. */
static void test_fork(void)
{
	struct crit_shm_head *child_head;
	const struct crit_slot_comm *comm;
	int status = 1;
	pid_t child;

	CHECK_CASE("fork");
	call(SEND, tell_two);
	child = fork();
	if (child == 0) {
		call(SEND, tell_two);
		_exit(0);
	}
	CHECK_INT_EQ(waitpid(child, &status, 0), child);
	child_head = fake_critd_map(&fake);
	if (!CHECK(child_head != NULL))
		return;
	/* LEVEL, ENTER, COMM */
	comm = (const void *)fake_critd_slot(child_head, 0, 2);
	CHECK_INT_EQ(comm->kind, CRIT_S_COMM);
	CHECK_UINT_EQ(comm->hash, 5);
}

int main(void)
{
	fake_critd_start(&fake);
	if (!CHECK(crit_shim_start(CRIT_FLAVOUR_OPENMPI)))
		return check_done();
	head = fake_critd_map(&fake);
	if (!CHECK(head != NULL))
		return check_done();
	test_span();
	test_collective();
	test_failed();
	test_twin();
	test_poll();
	test_full();
	test_full_poll();
	test_late_comm();
	test_profile();
	test_scratch();
	test_names();
	drain();
	test_many();
	drain();
	test_fork();
	fake_critd_stop(&fake);
	return check_done();
}
