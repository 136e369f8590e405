// SPDX-License-Identifier: BSD-3-Clause
// crit-waits: films the recordings of a run, plays the film, and prints who waits for whom.
#include <stdio.h>

#include "analysis/analyse.h"
#include "analysis/waits/filming.h"

#define EDGES_MAX 1000000u

static const char *const part_names[CRIT_PART_COUNT] = {
	[CRIT_PART_SELF] = "self",         [CRIT_PART_NESTED] = "nested",
	[CRIT_PART_TRANSFER] = "transfer", [CRIT_PART_CPU] = "cpu",
	[CRIT_PART_OUTSIDE] = "outside",   [CRIT_PART_UNKNOWN] = "unknown",
};

static void print_parts(const struct crit_cost *row)
{
	for (int part = 0; part < CRIT_PART_COUNT; part++) {
		if (row->cost[part] || row->path_ns[part])
			printf("  %s %.6f path %.6f", part_names[part],
			       1e-9 * (double)row->cost[part], 1e-9 * (double)row->path_ns[part]);
	}
	printf("  direct %.6f\n", 1e-9 * (double)row->direct);
}

static void print_costs(const struct crit_costs *costs, const struct crit_results *results)
{
	for (size_t i = 0; i < results->thread_count; i++) {
		printf("thread %u costs", results->threads[i].tid);
		print_parts(&costs->buckets[i]);
	}
	for (size_t i = 0; i < costs->edge_count; i++) {
		const struct crit_wait_edge *edge = &costs->edges[i];

		if (!edge->count)
			continue;
		printf("edge %u to %u: %llu waits, raw %.6f impact %.6f",
		       results->threads[edge->from].tid, results->threads[edge->to].tid,
		       (unsigned long long)edge->count, 1e-9 * (double)edge->raw_ns,
		       1e-9 * (double)edge->impact);
		for (int part = 0; part < CRIT_PART_COUNT; part++) {
			if (edge->part_ns[part])
				printf(" %s %.6f", part_names[part],
				       1e-9 * (double)edge->part_ns[part]);
		}
		putchar('\n');
	}
	printf("%llu waits, %.6f s; %llu cycles\n", (unsigned long long)costs->wait_count,
	       1e-9 * (double)costs->waiting, (unsigned long long)costs->cycle_count);
}

static int run(struct crit_filming *filming, const char *const *paths, size_t count,
	       struct crit_err *err)
{
	const struct crit_trace_sink sink = crit_filming_sink(filming);
	const struct crit_listener listener = crit_filming_listener(filming);
	const struct crit_analysis_options options = { .trace = &sink, .listener = &listener };
	struct crit_results *results = NULL;
	struct crit_costs costs = { 0 };
	int rc = crit_analyse(paths, count, &options, &results, err);

	if (rc)
		return rc;
	rc = crit_filming_play(filming, EDGES_MAX, &costs, err);
	if (!rc)
		rc = crit_costs_check(&costs, err);
	if (!rc) {
		const struct crit_filming_counts counts = crit_filming_counts(filming);

		print_costs(&costs, results);
		printf("%llu edges of no known wait, %llu acts after their wait\n",
		       (unsigned long long)counts.missed, (unsigned long long)counts.clamped);
	}
	crit_costs_fini(&costs);
	crit_results_destroy(results);
	return rc;
}

int main(int argc, char **argv)
{
	const struct crit_film_options options = { .directory = argc > 1 ? argv[1] : NULL,
						   .max_bytes = 1u << 30 };
	struct crit_filming *filming = NULL;
	struct crit_err err = { "" };
	int rc;

	if (argc < 3) {
		fputs("usage: crit-waits DIRECTORY RECORDING...\n", stderr);
		return 2;
	}
	rc = crit_filming_create(&options, &filming, &err);
	if (!rc)
		rc = run(filming, (const char *const *)argv + 2, (size_t)argc - 2, &err);
	if (rc)
		fprintf(stderr, "crit-waits: %s\n", err.text);
	crit_filming_destroy(filming);
	return rc ? 1 : 0;
}
