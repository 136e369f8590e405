// SPDX-License-Identifier: BSD-3-Clause
// Names one unit only where far more is waited for it than for the others, and it had its CPUs.
#include "report/findings/verdict_cause.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/table/efficiency.h"
#include "analysis/table/lost_units.h"
#include "core/base/array.h"
#include "report/causes/cause_rows.h"
#include "report/causes/cause_words.h"
#include "report/causes/code_places.h"
#include "report/findings/verdict_where.h"
#include "report/tables/labels.h"

#define LEAST_SHARE 0.5 /* of all waiting */
#define LEAST_OF_TWO 0.75
#define LEAST_WAITS 10 /* fewer may be chance */
#define LEAST_ROW 0.05 /* of all waiting: smaller ones lead nobody's */
#define MOST_WITHOUT_CPU 0.25
#define HELD_UP_RATIO 0.5 /* of the time without an active rank, which one explains then */
#define LEAST_HELD_UP_RATIO 0.05 /* of the window */
#define SINGLE_RATIO 0.5 /* of all active time */
#define BUSY_RATIO 0.01 /* of the window: threads that do less are no reason */
#define BLOCKED_CALLS_MAX 32
#define BLOCKED_CALLS_SAID 3
#define LEAST_BLOCKED_SHARE 0.1
#define MOST_OF_MUTUAL 0.75 /* that is for one: it is the others that wait for that */
#define NEARLY_ALL_WAITING 0.9
#define THROUGH_OTHERS 0.2 /* said from here on */

struct candidate {
	const struct crit_cause_row *row; /* what most is waited for of its code */
	double share, direct; /* of all waiting, of all its code */
};

static size_t unit_of(const struct crit_summary *summary, const struct crit_cause_row *row)
{
	return summary->unit == CRIT_UNIT_RANKS ? row->who.rank : row->who.thread;
}

static bool is_code(const struct crit_cause_row *row)
{
	return !row->is_outside && !row->is_cpu && !(row->place && row->place->is_call);
}

/* Rows come by cost: the first one of each unit is its largest. */
static struct candidate sum_of(const struct crit_summary *summary, size_t first)
{
	const struct crit_cause_table *causes = summary->causes;
	struct candidate sum = { .row = &causes->rows[first] };
	const size_t unit = unit_of(summary, sum.row);

	for (size_t i = first; i < causes->row_count; i++) {
		const struct crit_cause_row *row = &causes->rows[i];

		if (!is_code(row) || unit_of(summary, row) != unit)
			continue;
		sum.share += row->share;
		sum.direct += row->cost ? row->share * (double)row->direct / (double)row->cost : 0;
	}
	return sum;
}

static double least_share(const struct crit_summary *summary)
{
	return summary->lost.unit_count > 2 ? LEAST_SHARE : LEAST_OF_TWO;
}

/* Of the few whose single rows are large enough to lead; row NULL: nobody. */
static struct candidate find(const struct crit_summary *summary)
{
	const struct crit_cause_table *causes = summary->causes;
	struct candidate best = { 0 };

	for (size_t i = 0; i < causes->row_count && causes->rows[i].share > LEAST_ROW; i++) {
		const struct crit_cause_row *row = &causes->rows[i];
		struct candidate candidate;

		if (!is_code(row) || unit_of(summary, row) == CRIT_NONE)
			continue;
		candidate = sum_of(summary, i);
		if (candidate.share > best.share)
			best = candidate;
	}
	if (!best.row || causes->costs->wait_count < LEAST_WAITS ||
	    best.row->without_cpu > MOST_WITHOUT_CPU)
		best.row = NULL;
	return best;
}

struct aside { /* waiting of threads that do next to nothing, and are not held up */
	double all_s, unit_s; /* for all; for one */
};

static bool is_nobody(const struct crit_who *who)
{
	return who->thread == CRIT_NONE && who->rank == CRIT_NONE && !who->lock;
}

/*
 * Of threads that do next to nothing, those that wait a few times in all, as idle ones of a pool.
 * A main thread may wait for what a pool does.
 */
