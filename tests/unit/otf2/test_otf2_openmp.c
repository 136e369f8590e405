// SPDX-License-Identifier: BSD-3-Clause
//
// OpenMP in an archive: what a hand-made replay tells of teams, locks, constructs and phases, read
// back record by record; and faults in it, each of which is found.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/call.h"
#include "otf2/archive_listener.h"
#include "otf2/openmp/team_records.h"
#include "otf2/verify/verify_archive.h"
#include "tests/lib/check.h"
#include "tests/unit/otf2/otf2_between.h"
#include "tests/unit/otf2/otf2_heard.h"

#define MS 1000000ull
#define PRIMARY(instance, team)                                                                    \
	(CRIT_INSTANCE_PRIMARY | (uint64_t)(team) << CRIT_INSTANCE_TEAM_SHIFT | (instance))
#define MEMBER(instance) ((uint64_t)(instance))
#define LOCATIONS OTF2_HEARD_LOCATIONS

struct world { /* rank 0 with three threads, rank 1 with one */
	struct crit_results results;
	struct crit_node_row node;
	struct crit_rank_row ranks[2];
	struct crit_thread_row threads[LOCATIONS + 1]; /* the last is none of the program's */
	struct crit_region_row regions[3];
	struct crit_otf2_options options;
	struct crit_otf2_listener *listener;
	struct crit_trace_sink sink;
	struct crit_err err;
	uint64_t now_ns;
};

/* libotf2 forgets what it had opened. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libopen-trace-format2";
}

static char scratch[] = "/tmp/crit-otf2-openmp.XXXXXX";
static char directory[64];
static struct world world;
static struct otf2_heard heard;

#define FILES 8u /* the last two have the same name */
#define FILE_LINES 1000u
#define LINE_AT(file, line) (FILE_LINES * (file) + (line))

static const char *const files[FILES] = {
	"/src/heat.c", "/src/f1.c", "/src/f2.c",   "/src/f3.c",
	"/src/f4.c",   "/src/f5.c", "/src/a/f6.c", "/src/b/f6.c"
};

/* The address depends on the process, the place does not. */
static bool source_location_of(void *user, uint32_t node, uint32_t pid, uint64_t site,
			       struct crit_source_location *ret_place)
{
	(void)user;
	(void)node;
	*ret_place =
		(struct crit_source_location){ .module = "/opt/solver",
					       .file = files[(site - pid) / FILE_LINES % FILES],
					       .line = (uint32_t)((site - pid) % FILE_LINES) };
	return true;
}

static void begin(const char *name)
{
	world = (struct world){ .node = { .host = "node0" }, .now_ns = 10 * MS };
	for (uint32_t i = 0; i < LOCATIONS; i++)
		world.threads[i] = (struct crit_thread_row){ .pid = i < 3 ? 100 : 103,
							     .tid = 100 + i,
							     .rank_row = i == 3,
							     .name = "solver" };
	world.threads[LOCATIONS] =
		(struct crit_thread_row){ .pid = 100, .tid = 109, .role = CRIT_THREAD_SERVICE };
	world.ranks[0] = (struct crit_rank_row){ .pid = 100, .world_size = 2 };
	world.ranks[1] = (struct crit_rank_row){ .pid = 103, .rank = 1, .world_size = 2 };
	world.regions[0] = (struct crit_region_row){
		.pid = 100, .number = 5, .parent = -1, .call = CRIT_CONSTRUCT_PHASE, .name = "solve"
	};
	world.regions[1] = (struct crit_region_row){
		.pid = 100, .number = 6, .call = CRIT_CONSTRUCT_PARALLEL, .site = 42 + 100
	};
	world.regions[2] = world.regions[0];
	world.regions[2].pid = 103;
	world.regions[2].number = 9;
	world.results =
		(struct crit_results){ .has_ranks = true,
				       .window_begin_ns = 10 * MS,
				       .window_ns = 1000 * MS,
				       .exe = "/opt/solver",
				       .nodes = &world.node,
				       .node_count = 1,
				       .ranks = world.ranks,
				       .rank_count = 2,
				       .threads = world.threads,
				       .thread_count = LOCATIONS + 1,
				       .regions = { .rows = world.regions, .row_count = 3 } };
	world.options = (struct crit_otf2_options){ .creator = "test",
						    .source_location_of = source_location_of };
	(void)snprintf(directory, sizeof(directory), "%s/%s", scratch, name);
	world.listener = crit_otf2_listener_create(&world.options, directory, &world.err);
	crit_otf2_listener_sink(world.listener, &world.sink);
	if (!CHECK_INT_EQ(world.sink.begin(world.sink.user, &world.results, 1010 * MS), 0))
		exit(1);
	for (uint32_t i = 0; i < LOCATIONS; i++)
		CHECK_INT_EQ(world.sink.thread_begin(world.sink.user, i, world.now_ns), 0);
}

