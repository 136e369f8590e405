/* SPDX-License-Identifier: BSD-3-Clause */
/* Who had the CPUs that a thread with work to do waited for: its rows, found by who they are. */
#ifndef CRIT_RIVALS_H
#define CRIT_RIVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/schema/results.h"
#include "core/abi/abi_kernel.h"

#define CRIT_RIVALS_EACH 64u /* of one thread; those beyond are one */

struct crit_rival {
	struct crit_rival_row row; /* thread and by_thread are lives here */
	uint32_t next; /* of the same thread, 0 none; numbers are index + 1 */
};

struct crit_occupant { /* who runs on a CPU */
	enum crit_rival_kind kind;
	bool is_told;
	uint32_t life; /* of a member, else CRIT_NONE */
	uint32_t tid; /* of a stranger */
	char name[CRIT_COMM_BYTES]; /* of a stranger */
};

struct crit_queued { /* a thread in the queue of a CPU (analysis/account/engine_queues.h) */
	uint64_t since_ns; /* charged up to there */
	uint32_t before, next; /* lives in that queue, or CRIT_NONE */
	uint16_t cpu;
	bool is_waiting;
	bool is_linked; /* else beyond CRIT_QUEUE_MOST */
	bool is_watched;
};

struct crit_cpu_queue {
	struct crit_occupant occupant; /* since the last switch, as far as told */
	uint32_t first; /* life, or CRIT_NONE */
	uint32_t count;
};

struct crit_node_queues {
	struct crit_cpu_queue *cpus;
	size_t capacity;
};

struct crit_rivals {
	struct crit_rival *rows;
	size_t count, capacity;
	uint32_t *firsts; /* by life, 0 none */
};

/* Errors: -ENOMEM. */
int crit_rivals_init(struct crit_rivals *rivals, size_t life_count);
void crit_rivals_fini(struct crit_rivals *rivals);

/* The number of a thread's row for who has its CPU.  Errors: -ENOMEM. */
int crit_rivals_number(struct crit_rivals *rivals, uint32_t life, const struct crit_occupant *by,
		       uint32_t *ret_number);

static inline void crit_rivals_count(struct crit_rivals *rivals, uint32_t number)
{
	rivals->rows[number - 1].row.count++;
}

static inline void crit_rivals_charge(struct crit_rivals *rivals, uint32_t number, uint64_t lost_ns)
{
	rivals->rows[number - 1].row.lost_ns += lost_ns;
}

/* Takes a row of a thread that has none of that kind here.  Errors: -ENOMEM. */
int crit_rivals_add(struct crit_rivals *rivals, const struct crit_rival_row *row);

/* Puts the rows into results; thread_rows maps lives.  Errors: -ENOMEM. */
int crit_rivals_fill(const struct crit_rivals *rivals, const uint32_t *thread_rows,
		     struct crit_results *results);

#endif
