// SPDX-License-Identifier: BSD-3-Clause
//
// What a large or hostile run may cost the archive's writer and the verifier, who stands for whom
// nobody knows, and two exports at a time.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/base/call.h"
#include "otf2/definitions/comm_table.h"
#include "otf2/staging.h"
#include "otf2/verify/verify_messages.h"
#include "tests/lib/analysed.h"
#include "tests/lib/check.h"
#include "tests/maker/acts.h"
#include "tests/unit/otf2/otf2_between.h"

#define MS CRIT_ACT_MS
#define MEMBERS 4000u
#define WORLDS 3000u
#define COMMS 20000u
#define RANKS 2000u
#define TIMES 4u /* as much input */
#define TIMES_MAX 10 /* as much work: TIMES and noise, but not TIMES squared */

static uint64_t cpu_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void ignore_fault(void *user, const char *text)
{
	(void)user;
	(void)text;
}

/* Matching the collectives of so many ranks costs no more than taking note of them. */
static void check_collectives(void)
{
	struct crit_otf2_verifier *verifier = calloc(1, sizeof(*verifier));
	struct crit_otf2_seen_communicator world = { .group_b = CRIT_NONE };
	struct crit_otf2_seen_group group = { .type = OTF2_GROUP_TYPE_COMM_GROUP,
					      .member_count = MEMBERS };
	uint64_t taken_ns, matched_ns;

	group.members = calloc(MEMBERS, sizeof(*group.members));
	verifier->fault = ignore_fault;
	verifier->is_complete = true;
	verifier->groups = &group;
	verifier->communicators = &world;
	verifier->communicator_count = 1;
	CHECK_INT_EQ(crit_map_set(&verifier->communicator_numbers, 0, 0), 0);
	taken_ns = cpu_ns();
	for (uint32_t i = 0; i < MEMBERS; i++) {
		group.members[i] = i;
		verifier->stream.rank = i;
		crit_otf2_verify_collective(verifier, 0);
	}
	matched_ns = cpu_ns();
	taken_ns = matched_ns - taken_ns;
	crit_otf2_verify_matches(verifier);
	matched_ns = cpu_ns() - matched_ns;
	CHECK_UINT_EQ(verifier->fault_count, 0);
	CHECK_MSG(matched_ns <= TIMES_MAX * taken_ns, "%llu ns to take, %llu to match",
		  (unsigned long long)taken_ns, (unsigned long long)matched_ns);
	verifier->stream.rank = 7;
	crit_otf2_verify_collective(verifier, 0);
	verifier->communicators[0].members_seen = 0;
	crit_otf2_verify_matches(verifier);
	CHECK_UINT_EQ(verifier->fault_count, 1);
	crit_otf2_tally_fini(&verifier->collectives);
	crit_map_fini(&verifier->communicator_numbers);
	free(group.members);
	free(verifier);
}

struct world { /* communicators of ranks that were laid out, and no file */
	struct crit_node_row node;
	struct crit_results results;
	struct crit_otf2_strings *strings;
	struct crit_otf2_regions *regions;
	struct crit_otf2_layout *layout;
	struct crit_otf2_comms *comms;
};

static void begin_world(struct world *world, struct crit_rank_row *ranks, uint32_t count)
{
	const struct crit_otf2_layout_options options = { 0 };

	*world = (struct world){ .node = { .host = "node0" } };
	world->results = (struct crit_results){ .has_ranks = true,
						.nodes = &world->node,
						.node_count = 1,
						.ranks = ranks,
						.rank_count = count,
						.exe = "/opt/solver" };
	world->strings = crit_otf2_strings_create();
	world->regions = crit_otf2_regions_create(world->strings);
	CHECK_INT_EQ(crit_otf2_layout_create(&world->results, &options, world->strings,
					     world->regions, &world->layout),
		     0);
	world->comms = crit_otf2_comms_create(&world->results, world->layout, world->strings);
}

