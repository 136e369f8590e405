/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random teams of one rank, shims only: what they do is counted by hand as it happens, every
 * nanosecond, and recorded.
 */
#ifndef CRIT_TESTS_SIM_TEAMS_H
#define CRIT_TESTS_SIM_TEAMS_H

#include "core/abi/abi_tag.h"
#include "tests/maker/acts.h"
#include "tests/maker/random.h"

#define TEAM_PID 100u
#define TEAM_THREADS 5u
#define TEAM_DEPTH 8u
#define TEAM_REGIONS 200u
#define TEAM_INSTANCES 400u
#define TEAM_BEGIN (5 * CRIT_ACT_MS)

struct team_frame {
	uint32_t call, region;
	uint32_t instance; /* UINT32_MAX: no team's */
	uint64_t enter_ns;
};

struct team_thread {
	uint32_t stream;
	struct team_frame frames[TEAM_DEPTH];
	uint32_t depth;
	uint16_t late[TEAM_DEPTH]; /* leaves that its runtime will tell, the last one first */
	uint32_t late_count;
	uint32_t called; /* instance that waits for it, or UINT32_MAX */
	uint32_t idling; /* instance it has left, or UINT32_MAX */
	uint64_t cells[CRIT_CLASS_COUNT];
	double cmetric;
	uint64_t spans; /* heard of: entered and left */
	uint32_t heard_depth;
};

struct team_part {
	uint64_t time_ns, useful_ns, omp_wait_ns, mpi_ns, visits;
	double cmetric;
};

struct team_region {
	uint32_t parent, call;
	uint64_t site;
	bool is_defined;
	uint64_t visits, elapsed_ns, scheduling_ns, imbalance_ns;
	uint32_t team_max;
	struct team_part parts[TEAM_THREADS];
};

struct team_instance {
	uint32_t region, primary;
	bool is_live;
	bool has[TEAM_THREADS];
	uint64_t idle_ns[TEAM_THREADS];
};

struct sim_teams {
	struct crit_random random;
	struct crit_maker *m;
	uint64_t now_ns;
	struct team_thread threads[TEAM_THREADS];
	struct team_region regions[TEAM_REGIONS];
	uint32_t region_count; /* 0 is no region */
	struct team_instance instances[TEAM_INSTANCES];
	uint32_t instance_count;
	uint64_t in_mpi_ns; /* workers idle while thread 0 is in MPI */
};

/* What happens, and the recording of it.  Ownership: the caller destroys w->m. */
void sim_teams_make(struct sim_teams *w, uint64_t seed, const struct crit_maker_options *options);

#endif
