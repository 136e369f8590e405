// SPDX-License-Identifier: BSD-3-Clause
/* The first screen of report.txt: verdict, efficiencies, who, where, laws, what is missing. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/writers.h"
#include "core/abi_socket.h"
#include "core/call.h"

#define RANKS_SHOWN 4
#define CALLS_SHOWN 3
#define SITES_SHOWN 2
#define BAR_CELLS 30
#define LINE_BYTES 512

enum paint {
	PAINT_NONE = 0,
	PAINT_BOLD,
	PAINT_RED,
	PAINT_YELLOW,
	PAINT_DIM,
	PAINT_COUNT
};

struct screen {
	FILE *out;
	bool has_colour;
	int lines;
	int blanks_wanted;
	char text[CRIT_SCREEN_LINES * 2][LINE_BYTES];
	enum paint paint[CRIT_SCREEN_LINES * 2];
	bool is_blank[CRIT_SCREEN_LINES * 2];
	int used;
};

const char *crit_mpi_name(const struct crit_results *results, char *text, size_t text_bytes)
{
	static const char *const flavours[] = { "no MPI", "Open MPI", "MPICH", "OpenMP" };
	unsigned int flavour = results->flavour < 4 ? results->flavour : 0;

	if (!results->has_ranks)
		return "no MPI";
	(void)snprintf(text, text_bytes, "%.40s",
		       results->library[0] ? results->library : flavours[flavour]);
	text[strcspn(text, ",\n")] = '\0';
	if (strncmp(text, "MPICH Version:", 14) == 0) /* "MPICH 4.0.2" */
		memmove(text + 5, text + 14, strlen(text + 14) + 1);
	for (char *p = text; *p; p++)
		if ((unsigned char)*p < ' ')
			*p = ' ';
	return text;
}

const char *crit_level_name(uint32_t level)
{
	return level == CRIT_LEVEL_PROFILE ? "profile" : level == CRIT_LEVEL_TRACE ? "trace" : "?";
}

void crit_text_tame(char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (((unsigned char)text[i] < ' ' && text[i] != '\n') || text[i] == 0x7f)
			text[i] = '?';
}

