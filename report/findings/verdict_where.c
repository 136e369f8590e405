// SPDX-License-Identifier: BSD-3-Clause
// The place part of the verdict: the region one rank works in, and the call the others wait in.
#include "report/findings/verdict_where.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/call.h"
#include "report/tables/labels.h"
#include "report/tables/location_fit.h"

#define PLACE_COLUMNS 72 /* of a sentence */
#define AT " at "
#define LAST_PLACES_MAX 16 /* told apart */
#define LAST_PLACES_SAID 3
#define LAST_RANKS_SAID 3 /* of each */
#define LOCKS_OF_IDLE_RATIO 0.4 /* of what OpenMP threads idle; the rest is in the barrier behind */
#define OMP_WORTH_SAYING_RATIO 0.05 /* of the window */
#define LEAST_WAITED_RATIO 0.1 /* of the sum of delays; where all wait it is more than that sum */

/* " at solver+0x14c1": where most of the waiting in a call is; sites come in that order. */
void crit_verdict_call_site(const struct crit_summary *summary, uint32_t call, char *text,
			    size_t text_bytes)
{
	size_t count;
	const struct crit_call_site_row *rows = crit_call_sites_rows(summary->call_sites, &count);

	text[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		const struct crit_call_site_row *site = &rows[i];
		char place[CRIT_REGION_TEXT];

		if (site->call != call)
			continue;
		if (site->place.module)
			(void)snprintf(text, text_bytes, AT "%s",
				       crit_location_fit(&site->place, PLACE_COLUMNS, place,
							 sizeof(place)));
		return;
	}
}

/* Is the thread the one, or of the one, the verdict names? */
static bool is_of(const struct crit_summary *summary, size_t unit_row, uint32_t thread)
{
	if (summary->unit == CRIT_UNIT_RANKS)
		return summary->results->threads[thread].rank_row == (int32_t)unit_row;
	return thread == unit_row;
}

struct meanwhile { /* where the one the verdict names is while the others wait for it */
	const struct crit_region_line *line;
	uint32_t thread; /* of its threads the one waited for most */
	crit_fix blame;
	crit_fix by_thread;
};

static struct meanwhile weigh(const struct crit_summary *summary, size_t unit_row,
			      const struct crit_region_line *line)
{
	struct meanwhile found = { .line = line };

	for (size_t i = 0; i < line->share_count; i++) {
		const struct crit_region_share *share =
			&summary->regions.shares[line->first_share + i];

		if (!is_of(summary, unit_row, share->thread))
			continue;
		found.blame += share->sum.run.blame;
		if (share->sum.run.blame > found.by_thread) {
			found.by_thread = share->sum.run.blame;
			found.thread = share->thread;
		}
	}
	return found;
}

static const char *name_region(const struct crit_region_line *line, char *text, size_t text_bytes)
{
	char place[CRIT_REGION_TEXT];

	if (!line->call || line->phase[0])
		return crit_region_name(line, text, text_bytes);
	(void)snprintf(text, text_bytes, "%s %s", crit_call_name(line->call),
		       crit_location_fit(&line->place, PLACE_COLUMNS, place, sizeof(place)));
	return text;
}

/* ", mostly while its thread 7 (a) is in omp parallel step (stencil.c:42)". */
static void say_region(const struct crit_summary *summary, size_t unit_row, char *text,
		       size_t text_bytes)
{
	const struct crit_region_table *table = &summary->regions;
	struct meanwhile most = { 0 };
	char name[CRIT_REGION_TEXT], who[64] = "it";

	text[0] = '\0';
	for (size_t i = 0; i < table->row_count; i++) {
		struct meanwhile found = weigh(summary, unit_row, &table->rows[i]);

		if (found.blame > most.blame)
			most = found;
	}
	if (!most.line)
		return;
	if (summary->unit == CRIT_UNIT_RANKS && 2 * most.by_thread > most.blame)
		(void)snprintf(who, sizeof(who), "its thread %u (%.16s)",
			       summary->results->threads[most.thread].tid,
			       summary->results->threads[most.thread].name);
	(void)snprintf(text, text_bytes, ", mostly while %s is %s%s", who,
		       most.line->call ? "in " : "", name_region(most.line, name, sizeof(name)));
}

