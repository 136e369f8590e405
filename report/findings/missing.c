// SPDX-License-Identifier: BSD-3-Clause
// Findings: missing kernel records or shims, lost records, and the command that fixes each.
#include "report/findings/missing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/symbols/elf_reader.h"
#include "report/findings/lost_processes.h"
#include "report/findings/omitted.h"
#include "report/findings/runtimes.h"
#include "core/base/linkage.h"

#define PARANOID_MAX 2 /* beyond it some kernels refuse perf events */
#define TOLD_PARTS 1000 /* unknown time is told from one part of so many on */

/* Of a recording: any number. */
static const char *error_text(int32_t status)
{
	return status < 0 && status > -4096 ? strerror(-status) : "for an unknown reason";
}

/* Why nothing stands in for the kernel half. */
static void find_perf(struct crit_summary *summary, const struct crit_node_row *node)
{
	if (node->perf_paranoid > PARANOID_MAX)
		crit_summary_add_missing(summary, false, "sudo sysctl kernel.perf_event_paranoid=2",
					 "an approximate kernel half on %s: "
					 "kernel.perf_event_paranoid is %d",
					 node->host, node->perf_paranoid);
	else
		crit_summary_add_missing(summary, false,
					 node->perf_status == -EMFILE ? "ulimit -n <more>"
								      : "crit doctor",
					 "an approximate kernel half on %s: no perf events: %s",
					 node->host, error_text(node->perf_status));
}

static void find_privileges(struct crit_summary *summary, const struct crit_node_row *node,
			    const struct crit_summary_options *options)
{
	char fix[CRIT_SENTENCE_BYTES];

	if (options->privileges_fix)
		(void)snprintf(fix, sizeof(fix), "%s", options->privileges_fix);
	else
		(void)snprintf(fix, sizeof(fix), "sudo setcap cap_bpf,cap_perfmon+p %s",
			       options->critd_path ? options->critd_path : "critd");
	if (node->kernel_half == CRIT_HALF_PERF)
		crit_summary_add_missing(summary, false, fix,
					 "wakeups on %s: approximate without privileges, a thread "
					 "that waits to run is \"blocked\"",
					 node->host);
	else
		crit_summary_add_missing(summary, false, fix,
					 "the kernel half on %s: critd has no privileges (%s)",
					 node->host, error_text(node->kernel_status));
}

static void find_kernel(struct crit_summary *summary, const struct crit_node_row *node,
			const struct crit_summary_options *options)
{
	int rc = -node->kernel_status;

	if (rc == EPERM || rc == EACCES) {
		find_privileges(summary, node, options);
	} else if (rc == EXDEV) {
		crit_summary_add_missing(
			summary, false, "serve it from the host: see CONTAINERS in critd(8)",
			"%s on %s: critd is not in the host's pid namespace",
			node->kernel_half == CRIT_HALF_PERF ? "wakeups" : "the kernel half",
			node->host);
	} else if (node->kernel_half == CRIT_HALF_PERF) {
		crit_summary_add_missing(summary, false, "crit doctor",
					 "wakeups on %s: approximate, a thread that waits to run "
					 "is \"blocked\" (%s)",
					 node->host, strerror(rc));
	} else if (rc == ENOSYS || rc == EOPNOTSUPP) {
		crit_summary_add_missing(summary, false, "critd --help",
					 "the kernel half on %s: switched off or not built in",
					 node->host);
	} else {
		crit_summary_add_missing(summary, false, "crit doctor", "the kernel half on %s: %s",
					 node->host, strerror(rc));
	}
}

/* Into the window; 0 for what was before it. */
static double after_s(const struct crit_results *results, uint64_t time_ns)
{
	return time_ns > results->window_begin_ns
		       ? (double)(time_ns - results->window_begin_ns) * 1e-9
		       : 0;
}

static void find_damage(struct crit_summary *summary, const struct crit_node_row *node)
{
	if (node->truncated_bytes)
		crit_summary_add_missing(
			summary, true, "",
			"%llu bytes cut at the end of the recording on %s: what came after "
			"%.3f s is unknown",
			(unsigned long long)node->truncated_bytes, node->host,
			after_s(summary->results, node->end_ns));
	if (node->corrupt_chunks)
		crit_summary_add_missing(
			summary, true, "",
			"%llu chunk%s with a wrong checksum in the recording on %s: what stood "
			"there is unknown",
			(unsigned long long)node->corrupt_chunks,
			node->corrupt_chunks == 1 ? "" : "s", node->host);
	if (node->missing_chunks)
		crit_summary_add_missing(summary, true, "",
					 "%llu chunk%s missing in the middle of the recording on "
					 "%s: what stood there is unknown",
					 (unsigned long long)node->missing_chunks,
					 node->missing_chunks == 1 ? "" : "s", node->host);
}