static uint32_t pid_of(uint32_t thread)
{
	return thread < 3 ? 100 : 103;
}

static void enter_arg(uint32_t thread, uint32_t call, uint32_t line, uint64_t arg)
{
	struct crit_trace_span span = { .call = (uint16_t)call,
					.site = line ? line + pid_of(thread) : 0,
					.region = thread < 3 ? 5 : 9,
					.arg = arg };

	CHECK_INT_EQ(world.sink.enter(world.sink.user, thread, world.now_ns += MS, &span, 0), 0);
}

static void leave_arg(uint32_t thread, uint32_t call, uint32_t line, uint64_t arg)
{
	struct crit_trace_span span = { .call = (uint16_t)call,
					.site = line ? line + pid_of(thread) : 0,
					.region = thread < 3 ? 5 : 9,
					.arg = arg };
	struct crit_trace_sums sums = { .cmetric_ns = 1 };

	CHECK_INT_EQ(world.sink.leave(world.sink.user, thread, world.now_ns += MS, &span, &sums),
		     0);
}

static void span(uint32_t thread, uint32_t call, uint32_t line)
{
	enter_arg(thread, call, line, 0);
	leave_arg(thread, call, line, 0);
}

static void take_lock(uint32_t thread, uint64_t lock)
{
	enter_arg(thread, CRIT_CONSTRUCT_LOCK_WAIT, 0, lock);
	leave_arg(thread, CRIT_CONSTRUCT_LOCK_WAIT, 0, lock);
}

static void release_lock(uint32_t thread, uint64_t lock)
{
	CHECK_INT_EQ(world.sink.release(world.sink.user, thread, world.now_ns += MS,
					CRIT_CONSTRUCT_LOCK_WAIT, lock),
		     0);
}

static void note_task(uint32_t thread, uint16_t note, uint64_t task)
{
	CHECK_INT_EQ(world.sink.task(world.sink.user, thread, world.now_ns += MS, note, task), 0);
}

static void finish(void)
{
	struct crit_trace_sums sums = { .cmetric_ns = 3 };

	for (uint32_t i = 0; i < LOCATIONS; i++)
		CHECK_INT_EQ(world.sink.thread_end(world.sink.user, i, 900 * MS, &sums), 0);
	CHECK_INT_EQ(world.sink.end(world.sink.user, &world.results, true), 0);
}

