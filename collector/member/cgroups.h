/* SPDX-License-Identifier: BSD-3-Clause */
/* The CPU limits of a process's cgroups, version 1 or 2. */
#ifndef CRIT_COLLECTOR_CGROUPS_H
#define CRIT_COLLECTOR_CGROUPS_H

#include <stdint.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/abi/abi_recording.h"

#define CRIT_CGROUP_PATH_BYTES 1024u
#define CRIT_CPU_UNLIMITED (~0ull)

struct crit_cgroups {
	int fd; /* O_PATH: where the hierarchy with the cpu controller is mounted; -1: nowhere */
	bool is_v1;
	char root[CRIT_CGROUP_PATH_BYTES]; /* its part that is mounted there; "" all of it */
	/* the answer for one path: processes of a run are often in one cgroup */
	char last_path[CRIT_CGROUP_PATH_BYTES];
	uint64_t last_ns; /* 0: none */
	uint32_t last_count;
	struct crit_rec_cpu_limit last_limits[CRIT_CPU_LIMITS_MAX];
};

/* Finds the hierarchy; without one there are no limits. */
void crit_cgroups_open(struct crit_cgroups *cgroups);
void crit_cgroups_close(struct crit_cgroups *cgroups);

/*
 * The limits of the process's cgroup and those above it, its own first.  Returns their count; 0
 * also when they cannot be read.  Cost: the levels are read once for processes of one cgroup that
 * are asked for within half a second.
 */
uint32_t crit_cgroups_limits(struct crit_cgroups *cgroups, int proc_fd, uint32_t pid,
			     uint64_t now_ns,
			     struct crit_rec_cpu_limit ret_limits[CRIT_CPU_LIMITS_MAX]);

/* A line of /proc/PID/mountinfo: is it a hierarchy with the cpu controller, and which? */
bool crit_cgroups_is_mount(const char *line, bool *ret_is_v1, char ret_root[CRIT_CGROUP_PATH_BYTES],
			   char ret_mount[CRIT_CGROUP_PATH_BYTES]);

/* The path of a process in the hierarchy, from /proc/PID/cgroup; false when it has none. */
bool crit_cgroups_path(const char *text, bool is_v1, char ret_path[CRIT_CGROUP_PATH_BYTES]);

/* What quota and period mean, in millionths of a CPU; "max" and -1 are CRIT_CPU_UNLIMITED. */
uint64_t crit_cgroups_quota(const char *quota, const char *period);

#endif
