// SPDX-License-Identifier: BSD-3-Clause
/* Finds who holds the others up, or the call everybody waits in, and puts it into one sentence. */
#include "cli/verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/call.h"

/* A rank stands out when it owns this much more than its even part of the critical time. */
#define STANDS_OUT_RATIO 1.1
#define ALIKE_RATIO 0.9 /* who owns that much of the top share is as critical */
#define SHARE_MOVED 0.05

/*
 * Balanced work would end sooner by the waiting time per thread: while n >= 1 the threads' time
 * is work plus waiting, and even work takes work / threads.  A bound: it ignores dependencies.
 */
static double stake(const struct crit_results *results)
{
	double waiting_ns = 0;
	double life_ns = 0;
	double threads;

	for (size_t i = 0; i < results->thread_count; i++) {
		const struct crit_thread_row *thread = &results->threads[i];
		struct crit_usage usage;

		if (thread->role != CRIT_THREAD_APP)
			continue;
		crit_usage_of(&thread->cells, &usage);
		waiting_ns += (double)thread->run.waiting_ns;
		life_ns += (double)(usage.life_ns - usage.setup_ns);
	}
	threads = results->window_ns ? life_ns / (double)results->window_ns : 0;
	return waiting_ns * 1e-9 / (threads > 1 ? threads : 1);
}

static const struct crit_call_row *most(const struct crit_summary *summary, bool by_stall)
{
	const struct crit_results *results = summary->results;
	const struct crit_call_row *best = NULL;
	double best_s = 0;

	for (size_t i = 0; i < results->call_count; i++) {
		const struct crit_call_row *call = &results->calls[i];
		double value_s = by_stall ? crit_fix_seconds(call->run.stall[CRIT_UNIT_THREADS])
					  : (double)call->run.waiting_ns * 1e-9;

		if (value_s > best_s) {
			best_s = value_s;
			best = call;
		}
	}
	return best;
}

static double sum_of_call_stalls(const struct crit_results *results)
{
	double sum_s = 0;

	for (size_t i = 0; i < results->call_count; i++)
		sum_s += crit_fix_seconds(results->calls[i].run.stall[CRIT_UNIT_THREADS]);
	return sum_s;
}

static void say_communication(struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;
	const struct crit_call_row *call = most(summary, true);
	const char *who = summary->unit == CRIT_UNIT_RANKS ? "rank" : "thread";
	double silent_s = (double)summary->silent_ns * 1e-9;
	double outside_s = silent_s - sum_of_call_stalls(results);
	double call_s = call ? crit_fix_seconds(call->run.stall[CRIT_UNIT_THREADS]) : 0;
	double percent = 100 * silent_s / ((double)results->window_ns * 1e-9);
	char site[112] = "";

	if (call)
		crit_verdict_site(summary, call->call, site, sizeof(site));
	summary->verdict = CRIT_VERDICT_COMMUNICATION;
	if (call && call_s >= outside_s)
		(void)snprintf(
			summary->sentence, sizeof(summary->sentence),
			"Communication holds this run up: for %.3f s (%.1f%% of the window) no %s "
			"computes; %.3f s of that stall (%.1f%%) are in %s%s%s.",
			silent_s, percent, who, call_s, 100 * call_s / silent_s,
			crit_call_name(call->call), site[0] ? ", mostly" : "", site);
	else
		(void)snprintf(
			summary->sentence, sizeof(summary->sentence),
			"Waiting holds this run up: for %.3f s (%.1f%% of the window) no %s is "
			"active; most of that stall, %.3f s, is blocked outside %s (I/O, locks, "
			"sleep).",
			silent_s, percent, who, outside_s > 0 ? outside_s : 0,
			results->has_ranks ? "MPI" : "any known call");
}

