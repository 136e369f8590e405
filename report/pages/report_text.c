// SPDX-License-Identifier: BSD-3-Clause
// First screen of report.txt: verdict, efficiencies, ranks, regions, calls, checks, what is
// missing.
#include "report/pages/report_text.h"

#include <string.h>

#include "report/findings/runtimes.h"
#include "report/findings/programs.h"
#include "report/pages/report_details.h"
#include "report/formats/screen.h"
#include "report/tables/labels.h"
#include "report/tables/location_fit.h"
#include "report/tables/rank_spread.h"
#include "core/abi/abi_socket.h"
#include "core/base/call.h"
#include "core/base/line.h"

#define RANKS_SHOWN 4
#define RANKS_MANY 32 /* beyond it how the work is spread is told in one line */
#define HISTOGRAM_MIN 16 /* cells */
#define THREADS_SHOWN 9
#define REGIONS_SHOWN 3
#define CALLS_SHOWN 3
#define NARROW_COLUMNS 76 /* below it tables leave out a column */
#define PROGRAM_COLUMNS 24
#define REGION_COLUMNS_MAX 64
#define CALL_COLUMNS_MAX 29
#define TRUST_LINES 4 /* kept for consistency checks and losses */

static const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

/* Rows from that one on that a command can fix, or those that none can. */
static size_t count_missing(const struct crit_summary *summary, size_t first, bool is_mendable)
{
	size_t count = 0;

	for (size_t i = first; i < summary->missing_count; i++)
		count += (summary->missing[i].fix[0] != '\0') == is_mendable;
	return count;
}

/* What a command can fix stands above the verdict, the rest below the consistency checks. */
static void put_missing(struct crit_screen *screen, const struct crit_summary *summary,
			bool is_mendable)
{
	for (size_t i = 0; i < summary->missing_count; i++) {
		const struct crit_missing *row = &summary->missing[i];
		const size_t left = count_missing(summary, i, is_mendable);
		const int room = crit_screen_room(screen) - (left > 1); /* for how many more */
		char line[2 * CRIT_SENTENCE_BYTES];

		if ((row->fix[0] != '\0') != is_mendable)
			continue;
		if (room <= 0 && left > 1) {
			crit_screen_put(screen, CRIT_PAINT_YELLOW, "%s: %zu more, see Losses below",
					summary->is_incomplete ? "lost or missing" : "missing",
					left);
			return;
		}
		(void)snprintf(line, sizeof(line), "%s: %s",
			       row->is_incomplete ? "lost" : "missing", row->what);
		crit_screen_wrap(screen, CRIT_PAINT_YELLOW, line, room < 2 ? room : 2);
		if (is_mendable) {
			(void)snprintf(line, sizeof(line), "fix: %s", row->fix);
			crit_screen_wrap(screen, CRIT_PAINT_YELLOW, line, 4); /* never cut */
		}
	}
}

/* "; slurm 42.0", or nothing. */
static void describe_job(const struct crit_job *job, char ret_text[96])
{
	ret_text[0] = '\0';
	if (job->scheduler[0])
		(void)snprintf(ret_text, 96, "; %.8s %.24s%s%.16s", job->scheduler,
			       job->array[0] ? job->array : job->name, job->step[0] ? "." : "",
			       job->step);
}

/* In one line, or in two: a program with a long name, or many ranks. */
static void put_run(struct crit_screen *screen, const struct crit_results *results, size_t threads)
{
	char program[PROGRAM_COLUMNS + 1], others[32] = "", mpi[64], counts[160], rest[128];
	size_t other_count;
	const char *name = crit_programs_name(results, &other_count);

	if (other_count)
		(void)snprintf(others, sizeof(others), " + %zu other%s", other_count,
			       plural(other_count));
	(void)snprintf(counts, sizeof(counts), "crit: %s%s, %zu rank%s, %zu thread%s, %zu node%s,",
		       crit_name_fit(name, PROGRAM_COLUMNS, program, sizeof(program)), others,
		       results->rank_count, plural(results->rank_count), threads, plural(threads),
		       results->node_count, plural(results->node_count));
	(void)snprintf(rest, sizeof(rest), "%.32s, window %.3f s",
		       crit_mpi_label(results, mpi, sizeof(mpi)),
		       (double)results->window_ns * 1e-9);
	if (strlen(counts) + 1 + strlen(rest) <= (size_t)crit_screen_columns(screen)) {
		crit_screen_put(screen, CRIT_PAINT_BOLD, "%s %s", counts, rest);
	} else {
		crit_screen_wrap(screen, CRIT_PAINT_BOLD, counts, 2);
		crit_screen_put(screen, CRIT_PAINT_BOLD, "%s", rest);
	}
}

