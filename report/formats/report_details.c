// SPDX-License-Identifier: BSD-3-Clause
/* The tables behind the first screen of report.txt. Seconds unless a head says otherwise. */
#include "report/formats/messages.h"
#include "report/formats/region_writers.h"
#include "report/formats/writers.h"
#include "core/base/call.h"
#include "core/base/cleanup.h"
#include "core/base/line.h"

#define THREADS_MAX 64
#define SITES_MAX 32
#define PLACE_BYTES 160

static const char *const state_names[CRIT_STATE_COUNT] = { "none",    "running", "runnable",
							   "blocked", "unknown", "assumed" };

const char *crit_role_name(enum crit_role role)
{
	static const char *const names[CRIT_THREAD_ROLE_COUNT] = { "app", "service", "launcher" };

	return (unsigned int)role < CRIT_THREAD_ROLE_COUNT ? names[role] : "?";
}

const char *crit_unit_name(enum crit_unit unit)
{
	return unit == CRIT_UNIT_RANKS ? "ranks" : "threads";
}

const char *crit_scope_name(enum crit_scope scope)
{
	return scope == CRIT_SCOPE_NODE ? "node" : "run";
}

static double seconds(uint64_t value_ns)
{
	return (double)value_ns * 1e-9;
}

static void head(FILE *out, const char *title, const char *what)
{
	(void)fprintf(out, "\n%s\n  %s\n", title, what);
}

static void write_factors(FILE *out, bool has_ranks)
{
	(void)fprintf(
		out,
		"\nEfficiencies\n"
		"  CPU-true, of all %s: PE = useful time over the whole window, the product of\n"
		"  OpenMP: what is left when threads idle for lack of work (scheduling), for the\n"
		"       slowest of their team (load balance), outside regions (serialization)\n"
		"  LB   load balance: mean useful time and OpenMP's idle one over the largest\n"
		"  OS   oversubscription: what is left when those who want a CPU wait for one\n"
		"  Blk  blocked: what is left when they block outside MPI (locks, sleep, I/O)\n"
		"  Comm what is left when they wait for each other in calls\n",
		has_ranks ? "ranks" : "threads");
	if (has_ranks)
		(void)fprintf(
			out,
			"  wall-clock: as DLB TALP has it: whatever is neither MPI nor idle in "
			"OpenMP is useful;\n"
			"       load balance and communication make up MPI's part\n");
}

static void write_ranks(FILE *out, const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;

	head(out, "Ranks (unit ranks, scope run)",
	     "CMetric = integral of dt/n while active; stall = dt/w while nobody is; share of all "
	     "CMetric\n"
	     "  useful = running outside MPI and waits, runnable and blocked likewise outside; "
	     "waited-for = the others' waiting charged to it");
	(void)fprintf(out, "%6s %-14s %8s %10s %7s %10s %10s %10s %10s %10s %10s %10s %10s\n",
		      "rank", "node", "pid", "CMetric", "share", "stall", "useful", "MPI",
		      "MPI wait", "may wait", "runnable", "blocked", "waited-for");
	for (size_t i = 0; i < results->rank_count; i++) {
		size_t row = summary->rank_order[i];
		const struct crit_rank_row *rank = &results->ranks[row];
		struct crit_usage usage;
		char name[32];

		crit_usage_of(&rank->cells, &usage);
		crit_line_print(
			out,
			"%6s %-14.14s %8u %10.4f %6.2f%% %10.4f %10.4f %10.4f %10.4f %10.4f %10.4f "
			"%10.4f %10.4f\n",
			crit_summary_rank_name(results, (int32_t)row, name, sizeof(name)),
			results->nodes[rank->node].host, rank->pid,
			crit_fix_seconds(rank->run.cmetric[CRIT_UNIT_RANKS]),
			100 * crit_summary_share(summary, &rank->run),
			crit_fix_seconds(rank->run.stall[CRIT_UNIT_RANKS]),
			seconds(usage.useful_ns), seconds(usage.mpi_ns), seconds(usage.mpi_wait_ns),
			seconds(usage.mpi_may_wait_ns), seconds(usage.runnable_ns),
			seconds(usage.blocked_ns), crit_fix_seconds(rank->run.waited_for));
	}
}

