// SPDX-License-Identifier: BSD-3-Clause
// Constructs that end and begin at the same time have one stamp, and are recorded as any other.
#include "core/base/call.h"
#include "core/shim/shim_construct.h"
#include "core/shim/shim_process.h"
#include "core/shim/shim_region.h"
#include "tests/lib/check.h"
#include "tests/shim/fake_critd.h"
#include "tests/shim/wrapper.h"

#define PLACE ((const void *)0x1007)
#define LOCK 77u

static struct fake_critd fake;
static struct crit_shm_head *head;
static uint32_t team;

static uint64_t written(void)
{
	return fake_critd_buffer(head, 0)->write_pos;
}

static void check_slot(uint64_t position, enum crit_slot_kind kind, unsigned int call)
{
	const struct crit_slot *slot = fake_critd_slot(head, 0, position);

	CHECK_UINT_EQ(slot->kind, kind);
	CHECK_UINT_EQ(slot->call, call);
}

static uint64_t time_at(uint64_t position)
{
	return fake_critd_slot(head, 0, position)->time_ns;
}

/* A critical section: the wait for it, what is inside, and its release. */
static void pass_critical(void)
{
	crit_shim_construct_begin(CRIT_CONSTRUCT_CRITICAL_WAIT, team, PLACE, LOCK);
	crit_shim_construct_next(CRIT_CONSTRUCT_CRITICAL_WAIT, CRIT_CONSTRUCT_CRITICAL, team, PLACE,
				 0);
	crit_shim_construct_end_and_release(CRIT_CONSTRUCT_CRITICAL, CRIT_CONSTRUCT_CRITICAL_WAIT,
					    LOCK);
}

static void test_critical(void)
{
	const uint64_t first = written();

	CHECK_CASE("a wait and what comes after it");
	pass_critical();
	CHECK_UINT_EQ(written(), first + 5);
	check_slot(first, CRIT_S_ENTER, CRIT_CONSTRUCT_CRITICAL_WAIT);
	check_slot(first + 1, CRIT_S_LEAVE, CRIT_CONSTRUCT_CRITICAL_WAIT);
	check_slot(first + 2, CRIT_S_ENTER, CRIT_CONSTRUCT_CRITICAL);
	check_slot(first + 3, CRIT_S_LEAVE, CRIT_CONSTRUCT_CRITICAL);
	check_slot(first + 4, CRIT_S_RELEASE, CRIT_CONSTRUCT_CRITICAL_WAIT);
	CHECK_UINT_EQ(fake_critd_slot(head, 0, first + 4)->arg, LOCK);
	CHECK_UINT_EQ(time_at(first + 1), time_at(first + 2));
	CHECK_UINT_EQ(time_at(first + 3), time_at(first + 4));
	CHECK(time_at(first) < time_at(first + 1));
	CHECK(time_at(first + 2) < time_at(first + 3));
}

static void test_unfinished(void)
{
	const uint64_t first = written();

	CHECK_CASE("what ends with its surroundings ends at their time");
	crit_shim_construct_begin(CRIT_CONSTRUCT_PARALLEL, team, PLACE, CRIT_INSTANCE_PRIMARY | 1);
	crit_shim_construct_begin(CRIT_CONSTRUCT_IMPLICIT_BARRIER, team, PLACE, 0);
	crit_shim_construct_end(CRIT_CONSTRUCT_PARALLEL);
	CHECK_UINT_EQ(written(), first + 4);
	check_slot(first + 2, CRIT_S_LEAVE, CRIT_CONSTRUCT_IMPLICIT_BARRIER);
	check_slot(first + 3, CRIT_S_LEAVE, CRIT_CONSTRUCT_PARALLEL);
	CHECK_UINT_EQ(time_at(first + 2), time_at(first + 3));
}