static void put_title(struct crit_screen *screen, const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;
	const enum crit_openmp openmp = crit_openmp_of(summary);
	char job[96];

	describe_job(&results->job, job);
	put_run(screen, results, summary->app_threads);
	crit_screen_say(screen, CRIT_PAINT_DIM, "mode: %s; level %s; active: %s%s%s%s%s",
			crit_mode_name(summary->mode),
			results->node_count ? crit_level_name(results->nodes[0].level) : "?",
			crit_rule_name(results->rule), openmp > CRIT_OPENMP_UNKNOWN ? "; " : "",
			openmp > CRIT_OPENMP_UNKNOWN ? crit_openmp_name(openmp) : "",
			openmp == CRIT_OPENMP_GNU ? ", approximate" : "", job);
	put_missing(screen, summary, true);
}

/* Would three digits of the seconds show anything? */
static bool is_shown(double seconds)
{
	return seconds >= 0.0005;
}

/* "per rank: useful 0.800 s, imbalance 0.400 s": what the window is made of. */
static void put_lost_time(struct crit_screen *screen, const struct crit_lost_time *lost)
{
	static const char *const names[CRIT_LOSS_COUNT] = { "CPUs short", "imbalance", "all wait",
							    "blocked",    "library",   "unknown" };
	char line[CRIT_SCREEN_LINE_BYTES];
	size_t used;

	if (!lost->is_valid)
		return;
	used = (size_t)snprintf(line, sizeof(line), "per %s: useful %.3f s",
				lost->unit == CRIT_UNIT_RANKS ? "rank" : "thread", lost->useful_s);
	for (int i = 0; i < CRIT_LOSS_COUNT; i++)
		if (is_shown(lost->loss_s[i]))
			used += (size_t)snprintf(line + used, sizeof(line) - used, ", %s %.3f s",
						 names[i], lost->loss_s[i]);
	crit_screen_wrap(screen, CRIT_PAINT_NONE, line, 2);
}

static void put_verdict(struct crit_screen *screen, const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;
	double window_s = (double)results->window_ns * 1e-9;
	double silent_s = (double)summary->silent_ns * 1e-9;

	crit_screen_wrap(screen, CRIT_PAINT_BOLD, summary->sentence, 8);
	crit_screen_wrap(screen, CRIT_PAINT_YELLOW, summary->preempted_note, 3);
	crit_screen_wrap(screen, CRIT_PAINT_YELLOW, summary->may_wait_note, 3);
	crit_screen_say(screen, CRIT_PAINT_NONE,
			"T(n=0)/window: %.3f (nobody is active for %.3f s of %.3f s)",
			window_s > 0 ? silent_s / window_s : 0, silent_s, window_s);
	if (summary->lost.is_valid && summary->lost.unit_count > 1)
		crit_screen_say(screen, CRIT_PAINT_NONE,
				"bound: with balanced %ss the window would be %.3f s at best",
				results->has_ranks ? "rank" : "thread",
				window_s - summary->lost.gain_s);
	put_lost_time(screen, &summary->lost);
}

static enum crit_paint paint_of(double ratio)
{
	return ratio < 0.7 ? CRIT_PAINT_RED : ratio < 0.9 ? CRIT_PAINT_YELLOW : CRIT_PAINT_GREEN;
}

#define NO_FACTOR (-1.0) /* this side does not have it */
#define NO_SIDE (-2.0) /* there is no such side */

static void put_factor(struct crit_screen *screen, const char *name, double cpu, double wall)
{
	double shown = cpu >= 0 ? cpu : wall;
	char left[16] = "-", right[16] = "-", bar[CRIT_SCREEN_BAR_MAX + 1];

	if (wall <= NO_SIDE)
		right[0] = '\0';
	if (cpu >= 0)
		(void)snprintf(left, sizeof(left), "%.3f", cpu);
	if (wall >= 0)
		(void)snprintf(right, sizeof(right), "%.3f", wall);
	crit_screen_put(screen, paint_of(shown), "%-30s %12s %12s  %s", name, left, right,
			crit_screen_bar(shown, crit_screen_columns(screen) - 60, bar));
}

