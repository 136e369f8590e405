/* SPDX-License-Identifier: BSD-3-Clause */
/* What an analysis yields about processes that are not recorded to their end, and roles. */
#ifndef CRIT_PROCESS_END_RESULTS_H
#define CRIT_PROCESS_END_RESULTS_H

#include <stdint.h>

#define CRIT_PROGRAM_BYTES 64

enum crit_role {
	CRIT_THREAD_APP = 0,
	CRIT_THREAD_SERVICE,
	CRIT_THREAD_LAUNCHER,
	CRIT_THREAD_ROLE_COUNT
};

enum crit_process_end {
	CRIT_END_NONE = 0,
	CRIT_END_UNTOLD, /* the kernel half ended, and old recordings do not say why */
	CRIT_END_OTHER_USER, /* it ended with an exec: the program runs as another user */
	CRIT_END_PRIVILEGES, /* it has more privileges than its user */
	CRIT_END_UNREADABLE, /* it is not dumpable, as an execute-only one */
	CRIT_END_KILLED_IN_INIT, /* by a signal, before MPI_Init returned */
	CRIT_END_COUNT
};

/* A process that is not recorded to its end. */
struct crit_process_end_row {
	uint32_t node;
	uint32_t pid;
	enum crit_process_end end;
	enum crit_role role;
	uint32_t signal; /* 0 none */
	uint64_t time_ns; /* run clock */
	char name[CRIT_PROGRAM_BYTES];
};

#endif
