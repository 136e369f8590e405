/* SPDX-License-Identifier: BSD-3-Clause */
/* A JSON schema of report.json, made from the table of columns, and a check of reports by it. */
#ifndef CRIT_TESTS_REPORT_SCHEMA_H
#define CRIT_TESTS_REPORT_SCHEMA_H

#include <jansson.h>
#include <stddef.h>

/* Ownership: the caller's. */
json_t *report_schema(void);

/*
 * The first place in value that the schema refuses, "ranks[0].pid: not a number"; "" none.  Knows
 * the key words that report_schema uses.
 */
const char *report_schema_refuses(const json_t *schema, const json_t *value, char *text,
				  size_t text_bytes);

#endif
