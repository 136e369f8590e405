// SPDX-License-Identifier: BSD-3-Clause
// Puts into one sentence where most time is lost, and whose work stands out.
#include "report/findings/verdict.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/call.h"
#include "report/causes/cause_words.h"
#include "report/causes/stalled_threads.h"
#include "report/findings/preempted.h"
#include "report/findings/verdict_cause.h"
#include "report/findings/verdict_excess.h"
#include "report/findings/verdict_fix.h"
#include "report/findings/verdict_hot.h"
#include "report/findings/verdict_where.h"
#include "report/tables/labels.h"

#define WORTH_SAYING_RATIO 0.05 /* of the window */
#define GAIN_WORTH_SAYING_RATIO 0.01
#define LEAST_WINDOW_S 0.2
#define MOST_LOST_RATIO 0.2
#define LEAST_OF_MOST 0.2 /* of the largest loss: no other one is the finding */
#define UNEVEN_BALANCE_RATIO 0.95
#define STANDSTILL_RATIO 0.5 /* of the time that nobody is active, where it may be no deadlock */
#define SERIAL_RATIO 0.5 /* of imbalance, which a serial part explains then */

static void append(struct crit_summary *summary, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void append(struct crit_summary *summary, const char *format, ...)
{
	size_t used = strlen(summary->sentence);
	va_list args;

	va_start(args, format);
	(void)vsnprintf(summary->sentence + used, sizeof(summary->sentence) - used, format, args);
	va_end(args);
}

static const char *unit_name(const struct crit_summary *summary)
{
	return summary->unit == CRIT_UNIT_RANKS ? "rank" : "thread";
}

static double percent_of_window(const struct crit_summary *summary, double seconds)
{
	return 100 * seconds / summary->lost.window_s;
}

static const struct crit_call_row *most(const struct crit_summary *summary, bool by_all_waiting)
{
	const struct crit_results *results = summary->results;
	const struct crit_call_row *best = NULL;
	double best_s = 0;

	for (size_t i = 0; i < results->call_count; i++) {
		const struct crit_call_row *call = &results->calls[i];
		double value_s =
			by_all_waiting ? crit_fix_seconds(call->run.all_waiting[CRIT_UNIT_THREADS])
				       : (double)call->run.waiting_ns * 1e-9;

		if (value_s > best_s) {
			best_s = value_s;
			best = call;
		}
	}
	return best;
}

/* "8 ranks", "8 threads of 2 ranks". */
static void say_sharers(struct crit_summary *summary)
{
	const struct crit_lost_time *lost = &summary->lost;

	if (summary->unit == CRIT_UNIT_THREADS)
		append(summary, "%zu threads", lost->crowded_threads);
	else if (lost->crowded_threads > lost->crowded_units)
		append(summary, "%zu threads of %zu rank%s", lost->crowded_threads,
		       lost->crowded_units, lost->crowded_units > 1 ? "s" : "");
	else
		append(summary, "%zu ranks", lost->crowded_threads);
}

/* Several share the CPUs of a node; or others have them. */
static void say_cpus(struct crit_summary *summary)
{
	const struct crit_lost_time *lost = &summary->lost;
	const struct crit_node_row *node = &summary->results->nodes[lost->crowded_node];
	double lost_s = lost->loss_s[CRIT_LOSS_CPUS], cpus = crit_lost_time_cpus(node);
	char others[CRIT_OTHERS_SENTENCE];

	if (lost->has_foreign_load) {
		crit_preempted_by_others(summary, others, sizeof(others));
		append(summary, "%s", others);
		return;
	}
	if ((double)lost->crowded_threads <= cpus) {
		append(summary, "waiting for CPUs");
	} else {
		say_sharers(summary);
		append(summary, " share %g %sCPU%s", cpus, node->usable_cpus > 0 ? "" : "online ",
		       cpus == 1 ? "" : "s");
		if (summary->results->node_count > 1)
			append(summary, " on %.64s", node->host);
		append(summary, lost->is_work_known ? ": that" : "");
	}
	if (!lost->is_work_known) {
		append(summary, "; what that costs is not known without the kernel half");
		return;
	}
	append(summary, " costs %.3f s (%.1f%% of the window)", lost_s,
	       percent_of_window(summary, lost_s));
}

/* "ranks 2, 5, 7 and 4 more have up to 1.6 times the mean work". */
static void say_names(struct crit_summary *summary)
{
	const struct crit_lost_time *lost = &summary->lost;
	const struct crit_results *results = summary->results;
	size_t shown = lost->named_count < CRIT_NAMED_MAX ? lost->named_count : CRIT_NAMED_MAX;
	char name[160];

	if (lost->named_count == 1) {
		crit_verdict_unit_name(summary, lost->named[0].row, name, sizeof(name));
		append(summary, "%s has %.1f times the mean work", name, lost->named[0].work_ratio);
		return;
	}
	append(summary, "%ss", unit_name(summary));
	for (size_t i = 0; i < shown; i++) {
		size_t row = lost->named[i].row;
		bool is_last = i + 1 == lost->named_count;

		if (summary->unit == CRIT_UNIT_RANKS)
			(void)crit_rank_label(results, (int32_t)row, name, sizeof(name));
		else
			(void)snprintf(name, sizeof(name), "%u (%.16s)", results->threads[row].tid,
				       results->threads[row].name);
		append(summary, "%s %s", i == 0 ? "" : is_last ? " and" : ",", name);
	}
	if (lost->named_count > shown)
		append(summary, " and %zu more", lost->named_count - shown);
	append(summary, " have up to %.1f times the mean work", lost->named[0].work_ratio);
}

/* ", mostly in smooth solver.c:42": where one that is named works, or works too much. */
static void say_hot(struct crit_summary *summary, size_t unit_row)
{
	char hot[CRIT_HOT_SENTENCE], excess[CRIT_HOT_SENTENCE];
	const bool is_single = crit_verdict_hot(summary, unit_row, hot, sizeof(hot));

	crit_verdict_excess(summary, unit_row, is_single, excess, sizeof(excess));
	append(summary, "%s", excess[0] ? excess : hot);
}

/* False: nobody stands out. */
static bool say_cause(struct crit_summary *summary, const char *before)
{
	char cause[CRIT_CAUSE_SENTENCE];
	size_t unit_row;

	crit_verdict_cause(summary, cause, sizeof(cause), &unit_row);
	if (!cause[0])
		return false;
	if (strstr(summary->sentence, cause)) /* of another loss */
		return true;
	append(summary, "%s%s", before, cause);
	say_hot(summary, unit_row);
	return true;
}

static void say_promise(struct crit_summary *summary)
{
	const struct crit_lost_time *lost = &summary->lost;
	double *gain_s = &summary->promised_s, foretold_s;
	char where[CRIT_CAUSE_WHAT_BYTES];

	if (lost->has_foreign_load) {
		if (lost->is_by_turns && !lost->named_count)
			append(summary, "; they work one after another");
		return;
	}
	summary->has_promise = true;
	*gain_s = lost->is_by_turns ? lost->gain_s
				    : fmin(lost->gain_s, crit_verdict_late_gain(summary));
	if (*gain_s < GAIN_WORTH_SAYING_RATIO * lost->window_s) {
		append(summary, "; balanced, the run would end hardly sooner");
		return;
	}
	if (lost->is_by_turns) {
		append(summary,
		       "; they work one after another, and only side by side the run could end "
		       "sooner, by %.3f s (%.1f%%) at most",
		       *gain_s, percent_of_window(summary, *gain_s));
		return;
	}
	if (crit_verdict_fix(summary, where, sizeof(where), &foretold_s))
		*gain_s = fmin(*gain_s, foretold_s);
	append(summary, "; balanced%s, the run could end at most %.3f s (%.1f%%) sooner", where,
	       *gain_s, percent_of_window(summary, *gain_s));
}

/* "thread 42 (solver) of process 42 works alone for 0.300 s (37.5% of the window), ...". */
static void say_serial(struct crit_summary *summary)
{
	const struct crit_lost_time *lost = &summary->lost;
	char name[160];

	crit_verdict_unit_name(summary, lost->serial_row, name, sizeof(name));
	append(summary,
	       "%s works alone for %.3f s (%.1f%% of the window), while none of the threads that "
	       "it waits for is there",
	       name, lost->serial_s, percent_of_window(summary, lost->serial_s));
}

/* Nobody else was there for half of the waiting or more. */
static bool is_serial(const struct crit_lost_time *lost)
{
	return lost->serial_s * (lost->units - 1) >=
	       SERIAL_RATIO * lost->loss_s[CRIT_LOSS_IMBALANCE] * lost->units;
}

static void say_imbalance(struct crit_summary *summary)
{
	const struct crit_lost_time *lost = &summary->lost;
	const struct crit_call_row *call = most(summary, false);
	/* who waits for a rank of several threads may be one of its own */
	const bool are_threads = summary->unit == CRIT_UNIT_RANKS &&
				 summary->app_threads > summary->results->rank_count;
	double waited_s, lost_s = lost->loss_s[CRIT_LOSS_IMBALANCE];
	char where[640] = "";

	if (lost->named_count) {
		say_names(summary);
		if (lost->named_count == 1)
			say_hot(summary, lost->named[0].row);
		waited_s = crit_verdict_waited(summary, lost->named[0].row);
		if (call)
			crit_verdict_where(summary, lost->named[0].row, call->call, where,
					   sizeof(where));
		if (lost->named_count == 1 && waited_s >= 0.0005)
			append(summary, "; %s wait %.3f s for it (sum over %ss)%s",
			       are_threads ? "threads" : "the others", waited_s,
			       are_threads ? "thread" : unit_name(summary), where);
		if (lost->serial_s >= WORTH_SAYING_RATIO * lost->window_s) {
			append(summary, "; ");
			say_serial(summary);
		}
	} else if (is_serial(lost)) {
		say_serial(summary);
	} else {
		if (call)
			crit_verdict_call_site(summary, call->call, where, sizeof(where));
		append(summary, "%ss wait for each other for %.3f s (%.1f%% of the window)%s%s%s",
		       unit_name(summary), lost_s, percent_of_window(summary, lost_s),
		       call ? ", mostly in " : "", call ? crit_call_name(call->call) : "", where);
		if (!say_cause(summary, ": ") && !lost->is_by_turns)
			append(summary,
			       ": the late %s changes from step to step, or they work one after "
			       "another",
			       unit_name(summary));
	}
	say_promise(summary);
}

static void say_all_waiting(struct crit_summary *summary)
{
	const struct crit_call_row *call = most(summary, true);
	double silent_s = (double)summary->silent_ns * 1e-9;
	double nobody_s = crit_fix_seconds(summary->check->nobody);
	char site[112] = "";

	if (2 * nobody_s > silent_s) {
		append(summary,
		       "for %.3f s (%.1f%% of the window) there is no %s at all, as between "
		       "launches",
		       nobody_s, percent_of_window(summary, nobody_s), unit_name(summary));
		return;
	}
	if (!call) {
		append(summary, "for %.3f s (%.1f%% of the window) no %s is active", silent_s,
		       percent_of_window(summary, silent_s), unit_name(summary));
		return;
	}
	crit_verdict_call_site(summary, call->call, site, sizeof(site));
	append(summary,
	       "communication: for %.3f s (%.1f%% of the window) no %s computes, %.3f s of that "
	       "in %s%s%s",
	       silent_s, percent_of_window(summary, silent_s), unit_name(summary),
	       crit_fix_seconds(call->run.all_waiting[CRIT_UNIT_THREADS]),
	       crit_call_name(call->call), site[0] ? ", mostly" : "", site);
}

static void say_blocked(struct crit_summary *summary)
{
	double lost_s = summary->lost.loss_s[CRIT_LOSS_BLOCKED];
	char calls[CRIT_CAUSE_SENTENCE], mutual[CRIT_CAUSE_SENTENCE];

	append(summary, "%ss are blocked%s for %.3f s (%.1f%% of the window): I/O, locks or sleep",
	       unit_name(summary), summary->results->has_ranks ? " outside MPI" : "", lost_s,
	       percent_of_window(summary, lost_s));
	if (summary->unit == CRIT_UNIT_THREADS) {
		crit_verdict_system_calls(summary, CRIT_NONE, calls, sizeof(calls));
		append(summary, "%s", calls);
	}
	if (summary->unit != CRIT_UNIT_THREADS || summary->lost.named_count ||
	    say_cause(summary, "; "))
		return;
	crit_verdict_mutual(summary, mutual, sizeof(mutual));
	append(summary, "%s", mutual);
}

static void say_library(struct crit_summary *summary)
{
	double lost_s = summary->lost.loss_s[CRIT_LOSS_LIBRARY];

	if (summary->results->rule == CRIT_ACTIVE_DEFAULT)
		append(summary,
		       "MPI itself works for %.3f s (%.1f%% of the window) in calls that do not "
		       "wait",
		       lost_s, percent_of_window(summary, lost_s));
	else
		append(summary,
		       "MPI and OpenMP run for %.3f s (%.1f%% of the window), waits included",
		       lost_s, percent_of_window(summary, lost_s));
}

static const struct {
	void (*say)(struct crit_summary *summary);
	enum crit_verdict kind;
} clauses[CRIT_LOSS_UNKNOWN] = {
	[CRIT_LOSS_CPUS] = { say_cpus, CRIT_VERDICT_CPUS },
	[CRIT_LOSS_IMBALANCE] = { say_imbalance, CRIT_VERDICT_IMBALANCE },
	[CRIT_LOSS_ALL_WAITING] = { say_all_waiting, CRIT_VERDICT_ALL_WAITING },
	[CRIT_LOSS_BLOCKED] = { say_blocked, CRIT_VERDICT_BLOCKED },
	[CRIT_LOSS_LIBRARY] = { say_library, CRIT_VERDICT_LIBRARY },
};

/*
 * Ranks that share CPUs, or lose them to others, are late by turns: no word against anybody.  Who
 * works one after another wants CPUs one after another.
 */
static bool is_evident(const struct crit_lost_time *lost, enum crit_loss loss, unsigned int said)
{
	if (loss == CRIT_LOSS_CPUS)
		return lost->is_short || lost->has_foreign_load;
	return loss != CRIT_LOSS_IMBALANCE || lost->named_count || is_serial(lost) ||
	       lost->is_by_turns ||
	       !(said >> CRIT_LOSS_CPUS & 1 || lost->lacks_cpus || lost->has_foreign_load);
}

/* A loss, with that which is said together with it. */
static double loss_of(const struct crit_summary *summary, enum crit_loss loss)
{
	const double *loss_s = summary->lost.loss_s;
	const bool is_blocked = loss == CRIT_LOSS_BLOCKED;
	char why[CRIT_CAUSE_SENTENCE] = "";

	if (loss == CRIT_LOSS_ALL_WAITING || is_blocked)
		crit_verdict_blocked(summary, is_blocked, why, sizeof(why));
	return why[0] ? loss_s[CRIT_LOSS_ALL_WAITING] + loss_s[CRIT_LOSS_BLOCKED] : loss_s[loss];
}

/* The largest loss that is not said yet; CRIT_LOSS_UNKNOWN: none is worth it. */
static enum crit_loss next_loss(const struct crit_summary *summary, unsigned int said,
				double least_s)
{
	enum crit_loss best = CRIT_LOSS_UNKNOWN;
	double best_s = 0;

	for (int i = 0; i < CRIT_LOSS_UNKNOWN; i++) {
		const double loss_s = loss_of(summary, (enum crit_loss)i);

		if (said >> i & 1 || loss_s < least_s || loss_s <= best_s ||
		    !is_evident(&summary->lost, (enum crit_loss)i, said) ||
		    (i == CRIT_LOSS_CPUS && said && !summary->lost.is_by_turns &&
		     !crit_verdict_cpus_gain(summary, least_s)))
			continue;
		best_s = loss_s;
		best = (enum crit_loss)i;
	}
	return best;
}

static double most_of_losses(const struct crit_lost_time *lost)
{
	double most_s = 0;

	for (int i = 0; i < CRIT_LOSS_UNKNOWN; i++)
		most_s = fmax(most_s, lost->loss_s[i]);
	return most_s;
}

static double sum_of_losses(const struct crit_lost_time *lost)
{
	double sum_s = 0;

	for (int i = 0; i < CRIT_LOSS_COUNT; i++)
		sum_s += lost->loss_s[i];
	return sum_s;
}

/* What is lost, where nothing tells whether short CPUs or others are the reason. */
static void say_unclear(struct crit_summary *summary)
{
	const struct crit_lost_time *lost = &summary->lost;
	const double cpus_s = lost->loss_s[CRIT_LOSS_CPUS];
	const double others_s = lost->loss_s[CRIT_LOSS_IMBALANCE];

	if (cpus_s + others_s >= WORTH_SAYING_RATIO * lost->window_s)
		append(summary,
		       "; %ss wait for CPUs for %.3f s and for each other for %.3f s, and which of "
		       "these makes the other is not known",
		       unit_name(summary), cpus_s, others_s);
}

/* is_beside: beside a loss.  False: work is not of one unit alone that others wait for. */
static bool say_single(struct crit_summary *summary, bool is_beside)
{
	char single[CRIT_CAUSE_SENTENCE];
	double waited_s;

	crit_verdict_single(summary, is_beside, single, sizeof(single), &waited_s);
	if (!single[0])
		return false;
	append(summary, "%s%s", is_beside ? "; " : "", single);
	say_hot(summary, summary->lost.most_row);
	append(summary, ", and others wait %.3f s for it (sum over %ss)", waited_s,
	       unit_name(summary));
	return true;
}

static void say_even(struct crit_summary *summary)
{
	const struct crit_lost_time *lost = &summary->lost;

	summary->verdict = CRIT_VERDICT_EVEN;
	if (!crit_verdict_is_single(summary)) {
		append(summary, "no %s stands out: %.1f%% of the window is useful work",
		       unit_name(summary), percent_of_window(summary, lost->useful_s));
		say_unclear(summary);
	} else if (!say_single(summary, false)) {
		append(summary,
		       "there is one %s only, so nobody else is held up; it is active for %.3f s "
		       "of %.3f s",
		       unit_name(summary), summary->cmetric_s, lost->window_s);
	}
}

/* Yields what is said by it: bits of losses. */
static unsigned int say_loss(struct crit_summary *summary, enum crit_loss loss)
{
	const unsigned int all_waiting = 1u << CRIT_LOSS_ALL_WAITING;
	const bool is_blocked = loss == CRIT_LOSS_BLOCKED;
	char why[CRIT_CAUSE_SENTENCE] = "";

	if (loss == CRIT_LOSS_ALL_WAITING)
		crit_verdict_end(summary, why, sizeof(why));
	if (why[0]) {
		append(summary, "%s", why);
		return all_waiting;
	}
	if (loss == CRIT_LOSS_ALL_WAITING || is_blocked)
		crit_verdict_blocked(summary, is_blocked, why, sizeof(why));
	if (why[0]) {
		append(summary, "%s", why);
		return all_waiting | 1u << CRIT_LOSS_BLOCKED;
	}
	clauses[loss].say(summary);
	return 1u << loss;
}

/* The largest of those that are not said yet, if it matters. */
static void say_next_loss(struct crit_summary *summary, unsigned int *said)
{
	const enum crit_loss next =
		next_loss(summary, *said, WORTH_SAYING_RATIO * summary->lost.window_s);

	if (next == CRIT_LOSS_UNKNOWN)
		return;
	append(summary, "; ");
	*said |= say_loss(summary, next);
}

static void end_sentence(struct crit_summary *summary)
{
	append(summary, ".");
	if (summary->sentence[0] >= 'a' && summary->sentence[0] <= 'z')
		summary->sentence[0] = (char)(summary->sentence[0] - 'a' + 'A');
}

/*
 * Threads that stand still until they are killed.  Where these do so for each other's sake nothing
 * else matters: the run would not have ended.  False: there is more to say, or all.
 */
static bool say_stalled(struct crit_summary *summary, enum crit_loss first, unsigned int *said)
{
	const double still_s = summary->lost.threads_still.s;
	char text[sizeof(summary->sentence)];
	const enum crit_stall stall = crit_stalled_threads_say(summary, text, sizeof(text));

	if (stall == CRIT_STALL_NONE || still_s < WORTH_SAYING_RATIO * summary->lost.window_s ||
	    (stall == CRIT_STALL_OUTSIDE &&
	     ((first != CRIT_LOSS_ALL_WAITING && first != CRIT_LOSS_BLOCKED) ||
	      still_s < STANDSTILL_RATIO * 1e-9 * (double)summary->silent_ns)))
		return false;
	append(summary, "%s", text);
	summary->verdict = first == CRIT_LOSS_ALL_WAITING ? CRIT_VERDICT_ALL_WAITING
							  : CRIT_VERDICT_BLOCKED;
	*said = 1u << CRIT_LOSS_ALL_WAITING | 1u << CRIT_LOSS_BLOCKED;
	return stall != CRIT_STALL_OUTSIDE;
}

/* The largest loss, the next one if it matters, and in any case whose work stands out. */
static void say_losses(struct crit_summary *summary)
{
	const struct crit_lost_time *lost = &summary->lost;
	const enum crit_loss first = next_loss(summary, 0, 0);
	double least_s = WORTH_SAYING_RATIO * lost->window_s;
	char omp[CRIT_OMP_SENTENCE];
	unsigned int said = 0;

	if (say_stalled(summary, first, &said)) {
		end_sentence(summary);
		return;
	}
	if (said) {
		say_next_loss(summary, &said);
	} else if (!lost->is_work_known) {
		summary->verdict = CRIT_VERDICT_CPUS;
		say_cpus(summary);
	} else if (sum_of_losses(lost) < least_s || first == CRIT_LOSS_UNKNOWN ||
		   lost->loss_s[first] < LEAST_OF_MOST * most_of_losses(lost)) {
		say_even(summary);
	} else {
		said = say_loss(summary, first);
		summary->verdict = said >> CRIT_LOSS_BLOCKED & 1 ? CRIT_VERDICT_BLOCKED
								 : clauses[first].kind;
		say_next_loss(summary, &said);
	}
	if (lost->named_count && !(said >> CRIT_LOSS_IMBALANCE & 1)) {
		append(summary, "; ");
		say_imbalance(summary);
	} else if (!lost->named_count && lost->is_uneven &&
		   lost->work_balance_ratio < UNEVEN_BALANCE_RATIO) {
		append(summary, "; the work is slightly uneven (the mean is %.1f%% of the most)",
		       100 * lost->work_balance_ratio);
	}
	if (summary->verdict != CRIT_VERDICT_EVEN)
		(void)say_single(summary, true); /* may not be so */
	crit_verdict_omp(summary, omp, sizeof(omp));
	append(summary, "%s", omp);
	end_sentence(summary);
}

static double lost_records_ratio(const struct crit_results *results)
{
	double lost = (double)(results->losses.kernel_records + 2 * results->losses.shim_spans);
	double kept = 0;

	for (size_t i = 0; i < results->node_count; i++)
		kept += (double)(results->nodes[i].kernel_record_count +
				 results->nodes[i].slot_count);
	return lost > 0 ? lost / (lost + kept) : 0;
}

static void say_nothing(struct crit_summary *summary, const char *why)
{
	summary->verdict = CRIT_VERDICT_NOTHING;
	append(summary, "Nothing to judge: %s.", why);
}

void crit_verdict_find(struct crit_summary *summary)
{
	const struct crit_lost_time *lost = &summary->lost;
	double lost_ratio = fmax(lost->unknown_ratio, lost_records_ratio(summary->results));

	if (summary->mode == CRIT_MODE_SHIMS_ONLY && !summary->results->has_ranks) {
		say_nothing(summary, "without the kernel half, a program that makes no MPI call "
				     "leaves no trace");
	} else if (!lost->is_valid) {
		say_nothing(summary, summary->unit == CRIT_UNIT_RANKS
					     ? "the recording holds no active rank"
					     : "the recording holds no active thread");
	} else if (lost_ratio > MOST_LOST_RATIO) {
		summary->verdict = CRIT_VERDICT_INCOMPLETE;
		append(summary,
		       "Too incomplete to judge: %.0f%% of what happened was lost (see Losses).",
		       100 * lost_ratio);
	} else if (lost->window_s < LEAST_WINDOW_S) {
		summary->verdict = CRIT_VERDICT_TOO_SHORT;
		append(summary, "Too short to judge: the window is %.3f s, less than %.1f s.",
		       lost->window_s, LEAST_WINDOW_S);
	} else {
		say_losses(summary);
	}
}