static void find_node(struct crit_summary *summary, const struct crit_node_row *node,
		      const struct crit_summary_options *options)
{
	const struct crit_results *results = summary->results;

	if (node->is_unread) {
		crit_summary_add_missing(
			summary, true, "",
			"node %s: nothing in its recording can be read; what its ranks did is "
			"unknown",
			node->host);
		return;
	}
	find_damage(summary, node);
	if (node->kernel_status)
		find_kernel(summary, node, options);
	if (node->perf_status < 0 && node->kernel_status)
		find_perf(summary, node);
	else if (node->perf_status < 0)
		crit_summary_add_missing(summary, false, "crit doctor",
					 "samples on %s: no perf events of whole CPUs: %s",
					 node->host, error_text(node->perf_status));
	if (node->sample_error)
		crit_summary_add_missing(
			summary, false,
			node->sample_error == -EMFILE ? "ulimit -n <more>" : "ulimit -l <more>",
			"samples of some threads on %s: %s", node->host,
			node->sample_error == -EMFILE  ? "too many descriptors"
			: node->sample_error == -EPERM ? "no locked memory left for them"
						       : error_text(node->sample_error));
	if (node->cap_ns)
		crit_summary_add_missing(
			summary, true, "CRIT_MAX_BYTES=<more> or CRIT_LEVEL=profile",
			"the end of the run on %s: the recording reached its cap after %.3f s",
			node->host, after_s(results, node->cap_ns));
	else if (node->fallback_ns)
		crit_summary_add_missing(
			summary, false, "CRIT_MAX_BYTES=<more>",
			"the trace on %s after %.3f s: level fell back to profile near the cap",
			node->host, after_s(results, node->fallback_ns));
	if (node->output_error)
		crit_summary_add_missing(summary, true, "",
					 "records on %s: critd could not write the recording: %s",
					 node->host, error_text(node->output_error));
	if (node->has_foot || node->has_window)
		return;
	if (options->is_live)
		summary->is_provisional = true;
	else
		crit_summary_add_missing(
			summary, true, "",
			"the end of the recording on %s, after %.3f s: critd was killed or ran "
			"out of disk",
			node->host, after_s(results, node->end_ns));
}

/* Of a kernel state, what lies inside the thread's part of the window. */
static uint64_t inside_ns(const struct crit_cells *cells, enum crit_kernel_state state)
{
	return crit_cells_state(cells, state) - cells->ns[state][CRIT_CLASS_SETUP];
}

static void find_service(struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;

	for (size_t i = 0; i < results->thread_count; i++) {
		const struct crit_thread_row *thread = &results->threads[i];
		uint64_t busy_ns = inside_ns(&thread->cells, CRIT_STATE_RUNNING);

		if (thread->role == CRIT_THREAD_SERVICE && results->window_ns &&
		    busy_ns > results->window_ns / 20) {
			crit_summary_add_missing(summary, false, "",
						 "a CPU's time: service thread %u (%.16s) of "
						 "process %u runs for %.1f%% of "
						 "the window",
						 thread->tid, thread->name, thread->pid,
						 100.0 * (double)busy_ns /
							 (double)results->window_ns);
			return;
		}
	}
}

/*
 * Some machines hide a switch now and then from every tool; what that puts in doubt is credited to
 * nobody, and told from a thousandth of the threads' time in the window on.  The result is
 * incomplete once it could move a share by a per cent.
 */
static void find_doubt(struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;
	const uint64_t unmatched = results->losses.unmatched_switches;
	uint64_t life_ns = 0, unknown_ns = 0;
	char reason[64] = "";

	for (size_t i = 0; i < results->thread_count; i++) {
		const struct crit_cells *cells = &results->threads[i].cells;

		if (results->threads[i].role != CRIT_THREAD_APP)
			continue;
		for (int state = 0; state < CRIT_STATE_COUNT; state++)
			life_ns += inside_ns(cells, (enum crit_kernel_state)state);
		unknown_ns += inside_ns(cells, CRIT_STATE_UNKNOWN);
	}
	if (unknown_ns * TOLD_PARTS < life_ns || !unknown_ns)
		return;
	if (unmatched) /* else only up to a thread's first switch */
		(void)snprintf(reason, sizeof(reason), ": %llu switch%s the kernel did not report",
			       (unsigned long long)unmatched, unmatched == 1 ? "" : "es");
	crit_summary_add_missing(
		summary, unknown_ns > life_ns / 100, "",
		"%.6g s (%.2f%%) of threads' time in state unknown, credited to nobody%s",
		(double)unknown_ns * 1e-9, 100.0 * (double)unknown_ns / (double)life_ns, reason);
}