static bool *mark_idle(const struct crit_summary *summary, const bool *is_unit)
{
	const struct crit_cause_table *causes = summary->causes;
	const size_t count = summary->results->thread_count;
	uint64_t *waits = calloc(count + 1, sizeof(*waits));
	bool *is_idle = calloc(count + 1, sizeof(*is_idle));

	for (size_t i = 0; waits && i < causes->pair_count; i++)
		if (causes->pairs[i].from.thread != CRIT_NONE)
			waits[causes->pairs[i].from.thread] += causes->pairs[i].count;
	for (size_t i = 0; waits && is_idle && i < count; i++) {
		const struct crit_thread_row *thread = &summary->results->threads[i];

		is_idle[i] = !is_unit[i] && thread->tid != thread->pid && waits[i] < LEAST_WAITS;
	}
	free(waits);
	return is_idle;
}

/* For the ends of others, as a main thread for its workers.  is_idle: not of these, or NULL. */
static void add_ends(const struct crit_results *results, size_t unit_row, const bool *is_unit,
		     const bool *is_idle, struct aside *aside)
{
	for (size_t i = 0; i < results->await_count; i++) {
		const struct crit_await_row *await = &results->awaits[i];
		const double waited_s = 1e-9 * (double)(await->until_ns - await->since_ns);

		if (is_unit[await->waiter] || (is_idle && is_idle[await->waiter]))
			continue;
		aside->all_s += waited_s;
		aside->unit_s += await->ended == unit_row ? waited_s : 0;
	}
}

/* Of an idle thread of a pool for work, of a ticker for its timer. */
static void add_idle(const struct crit_cause_table *causes, size_t unit_row, const bool *is_unit,
		     const bool *is_idle, struct aside *aside)
{
	for (size_t i = 0; i < causes->pair_count; i++) {
		const struct crit_waiter_row *pair = &causes->pairs[i];
		const uint32_t waiter = pair->from.thread;
		const double waited_s = 1e-9 * (double)pair->raw_ns;

		if (waiter == CRIT_NONE || is_unit[waiter] ||
		    !(is_idle[waiter] || is_nobody(&pair->to)))
			continue;
		aside->all_s += waited_s;
		aside->unit_s += pair->to.thread == unit_row ? waited_s : 0;
	}
}

/* unit_row: a thread's.  has_idle: or else waiting for ends alone is aside. */
static struct aside find_aside(const struct crit_summary *summary, size_t unit_row, bool has_idle)
{
	struct aside aside = { 0 };
	bool *is_unit = NULL, *is_idle = NULL;

	if (!summary->results->has_ranks)
		is_unit = crit_lost_units_mark(summary->results);
	if (is_unit && has_idle)
		is_idle = mark_idle(summary, is_unit);
	if (is_unit)
		add_ends(summary->results, unit_row, is_unit, is_idle, &aside);
	if (is_idle)
		add_idle(summary->causes, unit_row, is_unit, is_idle, &aside);
	free(is_idle);
	free(is_unit);
	return aside;
}

/* What others wait for a unit itself, without what is aside; s. */
static double direct_of(const struct crit_summary *summary, size_t unit_row,
			const struct aside *aside)
{
	const struct crit_cause_table *causes = summary->causes;
	double direct_s = -aside->unit_s;

	for (size_t i = 0; i < causes->pair_count; i++)
		if (causes->pairs[i].to.thread == unit_row)
			direct_s += 1e-9 * (double)causes->pairs[i].raw_ns;
	return fmax(direct_s, 0);
}

/*
 * What a unit costs without what is aside.  Of those who wait behind others for it nobody knows
 * whose waiting is: then at least so much.
 */
static double without_aside(const struct crit_summary *summary, size_t unit_row,
			    const struct aside *aside, double cost_s)
{
	if (aside->all_s <= 0)
		return cost_s;
	return fmin(cost_s, fmax(direct_of(summary, unit_row, aside), cost_s - aside->all_s));
}

/* Shares of all waiting that is not aside; 0: it is too little for a word. */
static void leave_aside(const struct crit_summary *summary, bool has_idle,
			struct candidate *candidate)
{
	const size_t unit_row = unit_of(summary, candidate->row);
	const struct aside aside = find_aside(summary, unit_row, has_idle);
	const double all_s = 1e-9 * (double)summary->causes->costs->waiting;
	const double cost_s = without_aside(summary, unit_row, &aside, candidate->share * all_s);
	double direct_ratio = candidate->direct / candidate->share;

