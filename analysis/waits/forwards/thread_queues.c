// SPDX-License-Identifier: BSD-3-Clause
// A ring of the latest stretches.
#include "analysis/waits/forwards/thread_queues.h"

#include <stddef.h>

uint64_t crit_thread_queues_since(const struct crit_thread_queues *queues, uint64_t since_ns)
{
	uint64_t sum_ns = 0;

	for (size_t i = 0; i < CRIT_THREAD_QUEUES_KEPT; i++) {
		const uint64_t begin_ns = queues->rows[i].from_ns;
		const uint64_t until_ns = queues->rows[i].until_ns;
		const uint64_t from_ns = begin_ns > since_ns ? begin_ns : since_ns;

		sum_ns += until_ns > from_ns ? until_ns - from_ns : 0;
	}
	return sum_ns;
}