static void name_top(const struct crit_summary *summary, char *text, size_t text_bytes)
{
	const struct crit_results *results = summary->results;

	if (summary->unit == CRIT_UNIT_RANKS) {
		char rank[32];
		size_t row = summary->rank_order[0];

		(void)snprintf(text, text_bytes, "Rank %s on %s",
			       crit_summary_rank_name(results, (int32_t)row, rank, sizeof(rank)),
			       results->nodes[results->ranks[row].node].host);
	} else {
		const struct crit_thread_row *thread = &results->threads[summary->thread_order[0]];

		(void)snprintf(text, text_bytes, "Thread %u (%.16s) of process %u", thread->tid,
			       thread->name, thread->pid);
	}
}

static const struct crit_earnings *top_earnings(const struct crit_summary *summary,
						size_t *ret_count)
{
	const struct crit_results *results = summary->results;

	if (summary->unit == CRIT_UNIT_RANKS) {
		*ret_count = results->rank_count;
		return results->rank_count ? &results->ranks[summary->rank_order[0]].run : NULL;
	}
	*ret_count = summary->app_threads;
	return summary->app_threads ? &results->threads[summary->thread_order[0]].run : NULL;
}

struct claim {
	const char *unit; /* "rank" or "thread" */
	size_t count;
	size_t leaders; /* that own about as much as the first */
	double top_share;
	double last_share; /* of the last leader */
	char name[160]; /* of the first */
	char where[640];
};

static void say_even(struct crit_summary *summary, const struct claim *claim)
{
	double window_s = (double)summary->results->window_ns * 1e-9;

	summary->verdict = CRIT_VERDICT_EVEN;
	if (claim->count < 2)
		(void)snprintf(summary->sentence, sizeof(summary->sentence),
			       "There is one %s only, so nobody else is held up; it is active for "
			       "%.3f s of %.3f s.",
			       claim->unit, summary->cmetric_s, window_s);
	else
		(void)snprintf(
			summary->sentence, sizeof(summary->sentence),
			"No %s stands out: the largest part of the critical time is %.1f%% "
			"(%s; even would be %.1f%%); balanced at every moment, the run could "
			"end up to %.3f s (%.1f%%) sooner.",
			claim->unit, 100 * claim->top_share, claim->name,
			100.0 / (double)claim->count, summary->stake_s,
			100 * summary->stake_s / window_s);
}

static void say_critical(struct crit_summary *summary, const struct claim *claim,
			 double waited_for_s)
{
	double window_s = (double)summary->results->window_ns * 1e-9;
	double even = 100.0 / (double)claim->count;

	summary->verdict = CRIT_VERDICT_CRITICAL;
	if (claim->leaders > 1)
		(void)snprintf(summary->sentence, sizeof(summary->sentence),
			       "%zu of %zu %ss hold the others up, about equally: each owns %.1f%% "
			       "to %.1f%% of the critical time (even would be %.1f%%), first %s; "
			       "balanced, the run could end up to %.3f s (%.1f%%) sooner.",
			       claim->leaders, claim->count, claim->unit, 100 * claim->last_share,
			       100 * claim->top_share, even, claim->name, summary->stake_s,
			       100 * summary->stake_s / window_s);
	else
		(void)snprintf(summary->sentence, sizeof(summary->sentence),
			       "%s holds the others up: it owns %.1f%% of the critical time (even "
			       "would be %.1f%%); they wait %.3f s for it%s; balanced, the run "
			       "could end up to %.3f s (%.1f%%) sooner.",
			       claim->name, 100 * claim->top_share, even, waited_for_s,
			       claim->where, summary->stake_s, 100 * summary->stake_s / window_s);
}

static void count_leaders(const struct crit_summary *summary, struct claim *claim)
{
	const struct crit_results *results = summary->results;

	for (size_t i = 0; i < claim->count; i++) {
		const struct crit_earnings *run =
			summary->unit == CRIT_UNIT_RANKS
				? &results->ranks[summary->rank_order[i]].run
				: &results->threads[summary->thread_order[i]].run;
		double share = crit_summary_share(summary, run);

		if (share < ALIKE_RATIO * claim->top_share)
			return;
		claim->last_share = share;
		claim->leaders++;
	}
}

