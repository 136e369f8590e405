/* SPDX-License-Identifier: BSD-3-Clause */
/* Causes, pairs and knots as one object of JSON, crit-waits/1; crit-waits(1) has its keys. */
#ifndef CRIT_WAITS_JSON_H
#define CRIT_WAITS_JSON_H

#include <stdio.h>

#include "report/graph/wait_graph.h"
#include "report/tables/summary.h"

/* Range: a summary of the results of the graph.  Errors: -ENOMEM, -EIO. */
int crit_waits_json_write(FILE *out, const struct crit_wait_graph *graph,
			  const struct crit_summary *summary);

#endif
