// SPDX-License-Identifier: BSD-3-Clause
// Opens the sources of kernel records, and calls them by turns.
#include "collector/source/sources.h"

#include <errno.h>
#include <stdlib.h>

#include "collector/record/run.h"
#include "collector/source/sched_bpf.h"
#include "collector/source/sched_perf.h"

enum kind { /* of records: of each there is one source */
	KIND_SCHED = 0,
	KIND_COUNT
};

/* The first of a kind that can be opened is used. */
static const struct {
	enum kind kind;
	const struct crit_source_ops *ops;
} rows[] = {
	{ KIND_SCHED, &crit_sched_bpf },
	{ KIND_SCHED, &crit_sched_perf },
};

struct active { /* source of a kind */
	const struct crit_source_ops *ops; /* NULL: none */
	void *state;
};

struct crit_sources {
	struct crit_source_context context;
	struct crit_source_options options;
	struct crit_source_status status;
	struct active active[KIND_COUNT];
};

#define for_each_source(source, sources)                                                           \
	for (const struct active *source = (sources)->active;                                      \
	     source < (sources)->active + KIND_COUNT; source++)                                    \
		if (source->ops)

/* Calls a function of every source that has it. */
#define CALL(sources, function, ...)                                                               \
	for_each_source(source, sources) if (source->ops->function)                                \
		source->ops->function(source->state __VA_OPT__(, ) __VA_ARGS__)

int crit_sources_create(const struct crit_source_context *context,
			const struct crit_source_options *options,
			struct crit_sources **ret_sources)
{
	struct crit_sources *sources = calloc(1, sizeof(*sources));

	if (!sources)
		return -ENOMEM;
	sources->context = *context;
	sources->options = *options;
	sources->status.kernel = -EOPNOTSUPP;
	*ret_sources = sources;
	return 0;
}

void crit_sources_destroy(struct crit_sources *sources)
{
	if (!sources)
		return;
	for_each_source(source, sources) source->ops->close(source->state);
	free(sources);
}

int crit_sources_open(struct crit_sources *sources, bool is_privileged, struct crit_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct active *source = &sources->active[rows[i].kind];
		void *state;
		int status;

		if (source->ops || rows[i].ops->is_privileged != is_privileged)
			continue;
		status = rows[i].ops->open(&sources->context, &sources->options, &sources->status,
					   &state, err);
		if (status)
			rc = status;
		else
			*source = (struct active){ rows[i].ops, state };
	}
	return rc;
}

int crit_sources_check(const struct crit_sources *sources)
{
	int rc = 0;

	for_each_source(source, sources)
	{
		if (!rc && source->ops->check)
			rc = source->ops->check(source->state);
	}
	return rc;
}

bool crit_sources_need_perf_events(const struct crit_sources *sources)
{
	for_each_source(source, sources)
	{
		if (source->ops->needs_perf_events)
			return true;
	}
	return false;
}

const struct crit_source_status *crit_sources_status(const struct crit_sources *sources)
{
	return &sources->status;
}

void crit_sources_begin(const struct crit_sources *sources, const struct crit_run *run,
			struct crit_source_status *status)
{
	CALL(sources, begin, run, status);
}

void crit_sources_stop(const struct crit_sources *sources, const struct crit_run *run)
{
	CALL(sources, stop, run);
}

void crit_sources_end(const struct crit_sources *sources, const struct crit_run *run)
{
	CALL(sources, end, run);
}

int crit_sources_attach(const struct crit_sources *sources, struct crit_run *run, __u32 pid,
			__s64 tls_offset)
{
	int rc = 0;

	for_each_source(source, sources)
	{
		if (!rc)
			rc = source->ops->attach(source->state, run, pid, tls_offset);
	}
	return rc;
}

void crit_sources_detach(const struct crit_sources *sources, __u32 pid)
{
	CALL(sources, detach, pid);
}

void crit_sources_drain(const struct crit_sources *sources)
{
	CALL(sources, drain);
}

void crit_sources_look(const struct crit_sources *sources)
{
	CALL(sources, look);
}

__s64 crit_sources_live(const struct crit_sources *sources, const struct crit_run *run)
{
	__s64 live = 0;

	for_each_source(source, sources) live += source->ops->live(source->state, run);
	return live;
}

void crit_sources_count_lost(const struct crit_sources *sources, struct crit_run *run)
{
	__u64 lost = 0;

	for_each_source(source, sources) lost += source->ops->lost(source->state, run);
	run->kernel.lost += lost - run->lost_seen;
	run->lost_seen = lost;
}