static void put_efficiency(struct crit_screen *screen, const struct crit_summary *summary)
{
	const struct crit_efficiency *eff = &summary->efficiency;
	bool has_ranks = summary->results->has_ranks;
	double none = has_ranks ? NO_FACTOR : NO_SIDE;

	if (!eff->is_valid || summary->verdict == CRIT_VERDICT_NOTHING)
		return;
	crit_screen_put(screen, CRIT_PAINT_DIM, "%-30s %12s %12s", "efficiency",
			summary->mode == CRIT_MODE_SHIMS_ONLY ? "CPU-assumed" : "CPU-time",
			has_ranks ? "wall-clock" : "");
	put_factor(screen, "parallel", eff->cpu_parallel, has_ranks ? eff->wall_parallel : none);
	if (eff->has_omp) {
		put_factor(screen, "|- OpenMP", eff->cpu_omp_parallel,
			   has_ranks ? eff->wall_omp_parallel : none);
		put_factor(screen, "|  |- scheduling", eff->cpu_omp_scheduling,
			   has_ranks ? eff->wall_omp_scheduling : none);
		put_factor(screen, "|  |- load balance", eff->cpu_omp_balance,
			   has_ranks ? eff->wall_omp_balance : none);
		put_factor(screen, "|  `- serialization", eff->cpu_omp_serialization,
			   has_ranks ? eff->wall_omp_serialization : none);
	}
	put_factor(screen, "|- load balance", eff->cpu_balance,
		   has_ranks ? eff->wall_balance : none);
	if (summary->results->node_count > 1) {
		put_factor(screen, "|  |- within nodes", eff->cpu_balance_in,
			   has_ranks ? eff->wall_balance_in : none);
		put_factor(screen, "|  `- across nodes", eff->cpu_balance_out,
			   has_ranks ? eff->wall_balance_out : none);
	}
	put_factor(screen, "|- oversubscription", eff->cpu_oversubscription, none);
	put_factor(screen, "|- blocked", eff->cpu_io, none);
	put_factor(screen, "`- communication", eff->cpu_communication,
		   has_ranks ? eff->wall_communication : none);
}

/* A rank or thread the verdict names. */
static enum crit_paint paint_row(const struct crit_summary *summary, size_t row)
{
	const struct crit_lost_time *lost = &summary->lost;

	for (size_t i = 0; i < lost->named_count && i < CRIT_NAMED_MAX; i++)
		if (lost->named[i].row == row)
			return CRIT_PAINT_RED;
	return CRIT_PAINT_NONE;
}

/* Of a table with a head: at most max, and what the page has room for. */
static size_t rows_shown(const struct crit_screen *screen, size_t count, size_t max)
{
	const int room = crit_screen_room(screen) - 1;

	count = count < max ? count : max;
	return room <= 0 ? 0 : count < (size_t)room ? count : (size_t)room;
}

/* Of a table that is so many columns wide without it; "" where a page has no room. */
static const char *count_text(const struct crit_screen *screen, int columns, size_t shown,
			      size_t count, char text[64])
{
	(void)snprintf(text, 64, "  top %zu of %zu", shown, count);
	return columns + (int)strlen(text) <= crit_screen_columns(screen) ? text : "";
}