static void put(struct screen *screen, enum paint paint, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void put(struct screen *screen, enum paint paint, const char *format, ...)
{
	va_list arguments;

	if (screen->lines >= CRIT_SCREEN_LINES || screen->used >= CRIT_SCREEN_LINES * 2)
		return;
	va_start(arguments, format);
	(void)vsnprintf(screen->text[screen->used], LINE_BYTES, format, arguments);
	va_end(arguments);
	screen->text[screen->used][CRIT_SCREEN_COLUMNS] = '\0';
	crit_text_tame(screen->text[screen->used], strlen(screen->text[screen->used]));
	screen->paint[screen->used++] = paint;
	screen->lines++;
}

static void blank(struct screen *screen)
{
	if (screen->used && screen->is_blank[screen->used - 1])
		return;
	if (screen->used < CRIT_SCREEN_LINES * 2)
		screen->is_blank[screen->used++] = true;
}

/* Breaks text at blanks into lines of the screen's width, at most max of them. */
static void put_wrapped(struct screen *screen, enum paint paint, const char *text, int max)
{
	while (*text && max-- > 0) {
		size_t length = strlen(text);

		if (length > CRIT_SCREEN_COLUMNS) {
			length = CRIT_SCREEN_COLUMNS;
			while (length > 1 && text[length] != ' ')
				length--;
			if (length <= 1)
				length = CRIT_SCREEN_COLUMNS;
		}
		put(screen, paint, "%.*s", (int)length, text);
		text += length;
		text += strspn(text, " ");
	}
}

static void flush_screen(struct screen *screen)
{
	static const char *const codes[PAINT_COUNT] = { "", "\033[1m", "\033[31m", "\033[33m",
							"\033[2m" };
	int blanks = CRIT_SCREEN_LINES - screen->lines;

	for (int i = 0; i < screen->used; i++) {
		bool is_painted = screen->has_colour && screen->paint[i];

		if (screen->is_blank[i] && blanks-- <= 0)
			continue;
		(void)fprintf(screen->out, "%s%s%s\n", is_painted ? codes[screen->paint[i]] : "",
			      screen->text[i], is_painted ? "\033[0m" : "");
	}
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* What a command can mend stands above the verdict, the rest below the laws. */
static void put_missing(struct screen *screen, const struct crit_summary *summary, bool is_mendable)
{
	for (size_t i = 0; i < summary->missing_count; i++) {
		const struct crit_missing *row = &summary->missing[i];
		char line[2 * CRIT_SENTENCE_BYTES];

		if ((row->mend[0] != '\0') != is_mendable)
			continue;
		if (CRIT_SCREEN_LINES - screen->lines <= 1 && i + 1 < summary->missing_count) {
			put(screen, PAINT_YELLOW, "missing: %zu more, see Losses below",
			    summary->missing_count - i);
			return;
		}
		(void)snprintf(line, sizeof(line), "%s: %s",
			       row->is_incomplete ? "lost" : "missing", row->what);
		put_wrapped(screen, PAINT_YELLOW, line, 1);
		if (is_mendable) {
			(void)snprintf(line, sizeof(line), "mend it: %s", row->mend);
			put_wrapped(screen, PAINT_YELLOW, line, 3); /* a command is never cut */
		}
	}
}

static void put_title(struct screen *screen, const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;
	char mpi[64];

	put(screen, PAINT_BOLD,
	    "crit: %.40s, %zu rank%s, %zu thread%s, %zu node%s, %s, window %.3f s",
	    base_name(results->exe), results->rank_count, results->rank_count == 1 ? "" : "s",
	    summary->app_threads, summary->app_threads == 1 ? "" : "s", results->node_count,
	    results->node_count == 1 ? "" : "s", crit_mpi_name(results, mpi, sizeof(mpi)),
	    (double)results->window_ns * 1e-9);
	put(screen, PAINT_NONE, "mode: %s; level %s; active: %s", crit_mode_name(summary->mode),
	    results->node_count ? crit_level_name(results->nodes[0].level) : "?",
	    crit_rule_name(results->rule));
	put_missing(screen, summary, true);
}

static void put_verdict(struct screen *screen, const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;
	double window_s = (double)results->window_ns * 1e-9;
	double silent_s = (double)summary->silent_ns * 1e-9;

	put_wrapped(screen, PAINT_BOLD, summary->sentence, 4);
	put_wrapped(screen, PAINT_YELLOW, summary->may_wait_note, 2);
	put(screen, PAINT_NONE, "T(n=0)/window: %.3f (nobody is active for %.3f s of %.3f s)",
	    window_s > 0 ? silent_s / window_s : 0, silent_s, window_s);
}

static void put_efficiency(struct screen *screen, const struct crit_summary *summary)
{
	const struct crit_efficiency *eff = &summary->efficiency;

	if (!eff->is_valid || summary->verdict == CRIT_VERDICT_NOTHING)
		return;
	put(screen, PAINT_NONE,
	    "efficiency, CPU-%s: PE %.3f = LB %.3f x OS %.3f x IO %.3f x Comm %.3f",
	    summary->mode == CRIT_MODE_SHIMS_ONLY ? "assumed" : "true", eff->cpu_parallel,
	    eff->cpu_balance, eff->cpu_oversubscription, eff->cpu_io, eff->cpu_communication);
	if (summary->results->has_ranks)
		put(screen, PAINT_NONE,
		    "efficiency, wall-clock (TALP): PE %.3f = LB %.3f x Comm %.3f",
		    eff->wall_parallel, eff->wall_balance, eff->wall_communication);
	if (summary->results->node_count > 1)
		put(screen, PAINT_NONE,
		    "LB within and across nodes: CPU-true %.3f x %.3f, wall-clock %.3f x %.3f",
		    eff->cpu_balance_in, eff->cpu_balance_out, eff->wall_balance_in,
		    eff->wall_balance_out);
}

static void draw_bar(char *bar, double share)
{
	int filled = (int)(share * BAR_CELLS + 0.5);

	for (int i = 0; i < BAR_CELLS; i++)
		bar[i] = i < filled ? '#' : '.';
	bar[BAR_CELLS] = '\0';
}

static void put_ranks(struct screen *screen, const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;
	size_t shown = results->rank_count < RANKS_SHOWN ? results->rank_count : RANKS_SHOWN;

	put(screen, PAINT_DIM, "%4s %-14s %11s %11s %11s %7s   top %zu of %zu ranks by CMetric",
	    "rank", "node", "CMetric s", "useful s", "MPI wait s", "share", shown,
	    results->rank_count);
	for (size_t i = 0; i < shown; i++) {
		const struct crit_rank_row *rank = &results->ranks[summary->rank_order[i]];
		double share = crit_summary_share(summary, &rank->run);
		struct crit_usage usage;
		char bar[BAR_CELLS + 1];
		char name[32];

		crit_usage_of(&rank->cells, &usage);
		draw_bar(bar, share);
		put(screen,
		    i == 0 && summary->verdict == CRIT_VERDICT_CRITICAL ? PAINT_RED : PAINT_NONE,
		    "%4s %-14.14s %11.3f %11.3f %11.3f %6.1f%%   %s",
		    crit_summary_rank_name(results, (int32_t)summary->rank_order[i], name,
					   sizeof(name)),
		    results->nodes[rank->node].host,
		    crit_fix_seconds(rank->run.cmetric[CRIT_UNIT_RANKS]),
		    (double)usage.useful_ns * 1e-9, (double)usage.mpi_wait_ns * 1e-9, 100 * share,
		    bar);
	}
}

static void put_threads(struct screen *screen, const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;
	size_t most = RANKS_SHOWN + CALLS_SHOWN + SITES_SHOWN;
	size_t shown = summary->app_threads < most ? summary->app_threads : most;

	put(screen, PAINT_DIM, "%8s %-16s %11s %11s %11s %7s   top %zu of %zu threads", "tid",
	    "name", "CMetric s", "running s", "blocked s", "share", shown, summary->app_threads);
	for (size_t i = 0; i < shown; i++) {
		const struct crit_thread_row *thread = &results->threads[summary->thread_order[i]];
		double share = crit_summary_share(summary, &thread->run);
		char bar[BAR_CELLS + 1];

		draw_bar(bar, share);
		put(screen,
		    i == 0 && summary->verdict == CRIT_VERDICT_CRITICAL ? PAINT_RED : PAINT_NONE,
		    "%8u %-16.16s %11.3f %11.3f %11.3f %6.1f%%   %.28s", thread->tid, thread->name,
		    crit_fix_seconds(thread->run.cmetric[CRIT_UNIT_THREADS]),
		    (double)crit_cells_state(&thread->cells, CRIT_STATE_RUNNING) * 1e-9,
		    (double)crit_cells_state(&thread->cells, CRIT_STATE_BLOCKED) * 1e-9,
		    100 * share, bar);
	}
}

static void put_calls(struct screen *screen, const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;

	if (results->call_count == 0)
		return;
	put(screen, PAINT_DIM, "%-22s %10s %10s %10s %10s %10s  %s", "call", "visits", "time s",
	    "wait s", "stall s", "waiting s", "waits for");
	for (size_t i = 0; i < results->call_count && i < CALLS_SHOWN; i++) {
		const struct crit_call_row *call = &results->calls[summary->call_order[i]];
		char name[32];

		put(screen, PAINT_NONE, "%-22.22s %10llu %10.3f %10.3f %10.3f %10.3f  rank %s",
		    crit_call_name(call->call), (unsigned long long)call->visits,
		    (double)call->time_ns * 1e-9, (double)call->wait_ns * 1e-9,
		    crit_fix_seconds(call->run.stall[CRIT_UNIT_THREADS]),
		    (double)call->run.waiting_ns * 1e-9,
		    crit_summary_rank_name(results, call->top_rank_row, name, sizeof(name)));
	}
	for (size_t i = 0; summary->sites && i < summary->sites->row_count && i < SITES_SHOWN;
	     i++) {
		const struct crit_site_row *site = &summary->sites->rows[i];
		char text[22];

		put(screen, PAINT_NONE, "site %-17.17s %10llu %10.3f %10.3f %10.3f %10.3f  %s",
		    crit_call_name(site->call), (unsigned long long)site->visits,
		    (double)site->time_ns * 1e-9, (double)site->wait_ns * 1e-9,
		    crit_fix_seconds(site->stall), (double)site->waiting_ns * 1e-9,
		    crit_site_text(site->module, site->offset, text, sizeof(text)));
	}
}

static void put_trust(struct screen *screen, const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;
	double worst = 0;

	for (size_t i = 0; i < results->law_count; i++)
		if (results->laws[i].error_ratio > worst)
			worst = results->laws[i].error_ratio;
	put(screen, worst > 1e-9 ? PAINT_RED : PAINT_NONE,
	    "laws: sum CMetric = T(n>=1), + stall = window: worst error %.1e over %zu; %s", worst,
	    results->law_count, worst > 1e-9 ? "BROKEN" : "they hold");
	if (summary->missing_count == 0) {
		put(screen, PAINT_NONE, "losses: none; nothing is missing");
		return;
	}
	put_missing(screen, summary, false);
}

void crit_write_text(FILE *out, const struct crit_summary *summary,
		     const struct crit_text_options *options)
{
	struct screen *screen = calloc(1, sizeof(*screen));

	if (!screen)
		return;
	screen->out = out;
	screen->has_colour = options->has_colour;
	put_title(screen, summary);
	blank(screen);
	put_verdict(screen, summary);
	blank(screen);
	put_efficiency(screen, summary);
	blank(screen);
	if (summary->results->has_ranks)
		put_ranks(screen, summary);
	else
		put_threads(screen, summary);
	blank(screen);
	put_calls(screen, summary);
	blank(screen);
	put_trust(screen, summary);
	flush_screen(screen);
	free(screen);
	if (!options->is_first_screen_only)
		crit_write_details(out, summary);
}
