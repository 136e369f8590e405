// SPDX-License-Identifier: BSD-3-Clause
// Findings: the rank or thread that was preempted most, and its preemptor; what others took.
#include "report/findings/preempted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/tables/labels.h"

#define LEAST_SAID_NS 1000000u
#define WORTH_SAYING_RATIO 0.02 /* of the window */
#define MOST_OF_OTHERS 0.5 /* of what programs outside the run took */
#define NEARLY_ALL 0.75 /* likewise */
#define LEAST_REST 0.1 /* likewise, worth a word */
#define MOST_OF_LOST 0.5 /* by one: those of its process are said together below */

struct taker {
	const struct crit_preemptor_row *row; /* the first of them */
	int32_t rank_row; /* of a member, -1 none */
	size_t threads; /* of its process together; 0: they are apart */
	uint64_t count;
	uint64_t lost_ns;
};

/* The rank in unit ranks, else the thread; -1: a thread without rank among ranks. */
static int32_t owner_of(const struct crit_summary *summary, int32_t thread)
{
	if (summary->unit == CRIT_UNIT_THREADS || thread < 0)
		return thread;
	return summary->results->threads[thread].rank_row;
}

static bool is_of_process(const struct crit_results *results, int32_t a, int32_t b)
{
	return a >= 0 && b >= 0 && results->threads[a].pid == results->threads[b].pid &&
	       results->threads[a].node == results->threads[b].node;
}

static bool is_same_taker(const struct crit_summary *summary, const struct taker *taker,
			  const struct crit_preemptor_row *row)
{
	if (taker->row->kind != row->kind)
		return false;
	if (row->kind == CRIT_PREEMPTOR_MEMBER && taker->threads)
		return is_of_process(summary->results, taker->row->by_thread, row->by_thread);
	if (strcmp(taker->row->name, row->name) != 0)
		return false;
	return row->kind != CRIT_PREEMPTOR_MEMBER || taker->row->by_thread == row->by_thread ||
	       (taker->rank_row >= 0 && taker->rank_row == owner_of(summary, row->by_thread));
}

/* The owner that lost most. */
static int32_t find_victim(const struct crit_summary *summary, uint64_t *ret_lost_ns)
{
	const struct crit_results *results = summary->results;
	size_t owners = results->rank_count + results->thread_count;
	uint64_t *lost_ns = calloc(owners + 1, sizeof(*lost_ns));
	int32_t victim = -1;

	*ret_lost_ns = 0;
	for (size_t i = 0; lost_ns && i < results->preemptor_count; i++) {
		const struct crit_preemptor_row *row = &results->preemptors[i];
		int32_t owner = owner_of(summary, (int32_t)row->thread);

		if (owner < 0 || results->threads[row->thread].role != CRIT_THREAD_APP)
			continue;
		lost_ns[owner] += row->lost_ns;
		if (lost_ns[owner] > *ret_lost_ns) {
			*ret_lost_ns = lost_ns[owner];
			victim = owner;
		}
	}
	free(lost_ns);
	return victim;
}

/* is_together: the threads of a process are one taker. */
static struct taker find_taker(const struct crit_summary *summary, int32_t victim, bool is_together)
{
	const struct crit_results *results = summary->results;
	struct taker *takers = calloc(results->preemptor_count + 1, sizeof(*takers));
	struct taker most = { 0 };
	size_t count = 0;

	for (size_t i = 0; takers && i < results->preemptor_count; i++) {
		const struct crit_preemptor_row *row = &results->preemptors[i];
		size_t at = 0;

		if (owner_of(summary, (int32_t)row->thread) != victim)
			continue;
		while (at < count && !is_same_taker(summary, &takers[at], row))
			at++;
		if (at == count)
			takers[count++] =
				(struct taker){ .row = row,
						.rank_row =
							summary->unit == CRIT_UNIT_RANKS
								? owner_of(summary, row->by_thread)
								: -1,
						.threads = is_together };
		else
			takers[at].threads += is_together; /* a row of each one */
		takers[at].count += row->count;
		takers[at].lost_ns += row->lost_ns;
		if (!most.row || takers[at].lost_ns >= most.lost_ns)
			most = takers[at];
	}
	free(takers);
	return most;
}

static const char *name_taker(const struct crit_summary *summary, const struct taker *taker,
			      char *text, size_t text_bytes)
{
	char rank[32];

	if (taker->row->kind == CRIT_PREEMPTOR_MEMBER && taker->threads > 1) {
		(void)snprintf(text, text_bytes, "%zu threads of process %u", taker->threads,
			       summary->results->threads[taker->row->by_thread].pid);
		return text;
	}
	if (taker->row->kind != CRIT_PREEMPTOR_MEMBER || taker->rank_row < 0)
		return crit_preemptor_label(summary->results, taker->row, text, text_bytes);
	(void)snprintf(text, text_bytes, "rank %s",
		       crit_rank_label(summary->results, taker->rank_row, rank, sizeof(rank)));
	return text;
}

