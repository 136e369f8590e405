// SPDX-License-Identifier: BSD-3-Clause
// Listens to all edges of an analysis by one process or several.
#include "tests/edges/told_edges.h"

#include <unistd.h>

#include "core/base/array.h"
#include "core/base/err.h"
#include "tests/lib/check.h"
#include "tests/lib/peers.h"

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

	for (int kind = CRIT_EDGE_NONE + 1; kind < CRIT_EDGE_KIND_COUNT; kind++)
		listener.on[CRIT_EVENT_EDGE + kind] = add;
	return listener;
}

static void translate(struct sim_edge *edge, const struct crit_results *results,
		      uint64_t (*number_of)(uint64_t row))
{
	bool has_communicator = edge->kind == CRIT_EDGE_MESSAGE ||
				edge->kind == CRIT_EDGE_COLLECTIVE;

	if (!CHECK(edge->waiter < results->thread_count && edge->cause < results->thread_count))
		return;
	edge->waiter = results->threads[edge->waiter].tid;
	edge->cause = results->threads[edge->cause].tid;
	if (has_communicator && number_of)
		edge->object = number_of(edge->object);
}

static void check_counts(const struct sim_edges *told, const struct sim_edges *truth)
{
	int64_t more[CRIT_EDGE_KIND_COUNT] = { 0 };

	for (size_t i = 0; i < told->count; i++)
		more[told->rows[i].kind]++;
	for (size_t i = 0; i < truth->count; i++)
		more[truth->rows[i].kind]--;
	for (int kind = 0; kind < CRIT_EDGE_KIND_COUNT; kind++)
		CHECK_MSG(!more[kind], "%lld more edges of kind %d than there are",
			  (long long)more[kind], kind);
}

static void show(const char *what, const struct sim_edge *e)
{
	fprintf(stderr,
		"%s: kind %u call %u, %u waits for %u, %llu to %llu for %llu, of %llx, %llu\n",
		what, e->kind, e->call, e->waiter, e->cause, (unsigned long long)e->begin_ns,
		(unsigned long long)e->end_ns, (unsigned long long)e->cause_ns,
		(unsigned long long)e->object, (unsigned long long)e->number);
}

void crit_told_edges_check(struct sim_edges *told, struct sim_edges *truth,
			   const struct crit_results *results, uint64_t (*number_of)(uint64_t row))
{
	size_t i, wrong = 0;

	for (i = 0; i < told->count; i++)
		translate(&told->rows[i], results, number_of);
	sim_edges_sort(told);
	sim_edges_sort(truth);
	check_counts(told, truth);
	for (i = 0; i < told->count && i < truth->count && wrong < 3; i++) {
		if (CHECK_MSG(!sim_edges_compare(&told->rows[i], &truth->rows[i]),
			      "edge %zu is another one", i))
			continue;
		show("told", &told->rows[i]);
		show("true", &truth->rows[i]);
		wrong++;
	}
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
		(void)close(files->fds[i]);
}

struct crit_results *crit_told_edges_alone(struct crit_maker *const *makers, size_t count,
					   struct sim_edges *ret_told)
{
	const struct crit_listener listener = crit_told_edges_listener(ret_told);
	const struct crit_analysis_options options = { .listener = &listener };
	struct crit_results *results = NULL;
	struct crit_err err = { .text = "" };
	struct memory_files files;

	*ret_told = (struct sim_edges){ 0 };
	open_files(&files, makers, count);
	if (!CHECK_INT_EQ(crit_analyse(files.paths, count, &options, &results, &err), 0))
		exit(1);
	close_files(&files, count);
	return results;
}

void crit_told_edges_together(struct crit_maker *const *makers, size_t count, uint32_t peers,
			      size_t round_steps, struct sim_edges *ret_told)
{
	struct sim_edges parts[CRIT_TEST_PEERS_MAX] = { 0 };
	struct crit_listener listeners[CRIT_TEST_PEERS_MAX];
	const struct crit_test_crew crew = { .peers = peers,
					     .round_steps = round_steps,
					     .listeners = listeners,
					     .blind = CRIT_NONE };
	struct crit_results *results = NULL;
	struct memory_files files;

	*ret_told = (struct sim_edges){ 0 };
	for (uint32_t i = 0; i < peers; i++)
		listeners[i] = crit_told_edges_listener(&parts[i]);
	open_files(&files, makers, count);
	CHECK_INT_EQ(crit_test_crew_analyse(&crew, files.paths, count, &results), 0);
	close_files(&files, count);
	crit_results_destroy(results);
	for (uint32_t i = 0; i < peers; i++) {
		for (size_t k = 0; k < parts[i].count; k++) {
			CHECK(!i || parts[i].rows[k].kind > CRIT_EDGE_COLLECTIVE);
			sim_edges_add(ret_told, &parts[i].rows[k]);
		}
		sim_edges_fini(&parts[i]);
	}
}