static void put_ranks(struct crit_screen *screen, const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;
	size_t shown = rows_shown(screen, results->rank_count, RANKS_SHOWN);
	int wide = crit_screen_columns(screen) > CRIT_SCREEN_COLUMNS
			   ? crit_screen_columns(screen) - CRIT_SCREEN_COLUMNS
			   : 0;
	int host = wide > 36 ? 24 : 12 + wide / 3;
	char count[64];

	crit_screen_put(screen, CRIT_PAINT_DIM, "%5s %-*s %10s %10s %10s %7s%s", "rank", host,
			"node", "CMetric s", "useful s", "MPI wait s", "share",
			count_text(screen, 47 + host, shown, results->rank_count, count));
	for (size_t i = 0; i < shown; i++) {
		const struct crit_rank_row *rank = &results->ranks[summary->rank_order[i]];
		double share = crit_summary_share(summary, &rank->run);
		struct crit_usage usage;
		char name[32], node[32], bar[CRIT_SCREEN_BAR_MAX + 1];

		crit_usage_of(&rank->cells, &usage);
		crit_screen_put(
			screen, paint_row(summary, summary->rank_order[i]),
			"%5s %-*s %10.3f %10.3f %10.3f %6.1f%%  %s",
			crit_rank_label(results, (int32_t)summary->rank_order[i], name,
					sizeof(name)),
			host,
			crit_name_fit(results->nodes[rank->node].host, host, node, sizeof(node)),
			crit_fix_seconds(rank->run.cmetric[CRIT_UNIT_RANKS]),
			(double)usage.useful_ns * 1e-9, (double)usage.mpi_wait_ns * 1e-9,
			100 * share,
			crit_screen_bar(share, crit_screen_columns(screen) - 50 - host, bar));
	}
}

/* Of many ranks the first few do not tell how the work is spread. */
static void put_spread(struct crit_screen *screen, const struct crit_results *results)
{
	struct crit_rank_spread spread;
	char least[32], most[32], bar[CRIT_SPREAD_CELLS_MAX + 1], line[CRIT_SCREEN_LINE_BYTES];
	int cells;

	if (results->rank_count <= RANKS_MANY || crit_rank_spread_of(results, 0, &spread))
		return;
	(void)snprintf(line, sizeof(line),
		       "useful s: min %.3f rank %s, quartiles %.3f %.3f %.3f, max %.3f rank %s",
		       spread.least_s,
		       crit_rank_label(results, (int32_t)spread.least_row, least, sizeof(least)),
		       spread.quartiles_s[0], spread.quartiles_s[1], spread.quartiles_s[2],
		       spread.most_s,
		       crit_rank_label(results, (int32_t)spread.most_row, most, sizeof(most)));
	cells = crit_screen_columns(screen) - (int)strlen(line) - 3;
	if (cells >= HISTOGRAM_MIN && !crit_rank_spread_of(results, cells, &spread))
		crit_screen_put(screen, CRIT_PAINT_NONE, "%s [%s]", line,
				crit_rank_spread_histogram(&spread, bar));
	else
		crit_screen_say(screen, CRIT_PAINT_NONE, "%s", line);
}

static void put_threads(struct crit_screen *screen, const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;
	size_t shown = rows_shown(screen, summary->app_threads, THREADS_SHOWN);
	int name_columns = crit_screen_columns(screen) < NARROW_COLUMNS ? 11 : 15;
	char count[64];

	crit_screen_put(screen, CRIT_PAINT_DIM, "%8s %-*s %9s %9s %9s %7s%s", "tid", name_columns,
			"name", "CMetric s", "running s", "blocked s", "share",
			count_text(screen, 47 + name_columns, shown, summary->app_threads, count));
	for (size_t i = 0; i < shown; i++) {
		const struct crit_thread_row *thread = &results->threads[summary->thread_order[i]];
		double share = crit_summary_share(summary, &thread->run);
		char bar[CRIT_SCREEN_BAR_MAX + 1];

		crit_screen_put(screen, paint_row(summary, summary->thread_order[i]),
				"%8u %-*.*s %9.3f %9.3f %9.3f %6.1f%%  %s", thread->tid,
				name_columns, name_columns, thread->name,
				crit_fix_seconds(thread->run.cmetric[CRIT_UNIT_THREADS]),
				(double)crit_cells_state(&thread->cells, CRIT_STATE_RUNNING) * 1e-9,
				(double)crit_cells_state(&thread->cells, CRIT_STATE_BLOCKED) * 1e-9,
				100 * share,
				crit_screen_bar(share, crit_screen_columns(screen) - 64, bar));
	}
}

/* "0:4242": rank and thread in a word. */
static const char *short_label(const struct crit_results *results, int32_t thread, char *text,
			       size_t text_bytes)
{
	char rank[32];

	if (thread < 0)
		return "-";
	if (results->threads[thread].rank_row < 0)
		(void)snprintf(text, text_bytes, "%u", results->threads[thread].tid);
	else
		(void)snprintf(text, text_bytes, "%s:%u",
			       crit_rank_label(results, results->threads[thread].rank_row, rank,
					       sizeof(rank)),
			       results->threads[thread].tid);
	return text;
}

