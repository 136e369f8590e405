// SPDX-License-Identifier: BSD-3-Clause
// The hooks as Fortran wrappers use them, against a stand-in for critd: one span per call with the
// C calls inside, and announced calls.
#include <setjmp.h>

#include "core/base/call.h"
#include "core/shim/shim_process.h"
#include "core/shim/shim_span.h"
#include "tests/lib/check.h"
#include "tests/shim/fake_critd.h"
#include "tests/shim/wrapper.h"

#define FORTRAN(name, span_class)                                                                  \
	(CRIT_SHIM_WHAT(CRIT_MPI_##name, CRIT_CLASS_##span_class) | CRIT_SHIM_FORTRAN)

static struct fake_critd fake;
static struct crit_shm_head *head;
static jmp_buf escape;
static const void *program; /* the return address of the first Fortran wrapper */
static uint64_t tag_inside;

WRAPPER static void fortran_call(uint32_t what, void (*body)(void))
{
	const bool is_outer = crit_shim_enter(what, FRAME, SITE);

	if (!program)
		program = SITE;
	if (body)
		body();
	if (is_outer)
		crit_shim_leave();
}

WRAPPER static void fortran_poll(bool is_done)
{
	const bool is_outer = crit_shim_poll_enter(FORTRAN(Test, MPI_POLL), FRAME, SITE);

	if (!program)
		program = SITE;
	if (is_outer)
		crit_shim_poll_leave(is_done);
}

WRAPPER static void c_call(uint32_t what)
{
	if (crit_shim_enter(what, FRAME, SITE))
		crit_shim_leave();
}

WRAPPER static void c_finalize(void)
{
	const void *frame = crit_shim_caller(FRAME);

	if (crit_shim_enter(CRIT_SHIM_WHAT(CRIT_MPI_Finalize, CRIT_CLASS_MPI_WAIT), frame,
			    ((void *const *)frame)[1]))
		crit_shim_leave();
}

WRAPPER static void fortran_finalize(int depth)
{
	const bool is_outer = crit_shim_announce(FRAME);

	if (!program)
		program = SITE;
	if (depth > 0)
		fortran_finalize(depth - 1);
	else
		c_finalize();
	if (is_outer)
		crit_shim_announce_end();
}

/* As a Fortran library that asks for the size first. */
static void size_and_send(void)
{
	tag_inside = *(volatile uint64_t *)((char *)__builtin_thread_pointer() +
					    fake.registered.tls_offset);
	c_call(CRIT_SHIM_WHAT(CRIT_MPI_Comm_size, CRIT_CLASS_MPI));
	c_call(CRIT_SHIM_WHAT(CRIT_MPI_Send, CRIT_CLASS_MPI_MAY_WAIT));
}

static void jump(void)
{
	longjmp(escape, 1);
}

static struct crit_slot *slot_from_end(int from_end)
{
	const uint64_t end = fake_critd_buffer(head, 0)->write_pos;

	return fake_critd_slot(head, 0, end - (uint64_t)from_end);
}

static uint64_t slots_of(void (*body)(void))
{
	const uint64_t begin = fake_critd_buffer(head, 0)->write_pos;

	program = NULL;
	body();
	return fake_critd_buffer(head, 0)->write_pos - begin;
}

static void fortran_send(void)
{
	fortran_call(FORTRAN(Send, MPI_MAY_WAIT), size_and_send);
}

static void test_span(void)
{
	CHECK_CASE("span");
	fortran_send(); /* takes the thread buffer and writes LEVEL */
	CHECK_INT_EQ(slots_of(fortran_send), 2);
	CHECK_INT_EQ(slot_from_end(2)->kind, CRIT_S_ENTER);
	CHECK_INT_EQ(slot_from_end(2)->call, CRIT_MPI_Send);
	CHECK_INT_EQ(slot_from_end(2)->site, (uintptr_t)program);
	CHECK_INT_EQ(slot_from_end(1)->kind, CRIT_S_LEAVE);
	CHECK_INT_EQ(CRIT_TAG_FIELD(tag_inside, CALL), CRIT_MPI_Send);
	CHECK_INT_EQ(CRIT_TAG_FIELD(tag_inside, CLASS), CRIT_CLASS_MPI_MAY_WAIT);
}

static void jump_out(void)
{
	if (setjmp(escape) == 0)
		fortran_call(FORTRAN(Send, MPI_MAY_WAIT), jump);
}

static void test_jump(void)
{
	CHECK_CASE("jump");
	jump_out();
	CHECK_INT_EQ(slots_of(fortran_send), 3); /* and the leave of what was jumped out of */
}

static void poll_three(void)
{
	for (int i = 0; i < 3; i++)
		fortran_poll(i == 2);
}

static void test_poll(void)
{
	CHECK_CASE("poll");
	CHECK_INT_EQ(slots_of(poll_three), 2);
	CHECK_INT_EQ(slot_from_end(2)->kind, CRIT_S_POLL);
	CHECK_INT_EQ(slot_from_end(2)->call, CRIT_MPI_Test);
	CHECK_INT_EQ(slot_from_end(2)->region, 3);
	CHECK_INT_EQ(slot_from_end(2)->site, (uintptr_t)program);
}

static void finalize_once(void)
{
	fortran_finalize(0);
}

static void finalize_twice(void)
{
	fortran_finalize(1);
}

static void test_announced(void)
{
	CHECK_CASE("announced");
	CHECK_INT_EQ(slots_of(finalize_once), 2);
	CHECK_INT_EQ(slot_from_end(2)->call, CRIT_MPI_Finalize);
	CHECK_INT_EQ(slot_from_end(2)->site, (uintptr_t)program);
	CHECK_INT_EQ(slots_of(finalize_twice), 2);
	CHECK_INT_EQ(slot_from_end(2)->site, (uintptr_t)program);
	c_finalize(); /* from here, and nobody announced it */
	CHECK(slot_from_end(2)->site != (uintptr_t)program);
}

int main(void)
{
	fake_critd_start(&fake);
	CHECK(crit_shim_start(CRIT_FLAVOUR_OPENMPI));
	head = fake_critd_map(&fake);
	CHECK(head != NULL);
	if (head) {
		test_span();
		test_jump();
		test_poll();
		test_announced();
	}
	fake_critd_stop(&fake);
	return check_done();
}