/* A region of three threads, a region of two inside it, phases around both ranks' work. */
static void tell_all(void)
{
	for (uint32_t thread = 0; thread < LOCATIONS; thread += 3)
		enter_arg(thread, CRIT_CONSTRUCT_PHASE, 0, 0);
	enter_arg(0, CRIT_CONSTRUCT_PARALLEL, 42, PRIMARY(1, 3));
	enter_arg(1, CRIT_CONSTRUCT_PARALLEL, 42, MEMBER(1));
	enter_arg(2, CRIT_CONSTRUCT_PARALLEL, 42, MEMBER(1));
	span(1, CRIT_CONSTRUCT_LOOP, 43);
	enter_arg(2, CRIT_CONSTRUCT_PARALLEL, 50, PRIMARY(2, 2));
	enter_arg(1, CRIT_CONSTRUCT_PARALLEL, 50, MEMBER(2));
	leave_arg(2, CRIT_CONSTRUCT_PARALLEL, 50, PRIMARY(2, 2));
	leave_arg(1, CRIT_CONSTRUCT_PARALLEL, 50, MEMBER(2));
	take_lock(0, 0x10);
	release_lock(0, 0x10);
	enter_arg(2, CRIT_CONSTRUCT_CRITICAL_WAIT, 0, 0x40);
	leave_arg(2, CRIT_CONSTRUCT_CRITICAL_WAIT, 0, 0x40);
	enter_arg(2, CRIT_CONSTRUCT_CRITICAL, 0, 0x40);
	leave_arg(2, CRIT_CONSTRUCT_CRITICAL, 0, 0x40);
	take_lock(1, 0x10);
	take_lock(1, 0x20);
	release_lock(1, 0x10);
	release_lock(1, 0x20);
	note_task(0, CRIT_OMP_TASK_MADE, 7);
	note_task(2, CRIT_OMP_TASK_MADE, 8);
	enter_arg(0, CRIT_CONSTRUCT_IMPLICIT_BARRIER, 42, 0);
	enter_arg(0, CRIT_CONSTRUCT_TASK, 44, 8);
	enter_arg(0, CRIT_CONSTRUCT_TASK, 44, 7); /* while it waits for one of its own */
	note_task(0, CRIT_OMP_TASK_PAUSED, 7); /* untied: the rest is done by another thread */
	leave_arg(0, CRIT_CONSTRUCT_TASK, 44, 7);
	leave_arg(0, CRIT_CONSTRUCT_TASK, 44, 8);
	enter_arg(1, CRIT_CONSTRUCT_TASK, 44, 7);
	leave_arg(1, CRIT_CONSTRUCT_TASK, 44, 7);
	leave_arg(0, CRIT_CONSTRUCT_IMPLICIT_BARRIER, 42, 0);
	span(1, CRIT_CONSTRUCT_TASK, 44); /* one of a loop, that nobody told of */
	leave_arg(0, CRIT_CONSTRUCT_PARALLEL, 42, PRIMARY(1, 3));
	leave_arg(2, CRIT_CONSTRUCT_PARALLEL, 42, MEMBER(1));
	leave_arg(1, CRIT_CONSTRUCT_PARALLEL, 42, MEMBER(1));
	enter_arg(3, CRIT_CONSTRUCT_PARALLEL, 42, PRIMARY(1, 1));
	span(3, CRIT_MPI_Barrier, 7);
	leave_arg(3, CRIT_CONSTRUCT_PARALLEL, 42, PRIMARY(1, 1));
	for (uint32_t thread = 0; thread < LOCATIONS; thread += 3)
		leave_arg(thread, CRIT_CONSTRUCT_PHASE, 0, 0);
}

static bool claims(OTF2_Reader *reader, const char *property)
{
	bool is_true = false;

	CHECK_INT_EQ(OTF2_Reader_GetBoolProperty(reader, property, &is_true), OTF2_SUCCESS);
	return is_true;
}

static void check_claims(OTF2_Reader *reader, bool has_all_forks, bool has_all_locks)
{
	CHECK(claims(reader, "OTF2::THREAD_FORK_JOIN_EVENT_COMPLETE") == has_all_forks);
	CHECK(claims(reader, "OTF2::THREAD_LOCK_EVENT_COMPLETE") == has_all_locks);
	CHECK(!claims(reader, "OTF2::THREAD_CREATE_WAIT_EVENT_COMPLETE"));
}

static unsigned int find_role(const char *name, unsigned int *ret_count)
{
	unsigned int role = 0;

	*ret_count = 0;
	for (int i = 0; i < OTF2_HEARD_REGIONS; i++) {
		if (strcmp(heard.regions[i], name) == 0) {
			role = heard.roles[i];
			++*ret_count;
		}
	}
	return role;
}

