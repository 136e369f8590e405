// SPDX-License-Identifier: BSD-3-Clause
// Constructs and phases against a stand-in for critd: how they nest with each other and with MPI.
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/call.h"
#include "core/shim/shim_construct.h"
#include "core/shim/shim_process.h"
#include "core/shim/shim_region.h"
#include "tests/lib/check.h"
#include "tests/shim/fake_critd.h"
#include "tests/shim/wrapper.h"

#define PLACE(number) ((const void *)(uintptr_t)(0x1000u + (number)))
#define BEGIN(NAME, region, arg)                                                                   \
	crit_shim_construct_begin(CRIT_CONSTRUCT_##NAME, region, PLACE(7), arg)
#define END(NAME) crit_shim_construct_end(CRIT_CONSTRUCT_##NAME)
#define TEAM 1u /* regions made at the start */
#define INNER 2u

static struct fake_critd fake;
static struct crit_shm_head *head;
static uint64_t seen_to; /* position up to which slots were looked at */

static void send(void)
{
	wrap_call(CRIT_MPI_Send, CRIT_CLASS_MPI_MAY_WAIT, NULL);
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

static void check_tag(unsigned int call_number, enum crit_span_class span_class, uint32_t region)
{
	CHECK_UINT_EQ(CRIT_TAG_FIELD(tag(), CALL), call_number);
	CHECK_UINT_EQ(CRIT_TAG_FIELD(tag(), CLASS), span_class);
	CHECK_UINT_EQ(CRIT_TAG_FIELD(tag(), REGION), region);
	CHECK_UINT_EQ(crit_shim_region_now(), region);
}

static uint64_t tag_inside;

static void look_at_tag(void)
{
	tag_inside = tag();
}

/* "TASK", "Send" */
static const char *name_of(unsigned int number)
{
	switch (number) {
#define CRIT_CONSTRUCT(number, name, text, span_class)                                             \
	case number:                                                                               \
		return #name;
#include "core/abi/constructs.def"
#define CRIT_MPI_CALL(number, name, span_class, group) CRIT_CONSTRUCT(number, name, , )
#include "core/abi/mpi_calls.def"
#undef CRIT_MPI_CALL
#undef CRIT_CONSTRUCT
	default:
		return "?";
	}
}

static int write_word(char *text, size_t bytes, const struct crit_slot *slot)
{
	const struct crit_slot_region *region = (const void *)slot;

	switch (slot->kind) {
	case CRIT_S_ENTER:
		return snprintf(text, bytes, "(%s@%u ", name_of(slot->call), slot->region);
	case CRIT_S_LEAVE:
		return snprintf(text, bytes, "%s) ", name_of(slot->call));
	case CRIT_S_REGION:
		return snprintf(text, bytes, "region:%u<%u%s ", region->region, region->parent,
				region->caller == (uintptr_t)PLACE(98) ? "^" : "");
	case CRIT_S_LEVEL:
		return snprintf(text, bytes, "level:%u ", slot->call);
	case CRIT_S_POLL:
		return snprintf(text, bytes, "poll ");
	case CRIT_S_WORKER:
		return snprintf(text, bytes, "worker ");
	case CRIT_S_RELEASE:
		return snprintf(text, bytes, "release:%s ", name_of(slot->call));
	case CRIT_S_TASK:
		return snprintf(text, bytes, "%s:%u ",
				slot->call == CRIT_OMP_TASK_MADE ? "made" : "paused",
				(unsigned int)(slot->arg >> CRIT_OMP_TASK_BUFFER_SHIFT));
	default:
		return snprintf(text, bytes, slot->kind == CRIT_S_CONTINUED ? "+ " : "? ");
	}
}

/* Every slot since the last look, one word each; then the ring is drained. */
static const char *news(void)
{
	static char text[2000];
	size_t length = 0;

	text[0] = '\0';
	for (; seen_to < own_buffer()->write_pos && length < sizeof(text) - 40; seen_to++)
		length += (size_t)write_word(&text[length], sizeof(text) - length,
					     fake_critd_slot(head, 0, seen_to));
	own_buffer()->read_pos = own_buffer()->write_pos;
	return text;
}

static void set_level(enum crit_level level, uint32_t tau_ns)
{
	head->tau_ns = tau_ns;
	head->level = level;
	send();
	(void)news();
}

static void pass_ns(uint64_t time_ns)
{
	const uint64_t until_ns = crit_shim_now_ns() + time_ns;

	while (crit_shim_now_ns() < until_ns)
		;
}

static void test_nesting(void)
{
	const struct crit_slot *enter;

	CHECK_CASE("constructs nest, and MPI calls lie inside");
	BEGIN(PARALLEL, TEAM, CRIT_INSTANCE_PRIMARY | 17);
	CHECK_STR_EQ(news(), "region:1<0 (PARALLEL@1 ");
	enter = fake_critd_slot(head, 0, seen_to - 1);
	CHECK_UINT_EQ(enter->arg, CRIT_INSTANCE_PRIMARY | 17);
	CHECK_UINT_EQ(enter->site, 0x1007);
	check_tag(CRIT_CONSTRUCT_PARALLEL, CRIT_CLASS_OMP, TEAM);
	send();
	check_tag(CRIT_CONSTRUCT_PARALLEL, CRIT_CLASS_OMP, TEAM);
	BEGIN(BARRIER, TEAM, 0);
	check_tag(CRIT_CONSTRUCT_BARRIER, CRIT_CLASS_OMP_WAIT, TEAM);
	BEGIN(TASK, INNER, 0);
	check_tag(CRIT_CONSTRUCT_TASK, CRIT_CLASS_OMP, INNER);
	wrap_call(CRIT_MPI_Barrier, CRIT_CLASS_MPI_WAIT, look_at_tag);
	CHECK_UINT_EQ(CRIT_TAG_FIELD(tag_inside, CALL), CRIT_MPI_Barrier);
	CHECK_UINT_EQ(CRIT_TAG_FIELD(tag_inside, CLASS), CRIT_CLASS_MPI_WAIT);
	CHECK_UINT_EQ(CRIT_TAG_FIELD(tag_inside, REGION), INNER);
	END(TASK);
	END(BARRIER);
	END(PARALLEL);
	check_tag(0, CRIT_CLASS_USER, 0);
	CHECK_UINT_EQ(CRIT_TAG_FIELD(tag(), SEQUENCE), own_buffer()->write_pos);
	CHECK_STR_EQ(news(), "(Send@1 Send) (BARRIER@1 region:2<1 (TASK@2 "
			     "(Barrier@2 Barrier) TASK) BARRIER) PARALLEL) ");

	CHECK_CASE("a region is told once");
	BEGIN(TASK, INNER, 0);
	END(TASK);
	CHECK_STR_EQ(news(), "(TASK@2 TASK) ");
}

static void test_regions(void)
{
	const uint32_t many = 20000;
	uint32_t last = 0;

	CHECK_CASE("a region is a construct and what it was begun in");
	CHECK_UINT_EQ(crit_shim_region(CRIT_CONSTRUCT_PARALLEL, PLACE(1), NULL, 0), TEAM);
	CHECK_UINT_EQ(crit_shim_region(CRIT_CONSTRUCT_TASK, PLACE(2), NULL, TEAM), INNER);
	CHECK_UINT_EQ(crit_shim_region(CRIT_CONSTRUCT_TASK, PLACE(3), NULL, INNER), 3);
	CHECK_UINT_EQ(crit_shim_region(CRIT_CONSTRUCT_PARALLEL, PLACE(2), NULL, TEAM), 4);
	CHECK_UINT_EQ(crit_shim_phase("solve", 0), 5);
	CHECK_UINT_EQ(crit_shim_phase("solve", TEAM), 6);
	CHECK_UINT_EQ(crit_shim_phase("solved", 0), 7);
	CHECK_UINT_EQ(crit_shim_phase("solve", 0), 5);
	CHECK_UINT_EQ(crit_shim_phase("", TEAM), TEAM);
	CHECK_UINT_EQ(crit_shim_region(CRIT_CONSTRUCT_TASK, PLACE(2), NULL, 3), INNER);
	CHECK_UINT_EQ(crit_shim_region(CRIT_CONSTRUCT_PARALLEL, PLACE(1), NULL, 6), TEAM);
	CHECK_UINT_EQ(crit_shim_phase("solve", 6), 6);
	for (uint32_t i = 0; i < many; i++)
		last = crit_shim_region(CRIT_CONSTRUCT_TASK, PLACE(i), NULL, 7);
	CHECK_UINT_EQ(last, 7 + many);
	CHECK_UINT_EQ(crit_shim_region(CRIT_CONSTRUCT_TASK, PLACE(17), NULL, 7), 8 + 17);
	CHECK_STR_EQ(news(), "");

	CHECK_CASE("those around are told with it");
	BEGIN(TASK, 8 + 17, 0);
	END(TASK);
	CHECK_STR_EQ(news(), "region:25<7 region:7<0 + (TASK@25 TASK) ");
}

static void test_phase_name(void)
{
	static const char name[] = "a name that is longer than one slot, by quite a lot even; and "
				   "then some more that is cut off as the limit is 120 bytes long, "
				   "no longer than that";
	const uint32_t phase = crit_shim_phase(name, TEAM);
	const struct crit_slot_region *region;
	char text[4 * CRIT_REGION_TEXT_BYTES + 1] = "";
	uint64_t position = seen_to;

	CHECK_CASE("a phase's name");
	BEGIN(PHASE, phase, 0);
	check_tag(CRIT_CONSTRUCT_PHASE, CRIT_CLASS_USER, phase);
	END(PHASE);
	region = (const void *)fake_critd_slot(head, 0, position);
	CHECK_INT_EQ(region->kind, CRIT_S_REGION);
	CHECK_INT_EQ(region->slots, 5);
	CHECK_UINT_EQ(region->name_bytes, CRIT_REGION_NAME_MAX);
	CHECK_UINT_EQ(region->site, 0);
	CHECK_UINT_EQ(region->parent, TEAM);
	for (int i = 0; i < 4; i++) {
		const struct crit_slot_text *part =
			(const void *)fake_critd_slot(head, 0, ++position);

		memcpy(&text[i * 30], part->head, sizeof(part->head));
		memcpy(&text[i * 30 + 8], part->tail, sizeof(part->tail));
	}
	CHECK_INT_EQ(strlen(text), CRIT_REGION_NAME_MAX);
	CHECK_INT_EQ(strncmp(text, name, CRIT_REGION_NAME_MAX), 0);
	(void)news();
}

static void test_unbalanced(void)
{
	CHECK_CASE("an end that fits nothing");
	END(LOOP);
	END(PARALLEL);
	BEGIN(PARALLEL, TEAM, 1);
	BEGIN(LOOP, TEAM, 0);
	END(SINGLE);
	CHECK_STR_EQ(news(), "(PARALLEL@1 (LOOP@1 ");

	CHECK_CASE("an end ends what was left open inside");
	BEGIN(CRITICAL, TEAM, 0);
	END(LOOP);
	CHECK_STR_EQ(news(), "(CRITICAL@1 CRITICAL) LOOP) ");

	CHECK_CASE("it looks no further than to a parallel region");
	BEGIN(LOOP, TEAM, 0);
	BEGIN(PARALLEL, INNER, CRIT_INSTANCE_PRIMARY | 2);
	END(LOOP);
	check_tag(CRIT_CONSTRUCT_PARALLEL, CRIT_CLASS_OMP, INNER);
	BEGIN(TASK, INNER, 0);
	END(PARALLEL);
	CHECK_STR_EQ(news(), "(LOOP@1 (PARALLEL@2 (TASK@2 TASK) PARALLEL) ");
	END(PARALLEL);
	CHECK_STR_EQ(news(), "LOOP) PARALLEL) ");
	check_tag(0, CRIT_CLASS_USER, 0);

	CHECK_CASE("who comes from the pool has left all else");
	BEGIN(PARALLEL, TEAM, 1);
	BEGIN(BARRIER, TEAM, 0);
	BEGIN(PARALLEL, TEAM, 2);
	END(PARALLEL);
	check_tag(0, CRIT_CLASS_USER, 0);
	CHECK_STR_EQ(news(), "(PARALLEL@1 (BARRIER@1 BARRIER) PARALLEL) (PARALLEL@1 PARALLEL) ");
}

static void test_tasks(void)
{
	uint64_t task;

	CHECK_CASE("a task says who made it, and that it goes on later");
	BEGIN(PARALLEL, TEAM, 2);
	task = crit_shim_task_made();
	CHECK_UINT_EQ((uint32_t)task, (uint32_t)own_buffer()->write_pos); /* its slot, plus 1 */
	CHECK_UINT_EQ(fake_critd_slot(head, 0, own_buffer()->write_pos - 1)->arg, task);
	CHECK(crit_shim_task_made() != task);
	BEGIN(TASK, TEAM, task);
	CHECK_UINT_EQ(fake_critd_slot(head, 0, own_buffer()->write_pos - 1)->arg, task);
	crit_shim_task_paused(task);
	END(TASK);
	crit_shim_task_paused(0); /* nobody was told of it */
	END(PARALLEL);
	CHECK_STR_EQ(news(), "(PARALLEL@1 made:0 made:0 (TASK@1 paused:0 TASK) PARALLEL) ");

	CHECK_CASE("at level profile tasks are not told, but their spans");
	set_level(CRIT_LEVEL_PROFILE, 1000);
	CHECK_UINT_EQ(crit_shim_task_made(), 0);
	BEGIN(TASK, TEAM, 0);
	END(TASK);
	CHECK_STR_EQ(news(), "(TASK@1 TASK) ");
	set_level(CRIT_LEVEL_TRACE, 0);
}

static void construct_inside(void)
{
	BEGIN(PARALLEL, TEAM, 3);
	BEGIN(BARRIER, TEAM, 0);
	END(BARRIER);
	crit_shim_construct_release(CRIT_CONSTRUCT_LOCK_WAIT, 5);
	CHECK_UINT_EQ(crit_shim_task_made(), 0);
	END(PARALLEL);
	END(PARALLEL); /* must not end the one around the call */
}

static void test_inside_mpi(void)
{
	CHECK_CASE("nothing is recorded inside an MPI call");
	BEGIN(PARALLEL, TEAM, 4);
	wrap_call(CRIT_MPI_Allreduce, CRIT_CLASS_MPI_WAIT, construct_inside);
	check_tag(CRIT_CONSTRUCT_PARALLEL, CRIT_CLASS_OMP, TEAM);
	END(PARALLEL);
	CHECK_STR_EQ(news(), "(PARALLEL@1 (Allreduce@1 Allreduce) PARALLEL) ");
}

static void test_poll(void)
{
	CHECK_CASE("a construct ends a poll span");
	BEGIN(PARALLEL, TEAM, 5);
	wrap_poll(false);
	CHECK_UINT_EQ(CRIT_TAG_FIELD(tag(), REGION), TEAM);
	BEGIN(LOOP, TEAM, 0);
	wrap_poll(false);
	END(LOOP);
	wrap_poll(false);
	crit_shim_construct_release(CRIT_CONSTRUCT_LOCK_WAIT, 77);
	END(PARALLEL);
	CHECK_STR_EQ(news(), "(PARALLEL@1 poll + (LOOP@1 poll + LOOP) poll + release:LOCK_WAIT "
			     "PARALLEL) ");
}

static void test_full(void)
{
	const uint64_t slots = head->ring_slots;
	const uint64_t lost = own_buffer()->lost_spans;
	const uint64_t start = own_buffer()->write_pos;

	CHECK_CASE("a full ring: what is open keeps the room of its end");
	BEGIN(PARALLEL, TEAM, 6);
	BEGIN(LOOP, TEAM, 0);
	for (uint64_t i = 0; i < slots / 2; i++)
		send();
	CHECK_UINT_EQ(own_buffer()->write_pos, start + slots - 2);
	CHECK_UINT_EQ(own_buffer()->lost_spans, lost + 2);
	BEGIN(CRITICAL, TEAM, 0); /* lost as a whole */
	crit_shim_construct_release(CRIT_CONSTRUCT_CRITICAL_WAIT, 1);
	check_tag(CRIT_CONSTRUCT_CRITICAL, CRIT_CLASS_OMP, TEAM);
	END(CRITICAL);
	CHECK_UINT_EQ(own_buffer()->lost_spans, lost + 4);
	END(LOOP);
	END(PARALLEL);
	CHECK_UINT_EQ(own_buffer()->write_pos, start + slots);
	seen_to = start + slots - 2;
	CHECK_STR_EQ(news(), "LOOP) PARALLEL) ");

	CHECK_CASE("with room again all is as before");
	BEGIN(LOOP, TEAM, 0);
	END(LOOP);
	CHECK_STR_EQ(news(), "(LOOP@1 LOOP) ");
}

static void test_lost_around(void)
{
	const uint32_t late = crit_shim_region(CRIT_CONSTRUCT_PARALLEL, PLACE(99), PLACE(98), 0);
	const uint64_t lost = own_buffer()->lost_spans, start = own_buffer()->write_pos;

	CHECK_CASE("what lies in a lost construct is recorded, the region told later");
	for (uint64_t i = 0; i < head->ring_slots / 2; i++)
		send();
	CHECK_UINT_EQ(own_buffer()->write_pos, start + head->ring_slots);
	BEGIN(PARALLEL, late, 7);
	CHECK_UINT_EQ(own_buffer()->lost_spans, lost + 1);
	seen_to = own_buffer()->write_pos;
	(void)news();
	BEGIN(LOOP, late, 0);
	END(LOOP);
	END(PARALLEL);
	CHECK_STR_EQ(news(), "region:20009<0^ (LOOP@20009 LOOP) ");
}

static void test_deep(void)
{
	const uint64_t lost = own_buffer()->lost_spans;
	const unsigned int depth = CRIT_THREAD_BUFFER_OWN_WORDS;

	CHECK_CASE("deeper than the stack");
	for (unsigned int i = 0; i < depth + 10; i++)
		BEGIN(TASK, INNER, 0);
	CHECK_UINT_EQ(own_buffer()->lost_spans, lost + 10);
	for (unsigned int i = 0; i < depth + 9; i++)
		END(TASK);
	check_tag(CRIT_CONSTRUCT_TASK, CRIT_CLASS_OMP, INNER);
	END(TASK);
	check_tag(0, CRIT_CLASS_USER, 0);
	CHECK_UINT_EQ(own_buffer()->write_pos, seen_to + 2 * (uint64_t)depth);
	seen_to = own_buffer()->write_pos;
	(void)news();
}

static unsigned long long folded(unsigned int number)
{
	return fake_critd_counter(head, 0, number, offsetof(struct crit_counter, folded_count));
}

static void test_profile(void)
{
	CHECK_CASE("profile: short waits are folded, long ones recorded, work shares left out");
	set_level(CRIT_LEVEL_PROFILE, 1000000000);
	BEGIN(PARALLEL, TEAM, 8);
	BEGIN(LOOP, TEAM, 0);
	check_tag(CRIT_CONSTRUCT_LOOP, CRIT_CLASS_OMP, TEAM);
	BEGIN(BARRIER, TEAM, 0);
	CHECK_UINT_EQ(own_buffer()->open_call, CRIT_CONSTRUCT_BARRIER);
	CHECK_UINT_EQ(own_buffer()->open_class, CRIT_CLASS_OMP_WAIT);
	END(BARRIER);
	END(LOOP);
	END(PARALLEL);
	CHECK_STR_EQ(news(), "(PARALLEL@1 PARALLEL) ");
	CHECK_UINT_EQ(folded(CRIT_CONSTRUCT_BARRIER), 1);
	set_level(CRIT_LEVEL_PROFILE, 100000);
	BEGIN(BARRIER, TEAM, 0);
	pass_ns(200000);
	CHECK_STR_EQ(news(), "");
	END(BARRIER);
	CHECK_STR_EQ(news(), "(BARRIER@1 BARRIER) ");
	CHECK_UINT_EQ(own_buffer()->open_call, 0);
}

static void test_held(void)
{
	CHECK_CASE("profile: a wait with something inside is whole");
	set_level(CRIT_LEVEL_PROFILE, 1000000000);
	BEGIN(TASKWAIT, TEAM, 0);
	BEGIN(TASK, INNER, 0);
	END(TASK);
	END(TASKWAIT);
	CHECK_STR_EQ(news(), "(TASKWAIT@1 (TASK@2 TASK) TASKWAIT) ");
	BEGIN(TASKWAIT, TEAM, 0);
	send(); /* held back inside, and folded */
	END(TASKWAIT);
	CHECK_STR_EQ(news(), "(TASKWAIT@1 TASKWAIT) ");
	BEGIN(TASKWAIT, TEAM, 0);
	wrap_poll(false);
	END(TASKWAIT);
	CHECK_STR_EQ(news(), "(TASKWAIT@1 TASKWAIT) ");
	CHECK_UINT_EQ(folded(CRIT_MPI_Iprobe), 1);
	CHECK_UINT_EQ(folded(CRIT_CONSTRUCT_TASKWAIT), 0);

	CHECK_CASE("the level changes in a wait that is held back");
	BEGIN(TASKWAIT, TEAM, 0);
	head->tau_ns = 0;
	head->level = CRIT_LEVEL_TRACE;
	send();
	END(TASKWAIT);
	CHECK_STR_EQ(news(), "(TASKWAIT@1 level:2 (Send@1 Send) TASKWAIT) ");
}

static void test_stopped(void)
{
	CHECK_CASE("stopped: what is open ends, nothing begins");
	BEGIN(PARALLEL, TEAM, 9);
	head->is_stopped = 1;
	BEGIN(LOOP, TEAM, 0);
	END(LOOP);
	END(PARALLEL);
	CHECK_STR_EQ(news(), "(PARALLEL@1 PARALLEL) ");
	head->is_stopped = 0;
	set_level(CRIT_LEVEL_TRACE, 0);
}

static void *work(void *unused)
{
	crit_shim_worker();
	check_tag(0, CRIT_CLASS_OMP_IDLE, 0);
	BEGIN(PARALLEL, TEAM, 10);
	check_tag(CRIT_CONSTRUCT_PARALLEL, CRIT_CLASS_OMP, TEAM);
	END(PARALLEL);
	check_tag(0, CRIT_CLASS_OMP_IDLE, 0);
	BEGIN(PARALLEL, TEAM, 10); /* the thread dies in it */
	return unused;
}

static void test_worker(void)
{
	static const int kinds[] = { CRIT_S_LEVEL, CRIT_S_WORKER, CRIT_S_ENTER, CRIT_S_LEAVE,
				     CRIT_S_ENTER };
	struct crit_thread_buffer_head *buffer = fake_critd_buffer(head, 1);
	pthread_t thread;

	CHECK_CASE("worker");
	CHECK_INT_EQ(pthread_create(&thread, NULL, work, NULL), 0);
	(void)pthread_join(thread, NULL);
	CHECK_INT_EQ(buffer->state, CRIT_THREAD_BUFFER_RELEASED);
	CHECK_UINT_EQ(buffer->write_pos, 5);
	for (unsigned int i = 0; i < 5; i++)
		CHECK_INT_EQ(fake_critd_slot(head, 1, i)->kind, kinds[i]);
}

static void *tag_only(void *unused)
{
	for (unsigned int i = 0; i < 20; i++)
		BEGIN(TASK, INNER, 0);
	check_tag(CRIT_CONSTRUCT_TASK, CRIT_CLASS_OMP, INNER);
	for (unsigned int i = 0; i < 20; i++)
		END(TASK);
	check_tag(0, CRIT_CLASS_USER, 0);
	return unused;
}

static void test_tag_only(void)
{
	const uint32_t count = head->buffer_count;
	pthread_t thread;

	CHECK_CASE("a thread without a stripe has a tag");
	head->buffer_count = head->buffers_used;
	CHECK_INT_EQ(pthread_create(&thread, NULL, tag_only, NULL), 0);
	(void)pthread_join(thread, NULL);
	CHECK_UINT_EQ(head->no_buffer, 1);
	head->buffer_count = count;
}

static void test_fork(void)
{
	const int parent_memfd = fake.memfd;
	int status = 1;
	pid_t child;

	CHECK_CASE("fork inside a parallel region");
	BEGIN(PARALLEL, TEAM, 11);
	child = fork();
	if (child == 0) {
		const bool was_clean = tag() == 0;

		END(PARALLEL);
		BEGIN(TASK, INNER, 0); /* registers anew; its recording knows no regions yet */
		END(TASK);
		head = fake_critd_map(&fake);
		seen_to = 0;
		_exit(was_clean && head ? 0 : 1);
	}
	CHECK_INT_EQ(waitpid(child, &status, 0), child);
	CHECK_INT_EQ(status, 0);
	CHECK(fake.memfd != parent_memfd);
	END(PARALLEL);
	CHECK_STR_EQ(news(), "(PARALLEL@1 PARALLEL) ");
	head = fake_critd_map(&fake);
	seen_to = 0;
	CHECK_STR_EQ(head ? news() : "", "level:2 region:2<1 region:1<0 (TASK@2 TASK) ");
	close(parent_memfd);
}

static void test_many_names(void)
{
	char name[CRIT_REGION_NAME_MAX];

	CHECK_CASE("more names than are kept: constructs are numbered all the same");
	memset(name, 'n', sizeof(name));
	for (unsigned int i = 0; i < CRIT_REGIONS_MAX; i++) {
		name[snprintf(name, sizeof(name), "%u", i)] = 'n';
		name[sizeof(name) - 1] = '\0';
		(void)crit_shim_phase(name, 0);
	}
	CHECK(crit_shim_region(CRIT_CONSTRUCT_PARALLEL, PLACE(100), NULL, 0) != 0);
}

int main(void)
{
	fake_critd_start(&fake);
	if (!CHECK(crit_shim_start(CRIT_FLAVOUR_OPENMPI)))
		return check_done();
	head = fake_critd_map(&fake);
	if (!CHECK(head != NULL))
		return check_done();
	CHECK_UINT_EQ(crit_shim_region(CRIT_CONSTRUCT_PARALLEL, PLACE(1), NULL, 0), TEAM);
	CHECK_UINT_EQ(crit_shim_region(CRIT_CONSTRUCT_TASK, PLACE(2), NULL, TEAM), INNER);
	CHECK_UINT_EQ(crit_shim_instance() + 1, crit_shim_instance());
	send();
	(void)news();
	test_nesting();
	test_regions();
	test_phase_name();
	test_unbalanced();
	test_tasks();
	test_inside_mpi();
	test_poll();
	test_full();
	test_lost_around();
	test_deep();
	test_profile();
	test_held();
	test_stopped();
	test_worker();
	test_tag_only();
	test_fork();
	test_many_names();
	fake_critd_stop(&fake);
	return check_done();
}