/* " 1.234", or nothing on a narrow page. */
static const char *optional_s(const struct crit_screen *screen, int width, double seconds,
			      char text[16])
{
	text[0] = '\0';
	if (crit_screen_columns(screen) >= NARROW_COLUMNS)
		(void)snprintf(text, 16, " %*.3f", width, seconds);
	return text;
}

static const char *slowest_label(const struct crit_summary *summary,
				 const struct crit_region_line *line, char *text, size_t text_bytes)
{
	int32_t thread = is_shown(line->threads.max_s) ? line->threads.slowest : -1;

	return short_label(summary->results, thread, text, text_bytes);
}

/* What the figures of the regions leave of the page for their names. */
static int region_columns(const struct crit_screen *screen, const struct crit_summary *summary)
{
	const struct crit_region_table *table = &summary->regions;
	int columns = crit_screen_columns(screen) -
		      (crit_screen_columns(screen) < NARROW_COLUMNS ? 28 : 38);
	int longest = (int)strlen("slowest");

	for (size_t i = 0; i < table->row_count && i < REGIONS_SHOWN; i++) {
		char text[48];
		int length = (int)strlen(
			slowest_label(summary, &table->rows[table->order[i]], text, sizeof(text)));

		longest = length > longest ? length : longest;
	}
	columns -= longest;
	return columns < REGION_COLUMNS_MAX ? columns : REGION_COLUMNS_MAX;
}

static void put_region(struct crit_screen *screen, const struct crit_summary *summary,
		       const struct crit_region_line *line, int columns)
{
	double cmetric_s = crit_fix_seconds(line->sum.run.cmetric[CRIT_UNIT_THREADS]);
	double useful_s = (double)line->sum.useful_ns * 1e-9;
	double waits_s = (double)(line->sum.omp_wait_ns + line->sum.mpi_ns) * 1e-9;
	char name[CRIT_REGION_TEXT], slowest[48], useful[16], percent[16] = "-";

	if (!is_shown(cmetric_s) && !is_shown(useful_s) && !is_shown(waits_s))
		return;
	if (is_shown(line->threads.max_s))
		(void)snprintf(percent, sizeof(percent), "%.0f%%", line->threads.percent);
	crit_screen_put(screen, CRIT_PAINT_NONE, "%-*s %9.3f%s %9.3f %6s %s", columns,
			crit_region_fit(line, columns, name, sizeof(name)), cmetric_s,
			optional_s(screen, 9, useful_s, useful), waits_s, percent,
			slowest_label(summary, line, slowest, sizeof(slowest)));
}

static void put_regions(struct crit_screen *screen, const struct crit_summary *summary)
{
	const struct crit_region_table *table = &summary->regions;
	int columns = region_columns(screen, summary);

	if (table->row_count == 0)
		return;
	crit_screen_put(screen, CRIT_PAINT_DIM, "%-*s %9s%s %9s %6s %s", columns, "region",
			"CMetric s",
			crit_screen_columns(screen) < NARROW_COLUMNS ? "" : "  useful s", "waits s",
			"imbal.", "slowest");
	for (size_t i = 0; i < table->row_count && i < REGIONS_SHOWN; i++)
		put_region(screen, summary, &table->rows[table->order[i]], columns);
}

/* Where most of a call's waiting is; sites come in that order. */
static void put_site(struct crit_screen *screen, const struct crit_call_sites *call_sites,
		     uint32_t call)
{
	size_t count;
	const struct crit_call_site_row *rows = crit_call_sites_rows(call_sites, &count);

	for (size_t i = 0; i < count; i++) {
		const struct crit_call_site_row *site = &rows[i];
		char wait[48], text[CRIT_SCREEN_LINE_BYTES];

		if (site->call != call)
			continue;
		if (!site->place.module && !site->place.offset)
			return;
		(void)snprintf(wait, sizeof(wait), ", %.3f s", (double)site->wait_ns * 1e-9);
		crit_screen_put(
			screen, CRIT_PAINT_DIM, "  at %s%s",
			crit_location_fit(&site->place,
					  crit_screen_columns(screen) - 5 - (int)strlen(wait), text,
					  sizeof(text)),
			wait);
		return;
	}
}

