// SPDX-License-Identifier: BSD-3-Clause
// Looks which nodes of a run have their recordings in its directory.
#include "cli/results/nodes.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/model/hosts.h"
#include "cli/results/recording_set.h"
#include "core/base/clock.h"
#include "core/client/client_key.h"

#define STEP_MS 20

static void path_of(const char *directory, const char *host, char ret_path[PATH_MAX])
{
	(void)snprintf(ret_path, PATH_MAX, "%s/%s.crit", directory, host);
}

static void own_path(const char *directory, char ret_path[PATH_MAX],
		     char ret_host[CRIT_WORLD_BYTES])
{
	crit_client_host(ret_host);
	path_of(directory, ret_host, ret_path);
}

static bool is_first(const struct crit_hosts *hosts, const char *host)
{
	return hosts->count == 0 || strcmp(hosts->names[0], host) == 0;
}

static bool has_recording(const char *directory)
{
	struct crit_recording_set *set = crit_recording_set_create(NULL);
	const bool has_one = crit_recording_set_add(set, directory, NULL) == 0;

	crit_recording_set_destroy(set);
	return has_one;
}

bool crit_nodes_is_reporter(const char *directory)
{
	struct crit_hosts hosts = { 0 };
	char path[PATH_MAX];
	char host[CRIT_WORLD_BYTES];
	bool is_reporter = true;

	own_path(directory, path, host);
	if (crit_hosts_add(&hosts, path) == -ENOENT) {
		is_reporter = has_recording(directory); /* under this node's former name */
	} else if (!is_first(&hosts, host)) {
		path_of(directory, hosts.names[0], path);
		is_reporter = access(path, F_OK) != 0;
	}
	crit_hosts_fini(&hosts);
	return is_reporter;
}

static bool are_whole(const char *directory, const struct crit_hosts *hosts, const char *host)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < hosts->count; i++) {
		path_of(directory, hosts->names[i], path);
		if (strcmp(hosts->names[i], host) != 0 && !crit_hosts_is_whole(path))
			return false;
	}
	return true;
}

void crit_nodes_wait(const char *directory, int timeout_ms)
{
	struct crit_hosts hosts = { 0 };
	char path[PATH_MAX];
	char host[CRIT_WORLD_BYTES];

	own_path(directory, path, host);
	(void)crit_hosts_add(&hosts, path); /* who names nobody waits for nobody */
	while (timeout_ms > 0 && is_first(&hosts, host) && !are_whole(directory, &hosts, host)) {
		crit_clock_pause_ns(STEP_MS * 1000000);
		timeout_ms -= STEP_MS;
	}
	crit_hosts_fini(&hosts);
}
