// SPDX-License-Identifier: BSD-3-Clause
// Wrappers of the parallel regions of libgomp: every team member runs through a function of crit.
//
// A member that returns from the region's body waits in the barrier at its end.  The primary leaves
// that when GOMP_parallel returns; of the others nothing is heard until they have work again, which
// analysis knows: the region ends when its primary leaves it.  A team of one waits for nobody:
// its region is told, and no barrier, as LLVM's runtime does.
#include "core/shim/shim_region.h"
#include "ompt/gomp_parallel.h"

#include "core/abi/abi_slot.h"

#define ADDRESS_BITS 48 /* of a program's own */

struct team { /* on the primary's stack, which no member outlives in the body */
	void *reductions; /* first: where GOMP_parallel_reductions looks for it */
	crit_gomp_body *body;
	void *data;
	const void *primary; /* its thread */
	const void *site;
	uint64_t instance;
	uint32_t region;
	bool is_alone; /* the primary is all of it */
};

static __thread struct {
	bool is_worker;
	bool is_open; /* a region it was in is over, and its span not ended yet */
	const void *site; /* of the region it is in */
	struct crit_gomp_turn turn;
} member __attribute__((tls_model("initial-exec")));

const void *crit_gomp_call_site(const void *code)
{
	extern const char ours_begin[] __asm__("__ehdr_start") CRIT_GOMP_HIDDEN;
	extern const char ours_end[] __asm__("_end") CRIT_GOMP_HIDDEN;

	return (uintptr_t)code - (uintptr_t)ours_begin < (uintptr_t)ours_end - (uintptr_t)ours_begin
		       ? member.site
		       : code;
}

struct crit_gomp_turn *crit_gomp_turn(void)
{
	return &member.turn;
}

/* The same for all members, and in each instance of the region that the same thread begins. */
static uint64_t turn_of(const struct team *team)
{
	return (uintptr_t)team->primary | (uint64_t)team->region << ADDRESS_BITS;
}

static void begin_work(const struct team *team)
{
	if (member.is_open)
		crit_shim_construct_end(CRIT_CONSTRUCT_PARALLEL);
	if (!member.is_worker)
		crit_shim_worker();
	member.is_worker = true;
	member.is_open = true;
	crit_shim_construct_begin(CRIT_CONSTRUCT_PARALLEL, team->region, team->site,
				  team->instance);
}

static void run_member(void *team_of)
{
	const struct team team = *(const struct team *)team_of;
	const void *outer = member.site;
	const struct crit_gomp_turn outer_turn = member.turn;

	if (team.primary != &member)
		begin_work(&team);
	else if (!team.is_alone)
		crit_shim_construct_end(CRIT_CONSTRUCT_RUNTIME_BARRIER);
	member.site = team.site;
	member.turn = (struct crit_gomp_turn){ .of = turn_of(&team) };
	team.body(team.data);
	member.turn = outer_turn;
	member.site = outer;
	if (!team.is_alone)
		crit_shim_construct_begin(CRIT_CONSTRUCT_IMPLICIT_BARRIER, team.region, team.site,
					  0);
}

int omp_get_max_threads(void); /* of the interface; no header of the runtime is needed for it */

/* How many threads the program asks for; 0 in the directive: as many as are set for all. */
static uint64_t team_size(unsigned int threads)
{
	if (!threads)
		threads = (unsigned int)CRIT_GOMP_NEXT(omp_get_max_threads)();
	return threads < CRIT_INSTANCE_TEAM_MAX ? threads : 0;
}

