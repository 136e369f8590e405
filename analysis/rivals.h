/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who took the CPU of a thread that had work to do.
 *
 * A preemption begins a stretch in which the thread is runnable.  When it runs again, the stretch
 * is charged to the one who came onto the CPU and the one who gave it back, half each: whoever
 * keeps the CPU long is one of them.  Preempted while it waits, a thread loses nothing.
 */
#ifndef CRIT_RIVALS_H
#define CRIT_RIVALS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/results.h"
#include "core/abi_kernel.h"

#define CRIT_RIVALS_EACH 64u /* of one thread; those beyond are one */

struct crit_rival {
	struct crit_rival_row row; /* thread and by_thread are lives here */
	uint32_t next; /* of the same thread, 0 none; numbers are index + 1 */
};

struct crit_rivalry { /* a stretch that goes on */
	uint64_t since_ns;
	uint32_t number; /* of the row it is charged to, 0: none goes on */
	uint16_t cpu; /* the one that was taken */
};

struct crit_rivals {
	struct crit_rival *rows;
	size_t count, capacity;
	uint32_t *firsts; /* by life, 0 none */
};

/* Errors: -ENOMEM. */
int crit_rivals_init(struct crit_rivals *rivals, size_t life_count);
void crit_rivals_fini(struct crit_rivals *rivals);

/*
 * The number of a thread's row for who took its CPU or gave it back; by_life: a member, or
 * CRIT_NONE.  Errors: -ENOMEM.
 */
int crit_rivals_number(struct crit_rivals *rivals, uint32_t life, uint32_t by_life,
		       const struct crit_kernel_taken *taken, uint32_t *ret_number);

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
