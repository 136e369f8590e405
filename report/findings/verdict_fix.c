// SPDX-License-Identifier: BSD-3-Clause
// Names one place only where balancing it does nearly all that balance can.
#include "report/findings/verdict_fix.h"

#include <math.h>
#include <stdio.h>

#include "report/causes/cause_rows.h"
#include "report/fixes/fix_words.h"

#define LEAST_OF_ALL 0.8 /* of what balancing all code gains */
#define LEAST_OF_BOUND 0.5 /* of what balance could gain at most, for that, if nobody stands out */
#define LEAST_OF_LATE                                                                              \
	0.75 /* of the same, and of what who was late had computed longer, if one does */
#define LEAST_RATIO 0.01 /* of the window */
#define MUCH_LESS 0.8 /* than the bound without it; nearer to that it tells nothing more */
#define MOST_CUT 0.1 /* of meetings and messages, of which not all that was computed is known */
#define SHORT_RATIO 0.05 /* of the window, from which on short CPUs make late */
#define FUNCTION_OF_PLACE 0.9 /* a function says more than the calls around it */

/* Is the film of the waits whole? */
static bool is_known(const struct crit_summary *summary)
{
	const struct crit_losses *losses = &summary->results->losses;

	return summary->fixes && summary->causes &&
	       summary->causes->costs->window_ns >= summary->results->window_ns &&
	       !losses->kernel_records && !losses->shim_spans && !losses->missing_chunks &&
	       !losses->corrupt_chunks && !losses->truncated_bytes;
}

/* Rows come by gain: the first one is the best of its sort. */
static const struct crit_fix_row *best_of(const struct crit_fix_table *fixes,
					  enum crit_fix_kind kind, bool is_function)
{
	for (size_t i = 0; i < fixes->row_count; i++)
		if (fixes->rows[i].kind == kind &&
		    crit_fix_is_of_function(&fixes->rows[i]) == is_function)
			return &fixes->rows[i];
	return NULL;
}

/*
 * Is it known who came late, and what all had computed until then?  Where ranks lack CPUs who
 * computes longer is later than that.
 */
static bool is_late_known(const struct crit_summary *summary)
{
	const struct crit_lost_time *lost = &summary->lost;
	const struct crit_cause_table *causes = summary->causes;

	return summary->unit == CRIT_UNIT_RANKS && causes->met_count > 0 &&
	       (double)causes->cut_count <= MOST_CUT * (double)causes->met_count &&
	       lost->loss_s[CRIT_LOSS_CPUS] < SHORT_RATIO * lost->window_s;
}

/* Work that is even altogether, and uneven in each step by turns, gains by balance in each step. */
static bool is_by_steps(const struct crit_summary *summary, const struct crit_fix_row *all)
{
	return !summary->lost.named_count &&
	       (double)all->gain_ns < LEAST_OF_BOUND * 1e9 * summary->lost.gain_s;
}

/*
 * Where somebody is named who was late may still have been so by more than a place gains: by turns,
 * or as ranks of other roles do the same code between other calls.
 */
static bool is_by_more(const struct crit_summary *summary, double foretold_s)
{
	const double late_s = 1e-9 * summary->causes->late_ns;

	return summary->lost.named_count && is_late_known(summary) &&
	       foretold_s < LEAST_OF_LATE * fmin(summary->lost.gain_s, late_s);
}

/*
 * How much later than the mean those came to their meetings who were late by a place.  The forecast
 * balances sums over the run; where others are late in some of the steps, balance in each of these
 * gains more.
 */
static double late_s(const struct crit_cause_table *causes, const struct crit_code_place *place)
{
	double sum_ns = 0;

	for (size_t i = 0; i < causes->row_count; i++) {
		const struct crit_cause_row *row = &causes->rows[i];

		if (row->place == place && row->has_delay && !row->is_cpu && !row->is_blocked)
			sum_ns += row->delay_ns;
	}
	return 1e-9 * sum_ns;
}

bool crit_verdict_fix(const struct crit_summary *summary, char *text, size_t text_bytes,
		      double *ret_gain_s)
{
	const struct crit_fix_row *all, *best, *function;
	char what[CRIT_CAUSE_WHAT_BYTES];
	double foretold_s;

	text[0] = '\0';
	if (!is_known(summary))
		return false;
	all = best_of(summary->fixes, CRIT_FIX_ALL_BALANCED, false);
	best = best_of(summary->fixes, CRIT_FIX_BALANCED, false);
	function = best_of(summary->fixes, CRIT_FIX_BALANCED, true);
	if (!all || !best || (double)best->gain_ns < LEAST_OF_ALL * (double)all->gain_ns ||
	    is_by_steps(summary, all) ||
	    (double)best->gain_ns < LEAST_RATIO * (double)summary->results->window_ns)
		return false;
	foretold_s = late_s(summary->causes, best->place);
	if (is_by_more(summary, fmax(foretold_s, 1e-9 * (double)best->gain_ns)))
		return false;
	if (function && (double)function->gain_ns >= FUNCTION_OF_PLACE * (double)best->gain_ns)
		best = function;
	*ret_gain_s = fmax(foretold_s, 1e-9 * (double)best->gain_ns);
	(void)snprintf(text, text_bytes, " %s", crit_code_place_text(best->place, what));
	return true;
}

double crit_verdict_late_gain(const struct crit_summary *summary)
{
	const struct crit_fix_row *all;
	double gain_s;

	if (!is_known(summary) || !is_late_known(summary) ||
	    crit_fix_is_unsure(summary->causes->costs))
		return INFINITY;
	all = best_of(summary->fixes, CRIT_FIX_ALL_BALANCED, false);
	gain_s = 1e-9 * fmax(summary->causes->late_ns, all ? (double)all->gain_ns : 0);
	return gain_s < MUCH_LESS * summary->lost.gain_s ? gain_s : INFINITY;
}

bool crit_verdict_cpus_gain(const struct crit_summary *summary, double least_s)
{
	const struct crit_fix_row *own, *others;

	/* a wait without a known cause lasts as long with any change */
	if (!is_known(summary) || crit_fix_is_unsure(summary->causes->costs))
		return true;
	own = best_of(summary->fixes, CRIT_FIX_NO_OVERSUBSCRIPTION, false);
	others = best_of(summary->fixes, CRIT_FIX_NO_PREEMPTION, false);
	return !own || !others || 1e-9 * (double)(own->gain_ns + others->gain_ns) >= least_s;
}