static struct team begin_team(crit_gomp_body *body, void *data, unsigned int threads,
			      const void *caller)
{
	const void *site = crit_gomp_body_site(body);
	const uint64_t size = team_size(threads);
	const uint64_t instance = crit_shim_instance() | size << CRIT_INSTANCE_TEAM_SHIFT;
	const uint64_t arg = instance | CRIT_INSTANCE_PRIMARY;
	struct team team = {
		.body = body,
		.data = data,
		.primary = &member,
		.site = site,
		.instance = instance,
		.region = crit_shim_region(CRIT_CONSTRUCT_PARALLEL, site, caller,
					   crit_shim_region_now()),
		.is_alone = size == 1,
	};

	/* a barrier until the body: libgomp waits for those not back from their last region */
	if (team.is_alone)
		crit_shim_construct_begin(CRIT_CONSTRUCT_PARALLEL, team.region, site, arg);
	else
		crit_shim_construct_begin_two(CRIT_CONSTRUCT_PARALLEL,
					      CRIT_CONSTRUCT_RUNTIME_BARRIER, team.region, site,
					      arg);
	return team;
}

/* Ends the barrier inside as well. */
static void end_team(void)
{
	crit_shim_construct_end(CRIT_CONSTRUCT_PARALLEL);
}

/* NOLINTBEGIN(readability-function-size,bugprone-macro-parentheses): the interface is libgomp's */

/* A function of libgomp that begins and ends a parallel region, with its other arguments. */
#define PARALLEL(name, DECLARED, PASSED)                                                           \
	CRIT_GOMP_EXPORT void name(crit_gomp_body *body, void *data, unsigned int threads,         \
				   DECLARED unsigned int flags);                                   \
	void name(crit_gomp_body *body, void *data, unsigned int threads,                          \
		  DECLARED unsigned int flags)                                                     \
	{                                                                                          \
		struct team team;                                                                  \
                                                                                                   \
		if (!crit_gomp_is_on()) {                                                          \
			CRIT_GOMP_NEXT(name)(body, data, threads, PASSED flags);                   \
			return;                                                                    \
		}                                                                                  \
		team = begin_team(body, data, threads, CRIT_GOMP_CALL_SITE);                       \
		CRIT_GOMP_NEXT(name)(run_member, &team, threads, PASSED flags);                    \
		end_team();                                                                        \
	}

/* clang-format off */
#define COUNT unsigned int count,
#define PASS_COUNT count,
#define RANGE long start, long end, long step,
#define PASS_RANGE start, end, step,
#define CHUNKS RANGE long chunk,
#define PASS_CHUNKS PASS_RANGE chunk,

PARALLEL(GOMP_parallel, , )
PARALLEL(GOMP_parallel_sections, COUNT, PASS_COUNT)
PARALLEL(GOMP_parallel_loop_static, CHUNKS, PASS_CHUNKS)
PARALLEL(GOMP_parallel_loop_dynamic, CHUNKS, PASS_CHUNKS)
PARALLEL(GOMP_parallel_loop_guided, CHUNKS, PASS_CHUNKS)
PARALLEL(GOMP_parallel_loop_nonmonotonic_dynamic, CHUNKS, PASS_CHUNKS)
PARALLEL(GOMP_parallel_loop_nonmonotonic_guided, CHUNKS, PASS_CHUNKS)
PARALLEL(GOMP_parallel_loop_runtime, RANGE, PASS_RANGE)
PARALLEL(GOMP_parallel_loop_nonmonotonic_runtime, RANGE, PASS_RANGE)
PARALLEL(GOMP_parallel_loop_maybe_nonmonotonic_runtime, RANGE, PASS_RANGE)
/* clang-format on */
/* NOLINTEND(readability-function-size,bugprone-macro-parentheses) */

CRIT_GOMP_EXPORT unsigned int GOMP_parallel_reductions(crit_gomp_body *body, void *data,
						       unsigned int threads, unsigned int flags);

unsigned int GOMP_parallel_reductions(crit_gomp_body *body, void *data, unsigned int threads,
				      unsigned int flags)
{
	struct team team;
	unsigned int answer;

	if (!crit_gomp_is_on())
		return CRIT_GOMP_NEXT(GOMP_parallel_reductions)(body, data, threads, flags);
	team = begin_team(body, data, threads, CRIT_GOMP_CALL_SITE);
	team.reductions = *(void **)data;
	answer = CRIT_GOMP_NEXT(GOMP_parallel_reductions)(run_member, &team, threads, flags);
	end_team();
	return answer;
}