static void check_regions(void)
{
	static const struct {
		const char *name;
		OTF2_RegionRole role;
		OTF2_Paradigm paradigm;
	} wanted[] = {
		{ "omp parallel @heat.c:42", OTF2_REGION_ROLE_PARALLEL, OTF2_PARADIGM_OPENMP },
		{ "omp for @heat.c:43", OTF2_REGION_ROLE_LOOP, OTF2_PARADIGM_OPENMP },
		{ "omp implicit barrier @heat.c:42", OTF2_REGION_ROLE_IMPLICIT_BARRIER,
		  OTF2_PARADIGM_OPENMP },
		{ "solve", OTF2_REGION_ROLE_CODE, OTF2_PARADIGM_USER },
		{ "MPI_Barrier", OTF2_REGION_ROLE_BARRIER, OTF2_PARADIGM_MPI },
	};
	unsigned int count;

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		CHECK_CASE("%s", wanted[i].name);
		CHECK_UINT_EQ(find_role(wanted[i].name, &count),
			      (unsigned int)wanted[i].role << 8 | wanted[i].paradigm);
		CHECK_UINT_EQ(count, 1); /* whatever rank it is of */
	}
	CHECK_CASE("%s", "");
}

static bool has_links = true; /* the file system */

int link(const char *from, const char *to)
{
	errno = EPERM;
	return has_links ? linkat(AT_FDCWD, from, AT_FDCWD, to, 0) : -1;
}

/* The threads of rank 0 have one file of definitions, as far as that can be. */
static void check_shared(void)
{
	struct stat first = { 0 }, other = { 0 };
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/traces/0.def", directory);
	CHECK_INT_EQ(stat(path, &first), 0);
	(void)snprintf(path, sizeof(path), "%s/traces/1.def", directory);
	CHECK_INT_EQ(stat(path, &other), 0);
	CHECK_UINT_EQ(first.st_nlink, has_links ? 3 : 1);
	CHECK_UINT_EQ(other.st_nlink, 1);
}

static void check_records(const char *name)
{
	OTF2_Reader *reader;

	heard = (struct otf2_heard){ .regions = { "" } };
	begin(name);
	tell_all();
	finish();
	crit_otf2_listener_destroy(world.listener);
	reader = otf2_heard_read(&heard, directory);
	check_claims(reader, true, true);
	check_regions();
	CHECK_STR_EQ(
		heard.texts[0],
		"{solver {solve fork 3 [0,1,2 {omp parallel @heat.c:42 {omp lock wait take 0/1 "
		"} give 0/1 make 0.7 {omp implicit barrier @heat.c:42 "
		"to 2.8 {omp task @heat.c:44 to 0.7 {omp task @heat.c:44 } to 2.8 } done 2.8 to "
		"0.0 "
		"} } ] join } } ");
	CHECK_STR_EQ(heard.texts[1],
		     "{solver [0,1,2 {omp parallel @heat.c:42 {omp for @heat.c:43 } "
		     "[2,1 {omp parallel @heat.c:50 } ] {omp lock wait take 0/2 } "
		     "{omp lock wait take 4/1 } give 0/2 give 4/1 "
		     "to 0.7 {omp task @heat.c:44 } done 0.7 to 1.0 {omp task @heat.c:44 } "
		     "} ] } ");
	CHECK_STR_EQ(heard.texts[2],
		     "{solver [0,1,2 {omp parallel @heat.c:42 fork 2 "
		     "[2,1 {omp parallel @heat.c:50 } ] join {omp critical wait take 2/1 } "
		     "{omp critical give 2/1 } make 2.8 } ] } ");
	CHECK_STR_EQ(heard.texts[3], "{solver {solve fork 1 [3 {omp parallel @heat.c:42 "
				     "{MPI_Barrier } } ] join } } ");
	(void)OTF2_Reader_Close(reader);
	otf2_heard_fini(&heard);
	check_shared();
}

/* A worker's constructs, which have no address, in region 6 of rank 0. */
static void span_of_worker(uint32_t call)
{
	const struct crit_trace_span span = { .call = (uint16_t)call, .region = 6 };
	const struct crit_trace_sums sums = { 0 };

	CHECK_INT_EQ(world.sink.enter(world.sink.user, 1, world.now_ns += MS, &span, 0), 0);
	CHECK_INT_EQ(world.sink.leave(world.sink.user, 1, world.now_ns += MS, &span, &sums), 0);
}