	if (has_idle && aside.all_s > 0)
		direct_ratio = fmin(direct_of(summary, unit_row, &aside) / cost_s, 1);
	candidate->share = 0;
	if (cost_s < LEAST_HELD_UP_RATIO * summary->lost.window_s || all_s <= aside.all_s)
		return;
	candidate->share = fmin(cost_s / (all_s - aside.all_s), 1);
	candidate->direct = candidate->share * direct_ratio;
}

void crit_verdict_cause(const struct crit_summary *summary, char *text, size_t text_bytes,
			size_t *ret_unit_row)
{
	char who[CRIT_CAUSE_WHO_BYTES], what[CRIT_CAUSE_WHAT_BYTES], through[64] = "";
	struct candidate best, found;
	double indirect;

	text[0] = '\0';
	if (!summary->causes)
		return;
	found = best = find(summary);
	if (!best.row)
		return;
	leave_aside(summary, false, &found);
	if (found.share < least_share(summary)) {
		found = best;
		leave_aside(summary, true, &found);
	}
	if (found.share < least_share(summary))
		return;
	*ret_unit_row = unit_of(summary, found.row);
	indirect = 1 - found.direct / found.share;
	if (indirect >= THROUGH_OTHERS)
		(void)snprintf(through, sizeof(through), ", %.0f%% of that through others",
			       100 * indirect);
	(void)snprintf(text, text_bytes, "%.0f%% of all waiting is for %s%s, %s", 100 * found.share,
		       crit_cause_who(summary->results, &found.row->who, who), through,
		       crit_cause_what(found.row, what));
}

void crit_verdict_mutual(const struct crit_summary *summary, char *text, size_t text_bytes)
{
	const struct crit_cause_table *causes = summary->causes;
	const struct crit_lost_time *lost = &summary->lost;
	const double blocked_s = lost->units * lost->loss_s[CRIT_LOSS_BLOCKED];
	double share = 0, most = 0, without_cpu = 0, cost_s = 0;

	text[0] = '\0';
	for (size_t i = 0; causes && i < causes->row_count; i++) {
		const struct crit_cause_row *row = &causes->rows[i];

		if (row->is_cpu)
			without_cpu += row->share;
		if (!is_code(row) || row->is_blocked || unit_of(summary, row) == CRIT_NONE)
			continue;
		share += row->share;
		cost_s += 1e-9 * (double)row->cost;
		if (row->share > LEAST_ROW)
			most = fmax(most, sum_of(summary, i).share);
	}
	if (!causes || causes->costs->wait_count < LEAST_WAITS || most > MOST_OF_MUTUAL * share ||
	    share < LEAST_OF_TWO || share + without_cpu < NEARLY_ALL_WAITING ||
	    cost_s < HELD_UP_RATIO * blocked_s)
		return;
	(void)snprintf(text, text_bytes,
		       "; they wait for each other: %.0f%% of all waiting is for code of other "
		       "threads",
		       100 * share);
}

void crit_verdict_unit_name(const struct crit_summary *summary, size_t row, char *text,
			    size_t text_bytes)
{
	const struct crit_results *results = summary->results;

	if (summary->unit == CRIT_UNIT_RANKS) {
		char rank[32];

		(void)snprintf(text, text_bytes, "rank %s on %s",
			       crit_rank_label(results, (int32_t)row, rank, sizeof(rank)),
			       results->nodes[results->ranks[row].node].host);
	} else {
		const struct crit_thread_row *thread = &results->threads[row];

		(void)snprintf(text, text_bytes, "thread %u (%.16s) of process %u", thread->tid,
			       thread->name, thread->pid);
	}
}

static void say_gone(const struct crit_summary *summary, char *text, size_t text_bytes)
{
	const struct crit_lost_time *lost = &summary->lost;
	const double silent_s = (double)summary->silent_ns * 1e-9;
	char name[160];

	crit_verdict_unit_name(summary, lost->gone_row, name, sizeof(name));
	(void)snprintf(text, text_bytes,
		       "%s ended without MPI_Finalize, %.3f s before the others; no rank computes "
		       "for %.3f s (%.1f%% of the window)",
		       name, lost->gone_s, silent_s, 100 * silent_s / lost->window_s);
}

