// SPDX-License-Identifier: BSD-3-Clause
// The tables behind the first screen of report.txt. Seconds unless a head says otherwise.
#include "report/pages/report_details.h"

#include "report/causes/cause_rows.h"
#include "report/causes/cause_words.h"
#include "report/fixes/fix_words.h"
#include "report/pages/hot_text.h"
#include "report/pages/message_text.h"
#include "report/pages/region_text.h"
#include "report/formats/row_writer.h"
#include "core/base/call.h"
#include "core/base/cleanup.h"
#include "core/base/line.h"

#define THREADS_MAX 64
#define CALL_SITES_MAX 32
#define CAUSES_MAX 10
#define FIXES_MAX 8
#define LEAST_GAIN 0.01 /* of the run */

static double seconds(uint64_t value_ns)
{
	return (double)value_ns * 1e-9;
}

static void head(FILE *out, const char *title, const char *what)
{
	fprintf(out, "\n%s\n  %s\n", title, what);
}

static void write_factors(FILE *out, bool has_ranks)
{
	fprintf(out,
		"\nEfficiencies\n"
		"  CPU-time, of all %s: PE = useful time over the whole window, the product of\n"
		"  OpenMP: what is left when threads idle for lack of work (scheduling), for the\n"
		"       slowest of their team (load balance), outside regions (serialization)\n"
		"  LB   load balance: mean useful time and OpenMP's idle one over the largest\n"
		"  OS   oversubscription: what is left when those who want a CPU wait for one\n"
		"  Blk  blocked: what is left when they block outside MPI (locks, sleep, I/O)\n"
		"  Comm what is left when they wait for each other in calls\n",
		has_ranks ? "ranks" : "threads");
	if (has_ranks)
		fprintf(out,
			"  wall-clock: as DLB TALP has it: whatever is neither MPI nor idle in "
			"OpenMP is useful;\n"
			"       load balance and communication make up MPI's part\n");
}

static void write_ranks(FILE *out, const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;

	head(out, "Ranks (unit ranks, scope run)",
	     "CMetric = integral of dt/n while active; all-wait = dt/w while nobody is; share of "
	     "all "
	     "CMetric\n"
	     "  useful = running outside MPI and waits, runnable and blocked likewise outside; "
	     "blame = the others' waiting charged to it");
	crit_rows_text(out, summary, CRIT_TABLE_RANKS,
		       &(struct crit_rows){ .at = results->ranks,
					    .count = results->rank_count,
					    .order = summary->rank_order });
}

static void write_threads(FILE *out, const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;

	head(out, "Threads (unit threads, scope run)",
	     "running, runnable, blocked and unknown are kernel states; assumed: known only from a "
	     "shim");
	crit_rows_text(out, summary, CRIT_TABLE_THREADS,
		       &(struct crit_rows){ .at = results->threads,
					    .count = results->thread_count,
					    .order = summary->thread_order,
					    .max = THREADS_MAX });
	if (results->thread_count > THREADS_MAX)
		fprintf(out, "  and %zu more, all in threads.csv\n",
			results->thread_count - THREADS_MAX);
}

static void write_calls(FILE *out, const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;

	if (results->call_count == 0)
		return;
	head(out, "Calls and constructs (unit threads)",
	     "wait = the part of time that waits: while others were active it is waiting, while "
	     "nobody was the waiters share it as all-wait\n"
	     "  for = the rank active most meanwhile; polled = calls merged into poll spans; "
	     "folded "
	     "= calls only counted");
	crit_rows_text(out, summary, CRIT_TABLE_CALLS,
		       &(struct crit_rows){ .at = results->calls,
					    .count = results->call_count,
					    .order = summary->call_order });
}

static void write_call_sites(FILE *out, const struct crit_summary *summary)
{
	size_t count;
	const struct crit_call_site_row *rows = crit_call_sites_rows(summary->call_sites, &count);

	if (!count)
		return;
	head(out, "Call sites (all ranks; unit threads)",
	     "function, file and line of the call, and the function it was inlined into; of "
	     "programs "
	     "without debug\n"
	     "  data (-g) function, or file, and offset; processes = how many came here");
	crit_rows_text(out, summary, CRIT_TABLE_CALL_SITES,
		       &(struct crit_rows){ .at = rows, .count = count, .max = CALL_SITES_MAX });
	if (count > CALL_SITES_MAX)
		fprintf(out, "  and %zu more in report.json\n", count - CALL_SITES_MAX);
}

