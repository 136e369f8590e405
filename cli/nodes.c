// SPDX-License-Identifier: BSD-3-Clause
/* Looks which nodes of a run have their recordings in its directory. */
#include "cli/nodes.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "analysis/hosts.h"
#include "cli/recording_set.h"
#include "core/client_env.h"

#define STEP_MS 20

static void own_path(const char *directory, char ret_path[PATH_MAX],
		     char ret_host[CRIT_WORLD_BYTES])
{
	crit_client_host(ret_host);
	(void)snprintf(ret_path, PATH_MAX, "%s/%s.crit", directory, ret_host);
}

static bool names_host(const char *path, const char *host)
{
	struct crit_hosts hosts = { 0 };
	bool is_named = false;

	(void)crit_hosts_add(&hosts, path); /* what cannot be read names nobody */
	for (size_t i = 0; i < hosts.count; i++)
		is_named |= strcmp(hosts.names[i], host) == 0;
	crit_hosts_fini(&hosts);
	return is_named;
}

bool crit_nodes_is_reporter(const char *directory)
{
	struct crit_recording_set set = { 0 };
	char path[PATH_MAX];
	char host[CRIT_WORLD_BYTES];
	bool is_reporter = crit_recording_set_add(&set, directory, NULL) == 0;

	own_path(directory, path, host);
	for (size_t i = 0; i < set.count && is_reporter; i++)
		is_reporter = strcmp(set.paths[i], path) == 0 || !names_host(set.paths[i], host);
	crit_recording_set_fini(&set);
	return is_reporter;
}

static bool are_whole(const char *directory, const struct crit_hosts *hosts, const char *host)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < hosts->count; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s.crit", directory, hosts->names[i]);
		if (strcmp(hosts->names[i], host) != 0 && !crit_hosts_is_whole(path))
			return false;
	}
	return true;
}

void crit_nodes_wait(const char *directory, int timeout_ms)
{
	const struct timespec step = { .tv_nsec = STEP_MS * 1000000 };
	struct crit_hosts hosts = { 0 };
	char path[PATH_MAX];
	char host[CRIT_WORLD_BYTES];

	own_path(directory, path, host);
	(void)crit_hosts_add(&hosts, path); /* who names nobody waits for nobody */
	while (timeout_ms > 0 && !are_whole(directory, &hosts, host)) {
		(void)nanosleep(&step, NULL);
		timeout_ms -= STEP_MS;
	}
	crit_hosts_fini(&hosts);
}
