// SPDX-License-Identifier: BSD-3-Clause
// Listens to all edges of an analysis by one process or several.
#include "tests/edges/told_edges.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/analyse.h"
#include "analysis/waits/filming.h"
#include "core/base/array.h"
#include "core/base/err.h"
#include "tests/lib/cluster.h"

#define NODES 8u

struct memory_files { /* recordings in memory */
	int fds[NODES];
	char names[NODES][32];
	const char *paths[NODES];
};

static int add(void *user, const struct crit_event *event)
{
	const struct crit_edge *edge = event->edge;

	sim_edges_add(user, &(struct sim_edge){ .begin_ns = edge->begin_ns,
						.end_ns = edge->end_ns,
						.cause_ns = edge->cause_ns,
						.object = edge->object,
						.bytes = edge->bytes,
						.number = edge->send_number,
						.posted = edge->receive_number,
						.waiter = edge->waiter,
						.cause = edge->cause,
						.kind = edge->kind,
						.call = edge->call });
	return 0;
}

struct crit_listener crit_told_edges_listener(struct sim_edges *edges)
{
	struct crit_listener listener = { .user = edges };

	for (int kind = CRIT_EDGE_NONE + 1; kind < CRIT_EDGE_PAIR_COUNT; kind++)
		listener.on[CRIT_EVENT_EDGE + kind] = add;
	return listener;
}

static void translate(struct sim_edge *edge, const struct crit_results *results,
		      uint64_t (*number_of)(uint64_t row))
{
	bool has_communicator =
		edge->kind == CRIT_EDGE_MESSAGE || edge->kind == CRIT_EDGE_RECEIVER ||
		edge->kind == CRIT_EDGE_RENDEZVOUS || edge->kind == CRIT_EDGE_COLLECTIVE;

	edge->waiter = results->threads[edge->waiter].tid;
	edge->cause = results->threads[edge->cause].tid;
	if (has_communicator && number_of)
		edge->object = number_of(edge->object);
}

static void show(const char *what, const struct sim_edge *e)
{
	fprintf(stderr,
		"%s: kind %u call %u, %u waits for %u, %llu to %llu for %llu, of %llx, %llu\n",
		what, e->kind, e->call, e->waiter, e->cause, (unsigned long long)e->begin_ns,
		(unsigned long long)e->end_ns, (unsigned long long)e->cause_ns,
		(unsigned long long)e->object, (unsigned long long)e->number);
}

/* How many edges of a kind one list has more than the other. */
static uint64_t missing(const struct sim_edges *told, const struct sim_edges *truth, uint32_t kind)
{
	int64_t more = 0;

	for (size_t i = 0; i < told->count; i++)
		more += told->rows[i].kind == kind;
	for (size_t i = 0; i < truth->count; i++)
		more -= truth->rows[i].kind == kind;
	if (more)
		fprintf(stderr, "%lld more edges of kind %u are told than there are\n",
			(long long)more, kind);
	return (uint64_t)(more < 0 ? -more : more);
}

uint64_t crit_told_edges_differences(struct sim_edges *told, struct sim_edges *truth,
				     const struct crit_results *results,
				     uint64_t (*number_of)(uint64_t row))
{
	uint64_t wrong = 0;

	for (size_t i = 0; i < told->count; i++)
		translate(&told->rows[i], results, number_of);
	sim_edges_sort(told);
	sim_edges_sort(truth);
	for (uint32_t kind = 0; kind < CRIT_EDGE_KIND_COUNT; kind++)
		wrong += missing(told, truth, kind);
	for (size_t i = 0; i < told->count && i < truth->count; i++) {
		if (!sim_edges_compare(&told->rows[i], &truth->rows[i]))
			continue;
		if (wrong++ < 2) {
			show("told", &told->rows[i]);
			show("true", &truth->rows[i]);
		}
	}
	return wrong;
}

