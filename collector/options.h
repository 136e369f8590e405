/* SPDX-License-Identifier: BSD-3-Clause */
/* critd's command line. */
#ifndef CRIT_COLLECTOR_OPTIONS_H
#define CRIT_COLLECTOR_OPTIONS_H

#include <stdint.h>
#include <stdbool.h>

#include "collector/source/source_options.h"
#include "core/base/err.h"

struct crit_options {
	int listen_fd; /* -1: none given */
	int beside_cpu; /* -1: none given */
	const char *socket_path; /* NULL: none; removed at the end */
	const char *runs_path; /* NULL: no list of the runs' directories */
	uint32_t served_uid;
	bool has_uid; /* --uid was given: drop to it */
	bool is_service; /* never ends by itself */
	bool has_no_kernel;
	bool is_help;
	bool is_version;
	uint32_t idle_exit_s;
	struct crit_source_options sources;
};

/* Errors: -EINVAL, -EPERM; the reason in err. */
int crit_options_parse(int argc, char *const *argv, struct crit_options *ret_options,
		       struct crit_err *err);

extern const char crit_options_help[];

#endif
