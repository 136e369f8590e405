/* SPDX-License-Identifier: BSD-3-Clause */
/* The nodes a run says it had, and which of them have no recording here. */
#ifndef CRIT_HOSTS_H
#define CRIT_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/recording/recording.h"
#include "analysis/schema/node_results.h"

/*
 * Adds the hosts that a recording names, each once, or none.  Reads heads of chunks only, and no
 * further than a rank's end, for they are named before.  Ownership: fini frees; zeroed memory is an
 * empty list.  Errors: -ENOMEM, -errno of open.  Range: as many as CRIT_HOSTS_MAX.
 */
int crit_hosts_add(struct crit_hosts *hosts, const char *path);
/* The same of a recording that is open: what has been found in it is not looked for again. */
int crit_hosts_take(struct crit_hosts *hosts, const struct crit_recording *recording);
/* The same for the worlds that a recording's ranks are of. */
int crit_worlds_add(struct crit_hosts *worlds, const char *path);
bool crit_hosts_have(const struct crit_hosts *hosts, const char *name);
void crit_hosts_fini(struct crit_hosts *hosts);

#define CRIT_HOSTS_MAX 8192u

/* Does the file end as one that critd ended? */
bool crit_hosts_is_whole(const char *path);

#endif
