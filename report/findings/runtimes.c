// SPDX-License-Identifier: BSD-3-Clause
// Which runtimes a run had, and what that means for its figures; and waits that no call tells of.
#include "report/findings/runtimes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "core/base/call.h"
#include "report/tables/location_fit.h"

#define LINKED_RATIO 0.01 /* of the CPU time by samples, from which a runtime is named */
#define LINKED_SAMPLES 10
#define SPIN_RATIO 0.05 /* of the CPUs' time, and of the useful time, from which it is named */
#define LEAST_SLEEPS 10 /* of a rank: fewer may be chance */
#define POLL_RATIO 0.05 /* of the window */
#define MOST_QUESTIONS 2 /* to a sleep, and the other way round */
#define LEAST_GAP 2u /* mean sleeps */
#define FIRST_GAP_NS 100000u
#define LAST_GAP_NS 1000000000u /* as the setting has it */

static bool has_spans(const struct crit_results *results)
{
	for (size_t i = 0; i < results->call_count; i++)
		if (results->calls[i].call >= CRIT_CALL_OMP_FIRST &&
		    results->calls[i].call != CRIT_CONSTRUCT_PHASE)
			return true;
	return false;
}

enum crit_openmp crit_openmp_of(const struct crit_summary *summary)
{
	const struct crit_symbols *symbols = summary->symbols;
	bool has_gnu, has_llvm;

	if (!has_spans(summary->results))
		return CRIT_OPENMP_NONE;
	has_gnu = symbols && crit_symbols_has_file(symbols, "libgomp.so");
	has_llvm = symbols && (crit_symbols_has_file(symbols, "libomp.so") ||
			       crit_symbols_has_file(symbols, "libomp-") ||
			       crit_symbols_has_file(symbols, "libiomp5.so"));
	if (has_gnu)
		return has_llvm ? CRIT_OPENMP_LLVM_FOR_GNU : CRIT_OPENMP_GNU;
	return has_llvm ? CRIT_OPENMP_LLVM : CRIT_OPENMP_UNKNOWN;
}

const char *crit_openmp_name(enum crit_openmp openmp)
{
	static const char *const names[CRIT_OPENMP_COUNT] = { "none", "OpenMP", "LLVM libomp",
							      "GNU libgomp",
							      "LLVM libomp for GNU libgomp" };

	return names[openmp];
}

/*
 * Threads spin in barriers while others of the run want the CPU: the more runtimes, the worse.  It
 * does not count in processes whose environment says already that they shall not.
 */
static void find_spinning(struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;
	uint64_t spun_ns = 0, useful_ns = 0, starved_ns = 0, cpu_ns = 0;

	for (size_t i = 0; i < results->node_count; i++)
		cpu_ns += results->nodes[i].cpu_count * results->window_ns;
	for (size_t i = 0; i < results->thread_count; i++) {
		const struct crit_cells *cells = &results->threads[i].cells;

		if (results->threads[i].role != CRIT_THREAD_APP)
			continue;
		if (!(results->threads[i].process_flags & CRIT_PF_OMP_PASSIVE))
			spun_ns += cells->ns[CRIT_STATE_RUNNING][CRIT_CLASS_OMP_WAIT] +
				   cells->ns[CRIT_STATE_RUNNING][CRIT_CLASS_OMP_IDLE];
		useful_ns += cells->ns[CRIT_STATE_RUNNING][CRIT_CLASS_USER] +
			     cells->ns[CRIT_STATE_RUNNING][CRIT_CLASS_OMP];
		starved_ns += cells->ns[CRIT_STATE_RUNNABLE][CRIT_CLASS_USER] +
			      cells->ns[CRIT_STATE_RUNNABLE][CRIT_CLASS_OMP];
	}
	if ((double)spun_ns < SPIN_RATIO * (double)cpu_ns ||
	    (double)starved_ns < SPIN_RATIO * (double)(useful_ns + starved_ns))
		return;
	crit_summary_add_missing(summary, false, "OMP_WAIT_POLICY=passive",
				 "CPUs: OpenMP threads spin in barriers for %.3f s while others "
				 "wait %.3f s for a CPU",
				 (double)spun_ns * 1e-9, (double)starved_ns * 1e-9);
}