/* Nobody leaves a call any more. */
static void say_standstill(const struct crit_summary *summary, char *text, size_t text_bytes)
{
	const struct crit_lost_time *lost = &summary->lost;
	const struct crit_rank_row *ranks = summary->results->ranks;
	char calls[CRIT_CAUSE_SENTENCE];
	bool is_end_seen = false;

	for (size_t i = lost->still.first_row; i < lost->still.end_row; i++)
		is_end_seen |= ranks[i].is_open && ranks[i].exit_ns;
	crit_verdict_last_calls(summary, calls, sizeof(calls));
	(void)snprintf(text, text_bytes,
		       "for the last %.3f s (%.1f%% of the window) all ranks wait in MPI, until "
		       "%s: %s; that is a deadlock, or what they wait for is not recorded",
		       lost->still.s, 100 * lost->still.s / lost->window_s,
		       is_end_seen ? "they end without MPI_Finalize" : "the recording ends", calls);
}

void crit_verdict_end(const struct crit_summary *summary, char *text, size_t text_bytes)
{
	const struct crit_lost_time *lost = &summary->lost;
	const double least_s = HELD_UP_RATIO * 1e-9 * (double)summary->silent_ns;

	text[0] = '\0';
	if (lost->gone_s > 0 && lost->gone_s >= least_s)
		say_gone(summary, text, text_bytes);
	else if (lost->still.s > 0 && lost->still.s >= least_s)
		say_standstill(summary, text, text_bytes);
}

struct sleeper { /* a thread, while it is blocked by nobody of the run */
	size_t row;
	double outside_s, waited_s; /* for so long; threads that do something wait for it */
};

/* Of the threads that do something, the one that nobody of the run blocks longest. */
static struct sleeper longest_sleeper(const struct crit_summary *summary, const bool *is_unit,
				      double *ret_next_s)
{
	const struct crit_cause_table *causes = summary->causes;
	struct sleeper longest = { .row = CRIT_NONE };

	*ret_next_s = 0;
	for (size_t i = 0; i < causes->pair_count; i++) {
		const struct crit_waiter_row *pair = &causes->pairs[i];
		const double raw_s = 1e-9 * (double)pair->raw_ns;

		if (pair->from.thread == CRIT_NONE || !is_unit[pair->from.thread] ||
		    !is_nobody(&pair->to))
			continue;
		*ret_next_s = fmax(*ret_next_s, fmin(raw_s, longest.outside_s));
		if (raw_s > longest.outside_s)
			longest = (struct sleeper){ pair->from.thread, raw_s, 0 };
	}
	for (size_t i = 0; i < causes->pair_count && longest.row != CRIT_NONE; i++) {
		const struct crit_waiter_row *pair = &causes->pairs[i];

		if (pair->from.thread != CRIT_NONE && is_unit[pair->from.thread] &&
		    pair->to.thread == longest.row)
			longest.waited_s += 1e-9 * (double)pair->raw_ns;
	}
	return longest;
}

/*
 * Of threads without ranks those who wait are blocked as well: the one that sleeps is found by who
 * waits for whom.
 */
static void say_sleeper(const struct crit_summary *summary, char *text, size_t text_bytes)
{
	const struct crit_results *results = summary->results;
	const double window_s = summary->lost.window_s;
	const double all_s = summary->lost.units * summary->lost.loss_s[CRIT_LOSS_BLOCKED];
	char name[160], calls[CRIT_CAUSE_SENTENCE];
	bool *is_unit = summary->unit == CRIT_UNIT_THREADS && summary->causes
				? crit_lost_units_mark(results)
				: NULL;
	struct sleeper sleeper;
	double next_s, alone_s;
	struct crit_usage usage;

	if (!is_unit)
		return;
	sleeper = longest_sleeper(summary, is_unit, &next_s);
	free(is_unit);
	if (sleeper.row == CRIT_NONE || next_s > HELD_UP_RATIO * sleeper.outside_s)
		return;
	crit_usage_of(&results->threads[sleeper.row].cells, &usage);
	alone_s = 1e-9 * ((double)usage.blocked_ns -
			  (double)results->threads[sleeper.row].idle_blocked_ns);
	alone_s = fmin(alone_s, sleeper.outside_s);
	if (alone_s < LEAST_HELD_UP_RATIO * window_s ||
	    alone_s < HELD_UP_RATIO * 1e-9 * (double)summary->silent_ns ||
	    sleeper.waited_s < HELD_UP_RATIO * alone_s ||
	    alone_s + sleeper.waited_s < HELD_UP_RATIO * all_s)
		return;
	crit_verdict_unit_name(summary, sleeper.row, name, sizeof(name));
	crit_verdict_system_calls(summary, (uint32_t)sleeper.row, calls, sizeof(calls));
	(void)snprintf(text, text_bytes,
		       "%s, for which others wait, is blocked for %.3f s (%.1f%% of the window) in "
		       "which no thread computes: I/O, locks or sleep%s",
		       name, alone_s, 100 * alone_s / window_s, calls);
}