/* No message can; where some are not recorded, others may seem to. */
static void find_early(struct crit_summary *summary)
{
	const struct crit_message_results *messages = &summary->results->messages;
	const char *reason = summary->results->node_count > 1
				     ? "the nodes' clocks are not known better than that"
				     : "which send belongs to which receive is in doubt";

	if (messages->losses.early && messages->has_order)
		crit_summary_add_missing(
			summary, false, "",
			"the order of %llu message%s received before they were sent, by up to "
			"%.6f s: %s",
			(unsigned long long)messages->losses.early,
			messages->losses.early == 1 ? "" : "s",
			(double)messages->losses.early_max_ns * 1e-9, reason);
}

/* Chunks that are whole, and make no sense. */
static uint64_t senseless_chunks(const struct crit_results *results)
{
	uint64_t count = results->losses.corrupt_chunks;

	for (size_t i = 0; i < results->node_count; i++)
		count -= results->nodes[i].corrupt_chunks;
	return count;
}

static void find_unknown(struct crit_summary *summary)
{
	const struct crit_losses *losses = &summary->results->losses;

	if (losses->unknown_chunks || losses->unknown_records)
		crit_summary_add_missing(
			summary, true, "use the version of crit that recorded it",
			"%llu chunks and %llu records of kinds that this version of crit does not "
			"know",
			(unsigned long long)losses->unknown_chunks,
			(unsigned long long)losses->unknown_records);
}

static void find_losses(struct crit_summary *summary)
{
	const struct crit_losses *losses = &summary->results->losses;
	const struct {
		uint64_t count;
		const char *what;
	} rows[] = {
		{ losses->kernel_records, "kernel records, lost by a full ring" },
		{ losses->shim_spans, "MPI spans, lost by full thread buffers" },
		{ losses->tag_disagreements, "tags that contradict their spans" },
		{ losses->late_records, "records that came too late to be ordered" },
		{ senseless_chunks(summary->results), "chunks that make no sense" },
		{ losses->no_buffer_threads, "threads that found no buffer" },
		{ losses->crowded_records,
		  "records of threads beyond the most that a recording of its size may have" },
		{ losses->refused_clients, "processes or memories critd refused" },
		{ losses->unbalanced_spans, "spans without their other end" },
		{ losses->counters_lost, "calls that found the counter table full" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].count)
			crit_summary_add_missing(summary, true, "", "%llu %s",
						 (unsigned long long)rows[i].count, rows[i].what);
	if (summary->results->messages.losses.details)
		crit_summary_add_missing(
			summary, false, "",
			"%llu messages or parts of them, for which there was no room: the tables "
			"of "
			"messages are not whole",
			(unsigned long long)summary->results->messages.losses.details);
	if (losses->missed_maps)
		crit_summary_add_missing(
			summary, false, "",
			"%llu memory maps of processes that ended soon, or were too many: what ran "
			"there may have no name",
			(unsigned long long)losses->missed_maps);
	find_unknown(summary);
	find_early(summary);
	find_doubt(summary);
}

/* Between the program's call and crit's wrapper lies what that library does. */
static void find_pmpi_in_front(struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;
	size_t count = 0;

	for (size_t i = 0; i < results->rank_count; i++)
		count += (results->ranks[i].process_flags & CRIT_PF_PMPI_IN_FRONT) != 0;
	if (count)
		crit_summary_add_missing(
			summary, false, "put libcrit_pmpi.so first in LD_PRELOAD",
			"time inside another PMPI library that comes before crit (%zu rank%s): it "
			"counts as the program's own, not as MPI",
			count, count == 1 ? "" : "s");
}

/* What crit run saw in its command line; of a launcher's programs, nothing else is known. */
static void find_unseen(struct crit_summary *summary)
{
	static const char cut[] = "; from its begin on nothing of it is recorded, as the kernel "
				  "ends perf events there";
	const struct crit_results *results = summary->results;

	for (size_t i = 0; i < results->thread_count; i++) {
		const unsigned int flags = results->threads[i].process_flags & CRIT_PF_LINKAGE;
		const enum crit_linkage linkage =
			(enum crit_linkage)(flags >> CRIT_PF_LINKAGE_SHIFT);
		const bool is_cut = crit_linkage_is_privileged(linkage) &&
				    results->nodes[results->threads[i].node].kernel_half ==
					    CRIT_HALF_PERF;

		if (linkage == CRIT_LINKAGE_OPEN || linkage >= CRIT_LINKAGE_COUNT)
			continue;
		crit_summary_add_missing(
			summary, false, crit_linkage_fix(linkage),
			"MPI and OpenMP calls of a program in the command line: it "
			"%s, so libcrit_pmpi.so cannot be loaded into it%s",
			crit_linkage_text(linkage), is_cut ? cut : "");
		return;
	}
}