static void end_world(struct world *world)
{
	crit_otf2_comms_destroy(world->comms);
	crit_otf2_layout_destroy(world->layout);
	crit_otf2_regions_destroy(world->regions);
	crit_otf2_strings_destroy(world->strings);
}

/* CPU time of so many worlds of one rank each. */
static uint64_t worlds_ns(uint32_t count)
{
	struct crit_rank_row *ranks = calloc(count, sizeof(*ranks));
	struct world world;
	uint64_t spent_ns;

	for (uint32_t i = 0; i < count; i++)
		ranks[i] = (struct crit_rank_row){ .world_number = i, .world_size = 1 };
	begin_world(&world, ranks, count);
	spent_ns = cpu_ns();
	CHECK_INT_EQ(crit_otf2_comms_add_worlds(world.comms), 0);
	spent_ns = cpu_ns() - spent_ns;
	CHECK_UINT_EQ(crit_otf2_comms_count(world.comms), count + 1);
	end_world(&world);
	free(ranks);
	return spent_ns;
}

static void check_worlds(void)
{
	uint64_t few_ns = UINT64_MAX, many_ns = UINT64_MAX, ns;

	for (int i = 0; i < 3; i++) {
		ns = worlds_ns(WORLDS);
		few_ns = ns < few_ns ? ns : few_ns;
		ns = worlds_ns(TIMES * WORLDS);
		many_ns = ns < many_ns ? ns : many_ns;
	}
	CHECK_MSG(many_ns <= TIMES_MAX * few_ns, "%llu ns, and %llu for four times as many",
		  (unsigned long long)few_ns, (unsigned long long)many_ns);
}

/* The group of the last communicator, as it is defined. */
static const struct otf2_group *last_group(const struct crit_otf2_comms *comms)
{
	size_t last = crit_otf2_comms_count(comms) - 1;

	CHECK_INT_EQ(crit_otf2_comms_write_groups(comms, NULL, 0), OTF2_SUCCESS);
	CHECK_INT_EQ(crit_otf2_comms_write(comms, NULL), OTF2_SUCCESS);
	return &otf2_between_groups[otf2_between_comms[last]];
}

/* The group of a communicator told with these rows. */
static const struct otf2_group *add(struct crit_otf2_comms *comms, const uint32_t *rows,
				    uint32_t count)
{
	const struct crit_trace_communicator told = { .kind = CRIT_TRACE_COMM_INTRA,
						      .parent = CRIT_TRACE_NONE,
						      .members = rows,
						      .member_count = count };

	CHECK_INT_EQ(crit_otf2_comms_add(comms, &told), 0);
	return last_group(comms);
}

static char scratch[] = "/tmp/crit-otf2-bounds.XXXXXX";

/* Equal groups are one; who is not known is nobody's rank, and as many as messages name. */
static void check_groups(void)
{
	static const uint32_t both[] = { 0, 1 }, one[] = { 0, CRIT_TRACE_NONE };
	struct crit_rank_row ranks[] = { { .rank = 0, .world_size = 3 },
					 { .rank = 2, .world_size = 3 } };
	const struct otf2_group *group;
	struct crit_otf2_comms *comms;
	struct world world;

	begin_world(&world, ranks, 2);
	comms = world.comms;
	CHECK_INT_EQ(crit_otf2_comms_note_peer(comms, 3, 4), 0);
	CHECK_INT_EQ(crit_otf2_comms_note_peer(comms, 3, 0x7fffffff), -ENOSPC);
	CHECK_UINT_EQ(add(comms, both, 2)->count, 2);
	group = add(comms, both, 2);
	CHECK_UINT_EQ(crit_otf2_comms_group_count(comms), 1);
	CHECK(group->members[0] == 0 && group->members[1] == 1);
	CHECK(!crit_otf2_comms_has_strangers(comms));
	CHECK(!crit_otf2_layout_stranger_location(world.layout));
	CHECK_UINT_EQ(add(comms, one, 2)->members[1], 2);
	CHECK(crit_otf2_comms_has_strangers(comms));
	CHECK(crit_otf2_layout_stranger_location(world.layout) != NULL);
	group = add(comms, NULL, 0);
	CHECK_UINT_EQ(group->count, 5); /* as messages name */
	CHECK_UINT_EQ(group->members[4], 2);
	CHECK_INT_EQ(crit_otf2_comms_add_worlds(comms), 0);
	(void)last_group(comms);
	group = &otf2_between_groups[otf2_between_comms[4]];
	CHECK_UINT_EQ(group->count, 3); /* its rank 1 was not recorded */
	CHECK(group->members[0] == 0 && group->members[1] == 2 && group->members[2] == 1);
	end_world(&world);
}

