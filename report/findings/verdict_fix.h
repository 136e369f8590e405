/* SPDX-License-Identifier: BSD-3-Clause */
/* The code that gains most where it is balanced. */
#ifndef CRIT_VERDICT_FIX_H
#define CRIT_VERDICT_FIX_H

#include "report/tables/summary.h"

/*
 * " in smooth (solver.c)", and what is foretold for it.  False, and "": no single place gains
 * nearly as much as all code does, or records are missing.
 */
bool crit_verdict_fix(const struct crit_summary *summary, char *text, size_t text_bytes,
		      double *ret_gain_s);

/*
 * Balance, also in each step, could end the run sooner by so much at most, by what those who came
 * late to their meetings and messages had computed longer; INFINITY: that is not known or not much
 * less than lost.gain_s, or the ranks lacked CPUs, which makes who computes longer later than that.
 */
double crit_verdict_late_gain(const struct crit_summary *summary);

/*
 * Would the run end sooner by so much with CPUs for all of its threads?  True: that is not known.
 * Who waits for another one may have no CPU meanwhile at no cost.
 */
bool crit_verdict_cpus_gain(const struct crit_summary *summary, double least_s);

#endif