static void open_files(struct memory_files *files, struct crit_maker *const *makers, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		files->fds[i] = crit_maker_memfd(makers[i]);
		(void)snprintf(files->names[i], sizeof(files->names[i]), "/proc/self/fd/%d",
			       files->fds[i]);
		files->paths[i] = files->names[i];
	}
}

static void close_files(const struct memory_files *files, size_t count)
{
	for (size_t i = 0; i < count; i++)
		close(files->fds[i]);
}

static int analyse(struct crit_maker *const *makers, size_t count,
		   const struct crit_analysis_options *options, struct crit_results **ret_results,
		   struct crit_err *err)
{
	struct memory_files files = { 0 };
	int rc;

	open_files(&files, makers, count);
	rc = crit_analyse(files.paths, count, options, ret_results, err);
	close_files(&files, count);
	return rc;
}

int crit_told_edges_analyse(struct crit_maker *const *makers, size_t count,
			    const struct crit_listener *listener, struct crit_results **ret_results)
{
	const struct crit_analysis_options options = { .listener = listener };
	struct crit_err err = { .text = "" };

	return analyse(makers, count, &options, ret_results, &err);
}

int crit_told_edges_film(struct crit_maker *maker, struct crit_filming *filming,
			 struct crit_results **ret_results)
{
	const struct crit_trace_sink sink = crit_filming_sink(filming);
	const struct crit_listener listener = crit_filming_listener(filming);
	const struct crit_analysis_options options = { .trace = &sink, .listener = &listener };
	struct crit_err err = { .text = "" };

	return analyse(&maker, 1, &options, ret_results, &err);
}

static struct crit_results *listen(struct crit_maker *const *makers, size_t count,
				   const struct crit_listener *listener)
{
	struct crit_results *results = NULL;

	if (crit_told_edges_analyse(makers, count, listener, &results))
		crit_maker_fail("analyse recordings");
	return results;
}

struct crit_results *crit_told_edges_alone(struct crit_maker *const *makers, size_t count,
					   struct sim_edges *ret_told)
{
	const struct crit_listener listener = crit_told_edges_listener(ret_told);

	*ret_told = (struct sim_edges){ 0 };
	return listen(makers, count, &listener);
}

struct crit_results *crit_told_edges_sends(struct crit_maker *maker, struct sim_edges *ret_told)
{
	struct crit_listener listener = crit_told_edges_listener(ret_told);

	listener.on[CRIT_EVENT_EDGE + CRIT_EDGE_RENDEZVOUS] = add;
	*ret_told = (struct sim_edges){ 0 };
	return listen(&maker, 1, &listener);
}

void crit_told_edges_together(struct crit_maker *const *makers, size_t count, uint32_t transport,
			      size_t round_steps, struct sim_edges *ret_told)
{
	struct sim_edges parts[CRIT_TEST_CLUSTER_MAX] = { 0 };
	struct crit_listener listeners[CRIT_TEST_CLUSTER_MAX];
	const struct crit_test_crew crew = { .transport = transport,
					     .round_steps = round_steps,
					     .listeners = listeners,
					     .blind = CRIT_NONE };
	struct crit_results *results = NULL;
	struct memory_files files = { 0 };

	*ret_told = (struct sim_edges){ 0 };
	for (uint32_t i = 0; i < transport; i++)
		listeners[i] = crit_told_edges_listener(&parts[i]);
	open_files(&files, makers, count);
	if (crit_test_crew_analyse(&crew, files.paths, count, &results))
		crit_maker_fail("analyse recordings together");
	close_files(&files, count);
	crit_results_destroy(results);
	for (uint32_t i = 0; i < transport; i++) {
		for (size_t k = 0; k < parts[i].count; k++) {
			if (i && parts[i].rows[k].kind <= CRIT_EDGE_COLLECTIVE)
				crit_maker_fail("hear of messages from process 0 alone");
			sim_edges_add(ret_told, &parts[i].rows[k]);
		}
		sim_edges_fini(&parts[i]);
	}
}
