/* SPDX-License-Identifier: BSD-3-Clause */
/* The directory of a run, its recording file and its finisher. */
#ifndef CRIT_CLIENT_OUTPUT_H
#define CRIT_CLIENT_OUTPUT_H

#include "core/abi/abi_socket.h"
#include "core/base/err.h"

struct crit_client_output { /* what the name of the directory is made of */
	const char *template; /* CRIT_DIR */
	const char *exe;
	const char *host;
	const char *run_key;
};

/* Makes directory, whose absolute path it answers, and recording file; ret_fd is the caller's. */
int crit_client_make_output(const struct crit_client_output *output,
			    char ret_directory[CRIT_PATH_BYTES], int *ret_fd, struct crit_err *err);

/* Starts the finisher; ret_fd, the end of the socket pair for critd, is the caller's. */
int crit_client_start_finisher(const char *directory, int *ret_fd, struct crit_err *err);

#endif