static void pass_two(void)
{
	crit_shim_construct_begin_two(CRIT_CONSTRUCT_PARALLEL, CRIT_CONSTRUCT_RUNTIME_BARRIER, team,
				      PLACE, CRIT_INSTANCE_PRIMARY | 1);
	crit_shim_construct_end(CRIT_CONSTRUCT_RUNTIME_BARRIER);
	crit_shim_construct_end(CRIT_CONSTRUCT_PARALLEL);
}

static void test_two(void)
{
	const uint64_t first = written();

	CHECK_CASE("two that begin at once, the second inside the first");
	pass_two();
	CHECK_UINT_EQ(written(), first + 4);
	check_slot(first, CRIT_S_ENTER, CRIT_CONSTRUCT_PARALLEL);
	check_slot(first + 1, CRIT_S_ENTER, CRIT_CONSTRUCT_RUNTIME_BARRIER);
	check_slot(first + 2, CRIT_S_LEAVE, CRIT_CONSTRUCT_RUNTIME_BARRIER);
	check_slot(first + 3, CRIT_S_LEAVE, CRIT_CONSTRUCT_PARALLEL);
	CHECK_UINT_EQ(fake_critd_slot(head, 0, first)->arg, CRIT_INSTANCE_PRIMARY | 1);
	CHECK_UINT_EQ(fake_critd_slot(head, 0, first + 1)->arg, 0);
	CHECK_UINT_EQ(time_at(first), time_at(first + 1));
	CHECK(time_at(first + 1) < time_at(first + 2));
	CHECK(time_at(first + 2) < time_at(first + 3));
}

static void test_nothing_ended(void)
{
	uint64_t first;

	CHECK_CASE("without an end there is no stamp to share");
	wrap_call(CRIT_MPI_Send, CRIT_CLASS_MPI_MAY_WAIT, NULL);
	first = written();
	crit_shim_construct_next(CRIT_CONSTRUCT_CRITICAL_WAIT, CRIT_CONSTRUCT_CRITICAL, team, PLACE,
				 0);
	check_slot(first, CRIT_S_ENTER, CRIT_CONSTRUCT_CRITICAL);
	CHECK(time_at(first - 1) < time_at(first));
	crit_shim_construct_end(CRIT_CONSTRUCT_CRITICAL);
}

static void test_inside_mpi(void)
{
	const uint64_t first = written();

	CHECK_CASE("nothing is recorded inside an MPI call");
	crit_shim_construct_begin(CRIT_CONSTRUCT_CRITICAL, team, PLACE, 0);
	wrap_call(CRIT_MPI_Allreduce, CRIT_CLASS_MPI_WAIT, pass_critical);
	wrap_call(CRIT_MPI_Allreduce, CRIT_CLASS_MPI_WAIT, pass_two);
	crit_shim_construct_end(CRIT_CONSTRUCT_CRITICAL);
	CHECK_UINT_EQ(written(), first + 6);
	check_slot(first + 2, CRIT_S_LEAVE, CRIT_MPI_Allreduce);
	check_slot(first + 4, CRIT_S_LEAVE, CRIT_MPI_Allreduce);
	check_slot(first + 5, CRIT_S_LEAVE, CRIT_CONSTRUCT_CRITICAL);
}

int main(void)
{
	fake_critd_start(&fake);
	if (!CHECK(crit_shim_start(CRIT_FLAVOUR_OPENMPI)))
		return check_done();
	head = fake_critd_map(&fake);
	if (!CHECK(head != NULL))
		return check_done();
	team = crit_shim_region(CRIT_CONSTRUCT_PARALLEL, PLACE, NULL, 0);
	crit_shim_construct_begin(CRIT_CONSTRUCT_PARALLEL, team, PLACE, CRIT_INSTANCE_PRIMARY | 1);
	crit_shim_construct_end(CRIT_CONSTRUCT_PARALLEL); /* the region is told */
	test_critical();
	test_unfinished();
	test_two();
	test_nothing_ended();
	test_inside_mpi();
	fake_critd_stop(&fake);
	return check_done();
}