static void write_threads(FILE *out, const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;

	head(out, "Threads (unit threads, scope run)",
	     "running, runnable, blocked and unknown are kernel states; assumed: known only from a "
	     "shim");
	(void)fprintf(out, "%6s %8s %8s %-16s %-8s %10s %10s %10s %10s %10s %10s %10s %9s\n",
		      "rank", "pid", "tid", "name", "role", "CMetric", "stall", "running",
		      "runnable", "blocked", "unknown", "assumed", "switches");
	for (size_t i = 0; i < results->thread_count && i < THREADS_MAX; i++) {
		const struct crit_thread_row *thread = &results->threads[summary->thread_order[i]];
		const struct crit_cells *cells = &thread->cells;
		char name[32];

		crit_line_print(
			out,
			"%6s %8u %8u %-16.16s %-8s %10.4f %10.4f %10.4f %10.4f %10.4f %10.4f "
			"%10.4f %9llu\n",
			crit_summary_rank_name(results, thread->rank_row, name, sizeof(name)),
			thread->pid, thread->tid, thread->name, crit_role_name(thread->role),
			crit_fix_seconds(thread->run.cmetric[CRIT_UNIT_THREADS]),
			crit_fix_seconds(thread->run.stall[CRIT_UNIT_THREADS]),
			seconds(crit_cells_state(cells, CRIT_STATE_RUNNING)),
			seconds(crit_cells_state(cells, CRIT_STATE_RUNNABLE)),
			seconds(crit_cells_state(cells, CRIT_STATE_BLOCKED)),
			seconds(crit_cells_state(cells, CRIT_STATE_UNKNOWN)),
			seconds(crit_cells_state(cells, CRIT_STATE_ASSUMED)),
			(unsigned long long)thread->switches);
	}
	if (results->thread_count > THREADS_MAX)
		(void)fprintf(out, "  and %zu more, all in threads.csv\n",
			      results->thread_count - THREADS_MAX);
}

static void write_call_row(FILE *out, const struct crit_summary *summary,
			   const struct crit_call_row *call)
{
	char name[32];

	(void)fprintf(
		out, "%-24.24s %12llu %12llu %12llu %10.4f %10.4f %10.4f %10.4f %6s",
		crit_call_name(call->call), (unsigned long long)call->visits,
		(unsigned long long)call->folded_visits, (unsigned long long)call->polled_calls,
		seconds(call->time_ns), seconds(call->wait_ns),
		crit_fix_seconds(call->run.stall[CRIT_UNIT_THREADS]), seconds(call->run.waiting_ns),
		crit_summary_rank_name(summary->results, call->top_rank_row, name, sizeof(name)));
}

static void write_calls(FILE *out, const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;

	if (results->call_count == 0)
		return;
	head(out, "Calls and constructs (unit threads)",
	     "wait = the part of time that waits: while others were active it is waiting, while "
	     "nobody was the waiters share it as stall\n"
	     "  for = the rank active most meanwhile; polled = calls merged into poll spans; "
	     "folded "
	     "= calls only counted");
	(void)fprintf(out, "%-24s %12s %12s %12s %10s %10s %10s %10s %6s\n", "call", "visits",
		      "folded", "polled", "time", "wait", "stall", "waiting", "for");
	for (size_t i = 0; i < results->call_count; i++) {
		write_call_row(out, summary, &results->calls[summary->call_order[i]]);
		(void)fputc('\n', out);
	}
}