/* The collective row in which the ranks lost most by who came last. */
static const struct crit_collective_row *worst_of(const struct crit_results *results, uint32_t call)
{
	const struct crit_message_results *messages = &results->messages;
	const struct crit_collective_row *worst = NULL;

	for (size_t i = 0; i < messages->collective_count; i++) {
		const struct crit_collective_row *row = &messages->collectives[i];

		if (row->call == call && row->last_count &&
		    (!worst || row->late_sum_ns > worst->late_sum_ns))
			worst = row;
	}
	return worst;
}

/* Do the ranks wait in the call for who comes last?  In a reduction only the root does. */
static bool is_waited_in(const struct crit_results *results, uint32_t call, uint64_t late_sum_ns)
{
	for (size_t i = 0; i < results->call_count; i++)
		if (results->calls[i].call == call)
			return (double)results->calls[i].run.waiting_ns >=
			       LEAST_WAITED_RATIO * (double)late_sum_ns;
	return true;
}

/*
 * ", where it arrives last in 97 % of cases, 20.0 ms after the mean", when a rank comes last at a
 * call more often than all others together, and is waited for there; else "".
 */
static void say_last(const struct crit_results *results, uint32_t call, uint32_t rank_row,
		     char *text, size_t text_bytes)
{
	const struct crit_collective_row *row = worst_of(results, call);
	const struct crit_last_row *last = row ? &results->messages.lasts[row->first_last] : NULL;

	text[0] = '\0';
	if (!last || last->rank_row != rank_row || last->count * 2 <= row->instances ||
	    !is_waited_in(results, call, last->late_sum_ns))
		return;
	(void)snprintf(text, text_bytes,
		       ", where it arrives last in %.0f%% of cases, %.3g ms after the mean",
		       100.0 * (double)last->count / (double)row->instances,
		       (double)last->late_sum_ns * 1e-6 / (double)last->count);
}

/* Does the text end with that place? */
static bool is_end_of(const char *text, const char *place)
{
	const size_t length = strlen(text), place_length = strlen(place);

	return place_length && length > place_length &&
	       strcmp(text + length - place_length, place) == 0;
}

void crit_verdict_where(const struct crit_summary *summary, size_t unit_row, uint32_t call,
			char *text, size_t text_bytes)
{
	char last[128] = "";
	char site[112] = "";
	char region[CRIT_REGION_TEXT + 96];

	if (summary->unit == CRIT_UNIT_RANKS)
		say_last(summary->results, call, (uint32_t)unit_row, last, sizeof(last));
	crit_verdict_call_site(summary, call, site, sizeof(site));
	say_region(summary, unit_row, region, sizeof(region));
	if (site[0] && is_end_of(region, site + strlen(AT)))
		(void)snprintf(site, sizeof(site), " there");
	(void)snprintf(text, text_bytes, "%s%s %s%s%s", region,
		       region[0] ? " and they are in" : ", mostly in", crit_call_name(call), site,
		       last);
}

struct last_place { /* where some ranks wait to their end */
	uint32_t call;
	struct crit_source_location place;
	size_t count;
	size_t rows[LAST_RANKS_SAID];
};

static struct last_place last_place_of(const struct crit_summary *summary, size_t row)
{
	const struct crit_rank_row *rank = &summary->results->ranks[row];
	struct last_place last = { .call = rank->is_open ? rank->last_call.call : CRIT_MPI_Finalize,
				   .count = 1,
				   .rows = { row } };

	if (rank->is_open && summary->symbols)
		crit_symbols_find(summary->symbols, rank->node, rank->pid, rank->last_call.site,
				  &last.place);
	return last;
}

/* Yields how many places there are. */
static size_t find_last_places(const struct crit_summary *summary, struct last_place *places)
{
	const struct crit_standstill *still = &summary->lost.still;
	size_t count = 0;

	for (size_t row = still->first_row; row < still->end_row; row++) {
		const struct last_place last = last_place_of(summary, row);
		size_t at = 0;

		while (at < count &&
		       (places[at].call != last.call ||
			crit_source_location_compare(&places[at].place, &last.place) != 0))
			at++;
		if (at == LAST_PLACES_MAX)
			continue;
		if (at == count) {
			places[count++] = last;
			continue;
		}
		if (places[at].count < LAST_RANKS_SAID)
			places[at].rows[places[at].count] = row;
		places[at].count++;
	}
	return count;
}