static int count_members(void *user, const struct crit_trace_communicator *communicator)
{
	*(uint64_t *)user += communicator->member_count + communicator->remote_member_count;
	return 0;
}

/* Many communicators that one member each says are large: work follows the recording. */
static void check_hostile_sizes(void)
{
	uint64_t members = 0;
	const struct crit_trace_sink sink = { .user = &members, .communicator = count_members };
	struct crit_maker *m = crit_act_begin("node0");
	struct crit_results *r = NULL;
	uint32_t stream = 0;

	for (uint32_t i = 0; i < RANKS; i++) {
		struct crit_rec_process process = { .pid = 1000 + i,
						    .ns_pid = 1000 + i,
						    .time_ns = MS };
		struct crit_rec_rank rank = { .pid = 1000 + i,
					      .rank = i,
					      .size = RANKS,
					      .open_ns = 2 * MS,
					      .world = "world" };

		crit_maker_process(m, process);
		crit_maker_rank(m, rank);
	}
	stream = crit_maker_stream(
		m, (struct crit_rec_stream){ .pid = 1000, .ns_tid = 1000, .claim_ns = 2 * MS });
	crit_maker_enter(m, stream, 3 * MS, CRIT_MPI_Comm_dup);
	for (uint32_t i = 0; i < COMMS; i++)
		crit_maker_comm(m, stream,
				(struct crit_slot_comm){
					.hash = 5, .comm = 3 + i, .nth = i, .size = RANKS });
	crit_maker_leave(m, stream, 4 * MS, CRIT_MPI_Comm_dup);
	if (CHECK_INT_EQ(crit_analysed_traced(&m, 1, CRIT_ACTIVE_DEFAULT, &sink, &r), 0))
		crit_results_destroy(r);
	CHECK_MSG(members <= 64ull * (COMMS + RANKS), "%llu members of %u slots",
		  (unsigned long long)members, COMMS + RANKS);
	crit_maker_destroy(m);
}

static const char *vanishes; /* between an open and the lock on it */

int flock(int fd, int operation)
{
	if (vanishes)
		CHECK_INT_EQ(rmdir(vanishes), 0);
	vanishes = NULL;
	return (int)syscall(SYS_flock, fd, operation);
}

/* An export that ends just as another one begins takes its directory with it. */
static void check_lock(void)
{
	struct crit_otf2_staging staging;
	struct stat named = { 0 }, held = { 0 };
	struct crit_err err = { { 0 } };
	char path[sizeof(scratch) + 16];

	(void)snprintf(path, sizeof(path), "%s/" CRIT_OTF2_STAGING, scratch);
	vanishes = path;
	CHECK_INT_EQ(crit_otf2_stage(&staging, scratch, &err), 0);
	CHECK_INT_EQ(stat(path, &named), 0);
	CHECK_INT_EQ(fstat(staging.lock_fd, &held), 0);
	CHECK_UINT_EQ(named.st_ino, held.st_ino);
	crit_otf2_unstage(&staging);
	CHECK_INT_EQ(access(path, F_OK), -1);
}

int main(void)
{
	if (!mkdtemp(scratch)) {
		perror(scratch);
		return 1;
	}
	check_collectives();
	check_worlds();
	check_lock();
	check_groups();
	check_hostile_sizes();
	{
		char command[sizeof(scratch) + 16];

		(void)snprintf(command, sizeof(command), "rm -r %s", scratch);
		CHECK_INT_EQ(system(command), 0);
	}
	return check_done();
}