static int call_columns(const struct crit_screen *screen)
{
	int columns = crit_screen_columns(screen) -
		      (crit_screen_columns(screen) < NARROW_COLUMNS ? 43 : 54);

	return columns < CALL_COLUMNS_MAX ? columns : CALL_COLUMNS_MAX;
}

static void put_call(struct crit_screen *screen, const struct crit_summary *summary,
		     const struct crit_call_row *call)
{
	char name[32], label[32], rank[48] = "", all_waiting[16];
	int columns = call_columns(screen);

	if (call->top_rank_row >= 0)
		(void)snprintf(rank, sizeof(rank), "  rank %s",
			       crit_rank_label(summary->results, call->top_rank_row, label,
					       sizeof(label)));
	crit_screen_put(screen, CRIT_PAINT_NONE, "%-*s %9llu %9.3f%s %9.3f%s", columns,
			crit_name_fit(crit_call_name(call->call), columns, name, sizeof(name)),
			(unsigned long long)call->visits, (double)call->wait_ns * 1e-9,
			optional_s(screen, 10,
				   crit_fix_seconds(call->run.all_waiting[CRIT_UNIT_THREADS]),
				   all_waiting),
			(double)call->run.waiting_ns * 1e-9, rank);
	put_site(screen, summary->call_sites, call->call);
}

/* Calls by what is waited in them; those that never wait are in the table below. */
static void put_calls(struct crit_screen *screen, const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;

	for (size_t i = 0; i < results->call_count && i < CALLS_SHOWN; i++) {
		const struct crit_call_row *call = &results->calls[summary->call_order[i]];

		if (!is_shown((double)call->wait_ns * 1e-9))
			return;
		if (i == 0)
			crit_screen_put(
				screen, CRIT_PAINT_DIM, "%-*s %9s %9s%s %9s%s",
				call_columns(screen), "call", "visits", "wait s",
				crit_screen_columns(screen) < NARROW_COLUMNS ? "" : " all-wait s",
				"waiting s", results->has_ranks ? "  waits for" : "");
		put_call(screen, summary, call);
	}
}

static void put_trust(struct crit_screen *screen, const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;
	double worst = 0;

	for (size_t i = 0; i < results->check_count; i++)
		if (results->checks[i].error_ratio > worst)
			worst = results->checks[i].error_ratio;
	crit_screen_say(screen, worst > 1e-9 ? CRIT_PAINT_RED : CRIT_PAINT_NONE,
			"checks: sum CMetric = T(n>=1), + all-wait = window: worst %.1e over %zu; "
			"%s",
			worst, results->check_count, worst > 1e-9 ? "BROKEN" : "hold");
	if (summary->missing_count == 0) {
		crit_screen_put(screen, CRIT_PAINT_NONE, "losses: none%s",
				summary->is_provisional ? " so far; not all is recorded yet"
							: "; nothing is missing");
		return;
	}
	put_missing(screen, summary, false);
}

static void fill_screen(struct crit_screen *screen, const struct crit_summary *summary)
{
	put_title(screen, summary);
	crit_screen_blank(screen);
	put_verdict(screen, summary);
	crit_screen_blank(screen);
	put_efficiency(screen, summary);
	crit_screen_blank(screen);
	if (summary->results->has_ranks) {
		put_ranks(screen, summary);
		put_spread(screen, summary->results);
	} else {
		put_threads(screen, summary);
	}
	crit_screen_blank(screen);
	put_regions(screen, summary);
	crit_screen_blank(screen);
	put_calls(screen, summary);
	crit_screen_blank(screen);
	crit_screen_limit(screen, CRIT_SCREEN_LINES);
	put_trust(screen, summary);
}

void crit_write_text(FILE *out, const struct crit_summary *summary,
		     const struct crit_text_options *options)
{
	struct crit_screen *screen = crit_screen_create(
		&(struct crit_screen_options){ .has_colour = options->has_colour,
					       .columns = options->columns,
					       .limit = CRIT_SCREEN_LINES - TRUST_LINES });

	if (!screen)
		return;
	fill_screen(screen, summary);
	crit_screen_write(screen, out);
	crit_screen_destroy(screen);
	if (!options->is_first_screen_only)
		crit_write_details(out, summary);
}