/* "0.400 s of that (98%) by stress (tid 812), 103 times". */
static void say_taker(const struct crit_summary *summary, const struct taker *taker,
		      uint64_t lost_ns, char *text, size_t text_bytes)
{
	const double part_s = (double)taker->lost_ns * 1e-9;
	const double percent = 100 * (double)taker->lost_ns / (double)lost_ns;
	char by[64], times[32] = "";

	if (taker->row->kind == CRIT_PREEMPTOR_IDLE) {
		(void)snprintf(text, text_bytes,
			       "%.3f s of that (%.0f%%) while nobody had it: it was held up by a "
			       "limit, or woken late",
			       part_s, percent);
		return;
	}
	if (taker->row->kind == CRIT_PREEMPTOR_UNKNOWN) {
		(void)snprintf(text, text_bytes, "by whom is not known for %.3f s of that (%.0f%%)",
			       part_s, percent);
		return;
	}
	if (taker->count) /* else the rank waited after wakeups only */
		(void)snprintf(times, sizeof(times), ", %llu times",
			       (unsigned long long)taker->count);
	(void)snprintf(text, text_bytes, "%.3f s of that (%.0f%%) by %s%s", part_s, percent,
		       name_taker(summary, taker, by, sizeof(by)), times);
}

void crit_preempted_find(struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;
	uint64_t lost_ns;
	int32_t victim = find_victim(summary, &lost_ns);
	struct taker taker;
	char name[64], by[160], rank[32];

	if (victim < 0 || lost_ns < LEAST_SAID_NS ||
	    (double)lost_ns < WORTH_SAYING_RATIO * (double)results->window_ns)
		return;
	taker = find_taker(summary, victim, false);
	if (summary->unit == CRIT_UNIT_THREADS &&
	    (double)taker.lost_ns < MOST_OF_LOST * (double)lost_ns)
		taker = find_taker(summary, victim, true);
	if (!taker.row)
		return;
	if (summary->unit == CRIT_UNIT_RANKS)
		(void)snprintf(name, sizeof(name), "rank %s",
			       crit_rank_label(results, victim, rank, sizeof(rank)));
	else
		(void)crit_thread_label(results, (size_t)victim, name, sizeof(name));
	say_taker(summary, &taker, lost_ns, by, sizeof(by));
	(void)snprintf(summary->preempted_note, sizeof(summary->preempted_note),
		       "Preempted: %s had work to do for %.3f s %s; %s.", name,
		       (double)lost_ns * 1e-9,
		       taker.row->kind == CRIT_PREEMPTOR_IDLE ? "without a CPU"
							      : "while its CPU was taken",
		       by);
}

/* So much of what others had that nobody is to look for another program. */
static void say_crit(const struct crit_lost_time *lost, const char *unit, char *text,
		     size_t text_bytes)
{
	const double rest_s = lost->foreign_s - lost->tools_s;
	char rest[48] = "";

	if (rest_s >= LEAST_REST * lost->foreign_s)
		(void)snprintf(rest, sizeof(rest), ", other programs for %.3f s", rest_s);
	(void)snprintf(text, text_bytes,
		       "crit itself had the CPUs for %.3f s in which %ss wanted them%s (sum over "
		       "%ss): that is what recording and call paths cost",
		       lost->tools_s, unit, rest, unit);
}

void crit_preempted_by_others(const struct crit_summary *summary, char *text, size_t text_bytes)
{
	const struct crit_lost_time *lost = &summary->lost;
	const char *unit = summary->unit == CRIT_UNIT_RANKS ? "rank" : "thread";
	const bool is_known = lost->taken_s < 2 * lost->foreign_s;
	char of[40] = "", crit[48] = "", beside[64] = "";

	if (lost->tools_s >= NEARLY_ALL * lost->foreign_s && is_known && lost->beside_s <= 0) {
		say_crit(lost, unit, text, text_bytes);
		return;
	}
	if (!is_known)
		(void)snprintf(of, sizeof(of), " at least of %.3f s", lost->taken_s);
	else if (lost->tools_s >= MOST_OF_OTHERS * lost->foreign_s)
		(void)snprintf(crit, sizeof(crit), ", crit itself for %.3f s of that",
			       lost->tools_s);
	if (lost->beside_s > 0)
		(void)snprintf(beside, sizeof(beside), ", the run's own threads for %.3f s",
			       lost->beside_s);
	(void)snprintf(
		text, text_bytes,
		"others had the CPUs for %.3f s%s in which %ss wanted them%s%s (sum over %ss)",
		lost->foreign_s, of, unit, crit, beside, unit);
}