static int compare_last_places(const void *a, const void *b)
{
	const struct last_place *left = a, *right = b;

	if (left->count != right->count)
		return left->count < right->count ? -1 : 1;
	return (left->rows[0] > right->rows[0]) - (left->rows[0] < right->rows[0]);
}

/* "ranks 1, 2, 3 and 4 more in MPI_Barrier at solver.c:50". */
static void say_last_place(const struct crit_summary *summary, const struct last_place *last,
			   char *text, size_t text_bytes)
{
	const size_t said = last->count < LAST_RANKS_SAID ? last->count : LAST_RANKS_SAID;
	char ranks[128] = "", more[32] = "", label[32], place[CRIT_REGION_TEXT];

	for (size_t i = 0; i < said; i++) {
		const size_t used = strlen(ranks);

		(void)snprintf(ranks + used, sizeof(ranks) - used, "%s%s",
			       !i                     ? " "
			       : i + 1 == last->count ? " and "
						      : ", ",
			       crit_rank_label(summary->results, (int32_t)last->rows[i], label,
					       sizeof(label)));
	}
	if (last->count > said)
		(void)snprintf(more, sizeof(more), " and %zu more", last->count - said);
	(void)snprintf(text, text_bytes, "rank%s%s%s in %s%s%s", last->count > 1 ? "s" : "", ranks,
		       more, crit_call_name(last->call), last->place.module ? AT : "",
		       last->place.module ? crit_location_fit(&last->place, PLACE_COLUMNS, place,
							      sizeof(place))
					  : "");
}

void crit_verdict_last_calls(const struct crit_summary *summary, char *text, size_t text_bytes)
{
	const struct crit_standstill *still = &summary->lost.still;
	struct last_place places[LAST_PLACES_MAX];
	const size_t count = find_last_places(summary, places);
	size_t left = still->end_row - still->first_row;

	text[0] = '\0';
	qsort(places, count, sizeof(*places), compare_last_places);
	for (size_t i = 0; i < count && i < LAST_PLACES_SAID; i++) {
		const size_t used = strlen(text);
		char one[384];

		say_last_place(summary, &places[i], one, sizeof(one));
		(void)snprintf(text + used, text_bytes - used, "%s%s", i ? ", " : "", one);
		left -= places[i].count;
	}
	if (left)
		(void)snprintf(text + strlen(text), text_bytes - strlen(text),
			       " and %zu more in other calls", left);
}

/* That OpenMP threads wait for locks, critical and ordered sections: of what they idle. */
static double waited_for_locks(const struct crit_results *results)
{
	double sum_ns = 0;

	for (size_t i = 0; i < results->call_count; i++) {
		const struct crit_call_row *row = &results->calls[i];

		if (row->call >= CRIT_CONSTRUCT_CRITICAL_WAIT &&
		    row->call <= CRIT_CONSTRUCT_ATOMIC_WAIT)
			sum_ns += (double)row->wait_ns;
	}
	return sum_ns;
}

/* Ranks are active while one of their threads is: what the others idle is said apart. */
void crit_verdict_omp(const struct crit_summary *summary, char *text, size_t text_bytes)
{
	const struct crit_efficiency *eff = &summary->efficiency;
	double idle_ns = eff->omp_scheduling_ns + eff->omp_imbalance_ns + eff->omp_serial_ns;
	const char *why = "in serial parts";

	text[0] = '\0';
	if (summary->unit != CRIT_UNIT_RANKS ||
	    idle_ns * 1e-9 < OMP_WORTH_SAYING_RATIO * eff->cpus * summary->lost.window_s)
		return;
	if (eff->omp_imbalance_ns > eff->omp_serial_ns)
		why = "by imbalance inside regions";
	if (eff->omp_scheduling_ns > fmax(eff->omp_serial_ns, eff->omp_imbalance_ns))
		why = "for lack of work inside regions";
	if (waited_for_locks(summary->results) >= LOCKS_OF_IDLE_RATIO * idle_ns)
		why = "for locks, critical or ordered sections";
	(void)snprintf(
		text, text_bytes,
		"; inside ranks OpenMP threads idle for %.3f s (sum over threads), mostly %s",
		idle_ns * 1e-9, why);
}