/* The same line of two files is two regions; the same place of two threads, or ranks, is one. */
static void check_places(void)
{
	static const uint32_t calls[] = { CRIT_CONSTRUCT_LOOP, CRIT_CONSTRUCT_SINGLE,
					  CRIT_CONSTRUCT_CRITICAL };
	char name[64];
	OTF2_Reader *reader;
	unsigned int count;

	begin("places");
	for (uint32_t i = 0; i < FILES * 3; i++) {
		span(0, calls[i % 3], LINE_AT(i / 3, 42));
		span(3, calls[i % 3], LINE_AT(i / 3, 42));
	}
	span(0, CRIT_CONSTRUCT_IMPLICIT_BARRIER, 42);
	enter_arg(0, CRIT_CONSTRUCT_PARALLEL, 50, PRIMARY(1, 0));
	span(0, CRIT_CONSTRUCT_RUNTIME_BARRIER, 50); /* until the others are back */
	span(0, CRIT_CONSTRUCT_RUNTIME_BARRIER, 51); /* of all members */
	leave_arg(0, CRIT_CONSTRUCT_PARALLEL, 50, PRIMARY(1, 0));
	span_of_worker(CRIT_CONSTRUCT_IMPLICIT_BARRIER);
	finish();
	crit_otf2_listener_destroy(world.listener);
	reader = otf2_heard_read(&heard, directory);
	for (uint32_t i = 0; i < FILES * 3; i++) {
		(void)snprintf(name, sizeof(name), "%s @%s:42", crit_call_name(calls[i % 3]),
			       strrchr(files[i / 3], '/') + 1);
		CHECK_CASE("%s", name);
		(void)find_role(name, &count);
		CHECK_UINT_EQ(count, i / 3 < FILES - 2 ? 1 : 2);
	}
	CHECK_CASE("%s", "barrier");
	(void)find_role("omp implicit barrier @heat.c:42", &count);
	CHECK_UINT_EQ(count, 1);
	CHECK_UINT_EQ(find_role("omp runtime barrier @heat.c:50", &count) >> 8,
		      OTF2_REGION_ROLE_FUNCTION);
	CHECK_UINT_EQ(find_role("omp runtime barrier @heat.c:51", &count) >> 8,
		      OTF2_REGION_ROLE_IMPLICIT_BARRIER);
	CHECK_CASE("%s", "");
	CHECK_STR_EQ(heard.texts[1], "{solver {omp implicit barrier @heat.c:42 } } ");
	(void)OTF2_Reader_Close(reader);
	otf2_heard_fini(&heard);
}

enum plant {
	PLANT_NONE = 0,
	PLANT_ORPHAN, /* no fault, but nothing is claimed: a member of what nobody forked */
	PLANT_STRAY, /* likewise: a lock released and not taken */
	PLANT_HELD, /* likewise: a lock kept */
	PLANT_FORK,
	PLANT_JOIN,
	PLANT_TEAM,
	PLANT_OTHER_TEAM,
	PLANT_MEMBER,
	PLANT_RELEASE,
	PLANT_ORDER,
	PLANT_NO_TEAM,
	PLANT_UNMADE, /* no fault: a task nobody saw made */
	PLANT_CANCELLED, /* likewise: one that never begins */
	PLANT_UNDONE,
	PLANT_TWICE,
	PLANT_TO_NOBODY
};