void crit_verdict_blocked(const struct crit_summary *summary, bool is_most, char *text,
			  size_t text_bytes)
{
	const struct crit_lost_time *lost = &summary->lost;
	const double silent_s = (double)summary->silent_ns * 1e-9, alone_s = lost->blocked_alone_s;
	const double all_s = lost->units * lost->loss_s[CRIT_LOSS_BLOCKED];
	const bool is_in_region = lost->blocked_thread != CRIT_NONE;
	char name[160], calls[CRIT_CAUSE_SENTENCE] = "";

	text[0] = '\0';
	if (alone_s < LEAST_HELD_UP_RATIO * lost->window_s || alone_s < HELD_UP_RATIO * silent_s ||
	    (is_most ? alone_s : lost->blocked_s) < HELD_UP_RATIO * all_s) {
		if (is_most)
			say_sleeper(summary, text, text_bytes);
		return;
	}
	crit_verdict_unit_name(summary, lost->blocked_row, name, sizeof(name));
	if (is_in_region)
		crit_verdict_system_calls(summary, lost->blocked_thread, calls, sizeof(calls));
	(void)snprintf(text, text_bytes,
		       "%s is blocked %s for %.3f s (%.1f%% of the window) in which no %s "
		       "computes: I/O, locks or sleep%s",
		       name, is_in_region ? "in a parallel region" : "outside MPI", alone_s,
		       100 * alone_s / lost->window_s,
		       summary->unit == CRIT_UNIT_RANKS ? "rank" : "thread", calls);
}

/* By threads that can wait for the rank, not blocked elsewhere, while somebody was active; s. */
static double waited_in_calls(const struct crit_results *results, size_t rank_row)
{
	uint64_t waited_ns = 0;

	for (size_t i = 0; i < results->thread_count; i++) {
		const struct crit_thread_row *thread = &results->threads[i];

		if (thread->role == CRIT_THREAD_APP && (thread->rank_row != (int32_t)rank_row ||
							results->ranks[rank_row].app_threads > 1))
			waited_ns += thread->run.waiting_ns - thread->idle_blocked_ns;
	}
	return 1e-9 * (double)waited_ns;
}

double crit_verdict_waited(const struct crit_summary *summary, size_t unit_row)
{
	const struct crit_results *results = summary->results;
	crit_integral cost = 0;
	struct aside aside;
	double waited_s, all_s;

	if (summary->unit == CRIT_UNIT_RANKS)
		return fmin(crit_fix_seconds(results->ranks[unit_row].run.blame),
			    waited_in_calls(results, unit_row));
	for (size_t i = 0; summary->causes && i < summary->causes->row_count; i++) {
		const struct crit_cause_row *row = &summary->causes->rows[i];

		if (!row->is_outside && unit_of(summary, row) == unit_row)
			cost += row->cost;
	}
	if (!summary->causes || summary->lost.unit_count < 2) /* then all may wait for its end */
		return 1e-9 * (double)cost;
	aside = find_aside(summary, unit_row, false);
	waited_s = without_aside(summary, unit_row, &aside, 1e-9 * (double)cost);
	aside = find_aside(summary, unit_row, true);
	if (aside.all_s <= 0)
		return waited_s;
	all_s = 1e-9 * (double)summary->causes->costs->waiting;
	return fmin(waited_s, fmax(direct_of(summary, unit_row, &aside), all_s - aside.all_s));
}