/* A runtime that may be part of a program.  LLVM's is not here: it tells of itself also there. */
struct linked {
	const char *name;
	const char *functions[3]; /* how names of its own begin */
	const char *libraries[4]; /* and those of files in which crit sees it */
};

static const struct linked linkable[] = {
	{ "GNU's libgomp", { "gomp_" }, { "libgomp" } },
	{ "an MPI library",
	  { "MPID", "MPIR_", "opal_" },
	  { "libmpi", "libopen-pal", "mca_", "libcrit_" } },
};

static bool begins_with_any(const char *text, const char *const *begins, size_t count)
{
	for (size_t i = 0; i < count && begins[i]; i++) {
		if (strncmp(text, begins[i], strlen(begins[i])) == 0)
			return true;
	}
	return false;
}

/* Is the code part of the runtime, and in none of its libraries? */
static bool is_linked(const struct linked *linked, const struct crit_source_location *place)
{
	const char *function = place->outer ? place->outer : place->function;

	return place->module && function && begins_with_any(function, linked->functions, 3) &&
	       !begins_with_any(crit_file_name(place->module), linked->libraries, 4);
}

/* Of those that launchers do not use as well. */
static bool is_of_mpi(const struct linked *unused, const struct crit_source_location *place)
{
	static const char *const libraries[] = { "libmpi", "mca_btl_", "mca_coll_", "mca_pml_" };

	(void)unused;
	return place->module && begins_with_any(crit_file_name(place->module), libraries, 4);
}

typedef bool is_of_runtime(const struct linked *linked, const struct crit_source_location *place);

/* Its code by samples: all of its time, and the row with most.  NULL: too little to speak of. */
static const struct crit_hot_row *find_code(const struct crit_summary *summary,
					    is_of_runtime *is_of, const struct linked *linked,
					    double *ret_s)
{
	const struct crit_hot_row *first = NULL;
	uint64_t cpu_ns = 0, all_ns = 0, samples = 0;

	for (size_t i = 0; i < summary->hot.count; i++) {
		const struct crit_hot_row *row = &summary->hot.rows[i];

		all_ns += row->cpu_ns;
		if (row->kind != CRIT_HOT_CODE || !is_of(linked, &row->place))
			continue;
		cpu_ns += row->cpu_ns;
		samples += row->samples;
		if (!first || row->cpu_ns > first->cpu_ns)
			first = row;
	}
	if (samples < LINKED_SAMPLES || (double)cpu_ns < LINKED_RATIO * (double)all_ns)
		return NULL;
	*ret_s = (double)cpu_ns * 1e-9;
	return first;
}

/* What spins in it is taken for work.  Samples tell of it: the linker has left no other trace. */
static void find_linked(struct crit_summary *summary, const struct linked *linked)
{
	double time_s;
	const struct crit_hot_row *first = find_code(summary, is_linked, linked, &time_s);

	if (first)
		crit_summary_add_missing(
			summary, false, "link it as a shared library",
			"calls of %s, which is part of %s: its time counts as the program's own, "
			"its waiting as work (%.3f s by samples, most in %s)",
			linked->name, crit_file_name(first->place.module), time_s,
			first->place.outer ? first->place.outer : first->place.function);
}

/* So it is where a program asks dlsym for functions of the library itself. */
static void find_passed_by(struct crit_summary *summary)
{
	double time_s;
	const struct crit_hot_row *first = find_code(summary, is_of_mpi, NULL, &time_s);

	if (first && !summary->results->has_ranks)
		crit_summary_add_missing(
			summary, false, "",
			"MPI calls: crit saw none, though %s ran for %.3f s by samples, as where "
			"libcrit_pmpi.so is not preloaded, or a program looks functions up in the "
			"library itself",
			crit_file_name(first->place.module), time_s);
}

struct polling { /* of a rank */
	uint64_t questions, sleeps, slept_ns;
};