static const struct {
	enum plant plant;
	const char *name, *pattern; /* of the fault; NULL: none */
	bool has_all_forks, has_all_locks;
} cases[] = {
	{ PLANT_NONE, "nothing", NULL, true, true },
	{ PLANT_ORPHAN, "orphan", NULL, false, true },
	{ PLANT_STRAY, "stray", NULL, true, false },
	{ PLANT_HELD, "held", NULL, true, false },
	{ PLANT_FORK, "fork", "3 times threads are forked, 2 times joined", true, true },
	{ PLANT_JOIN, "join", "were not forked", true, true },
	{ PLANT_TEAM, "team", "was not begun", true, true },
	{ PLANT_OTHER_TEAM, "other-team", "ends at", true, true },
	{ PLANT_MEMBER, "member", "is no member of it", true, true },
	{ PLANT_RELEASE, "release", "was not taken so", true, true },
	{ PLANT_ORDER, "order", "lock 0 of location group 0 is taken 3 times in only 2", true,
	  true },
	{ PLANT_NO_TEAM, "no-team", "is no team of threads", true, true },
	{ PLANT_UNMADE, "unmade", NULL, false, true },
	{ PLANT_CANCELLED, "cancelled", NULL, false, true },
	{ PLANT_UNDONE, "undone", "makes 2 tasks, and 1 are complete", true, true },
	{ PLANT_TWICE, "twice", "but was not switched to", true, true },
	{ PLANT_TO_NOBODY, "to-nobody", "is made by thread 9, which team", true, true },
};

/* Records nobody would write. */
static void plant_records(enum plant plant)
{
	OTF2_EvtWriter *events = otf2_between_events;
	uint64_t t = world.now_ns;
	const OTF2_Paradigm omp = OTF2_PARADIGM_OPENMP;

	if (plant == PLANT_FORK) {
		span(0, CRIT_MPI_Barrier, 0);
		CHECK_INT_EQ(OTF2_EvtWriter_ThreadFork(events, NULL, world.now_ns, omp, 2), 0);
		enter_arg(0, CRIT_CONSTRUCT_PARALLEL, 42, PRIMARY(7, 3));
		leave_arg(0, CRIT_CONSTRUCT_PARALLEL, 42, PRIMARY(7, 3));
	} else if (plant == PLANT_JOIN) {
		CHECK_INT_EQ(OTF2_EvtWriter_ThreadJoin(events, NULL, t, omp), 0);
	} else if (plant == PLANT_TEAM) {
		CHECK_INT_EQ(OTF2_EvtWriter_ThreadTeamEnd(events, NULL, t, CRIT_OTF2_TEAM_BASE), 0);
	} else if (plant == PLANT_OTHER_TEAM) {
		CHECK_INT_EQ(OTF2_EvtWriter_ThreadTeamBegin(events, NULL, t, CRIT_OTF2_TEAM_BASE),
			     0);
		CHECK_INT_EQ(OTF2_EvtWriter_ThreadTeamEnd(events, NULL, t, CRIT_OTF2_TEAM_BASE + 1),
			     0);
	} else if (plant == PLANT_NO_TEAM) {
		CHECK_INT_EQ(OTF2_EvtWriter_ThreadTeamBegin(events, NULL, t, 0), 0);
		CHECK_INT_EQ(OTF2_EvtWriter_ThreadTeamEnd(events, NULL, t, 0), 0);
	} else if (plant == PLANT_RELEASE) {
		CHECK_INT_EQ(OTF2_EvtWriter_ThreadReleaseLock(events, NULL, t, omp, 0, 2), 0);
	} else if (plant == PLANT_ORDER) {
		CHECK_INT_EQ(OTF2_EvtWriter_ThreadAcquireLock(events, NULL, t, omp, 0, 2), 0);
		CHECK_INT_EQ(OTF2_EvtWriter_ThreadReleaseLock(events, NULL, t, omp, 0, 2), 0);
	} else if (plant == PLANT_UNDONE) {
		CHECK_INT_EQ(OTF2_EvtWriter_ThreadTaskCreate(events, NULL, t, CRIT_OTF2_TEAM_BASE,
							     0, 9),
			     0);
	} else if (plant == PLANT_TWICE) {
		CHECK_INT_EQ(OTF2_EvtWriter_ThreadTaskCreate(events, NULL, t, CRIT_OTF2_TEAM_BASE,
							     0, 7),
			     0);
		CHECK_INT_EQ(OTF2_EvtWriter_ThreadTaskComplete(events, NULL, t, CRIT_OTF2_TEAM_BASE,
							       0, 7),
			     0);
	} else if (plant == PLANT_TO_NOBODY) {
		CHECK_INT_EQ(OTF2_EvtWriter_ThreadTaskSwitch(events, NULL, t, CRIT_OTF2_TEAM_BASE,
							     9, 7),
			     0);
	}
}

