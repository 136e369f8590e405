/* SPDX-License-Identifier: BSD-3-Clause */
/* The sources of one critd: of each kind of records the first source that can be opened. */
#ifndef CRIT_COLLECTOR_SOURCES_H
#define CRIT_COLLECTOR_SOURCES_H

#include <stdint.h>

#include "collector/source/source_options.h"

struct crit_err;
struct crit_run;
struct crit_sources;

/* Ownership: destroy closes what was opened; it accepts NULL.  Errors: -ENOMEM. */
int crit_sources_create(const struct crit_source_context *context,
			const struct crit_source_options *options,
			struct crit_sources **ret_sources);
void crit_sources_destroy(struct crit_sources *sources);

/*
 * Opens the sources that want privileges, or those that want none.  What cannot be opened is left
 * out.  Errors: of the last one, with the reason in err, where a kind of records has no source yet.
 */
int crit_sources_open(struct crit_sources *sources, bool is_privileged, struct crit_err *err);

/* Does what must go on working without privileges.  Errors: -EPERM. */
int crit_sources_check(const struct crit_sources *sources);

bool crit_sources_need_perf_events(const struct crit_sources *sources);

/* Ownership: borrowed. */
const struct crit_source_status *crit_sources_status(const struct crit_sources *sources);

/* What follows calls the function of each source; see source.h. */
void crit_sources_begin(const struct crit_sources *sources, const struct crit_run *run,
			struct crit_source_status *status);
void crit_sources_stop(const struct crit_sources *sources, const struct crit_run *run);
void crit_sources_end(const struct crit_sources *sources, const struct crit_run *run);
int crit_sources_attach(const struct crit_sources *sources, struct crit_run *run, uint32_t pid,
			int64_t tls_offset);
void crit_sources_detach(const struct crit_sources *sources, uint32_t pid);
bool crit_sources_drain(const struct crit_sources *sources);
void crit_sources_set_seldom(const struct crit_sources *sources, bool is_seldom);
void crit_sources_look(const struct crit_sources *sources);
void crit_sources_stop_stacks(const struct crit_sources *sources, const struct crit_run *run);
uint64_t crit_sources_refused_stacks(const struct crit_sources *sources,
				     const struct crit_run *run);
int64_t crit_sources_live(const struct crit_sources *sources, const struct crit_run *run);
bool crit_sources_have_living(const struct crit_sources *sources, const struct crit_run *run);

/* Adds what tells of programs while sources are drained seldom.  Errors: -errno. */
int crit_sources_watch(const struct crit_sources *sources, int epoll_fd);

/* Moves the sources' counts of lost records into the run's stream. */
void crit_sources_count_lost(const struct crit_sources *sources, struct crit_run *run);

#endif