static void write_sites(FILE *out, const struct crit_summary *summary)
{
	const struct crit_sites *sites = summary->sites;

	if (!sites || sites->row_count == 0)
		return;
	head(out, "Call sites (all ranks; unit threads)",
	     "function, file and line of the call, and the function it was inlined into; of "
	     "programs "
	     "without debug\n"
	     "  data (-g) function, or file, and offset; processes = how many came here");
	(void)fprintf(out, "%-24s %12s %10s %10s %10s %10s %9s  %s\n", "call", "visits", "time",
		      "wait", "stall", "waiting", "processes", "place");
	for (size_t i = 0; i < sites->row_count && i < SITES_MAX; i++) {
		const struct crit_site_row *site = &sites->rows[i];
		const char *outer = site->place.outer;
		char place[PLACE_BYTES];

		crit_line_print(out, "%-24.24s %12llu %10.4f %10.4f %10.4f %10.4f %9u  %s%s%s\n",
				crit_call_name(site->call), (unsigned long long)site->visits,
				seconds(site->time_ns), seconds(site->wait_ns),
				crit_fix_seconds(site->stall), seconds(site->waiting_ns),
				site->process_count,
				crit_place_text(&site->place, place, sizeof(place)),
				outer ? " in " : "", outer ? outer : "");
	}
	if (sites->row_count > SITES_MAX)
		(void)fprintf(out, "  and %zu more in report.json\n", sites->row_count - SITES_MAX);
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
	(void)fprintf(out, "%-14s", "class");
	for (int s = CRIT_STATE_RUNNING; s < CRIT_STATE_COUNT; s++)
		(void)fprintf(out, " %10s", state_names[s]);
	for (int c = 0; c < CRIT_CLASS_COUNT; c++) {
		uint64_t row_ns = 0;

		for (int s = 0; s < CRIT_STATE_COUNT; s++)
			row_ns += sum.ns[s][c];
		if (row_ns == 0)
			continue;
		(void)fprintf(out, "\n%-14s",
			      c == CRIT_CLASS_NONE ? "no shim"
						   : crit_class_name((enum crit_span_class)c));
		for (int s = CRIT_STATE_RUNNING; s < CRIT_STATE_COUNT; s++)
			(void)fprintf(out, " %10.4f", seconds(sum.ns[s][c]));
	}
	(void)fputc('\n', out);
}

static void write_laws(FILE *out, const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;

	head(out, "Laws", "sum CMetric = T(n>=1); sum CMetric + sum stall + nobody = window");
	(void)fprintf(out, "%-8s %-5s %-14s %12s %12s %12s %12s %12s %9s\n", "unit", "scope",
		      "node", "sum CMetric", "T(n>=1)", "sum stall", "nobody", "window", "error");
	for (size_t i = 0; i < results->law_count; i++) {
		const struct crit_law *law = &results->laws[i];
		bool has_node = law->scope == CRIT_SCOPE_NODE && law->node < results->node_count;

		crit_line_print(out,
				"%-8s %-5s %-14.14s %12.6f %12.6f %12.6f %12.6f %12.6f %9.1e\n",
				crit_unit_name(law->unit), crit_scope_name(law->scope),
				has_node ? results->nodes[law->node].host : "all",
				crit_fix_seconds(law->cmetric_sum), seconds(law->active_ns),
				crit_fix_seconds(law->stall_sum), crit_fix_seconds(law->nobody),
				seconds(law->window_ns), law->error_ratio);
	}
}

void crit_node_slowest(const struct crit_summary *summary, const struct crit_node_sum *sum,
		       char *text, size_t text_bytes)
{
	const struct crit_results *results = summary->results;
	const int32_t slowest = sum->useful.slowest;
	char name[32];

	text[0] = '\0';
	if (slowest >= 0 && results->has_ranks)
		(void)snprintf(text, text_bytes, "rank %s",
			       crit_summary_rank_name(results, slowest, name, sizeof(name)));
	else if (slowest >= 0)
		(void)crit_thread_label(results, (size_t)slowest, text, text_bytes);
}

static void write_nodes(FILE *out, const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;

	head(out,
	     results->has_ranks ? "Nodes (unit ranks, scope run)"
				: "Nodes (unit threads, scope run)",
	     "sums of a node's ranks or threads; imbalance = by how much its slowest exceeds their "
	     "mean useful time");
	(void)fprintf(out, "%-20s %6s %7s %10s %7s %10s %10s %10s %10s %10s %9s  %s\n", "node",
		      "ranks", "threads", "CMetric", "share", "stall", "useful", "MPI", "MPI wait",
		      "waited-for", "imbalance", "slowest");
	for (size_t i = 0; i < results->node_count; i++) {
		const struct crit_node_sum *sum = &summary->node_sums[i];
		struct crit_usage usage;
		char slowest[CRIT_REGION_TEXT];

		crit_usage_of(&sum->cells, &usage);
		crit_node_slowest(summary, sum, slowest, sizeof(slowest));
		crit_line_print(
			out,
			"%-20.20s %6u %7u %10.4f %6.2f%% %10.4f %10.4f %10.4f %10.4f %10.4f "
			"%8.1f%%  %s\n",
			results->nodes[i].host, sum->ranks, sum->app_threads,
			crit_fix_seconds(sum->run.cmetric[summary->unit]),
			100 * crit_summary_share(summary, &sum->run),
			crit_fix_seconds(sum->run.stall[summary->unit]), seconds(usage.useful_ns),
			seconds(usage.mpi_ns), seconds(usage.mpi_wait_ns),
			crit_fix_seconds(sum->run.waited_for), sum->useful.percent, slowest);
	}
}

