/* SPDX-License-Identifier: BSD-3-Clause */
/* What several writers need to say of messages and collectives. */
#ifndef CRIT_CLI_MESSAGES_H
#define CRIT_CLI_MESSAGES_H

#include <stdio.h>

#include "report/tables/summary.h"

/* The traffic of a call, NULL: it moved nothing that is known. */
const struct crit_traffic_row *crit_messages_traffic(const struct crit_results *results,
						     uint32_t call);

/* How often a call returned an error, as far as level trace reached. */
uint64_t crit_messages_failed(const struct crit_results *results, uint32_t call);

/* The largest size in a bin. */
uint64_t crit_messages_bin_max(unsigned int bin);

/* The bin of a volume's median size; CRIT_SIZE_BINS without any. */
unsigned int crit_messages_median_bin(const struct crit_volume *volume);

/* The largest size in it as text, "-" without any. */
const char *crit_messages_median(const struct crit_volume *volume, char *text, size_t text_bytes);

/* Did a call move anything that is known, and how much? */
bool crit_messages_moved(const struct crit_results *results, const struct crit_call_row *call,
			 uint64_t *ret_bytes);

/* How long after the window's begin every span was recorded. */
uint64_t crit_messages_traced_ns(const struct crit_results *results);

/*
 * ", where it arrives last in 97 % of cases, 20.0 ms after the mean", when a rank comes last at a
 * call more often than all others together; else "".
 */
void crit_messages_say_last(const struct crit_results *results, uint32_t call, uint32_t rank_row,
			    char *text, size_t text_bytes);

/* The tables of report.txt. */
void crit_messages_write_details(FILE *out, const struct crit_summary *summary);

#endif