static void write_causes(FILE *out, const struct crit_summary *summary)
{
	const struct crit_cause_table *causes = summary->causes;

	if (!causes || !causes->row_count)
		return;
	head(out, "Causes of waiting (all threads)",
	     "cost = time of all who waited for it, directly or through others; direct = of these, "
	     "of "
	     "those who waited for it alone\n"
	     "  path = on the critical path; in a call = data under way, or no cause known");
	crit_rows_text(out, summary, CRIT_TABLE_CAUSES,
		       &(struct crit_rows){
			       .at = causes->rows, .count = causes->row_count, .max = CAUSES_MAX });
	if (causes->row_count > CAUSES_MAX)
		fprintf(out, "  and %zu more, which crit waits shows\n",
			causes->row_count - CAUSES_MAX);
	crit_cause_cut_write(out, causes);
	crit_fix_causeless_write(out, causes->costs);
}

static void write_late_acts(FILE *out, const struct crit_summary *summary)
{
	const struct crit_cause_table *causes = summary->causes;

	if (!causes || !causes->late_count)
		return;
	head(out, "Single acts that others waited for",
	     "impact = time of all who waited for it, and of all who waited for these; longest = "
	     "of the first of them");
	crit_rows_text(out, summary, CRIT_TABLE_LATE_ACTS,
		       &(struct crit_rows){ .at = causes->late_acts,
					    .count = causes->late_count,
					    .max = CAUSES_MAX });
}

static void write_fixes(FILE *out, const struct crit_summary *summary)
{
	const struct crit_fix_table *fixes = summary->fixes;
	size_t count = 0;

	while (fixes && count < fixes->row_count && fixes->rows[count].share >= LEAST_GAIN)
		count++;
	if (!count)
		return;
	head(out, "What would help",
	     "gain = how much sooner the last thread ends, if it wants a CPU as long as it did; "
	     "time "
	     "= that all spend\n"
	     "  there, in a function by samples");
	crit_rows_text(out, summary, CRIT_TABLE_FIXES,
		       &(struct crit_rows){ .at = fixes->rows, .count = count, .max = FIXES_MAX });
	if (fixes->row_count > count || count > FIXES_MAX)
		fprintf(out, "  and %zu more, which crit what-if shows\n",
			fixes->row_count - (count < FIXES_MAX ? count : FIXES_MAX));
	crit_fix_even_write(out, fixes);
}

/* Sum over app threads of every (state, class) cell that is not empty. */
static void write_cells(FILE *out, const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;
	struct crit_cells sum = { 0 };

	for (size_t i = 0; i < results->thread_count; i++)
		if (results->threads[i].role == CRIT_THREAD_APP)
			crit_cells_add(&sum, &results->threads[i].cells);
	head(out, "Where the time of all app threads went (thread-seconds)",
	     "kernel state by span class; the cells sum to the threads' life time");
	fprintf(out, "%-14s", "class");
	for (int s = CRIT_STATE_RUNNING; s < CRIT_STATE_COUNT; s++)
		fprintf(out, " %10s", crit_state_name((enum crit_kernel_state)s));
	for (int c = 0; c < CRIT_CLASS_COUNT; c++) {
		uint64_t row_ns = 0;

		for (int s = 0; s < CRIT_STATE_COUNT; s++)
			row_ns += sum.ns[s][c];
		if (row_ns == 0)
			continue;
		fprintf(out, "\n%-14s",
			c == CRIT_CLASS_NONE ? "no shim"
					     : crit_class_name((enum crit_span_class)c));
		for (int s = CRIT_STATE_RUNNING; s < CRIT_STATE_COUNT; s++)
			fprintf(out, " %10.4f", seconds(sum.ns[s][c]));
	}
	(void)fputc('\n', out);
}

static void write_checks(FILE *out, const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;

	head(out, "Consistency checks",
	     "sum CMetric = T(n>=1); sum CMetric + sum all-wait + nobody = window");
	crit_rows_text(out, summary, CRIT_TABLE_CHECKS,
		       &(struct crit_rows){ .at = results->checks, .count = results->check_count });
}