/* The team that three threads begin has only two members. */
static void change_team(struct otf2_group *group)
{
	static bool is_changed;

	if (group->type == OTF2_GROUP_TYPE_COMM_LOCATIONS)
		is_changed = false;
	else if (group->paradigm == OTF2_PARADIGM_OPENMP && group->count == 3 && !is_changed) {
		group->count = 2;
		is_changed = true;
	}
}

static void plant_news(enum plant plant)
{
	if (plant == PLANT_ORPHAN) {
		enter_arg(1, CRIT_CONSTRUCT_PARALLEL, 60, MEMBER(77));
		leave_arg(1, CRIT_CONSTRUCT_PARALLEL, 60, MEMBER(77));
	} else if (plant == PLANT_STRAY) {
		release_lock(2, 0x30);
	} else if (plant == PLANT_HELD) {
		take_lock(2, 0x30);
	} else if (plant == PLANT_CANCELLED) {
		enter_arg(0, CRIT_CONSTRUCT_PARALLEL, 60, PRIMARY(9, 3));
		note_task(0, CRIT_OMP_TASK_MADE, 98);
		leave_arg(0, CRIT_CONSTRUCT_PARALLEL, 60, PRIMARY(9, 3));
	} else if (plant == PLANT_UNMADE) {
		enter_arg(0, CRIT_CONSTRUCT_PARALLEL, 60, PRIMARY(9, 3));
		enter_arg(0, CRIT_CONSTRUCT_TASK, 61, 99);
		leave_arg(0, CRIT_CONSTRUCT_TASK, 61, 99);
		leave_arg(0, CRIT_CONSTRUCT_PARALLEL, 60, PRIMARY(9, 3));
	}
}

struct faults {
	const char *pattern;
	unsigned int found;
	char last[512];
};

static void take_fault(void *user, const char *text)
{
	struct faults *faults = user;

	faults->found += faults->pattern && strstr(text, faults->pattern);
	(void)snprintf(faults->last, sizeof(faults->last), "%s", text);
}

static void check_case(size_t i)
{
	struct faults faults = { .pattern = cases[i].pattern };
	struct crit_otf2_verified verified = { 0 };
	struct crit_err err = { { 0 } };
	char anchor[128];
	OTF2_Reader *reader;

	CHECK_CASE("%s", cases[i].name);
	begin(cases[i].name);
	tell_all();
	plant_news(cases[i].plant);
	plant_records(cases[i].plant);
	otf2_between_change = cases[i].plant == PLANT_MEMBER ? change_team : NULL;
	finish();
	crit_otf2_listener_destroy(world.listener);
	(void)snprintf(anchor, sizeof(anchor), "%s/traces.otf2", directory);
	CHECK_INT_EQ(crit_otf2_verify(anchor, take_fault, &faults, &verified, NULL, &err), 0);
	if (cases[i].pattern)
		CHECK_MSG(faults.found == 1, "not found; %s", faults.last);
	else
		CHECK_MSG(!verified.fault_count, "a fault in a good archive: %s", faults.last);
	reader = OTF2_Reader_Open(anchor);
	(void)OTF2_Reader_SetSerialCollectiveCallbacks(reader);
	check_claims(reader, cases[i].has_all_forks, cases[i].has_all_locks);
	(void)OTF2_Reader_Close(reader);
	CHECK_CASE("%s", "");
}

int main(void)
{
	char command[sizeof(scratch) + 16];

	if (!mkdtemp(scratch)) {
		perror(scratch);
		return 1;
	}
	check_places();
	check_records("records");
	has_links = false;
	check_records("no-links");
	has_links = true;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_case(i);
	(void)snprintf(command, sizeof(command), "rm -r %s", scratch);
	CHECK_INT_EQ(system(command), 0);
	return check_done();
}
