/* SPDX-License-Identifier: BSD-3-Clause */
/* The member nodes of report.json, and the times that all rows of it have. */
#ifndef CRIT_JSON_NODES_H
#define CRIT_JSON_NODES_H

#include <jansson.h>

#include "report/tables/summary.h"

/* Where the time of a thread, a rank or a node went. */
void crit_json_usage(json_t *row, const struct crit_cells *cells);
void crit_json_earnings(json_t *row, const struct crit_earnings *run, enum crit_unit unit);

json_t *crit_json_nodes(const struct crit_summary *summary);

#endif
