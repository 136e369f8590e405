/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over the messages of a call, as several formats show them. */
#ifndef CRIT_MESSAGE_SUMS_H
#define CRIT_MESSAGE_SUMS_H

#include "analysis/schema/results.h"

/* The traffic of a call, NULL: it moved nothing that is known. */
const struct crit_traffic_row *crit_message_traffic(const struct crit_results *results,
						    uint32_t call);

/* How often a call returned an error, as far as level trace reached. */
uint64_t crit_message_failed(const struct crit_results *results, uint32_t call);

/* The largest size in a bin. */
uint64_t crit_message_bin_max(unsigned int bin);

/* The bin of a volume's median size; CRIT_SIZE_BINS without any. */
unsigned int crit_message_median_bin(const struct crit_volume *volume);

/* The largest size in it as text, "-" without any. */
const char *crit_message_median(const struct crit_volume *volume, char *text, size_t text_bytes);

/* Did a call move anything that is known, and how much? */
bool crit_message_moved(const struct crit_results *results, const struct crit_call_row *call,
			uint64_t *ret_bytes);

/* How long after the window's begin every span was recorded. */
uint64_t crit_message_traced_ns(const struct crit_results *results);

#endif
