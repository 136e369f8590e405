/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a source of kernel records is: the functions it has.
 *
 * A source records what happens to the threads of runs.  It is opened once per critd, begun and
 * ended once per run, and drained at every tick; it puts records into the runs' kernel streams by
 * kernel_stream.h.  A further source is a file and a row in sources.c.
 */
#ifndef CRIT_COLLECTOR_SOURCE_H
#define CRIT_COLLECTOR_SOURCE_H

#include <stdint.h>
#include <stdbool.h>

#include "collector/source/source_options.h"

struct crit_err;
struct crit_run;

/* A function that may be NULL says so: then there is nothing to do, or the answer is 0. */
struct crit_source_ops {
	bool is_privileged; /* opened before critd gives up its privileges, else after that */
	bool needs_perf_events; /* system calls that open them, later */

	/* Writes its part of ret_status in any case.  Errors: -errno, the reason in err. */
	int (*open)(const struct crit_source_context *context,
		    const struct crit_source_options *options,
		    struct crit_source_status *ret_status, void **ret_source, struct crit_err *err);
	/* Does what must go on working without privileges.  Errors: -EPERM.  May be NULL. */
	int (*check)(void *source);
	void (*close)(void *source);

	/* A run begins to record; where that fails, its status says so. */
	void (*begin)(void *source, const struct crit_run *run, struct crit_source_status *status);
	/* Records nothing new of the run; what it has can still be drained.  May be NULL. */
	void (*stop)(void *source, const struct crit_run *run);
	/* Forgets the run.  May be NULL. */
	void (*end)(void *source, const struct crit_run *run);

	/*
	 * Enrols the threads of a process in its run.  Range: tls_offset of the tag word, or
	 * CRIT_TLS_NONE.  Errors: -errno of what keeps critd from its threads.
	 */
	int (*attach)(void *source, struct crit_run *run, uint32_t pid, int64_t tls_offset);
	/* The process ended, or became another program: enrols no more threads.  May be NULL. */
	void (*detach)(void *source, uint32_t pid);

	/*
	 * Puts what was recorded into the streams of its runs.  Returns whether that is to be done
	 * again soon: there was much, or tasks come and go.  Cost: a copy per record.
	 */
	bool (*drain)(void *source);
	/* It is drained seldom from now on, or no more.  May be NULL: it wants to be soon. */
	void (*set_seldom)(void *source, bool is_seldom);
	/*
	 * Borrowed: told of where it is drained seldom and a task became another program.  May be
	 * NULL, as set_seldom.
	 */
	int (*wake_fd)(const void *source);
	/* Looks at what need not be looked at at every tick.  May be NULL. */
	void (*look)(void *source);

	/* Records of the run that found no room, since it began. */
	uint64_t (*lost)(const void *source, const struct crit_run *run);
	/* Takes no more stacks with the run's samples.  May be NULL. */
	void (*stop_stacks)(void *source, const struct crit_run *run);
	/* Samples of the run that were refused one, since it began.  May be NULL. */
	uint64_t (*refused_stacks)(const void *source, const struct crit_run *run);
	/* Tasks in the run that no process registered for, by birth for example. */
	int64_t (*live)(void *source, const struct crit_run *run);
	/* Looks for one of them.  Cost: a look at all tasks.  May be NULL: their count is right. */
	bool (*has_living)(const void *source, const struct crit_run *run);
};

#endif