static void write_recordings(FILE *out, const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;

	head(out, "Recordings",
	     "records are those of the kernel half; slots those of the shims; lost of both; bytes "
	     "on disk; clock = microseconds its stamps may be off those of the others, moved = by "
	     "which "
	     "they were, so that no message is received before it was sent");
	(void)fprintf(out, "%-20s %5s %-24s %-8s %12s %12s %8s %12s %10s %10s %8s\n", "node",
		      "CPUs", "kernel", "level", "records", "slots", "lost", "bytes", "critd CPU",
		      "clock", "moved");
	for (size_t i = 0; i < results->node_count; i++) {
		const struct crit_node_row *node = &results->nodes[i];
		const uint64_t lost = node->lost_kernel_records + 2 * node->lost_spans;
		char clock[32] = "unknown";

		if (node->clock_bound_ns != CRIT_CLOCK_UNBOUND)
			(void)snprintf(clock, sizeof(clock), "%.1f",
				       (double)node->clock_bound_ns * 1e-3);
		crit_line_print(out,
				"%-20.20s %5u %-24.24s %-8s %12llu %12llu %8llu %12llu %10.4f %10s "
				"%8.1f\n",
				node->host, node->cpu_count, node->kernel_release,
				crit_level_name(node->level),
				(unsigned long long)node->kernel_record_count,
				(unsigned long long)node->slot_count, (unsigned long long)lost,
				(unsigned long long)node->recording_bytes,
				seconds(node->critd_cpu_ns), clock,
				(double)node->clock_shift_ns * 1e-3);
	}
}

static void write_losses(FILE *out, const struct crit_summary *summary)
{
	const struct crit_losses *losses = &summary->results->losses;

	head(out, "Losses",
	     "what is not 0 makes crit report exit with 3; but stale tags, folded waits and "
	     "unmatched switches cost nothing, unknown counts from 1 %\n"
	     "  lines \"lost\" are reasons for exit 3, lines \"missing\" are not");
	(void)fprintf(out,
		      "  kernel records %llu, MPI spans %llu, unmatched switches %llu, tag "
		      "disagreements %llu,\n"
		      "  late records %llu, corrupt chunks %llu, missing chunks %llu, truncated "
		      "bytes %llu,\n"
		      "  threads without stripe %llu, refused clients %llu, unbalanced spans %llu, "
		      "counters %llu,\n"
		      "  unknown %.6f s, stale tags %llu, folded waits %.6f s (error bound)\n",
		      (unsigned long long)losses->kernel_records,
		      (unsigned long long)losses->shim_spans,
		      (unsigned long long)losses->unmatched_switches,
		      (unsigned long long)losses->tag_disagreements,
		      (unsigned long long)losses->late_records,
		      (unsigned long long)losses->corrupt_chunks,
		      (unsigned long long)losses->missing_chunks,
		      (unsigned long long)losses->truncated_bytes,
		      (unsigned long long)losses->no_stripe_threads,
		      (unsigned long long)losses->refused_clients,
		      (unsigned long long)losses->unbalanced_spans,
		      (unsigned long long)losses->counters_lost, seconds(losses->unknown_ns),
		      (unsigned long long)losses->tag_stale, seconds(losses->folded_ns));
	for (size_t i = 0; i < summary->missing_count; i++) {
		crit_line_print(out, "  %s: %s\n",
				summary->missing[i].is_incomplete ? "lost" : "missing",
				summary->missing[i].what);
		if (summary->missing[i].mend[0])
			crit_line_print(out, "    fix: %s\n", summary->missing[i].mend);
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
	crit_rivals_write_details(out, summary);
	crit_regions_write_details(out, summary);
	write_calls(out, summary);
	write_sites(out, summary);
	crit_messages_write_details(out, summary);
	write_cells(out, summary);
	write_laws(out, summary);
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
