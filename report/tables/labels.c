// SPDX-License-Identifier: BSD-3-Clause
// Prints the names of ranks, threads, preemptors and of the MPI library as people read them.
#include "report/tables/labels.h"

#include <stdio.h>
#include <string.h>

#include "core/base/line.h"

const char *crit_rank_label(const struct crit_results *results, int32_t rank_row, char *text,
			    size_t text_bytes)
{
	bool has_worlds = false;
	const struct crit_rank_row *rank;

	if (rank_row < 0 || (size_t)rank_row >= results->rank_count)
		return "-";
	rank = &results->ranks[rank_row];
	for (size_t i = 0; i < results->rank_count && !has_worlds; i++)
		has_worlds = results->ranks[i].world_number != results->ranks[0].world_number;
	if (has_worlds)
		(void)snprintf(text, text_bytes, "%u.%u", rank->world_number, rank->rank);
	else
		(void)snprintf(text, text_bytes, "%u", rank->rank);
	return text;
}

const char *crit_thread_label(const struct crit_results *results, size_t thread, char *text,
			      size_t text_bytes)
{
	const struct crit_thread_row *row;
	char rank[32];

	if (thread >= results->thread_count)
		return "-";
	row = &results->threads[thread];
	if (row->rank_row >= 0)
		(void)snprintf(text, text_bytes, "rank %s thread %u (%.16s)",
			       crit_rank_label(results, row->rank_row, rank, sizeof(rank)),
			       row->tid, row->name);
	else
		(void)snprintf(text, text_bytes, "thread %u (%.16s)", row->tid, row->name);
	return text;
}

const char *crit_preemptor_label(const struct crit_results *results,
				 const struct crit_preemptor_row *row, char *text,
				 size_t text_bytes)
{
	const enum crit_kernel_half half =
		results->nodes[results->threads[row->thread].node].kernel_half;

	switch (row->kind) {
	case CRIT_PREEMPTOR_MEMBER:
		return crit_thread_label(results, (size_t)row->by_thread, text, text_bytes);
	case CRIT_PREEMPTOR_STRANGER:
		if (row->tid)
			(void)snprintf(text, text_bytes, "%.16s (tid %u)", row->name, row->tid);
		else
			(void)snprintf(text, text_bytes, "%.16s (several)", row->name);
		return text;
	case CRIT_PREEMPTOR_HIDDEN:
		if (half == CRIT_HALF_PERF)
			return "somebody perf events do not name";
		return "another user's program";
	case CRIT_PREEMPTOR_IDLE:
		return "nobody (scheduler)";
	case CRIT_PREEMPTOR_UNKNOWN:
		return "unknown";
	default:
		return "others";
	}
}

const char *crit_slowest_label(const struct crit_results *results, const struct crit_node_sum *sum,
			       char *text, size_t text_bytes)
{
	const int32_t slowest = sum->useful.slowest;
	char name[32];

	text[0] = '\0';
	if (slowest >= 0 && results->has_ranks)
		(void)snprintf(text, text_bytes, "rank %s",
			       crit_rank_label(results, slowest, name, sizeof(name)));
	else if (slowest >= 0)
		(void)crit_thread_label(results, (size_t)slowest, text, text_bytes);
	return text;
}

const char *crit_mpi_label(const struct crit_results *results, char *text, size_t text_bytes)
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
	for (char *tab = text; (tab = strchr(tab, '\t'));)
		*tab = ' ';
	crit_line_tame(text, strlen(text), false);
	return text;
}
