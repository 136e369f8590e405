// SPDX-License-Identifier: BSD-3-Clause
// crit-edges: prints how many edges of each kind the replay of some recordings tells.
#include <stdio.h>

#include "analysis/analyse.h"
#include "analysis/schema/results.h"
#include "core/base/err.h"
#include "tests/edges/edge_counts.h"

int main(int argc, char **argv)
{
	struct crit_edge_counts counts = { 0 };
	const struct crit_listener listener = crit_edge_counts_listener(&counts);
	const struct crit_analysis_options options = { .listener = &listener };
	struct crit_results *results;
	struct crit_err err = { .text = "" };

	if (argc < 2) {
		fprintf(stderr, "usage: crit-edges RECORDING...\n");
		return 2;
	}
	if (crit_analyse((const char *const *)argv + 1, (size_t)argc - 1, &options, &results,
			 &err)) {
		fprintf(stderr, "crit-edges: %s\n", err.text);
		return 1;
	}
	for (int kind = CRIT_EDGE_NONE + 1; kind < CRIT_EDGE_PAIR_COUNT; kind++)
		printf("%-10s %llu\n", crit_edge_kind_name((enum crit_edge_kind)kind),
		       (unsigned long long)counts.by_kind[kind]);
	crit_results_destroy(results);
	return 0;
}
