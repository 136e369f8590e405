// SPDX-License-Identifier: BSD-3-Clause
// bench-analysis: times crit_analyse() over given recordings and prints its rate and peak memory.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "analysis/analyse.h"
#include "core/base/err.h"

static double now_s(clockid_t clock)
{
	struct timespec t;

	(void)clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One line per round: JSON, so that a bench script needs no parser of its own. */
static int run_once(const char *const *paths, size_t count)
{
	struct crit_analysis_options options = { .rule = CRIT_ACTIVE_DEFAULT };
	double wall_s = now_s(CLOCK_MONOTONIC), cpu_s = now_s(CLOCK_PROCESS_CPUTIME_ID);
	struct crit_results *results;
	struct crit_err err;
	struct rusage usage;
	uint64_t events = 0;
	double error = 0;
	int rc = crit_analyse(paths, count, &options, &results, &err);

	if (rc) {
		fprintf(stderr, "bench-analysis: %s\n", err.text);
		return 1;
	}
	wall_s = now_s(CLOCK_MONOTONIC) - wall_s;
	cpu_s = now_s(CLOCK_PROCESS_CPUTIME_ID) - cpu_s;
	for (size_t i = 0; i < results->node_count; i++)
		events += results->nodes[i].kernel_record_count + results->nodes[i].slot_count;
	for (size_t i = 0; i < results->check_count; i++)
		if (results->checks[i].error_ratio > error)
			error = results->checks[i].error_ratio;
	(void)getrusage(RUSAGE_SELF, &usage);
	printf("{\"events\": %llu, \"wall_s\": %.4f, \"cpu_s\": %.4f, \"events_per_cpu_s\": %.4g, "
	       "\"peak_rss_kib\": %ld, \"page_faults\": %ld, \"law_error_ratio\": %.3g}\n",
	       (unsigned long long)events, wall_s, cpu_s, (double)events / cpu_s, usage.ru_maxrss,
	       usage.ru_minflt, error);
	crit_results_destroy(results);
	return 0;
}

int main(int argc, char **argv)
{
	int rounds = 1;

	if (argc > 2 && !strcmp(argv[1], "-k")) {
		rounds = (int)strtol(argv[2], NULL, 10);
		argv += 2;
		argc -= 2;
	}
	if (argc < 2 || rounds < 1) {
		fputs("usage: bench-analysis [-k ROUNDS] RECORDING...\n", stderr);
		return 2;
	}
	while (rounds--)
		if (run_once((const char *const *)argv + 1, (size_t)argc - 1))
			return 1;
	return 0;
}