bool crit_verdict_is_single(const struct crit_summary *summary)
{
	const struct crit_lost_time *lost = &summary->lost;
	const double active_s = lost->useful_s + lost->runnable_s + lost->loss_s[CRIT_LOSS_LIBRARY];

	return lost->unit_count < 2 && lost->units * active_s >= SINGLE_RATIO * summary->cmetric_s;
}

void crit_verdict_single(const struct crit_summary *summary, bool is_beside, char *text,
			 size_t text_bytes, double *ret_waited_s)
{
	const struct crit_results *results = summary->results;
	const struct crit_lost_time *lost = &summary->lost;
	double for_ends_s = 0;
	char name[160];

	text[0] = '\0';
	if (!crit_verdict_is_single(summary))
		return;
	for (size_t i = 0; is_beside && i < results->await_count; i++)
		for_ends_s +=
			1e-9 * (double)(results->awaits[i].until_ns - results->awaits[i].since_ns);
	*ret_waited_s = crit_verdict_waited(summary, lost->most_row);
	crit_verdict_unit_name(summary, lost->most_row, name, sizeof(name));
	if (*ret_waited_s - for_ends_s < LEAST_HELD_UP_RATIO * lost->window_s ||
	    (is_beside && strstr(summary->sentence, name)))
		return;
	(void)snprintf(text, text_bytes,
		       "only %s has much to do; it is active for %.3f s of %.3f s", name,
		       summary->cmetric_s, lost->window_s);
}

struct blocked_call {
	struct crit_wait_row row; /* of which the call alone is known */
	double ns;
};

static int compare_blocked(const void *a, const void *b)
{
	const struct blocked_call *left = a, *right = b;

	return (left->ns < right->ns) - (left->ns > right->ns);
}

/* Did it do something?  thread: or is it this row; CRIT_NONE: none. */
static bool is_asked_for(const struct crit_results *results, uint32_t thread, uint32_t row)
{
	struct crit_usage usage = { 0 };

	if (thread != CRIT_NONE)
		return row == thread;
	crit_usage_of(&results->threads[row].cells, &usage);
	return (double)usage.useful_ns >= BUSY_RATIO * (double)results->window_ns;
}

/* Where a thread was blocked, or those that did something.  Returns how many calls these are. */
static size_t find_blocked(const struct crit_results *results, uint32_t thread,
			   struct blocked_call calls[BLOCKED_CALLS_MAX], double *ret_all_ns)
{
	size_t count = 0;

	*ret_all_ns = 0;
	for (size_t i = 0; i < results->blocks.cell_count; i++) {
		const struct crit_block_cell *cell = &results->blocks.cells[i];
		size_t at = 0;

		if (!is_asked_for(results, thread, cell->thread))
			continue;
		while (at < count && (calls[at].row.call.number != cell->call.number ||
				      calls[at].row.call.is_compat != cell->call.is_compat))
			at++;
		if (at == BLOCKED_CALLS_MAX)
			continue;
		if (at == count)
			calls[count++] = (struct blocked_call){ .row = { .call = cell->call } };
		calls[at].ns += (double)cell->blocked_ns;
		*ret_all_ns += (double)cell->blocked_ns;
	}
	qsort(calls, count, sizeof(*calls), compare_blocked);
	return count;
}

void crit_verdict_system_calls(const struct crit_summary *summary, uint32_t thread, char *text,
			       size_t text_bytes)
{
	struct blocked_call calls[BLOCKED_CALLS_MAX] = { 0 };
	double all_ns;
	const size_t count = find_blocked(summary->results, thread, calls, &all_ns);
	size_t said = 0, used = 0;
	char name[48];

	text[0] = '\0';
	for (; said < count && said < BLOCKED_CALLS_SAID; said++) {
		const double share = calls[said].ns / all_ns;

		if (share < LEAST_BLOCKED_SHARE)
			break;
		(void)snprintf(text + used, text_bytes - used, "%s%.0f%% in %s", said ? ", " : " (",
			       100 * share, crit_wait_call(&calls[said].row, name, sizeof(name)));
		used = strlen(text);
	}
	if (said)
		(void)snprintf(text + used, text_bytes - used, ")");
}
