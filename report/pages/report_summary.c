// SPDX-License-Identifier: BSD-3-Clause
// The figures of the first screen for scripts: one a line, a key, a colon and the value.
#include "report/pages/report_summary.h"

#include "report/findings/programs.h"
#include "report/findings/verdict.h"
#include "report/tables/labels.h"
#include "core/base/line.h"

static void put_number(FILE *out, const char *key, double value)
{
	fprintf(out, "%s: %.6f\n", key, value);
}

static void put_count(FILE *out, const char *key, size_t count)
{
	fprintf(out, "%s: %zu\n", key, count);
}

/* Line breaks and control characters of a name would make another line. */
static void put_text(FILE *out, const char *key, const char *text)
{
	crit_line_print(out, "%s: %s\n", key, text);
}

static void put_job(FILE *out, const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;
	size_t others;

	put_text(out, "program", crit_programs_name(results, &others));
	put_count(out, "other_programs", others);
	put_count(out, "ranks", results->rank_count);
	put_count(out, "threads", summary->app_threads);
	put_count(out, "nodes", results->node_count);
	put_text(out, "mode", crit_mode_name(summary->mode));
	put_text(out, "complete", summary->is_incomplete ? "no" : "yes");
	put_number(out, "window_s", (double)results->window_ns * 1e-9);
	put_number(out, "all_waiting_window_s", (double)summary->silent_ns * 1e-9);
}

static void put_verdict(FILE *out, const struct crit_summary *summary)
{
	static const char *const losses[CRIT_LOSS_COUNT] = { "cpus_s",        "imbalance_s",
							     "all_waiting_s", "blocked_s",
							     "mpi_library_s", "unknown_s" };
	const struct crit_lost_time *lost = &summary->lost;

	put_text(out, "verdict", crit_verdict_name(summary->verdict));
	put_text(out, "sentence", summary->sentence);
	if (!lost->is_valid)
		return;
	if (lost->named_count && summary->unit == CRIT_UNIT_RANKS) {
		char name[32];

		put_text(out, "most_work_rank",
			 crit_rank_label(summary->results, (int32_t)lost->named[0].row, name,
					 sizeof(name)));
	}
	put_number(out, "gain_s", lost->gain_s);
	put_number(out, "bound_s", lost->window_s - lost->gain_s);
	put_number(out, "useful_s", lost->useful_s);
	for (int i = 0; i < CRIT_LOSS_COUNT; i++)
		put_number(out, losses[i], lost->loss_s[i]);
}

static void put_efficiency(FILE *out, const struct crit_summary *summary)
{
	const struct crit_efficiency *eff = &summary->efficiency;

	if (!eff->is_valid)
		return;
	put_number(out, "cpu_parallel_ratio", eff->cpu_parallel);
	if (eff->has_omp)
		put_number(out, "cpu_omp_parallel_ratio", eff->cpu_omp_parallel);
	put_number(out, "cpu_load_balance_ratio", eff->cpu_balance);
	put_number(out, "cpu_oversubscription_ratio", eff->cpu_oversubscription);
	put_number(out, "cpu_io_ratio", eff->cpu_io);
	put_number(out, "cpu_communication_ratio", eff->cpu_communication);
	if (!summary->results->has_ranks)
		return;
	put_number(out, "wall_parallel_ratio", eff->wall_parallel);
	put_number(out, "wall_load_balance_ratio", eff->wall_balance);
	put_number(out, "wall_communication_ratio", eff->wall_communication);
}

void crit_write_summary(FILE *out, const struct crit_summary *summary)
{
	put_job(out, summary);
	put_verdict(out, summary);
	put_efficiency(out, summary);
}
