/* SPDX-License-Identifier: BSD-3-Clause */
/* What report.json says of messages, communicators and collectives. */
#ifndef CRIT_JSON_MESSAGES_H
#define CRIT_JSON_MESSAGES_H

#include <jansson.h>

#include "report/tables/summary.h"

/* The member "messages".  Ownership: the caller's. */
json_t *crit_json_messages(const struct crit_summary *summary);

/* Adds bytes, sent and received to a row of mpi_calls. */
void crit_json_call_traffic(json_t *row, const struct crit_results *results,
			    const struct crit_call_row *call);

#endif
