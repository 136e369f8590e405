// SPDX-License-Identifier: BSD-3-Clause
// Opens the sources of kernel records, and calls them by turns.
#include "collector/source/sources.h"

#include <errno.h>
#include <stdlib.h>

#include "collector/record/run.h"
#include "collector/source/sched_bpf.h"
#include "collector/source/sched_perf.h"
#include "collector/system/watch.h"

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

struct active { /* source */
	const struct crit_source_ops *ops;
	void *state;
};

struct crit_sources {
	struct crit_source_context context;
	struct crit_source_options options;
	struct crit_source_status status;
	struct active active[KIND_COUNT];
	uint32_t count;
	bool has_kind[KIND_COUNT];
};

/* Calls a function of every source that has it. */
#define CALL(sources, function, ...)                                                               \
	do {                                                                                       \
		for (uint32_t i = 0; i < (sources)->count; i++) {                                  \
			const struct active *source = &(sources)->active[i];                       \
                                                                                                   \
			if (source->ops->function)                                                 \
				source->ops->function(source->state, ##__VA_ARGS__);               \
		}                                                                                  \
	} while (0)

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
	CALL(sources, close);
	free(sources);
}

int crit_sources_open(struct crit_sources *sources, bool is_privileged, struct crit_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct crit_source_ops *ops = rows[i].ops;
		void *state;
		int status;

		if (sources->has_kind[rows[i].kind] || ops->is_privileged != is_privileged)
			continue;
		status = ops->open(&sources->context, &sources->options, &sources->status, &state,
				   err);
		if (status) {
			rc = status;
			continue;
		}
		sources->has_kind[rows[i].kind] = true;
		sources->active[sources->count++] = (struct active){ ops, state };
	}
	return rc;
}

int crit_sources_check(const struct crit_sources *sources)
{
	int rc = 0;

	for (uint32_t i = 0; i < sources->count && !rc; i++) {
		if (sources->active[i].ops->check)
			rc = sources->active[i].ops->check(sources->active[i].state);
	}
	return rc;
}

bool crit_sources_need_perf_events(const struct crit_sources *sources)
{
	for (uint32_t i = 0; i < sources->count; i++) {
		if (sources->active[i].ops->needs_perf_events)
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

int crit_sources_attach(const struct crit_sources *sources, struct crit_run *run, uint32_t pid,
			int64_t tls_offset)
{
	int rc = 0;

	for (uint32_t i = 0; i < sources->count && !rc; i++)
		rc = sources->active[i].ops->attach(sources->active[i].state, run, pid, tls_offset);
	return rc;
}

void crit_sources_detach(const struct crit_sources *sources, uint32_t pid)
{
	CALL(sources, detach, pid);
}

bool crit_sources_drain(const struct crit_sources *sources)
{
	bool wants_soon = false;

	for (uint32_t i = 0; i < sources->count; i++)
		wants_soon = sources->active[i].ops->drain(sources->active[i].state) || wants_soon;
	return wants_soon;
}

void crit_sources_set_seldom(const struct crit_sources *sources, bool is_seldom)
{
	CALL(sources, set_seldom, is_seldom);
}

int crit_sources_watch(const struct crit_sources *sources, int epoll_fd)
{
	int rc = 0;

	for (uint32_t i = 0; i < sources->count && !rc; i++) {
		const struct active *source = &sources->active[i];

		if (source->ops->wake_fd)
			rc = crit_watch_add_edge(epoll_fd, source->ops->wake_fd(source->state),
						 CRIT_WATCH_SOURCE);
	}
	return rc;
}

void crit_sources_look(const struct crit_sources *sources)
{
	CALL(sources, look);
}

int64_t crit_sources_live(const struct crit_sources *sources, const struct crit_run *run)
{
	int64_t live = 0;

	for (uint32_t i = 0; i < sources->count; i++)
		live += sources->active[i].ops->live(sources->active[i].state, run);
	return live;
}

bool crit_sources_have_living(const struct crit_sources *sources, const struct crit_run *run)
{
	for (uint32_t i = 0; i < sources->count; i++) {
		const struct active *source = &sources->active[i];

		if (source->ops->has_living ? source->ops->has_living(source->state, run)
					    : source->ops->live(source->state, run) > 0)
			return true;
	}
	return false;
}

void crit_sources_stop_stacks(const struct crit_sources *sources, const struct crit_run *run)
{
	CALL(sources, stop_stacks, run);
}

uint64_t crit_sources_refused_stacks(const struct crit_sources *sources, const struct crit_run *run)
{
	uint64_t refused = 0;

	for (uint32_t i = 0; i < sources->count; i++) {
		const struct active *source = &sources->active[i];

		if (source->ops->refused_stacks)
			refused += source->ops->refused_stacks(source->state, run);
	}
	return refused;
}

void crit_sources_count_lost(const struct crit_sources *sources, struct crit_run *run)
{
	uint64_t lost = 0;

	for (uint32_t i = 0; i < sources->count; i++)
		lost += sources->active[i].ops->lost(sources->active[i].state, run);
	run->kernel.lost += lost - run->lost_seen;
	run->lost_seen = lost;
}
