/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a critd started here has CAP_BPF and CAP_PERFMON, and if not, what keeps them from it. */
#ifndef CRIT_GRANT_H
#define CRIT_GRANT_H

#include <limits.h>
#include <stdbool.h>

struct crit_grant {
	bool is_given;
	bool is_refused; /* the kernel does not even execute the file */
	char reason[256]; /* why, or why not */
	char fix[PATH_MAX + 128]; /* what to do; "" where it is given */
};

/* For critd started by this process: its user, bounding set, namespaces and no_new_privs. */
void crit_grant_find(const char *critd_path, struct crit_grant *ret_grant);

#endif
