// SPDX-License-Identifier: BSD-3-Clause
// How many CPUs each node has, whose threads are where, and the simulation of both.
#include "report/fixes/fix_cpus.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/whatif/cpu_sharing.h"
#include "core/base/cleanup.h"

#define STEPS_MAX 50000000u /* 0.8 GB */

/* Of each node.  Errors: -ENODATA. */
static int count_cpus(const struct crit_results *results, const struct crit_fix_wishes *wishes,
		      double *cpus, struct crit_err *err)
{
	for (size_t i = 0; i < results->node_count; i++) {
		const struct crit_node_row *node = &results->nodes[i];

		cpus[i] = wishes->cpus            ? wishes->cpus
			  : node->usable_cpus > 0 ? node->usable_cpus
						  : node->cpu_count;
		if (cpus[i] <= 0)
			return crit_err_set(err, -ENODATA,
					    "the recording does not tell how many CPUs node %s "
					    "has; say so with --cpus=N",
					    node->host);
	}
	return 0;
}

static int make_steps(const struct crit_fix_input *input, uint32_t *nodes,
		      struct crit_run_steps *ret_steps, struct crit_err *err)
{
	const struct crit_forecast_options *filmed = &input->run->options;
	const struct crit_run_steps_options options = { .begin_ns = filmed->begin_ns,
							.thread_count = filmed->thread_count,
							.bucket_count = filmed->bucket_count,
							.node_count = input->results->node_count,
							.thread_nodes = nodes,
							.outside = filmed->outside,
							.steps_max = STEPS_MAX };

	for (size_t i = 0; i < filmed->thread_count; i++)
		nodes[i] = input->results->threads[i].node;
	crit_film_rewind(input->run->film);
	return crit_run_steps_make(input->run->film, &options, ret_steps, err);
}

int crit_fix_cpus_play(const struct crit_fix_input *input, const struct crit_fix_wishes *wishes,
		       const struct crit_scenario *scenario, struct crit_forecast *ret_forecast,
		       struct crit_err *err)
{
	const size_t node_count = input->results->node_count;
	crit_autofree double *cpus = calloc(node_count + 1, sizeof(*cpus));
	crit_autofree uint32_t *nodes =
		calloc(input->run->options.thread_count + 1, sizeof(*nodes));
	const struct crit_cpu_sharing_options options = { .node_cpus = cpus,
							  .scenario = *scenario,
							  .do_waiters_block =
								  wishes->do_waiters_block };
	struct crit_run_steps steps = { 0 };
	int rc;

	*ret_forecast = (struct crit_forecast){ .end_ns = calloc(1, sizeof(uint64_t)),
						.order_changes = calloc(1, sizeof(uint64_t)) };
	if (!cpus || !nodes || !ret_forecast->end_ns || !ret_forecast->order_changes)
		return crit_err_set(err, -ENOMEM, "out of memory");
	rc = count_cpus(input->results, wishes, cpus, err);
	if (!rc)
		rc = make_steps(input, nodes, &steps, err);
	if (rc)
		return rc;
	ret_forecast->recorded_ns = steps.recorded_ns;
	rc = crit_cpu_sharing_play(&steps, &options, ret_forecast->end_ns,
				   &ret_forecast->circle_count);
	crit_run_steps_fini(&steps);
	return rc ? crit_err_set(err, rc, "out of memory") : 0;
}