static void say_who(struct crit_summary *summary, const struct crit_earnings *top, size_t count)
{
	const struct crit_call_row *call = most(summary, false);
	struct claim claim = {
		.unit = summary->unit == CRIT_UNIT_RANKS ? "rank" : "thread",
		.count = count,
		.top_share = crit_summary_share(summary, top),
	};

	name_top(summary, claim.name, sizeof(claim.name));
	if (call)
		crit_verdict_where(summary, call->call, claim.where, sizeof(claim.where));
	count_leaders(summary, &claim);
	if (count < 2 || claim.top_share * (double)count < STANDS_OUT_RATIO)
		say_even(summary, &claim);
	else
		say_critical(summary, &claim, crit_fix_seconds(top->waited_for));
}

static double rank_sum(const struct crit_results *results)
{
	double sum_s = 0;

	for (size_t i = 0; i < results->rank_count; i++)
		sum_s += crit_fix_seconds(results->ranks[i].run.cmetric[CRIT_UNIT_RANKS]);
	return sum_s;
}

/* Would counting mpi_may_wait (Send) as active change the top rank or a share by more than 0.05? */
static void check_may_wait(struct crit_summary *summary, const struct crit_results *other)
{
	const struct crit_results *mine = summary->results;
	double mine_s = rank_sum(mine);
	double other_s = rank_sum(other);
	double worst = 0;
	size_t worst_row = 0;
	size_t top = 0;

	if (other->rank_count != mine->rank_count || mine->rank_count == 0 || mine_s <= 0 ||
	    other_s <= 0)
		return;
	for (size_t i = 0; i < mine->rank_count; i++) {
		crit_fix value = other->ranks[i].run.cmetric[CRIT_UNIT_RANKS];
		double moved =
			crit_fix_seconds(value) / other_s -
			crit_fix_seconds(mine->ranks[i].run.cmetric[CRIT_UNIT_RANKS]) / mine_s;

		if (fabs(moved) > fabs(worst)) {
			worst = moved;
			worst_row = i;
		}
		if (value > other->ranks[top].run.cmetric[CRIT_UNIT_RANKS])
			top = i;
	}
	if (fabs(worst) > SHARE_MOVED || (top != summary->rank_order[0] && fabs(worst) > 0.001)) {
		char moved_name[32];
		char top_name[32];

		(void)snprintf(summary->may_wait_note, sizeof(summary->may_wait_note),
			       "This depends on MPI_Send, which may wait or work: counted as "
			       "active, the share "
			       "of rank %s moves by %+.1f points and rank %s comes first.",
			       crit_summary_rank_name(mine, (int32_t)worst_row, moved_name,
						      sizeof(moved_name)),
			       100 * worst,
			       crit_summary_rank_name(mine, (int32_t)top, top_name,
						      sizeof(top_name)));
	}
}

void crit_verdict_find(struct crit_summary *summary, const struct crit_results *may_wait)
{
	size_t count = 0;
	const struct crit_earnings *top = top_earnings(summary, &count);

	summary->stake_s = stake(summary->results);
	if (summary->mode == CRIT_MODE_SHIMS_ONLY && !summary->results->has_ranks) {
		summary->verdict = CRIT_VERDICT_NOTHING;
		(void)snprintf(
			summary->sentence, sizeof(summary->sentence),
			"Nothing to judge: without the kernel half, a program that makes no MPI "
			"call leaves no trace.");
	} else if (!top || !summary->law || summary->results->window_ns == 0) {
		summary->verdict = CRIT_VERDICT_NOTHING;
		(void)snprintf(summary->sentence, sizeof(summary->sentence),
			       "Nothing to judge: the recording holds no active %s.",
			       summary->unit == CRIT_UNIT_RANKS ? "rank" : "thread");
	} else if (summary->silent_ns > summary->results->window_ns / 2) {
		say_communication(summary);
	} else {
		say_who(summary, top, count);
	}
	if (may_wait)
		check_may_wait(summary, may_wait);
}
