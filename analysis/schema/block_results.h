/* SPDX-License-Identifier: BSD-3-Clause */
/* What an analysis yields about blocked threads: in which system calls, and called by whom. */
#ifndef CRIT_BLOCK_RESULTS_H
#define CRIT_BLOCK_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CRIT_BLOCK_NO_CALL (-1) /* interrupted in user mode, as by a page fault */
#define CRIT_BLOCK_NOT_TOLD (-2) /* the recording does not say */
#define CRIT_BLOCK_STOPPED 1000 /* stopped by a signal, or traced: no call has this number */

enum crit_block_object { /* what the first argument of a system call is */
	CRIT_BLOCK_OBJECT_NONE = 0, /* nothing that tells waits apart */
	CRIT_BLOCK_OBJECT_FUTEX, /* its address */
	CRIT_BLOCK_OBJECT_DESCRIPTOR, /* of an open file */
	CRIT_BLOCK_OBJECT_OTHERS, /* more than are told apart */
	CRIT_BLOCK_OBJECT_COUNT
};

struct crit_block_call {
	uint64_t object;
	int16_t number; /* in the machine's own table, or one of CRIT_BLOCK_ above */
	bool is_compat; /* in the table of 32-bit calls */
	uint8_t object_kind; /* enum crit_block_object */
};

/*
 * An app thread blocked in one system call on one object, in the window.  The sum over all cells of
 * all threads and what is untold is their time in state blocked; that over the paths of a cell, and
 * what was not captured, is the cell.
 */
struct crit_block_cell {
	struct crit_block_call call;
	uint32_t thread; /* index into threads */
	uint64_t count; /* times */
	uint64_t blocked_ns;
	uint64_t not_captured_ns; /* of these, where no path of the cell is known */
	size_t first_path, path_count; /* its own in paths */
};

struct crit_block_path { /* by which a cell came there, as far as it was captured */
	uint64_t address; /* as a return address: behind the system call */
	uint32_t path; /* of the caller, in the tree of samples */
	uint32_t count; /* captures */
	uint64_t blocked_ns; /* its part of the cell's */
};

/*
 * The last time that an app thread was blocked, or has been in a wait of OpenMP that it does not
 * leave.  What follows is shorter than a twentieth of it: who is killed runs for a moment.
 */
struct crit_last_wait {
	uint64_t since_ns, until_ns; /* absolute run-clock ns */
	struct crit_block_call call; /* that it blocks in */
	uint32_t operation; /* of a futex: lower half of the second argument */
	uint32_t thread; /* index into threads */
	uint64_t address; /* behind that call, as a return address; 0: not captured */
	uint32_t path; /* of the caller, in the tree of samples */
	uint32_t construct; /* of OpenMP; 0: none */
	uint64_t site; /* of the construct: return address */
	bool is_idle; /* a worker of OpenMP without a region */
	bool is_end_seen; /* of its process */
	uint8_t exit_signal; /* that killed it, 0 none or not seen */
};

struct crit_block_results {
	struct crit_block_cell *cells; /* sorted by thread, call, object */
	size_t cell_count;
	struct crit_block_path *paths;
	size_t path_count;
	struct crit_last_wait *last_waits; /* sorted by thread, at most one of each; none of many */
	size_t last_wait_count;
	uint64_t captures;
	uint64_t untold_count,
		untold_ns; /* times and time before the first told call of a thread */
};

#endif
