/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blame: charges the waiting time in each MPI call to the ranks that are active meanwhile.
 *
 * While W_c threads wait in call c and n are active, rank r with a_r active threads is charged
 * dt * W_c * a_r / n.  With Q_c = integral of W_c dt/n, that is the integral of a_r dQ_c: Q_c is
 * brought up to date when W_c changes, the charge of (c, r) when a_r does.
 * Cost: O(calls) when W_c begins or ends to be 0, O(1) when it changes else; O(calls waited in
 * since the rank was last settled) when a_r does.
 */
#ifndef CRIT_BLAME_H
#define CRIT_BLAME_H

#include <stdint.h>

#include "analysis/schema/results.h"

#define CRIT_BLAME_CALLS 1024u /* more than there are */

struct crit_blame_cell { /* of one call and one rank */
	crit_fix charge;
	crit_fix mark; /* Q of the call when last looked at */
};

struct crit_blame_call {
	uint32_t waiting; /* W */
	crit_fix quantity; /* Q */
	crit_fix mark; /* integral of dt/n when last looked at */
	uint64_t end; /* which settlement is the first behind the last wait */
	struct crit_blame_cell *cells; /* by rank */
};

struct crit_blame {
	struct crit_blame_call calls[CRIT_BLAME_CALLS];
	uint32_t call_count;
	uint16_t slots[CRIT_BLAME_CALLS]; /* call -> index into calls plus 1, 0 never waited in */
	uint16_t order[CRIT_BLAME_CALLS]; /* indices: waited in now, then the latest end first */
	uint32_t waited_count; /* of the first kind */
	uint64_t settlements;
	uint64_t *settled; /* by rank: its last one */
	uint32_t rank_count; /* below 2 nothing is followed */
};

void crit_blame_init(struct crit_blame *blame, uint32_t rank_count);
void crit_blame_fini(struct crit_blame *blame);

/* step more threads wait in a call now; integral is that of dt/n.  Errors: -ENOMEM. */
int crit_blame_wait(struct crit_blame *blame, uint32_t call, int step, crit_fix integral);

/* A rank had `active` active threads until now. */
void crit_blame_settle(struct crit_blame *blame, uint32_t rank, uint32_t active, crit_fix integral);

/*
 * Another time slice: its integral begins at 0, and nobody waits yet.  Ranks must be
 * settled.
 */
void crit_blame_restart(struct crit_blame *blame);

/* Adds what others have charged.  Errors: -ENOMEM. */
int crit_blame_add(struct crit_blame *blame, uint32_t call, uint32_t rank, crit_fix charge);

/* The rank charged most for a call; -1 none.  Ranks must be settled. */
int64_t crit_blame_top(const struct crit_blame *blame, uint32_t call);

#endif
