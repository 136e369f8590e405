// SPDX-License-Identifier: BSD-3-Clause
// Which OpenMP runtime a run had, and what that means for its figures.
#include "report/findings/omp_runtime.h"

#include "core/base/call.h"

#define SPIN_RATIO 0.05 /* of the CPUs' time, and of the useful time, from which it is named */

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

void crit_openmp_find(struct crit_summary *summary)
{
	const enum crit_openmp openmp = crit_openmp_of(summary);

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
