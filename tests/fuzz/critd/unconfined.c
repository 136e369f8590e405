// SPDX-License-Identifier: BSD-3-Clause
// Stands in for privileges.c and system/scheduling.c of collector/ in fuzzers: what runs critd as a
// part of itself keeps its rights, its system calls and its share of the CPU.
#include "collector/privileges.h"
#include "collector/system/scheduling.h"

int crit_privileges_drop(uint32_t uid, bool is_root_to_user, const struct crit_sources *sources,
			 struct crit_err *err)
{
	(void)uid;
	(void)is_root_to_user;
	(void)sources;
	(void)err;
	return 0;
}

int crit_privileges_confine(bool has_perf, struct crit_err *err)
{
	(void)has_perf;
	(void)err;
	return 0;
}

void crit_scheduling_begin(int cpu)
{
	(void)cpu;
}

void crit_scheduling_drain(void)
{
}

void crit_scheduling_go_first(void)
{
}

void crit_scheduling_bound(void)
{
}

bool crit_scheduling_ask_stepped_back(void)
{
	return false;
}

void crit_scheduling_follow(void)
{
}

bool crit_scheduling_step_back(void)
{
	return false;
}
