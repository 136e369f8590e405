/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Delay: what a thread that came last did longer than the others who waited for it there, since
 * each of them was there before.
 *
 * At a meeting, a barrier of a team or a collective operation in which all need all, of n members,
 * of which i did code k for t_i(k) since its previous meeting at the same place (the communicator,
 * the team), the late one L has
 *
 *     x(k) = t_L(k) - 1/n sum over i of t_i(k)
 *
 * which is added up over all meetings that L came last to in one call, before its positive part is
 * taken: so it does not matter how short the steps are.  Where the sum over k is more than the
 * others waited for L there, in the mean, x is made as much smaller: they lost the rest elsewhere.
 * Of all codes of L together no more counts than these sums over k, where they are above 0: who did
 * one code longer and another one shorter, or has a code that others have by another name, was not
 * late by all of the first.
 *
 * Time without a CPU is a key of its own, time in waits is none: who was late because it waited is
 * not late by its code.  Who slept for another thread did what that did; it is that one's delay, if
 * no bucket of the late one's own has the code.  Where nobody waits for the last one there is no
 * delay.  What a primary thread did before the fork does not count at its team's first barrier.
 *
 * A message in MPI, or a root's data, for which one waits is a meeting of these two, since both had
 * one before.  All neighbours wait for the same code, and so may they at the next meeting: of each
 * code of a thread that counts which tells most of it, its meetings or one of its partners.
 *
 * Source: Boehme et al., Identifying the root causes of wait states in large-scale parallel
 * applications, 2010; there for each wait state by itself.
 *
 * Memory: the last stretches of each thread (thread_profile.h), meetings that not all have come to,
 * pairs of threads, at most CRIT_DELAY_PAIRS_MAX.
 */
#ifndef CRIT_DELAYS_H
#define CRIT_DELAYS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/waits/code_keys.h"
#include "analysis/waits/film/film.h"

struct crit_delay_options {
	uint64_t begin_ns; /* of the window */
	size_t thread_count;
	size_t bucket_count;
	const struct crit_code_key *keys; /* of each bucket */
	/* of each bucket a number, the same for the same code; CRIT_NONE: a wait, or outside */
	const uint32_t *codes;
};

struct crit_bucket_delay { /* ns */
	double code_ns;
	double cpu_ns; /* for want of a CPU, in the bucket in which the late one came */
};

struct crit_delays {
	/* of each bucket; what a thread has of one code is in one of its buckets of that code */
	struct crit_bucket_delay *buckets;
	/*
	 * What who came last computed longer than the mean of all who met, or the sender than who
	 * waited for its message, in all codes together and as far as it was waited for.
	 */
	double late_ns;
	uint64_t meeting_count; /* that somebody was waited for at */
	uint64_t message_count; /* that somebody waited for */
	uint64_t cut_count; /* of both, where not all that they did is known */
};

/*
 * Reads a resolved film (waits/resolved_film.h).  Ownership: fini by the caller, also after an
 * error.  Errors: -ENOMEM; -EPROTO: it contradicts itself; those of reading.
 */
int crit_delays_find(struct crit_film *film, const struct crit_delay_options *options,
		     struct crit_delays *ret_delays);
void crit_delays_fini(struct crit_delays *delays);

#endif