static void write_nodes(FILE *out, const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;

	head(out,
	     results->has_ranks ? "Nodes (unit ranks, scope run)"
				: "Nodes (unit threads, scope run)",
	     "sums of a node's ranks or threads; imbalance = by how much its slowest exceeds their "
	     "mean useful time");
	crit_rows_text(out, summary, CRIT_TABLE_NODES,
		       &(struct crit_rows){ .at = summary->node_sums,
					    .count = results->node_count });
}

static void write_recordings(FILE *out, const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;

	head(out, "Recordings",
	     "records are those of the kernel half; slots those of the shims; lost of both; bytes "
	     "on disk; clock = microseconds its stamps may be off those of the others, moved = by "
	     "which "
	     "they were, so that no message is received before it was sent");
	crit_rows_text(out, summary, CRIT_TABLE_RECORDINGS,
		       &(struct crit_rows){ .at = results->nodes, .count = results->node_count });
}

static void write_losses(FILE *out, const struct crit_summary *summary)
{
	const struct crit_losses *losses = &summary->results->losses;

	head(out, "Losses",
	     "what is not 0 makes crit report exit with 3; but stale tags, folded waits and "
	     "unmatched switches cost nothing, unknown counts from 1 %\n"
	     "  lines \"lost\" are reasons for exit 3, lines \"missing\" are not");
	fprintf(out,
		"  kernel records %llu, MPI spans %llu, unmatched switches %llu, tag "
		"disagreements %llu,\n"
		"  late records %llu, corrupt chunks %llu, missing chunks %llu, truncated "
		"bytes %llu,\n"
		"  threads without buffer %llu, refused clients %llu, unbalanced spans %llu, "
		"counters %llu,\n"
		"  unknown %.6f s, stale tags %llu, folded waits %.6f s (error bound)\n",
		(unsigned long long)losses->kernel_records, (unsigned long long)losses->shim_spans,
		(unsigned long long)losses->unmatched_switches,
		(unsigned long long)losses->tag_disagreements,
		(unsigned long long)losses->late_records,
		(unsigned long long)losses->corrupt_chunks,
		(unsigned long long)losses->missing_chunks,
		(unsigned long long)losses->truncated_bytes,
		(unsigned long long)losses->no_buffer_threads,
		(unsigned long long)losses->refused_clients,
		(unsigned long long)losses->unbalanced_spans,
		(unsigned long long)losses->counters_lost, seconds(losses->unknown_ns),
		(unsigned long long)losses->tag_stale, seconds(losses->folded_ns));
	for (size_t i = 0; i < summary->missing_count; i++) {
		crit_line_print(out, "  %s: %s\n",
				summary->missing[i].is_incomplete ? "lost" : "missing",
				summary->missing[i].what);
		if (summary->missing[i].fix[0])
			crit_line_print(out, "    fix: %s\n", summary->missing[i].fix);
	}
}

static void write_tables(FILE *out, const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;

	(void)fputs("\nRun\n", out);
	crit_line_print(out, "  program: %s %s\n", results->exe, results->arguments);
	write_factors(out, results->has_ranks);
	if (results->has_ranks)
		write_ranks(out, summary);
	write_threads(out, summary);
	crit_region_text_write_preemptions(out, summary);
	crit_region_text_write(out, summary);
	write_calls(out, summary);
	write_call_sites(out, summary);
	write_causes(out, summary);
	write_late_acts(out, summary);
	write_fixes(out, summary);
	crit_hot_text_write(out, summary);
	crit_hot_text_write_paths(out, summary);
	crit_hot_text_write_waits(out, summary);
	crit_message_text_write(out, summary);
	write_cells(out, summary);
	write_checks(out, summary);
	write_nodes(out, summary);
	write_recordings(out, summary);
	write_losses(out, summary);
}

void crit_write_details(FILE *out, const struct crit_summary *summary)
{
	crit_autofree char *text = NULL;
	size_t length = 0;
	FILE *memory = open_memstream(&text, &length);

	if (!memory)
		return;
	write_tables(memory, summary);
	if (fclose(memory) != 0 || !text)
		return;
	crit_line_tame(text, length, true);
	(void)fwrite(text, 1, length, out); /* the caller looks at the stream's error */
}