/* Files that are not those of the run any more, or could not be read in time. */
static void find_doubts(struct crit_summary *summary)
{
	char text[CRIT_SENTENCE_BYTES / 2];
	size_t count, late_count;

	if (!summary->symbols)
		return;
	count = crit_symbols_doubts(summary->symbols, text, sizeof(text));
	late_count = crit_symbols_late_files(summary->symbols);
	if (late_count)
		crit_summary_add_missing(summary, false, "",
					 "functions and lines of %zu file%s: the time for reading "
					 "names (%d s) was used up",
					 late_count, late_count > 1 ? "s" : "", CRIT_ELF_TOTAL_S);
	if (count)
		crit_summary_add_missing(summary, false, "",
					 "functions and lines of %zu file%s: %s", count,
					 count > 1 ? "s" : "", text);
}

/* By node: another one of its run, itself for the first, CRIT_NONE where it has no ranks. */
static uint32_t first_of(uint32_t *others, uint32_t node)
{
	while (others[node] != node)
		node = others[node] = others[others[node]];
	return node;
}

static void join(uint32_t *others, uint32_t a, uint32_t b)
{
	others[first_of(others, b)] = first_of(others, a);
}

static void join_worlds(const struct crit_results *results, uint32_t *others)
{
	const struct crit_rank_row *ranks = results->ranks;

	for (size_t i = 0; i < results->rank_count; i++)
		others[ranks[i].node] = ranks[i].node;
	for (size_t i = 1; i < results->rank_count; i++)
		if (ranks[i].world_number == ranks[i - 1].world_number)
			join(others, ranks[i - 1].node, ranks[i].node);
}

static void join_keys(const struct crit_results *results, uint32_t *others)
{
	const struct crit_node_row *nodes = results->nodes;

	for (uint32_t i = 0; i < results->node_count; i++)
		for (uint32_t j = 0; j < i && others[i] == i && *nodes[i].run_key; j++)
			if (others[j] == j && strcmp(nodes[i].run_key, nodes[j].run_key) == 0)
				join(others, j, i);
}

/* A recording beside a copy of it has each of its ranks twice. */
static void find_copies(struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;
	size_t count = 0;

	for (size_t i = 1; i < results->rank_count; i++) {
		const struct crit_rank_row *rank = &results->ranks[i];

		count += rank[-1].world_number == rank->world_number &&
			 rank[-1].rank == rank->rank && rank[-1].node != rank->node;
	}
	if (count)
		crit_summary_add_missing(summary, true, "remove copies of recordings",
					 "what each rank did alone: %zu rank%s in two recordings",
					 count, count == 1 ? " is" : "s are");
}

/*
 * Nodes with ranks are of one run when they share a world, or the run's key, or are so by way of
 * others.  Where they are of several, the figures are those of none.
 */
static void find_mixed_runs(struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;
	uint32_t *others = malloc((results->node_count + 1) * sizeof(*others));
	uint32_t first = CRIT_NONE, second = CRIT_NONE;
	size_t count = 0;

	if (!others)
		return;
	memset(others, 0xff, (results->node_count + 1) * sizeof(*others));
	join_worlds(results, others);
	join_keys(results, others);
	for (uint32_t i = 0; i < results->node_count; i++) {
		if (others[i] != i)
			continue;
		count++;
		second = first != CRIT_NONE && second == CRIT_NONE ? i : second;
		first = first == CRIT_NONE ? i : first;
	}
	if (count > 1)
		crit_summary_add_missing(
			summary, true, "crit report FILE; and CRIT_DIR with %k in it",
			"what one run did: recordings of %zu runs lie together, one on %s and one "
			"on %s, and the figures are of all of them",
			count, results->nodes[first].host, results->nodes[second].host);
	free(others);
}

void crit_missing_find(struct crit_summary *summary, const struct crit_summary_options *options)
{
	for (size_t i = 0; i < summary->results->node_count; i++)
		find_node(summary, &summary->results->nodes[i], options);
	if (summary->mode == CRIT_MODE_SHIMS_ONLY && !summary->results->has_ranks)
		crit_summary_add_missing(summary, true, "",
					 "the whole run: no rank and no kernel half");
	find_mixed_runs(summary);
	find_copies(summary);
	crit_lost_processes_find(summary);
	find_losses(summary);
	crit_omitted_find(summary, options->is_live);
	crit_runtimes_find(summary);
	find_pmpi_in_front(summary);
	find_unseen(summary);
	find_service(summary);
	find_doubts(summary);
	if (options->no_causes)
		crit_summary_add_missing(summary, false, "", "what waits cost: %s",
					 options->no_causes);
	if (options->no_excess)
		crit_summary_add_missing(summary, false, "", "delays, and the path's imbalance: %s",
					 options->no_excess);
}