static bool is_sleep(const struct crit_block_call *call)
{
	return !call->is_compat &&
	       (call->number == SYS_nanosleep || call->number == SYS_clock_nanosleep);
}

static void count_polls(const struct crit_results *results, struct polling *rows)
{
	for (size_t i = 0; i < results->rank_call_count; i++) {
		const struct crit_rank_call_row *row = &results->rank_calls[i];

		if (crit_call_class(row->call) == CRIT_CLASS_MPI_POLL)
			rows[row->rank_row].questions += row->visits;
	}
	for (size_t i = 0; i < results->blocks.cell_count; i++) {
		const struct crit_block_cell *cell = &results->blocks.cells[i];
		const int32_t rank = results->threads[cell->thread].rank_row;

		if (rank < 0 || !is_sleep(&cell->call))
			continue;
		rows[rank].sleeps += cell->count;
		rows[rank].slept_ns += cell->blocked_ns;
	}
}

static bool does_poll(const struct polling *row, uint64_t window_ns)
{
	return row->sleeps >= LEAST_SLEEPS &&
	       (double)row->slept_ns >= POLL_RATIO * (double)window_ns &&
	       row->questions <= MOST_QUESTIONS * row->sleeps &&
	       row->sleeps <= MOST_QUESTIONS * row->questions;
}

/* The setting that joins what is about as long as these sleeps. */
static void say_setting(const struct polling *sum, char *text, size_t text_bytes)
{
	const uint64_t least_ns = LEAST_GAP * (sum->slept_ns / sum->sleeps);
	uint64_t gap_ns = FIRST_GAP_NS;

	while (gap_ns < least_ns && gap_ns < LAST_GAP_NS)
		gap_ns *= 10;
	(void)snprintf(text, text_bytes, "CRIT_POLL_GAP=%llu", (unsigned long long)gap_ns);
}

/*
 * Ranks sleep about as often as they call MPI_Test, MPI_Iprobe or the like: a setting makes one
 * wait of that, which counts as blocked outside MPI without.
 */
static void find_polling(struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;
	struct polling sum = { 0 }, *rows = calloc(results->rank_count + 1, sizeof(*rows));
	char setting[40];
	size_t ranks = 0;

	if (rows)
		count_polls(results, rows);
	for (size_t i = 0; rows && i < results->rank_count; i++) {
		if (!does_poll(&rows[i], results->window_ns))
			continue;
		sum.sleeps += rows[i].sleeps;
		sum.slept_ns += rows[i].slept_ns;
		ranks++;
	}
	free(rows);
	if (!ranks || summary->lost.loss_s[CRIT_LOSS_BLOCKED] <
			      POLL_RATIO * summary->lost.window_s) /* others work meanwhile */
		return;
	say_setting(&sum, setting, sizeof(setting));
	crit_summary_add_missing(summary, false, setting,
				 "waits of %zu rank%s, which ask%s MPI and sleep%s by turns: "
				 "%.3f s count as blocked outside MPI",
				 ranks, ranks > 1 ? "s" : "", ranks > 1 ? "" : "s",
				 ranks > 1 ? "" : "s", 1e-9 * (double)sum.slept_ns);
}

void crit_runtimes_find(struct crit_summary *summary)
{
	const enum crit_openmp openmp = crit_openmp_of(summary);

	for (size_t i = 0; i < sizeof(linkable) / sizeof(linkable[0]); i++)
		find_linked(summary, &linkable[i]);
	find_polling(summary);
	find_passed_by(summary);
	if (openmp == CRIT_OPENMP_NONE)
		return;
	if (openmp == CRIT_OPENMP_GNU)
		crit_summary_add_missing(summary, false, "crit run --omp=llvm",
					 "what GNU's libgomp does not tell: loops, and which "
					 "barriers are implicit");
	if (openmp == CRIT_OPENMP_LLVM_FOR_GNU)
		crit_summary_add_missing(summary, false, "crit run without --omp=llvm",
					 "GNU's libgomp: LLVM's libomp stands in for it, so times "
					 "are not those of the program alone");
	find_spinning(summary);
}
