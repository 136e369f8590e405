// SPDX-License-Identifier: BSD-3-Clause
// Frees the results of an analysis.
#include "analysis/schema/results.h"

#include <stdlib.h>

void crit_results_destroy(struct crit_results *results)
{
	if (!results)
		return;
	free(results->hosts.names);
	free(results->nodes);
	free(results->ranks);
	free(results->threads);
	free(results->awaits);
	free(results->calls);
	free(results->call_sites);
	free(results->rank_calls);
	free(results->checks);
	free(results->preemptors);
	free(results->ends);
	free(results->regions.rows);
	free(results->regions.parts);
	free(results->messages.traffic);
	free(results->messages.failed);
	free(results->messages.pairs);
	free(results->messages.communicators);
	free(results->messages.collectives);
	free(results->messages.lasts);
	free(results->blocks.cells);
	free(results->blocks.paths);
	free(results->blocks.last_waits);
	free(results->samples.rows);
	free(results->samples.not_sampled);
	free(results->samples.paths);
	for (size_t i = 0; i < results->samples.path_file_count; i++)
		free(results->samples.path_files[i]);
	free(results->samples.path_files);
	free(results);
}
