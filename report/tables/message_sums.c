// SPDX-License-Identifier: BSD-3-Clause
// Looks up the traffic and the errors of a call, and the size in the middle of a histogram.
#include "report/tables/message_sums.h"

#include <stdio.h>

const struct crit_traffic_row *crit_message_traffic(const struct crit_results *results,
						    uint32_t call)
{
	const struct crit_message_results *messages = &results->messages;

	for (size_t i = 0; i < messages->traffic_count; i++)
		if (messages->traffic[i].call == call)
			return &messages->traffic[i];
	return NULL;
}

uint64_t crit_message_failed(const struct crit_results *results, uint32_t call)
{
	const struct crit_message_results *messages = &results->messages;

	for (size_t i = 0; i < messages->failed_count; i++)
		if (messages->failed[i].call == call)
			return messages->failed[i].count;
	return 0;
}

uint64_t crit_message_bin_max(unsigned int bin)
{
	return bin < 64 ? (1ull << bin) - 1 : UINT64_MAX;
}

unsigned int crit_message_median_bin(const struct crit_volume *volume)
{
	uint64_t half = (volume->count - volume->unknown_count + 1) / 2;
	uint64_t seen = 0;

	for (unsigned int bin = 0; half && bin < CRIT_SIZE_BINS; bin++) {
		seen += volume->sizes[bin];
		if (seen >= half)
			return bin;
	}
	return CRIT_SIZE_BINS;
}

uint64_t crit_message_traced_ns(const struct crit_results *results)
{
	uint64_t until_ns = results->messages.until_ns;

	return until_ns > results->window_begin_ns ? until_ns - results->window_begin_ns : 0;
}

const char *crit_message_median(const struct crit_volume *volume, char *text, size_t text_bytes)
{
	unsigned int bin = crit_message_median_bin(volume);

	if (bin >= CRIT_SIZE_BINS)
		return "-";
	(void)snprintf(text, text_bytes, "%llu", (unsigned long long)crit_message_bin_max(bin));
	return text;
}

bool crit_message_moved(const struct crit_results *results, const struct crit_call_row *call,
			uint64_t *ret_bytes)
{
	const struct crit_traffic_row *traffic = crit_message_traffic(results, call->call);

	*ret_bytes = call->counted_bytes;
	if (traffic)
		*ret_bytes += traffic->sent.bytes + traffic->received.bytes;
	return traffic || *ret_bytes;
}
