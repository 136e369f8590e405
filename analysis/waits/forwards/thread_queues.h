/* SPDX-License-Identifier: BSD-3-Clause */
/* When a thread wanted a CPU and had none: the latest stretches alone. */
#ifndef CRIT_THREAD_QUEUES_H
#define CRIT_THREAD_QUEUES_H

#include <stdint.h>

#define CRIT_THREAD_QUEUES_KEPT 4u

struct crit_thread_queues { /* zeroed: none yet */
	struct {
		uint64_t from_ns, until_ns;
	} rows[CRIT_THREAD_QUEUES_KEPT];
	uint32_t at; /* the one that goes on, or comes next */
};

/* A stretch begins, and ends; each at or after what was told before. */
static inline void crit_thread_queues_begin(struct crit_thread_queues *queues, uint64_t now_ns)
{
	queues->rows[queues->at].from_ns = now_ns;
	queues->rows[queues->at].until_ns = now_ns;
}

static inline void crit_thread_queues_end(struct crit_thread_queues *queues, uint64_t now_ns)
{
	queues->rows[queues->at].until_ns = now_ns;
	queues->at = (queues->at + 1) % CRIT_THREAD_QUEUES_KEPT;
}

/* How long it had no CPU since a time, ns; without the stretch that goes on. */
uint64_t crit_thread_queues_since(const struct crit_thread_queues *queues, uint64_t since_ns);

#endif
