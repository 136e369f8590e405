/* SPDX-License-Identifier: BSD-3-Clause */
/* Preemptors: the tasks that ran on the CPU a runnable thread waited for, and how long. */
#ifndef CRIT_PREEMPTORS_H
#define CRIT_PREEMPTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/schema/results.h"
#include "core/abi/abi_kernel.h"

#define CRIT_PREEMPTORS_EACH 64u /* of one thread; those beyond are one */

struct crit_preemptor {
	struct crit_preemptor_row row; /* thread and by_thread are threads of the model here */
	uint32_t next; /* of the same thread, 0 none; numbers are index + 1 */
};

struct crit_occupant { /* who runs on a CPU */
	enum crit_preemptor_kind kind;
	bool is_told;
	uint32_t thread; /* of a member, else CRIT_NONE */
	uint32_t tid; /* of a stranger */
	char name[CRIT_COMM_BYTES]; /* of a stranger */
};

struct crit_queued { /* a thread in the queue of a CPU (analysis/account/engine_queues.h) */
	uint64_t since_ns; /* charged up to there */
	uint32_t before, next; /* threads in that queue, or CRIT_NONE */
	uint16_t cpu;
	bool is_waiting;
	bool is_linked; /* else beyond CRIT_QUEUE_MOST */
	bool is_watched;
};

struct crit_cpu_queue {
	struct crit_occupant occupant; /* since the last switch, as far as told */
	uint32_t first; /* thread, or CRIT_NONE */
	uint32_t count;
};

struct crit_node_queues {
	struct crit_cpu_queue *cpus;
	size_t capacity;
};

struct crit_preemptors {
	struct crit_preemptor *rows;
	size_t count, capacity;
	uint32_t *firsts; /* by thread, 0 none */
};

/* Errors: -ENOMEM. */
int crit_preemptors_init(struct crit_preemptors *preemptors, size_t thread_count);
void crit_preemptors_fini(struct crit_preemptors *preemptors);

/* The number of a thread's row for who has its CPU.  Errors: -ENOMEM. */
int crit_preemptors_number(struct crit_preemptors *preemptors, uint32_t thread,
			   const struct crit_occupant *by, uint32_t *ret_number);

static inline void crit_preemptors_count(struct crit_preemptors *preemptors, uint32_t number)
{
	preemptors->rows[number - 1].row.count++;
}

static inline void crit_preemptors_charge(struct crit_preemptors *preemptors, uint32_t number,
					  uint64_t lost_ns)
{
	preemptors->rows[number - 1].row.lost_ns += lost_ns;
}

/* Takes a row of a thread that has none of that kind here.  Errors: -ENOMEM. */
int crit_preemptors_add(struct crit_preemptors *preemptors, const struct crit_preemptor_row *row);

/* Puts the rows into results; thread_rows maps threads.  Errors: -ENOMEM. */
int crit_preemptors_fill(const struct crit_preemptors *preemptors, const uint32_t *thread_rows,
			 struct crit_results *results);

#endif
